/* Limits for metadata whose author wants a search that never ends. */
#ifndef KILN_LIMITS_H
#define KILN_LIMITS_H

/* From now on, the module may take MAX_STEPS steps in libsolv's search, and then exits. */
void limit_steps(void);

#endif
