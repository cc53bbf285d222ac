/* The loose hash: the same for the text written in another order, in a string, and with any scratch that is enough. */
#include "core/buffer.h"
#include "fuzz/fuzz.h"
#include "mend/json.h"

static max_align_t scratch[MEND_HASH_SCRATCH / sizeof(max_align_t)];

static mend_json_hash_result loose(mend_str text) { return mend_json_hash_loose(text, NULL, scratch, sizeof scratch); }

static mend_json_hash_result exact(mend_str text) { return mend_json_hash(text, scratch, sizeof scratch); }

static mend_str written(const mend__buffer *buffer) { return mend__buffer_text(buffer); }

/* ---- The text written in another order ---- */

typedef struct member {
  mend_str key;   /* as it is written */
  mend_hash name; /* of it unescaped */
  mend_str value;
} member;

typedef struct rewriting {
  mend__buffer *text;
  bool extra; /* members that are null, and space */
} rewriting;

static void write_value(const rewriting *how, mend_str value);

static mend_hash name_of(mend_str key) {
  char *name = malloc(key.len + 1);
  const mend_hash hash = mend_hash_bytes((mend_str){name, mend_json_unescape(key, name)});
  free(name);
  return hash;
}

/* Takes the place of an earlier one of the same name. Returns how many there are now. */
static size_t keep_member(member *members, size_t count, member added) {
  size_t place = 0;
  while (place < count && !mend_hash_equal(members[place].name, added.name))
    place++;
  members[place] = added;
  return place == count ? count + 1 : count;
}

static void write_object(const rewriting *how, mend_json *json) {
  member *members = malloc((json->text.len / 4 + 1) * sizeof *members); /* "":0 is the shortest */
  mend_str value;
  size_t count = 0;
  while (mend_json_next(json) == MEND_JSON_KEY) {
    const mend_str key = json->slice;
    MUST(mend_json_value(json, &value) == MEND_OK);
    count = keep_member(members, count, (member){key, name_of(key), value});
  }
  mend__buffer_str(how->text, how->extra ? MEND_STR("{\"\\u0000absent\":null") : MEND_STR("{"));
  for (size_t i = count; i > 0; i--) {
    if (i < count || how->extra) mend__buffer_str(how->text, MEND_STR(",\n "));
    mend__buffer_printf(how->text, "\"%.*s\"", MEND_STR_ARG(members[i - 1].key));
    mend__buffer_char(how->text, ':');
    write_value(how, members[i - 1].value);
  }
  mend__buffer_char(how->text, '}');
  free(members);
}

static void write_array(const rewriting *how, mend_json *json) {
  mend_str value;
  mend__buffer_char(how->text, '[');
  for (bool first = true; mend_json_value(json, &value) == MEND_OK; first = false) {
    if (!first) mend__buffer_char(how->text, ',');
    write_value(how, value);
  }
  mend__buffer_char(how->text, ']');
}

static void write_value(const rewriting *how, mend_str value) {
  mend_json json;
  mend_json_init(&json, value, MEND_JSON_DEPTH);
  switch (mend_json_next(&json)) {
  case MEND_JSON_OBJECT: write_object(how, &json); break;
  case MEND_JSON_ARRAY: write_array(how, &json); break;
  default: mend__buffer_str(how->text, value);
  }
}

static void check_rewritten(mend_str text, mend_hash hash, bool extra) {
  mend__buffer again;
  mend__buffer_init(&again, NULL);
  const rewriting how = {&again, extra};
  write_value(&how, text);
  const mend_json_hash_result result = loose(written(&again));
  MUST(result.raw || mend_hash_equal(result.hash, hash));
  if (!extra && !result.raw) MUST(mend_hash_equal(exact(text).hash, exact(written(&again)).hash));
  mend__buffer_free(&again);
}

/* ---- The text in a string, and with little scratch ---- */

static void check_in_string(mend_str text, mend_hash hash) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  const mend_json_token first = mend_json_next(&json);
  if (text.len > MEND_HASH_NESTED_MAX || (first != MEND_JSON_OBJECT && first != MEND_JSON_ARRAY)) return;
  mend__buffer quoted;
  mend__buffer_init(&quoted, NULL);
  mend__buffer_json_string(&quoted, text);
  const mend_json_hash_result result = loose(written(&quoted));
  MUST(result.raw || mend_hash_equal(result.hash, hash));
  mend__buffer_free(&quoted);
}

static void check_scratch_sizes(mend_str text, const mend_json_hash_result *expected) {
  for (size_t size = 0; size <= 1024; size += size / 2 + 7) {
    char *exact_size = malloc(size + 1); /* where a sanitizer sees what is written behind it */
    const mend_json_hash_result result = mend_json_hash_loose(text, NULL, exact_size, size);
    MUST(mend_hash_equal(result.hash, result.raw ? mend_hash_bytes(text) : expected->hash));
    free(exact_size);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const mend_str text = fuzz_text(data, size);
  const mend_json_hash_result result = loose(text);
  MUST(!mend_hash_is_none(result.hash));
  MUST(result.raw || !exact(text).raw); /* it needs no less than exact mode */
  check_scratch_sizes(text, &result);
  if (result.raw) return 0;
  MUST(!mend_hash_equal(result.hash, exact(text).hash));
  check_rewritten(text, result.hash, false);
  check_rewritten(text, result.hash, true);
  check_in_string(text, result.hash);
  return 0;
}
