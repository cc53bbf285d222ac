/* The scanner, whole and in pieces, and the canonical hash. */
#include "core/buffer.h"
#include "fuzz/fuzz.h"
#include "mend/json.h"

static void read_numbers(mend_str number) {
  int64_t whole;
  uint64_t natural;
  MUST(mend_json_double(number) == mend_json_double(number)); /* never NaN */
  mend_json_int64(number, &whole);
  mend_json_uint64(number, &natural);
  mend_json_seconds_ns(number, &natural);
}

/* An unescaped string quoted anew is JSON and means the same. */
static void check_string(mend_str slice) {
  char *text = malloc(slice.len + 1);
  mend_str unescaped = {text, mend_json_unescape(slice, text)};
  MUST(unescaped.len <= slice.len);
  size_t size = mend_json_quote(unescaped, NULL, 0) + 1;
  char *quoted = malloc(size);
  MUST(mend_json_quote(unescaped, quoted, size) == size - 1);
  mend_json json;
  mend_json_init(&json, mend_str_from(quoted), 1);
  MUST(mend_json_next(&json) == MEND_JSON_STRING && mend_json_is(&json, unescaped));
  free(quoted);
  free(text);
}

/* The value's text without white space, rebuilt from the tokens; false when it is no JSON. */
static bool rebuild(mend_str text, mend__buffer *compact) {
  mend_json json;
  bool comma = false;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  while (mend_json_next(&json) > MEND_JSON_END) {
    bool quoted = json.token == MEND_JSON_STRING || json.token == MEND_JSON_KEY;
    if (comma && json.token != MEND_JSON_OBJECT_END && json.token != MEND_JSON_ARRAY_END) {
      mend__buffer_char(compact, ',');
    }
    if (quoted) mend__buffer_char(compact, '"');
    mend__buffer_str(compact, json.slice);
    if (quoted) mend__buffer_char(compact, '"');
    if (quoted) check_string(json.slice);
    if (json.token == MEND_JSON_NUMBER) read_numbers(json.slice);
    if (json.token == MEND_JSON_KEY) mend__buffer_char(compact, ':');
    comma = json.token != MEND_JSON_KEY && json.token != MEND_JSON_OBJECT && json.token != MEND_JSON_ARRAY;
  }
  return json.token == MEND_JSON_END;
}

/* The same verdict, however the text arrives: one more byte of it whenever the scanner asks. */
static void scan_in_pieces(mend_str text, bool whole_is_json) {
  mend_json json;
  size_t start = 0, arrived = 0;
  mend_json_init(&json, (mend_str){text.ptr, 0}, MEND_JSON_DEPTH);
  json.partial = true;
  for (;;) {
    mend_json_token token = mend_json_next(&json);
    if (token == MEND_JSON_MORE && arrived < text.len) {
      start += json.at;
      arrived++;
      mend_json_refill(&json, (mend_str){text.ptr + start, arrived - start});
    } else if (token == MEND_JSON_MORE) {
      json.partial = false;
    } else if (token <= MEND_JSON_END) {
      break;
    }
  }
  MUST((json.token == MEND_JSON_END) == whole_is_json);
}

static mend_json_hash_result hash(mend_str text) {
  static max_align_t scratch[MEND_HASH_SCRATCH / sizeof(max_align_t)];
  return mend_json_hash(text, scratch, sizeof scratch);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mend_str text = fuzz_text(data, size);
  mend_error error;
  mend__buffer compact;
  mend__buffer_init(&compact, NULL);
  bool is_json = rebuild(text, &compact);
  MUST((mend_json_check(text, MEND_JSON_DEPTH, &error) == MEND_OK) == is_json);
  mend_json_hash_result result = hash(text);
  MUST(!mend_hash_is_none(result.hash) && (is_json || result.raw));
  if (is_json) MUST(mend_hash_equal(result.hash, hash(mend__buffer_text(&compact)).hash) || result.raw);
  mend__buffer_free(&compact);
  if (size <= 512) scan_in_pieces(text, is_json);
  return 0;
}
