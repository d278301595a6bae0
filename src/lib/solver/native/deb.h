/* Debian's packages. */
#ifndef DEB_H
#define DEB_H

#include "pool.h"

/* Debian's tasks are packages that stand for a pattern: task-ssh-server. */
int is_task(const char *name);

/* The packages that apt would install for the jobs, in `marked`. Empty if apt's way leads to a conflict. */
void mark_as_apt(Pool *pool, Queue *jobs, Queue *marked);

#endif
