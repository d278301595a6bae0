/* A package as every answer begins to tell it. */
#ifndef KILN_PACKAGE_H
#define KILN_PACKAGE_H

#include "json.h"
#include "pool.h"

/* The values of `PackageFields` (../package.ts), in their order, into the open array. */
void write_package_fields(Json *json, Solvable *s);

#endif
