/* Scanner and exact hash against jansson: all documents of the tests, made-up ones, and all of them damaged. */
#include "support/json_jansson.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include "core/buffer.h"

enum { DOCUMENTS_MAX = 512, DAMAGES = 12, MADE_UP = 150 };

typedef struct document_pool {
  mend__buffer documents[DOCUMENTS_MAX];
  size_t count;
  uint64_t random;
  size_t both, mend_only, neither; /* who accepted the texts that were checked */
  size_t equal, different;         /* pairs */
} document_pool;

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* ---- Documents ---- */

static mend__buffer *add_document(document_pool *pool) {
  cr_assert(pool->count < DOCUMENTS_MAX);
  mend__buffer *document = &pool->documents[pool->count++];
  mend__buffer_init(document, NULL);
  return document;
}

static void add_file(void *ctx, const char *name) {
  mend_str text = {NULL, 0};
  text.ptr = mend_test_read(name, &text.len);
  mend__buffer_str(add_document(ctx), text);
  free((void *)text.ptr);
}

static void add_lines(void *ctx, const char *name) {
  char *text = mend_test_read(name, NULL);
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;)
    mend__buffer_str(add_document(ctx), mend_str_from(line));
  free(text);
}

static void make_up(document_pool *pool, mend__buffer *text, unsigned depth) {
  static const char *const scalars[] = {"0",
                                        "-0",
                                        "1",
                                        "1.0",
                                        "1e0",
                                        "-1.5",
                                        "0.1",
                                        "1e400",
                                        "1e-400",
                                        "9007199254740993",
                                        "1E+2",
                                        "true",
                                        "null",
                                        "\"\"",
                                        "\"a\\u0000\"",
                                        "\"\\ud83d\\ude00\"",
                                        "\"é\"",
                                        "\"\\n\"",
                                        "\"\\ud800\"",
                                        "false",
                                        "[]",
                                        "{}",
                                        "\"1\"",
                                        "123456789012345678901"};
  const uint64_t kind = next_random(&pool->random) % 8, count = next_random(&pool->random) % 5;
  if (depth > 4 || kind < 4) {
    mend__buffer_str(text, mend_str_from(scalars[next_random(&pool->random) % (sizeof scalars / sizeof scalars[0])]));
    return;
  }
  const bool array = kind % 2 == 0;
  mend__buffer_char(text, array ? '[' : '{');
  for (uint64_t i = 0; i < count; i++) {
    if (i > 0) mend__buffer_char(text, ',');
    if (!array) mend__buffer_printf(text, "\"%c\": ", 'a' + (int)(next_random(&pool->random) % 4));
    make_up(pool, text, depth + 1);
  }
  mend__buffer_char(text, array ? ']' : '}');
}

/* A copy with one piece changed: left out, doubled, or replaced by something that means much in JSON. */
static void damage(document_pool *pool, const mend__buffer *whole, mend__buffer *ret_text) {
  static const char *const pieces[] = {"\"",  "\\",    "{",     "}",      "[",  "]",    ",",    ":",       "0",
                                       "-",   ".",     "1e999", " ",      "\t", "\n",   "é",    "\xFF",    "null",
                                       "\\u", "\\ud8", "e",     "\"a\":", "9",  "\x01", "/**/", "\xC0\x80"};
  const size_t place = next_random(&pool->random) % (whole->len + 1), rest = whole->len - place;
  const size_t len = rest == 0 ? 0 : next_random(&pool->random) % (rest < 4 ? rest + 1 : 4);
  const uint64_t how = next_random(&pool->random) % 4;
  const char *data = whole->len > 0 ? whole->data : "";
  mend__buffer_clear(ret_text);
  mend__buffer_bytes(ret_text, data, place);
  if (how == 0) mend__buffer_bytes(ret_text, data + place, len);
  if (how == 1) mend__buffer_str(ret_text, mend_str_from(pieces[next_random(&pool->random) % 26]));
  mend__buffer_bytes(ret_text, data + place + (how == 0 ? 0 : len), rest - (how == 0 ? 0 : len));
}

/* ---- Checking ---- */

static mend_str text_of(const mend__buffer *document) { return mend__buffer_text(document); }

static json_reading check(document_pool *pool, mend_str text) {
  json_reading reading;
  const char *fault = json_read_with_both(text, &reading);
  if (fault == NULL) fault = json_compare_with_dump(&reading);
  cr_assert(fault == NULL, "%s: %.*s", fault, MEND_STR_ARG(text));
  pool->both += reading.value != NULL;
  pool->mend_only += reading.value == NULL && reading.accepted;
  pool->neither += reading.value == NULL && !reading.accepted;
  return reading;
}

static void check_pair(document_pool *pool, mend_str text, const json_reading *a, const json_reading *b) {
  const char *fault = json_compare(a, b);
  cr_assert(fault == NULL, "%s: %.*s", fault, MEND_STR_ARG(text));
  const bool equal = mend_hash_equal(a->hash.hash, b->hash.hash);
  pool->equal += equal;
  pool->different += !equal;
}

/* The document and copies of it, each damaged once more than the one before. */
static void check_document(document_pool *pool, const mend__buffer *document) {
  mend__buffer texts[2];
  mend__buffer_init(&texts[0], NULL);
  mend__buffer_init(&texts[1], NULL);
  const json_reading whole = check(pool, text_of(document));
  mend__buffer_str(&texts[0], text_of(document));
  for (size_t i = 0; i < DAMAGES; i++) {
    mend__buffer *damaged = &texts[(i + 1) % 2];
    damage(pool, &texts[i % 2], damaged);
    const json_reading reading = check(pool, text_of(damaged));
    check_pair(pool, text_of(damaged), &whole, &reading);
    json_decref(reading.value);
    if (!reading.accepted) { /* from the beginning again, or nothing is accepted any more */
      mend__buffer_clear(damaged);
      mend__buffer_str(damaged, text_of(document));
    }
  }
  json_decref(whole.value);
  mend__buffer_free(&texts[0]);
  mend__buffer_free(&texts[1]);
}

Test(json_jansson, same_values) {
  static document_pool pool = {.random = 4711};
  cr_assert(mend_test_each("json/accept", ".json", add_file, &pool) > 20);
  cr_assert(mend_test_each("json/refuse", ".json", add_file, &pool) > 80);
  cr_assert(mend_test_each("json/loose", ".json", add_file, &pool) > 5);
  cr_assert(mend_test_each("../fuzz/corpus/json", ".json", add_file, &pool) > 5);
  cr_assert_eq(mend_test_each("json/hash", ".jsonl", add_lines, &pool), 2u);
  for (size_t i = 0; i < MADE_UP; i++)
    make_up(&pool, add_document(&pool), 0);
  for (size_t i = 0; i < pool.count; i++)
    check_document(&pool, &pool.documents[i]);
  cr_assert(pool.both > 1000, "%zu", pool.both);
  cr_assert(pool.mend_only > 100, "%zu", pool.mend_only);
  cr_assert(pool.neither > 1000, "%zu", pool.neither);
  cr_assert(pool.equal > 100 && pool.different > 1000, "%zu and %zu", pool.equal, pool.different);
  for (size_t i = 0; i < pool.count; i++)
    mend__buffer_free(&pool.documents[i]);
}
