/* For tests that go through every field of every kind: the tables once more, made from mend/events.def on their own, so
 * that a mistake in the library's tables shows. */
#ifndef MEND_TEST_EVENT_FIELDS_H
#define MEND_TEST_EVENT_FIELDS_H

#include "mend/events.h"

typedef enum test_type { TEST_STR, TEST_JSON, TEST_U64, TEST_F64, TEST_RATIO, TEST_FLAG, TEST_HASH } test_type;

typedef struct test_field {
  const char *name;
  test_type type;
  size_t offset;
} test_field;

typedef struct test_kind {
  const char *topic;
  size_t size;
  const test_field *fields;
  size_t field_count;
} test_kind;

#define TEST_FIELD(TYPE, name, doc) {#name, TEST_##TYPE, offsetof(EVENT, name)},
#define TEST_KIND_CASE(KIND, kind, topic, doc)                                                                         \
  case MEND_EVENT_##KIND: {                                                                                            \
    typedef mend_##kind##_event EVENT;                                                                                 \
    static const test_field fields[] = {MEND_FIELDS_##kind(TEST_FIELD)};                                               \
    return (test_kind){topic, sizeof(EVENT), fields, sizeof fields / sizeof fields[0]};                                \
  }

static inline test_kind test_kind_of(mend_event_kind kind) {
  switch (kind) {
    MEND_EVENTS(TEST_KIND_CASE)
  default: return (test_kind){NULL, 0, NULL, 0};
  }
}

#define TEST_TEXT(literal)                                                                                             \
  { literal, sizeof(literal) - 1 }

/* Values that come back the same from the JSON view; how many there are of a type. */
enum { TEST_SAMPLES = 6 };

static inline void test_field_set(mend_any_event *event, const test_field *field, size_t sample) {
  static const mend_str strings[TEST_SAMPLES] = {
      TEST_TEXT("plain"),
      TEST_TEXT(""),
      TEST_TEXT("\"quoted\" \\ / \b\f\n\r\t \x01\x1f\x7f"),
      TEST_TEXT("nul \0 inside"),
      TEST_TEXT("\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80"),
      TEST_TEXT("{\"not\":\"an object\"}"),
  };
  static const mend_str texts[TEST_SAMPLES] = {
      TEST_TEXT("{\"a\":[1,2.50,null,true],\"b\":{\"c\":\"x\\u0041\\n\"},\"a\":-0}"),
      TEST_TEXT("\"text\""),
      TEST_TEXT("[]"),
      TEST_TEXT("null"),
      TEST_TEXT("123456789012345678901234567890.5e-400"),
      TEST_TEXT("{}"),
  };
  static const uint64_t integers[TEST_SAMPLES] = {1, 0, 7, (UINT64_C(1) << 53) + 1, UINT64_MAX - 1, 1000000007};
  static const double numbers[TEST_SAMPLES] = {0.1, 0, -0.0, 1e300, 5e-324, -123456789.125};
  static const double ratios[TEST_SAMPLES] = {0.1, 0, -0.0, 1, 5e-324, 0.875};
  static const mend_hash hashes[TEST_SAMPLES] = {{1, 2}, {0, 1},        {UINT64_MAX, UINT64_MAX},
                                                 {1, 0}, {0xabcdef, 0}, {3, 3}};
  void *at = (char *)event + field->offset;
  switch (field->type) {
  case TEST_STR: memcpy(at, &strings[sample], sizeof strings[sample]); break;
  case TEST_JSON: memcpy(at, &texts[sample], sizeof texts[sample]); break;
  case TEST_U64: memcpy(at, &integers[sample], sizeof integers[sample]); break;
  case TEST_F64: memcpy(at, &numbers[sample], sizeof numbers[sample]); break;
  case TEST_RATIO: memcpy(at, &ratios[sample], sizeof ratios[sample]); break;
  case TEST_FLAG: *(bool *)at = true; break;
  case TEST_HASH: memcpy(at, &hashes[sample], sizeof hashes[sample]); break;
  }
}

/* Equal to the bit, absent differing from empty. */
static inline bool test_field_equal(const mend_any_event *a, const mend_any_event *b, const test_field *field) {
  static const size_t sizes[] = {
      0, 0, sizeof(uint64_t), sizeof(double), sizeof(double), sizeof(bool), sizeof(mend_hash)};
  const char *at_a = (const char *)a + field->offset, *at_b = (const char *)b + field->offset;
  if (field->type != TEST_STR && field->type != TEST_JSON) return memcmp(at_a, at_b, sizes[field->type]) == 0;
  const mend_str *text_a = (const mend_str *)at_a, *text_b = (const mend_str *)at_b;
  return (text_a->ptr == NULL) == (text_b->ptr == NULL) && mend_str_equal(*text_a, *text_b);
}

#endif
