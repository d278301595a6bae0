/* Opens the host's numbered files for C libraries, and defines the few functions that wasi-libc lacks. */
#include "kiln.h"

#include <stdlib.h>
#include <string.h>

/* musl's own buffer is 1 KiB: a larger one means fewer calls to the host. */
static char buffer[64 << 10];

FILE *open_number(int number, const char *mode) {
  FILE *file = fdopen(number, mode);
  if (file)
    setvbuf(file, buffer, _IOFBF, sizeof buffer);
  return file;
}

/* compat/fopen.h sends the rpm reader here, which opens its file by name. */
FILE *open_named_number(const char *name, const char *mode) {
  return strncmp(name, "number:", 7) ? NULL : open_number(atoi(name + 7), mode);
}

/* repopage.c duplicates the handle of a .solv to read pages later. The host keeps the file open anyway. */
int dup(int number) { return number; }

/* expat uses it in the salt of its hash tables. */
int getpid(void) { return 1; }
