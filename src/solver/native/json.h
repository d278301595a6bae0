/* JSON text that grows as it is written. */
#ifndef KILN_JSON_H
#define KILN_JSON_H

#include <stddef.h>

typedef struct {
  char *text;
  size_t length, capacity;
} Json;

/* Commas are written by these two themselves: `[`, `{` and `:` are the only places where none is due. */
void json_open(Json *json, char bracket);
void json_close(Json *json, char bracket);

void json_key(Json *json, const char *name);
void json_string(Json *json, const char *value); /* a null pointer becomes "" */
void json_number(Json *json, unsigned long long value);

#endif
