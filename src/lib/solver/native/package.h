/* The first fields of a package in every answer. */
#ifndef KILN_PACKAGE_H
#define KILN_PACKAGE_H

#include "json.h"
#include "pool.h"

/* Writes the values of `PackageFields` (../package.ts), in that order, into the open array. */
void write_package_fields(Json *json, Solvable *s);

#endif
