/* repo_rpmdb.c opens an rpm by name. Our file names are "number:N". Included before that file. */
#include <stdio.h>

FILE *open_named_number(const char *name, const char *mode);
#define fopen open_named_number
