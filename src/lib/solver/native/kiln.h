/* Our C API over libsolv, liblzma and libbz2, as the WASM module exports it.
 *
 * There is no file system. A file is a number, and the host serves reads and writes of that number from its own buffers
 * (../memory-files.ts). Text arguments are NUL-terminated UTF-8 in memory from kiln_alloc. Answers are JSON text, which the
 * host frees with kiln_free.
 */
#ifndef KILN_H
#define KILN_H

#include <stddef.h>
#include <stdio.h>

#include "pool.h"
#include "repo.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

/* Opens a stdio stream on a numbered file of the host. Only one may be open at a time, because they share a buffer. */
FILE *open_number(int number, const char *mode);

/* Turns the lines of a request into solver jobs. Fills `origins` with the line number of each job (jobs are pairs), and
 * `missed`, a map of line numbers, with the lines that matched nothing. */
void read_jobs(Pool *pool, char *lines, Queue *jobs, Queue *origins, Map *missed);

#endif
