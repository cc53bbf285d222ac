/* The canonical hash in loose mode. What is equal is data: in each file of tests/data/json/loose the texts of one
 * group, as they are written, are equal, and those of different groups differ. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/buffer.h"
#include "mend/json.h"

#include <stdio.h>
#include <stdlib.h>

static _Alignas(max_align_t) char scratch[MEND_HASH_SCRATCH];

static mend_hash loose_with(mend_str text, const mend_loose_hash_options *options) {
  mend_json_hash_result result = mend_json_hash_loose(text, options, scratch, sizeof scratch);
  cr_assert(!result.raw, "not hashed by structure: %.*s", MEND_STR_ARG(text));
  cr_assert(!mend_hash_is_none(result.hash));
  return result.hash;
}

static mend_hash loose(mend_str text) { return loose_with(text, NULL); }

/* ---- Groups of equal texts ---- */

/* With any scratch the hash is either the same or that of the bytes, and enough scratch is enough. */
static void check_scratch_sizes(mend_str text) {
  const mend_hash expected = loose(text);
  bool fitted = false;
  for (size_t size = 0; size <= 1024; size += size < 200 ? 1 : 40) {
    mend_json_hash_result result = mend_json_hash_loose(text, NULL, size > 0 ? scratch : NULL, size);
    cr_assert(!fitted || !result.raw, "%zu bytes are too few after all: %.*s", size, MEND_STR_ARG(text));
    fitted = !result.raw;
    cr_assert(mend_hash_equal(result.hash, fitted ? expected : mend_hash_bytes(text)), "%zu bytes: %.*s", size,
              MEND_STR_ARG(text));
  }
  cr_assert(fitted, "%.*s", MEND_STR_ARG(text));
}

enum { TEXTS_MAX = 128 };

typedef struct text_group {
  mend_str text;
  mend_hash hash;
  size_t group;
} text_group;

static size_t read_groups(mend_str file, text_group *ret_texts) {
  mend_json json;
  mend_str text;
  size_t count = 0, group = 0;
  mend_json_init(&json, file, MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_next(&json), MEND_JSON_ARRAY);
  for (; mend_json_next(&json) == MEND_JSON_ARRAY; group++) {
    while (mend_json_value(&json, &text) == MEND_OK) {
      cr_assert(count < TEXTS_MAX);
      ret_texts[count++] = (text_group){text, loose(text), group};
    }
    cr_assert_eq(json.token, MEND_JSON_ARRAY_END);
  }
  cr_assert_eq(json.token, MEND_JSON_ARRAY_END);
  return count;
}

static void check_file(void *ctx, const char *name) {
  static text_group texts[TEXTS_MAX];
  (void)ctx;
  mend_str file = {NULL, 0};
  file.ptr = mend_test_read(name, &file.len);
  const size_t count = read_groups(file, texts);
  cr_assert(count > 10, "%s", name);
  for (size_t i = 0; i < count; i++) {
    check_scratch_sizes(texts[i].text);
    const mend_hash exact = mend_json_hash(texts[i].text, scratch, sizeof scratch).hash;
    for (size_t other = 0; other < count; other++) {
      const bool equal = texts[i].group == texts[other].group;
      cr_assert_eq(mend_hash_equal(texts[i].hash, texts[other].hash), equal, "%s: %.*s and %.*s", name,
                   MEND_STR_ARG(texts[i].text), MEND_STR_ARG(texts[other].text));
      cr_assert(!mend_hash_equal(exact, texts[other].hash), "%s: %.*s in exact mode", name,
                MEND_STR_ARG(texts[i].text));
    }
  }
  free((void *)file.ptr);
}

Test(hash_loose, groups) { cr_assert_eq(mend_test_each("json/loose", ".json", check_file, NULL), 9u); }

