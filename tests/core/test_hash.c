/* The canonical hash. What must be equal and what must differ is data: tests/data/json/hash. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/buffer.h"
#include "core/json_hash.h"
#include "mend/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define MEMBER_SIZE 40 /* of scratch, as the header promises */

static _Alignas(max_align_t) char scratch[MEMBER_SIZE * 6000];

static mend_hash structural(mend_str text) {
  mend_json_hash_result result = mend_json_hash(text, scratch, sizeof scratch);
  cr_assert(!result.raw, "not hashed by structure: %.*s", MEND_STR_ARG(text));
  cr_assert(!mend_hash_is_none(result.hash));
  return result.hash;
}

static mend_hash structural_of(const char *text) { return structural(mend_str_from(text)); }

/* The next line without its line feed; absent at the end. */
static mend_str take_line(mend_str *rest) {
  if (rest->len == 0) return (mend_str){NULL, 0};
  const char *feed = memchr(rest->ptr, '\n', rest->len);
  mend_str line = {rest->ptr, feed != NULL ? (size_t)(feed - rest->ptr) : rest->len};
  size_t taken = line.len + (feed != NULL);
  *rest = (mend_str){rest->ptr + taken, rest->len - taken};
  return line;
}

/* With any scratch the hash is either the same or that of the bytes, and enough scratch is enough. */
static void check_scratch_sizes(mend_str text) {
  mend_hash expected = structural(text);
  bool fitted = false;
  for (size_t members = 0; members <= 32; members++) {
    mend_json_hash_result result = mend_json_hash(text, members > 0 ? scratch : NULL, members * MEMBER_SIZE);
    cr_assert(!fitted || !result.raw, "%zu members are too few after all: %.*s", members, MEND_STR_ARG(text));
    fitted = !result.raw;
    cr_assert(mend_hash_equal(result.hash, result.raw ? mend_hash_bytes(text) : expected), "%zu members: %.*s", members,
              MEND_STR_ARG(text));
  }
  cr_assert(fitted, "%.*s", MEND_STR_ARG(text));
}

/* Each line is an array whose elements, as they are written, are equal. */
Test(hash, equal_texts) {
  mend_str file = {NULL, 0};
  file.ptr = mend_test_read("json/hash/equal.jsonl", &file.len);
  mend_str rest = file, line;
  unsigned groups = 0;
  for (; (line = take_line(&rest)).ptr != NULL; groups++) {
    mend_json json;
    mend_json_init(&json, line, MEND_JSON_DEPTH);
    mend_json_next(&json);
    mend_str first, other;
    cr_assert_eq(mend_json_value(&json, &first), MEND_OK, "%.*s", MEND_STR_ARG(line));
    check_scratch_sizes(first);
    unsigned others = 0;
    for (; mend_json_value(&json, &other) == MEND_OK; others++) {
      cr_assert(mend_hash_equal(structural(first), structural(other)), "%.*s and %.*s", MEND_STR_ARG(first),
                MEND_STR_ARG(other));
      check_scratch_sizes(other);
    }
    cr_assert_eq(json.token, MEND_JSON_ARRAY_END, "%.*s", MEND_STR_ARG(line));
    cr_assert(others > 0, "%.*s", MEND_STR_ARG(line));
  }
  cr_assert(groups > 20);
  free((void *)file.ptr);
}

Test(hash, distinct_texts) {
  mend_str file = {NULL, 0};
  file.ptr = mend_test_read("json/hash/distinct.jsonl", &file.len);
  mend_str texts[256], rest = file, line;
  mend_hash hashes[256];
  size_t count = 0;
  for (; (line = take_line(&rest)).ptr != NULL; count++) {
    cr_assert(count < sizeof texts / sizeof *texts);
    texts[count] = line;
    hashes[count] = structural(line);
    check_scratch_sizes(line);
    for (size_t i = 0; i < count; i++) {
      cr_assert(!mend_hash_equal(hashes[i], hashes[count]), "%.*s and %.*s", MEND_STR_ARG(texts[i]),
                MEND_STR_ARG(line));
      cr_assert(!mend_hash_equal(mend_hash_bytes(texts[i]), hashes[count]), "the bytes of %.*s",
                MEND_STR_ARG(texts[i]));
    }
  }
  cr_assert(count > 100);
  free((void *)file.ptr);
}

