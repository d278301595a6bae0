/* Reads metadata into a repository: .solv parts, rpm-md, the older susetags, and the header of one rpm. */
#include "kiln.h"

#include "chksum.h"
#include "repo_content.h"
#include "repo_rpmdb.h"
#include "repo_rpmmd.h"
#include "repo_solv.h"
#include "repo_susetags.h"
#include "repo_updateinfoxml.h"

/* Slices of one document share a repodata area; kiln_internalize closes it. */
#define SLICE (REPO_REUSE_REPODATA | REPO_NO_INTERNALIZE)

int EXPORT(kiln_read_solv)(Pool *pool, int repository, int number) {
  FILE *file = open_number(number, "r");
  int failed = !file || repo_add_solv(pool_id2repo(pool, repository), file, 0);
  if (file)
    fclose(file);
  return failed;
}

/* Reads a slice of primary.xml, which the host has completed to a document. */
int EXPORT(kiln_read_primary)(Pool *pool, int repository, int number) {
  FILE *file = open_number(number, "r");
  int failed = !file || repo_add_rpmmd(pool_id2repo(pool, repository), file, 0, SLICE);
  if (file)
    fclose(file);
  return failed;
}

int EXPORT(kiln_read_updateinfo)(Pool *pool, int repository, int number) {
  FILE *file = open_number(number, "r");
  int failed = !file || repo_add_updateinfoxml(pool_id2repo(pool, repository), file, SLICE);
  if (file)
    fclose(file);
  return failed;
}

/* If `language` is empty, reads packages and their dependencies. Else reads texts for packages that are already there. */
int EXPORT(kiln_read_susetags)(Pool *pool, int repository, int number, const char *language) {
  FILE *file = open_number(number, "r");
  int flags = *language ? SUSETAGS_EXTEND : SLICE | SUSETAGS_RECORD_SHARES;
  int failed = !file || repo_add_susetags(pool_id2repo(pool, repository), file, 0, *language ? language : 0, flags);
  if (file)
    fclose(file);
  return failed;
}

/* Reads the `content` file of a susetags repository, which describes its product. */
int EXPORT(kiln_read_content)(Pool *pool, int repository, int number) {
  FILE *file = open_number(number, "r");
  int failed = !file || repo_add_content(pool_id2repo(pool, repository), file, 0);
  if (file)
    fclose(file);
  return failed;
}

/* Reads the lead, signature and header of an rpm. The host passes the facts that they do not contain. */
int EXPORT(kiln_read_rpm)(Pool *pool, int repository, int number, const char *location, const char *sha256,
                          double size) {
  Repo *repo = pool_id2repo(pool, repository);
  int flags = REPO_REUSE_REPODATA | REPO_NO_INTERNALIZE | REPO_NO_LOCATION | RPM_ADD_NO_RPMLIBREQS |
              RPM_ADD_FILTERED_FILELIST;
  char name[32];
  Repodata *data;
  Id package;

  snprintf(name, sizeof name, "number:%d", number);
  package = repo_add_rpm(repo, name, flags);
  if (!package)
    return -1;
  data = repo_last_repodata(repo);
  repodata_set_location(data, package, 0, 0, location);
  repodata_set_checksum(data, package, SOLVABLE_CHECKSUM, REPOKEY_TYPE_SHA256, sha256);
  repodata_set_num(data, package, SOLVABLE_DOWNLOADSIZE, (unsigned long long)size);
  return 0;
}

void EXPORT(kiln_internalize)(Pool *pool, int repository) { repo_internalize(pool_id2repo(pool, repository)); }
