/* Turns the lines of a request into solver jobs.
 *
 * A line has six tab-separated fields: action, kind, value, operator, evr, repository. The last three may be empty.
 *
 *   install  name      foo  =  1:1.0-2  updates      install  pattern   base
 *   ban      name      foo                           multiversion  provides  multiversion(kernel)
 *
 * The host has checked every field (../job.ts): none contains a tab, newline, space or operator.
 */
#include "kiln.h"

#include <string.h>

#include "evr.h"
#include "selection.h"
#include "solver.h"

enum { ACTION, KIND, VALUE, OPERATOR, EVR, REPOSITORY, FIELDS };

static void split(char *line, char *fields[FIELDS]) {
  for (int i = 0; i < FIELDS; i++) {
    fields[i] = line ? line : "";
    line = line ? strchr(line, '\t') : 0;
    if (line)
      *line++ = 0;
  }
}

static Id find_repository(Pool *pool, const char *name) {
  Repo *repo;
  int i;
  FOR_REPOS(i, repo) {
    if (!strcmp(repo->name, name))
      return repo->repoid;
  }
  return 0;
}

static void keep_only_repository(Pool *pool, Queue *selection, const char *name) {
  Id id = find_repository(pool, name);
  Queue repository;

  if (!id) {
    queue_empty(selection);
    return;
  }
  queue_init(&repository);
  queue_push2(&repository, SOLVER_SOLVABLE_REPO | SOLVER_SETREPO, id);
  selection_filter(pool, selection, &repository);
  queue_free(&repository);
}

/* Like zypper: selects only the best package of that name or name.arch, even if only an older one could be installed.
 * If there is none, selects the packages that provide the name. */
static void select_packages(Pool *pool, Queue *selection, char *fields[FIELDS]) {
  const char *wanted = fields[VALUE];
  int matched;

  if (*fields[OPERATOR])
    wanted = pool_tmpjoin(pool, pool_tmpjoin(pool, wanted, " ", fields[OPERATOR]), " ", fields[EVR]);
  matched = selection_make(pool, selection, wanted,
                           SELECTION_NAME | SELECTION_PROVIDES | SELECTION_REL | SELECTION_DOTARCH);
  if (*fields[REPOSITORY])
    keep_only_repository(pool, selection, fields[REPOSITORY]);
  for (int i = 0; i < selection->count && (matched & SELECTION_NAME); i += 2)
    selection->elements[i] |= SOLVER_FORCEBEST;
}

/* Adds the job even if nothing matches it, because the solver's own message says best what is missing. */
static void ask_for_the_missing(Pool *pool, Queue *selection, char *fields[FIELDS]) {
  const char *text = fields[VALUE];
  Id id;

  if (*fields[REPOSITORY])
    text = pool_tmpjoin(pool, text, " from ", fields[REPOSITORY]);
  id = pool_str2id(pool, text, 1);
  if (*fields[OPERATOR])
    id = pool_rel2id(pool, id, pool_str2id(pool, fields[EVR], 1), REL_EQ, 1);
  queue_push2(selection, SOLVER_SOLVABLE_NAME, id);
}

/* A task is a package whose recommendations are what it stands for. */
static int select_task(Pool *pool, Queue *selection, const char *name) {
  Id id = pool_str2id(pool, name, 1), p, pp;
  int matched = 0;
  Solvable *best = 0;

  queue_push2(selection, SOLVER_SOLVABLE_NAME, id);
  FOR_PROVIDES(p, pp, id) {
    Solvable *s = pool_id2solvable(pool, p);
    if (s->name == id && (!best || pool_evrcmp(pool, s->evr, best->evr, EVRCMP_COMPARE) > 0))
      best = s;
    matched |= s->name == id;
  }
  for (Id *one = best && best->recommends ? best->repo->idarraydata + best->recommends : 0; one && *one; one++)
    queue_push2(selection, SOLVER_SOLVABLE_PROVIDES | SOLVER_WEAK, *one);
  return matched;
}

/* A pattern is a capability in rpm-md, and a package named "pattern:…" in susetags. */
static int select_pattern(Pool *pool, Queue *selection, const char *name) {
  Id tagged = pool_str2id(pool, pool_tmpjoin(pool, "pattern:", name, 0), 0);
  Id provided = pool_rel2id(pool, pool_str2id(pool, "pattern()", 1), pool_str2id(pool, name, 1), REL_EQ, 1);
  int is_provided = *pool_whatprovides_ptr(pool, provided) != 0;

  if (!is_provided && tagged && *pool_whatprovides_ptr(pool, tagged)) {
    queue_push2(selection, SOLVER_SOLVABLE_NAME, tagged);
    return 1;
  }
  queue_push2(selection, SOLVER_SOLVABLE_PROVIDES, provided);
  return is_provided;
}

static int select_wanted(Pool *pool, Queue *selection, char *fields[FIELDS]) {
  if (!strcmp(fields[KIND], "pattern"))
    return (pool->disttype == DISTTYPE_DEB ? select_task : select_pattern)(pool, selection, fields[VALUE]);
  if (!strcmp(fields[KIND], "provides")) {
    queue_push2(selection, SOLVER_SOLVABLE_PROVIDES, pool_str2id(pool, fields[VALUE], 1));
    return 1;
  }
  if (!strcmp(fields[ACTION], "ban")) {
    selection_make(pool, selection, fields[VALUE], SELECTION_NAME);
    return selection->count > 0;
  }
  select_packages(pool, selection, fields);
  if (selection->count)
    return 1;
  ask_for_the_missing(pool, selection, fields);
  return 0;
}

static int action_flag(const char *action) {
  if (!strcmp(action, "ban"))
    return SOLVER_LOCK;
  return strcmp(action, "multiversion") ? SOLVER_INSTALL : SOLVER_MULTIVERSION;
}

void read_jobs(Pool *pool, char *lines, Queue *jobs, Queue *origins, Map *missed) {
  Queue selection;
  char *fields[FIELDS], *line = lines, *next;

  queue_init(&selection);
  for (int number = 0; line && *line; line = next, number++) {
    next = strchr(line, '\n');
    if (next)
      *next++ = 0;
    split(line, fields);
    queue_empty(&selection);
    map_grow(missed, number + 1);
    if (!select_wanted(pool, &selection, fields))
      map_set(missed, number);
    for (int i = 0; i < selection.count; i += 2) {
      queue_push2(jobs, action_flag(fields[ACTION]) | selection.elements[i], selection.elements[i + 1]);
      queue_push(origins, number);
    }
  }
  queue_free(&selection);
}
