#include "program/transcripts/otlp_values.h"

#include "core/text.h"
#include "program/base/json_fields.h"

/* ---- Values ------------------------------------------------------------------------------------------------ */

#define VALUE_FIELDS(F)                                                                                                \
  F(STRING, "stringValue"), F(INT, "intValue"), F(DOUBLE, "doubleValue"), F(BOOL, "boolValue"),                        \
      F(BYTES, "bytesValue"), F(ARRAY, "arrayValue"), F(KVLIST, "kvlistValue")
enum { VALUE_FIELDS(JSON_FIELD_INDEX), KIND_COUNT };

enum { DEPTH_MAX = 32 };

mend_str otlp_string(mend_str any_value) {
  const mend_str text = json_member(any_value, MEND_STR("stringValue"));
  return mend__json_is_string(text) ? text : (mend_str){NULL, 0};
}

/* 64-bit integers are strings in protobuf's JSON. */
static mend_str number_of(mend_str value) {
  const mend_str inside = mend__json_is_string(value) ? mend__json_inside(value) : value;
  const bool good = mend__json_is_number(inside) && mend_json_check(inside, 1, NULL) == MEND_OK;
  return good ? inside : (mend_str){NULL, 0};
}

static void append_value(mend__buffer *buffer, mend_str any_value, int depth);

static void append_array(mend__buffer *buffer, mend_str array, int depth) {
  mend__json_items elements = mend__json_items_of(json_member(array, MEND_STR("values")));
  mend_str element;
  char separator = '[';
  while (mend__json_items_next(&elements, &element)) {
    mend__buffer_char(buffer, separator);
    append_value(buffer, element, depth);
    separator = ',';
  }
  mend__buffer_str(buffer, separator == '[' ? MEND_STR("[]") : MEND_STR("]"));
}

static void append_kvlist(mend__buffer *buffer, mend_str list, int depth) {
  mend__json_items elements = mend__json_items_of(json_member(list, MEND_STR("values")));
  mend_str element;
  char separator = '{';
  while (mend__json_items_next(&elements, &element)) {
    json_field fields[] = {JSON_FIELD("key"), JSON_FIELD("value")};
    if (!mend__json_is_object(element)) continue;
    json_fields_read(element, fields, 2, NULL);
    if (!mend__json_is_string(fields[0].value)) continue;
    mend__buffer_char(buffer, separator);
    mend__buffer_str(buffer, fields[0].value);
    mend__buffer_char(buffer, ':');
    append_value(buffer, fields[1].value, depth);
    separator = ',';
  }
  mend__buffer_str(buffer, separator == '{' ? MEND_STR("{}") : MEND_STR("}"));
}

static void append_value(mend__buffer *buffer, mend_str any_value, int depth) {
  json_field fields[KIND_COUNT] = {VALUE_FIELDS(JSON_FIELD_ENTRY)};
  if (depth == DEPTH_MAX) {
    mend__buffer_str(buffer, any_value.ptr != NULL ? any_value : MEND_STR("null"));
    return;
  }
  if (mend__json_is_object(any_value)) json_fields_read(any_value, fields, KIND_COUNT, NULL);
  int kind = 0;
  while (kind < KIND_COUNT && fields[kind].value.ptr == NULL)
    kind++;
  const mend_str value = kind < KIND_COUNT ? fields[kind].value : MEND_STR("null");
  const mend_str number = kind == INT ? number_of(value) : (mend_str){NULL, 0};
  if (kind == ARRAY) {
    append_array(buffer, value, depth + 1);
  } else if (kind == KVLIST) {
    append_kvlist(buffer, value, depth + 1);
  } else {
    mend__buffer_str(buffer, number.ptr != NULL ? number : value);
  }
}

void otlp_append_json(mend__buffer *buffer, mend_str any_value) { append_value(buffer, any_value, 0); }

static mend_str any_number(mend_str any_value) {
  json_field fields[KIND_COUNT] = {VALUE_FIELDS(JSON_FIELD_ENTRY)};
  if (!mend__json_is_object(any_value)) return (mend_str){NULL, 0};
  json_fields_read(any_value, fields, KIND_COUNT, NULL);
  for (int kind = STRING; kind <= DOUBLE; kind++) {
    const mend_str number = number_of(fields[kind].value);
    if (number.ptr != NULL) return number;
  }
  return (mend_str){NULL, 0};
}

uint64_t otlp_count(mend_str any_value) { return json_count(any_number(any_value)); }

double otlp_amount(mend_str any_value) { return json_amount(any_number(any_value)); }

/* ---- Times and ids ----------------------------------------------------------------------------------------- */

uint64_t otlp_time(mend_str value) {
  const uint64_t ns = json_count(number_of(value));
  return ns <= INT64_MAX ? ns : 0;
}

static bool read_hex(mend_str text, uint8_t ret_id[16]) {
  for (size_t i = 0; i < 16; i++) {
    const int high = mend__hex_value(text.ptr[2 * i]), low = mend__hex_value(text.ptr[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    ret_id[i] = (uint8_t)(high << 4 | low);
  }
  return true;
}

static int base64_value(char c) {
  static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const char *place = c != '\0' ? strchr(alphabet, c) : NULL;
  return place != NULL ? (int)(place - alphabet) : -1;
}

/* 22 digits of 6 bits each are 16 bytes and 4 bits to spare. */
static bool read_base64(mend_str text, uint8_t ret_id[16]) {
  unsigned bits = 0, held = 0;
  size_t count = 0;
  for (size_t i = 0; i < 22; i++) {
    const int value = base64_value(text.ptr[i]);
    if (value < 0) return false;
    bits = (bits << 6 | (unsigned)value) & 0xFFFF;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    ret_id[count++] = (uint8_t)(bits >> held);
  }
  return true;
}

bool otlp_trace_id(mend_str text, uint8_t ret_id[16]) {
  uint8_t id[16];
  const bool padded = text.len == 24 && text.ptr[22] == '=' && text.ptr[23] == '=';
  const bool hex = text.len == 32 && read_hex(text, id);
  if (!hex && !((padded || text.len == 22) && read_base64(text, id))) return false;
  memcpy(ret_id, id, sizeof id);
  return true;
}

void otlp_trace_id_format(const uint8_t id[16], char ret_digits[OTLP_TRACE_ID_SIZE]) {
  for (size_t i = 0; i < 16; i++) {
    ret_digits[2 * i] = mend__hex_digit(id[i] >> 4);
    ret_digits[2 * i + 1] = mend__hex_digit(id[i]);
  }
  ret_digits[2 * 16] = '\0';
}
