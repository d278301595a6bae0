/* Queries about the packages of a pool: listing, search, details of one. All answers are JSON. */
#include "kiln.h"

#include <string.h>

#include "deb.h"
#include "evr.h"
#include "json.h"
#include "package.h"

/* The name after `pattern() = `, for packages that stand for a pattern. Debian's patterns are its tasks, e.g. task-ssh-server. */
static const char *pattern_name(Pool *pool, Solvable *s) {
  Id capability, *dep;

  if (pool->disttype == DISTTYPE_DEB)
    return is_task(pool_id2str(pool, s->name)) ? pool_id2str(pool, s->name) : 0;
  capability = pool_str2id(pool, "pattern()", 0);

  if (!strncmp(pool_id2str(pool, s->name), "pattern:", 8))
    return pool_id2str(pool, s->name) + 8;
  if (!capability || !s->provides)
    return 0;
  for (dep = s->repo->idarraydata + s->provides; *dep; dep++)
    if (ISRELDEP(*dep) && GETRELDEP(pool, *dep)->name == capability)
      return pool_id2str(pool, GETRELDEP(pool, *dep)->evr);
  return 0;
}

static void write_row(Json *json, Pool *pool, Solvable *s) {
  json_open(json, '[');
  write_package_fields(json, s);
  json_string(json, pattern_name(pool, s));
  json_string(json, solvable_lookup_str_poollang(s, SOLVABLE_SUMMARY));
  json_string(json, solvable_lookup_str_poollang(s, SOLVABLE_DESCRIPTION));
  json_string(json, solvable_lookup_str(s, SOLVABLE_LICENSE));
  json_string(json, solvable_lookup_str(s, SOLVABLE_GROUP));
  json_string(json, solvable_lookup_str(s, SOLVABLE_URL));
  json_string(json, solvable_lookup_str(s, SOLVABLE_VENDOR));
  json_close(json, ']');
}

/* Rows `first` to `first + limit` of a repository, in the order of its metadata. */
char *EXPORT(kiln_list)(Pool *pool, int repository, int first, int limit) {
  Repo *repo = pool_id2repo(pool, repository);
  Json json = {0};
  Solvable *s;
  Id p;
  int row = 0;

  json_open(&json, '[');
  FOR_REPO_SOLVABLES(repo, p, s) {
    if (row >= first && row < first + limit)
      write_row(&json, pool, s);
    row++;
  }
  json_close(&json, ']');
  return json.text;
}

static void search_in(Pool *pool, Id key, const char *text, Map *found) {
  Dataiterator hits;

  dataiterator_init(&hits, pool, 0, 0, key, text, SEARCH_SUBSTRING | SEARCH_NOCASE);
  while (dataiterator_step(&hits)) {
    if (hits.solvid > 0)
      map_set(found, hits.solvid);
    dataiterator_skip_solvable(&hits);
  }
  dataiterator_free(&hits);
}

/* Substring, case-insensitive; in the name, or with `all_fields` in summary and description as well. */
char *EXPORT(kiln_search)(Pool *pool, const char *text, int all_fields, int limit) {
  Json json = {0};
  Map found;
  unsigned total = 0;

  map_init(&found, pool->nsolvables);
  search_in(pool, SOLVABLE_NAME, text, &found);
  if (all_fields) {
    search_in(pool, SOLVABLE_SUMMARY, text, &found);
    search_in(pool, SOLVABLE_DESCRIPTION, text, &found);
  }
  json_open(&json, '{');
  json_key(&json, "hits");
  json_open(&json, '[');
  for (Id p = 2; p < pool->nsolvables; p++)
    if (map_tst(&found, p) && (int)total++ < limit)
      write_row(&json, pool, pool_id2solvable(pool, p));
  json_close(&json, ']');
  json_key(&json, "total");
  json_number(&json, total);
  json_close(&json, '}');
  map_free(&found);
  return json.text;
}

/* All packages that provide a capability, e.g. "pattern() = base" or "tiny-product-release". */
char *EXPORT(kiln_providers)(Pool *pool, const char *capability, const char *evr) {
  Json json = {0};
  Id wanted = pool_str2id(pool, capability, 1), p, pp;

  if (*evr)
    wanted = pool_rel2id(pool, wanted, pool_str2id(pool, evr, 1), REL_EQ, 1);
  json_open(&json, '[');
  FOR_PROVIDES(p, pp, wanted) { write_row(&json, pool, pool_id2solvable(pool, p)); }
  json_close(&json, ']');
  return json.text;
}

static Solvable *newest(Pool *pool, const char *name) {
  Id id = pool_str2id(pool, name, 0), p, pp;
  Solvable *best = 0;

  if (!id)
    return 0;
  FOR_PROVIDES(p, pp, id) {
    Solvable *s = pool_id2solvable(pool, p);
    if (s->name == id && (!best || pool_evrcmp(pool, s->evr, best->evr, EVRCMP_COMPARE) > 0))
      best = s;
  }
  return best;
}

static void write_dependencies(Json *json, Solvable *s, const char *key, Id kind) {
  Pool *pool = s->repo->pool;
  Queue dependencies;

  queue_init(&dependencies);
  solvable_lookup_deparray(s, kind, &dependencies, 0);
  json_key(json, key);
  json_open(json, '[');
  for (int i = 0; i < dependencies.count; i++)
    if (dependencies.elements[i] != SOLVABLE_PREREQMARKER && dependencies.elements[i] != SOLVABLE_FILEMARKER)
      json_string(json, pool_dep2str(pool, dependencies.elements[i]));
  json_close(json, ']');
  queue_free(&dependencies);
}

/* The newest package of that name with its dependencies, or null. */
char *EXPORT(kiln_info)(Pool *pool, const char *name) {
  Solvable *s = newest(pool, name);
  Json json = {0};

  json_open(&json, '[');
  if (s) {
    write_row(&json, pool, s);
    json_open(&json, '{');
    write_dependencies(&json, s, "requires", SOLVABLE_REQUIRES);
    write_dependencies(&json, s, "provides", SOLVABLE_PROVIDES);
    write_dependencies(&json, s, "conflicts", SOLVABLE_CONFLICTS);
    write_dependencies(&json, s, "obsoletes", SOLVABLE_OBSOLETES);
    write_dependencies(&json, s, "recommends", SOLVABLE_RECOMMENDS);
    write_dependencies(&json, s, "suggests", SOLVABLE_SUGGESTS);
    write_dependencies(&json, s, "supplements", SOLVABLE_SUPPLEMENTS);
    write_dependencies(&json, s, "enhances", SOLVABLE_ENHANCES);
    json_close(&json, '}');
  }
  json_close(&json, ']');
  return json.text;
}
