/* The scanner. Documents are data: tests/data/json/accept, and refuse with the expected place and sentence beside. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/buffer.h"
#include "mend/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static mend_str part(mend_str text, size_t begin, size_t end) { return (mend_str){text.ptr + begin, end - begin}; }

/* ---- A scan as text, so that scans can be compared ---------------------------------------------------------- */

static void trace_token(mend__buffer *trace, const mend_json *json) {
  static const char *const names[] = {"end", "{", "}", "[", "]", "key", "string", "number", "true", "false", "null"};
  if (json->token < MEND_JSON_END) {
    mend_error error;
    mend_json_error(json, &error);
    mend__buffer_printf(trace, "%u:%u %s", error.line, error.column, json->reason);
    return;
  }
  mend__buffer_printf(trace, "%s %u ", names[json->token], json->depth);
  if (json->token == MEND_JSON_KEY || json->token == MEND_JSON_STRING) {
    mend__buffer_str(trace, json->escaped ? MEND_STR("escaped ") : MEND_STR("plain "));
  }
  if (json->token == MEND_JSON_NUMBER && json->integer) mend__buffer_str(trace, MEND_STR("integer "));
  mend__buffer_str(trace, json->slice);
  mend__buffer_char(trace, '\n');
}

/* The text in memory of exactly its size, where a sanitizer sees a read behind it. */
static mend_str exact_copy(mend_str text) {
  char *copy = malloc(text.len + (text.len == 0));
  if (copy == NULL) abort();
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  return (mend_str){copy, text.len};
}

/* Scans the text as if it arrived in pieces: `first` bytes, then `step` more each time. */
static void trace_scan(mend__buffer *trace, mend_str text, size_t first, size_t step) {
  size_t begin = 0, end = first < text.len ? first : text.len;
  mend_str window = exact_copy(part(text, 0, end));
  mend_json json;
  mend_json_init(&json, window, MEND_JSON_DEPTH);
  json.partial = end < text.len;
  mend__buffer_clear(trace);
  for (;;) {
    mend_json_token token = mend_json_next(&json);
    if (token != MEND_JSON_MORE) {
      trace_token(trace, &json);
      if (token <= MEND_JSON_END) break;
      continue;
    }
    begin += json.at;
    end = text.len - end < step ? text.len : end + step;
    mend_str longer = exact_copy(part(text, begin, end));
    mend_json_refill(&json, longer);
    free((void *)window.ptr);
    window = longer;
    json.partial = end < text.len;
  }
  free((void *)window.ptr);
  cr_assert(!trace->failed);
}

static void check_every_split(const char *name, mend_str text) {
  mend__buffer whole, pieces;
  mend__buffer_init(&whole, NULL);
  mend__buffer_init(&pieces, NULL);
  trace_scan(&whole, text, text.len, 0);
  for (size_t split = 0; split < text.len; split++) {
    trace_scan(&pieces, text, split, text.len);
    cr_assert(mend_str_equal(mend__buffer_text(&whole), mend__buffer_text(&pieces)), "%s split at %zu:\n%.*s", name,
              split, (int)pieces.len, pieces.data);
  }
  for (size_t step = 1; step <= 3; step++) {
    trace_scan(&pieces, text, step, step);
    cr_assert(mend_str_equal(mend__buffer_text(&whole), mend__buffer_text(&pieces)), "%s in steps of %zu:\n%.*s", name,
              step, (int)pieces.len, pieces.data);
  }
  mend__buffer_free(&whole);
  mend__buffer_free(&pieces);
}

/* ---- Documents ---------------------------------------------------------------------------------------------- */

/* A beginning of a document is a value already (numbers), or wrong only in that it ends: `partial` asks for more. */
static void check_every_beginning(const char *name, mend_str text) {
  for (size_t len = 0; len < text.len; len++) {
    mend_str beginning = exact_copy(part(text, 0, len));
    mend_json json;
    mend_json_init(&json, beginning, MEND_JSON_DEPTH);
    while (mend_json_next(&json) > MEND_JSON_END)
      continue;
    cr_assert(json.token == MEND_JSON_END || (json.token == MEND_JSON_ERROR && json.at == len), "%s cut at %zu: %s",
              name, len, json.reason);
    mend_json_init(&json, beginning, MEND_JSON_DEPTH);
    json.partial = true;
    while (mend_json_next(&json) > MEND_JSON_END)
      continue;
    cr_assert_eq(json.token, MEND_JSON_MORE, "%s cut at %zu", name, len);
    cr_assert_eq(mend_json_next(&json), MEND_JSON_MORE, "%s cut at %zu, asked again", name, len);
    free((void *)beginning.ptr);
  }
}

