/* The scanner and the exact hash beside jansson. What the scanner reads is built anew from jansson's values, so that
 * jansson compares; where only one of the two accepts a text, it must be for one of the known reasons. */
#ifndef MEND_TEST_JSON_JANSSON_H
#define MEND_TEST_JSON_JANSSON_H

#include "mend/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

typedef struct json_reading {
  json_t *value;       /* NULL when it is no JSON, or jansson cannot hold it */
  bool accepted;       /* by mend */
  bool beyond_jansson; /* an integer beyond 64 bits, 1e400, \u0000 in a key, half a surrogate pair */
  bool negative_zero;  /* not 0 for mend's hash; for jansson it is */
  mend_json_hash_result hash;
} json_reading;

/* ---- Building what was scanned ---- */

/* Half of a surrogate pair, which mend reads as U+FFFD. */
static bool json_has_half_pair(mend_str slice) {
  unsigned before = 0;
  for (size_t i = 0; i < slice.len; i++) {
    const bool escape = slice.ptr[i] == '\\';
    unsigned unit = 0;
    if (escape && slice.ptr[i + 1] == 'u') {
      for (size_t digit = i + 2; digit < i + 6; digit++)
        unit = unit * 16 + (unsigned)strtoul((char[]){slice.ptr[digit], '\0'}, NULL, 16);
    }
    const bool high = unit >= 0xD800 && unit < 0xDC00, low = unit >= 0xDC00 && unit < 0xE000;
    if (low != (before != 0)) return true;
    before = high ? unit : 0;
    if (escape) i += slice.ptr[i + 1] == 'u' ? 5 : 1;
  }
  return before != 0;
}

static char *json_unescaped(json_reading *reading, const mend_json *json, size_t *ret_len) {
  char *text = malloc(json->slice.len + 1);
  if (text == NULL) abort();
  reading->beyond_jansson |= json->escaped && json_has_half_pair(json->slice);
  *ret_len = mend_json_unescape(json->slice, text);
  text[*ret_len] = '\0';
  return text;
}

static json_t *json_build_string(json_reading *reading, const mend_json *json) {
  size_t len;
  char *text = json_unescaped(reading, json, &len);
  json_t *string = json_stringn(text, len);
  free(text);
  return string;
}

static json_t *json_build_number(json_reading *reading, const mend_json *json) {
  int64_t whole = 0;
  const double value = mend_json_double(json->slice);
  reading->negative_zero |= value == 0 && signbit(value) != 0;
  if (!json->integer) {
    reading->beyond_jansson |= isinf(value);
    return json_real(isinf(value) ? 0 : value);
  }
  reading->beyond_jansson |= mend_json_int64(json->slice, &whole) != MEND_OK;
  return json_integer(whole);
}

static json_t *json_build(json_reading *reading, mend_json *json);

static json_t *json_build_object(json_reading *reading, mend_json *json) {
  json_t *object = json_object();
  while (mend_json_next(json) == MEND_JSON_KEY) {
    size_t len;
    char *key = json_unescaped(reading, json, &len);
    reading->beyond_jansson |= strlen(key) != len;
    mend_json_next(json);
    json_object_set_new(object, key, json_build(reading, json));
    free(key);
  }
  return object;
}

static json_t *json_build_array(json_reading *reading, mend_json *json) {
  json_t *array = json_array();
  while (mend_json_next(json) > MEND_JSON_END && json->token != MEND_JSON_ARRAY_END)
    json_array_append_new(array, json_build(reading, json));
  return array;
}

/* The value whose first token was just read. */
static json_t *json_build(json_reading *reading, mend_json *json) {
  switch (json->token) {
  case MEND_JSON_OBJECT: return json_build_object(reading, json);
  case MEND_JSON_ARRAY: return json_build_array(reading, json);
  case MEND_JSON_STRING: return json_build_string(reading, json);
  case MEND_JSON_NUMBER: return json_build_number(reading, json);
  case MEND_JSON_TRUE: return json_true();
  case MEND_JSON_FALSE: return json_false();
  default: return json_null();
  }
}

/* ---- One text ---- */

/* Reads the text with both. Returns what is wrong about that; NULL: nothing. */
static const char *json_read_with_both(mend_str text, json_reading *ret_reading) {
  static max_align_t scratch[MEND_HASH_SCRATCH / sizeof(max_align_t)];
  json_reading reading = {.hash = mend_json_hash(text, scratch, sizeof scratch)};
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  json_t *built = json_build(&reading, &json);
  reading.accepted = json.token > MEND_JSON_END && mend_json_next(&json) == MEND_JSON_END;
  const bool too_deep = json.token == MEND_JSON_ERROR && strstr(json.reason, "fewer open") != NULL;
  /* behind a number or literal jansson passes over it */
  const bool nul = json.token == MEND_JSON_ERROR && json.at < text.len && text.ptr[json.at] == '\0';
  json_t *loaded = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
  const char *fault = NULL;
  if (loaded != NULL && !reading.accepted) {
    if (!too_deep && !nul) fault = "jansson accepts it";
  } else if (loaded == NULL && reading.accepted) {
    if (!reading.beyond_jansson) fault = "jansson refuses it";
  } else if (loaded != NULL && !json_equal(built, loaded)) {
    fault = "jansson reads another value";
  }
  json_decref(built);
  reading.value = loaded;
  *ret_reading = reading;
  return fault;
}

/* ---- Two texts ---- */

/* The hashes are equal where jansson's values are. */
static const char *json_compare(const json_reading *a, const json_reading *b) {
  if (a->hash.raw || b->hash.raw || a->value == NULL || b->value == NULL) return NULL;
  const bool equal = mend_hash_equal(a->hash.hash, b->hash.hash), equal_values = json_equal(a->value, b->value);
  if (equal && !equal_values) return "other values for jansson, and the same hash";
  if (equal || !equal_values || a->negative_zero || b->negative_zero) return NULL;
  return "the same value for jansson, and another hash";
}

/* The text against what jansson writes for its value. */
static const char *json_compare_with_dump(const json_reading *reading) {
  if (reading->value == NULL) return NULL;
  char *dump = json_dumps(reading->value, JSON_ENCODE_ANY | JSON_SORT_KEYS | JSON_INDENT(1) | JSON_REAL_PRECISION(17));
  json_reading again;
  const char *fault = json_read_with_both(mend_str_from(dump), &again);
  if (fault == NULL) fault = json_compare(reading, &again);
  json_decref(again.value);
  free(dump);
  return fault;
}

#endif
