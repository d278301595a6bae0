/* The package fields that search, listing and resolution have in common. */
#include "package.h"

#include "chksum.h"
#include "repo.h"

void write_package_fields(Json *json, Solvable *s) {
  Pool *pool = s->repo->pool;
  Id type = 0;
  const char *checksum = solvable_lookup_checksum(s, SOLVABLE_CHECKSUM, &type);

  json_string(json, pool_id2str(pool, s->name));
  json_string(json, pool_id2str(pool, s->evr));
  json_string(json, pool_id2str(pool, s->arch));
  json_string(json, s->repo->name);
  json_number(json, solvable_lookup_num(s, SOLVABLE_DOWNLOADSIZE, 0));
  json_number(json, solvable_lookup_num(s, SOLVABLE_INSTALLSIZE, 0));
  json_string(json, checksum ? solv_chksum_type2str(type) : 0);
  json_string(json, checksum);
  json_string(json, solvable_lookup_location(s, 0));
}
