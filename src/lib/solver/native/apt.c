/* What apt would install.
 *
 * libsolv decides first what has no alternative, and then takes any alternative that is left. apt walks the dependencies of
 * each package in their order and takes the first alternative that it can have. Both answers are installable. Here we
 * walk as apt does, and give libsolv the result as a preference, so that libsolv alone decides what is possible.
 */
#include "deb.h"

#include <stdlib.h>
#include <string.h>

#include "evr.h"
#include "solver.h"

/* Real chains of dependencies are below 100; each takes about 200 bytes of the stack. */
#define MAX_DEPTH 1000
/* Packages that are looked at: 100 ms. Failures are not remembered, so a few packages could take years. */
#define MAX_STEPS 5000000

typedef struct {
  Pool *pool;
  /* By name: the one version that apt considers. */
  Id *candidates;
  /* By package: is in the image; conflicts with one that is. */
  Map marked, refused;
  Queue *order;
  long long steps;
} Marking;

static int is_better(Pool *pool, Solvable *s, Solvable *known) {
  if (s->repo->priority != known->repo->priority)
    return s->repo->priority > known->repo->priority;
  return pool_evrcmp(pool, s->evr, known->evr, EVRCMP_COMPARE) > 0;
}

static void find_candidates(Marking *m, Queue *jobs) {
  Pool *pool = m->pool;
  Map banned;
  Id p, pp;

  map_init(&banned, pool->nsolvables);
  for (int i = 0; i < jobs->count; i += 2) {
    Id select = jobs->elements[i] & SOLVER_SELECTMASK;
    if ((jobs->elements[i] & SOLVER_JOBMASK) == SOLVER_LOCK) {
      FOR_JOB_SELECT(p, pp, select, jobs->elements[i + 1]) { map_set(&banned, p); }
    }
  }
  m->candidates = calloc((size_t)pool->ss.nstrings, sizeof(Id));
  FOR_POOL_SOLVABLES(p) {
    Solvable *s = pool_id2solvable(pool, p);
    Id *known = m->candidates + s->name;
    if (!MAPTST(&banned, p) && pool_installable(pool, s) && (!*known || is_better(pool, s, pool->solvables + *known)))
      *known = p;
  }
  map_free(&banned);
}

static int is_candidate(Marking *m, Id p) { return m->candidates[m->pool->solvables[p].name] == p; }

static int is_satisfied(Marking *m, Id dependency) {
  Pool *pool = m->pool;
  Id p, pp;
  FOR_PROVIDES(p, pp, dependency) {
    m->steps++;
    if (MAPTST(&m->marked, p))
      return 1;
  }
  return 0;
}

static Id name_of(Pool *pool, Id dependency) {
  while (ISRELDEP(dependency))
    dependency = GETRELDEP(pool, dependency)->name;
  return dependency;
}

/* What provides one alternative: first the package of that name, then the others, the last name first. */
static void list_choices(Marking *m, Id alternative, Queue *choices) {
  Pool *pool = m->pool;
  Id name = name_of(pool, alternative), p, pp;
  int first = choices->count;

  FOR_PROVIDES(p, pp, alternative) {
    int at = first;
    m->steps++;
    if (!is_candidate(m, p) || MAPTST(&m->refused, p))
      continue;
    if (pool->solvables[p].name != name)
      while (at < choices->count && (pool->solvables[choices->elements[at]].name == name ||
                                     strcmp(pool_id2str(pool, pool->solvables[choices->elements[at]].name),
                                            pool_id2str(pool, pool->solvables[p].name)) > 0))
        at++;
    m->steps += at - first;
    queue_insert(choices, at, p);
  }
}

/* Conflicts of one that is marked rule out others, as long as it stays marked. */
static int refuse_conflicting(Marking *m, Id package) {
  Pool *pool = m->pool;
  Solvable *s = pool->solvables + package;
  Id *conflict, p, pp;

  if (MAPTST(&m->refused, package))
    return 0;
  if (!s->conflicts)
    return 1;
  for (conflict = s->repo->idarraydata + s->conflicts; *conflict; conflict++)
    FOR_PROVIDES(p, pp, *conflict) {
      m->steps++;
      if (p != package && MAPTST(&m->marked, p))
        return 0;
    }
  for (conflict = s->repo->idarraydata + s->conflicts; *conflict; conflict++)
    FOR_PROVIDES(p, pp, *conflict) {
      if (p != package)
        map_set(&m->refused, p);
    }
  return 1;
}

