/* JSON text that grows as it is written. */
#ifndef KILN_JSON_H
#define KILN_JSON_H

#include <stddef.h>

typedef struct {
  char *text;
  size_t length, capacity;
} Json;

/* All functions write the comma before a value if one is needed: it is not after `[`, `{` and `:`. */
void json_open(Json *json, char bracket);
void json_close(Json *json, char bracket);

void json_key(Json *json, const char *name);
void json_string(Json *json, const char *value); /* a null pointer becomes "" */
void json_number(Json *json, unsigned long long value);

#endif