/* What is equal in exact mode is equal in loose mode. Each line is an array of equal texts. */
Test(hash_loose, equal_where_exact_is) {
  mend_str file = {NULL, 0}, rest;
  file.ptr = mend_test_read("json/hash/equal.jsonl", &file.len);
  for (rest = file; rest.len > 0;) {
    mend_json json;
    mend_str first, other;
    mend_json_init(&json, rest, MEND_JSON_DEPTH);
    json.stream = true;
    cr_assert_eq(mend_json_next(&json), MEND_JSON_ARRAY);
    cr_assert_eq(mend_json_value(&json, &first), MEND_OK);
    while (mend_json_value(&json, &other) == MEND_OK) {
      cr_assert(mend_hash_equal(loose(first), loose(other)), "%.*s and %.*s", MEND_STR_ARG(first), MEND_STR_ARG(other));
    }
    rest = (mend_str){rest.ptr + json.at + 1, rest.len - json.at - 1};
  }
  free((void *)file.ptr);
}

/* ---- Options ---- */

static bool ignores_nonce(void *ctx, mend_str name) {
  ++*(size_t *)ctx;
  return mend_str_equal(name, MEND_STR("nonce"));
}

Test(hash_loose, options) {
  size_t asked = 0;
  mend_loose_hash_options ignoring = MEND_LOOSE_HASH_OPTIONS_INIT, unmasked = MEND_LOOSE_HASH_OPTIONS_INIT;
  ignoring.ignores = ignores_nonce;
  ignoring.ctx = &asked;
  unmasked.mask_volatile = false;
  const struct {
    const mend_loose_hash_options *options;
    const char *texts[2];
    bool equal;
  } cases[] = {
      {NULL, {"{\"a\":1,\"nonce\":2}", "{\"a\":1,\"nonce\":3}"}, false},
      {&ignoring, {"{\"a\":1,\"nonce\":2}", "{\"a\":1,\"nonce\":[3,{\"b\":\"x\"}]}"}, true},
      {&ignoring, {"{\"a\":1,\"nonce\":2}", "{\"nonce\":3,\"nonce\":4,\"a\":1}"}, true},
      {&ignoring, {"{\"a\":1,\"n\\u006fnce\":2}", "{\"a\":1}"}, true},
      {&ignoring, {"\"{\\\"a\\\":1,\\\"nonce\\\":2}\"", "{\"a\":1}"}, true},
      {&ignoring, {"{\"nonce\":{}}", "{}"}, true},
      {&ignoring, {"{\"a\":1,\"nonces\":2}", "{\"a\":1,\"nonces\":3}"}, false},
      {&ignoring, {"{\"a\":{\"nonce\":2}}", "{\"a\":{\"nonce\":3}}"}, false},
      {&ignoring, {"[{\"nonce\":2}]", "[{\"nonce\":3}]"}, false},
      {&ignoring, {"{\"a\":1700000000}", "{\"a\":1700000001}"}, true},
      {&unmasked, {"{\"a\":1700000000}", "{\"a\":1700000001}"}, false},
      {&unmasked, {"{\"a\":\"1700000000\"}", "{\"a\":\"1700000001\"}"}, false},
      {&unmasked, {"[\"2026-11-30T15:37\"]", "[\"2026-11-30T15:38\"]"}, false},
      {&unmasked, {"{\"a\":1,\"b\":null}", "{\"a\":1.0 }"}, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const mend_hash first = loose_with(mend_str_from(cases[i].texts[0]), cases[i].options);
    const mend_hash second = loose_with(mend_str_from(cases[i].texts[1]), cases[i].options);
    cr_assert_eq(mend_hash_equal(first, second), cases[i].equal, "%s and %s", cases[i].texts[0], cases[i].texts[1]);
  }
  cr_assert(asked > 10);
  const mend_loose_hash_options unusable = {0};
  cr_assert(mend_json_hash_loose(MEND_STR("{}"), &unusable, scratch, sizeof scratch).raw, "size 0");
}

/* ---- Limits ---- */

static void check_raw(mend_str text, const char *what) {
  mend_json_hash_result result = mend_json_hash_loose(text, NULL, scratch, sizeof scratch);
  cr_assert(result.raw, "%s", what);
  cr_assert(mend_hash_equal(result.hash, mend_hash_bytes(text)), "%s", what);
}

/* An array in a string, with `len` bytes in all; `space` stands between its brackets. */
static mend_hash nested_array(size_t len, const char *space, char end) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  mend__buffer_str(&text, MEND_STR("\"["));
  for (size_t i = 2; i < len; i++)
    mend__buffer_str(&text, mend_str_from(space));
  mend__buffer_char(&text, end);
  mend__buffer_char(&text, '"');
  const mend_hash hash = loose(mend__buffer_text(&text));
  mend__buffer_free(&text);
  return hash;
}