static void check_accepted(void *ctx, const char *name) {
  (void)ctx;
  mend_str text = {NULL, 0};
  text.ptr = mend_test_read(name, &text.len);
  mend_error error;
  mend_status status = mend_json_check(text, MEND_JSON_DEPTH, &error);
  cr_assert_eq(status, MEND_OK, "%s: %u:%u %s", name, error.line, error.column, error.message);
  check_every_beginning(name, text);
  check_every_split(name, text);
  free((void *)text.ptr);
}

Test(json, accepted_documents) { cr_assert(mend_test_each("json/accept", ".json", check_accepted, NULL) > 20); }

static void check_refused(void *ctx, const char *path) {
  const char *expected = ctx, *name = strrchr(path, '/') + 1;
  mend_str text = {NULL, 0};
  text.ptr = mend_test_read(path, &text.len);
  mend_error error;
  cr_assert_eq(mend_json_check(text, MEND_JSON_DEPTH, &error), MEND_ESYNTAX, "%s", name);
  char line[512];
  snprintf(line, sizeof line, "%s %u:%u %s\n", name, error.line, error.column, error.message);
  cr_assert_not_null(strstr(expected, line), "not expected: %s", line);
  if (text.len < 1000) check_every_split(name, text);
  free((void *)text.ptr);
}

Test(json, refused_documents) {
  char *expected = mend_test_read("json/refuse/expected.txt", NULL);
  cr_assert(mend_test_each("json/refuse", ".json", check_refused, expected) > 80);
  free(expected);
}

/* The scanner says where a text stopped being JSON: what is before could still become some, the byte there cannot. */
static void check_place(void *ctx, const char *path) {
  (void)ctx;
  mend_str text = {NULL, 0};
  text.ptr = mend_test_read(path, &text.len);
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  while (mend_json_next(&json) > MEND_JSON_END)
    continue;
  size_t place = json.at;
  for (size_t len = place; len <= place + 1 && len <= text.len; len++) {
    mend_json_init(&json, part(text, 0, len), MEND_JSON_DEPTH);
    json.partial = true;
    while (mend_json_next(&json) > MEND_JSON_END)
      continue;
    cr_assert_eq(json.token, len == place ? MEND_JSON_MORE : MEND_JSON_ERROR, "%s cut at %zu", path, len);
  }
  free((void *)text.ptr);
}

Test(json, places_of_errors) { mend_test_each("json/refuse", ".json", check_place, NULL); }

/* ---- Tokens ------------------------------------------------------------------------------------------------- */

Test(json, tokens) {
  static const struct {
    const char *text, *trace;
  } cases[] = {
      {"[]", "[ 1 [\n] 0 ]\nend 0 \n"},
      {" \"a\\n\" ", "string 0 escaped a\\n\nend 0 \n"},
      {"[\"\\n\",\"n\"]", "[ 1 [\nstring 1 escaped \\n\nstring 1 plain n\n] 0 ]\nend 0 \n"},
      {"{\"k\":[1,-2.5,true],\"\":null}",
       "{ 1 {\nkey 1 plain k\n[ 2 [\nnumber 2 integer 1\nnumber 2 -2.5\ntrue 2 true\n"
       "] 1 ]\nkey 1 plain \nnull 1 null\n} 0 }\nend 0 \n"},
      {"[false,1e3] x", "[ 1 [\nfalse 1 false\nnumber 1 1e3\n] 0 ]\n1:13 expected nothing after the value"},
  };
  mend__buffer trace;
  mend__buffer_init(&trace, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    trace_scan(&trace, mend_str_from(cases[i].text), SIZE_MAX, 0);
    mend__buffer_char(&trace, '\0');
    cr_assert_str_eq(trace.data, cases[i].trace, "%s", cases[i].text);
  }
  mend__buffer_free(&trace);

  mend_json json;
  mend_json_init(&json, (mend_str){NULL, 0}, MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_next(&json), MEND_JSON_ERROR, "an absent text");
  cr_assert_eq(mend_json_next(&json), MEND_JSON_ERROR, "an error stays");
  cr_assert_eq(mend_json_skip(&json), MEND_JSON_ERROR, "for skip, too");
  cr_assert_eq(mend_json_error(&json, NULL), MEND_ESYNTAX, "nobody wants the sentence");
}