/* Hashes are kept in journals and compared with those of other versions and machines. */
Test(hash, values_are_for_ever) {
  static const struct {
    const char *text, *hash;
  } cases[] = {
      {"{\"path\":\"src/main.c\",\"line\":12}", "db0f04c8a6cb3725c8c16b4b76dbd9b1"},
      {"[1,2.5,\"x\",{\"a\":[true,null]}]", "5b3da5e12e98ae45f399c53f971493ff"},
      {"not JSON", "2cec1fa910c87a101459460e12620339"},
      {"", "99aa06d3014798d86001c324468d497f"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[MEND_HASH_TEXT_SIZE];
    mend_hash_format(mend_json_hash(mend_str_from(cases[i].text), scratch, sizeof scratch).hash, text);
    cr_assert_str_eq(text, cases[i].hash, "%s: %s", cases[i].text, text);
  }
}

Test(hash, space_around) {
  const char *const texts[] = {"{\"a\":1}", " {\"a\":1}", "{\"a\":1}\n", "\r\n\t{\n\"a\"\t:\r1 } \n"};
  for (size_t i = 1; i < sizeof texts / sizeof *texts; i++) {
    cr_assert(mend_hash_equal(structural_of(texts[0]), structural_of(texts[i])), "%s", texts[i]);
  }
}

/* ---- Long strings ------------------------------------------------------------------------------------------- */

/* Arguments that differ only far behind what any preview shows. */
Test(hash, long_arguments_differ_at_the_end) {
  const size_t lens[] = {500, 1023, 1024, 1025, 5000, 100000};
  for (size_t i = 0; i < sizeof lens / sizeof *lens; i++) {
    mend__buffer text;
    mend__buffer_init(&text, NULL);
    mend__buffer_str(&text, MEND_STR("{\"command\":\""));
    while (text.len < lens[i])
      mend__buffer_char(&text, 'x');
    mend__buffer_str(&text, MEND_STR("\"}"));
    mend_str whole = {text.data, text.len};
    mend_hash before = structural(whole);
    text.data[lens[i] - 1] = 'y';
    cr_assert(!mend_hash_equal(before, structural(whole)), "%zu bytes", lens[i]);
    mend__buffer_free(&text);
  }
}

/* The same string plain and with some of its characters escaped, at lengths around the piece in which escapes go. */
Test(hash, long_escaped_strings) {
  for (size_t len = 950; len<4400; len += len % 1024> 1016 || len % 1024 < 8 ? 1 : 13) {
    mend__buffer plain, escaped;
    mend__buffer_init(&plain, NULL);
    mend__buffer_init(&escaped, NULL);
    mend__buffer_char(&plain, '"');
    mend__buffer_char(&escaped, '"');
    for (size_t i = 0; i < len; i++) {
      bool emoji = i % 101 == 50;
      char c = (char)('a' + i % 26);
      if (emoji) {
        mend__buffer_str(&plain, MEND_STR("\xF0\x9F\xA6\x80"));
        mend__buffer_str(&escaped, MEND_STR("\\ud83e\\udd80"));
      } else {
        mend__buffer_char(&plain, c);
        mend__buffer_printf(&escaped, i % 7 == 0 ? "\\u%04x" : "%c", (unsigned)c);
      }
    }
    mend__buffer_char(&plain, '"');
    mend__buffer_char(&escaped, '"');
    cr_assert(mend_hash_equal(structural(mend__buffer_text(&plain)), structural(mend__buffer_text(&escaped))),
              "%zu characters", len);
    mend__buffer_free(&plain);
    mend__buffer_free(&escaped);
  }
}

/* ---- Large objects and arrays ------------------------------------------------------------------------------- */

/* An object of `count` members whose keys come in the order i * stride (stride and count have no common divisor). Every
 * key comes twice when `twice` is set; only the second value counts. */
static mend_hash object_hash(size_t count, size_t stride, bool twice) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  mend__buffer_char(&text, '{');
  for (size_t i = 0; i < count * (twice ? 2 : 1); i++) {
    size_t key = i * stride % count;
    bool counts = !twice || i >= count;
    mend__buffer_printf(&text, "%s\"key %zu\":%zu", i > 0 ? "," : "", key, counts ? key : i + 1);
  }
  mend__buffer_char(&text, '}');
  mend_hash hash = structural(mend__buffer_text(&text));
  mend__buffer_free(&text);
  return hash;
}