/* `value` inside of `depth` arrays. */
static mend_hash inside_arrays(size_t depth, const char *value) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  for (size_t i = 0; i < depth; i++)
    mend__buffer_char(&text, '[');
  mend__buffer_str(&text, mend_str_from(value));
  for (size_t i = 0; i < depth; i++)
    mend__buffer_char(&text, ']');
  const mend_hash hash = loose(mend__buffer_text(&text));
  mend__buffer_free(&text);
  return hash;
}

/* What is in a string counts for the depth, too; what would be too deep there stays a string. */
Test(hash_loose, depth_of_strings) {
  const size_t deepest = MEND_JSON_DEPTH;
  cr_assert(mend_hash_equal(inside_arrays(deepest - 1, "\"[]\""), inside_arrays(deepest - 1, "[]")));
  cr_assert(mend_hash_equal(inside_arrays(deepest - 1, "\"[]\""), inside_arrays(deepest - 1, "\"[ ]\"")));
  cr_assert(!mend_hash_equal(inside_arrays(deepest, "\"[]\""), inside_arrays(deepest, "\"[ ]\"")));
  cr_assert(!mend_hash_equal(inside_arrays(deepest - 1, "\"[[]]\""), inside_arrays(deepest - 1, "\"[[ ]]\"")));
}

/* The scratch is there again for each string: all of them together are more than it holds. */
Test(hash_loose, scratch_is_given_back) {
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  for (size_t i = 0; i < 20; i++) {
    mend__buffer_str(&text, i == 0 ? MEND_STR("[") : MEND_STR(","));
    mend__buffer_str(&text, MEND_STR("{\"n\\u0061me\":\"{\\n"));
    for (size_t blank = 0; blank < 8000; blank++)
      mend__buffer_char(&text, ' ');
    mend__buffer_str(&text, i % 2 == 0 ? MEND_STR("}\"}") : MEND_STR("]\"}"));
  }
  mend__buffer_char(&text, ']');
  cr_assert(text.len > 2 * sizeof scratch);
  loose(mend__buffer_text(&text));
  mend__buffer_free(&text);
}

Test(hash_loose, limits) {
  const char *const texts[] = {"", " ", "ls -l", "{\"a\":1", "{\"a\":\"{\\\"b\\\":1}\"}}", "{'a':1}", "\"\xFF\""};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    check_raw(mend_str_from(texts[i]), texts[i]);
  check_raw((mend_str){NULL, 0}, "absent");

  char nested[2 * MEND_JSON_DEPTH + 16];
  for (size_t depth = MEND_JSON_DEPTH; depth <= MEND_JSON_DEPTH + 1; depth++) {
    memset(nested, '[', depth);
    memset(nested + depth, ']', depth);
    const bool raw = mend_json_hash_loose((mend_str){nested, 2 * depth}, NULL, NULL, 0).raw;
    cr_assert_eq(raw, depth > MEND_JSON_DEPTH, "depth %zu", depth);
  }
  const mend_hash empty = loose(MEND_STR("[]"));
  const char *const spaces[] = {" ", "\\n", "\\u0020"};
  for (size_t i = 0; i < sizeof spaces / sizeof spaces[0]; i++) {
    const size_t at_most = MEND_HASH_NESTED_MAX / (i == 2 ? 2 : 1); /* six times as long when written */
    cr_assert(mend_hash_equal(nested_array(at_most, spaces[i], ']'), empty), "%s", spaces[i]);
    cr_assert(!mend_hash_equal(nested_array(MEND_HASH_NESTED_MAX + 1, spaces[i], ']'), empty), "%s", spaces[i]);
  }
  /* longer ones are compared as strings, whatever their escapes and the blanks behind */
  const size_t longer = 2 * MEND_HASH_NESTED_MAX;
  cr_assert(mend_hash_equal(nested_array(longer, " ", ']'), nested_array(longer, "\\u0020", ']')));
  cr_assert(!mend_hash_equal(nested_array(longer, " ", ']'), nested_array(longer, " ", '}')));
  cr_assert(!mend_hash_equal(nested_array(longer, "x", ' '), nested_array(longer, " ", '}')));
  cr_assert(mend_hash_equal(nested_array(longer, " ", ' '), nested_array(1, " ", ' ')), "nothing but blanks behind");
}