Test(json, stream) {
  mend_str text = MEND_STR(" {\"a\":1}[2]\n3 \"x\"true");
  const char *values[] = {" {\"a\":1}", "[2]", "\n3", " \"x\"", "true"};
  for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
    mend_json json;
    mend_json_init(&json, text, MEND_JSON_DEPTH);
    json.stream = true;
    while (mend_json_next(&json) > MEND_JSON_END)
      continue;
    cr_assert_eq(json.token, MEND_JSON_END);
    cr_assert_eq(json.at, strlen(values[i]), "%s", values[i]);
    cr_assert_eq(mend_json_next(&json), MEND_JSON_END, "the end stays");
    text = part(text, json.at, text.len);
  }
  cr_assert_eq(text.len, (size_t)0);

  mend_json json; /* a number may go on where the text does not */
  mend_json_init(&json, MEND_STR("12"), MEND_JSON_DEPTH);
  json.stream = json.partial = true;
  cr_assert_eq(mend_json_next(&json), MEND_JSON_MORE);
  mend_json_refill(&json, MEND_STR("123"));
  cr_assert_eq(mend_json_next(&json), MEND_JSON_MORE);
  json.partial = false;
  cr_assert_eq(mend_json_next(&json), MEND_JSON_NUMBER);
  cr_assert(mend_str_equal(json.slice, MEND_STR("123")));
  cr_assert_eq(mend_json_next(&json), MEND_JSON_END);
}

/* ---- Skipping and whole values ------------------------------------------------------------------------------ */

/* A text that comes in two pieces. */
typedef struct two_pieces {
  mend_json json;
  mend_str text;
  size_t before; /* the second piece begins here */
} two_pieces;

static two_pieces in_two(mend_str text, size_t split) {
  two_pieces source = {.text = text};
  mend_json_init(&source.json, part(text, 0, split), MEND_JSON_DEPTH);
  source.json.partial = true;
  return source;
}

static void rest_of(two_pieces *source) {
  cr_assert(source->json.partial, "nothing more is left");
  source->before = source->json.at;
  mend_json_refill(&source->json, part(source->text, source->before, source->text.len));
  source->json.partial = false;
}

static mend_str next_value(two_pieces *source, mend_status expected) {
  mend_str value = {NULL, 0};
  mend_status status = mend_json_value(&source->json, &value);
  if (source->json.token == MEND_JSON_MORE) {
    cr_assert_eq(status, MEND_ESYNTAX);
    rest_of(source);
    status = mend_json_value(&source->json, &value);
  }
  cr_assert_eq(status, expected, "%s", mend_status_name(status));
  return value;
}

Test(json, skip) {
  static const struct {
    const char *text;
    unsigned tokens; /* read before the skip */
    mend_json_token token;
    size_t at;
  } cases[] = {
      {"{\"a\":[1,{}],\"b\":2}", 1, MEND_JSON_OBJECT_END, 18},
      {"{\"a\":[1,{}],\"b\":2}", 2, MEND_JSON_ARRAY_END, 11},
      {"{\"a\":[1,{}],\"b\":2}", 3, MEND_JSON_ARRAY_END, 11},
      {"{\"a\":[1,{}],\"b\":2}", 4, MEND_JSON_NUMBER, 7}, /* not after a KEY, OBJECT or ARRAY: nothing happens */
      {"{\"a\":[1,{}],\"b\":2}", 6, MEND_JSON_OBJECT_END, 10},
      {"{\"a\":[1,{}],\"b\":2}", 8, MEND_JSON_NUMBER, 17},
      {"[[],[[]]]", 2, MEND_JSON_ARRAY_END, 3},
      {"{\"a\":\"x\"}", 2, MEND_JSON_STRING, 8},
      {"[1,[2,x]]", 1, MEND_JSON_ERROR, 6},
      {"[1,[2", 1, MEND_JSON_ERROR, 5},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_str text = mend_str_from(cases[i].text);
    for (size_t split = 0; split <= text.len; split++) {
      two_pieces source = in_two(text, split);
      for (unsigned token = 0; token < cases[i].tokens; token++) {
        while (mend_json_next(&source.json) == MEND_JSON_MORE)
          rest_of(&source);
      }
      while (mend_json_skip(&source.json) == MEND_JSON_MORE)
        rest_of(&source);
      cr_assert_eq(source.json.token, cases[i].token, "case %zu split at %zu", i, split);
      cr_assert_eq(source.before + source.json.at, cases[i].at, "case %zu split at %zu", i, split);
    }
  }
}