Test(hash, large_objects) {
  const struct {
    size_t count, stride;
  } cases[] = {{1, 1}, {2, 1}, {3, 2}, {23, 7}, {24, 5}, {25, 3}, {26, 7}, {48, 47}, {100, 37}, {2999, 1000}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_hash in_order = object_hash(cases[i].count, 1, false);
    cr_assert(mend_hash_equal(in_order, object_hash(cases[i].count, cases[i].stride, false)), "%zu", cases[i].count);
    cr_assert(mend_hash_equal(in_order, object_hash(cases[i].count, cases[i].stride, true)), "%zu twice",
              cases[i].count);
    cr_assert(!mend_hash_equal(in_order, object_hash(cases[i].count + 1, 1, false)), "%zu and one", cases[i].count);
  }

  mend_str again = MEND_STR("{\"a\":1,\"a\":{\"b\":2},\"a\":3,\"a\":4}");
  mend_json_hash_result result = mend_json_hash(again, scratch, 2 * 40);
  cr_assert(!result.raw, "a key that comes again needs no room of its own");
  cr_assert(mend_hash_equal(result.hash, structural_of("{\"a\":4}")));
}

/* ---- Limits ------------------------------------------------------------------------------------------------- */

static void check_raw(mend_str text, const char *what) {
  mend_json_hash_result result = mend_json_hash(text, scratch, MEND_HASH_SCRATCH);
  cr_assert(result.raw, "%s", what);
  cr_assert(mend_hash_equal(result.hash, mend_hash_bytes(text)), "%s", what);
  cr_assert(!mend_hash_is_none(result.hash), "%s", what);
}

Test(hash, raw) {
  const char *const texts[] = {"", " ", "ls -l", "{\"a\":1", "{\"a\":1}}", "{'a':1}", "[NaN]", "{} {}", "\"\xFF\""};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    check_raw(mend_str_from(texts[i]), texts[i]);
  check_raw((mend_str){NULL, 0}, "absent");

  char nested[2 * MEND_JSON_DEPTH + 2];
  for (size_t depth = MEND_JSON_DEPTH; depth <= MEND_JSON_DEPTH + 1; depth++) {
    memset(nested, '[', depth);
    memset(nested + depth, ']', depth);
    bool raw = mend_json_hash((mend_str){nested, 2 * depth}, NULL, 0).raw;
    cr_assert_eq(raw, depth > MEND_JSON_DEPTH, "depth %zu", depth);
  }

  char *text = malloc(MEND_HASH_TEXT_MAX + 1);
  cr_assert_not_null(text);
  memset(text, ' ', MEND_HASH_TEXT_MAX + 1);
  text[0] = '7';
  cr_assert(!mend_json_hash((mend_str){text, MEND_HASH_TEXT_MAX}, scratch, MEND_HASH_SCRATCH).raw, "8 MiB");
  check_raw((mend_str){text, MEND_HASH_TEXT_MAX + 1}, "8 MiB and a byte");
  free(text);

  mend__buffer object; /* one member more than the default scratch holds */
  mend__buffer_init(&object, NULL);
  for (size_t i = 0; i <= MEND_HASH_SCRATCH / MEMBER_SIZE; i++)
    mend__buffer_printf(&object, "%c\"%zu\":0", i > 0 ? ',' : '{', i);
  mend__buffer_char(&object, '}');
  check_raw(mend__buffer_text(&object), "too many members");
  structural(mend__buffer_text(&object));
  mend__buffer_free(&object);
}

/* ---- As text ------------------------------------------------------------------------------------------------ */

