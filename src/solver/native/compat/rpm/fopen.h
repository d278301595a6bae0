/* repo_rpmdb.c opens an rpm by its name; ours are called "number:N". Included before that file. */
#include <stdio.h>

FILE *open_named_number(const char *name, const char *mode);
#define fopen open_named_number
