/* Solves a request. The answer is JSON: { unmatched, packages } or { unmatched, problems }. */
#include "kiln.h"

#include <string.h>

#include "deb.h"
#include "json.h"
#include "limits.h"
#include "package.h"
#include "problems.h"
#include "solver.h"
#include "solverdebug.h"
#include "transaction.h"

/* A library may appear in thousands of rules, and more than these explain nothing. */
#define MAX_RULES 20

static void write_unmatched(Json *json, Map *missed) {
  json_key(json, "unmatched");
  json_open(json, '[');
  for (int line = 0; line < missed->size * 8; line++)
    if (map_tst(missed, line))
      json_number(json, (unsigned)line);
  json_close(json, ']');
}

/* Marks every package that the request names, whatever the reason of its installation. */
static void mark_requested(Pool *pool, Queue *jobs, Map *requested) {
  map_init(requested, pool->nsolvables);
  for (int i = 0; i < jobs->count; i += 2) {
    Id how = jobs->elements[i], what = jobs->elements[i + 1], select = how & SOLVER_SELECTMASK, p, pp;
    if ((how & SOLVER_JOBMASK) == SOLVER_INSTALL) {
      FOR_JOB_SELECT(p, pp, select, what) { map_set(requested, p); }
    }
  }
}

/* Asking libsolv for the reason of a weak decision is slow. A package without supplements can only be recommended. */
static int is_supplement(Solver *solver, Id package) {
  Queue weak;
  int found;

  if (!pool_id2solvable(solver->pool, package)->supplements)
    return 0;
  queue_init(&weak);
  solver_describe_weakdep_decision(solver, package, &weak);
  found = weak.count && weak.elements[0] == SOLVER_REASON_SUPPLEMENTED;
  queue_free(&weak);
  return found;
}

static const char *reason(Solver *solver, Map *requested, Id package) {
  Id rule;

  if (map_tst(requested, package))
    return "requested";
  if (solver_describe_decision(solver, package, &rule) != SOLVER_REASON_WEAKDEP)
    return "required";
  return is_supplement(solver, package) ? "supplemented" : "recommended";
}

static void write_package(Json *json, Pool *pool, Id id, const char *why) {
  json_open(json, '[');
  write_package_fields(json, pool_id2solvable(pool, id));
  json_string(json, why);
  json_close(json, ']');
}

static void write_packages(Json *json, Solver *solver, Queue *jobs) {
  Transaction *transaction = solver_create_transaction(solver);
  Queue installed;
  Map requested;

  queue_init(&installed);
  mark_requested(solver->pool, jobs, &requested);
  transaction_installedresult(transaction, &installed);
  json_key(json, "packages");
  json_open(json, '[');
  for (int i = 0; i < installed.count; i++)
    write_package(json, solver->pool, installed.elements[i], reason(solver, &requested, installed.elements[i]));
  json_close(json, ']');
  map_free(&requested);
  queue_free(&installed);
  transaction_free(transaction);
}

static const char *rule_text(Solver *solver, Id rule) {
  Id source, target, dependency;
  SolverRuleinfo type = solver_ruleinfo(solver, rule, &source, &target, &dependency);
  return solver_problemruleinfo2str(solver, type, source, target, dependency);
}

static void write_rules(Json *json, Solver *solver, Id problem) {
  Queue rules;

  queue_init(&rules);
  solver_findallproblemrules(solver, problem, &rules);
  json_key(json, "rules");
  json_open(json, '[');
  for (int i = 0; i < rules.count && i < MAX_RULES; i++)
    json_string(json, rule_text(solver, rules.elements[i]));
  json_close(json, ']');
  queue_free(&rules);
}

/* A step is a text and, if it drops a line of the request, that line's number. */
static void write_solution(Json *json, Solver *solver, Id problem, Id solution, Queue *origins) {
  Id element = 0, p, rp;

  json_open(json, '[');
  while ((element = solver_next_solutionelement(solver, problem, solution, element, &p, &rp)) != 0) {
    json_open(json, '[');
    json_string(json, solver_solutionelement2str(solver, p, rp));
    if (p == SOLVER_SOLUTION_JOB && rp > 0 && (rp - 1) / 2 < origins->count)
      json_number(json, (unsigned)origins->elements[(rp - 1) / 2]);
    json_close(json, ']');
  }
  json_close(json, ']');
}

static void write_problem(Json *json, Solver *solver, Id problem, Queue *origins) {
  int solutions = (int)solver_solution_count(solver, problem);

  json_open(json, '{');
  json_key(json, "text");
  json_string(json, rule_text(solver, solver_findproblemrule(solver, problem)));
  write_rules(json, solver, problem);
  json_key(json, "solutions");
  json_open(json, '[');
  for (int i = 1; i <= solutions; i++)
    write_solution(json, solver, problem, i, origins);
  json_close(json, ']');
  json_close(json, '}');
}

static void write_problems(Json *json, Solver *solver, Queue *origins) {
  int problems = (int)solver_problem_count(solver);

  json_key(json, "problems");
  json_open(json, '[');
  for (int i = 1; i <= problems; i++)
    write_problem(json, solver, i, origins);
  json_close(json, ']');
}

/* Weak: libsolv drops what is impossible. */
static void prefer_apts_choice(Pool *pool, Queue *jobs) {
  Queue marked;

  queue_init(&marked);
  mark_as_apt(pool, jobs, &marked);
  for (int i = 0; i < marked.count; i++)
    queue_push2(jobs, SOLVER_INSTALL | SOLVER_SOLVABLE | SOLVER_WEAK, marked.elements[i]);
  queue_free(&marked);
}

char *EXPORT(kiln_solve)(Pool *pool, char *lines, int without_recommended) {
  Json json = {0};
  Queue jobs, origins, asked;
  Map missed;
  Solver *solver;

  limit_steps();
  queue_init(&jobs);
  queue_init(&origins);
  map_init(&missed, 1);
  read_jobs(pool, lines, &jobs, &origins, &missed);
  queue_init_clone(&asked, &jobs);
  if (pool->disttype == DISTTYPE_DEB)
    prefer_apts_choice(pool, &jobs);
  solver = solver_create(pool);
  solver_set_flag(solver, SOLVER_FLAG_IGNORE_RECOMMENDED, without_recommended);

  json_open(&json, '{');
  write_unmatched(&json, &missed);
  if (solver_solve(solver, &jobs))
    write_problems(&json, solver, &origins);
  else
    write_packages(&json, solver, &asked);
  json_close(&json, '}');

  solver_free(solver);
  map_free(&missed);
  queue_free(&origins);
  queue_free(&asked);
  queue_free(&jobs);
  return json.text;
}