static int mark_dependencies(Marking *m, Id package, int depth);

static int mark(Marking *m, Id package, int depth) {
  int begin = m->order->count;

  if (MAPTST(&m->marked, package))
    return 1;
  if (depth > MAX_DEPTH || m->steps++ > MAX_STEPS || !refuse_conflicting(m, package))
    return 0;
  map_set(&m->marked, package);
  queue_push(m->order, package);
  if (mark_dependencies(m, package, depth))
    return 1;
  while (m->order->count > begin)
    map_clr(&m->marked, queue_pop(m->order));
  return 0;
}

static int mark_one_of(Marking *m, Id dependency, int depth) {
  Pool *pool = m->pool;
  Queue choices;
  int done = 0;

  if (is_satisfied(m, dependency))
    return 1;
  queue_init(&choices);
  while (ISRELDEP(dependency) && GETRELDEP(pool, dependency)->flags == REL_OR) {
    list_choices(m, GETRELDEP(pool, dependency)->name, &choices);
    dependency = GETRELDEP(pool, dependency)->evr;
  }
  list_choices(m, dependency, &choices);
  for (int i = 0; i < choices.count && !done; i++)
    done = mark(m, choices.elements[i], depth + 1);
  queue_free(&choices);
  return done;
}

/* libsolv puts a marker between Depends and Pre-Depends, which apt follows first. */
static int mark_dependencies(Marking *m, Id package, int depth) {
  Solvable *s = m->pool->solvables + package;
  Id *first, *marker, *one;

  if (!s->requires)
    return 1;
  first = s->repo->idarraydata + s->requires;
  for (marker = first; *marker && *marker != SOLVABLE_PREREQMARKER; marker++)
    ;
  if (*marker)
    for (one = marker + 1; *one; one++)
      if (!mark_one_of(m, *one, depth))
        return 0;
  for (one = first; one < marker; one++)
    if (!mark_one_of(m, *one, depth))
      return 0;
  return 1;
}

/* A request for a package in a certain version, or from a certain repository, changes the candidate of that name. */
static void list_requested(Marking *m, Queue *jobs, Queue *requested) {
  Pool *pool = m->pool;
  Id p, pp;

  for (int i = 0; i < jobs->count; i += 2) {
    Id how = jobs->elements[i], select = how & SOLVER_SELECTMASK, found = 0;
    if ((how & SOLVER_JOBMASK) != SOLVER_INSTALL)
      continue;
    FOR_JOB_SELECT(p, pp, select, jobs->elements[i + 1]) {
      if (pool_installable(pool, pool->solvables + p) && (!found || is_better(pool, pool->solvables + p, pool->solvables + found)))
        found = p;
    }
    if (!found || (how & SOLVER_WEAK))
      continue;
    m->candidates[pool->solvables[found].name] = found;
    queue_pushunique(requested, found);
  }
}

static int mark_all(Marking *m, Queue *jobs) {
  Queue requested;
  int done = 1;

  queue_init(&requested);
  list_requested(m, jobs, &requested);
  /* All that the user asked for counts as there, before any dependency is followed. */
  for (int i = 0; i < requested.count && done; i++) {
    done = refuse_conflicting(m, requested.elements[i]);
    map_set(&m->marked, requested.elements[i]);
    queue_push(m->order, requested.elements[i]);
  }
  for (int i = 0; i < requested.count && done; i++)
    done = mark_dependencies(m, requested.elements[i], 0);
  for (int i = 0; i < jobs->count && done; i += 2)
    if ((jobs->elements[i] & SOLVER_JOBMASK) == SOLVER_INSTALL && (jobs->elements[i] & SOLVER_WEAK))
      mark_one_of(m, jobs->elements[i + 1], 0);
  queue_free(&requested);
  return done;
}

void mark_as_apt(Pool *pool, Queue *jobs, Queue *marked) {
  Marking m = {pool, 0, {0}, {0}, marked, 0};

  map_init(&m.marked, pool->nsolvables);
  map_init(&m.refused, pool->nsolvables);
  find_candidates(&m, jobs);
  if (!mark_all(&m, jobs) || m.steps > MAX_STEPS)
    queue_empty(marked);
  map_free(&m.marked);
  map_free(&m.refused);
  free(m.candidates);
}
