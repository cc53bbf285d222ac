/* The text of an answer, and whether it says that nothing was found. */
#include "core/text.h"
#include "mend/options.h"
#include "watchdogs/evidence_loop_phrases.h"
#include "watchdogs/evidence_loop_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Texts ---- */

static mend_str inside(mend_str quoted) { return (mend_str){quoted.ptr + 1, quoted.len - 2}; }
static bool is_quoted(mend_str json) { return json.len >= 2 && json.ptr[0] == '"'; }

/* The text of {"type":"text","text":"..."}; absent when it is no such block. *ret_is_block: it has a type. */
static mend_str text_of_block(mend_str block, bool *ret_is_block) {
  static const char *const types[] = {"text", "output_text", "input_text"};
  mend_str text = MEND_ABSENT, value;
  bool is_text = false;
  mend_json json;
  *ret_is_block = false;
  mend_json_init(&json, block, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return text;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool is_type = mend_json_is(&json, MEND_STR("type")), holds_text = mend_json_is(&json, MEND_STR("text"));
    if (mend_json_value(&json, &value) != MEND_OK) break;
    if (!is_quoted(value)) continue;
    *ret_is_block = *ret_is_block || is_type;
    if (is_type) is_text = mend__is_one_of(inside(value), types, COUNT_OF(types));
    if (holds_text) text = inside(value);
  }
  return is_text ? text : (mend_str)MEND_ABSENT;
}

/* Of the first block that has a text, in an array of blocks. */
static mend_str text_of_blocks(mend_str array) {
  mend_json json;
  mend_str value;
  bool is_block = true;
  mend_json_init(&json, array, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_ARRAY) return (mend_str)MEND_ABSENT;
  while (is_block && mend_json_value(&json, &value) == MEND_OK) {
    const mend_str text = text_of_block(value, &is_block);
    if (text.ptr != NULL) return text;
  }
  return (mend_str)MEND_ABSENT;
}

/* Of {"content":[...]}. */
static mend_str text_of_content(mend_str object) {
  enum { LONGEST = 8192 };
  mend_json json;
  mend_str value;
  if (object.len > LONGEST) return (mend_str)MEND_ABSENT;
  mend_json_init(&json, object, MEND_JSON_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool is_content = mend_json_is(&json, MEND_STR("content"));
    if (mend_json_value(&json, &value) != MEND_OK) break;
    if (is_content) return text_of_blocks(value);
  }
  return (mend_str)MEND_ABSENT;
}

/* Old recordings of SWE-agent end each answer with where the shell is. */
static mend_str without_prompt(mend_str text) {
  enum { PROMPT_MAX = 512 };
  static const mend_str end = {"bash-$", 6}, begin = {"(Open file: ", 12};
  const mend_str trimmed = mend__trim(text);
  if (!mend__ends_with(trimmed, end)) return text;
  const size_t most = trimmed.len < PROMPT_MAX ? trimmed.len : PROMPT_MAX;
  for (size_t back = begin.len; back <= most; back++) {
    const size_t place = trimmed.len - back;
    if (memcmp(trimmed.ptr + place, begin.ptr, begin.len) == 0) return (mend_str){trimmed.ptr, place};
  }
  return text;
}

mend_str mend__answer_text(mend_str result) {
  result = mend__trim(result);
  if (is_quoted(result)) return without_prompt(inside(result));
  mend_str text = MEND_ABSENT;
  if (result.len > 0 && result.ptr[0] == '[') text = text_of_blocks(result);
  if (result.len > 0 && result.ptr[0] == '{') text = text_of_content(result);
  return text.ptr != NULL ? text : result;
}

/* ---- Nothing ---- */

bool mend__answer_is_void(mend_str result) {
  const mend_str json = mend__trim(result);
  return mend_str_equal(json, MEND_STR("null")) || mend_str_equal(json, MEND_STR("{}")) ||
         mend__trim(mend__answer_text(json)).len == 0;
}

static bool is_results(const mend_json *key) {
  static const char *const names[] = {"results", "result", "matches", "hits", "items", "files", "rows", "data"};
  return mend__is_one_of(key->slice, names, COUNT_OF(names));
}

static bool is_question(const mend_json *key) {
  static const char *const names[] = {"query", "q", "pattern", "search", "term", "keyword", "path", "status"};
  return mend__is_one_of(key->slice, names, COUNT_OF(names));
}

/* An array or object that holds at least one array or object, all of them empty, and beside them nothing but null,
 * false, true, 0 and "". To a tool that looks for something null results are empty ones, and its question may be
 * repeated. */
static bool is_empty_list(mend_str text, bool looks) {
  mend_json json;
  mend_json_init(&json, text, MEND_JSON_DEPTH);
  bool has_array = false, holds_results = false, holds_question = false;
  while (mend_json_next(&json) > MEND_JSON_END) {
    has_array = has_array || json.token == MEND_JSON_ARRAY || (json.token == MEND_JSON_NULL && holds_results);
    if (json.token == MEND_JSON_STRING && json.slice.len > 0 && !holds_question) return false;
    if (json.token == MEND_JSON_NUMBER && !mend_str_equal(json.slice, MEND_STR("0"))) return false;
    holds_results = json.token == MEND_JSON_KEY && looks && is_results(&json);
    holds_question = json.token == MEND_JSON_KEY && looks && is_question(&json);
  }
  return json.token == MEND_JSON_END && has_array;
}

bool mend__answer_is_empty(mend_str result, bool looks) {
  enum { SHORT = 512 };
  char room[SHORT];
  mend_str text = mend__answer_text(result);
  const bool is_text = text.ptr != mend__trim(result).ptr;
  if (mend__answer_is_void(result)) return looks;
  if (is_text && text.len > SHORT) return false;
  if (is_text) text = mend__trim((mend_str){room, mend_json_unescape(text, room)});
  if (text.len == 0) return looks;
  return is_empty_list(text, looks) || mend__says_nothing_found(text);
}