Test(json, abandoned_skip) {
  mend_str text = MEND_STR("[[1,2,3],4]");
  two_pieces source = in_two(text, 4);
  cr_assert_eq(mend_json_next(&source.json), MEND_JSON_ARRAY);
  cr_assert_eq(mend_json_next(&source.json), MEND_JSON_ARRAY);
  cr_assert_eq(mend_json_skip(&source.json), MEND_JSON_MORE);
  rest_of(&source);
  cr_assert_eq(mend_json_next(&source.json), MEND_JSON_NUMBER);
  cr_assert(mend_str_equal(source.json.slice, MEND_STR("2")));
  cr_assert_eq(mend_json_skip(&source.json), MEND_JSON_NUMBER, "after a NUMBER there is nothing to skip");
  cr_assert_eq(mend_json_next(&source.json), MEND_JSON_NUMBER);
}

Test(json, values) {
  mend_str text = MEND_STR("[ 1.5, \"a\\\"]\" ,{\"k\":[1,2]}, [] ,null]");
  const char *const values[] = {"1.5", "\"a\\\"]\"", "{\"k\":[1,2]}", "[]", "null"};
  for (size_t split = 0; split <= text.len; split++) {
    two_pieces source = in_two(text, split);
    while (mend_json_next(&source.json) == MEND_JSON_MORE)
      rest_of(&source);
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
      mend_str value = next_value(&source, MEND_OK);
      cr_assert(mend_str_equal(value, mend_str_from(values[i])), "value %zu split at %zu: %.*s", i, split,
                MEND_STR_ARG(value));
    }
    next_value(&source, MEND_ENOENT);
    cr_assert_eq(source.json.token, MEND_JSON_ARRAY_END);
  }

  mend_json json;
  mend_str value = MEND_STR("untouched");
  mend_json_init(&json, MEND_STR(" {\"a\":[tru]} "), MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_value(&json, &value), MEND_ESYNTAX);
  cr_assert(mend_str_equal(value, MEND_STR("untouched")));
  mend_json_init(&json, MEND_STR(" {\"a\":[true]} "), MEND_JSON_DEPTH);
  cr_assert_eq(mend_json_value(&json, &value), MEND_OK);
  cr_assert(mend_str_equal(value, MEND_STR("{\"a\":[true]}")));
  cr_assert_eq(mend_json_value(&json, &value), MEND_ENOENT, "behind the last value");
  cr_assert_eq(json.token, MEND_JSON_END);
}

/* ---- Sizes -------------------------------------------------------------------------------------------------- */

static void check_depth(unsigned limit, size_t depth, mend_status expected) {
  char *text = malloc(2 * depth);
  if (text == NULL) abort();
  memset(text, '[', depth);
  memset(text + depth, ']', depth);
  mend_error error = {0};
  cr_assert_eq(mend_json_check((mend_str){text, 2 * depth}, limit, &error), expected, "limit %u depth %zu", limit,
               depth);
  unsigned effective = limit < 1 ? 1 : limit > MEND_JSON_DEPTH_MAX ? MEND_JSON_DEPTH_MAX : limit;
  if (expected != MEND_OK) cr_assert_eq(error.column, effective + 1, "limit %u depth %zu", limit, depth);
  free(text);
}

