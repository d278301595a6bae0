/* Reads Debian's `Packages`. */
#include "deb.h"

#include <stdlib.h>
#include <string.h>

#include "kiln.h"
#include "repo_deb.h"

int is_task(const char *name) { return !strncmp(name, "task-", 5); }

/* libsolv's reader skips the size of the file. Each record begins with its name, and becomes the next package of `repo`. */
static void set_sizes(Repo *repo, FILE *file, Id package) {
  Repodata *data = repo_last_repodata(repo);
  char *line = 0;
  size_t space = 0;

  for (package--; getline(&line, &space, file) > 0;) {
    if (!strncmp(line, "Package:", 8))
      package++;
    else if (!strncmp(line, "Size:", 5) && package < repo->end)
      repodata_set_num(data, package, SOLVABLE_DOWNLOADSIZE, strtoull(line + 5, 0, 10));
  }
  free(line);
}

int EXPORT(kiln_read_deb)(Pool *pool, int repository, int number) {
  Repo *repo = pool_id2repo(pool, repository);
  FILE *file = open_number(number, "r");
  Id first = pool->nsolvables;

  if (!file)
    return -1;
  repo_add_debpackages(repo, file, REPO_REUSE_REPODATA | REPO_NO_INTERNALIZE);
  rewind(file);
  set_sizes(repo, file, first);
  return fclose(file);
}
