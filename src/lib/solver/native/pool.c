/* The pool: all packages that a request may choose from, in repositories. */
#include "kiln.h"

#include <stdlib.h>
#include <string.h>

#include "evr.h"
#include "poolarch.h"
#include "repo_write.h"

void *EXPORT(kiln_alloc)(size_t size) { return malloc(size); }

void EXPORT(kiln_free)(void *memory) { free(memory); }

Pool *EXPORT(kiln_pool)(const char *arch, int is_deb) {
  static const char *languages[] = {"en"};
  Pool *pool = pool_create();
  pool_setdisttype(pool, is_deb ? DISTTYPE_DEB : DISTTYPE_RPM);
  pool_setarch(pool, arch);
  /* The layout before rpm-md stores its texts by language. */
  pool_set_languages(pool, languages, 1);
  return pool;
}

void EXPORT(kiln_pool_free)(Pool *pool) { pool_free(pool); }

/* A larger priority wins, as everywhere in libsolv. zypper counts the other way round. */
int EXPORT(kiln_repository)(Pool *pool, const char *name, int priority) {
  Repo *repo = repo_create(pool, name);
  repo->priority = priority;
  return repo->repoid;
}

int EXPORT(kiln_count)(Pool *pool, int repository) { return pool_id2repo(pool, repository)->nsolvables; }

/* Must be called after everything is loaded and before any query. */
void EXPORT(kiln_ready)(Pool *pool) {
  pool_addfileprovides(pool);
  pool_createwhatprovides(pool);
}

const char *EXPORT(kiln_error)(Pool *pool) { return pool_errstr(pool); }

int EXPORT(kiln_compare_evr)(Pool *pool, const char *left, const char *right) {
  return pool_evrcmp_str(pool, left, right, EVRCMP_COMPARE);
}

/* Keys that a resolution never reads. Checksum, size and location stay, because a frozen build needs them. */
static int is_for_reading_only(Id key) {
  switch (key) {
  case SOLVABLE_SUMMARY:
  case SOLVABLE_DESCRIPTION:
  case SOLVABLE_URL:
  case SOLVABLE_GROUP:
  case SOLVABLE_LICENSE:
  case SOLVABLE_PACKAGER:
  case SOLVABLE_AUTHORS:
  case SOLVABLE_EULA:
  case SOLVABLE_CHANGELOG:
  case SOLVABLE_BUILDHOST:
  case SOLVABLE_BUILDTIME:
  case SOLVABLE_DISTRIBUTION:
  case SOLVABLE_HEADEREND:
  case SOLVABLE_SOURCENAME:
  case SOLVABLE_SOURCEARCH:
  case SOLVABLE_SOURCEEVR:
  case SOLVABLE_DISKUSAGE:
    return 1;
  default:
    return 0;
  }
}

static int is_text_in_a_language(const char *key) {
  return !strncmp(key, "solvable:summary:", 17) || !strncmp(key, "solvable:description:", 21) ||
         !strncmp(key, "solvable:eula:", 14);
}

static int keep_for_solving(Repo *repo, Repokey *key, void *unused) {
  if (is_for_reading_only(key->name) || is_text_in_a_language(pool_id2str(repo->pool, key->name)))
    return KEY_STORAGE_DROPPED;
  return repo_write_stdkeyfilter(repo, key, unused);
}

/* Writes the repository as .solv into a numbered file: whole, or only what solving needs. Returns 0 on success. */
int EXPORT(kiln_write)(Pool *pool, int repository, int number, int for_solving) {
  FILE *file = open_number(number, "w");
  Repowriter *writer;
  int failed;

  if (!file)
    return -1;
  writer = repowriter_create(pool_id2repo(pool, repository));
  repowriter_set_keyfilter(writer, for_solving ? keep_for_solving : repo_write_stdkeyfilter, 0);
  failed = repowriter_write(writer, file);
  repowriter_free(writer);
  return fclose(file) || failed;
}
