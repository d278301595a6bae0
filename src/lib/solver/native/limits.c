/* Limits for metadata whose author wants a search that never ends.
 *
 * clang puts a call of __sanitizer_cov_trace_pc into each branch of libsolv's search (scripts/solver/units.ts). So the
 * same request takes the same number of steps everywhere. libsolv cannot be interrupted, so the module exits.
 */
#include "limits.h"

#include <stdlib.h>
#include <string.h>

#include "kiln.h"

/* 0.8 s. The most that we have seen for Debian is 31 million, because the service never asks for recommended packages. */
#define MAX_STEPS 200000000
/* The host knows this number (../wasi.ts). */
#define EXIT_TOO_LONG 75
/* Each word and each parenthesis takes some of the stack, wherever libsolv follows the dependency. Real ones have 30. */
#define MAX_WORDS 500
/* Enough for a person who looks for it. */
#define SHOWN_BYTES 200

static int left = MAX_STEPS;

void limit_steps(void) { left = MAX_STEPS; }

void __sanitizer_cov_trace_pc(void) {
  if (--left < 0)
    _Exit(EXIT_TOO_LONG);
}

Id __real_pool_parserpmrichdep(Pool *pool, const char *dependency);

/* The linker sends calls of pool_parserpmrichdep here. Too long a dependency is a name that no package provides. */
Id __wrap_pool_parserpmrichdep(Pool *pool, const char *dependency) {
  int words = 0;
  for (const char *at = dependency; *at; at++)
    words += *at == ' ' || *at == '(';
  if (words > MAX_WORDS)
    return pool_strn2id(pool, dependency, SHOWN_BYTES, 1);
  return __real_pool_parserpmrichdep(pool, dependency);
}