Test(json, depth) {
  check_depth(1, 1, MEND_OK);
  check_depth(1, 2, MEND_ESYNTAX);
  check_depth(0, 1, MEND_OK);
  check_depth(0, 2, MEND_ESYNTAX);
  check_depth(64, 64, MEND_OK);
  check_depth(64, 65, MEND_ESYNTAX);
  check_depth(64, 10000, MEND_ESYNTAX);
  check_depth(1024, 1024, MEND_OK);
  check_depth(1024, 1025, MEND_ESYNTAX);
  check_depth(10000, 1024, MEND_OK);
  check_depth(10000, 10000, MEND_ESYNTAX);
}

Test(json, hundred_megabytes) {
  const size_t len = 100 * 1000 * 1000;
  char *text = malloc(len);
  cr_assert_not_null(text);
  memset(text, 'x', len);
  text[0] = text[len - 1] = '"';
  cr_assert_eq(mend_json_check((mend_str){text, len}, MEND_JSON_DEPTH, NULL), MEND_OK, "a string");
  text[len - 1] = 'x';
  mend_error error;
  cr_assert_eq(mend_json_check((mend_str){text, len}, MEND_JSON_DEPTH, &error), MEND_ESYNTAX, "an open string");
  cr_assert_eq(error.column, (unsigned)len + 1);
  memset(text, '7', len);
  cr_assert_eq(mend_json_check((mend_str){text, len}, MEND_JSON_DEPTH, NULL), MEND_OK, "a number");
  int64_t value;
  cr_assert_eq(mend_json_int64((mend_str){text, len}, &value), MEND_ELIMIT);
  cr_assert(isinf(mend_json_double((mend_str){text, len})));
  free(text);
}

/* ---- The text of strings ------------------------------------------------------------------------------------ */

Test(json, unescape) {
  const struct {
    mend_str slice, text;
  } cases[] = {
      {MEND_STR(""), MEND_STR("")},
      {MEND_STR("plain"), MEND_STR("plain")},
      {MEND_STR("\\\"\\\\\\/\\b\\f\\n\\r\\t"), MEND_STR("\"\\/\b\f\n\r\t")},
      {MEND_STR("a\\u0000b"), MEND_STR("a\0b")},
      {MEND_STR("\\u007f\\u0080\\u07FF\\u0800\\uFFFF"), MEND_STR("\x7F\xC2\x80\xDF\xBF\xE0\xA0\x80\xEF\xBF\xBF")},
      {MEND_STR("\\ud800\\udc00\\uDBFF\\uDFFF"), MEND_STR("\xF0\x90\x80\x80\xF4\x8F\xBF\xBF")},
      {MEND_STR("\\ud83d"), MEND_STR("\xEF\xBF\xBD")},
      {MEND_STR("\\ude00!"), MEND_STR("\xEF\xBF\xBD!")},
      {MEND_STR("\\ud83d\\n"), MEND_STR("\xEF\xBF\xBD\n")},
      {MEND_STR("\\ud83d\\u0041"), MEND_STR("\xEF\xBF\xBD"
                                            "A")},
      {MEND_STR("\\ud83d\\ud83d\\ude00"), MEND_STR("\xEF\xBF\xBD\xF0\x9F\x98\x80")},
      {MEND_STR("\xC3\xA9\\u00e9\xE4\xB8\xAD"), MEND_STR("\xC3\xA9\xC3\xA9\xE4\xB8\xAD")},
      {MEND_STR("a long run of plain text, longer than the sixty-four bytes compared at once,\\tthen more"),
       MEND_STR("a long run of plain text, longer than the sixty-four bytes compared at once,\tthen more")},
      {MEND_STR("sixty-one bytes that leave room for three more in the buffer \\ud83d\\ude00"),
       MEND_STR("sixty-one bytes that leave room for three more in the buffer \xF0\x9F\x98\x80")},
      /* no scanner would hand these out */
      {MEND_STR("\\"), MEND_STR("\\")},
      {MEND_STR("\\q\\u12\\u12x4"), MEND_STR("\\q\\u12\\u12x4")},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_str slice = exact_copy(cases[i].slice), text = cases[i].text;
    char *buffer = malloc(slice.len + 1);
    if (buffer == NULL) abort();
    size_t len = mend_json_unescape(slice, buffer);
    cr_assert(mend_str_equal((mend_str){buffer, len}, text), "case %zu: %.*s", i, (int)len, buffer);
    mend_json json = {.slice = slice, .escaped = memchr(slice.ptr, '\\', slice.len) != NULL};
    cr_assert(mend_json_is(&json, text), "case %zu", i);
    cr_assert(text.len == 0 || !mend_json_is(&json, part(text, 0, text.len - 1)), "case %zu: shorter", i);
    buffer[len] = '!';
    cr_assert(!mend_json_is(&json, (mend_str){buffer, len + 1}), "case %zu: longer", i);
    buffer[len / 2] ^= 1;
    cr_assert(len == 0 || !mend_json_is(&json, (mend_str){buffer, len}), "case %zu: different", i);
    len = mend_json_unescape(slice, (char *)slice.ptr);
    cr_assert(mend_str_equal((mend_str){slice.ptr, len}, text), "case %zu in place", i);
    free(buffer);
    free((void *)slice.ptr);
  }
}

