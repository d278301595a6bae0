/* Our C API over libsolv, liblzma and libbz2, as the WASM module exports it.
 *
 * There is no file system: a file is a number, and the host serves reads and writes of that number from its own
 * buffers (../memory-files.ts). Text goes in as NUL-terminated UTF-8 in memory of kiln_alloc; answers are JSON text
 * that the host gives back with kiln_free.
 */
#ifndef KILN_H
#define KILN_H

#include <stddef.h>
#include <stdio.h>

#include "pool.h"
#include "repo.h"

#define EXPORT(name) __attribute__((export_name(#name))) name

/* A stdio stream on a numbered file of the host. One at a time: they share a buffer. */
FILE *open_number(int number, const char *mode);

/* Turns the lines of a request into solver jobs. `origins` holds the line number of each job (jobs are pairs). Returns
 * whether each line matched something in `missed`, a map over line numbers. */
void read_jobs(Pool *pool, char *lines, Queue *jobs, Queue *origins, Map *missed);

#endif