/* ---- Any document, written twice ---- */

typedef struct spelling {
  uint64_t random;      /* how things are written */
  uint64_t changed;     /* the seed of a leaf that means something else; 0: of none */
  uint64_t leaves[256]; /* the seeds of those written */
  size_t leaf_count;
  mend__buffer *text;
} spelling;

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

static uint64_t seed_of(uint64_t parent, uint64_t child) {
  uint64_t state = parent ^ (child + 1) * 0x9E3779B97F4A7C15u;
  next_random(&state);
  return state | 1;
}

static bool coin(spelling *how, uint64_t one_in) { return next_random(&how->random) % one_in == 0; }

static void write_space(spelling *how) {
  static const char *const spaces[] = {"", "", "", " ", "\n  ", "\t", "\r\n"};
  mend__buffer_str(how->text, mend_str_from(spaces[next_random(&how->random) % 7]));
}

/* A string; its letters are escaped here and there. */
static void write_string(spelling *how, const char *text, bool blanks) {
  mend__buffer_char(how->text, '"');
  for (; *text != '\0'; text++)
    mend__buffer_printf(how->text, coin(how, 8) ? "\\u%04x" : "%c", (unsigned)(unsigned char)*text);
  if (blanks && coin(how, 3)) mend__buffer_str(how->text, coin(how, 2) ? MEND_STR(" ") : MEND_STR("\\n\\u0020"));
  mend__buffer_char(how->text, '"');
}

static void write_number(spelling *how, uint64_t seed, bool changed) {
  const unsigned value = (unsigned)(seed >> 8) % 1000 + 1 + changed;
  switch (next_random(&how->random) % 4) {
  case 0: mend__buffer_printf(how->text, "%u", value); break;
  case 1: mend__buffer_printf(how->text, "%u.0", value); break;
  case 2: mend__buffer_printf(how->text, "%ue0", value); break;
  default: mend__buffer_printf(how->text, "%u00E-2", value);
  }
}

static void write_volatile(spelling *how, uint64_t kind) {
  char text[64];
  const unsigned any = (unsigned)next_random(&how->random) % 10;
  switch (kind) {
  case 0: snprintf(text, sizeof text, "202%u-1%u-0%uT1%u:3%u:00.%uZ", any, any % 3, any % 9 + 1, any, any, any); break;
  case 1: snprintf(text, sizeof text, "%u23e4567-E89b-42d3-a456-42661417400%u", any, any); break;
  default:
    snprintf(text, sizeof text, "17%u0000000%s", any, any > 4 ? "123" : "");
    if (!coin(how, 2)) break;
    mend__buffer_str(how->text, mend_str_from(text));
    return;
  }
  write_string(how, text, true);
}

