#include "json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static void put(Json *json, const char *bytes, size_t length) {
  size_t needed = json->length + length + 1;
  if (needed > json->capacity) {
    json->capacity = needed * 2;
    json->text = solv_realloc(json->text, json->capacity);
  }
  memcpy(json->text + json->length, bytes, length);
  json->length += length;
  json->text[json->length] = 0;
}

static void separate(Json *json) {
  if (json->length && !strchr("[{:", json->text[json->length - 1]))
    put(json, ",", 1);
}

void json_open(Json *json, char bracket) {
  separate(json);
  put(json, &bracket, 1);
}

void json_close(Json *json, char bracket) { put(json, &bracket, 1); }

void json_key(Json *json, const char *name) {
  json_string(json, name);
  put(json, ":", 1);
}

static void put_escaped(Json *json, unsigned char c) {
  char escape[8];
  int length = c == '"' || c == '\\' ? snprintf(escape, sizeof escape, "\\%c", c)
                                     : snprintf(escape, sizeof escape, "\\u%04x", c);
  put(json, escape, (size_t)length);
}

void json_string(Json *json, const char *value) {
  const char *plain = value ? value : "", *c;
  separate(json);
  put(json, "\"", 1);
  for (c = plain; *c; c++) {
    if (*c != '"' && *c != '\\' && (unsigned char)*c >= 0x20)
      continue;
    put(json, plain, (size_t)(c - plain));
    put_escaped(json, (unsigned char)*c);
    plain = c + 1;
  }
  put(json, plain, (size_t)(c - plain));
  put(json, "\"", 1);
}

void json_number(Json *json, unsigned long long value) {
  char digits[24];
  separate(json);
  put(json, digits, (size_t)snprintf(digits, sizeof digits, "%llu", value));
}