/* ---- The value of numbers ----------------------------------------------------------------------------------- */

Test(json, integers) {
  static const struct {
    const char *text;
    mend_status signed_status, unsigned_status;
    int64_t signed_value;
    uint64_t unsigned_value;
  } cases[] = {
      {"0", MEND_OK, MEND_OK, 0, 0},
      {"-0", MEND_OK, MEND_OK, 0, 0},
      {"42", MEND_OK, MEND_OK, 42, 42},
      {"-1", MEND_OK, MEND_ELIMIT, -1, 0},
      {"9223372036854775807", MEND_OK, MEND_OK, INT64_MAX, INT64_MAX},
      {"9223372036854775808", MEND_ELIMIT, MEND_OK, 0, UINT64_C(9223372036854775808)},
      {"-9223372036854775808", MEND_OK, MEND_ELIMIT, INT64_MIN, 0},
      {"-9223372036854775809", MEND_ELIMIT, MEND_ELIMIT, 0, 0},
      {"18446744073709551615", MEND_ELIMIT, MEND_OK, 0, UINT64_MAX},
      {"18446744073709551616", MEND_ELIMIT, MEND_ELIMIT, 0, 0},
      {"99999999999999999999999999", MEND_ELIMIT, MEND_ELIMIT, 0, 0},
      {"1.0", MEND_EINVAL, MEND_EINVAL, 0, 0},
      {"1e3", MEND_EINVAL, MEND_EINVAL, 0, 0},
      {"99999999999999999999999999.5", MEND_EINVAL, MEND_EINVAL, 0, 0},
      {"", MEND_EINVAL, MEND_EINVAL, 0, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_str text = mend_str_from(cases[i].text);
    int64_t signed_value = 4711;
    uint64_t unsigned_value = 4711;
    cr_assert_eq(mend_json_int64(text, &signed_value), cases[i].signed_status, "%s", cases[i].text);
    cr_assert_eq(signed_value, cases[i].signed_status == MEND_OK ? cases[i].signed_value : 4711, "%s", cases[i].text);
    cr_assert_eq(mend_json_uint64(text, &unsigned_value), cases[i].unsigned_status, "%s", cases[i].text);
    cr_assert_eq(unsigned_value, cases[i].unsigned_status == MEND_OK ? cases[i].unsigned_value : 4711, "%s",
                 cases[i].text);
  }
}

Test(json, seconds) {
  static const struct {
    const char *text;
    uint64_t ns; /* UINT64_MAX: MEND_ELIMIT */
  } cases[] = {
      {"0", 0},
      {"-0", 0},
      {"-0.0e5", 0},
      {"0e999999999999999999999", 0},
      {"1", 1000000000},
      {"1009.86", UINT64_C(1009860000000)},
      {"1002.0", UINT64_C(1002000000000)},
      {"1.7e9", UINT64_C(1700000000000000000)},
      {"1.7E+9", UINT64_C(1700000000000000000)},
      {"1700000000.123456789", UINT64_C(1700000000123456789)},
      {"1700000000.1234567899", UINT64_C(1700000000123456789)},
      {"0.000000001", 1},
      {"0.0000000019", 1},
      {"0.0000000009", 0},
      {"1e-9", 1},
      {"123e-10", 12},
      {"9e-10", 0},
      {"1e-999999999999999999999", 0},
      {"0.0000000000001e13", 1000000000},
      {"12345.678e-3", UINT64_C(12345678000)},
      {"9223372036.854775807", INT64_MAX},
      {"9223372036.854775808", UINT64_C(1) << 63},
      {"9223372036.854775809", UINT64_MAX},
      {"9223372037", UINT64_MAX},
      {"18446744073.709551617", UINT64_MAX},
      {"1e10", UINT64_MAX},
      {"1e400", UINT64_MAX},
      {"1e999999999999999999999", UINT64_MAX},
      {"-1", UINT64_MAX},
      {"-1e-30", UINT64_MAX},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    uint64_t ns = UINT64_MAX;
    mend_status status = mend_json_seconds_ns(mend_str_from(cases[i].text), &ns);
    cr_assert_eq(status, cases[i].ns == UINT64_MAX ? MEND_ELIMIT : MEND_OK, "%s", cases[i].text);
    cr_assert_eq(ns, cases[i].ns, "%s: %" PRIu64, cases[i].text, ns);
  }
}

static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

/* The C library's conversion is exact and these tests run in the C locale: it is the reference. */
static void check_double(const char *text) {
  double value = mend_json_double(mend_str_from(text));
  cr_assert(same_double(value, strtod(text, NULL)), "%s: %.17g", text, value);
}

static uint64_t next_random(uint64_t *state) {
  *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return *state >> 11;
}

Test(json, doubles) {
  static const char *const cases[] = {
      "0",
      "-0",
      "0.0",
      "-0.0",
      "0e5",
      "1",
      "-1",
      "1.5",
      "0.1",
      "0.3",
      "3.14159",
      "1e22",
      "1e23",
      "1e-22",
      "1e-23",
      "123e20",
      "9007199254740992",
      "9007199254740993",
      "9007199254740994",
      "9007199254740993e3",
      "0.000001",
      "1.7976931348623157e308",
      "1.7976931348623158e308",
      "1.7976931348623159e308",
      "1e308",
      "1e309",
      "-1e400",
      "2.2250738585072014e-308",
      "2.2250738585072011e-308",
      "4.9e-324",
      "2.5e-324",
      "2.4703282292062327e-324",
      "2.4703282292062328e-324",
      "1e-400",
      "1e999999999999999999999",
      "1e-999999999999999999999",
      "0e999999999999999999999",
      "123456789012345678901234567890",
      "0.1000000000000000055511151231257827021181583404541015625",
      "1.00000000000000011102230246251565404236316680908203125",
      "1.00000000000000011102230246251565404236316680908203124",
      "1.00000000000000011102230246251565404236316680908203126",
      "0.00000000000000000000000000000000000000000000000000000000000000000000000000001e77",
      "1000000000000000000000.0e-21",
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    check_double(cases[i]);

  uint64_t random = 1;
  for (int i = 0; i < 20000; i++) {
    char text[64];
    uint64_t whole = next_random(&random) >> next_random(&random) % 53, fraction = next_random(&random);
    int exponent = (int)(next_random(&random) % 700) - 350;
    snprintf(text, sizeof text, i % 2 != 0 ? "%" PRIu64 ".%" PRIu64 "e%d" : "%" PRIu64 ".%" PRIu64, whole, fraction,
             exponent);
    check_double(text);
  }
}

/* Halfway between two doubles, decided by a digit that comes long after. */
Test(json, doubles_of_many_digits) {
  static char text[4096];
  const char *halfway = "1.00000000000000011102230246251565404236316680908203125";
  const size_t digits = strlen(halfway);
  memset(text, '0', sizeof text);
  memcpy(text, halfway, digits);
  cr_assert(same_double(mend_json_double((mend_str){text, sizeof text}), 1.0), "even");
  text[sizeof text - 1] = '1';
  cr_assert(same_double(mend_json_double((mend_str){text, sizeof text}), 1.0 + 0x1p-52), "one more");
  memset(text, '0', sizeof text);
  memcpy(text + sizeof text - 5, "25e-2", 5);
  text[0] = '1';
  cr_assert(isinf(mend_json_double((mend_str){text, sizeof text})));
  memcpy(text, "0.", 2);
  memcpy(text + sizeof text - 6, "5e4088", 6);
  cr_assert(same_double(mend_json_double((mend_str){text, sizeof text}), 0.5));
}