static void write_leaf(spelling *how, uint64_t seed) {
  const bool changed = seed == how->changed;
  char text[64];
  if (how->leaf_count < sizeof how->leaves / sizeof how->leaves[0]) how->leaves[how->leaf_count++] = seed;
  switch (seed >> 40 & 7) {
  case 0: mend__buffer_str(how->text, changed ? MEND_STR("false") : MEND_STR("true")); break;
  case 1:
  case 2: write_number(how, seed, changed); break;
  case 3: write_volatile(how, ((seed >> 8) + changed) % 3); break;
  case 4: mend__buffer_printf(how->text, "9007199254740%u", 993 + changed); break;
  default:
    snprintf(text, sizeof text, "%s%u{", changed ? "other" : "text ", (unsigned)(seed >> 8) % 100000);
    write_string(how, text, true);
  }
}

static void write_value(spelling *how, uint64_t seed, unsigned depth);

static void write_member(spelling *how, uint64_t seed, uint64_t i, unsigned depth) {
  char name[32];
  snprintf(name, sizeof name, "k%u", (unsigned)i);
  if (coin(how, 6)) { /* an earlier one that does not count */
    write_string(how, name, false);
    mend__buffer_str(how->text, MEND_STR(":[null], "));
  }
  write_string(how, name, false);
  write_space(how);
  mend__buffer_char(how->text, ':');
  write_value(how, seed_of(seed, i), depth);
  if (coin(how, 6)) mend__buffer_printf(how->text, ",\"absent%u\":null", (unsigned)i);
}

static void write_container(spelling *how, uint64_t seed, unsigned depth) {
  const bool array = seed >> 20 & 1;
  const uint64_t count = (seed >> 8) % 6, first = array ? 0 : next_random(&how->random);
  mend__buffer_char(how->text, array ? '[' : '{');
  for (uint64_t i = 0; i < count; i++) {
    if (i > 0) mend__buffer_char(how->text, ',');
    write_space(how);
    if (array) {
      write_value(how, seed_of(seed, i), depth + 1);
    } else {
      write_member(how, seed, (first + i) % count, depth + 1);
    }
    write_space(how);
  }
  mend__buffer_char(how->text, array ? ']' : '}');
}

/* What is written depends on the seed only, how it is written on the spelling. */
static void write_value(spelling *how, uint64_t seed, unsigned depth) {
  if (depth > 3 || (depth > 0 && (seed >> 4 & 15) < 9)) {
    write_leaf(how, seed);
  } else if (coin(how, 4)) {
    mend__buffer inner, *outer = how->text;
    mend__buffer_init(&inner, NULL);
    how->text = &inner;
    write_container(how, seed, depth);
    how->text = outer;
    mend__buffer_json_string(outer, mend__buffer_text(&inner));
    mend__buffer_free(&inner);
  } else {
    write_container(how, seed, depth);
  }
}

static mend_hash written_hash(spelling *how, mend__buffer *text, uint64_t seed, uint64_t changed) {
  mend__buffer_clear(text);
  how->text = text;
  how->changed = changed;
  how->leaf_count = 0;
  write_value(how, seed, 0);
  cr_assert(!text->failed);
  return loose(mend__buffer_text(text));
}

Test(hash_loose, any_document) {
  mend__buffer texts[2];
  mend__buffer_init(&texts[0], NULL);
  mend__buffer_init(&texts[1], NULL);
  static spelling how;
  how.random = 4711;
  size_t changes = 0;
  for (uint64_t i = 0; i < 3000; i++) {
    const uint64_t seed = seed_of(42, i);
    const mend_hash first = written_hash(&how, &texts[0], seed, 0);
    const mend_hash again = written_hash(&how, &texts[1], seed, 0);
    cr_assert(mend_hash_equal(first, again), "%.*s and %.*s", (int)texts[0].len, texts[0].data, (int)texts[1].len,
              texts[1].data);
    if (how.leaf_count == 0) continue;
    changes++;
    const mend_hash other = written_hash(&how, &texts[1], seed, how.leaves[i % how.leaf_count]);
    cr_assert(!mend_hash_equal(first, other), "%.*s and %.*s", (int)texts[0].len, texts[0].data, (int)texts[1].len,
              texts[1].data);
  }
  cr_assert(changes > 1000);
  mend__buffer_free(&texts[0]);
  mend__buffer_free(&texts[1]);
}