Test(hash, text) {
  const struct {
    mend_hash hash;
    const char *text;
  } cases[] = {
      {{0, 0}, "00000000000000000000000000000000"},
      {{1, 2}, "00000000000000010000000000000002"},
      {{UINT64_C(0x0123456789abcdef), UINT64_C(0xfedcba9876543210)}, "0123456789abcdeffedcba9876543210"},
      {{UINT64_MAX, UINT64_MAX}, "ffffffffffffffffffffffffffffffff"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[MEND_HASH_TEXT_SIZE];
    mend_hash_format(cases[i].hash, text);
    cr_assert_str_eq(text, cases[i].text);
    mend_hash hash = {4711, 4711};
    cr_assert_eq(mend_hash_parse(mend_str_from(text), &hash), MEND_OK);
    cr_assert(mend_hash_equal(hash, cases[i].hash), "%s", text);
  }
  mend_hash hash = {4711, 4711};
  cr_assert_eq(mend_hash_parse(MEND_STR("0123456789ABCDEFfedcba9876543210"), &hash), MEND_OK, "capitals");
  cr_assert(mend_hash_equal(hash, cases[2].hash));
  const char *const wrong[] = {"",
                               "0",
                               "0123456789abcdeffedcba987654321",
                               "0123456789abcdeffedcba98765432100",
                               "0123456789abcdeffedcba987654321g",
                               "0x23456789abcdeffedcba9876543210",
                               " 123456789abcdeffedcba9876543210",
                               "+123456789abcdeffedcba9876543210"};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cr_assert_eq(mend_hash_parse(mend_str_from(wrong[i]), &hash), MEND_EINVAL, "%s", wrong[i]);
    cr_assert(mend_hash_equal(hash, cases[2].hash), "untouched");
  }
}

/* ---- Without scratch of the caller's ---- */

typedef mend_status hash_function(mend_str text, const mend_allocator *allocator, mend_json_hash_result *ret_result);

static mend_json_hash_result hash_alloc(hash_function *hash, mend_test_allocator *memory, mend_str text) {
  mend_json_hash_result result;
  cr_assert_eq(hash(text, &memory->base, &result), MEND_OK);
  cr_assert(!mend_hash_is_none(result.hash));
  cr_assert_eq(atomic_load(&memory->blocks), 0u);
  return result;
}

static void check_hash_alloc(hash_function *hash) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  static const struct {
    const char *texts[2];
    bool raw;
  } same[] = {{{"{\"a\":1,\"b\":[2,null]}", "{ \"b\" : [2, null], \"\\u0061\":1 }"}, false},
              {{"no json", "no json"}, true},
              {{"", ""}, true}};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
    const mend_json_hash_result first = hash_alloc(hash, &memory, mend_str_from(same[i].texts[0]));
    const mend_json_hash_result second = hash_alloc(hash, &memory, mend_str_from(same[i].texts[1]));
    cr_assert(mend_hash_equal(first.hash, second.hash), "row %zu", i);
    cr_assert_eq(first.raw, same[i].raw, "row %zu", i);
  }

  /* more members than the stack has room for, in either order; and without memory for them */
  mend__buffer texts[2];
  for (unsigned order = 0; order < 2; order++) {
    mend__buffer_init(&texts[order], NULL);
    for (unsigned i = 0; i < 500; i++)
      mend__buffer_printf(&texts[order], "%c\"%u\":0", i == 0 ? '{' : ',', order == 0 ? i : 499 - i);
    mend__buffer_char(&texts[order], '}');
  }
  const mend_str up = {texts[0].data, texts[0].len}, down = {texts[1].data, texts[1].len};
  cr_assert(mend_hash_equal(hash_alloc(hash, &memory, up).hash, hash_alloc(hash, &memory, down).hash));
  cr_assert(!hash_alloc(hash, &memory, up).raw);
  mend_json_hash_result result = {{7, 7}, true};
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(hash(up, &memory.base, &result), MEND_ENOMEM);
  cr_assert(result.hash.hi == 7 && result.raw, "untouched");
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
  mend__buffer_free(&texts[0]);
  mend__buffer_free(&texts[1]);
}

Test(hash, with_memory_of_its_own) {
  check_hash_alloc(mend__json_hash_alloc);
  check_hash_alloc(mend__json_hash_loose_alloc);
}
