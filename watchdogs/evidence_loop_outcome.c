/* How a call ended: a kind, and a hash by which two endings are the same. */
#include "watchdogs/evidence_loop_outcome.h"
#include "core/memory.h"
#include "core/text.h"

mend_str mend__outcome_word(mend__outcome_kind kind) {
  switch (kind) {
  case MEND__OUTCOME_UNKNOWN: return MEND_STR("unknown");
  case MEND__OUTCOME_VETOED: return MEND_STR("not run");
  case MEND__OUTCOME_OK: return MEND_STR("ok");
  case MEND__OUTCOME_EMPTY: return MEND_STR("empty");
  case MEND__OUTCOME_SKIPPED: return MEND_STR("skipped");
  case MEND__OUTCOME_ERROR: return MEND_STR("error");
  case MEND__OUTCOME_UNKNOWN_TOOL: return MEND_STR("unknown tool");
  case MEND__OUTCOME_TRY_LATER: return MEND_STR("try later");
  }
  return MEND_STR("unknown");
}

/* ---- Results ---- */

/* Whether a member of an object says that this is an error: "error": "...", "isError": true, "success": false. */
static bool is_error_member(const mend_json *key, mend_str value) {
  const bool is_true = mend_str_equal(value, MEND_STR("true")), is_false = mend_str_equal(value, MEND_STR("false"));
  if (mend_json_is(key, MEND_STR("isError")) || mend_json_is(key, MEND_STR("is_error"))) return is_true;
  if (mend_json_is(key, MEND_STR("success")) || mend_json_is(key, MEND_STR("ok"))) return is_false;
  return mend_json_is(key, MEND_STR("error")) && !mend__answer_is_void(value) && !is_false;
}

static bool is_error_object(mend_str result) {
  enum { LONGEST = 8192 }; /* errors are short */
  result = mend__trim(result);
  if (result.len > LONGEST || result.len == 0 || result.ptr[0] != '{') return false;
  mend_json json;
  mend_json_init(&json, result, MEND_JSON_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const mend_json key = json;
    mend_str value;
    if (mend_json_value(&json, &value) != MEND_OK) return false;
    if (is_error_member(&key, value)) return true;
  }
  return false;
}

/* Of results that are errors without being called so. */
static mend__outcome_kind kind_of_text(mend_str tool, mend_str type, mend_str text) {
  if (mend__says_unknown_tool(tool, type, text)) return MEND__OUTCOME_UNKNOWN_TOOL;
  if (mend__says_try_later(type, text)) return MEND__OUTCOME_TRY_LATER;
  return MEND__OUTCOME_ERROR;
}

/* That a tool is unknown, or that it may work later, is all that counts of such an error: the next one may name another
 * number or cause. */
static void settle(mend__outcome *outcome) {
  const bool is_one = outcome->kind == MEND__OUTCOME_UNKNOWN_TOOL || outcome->kind == MEND__OUTCOME_TRY_LATER;
  if (is_one) outcome->hash = mend_hash_bytes(mend__outcome_word(outcome->kind));
}

static mend__outcome outcome_of_result(const mend_tool_after_event *after, const mend__outcome_hints *hints) {
  const mend_str result = after->result;
  if (result.ptr == NULL) {
    const bool is_known = !mend_hash_is_none(after->result_hash);
    const mend__outcome_kind kind = is_known ? MEND__OUTCOME_OK : MEND__OUTCOME_UNKNOWN;
    const bool is_failing =
        hints->is_repeated && (after->result_preview.ptr == NULL || mend__says_failed(after->result_preview));
    return (mend__outcome){kind, is_failing, after->result_hash};
  }
  const mend_str text = mend__answer_text(result);
  mend__outcome outcome = {MEND__OUTCOME_OK, false, mend__masked_json_hash(result)};
  if (mend__says_error(text) || is_error_object(result)) {
    outcome.kind = kind_of_text(after->tool_name, (mend_str){NULL, 0}, text);
    outcome.is_failing = true;
    settle(&outcome);
  } else {
    if (mend__answer_is_empty(result, hints->words.looks)) outcome.kind = MEND__OUTCOME_EMPTY;
    outcome.is_failing = hints->is_repeated && mend__says_failed(text);
  }
  return outcome;
}

/* ---- Errors ---- */

static mend__outcome outcome_of_error(const mend_tool_error_event *error) {
  mend__outcome outcome = {kind_of_text(error->tool_name, error->error_type, error->error_message), true,
                           mend__masked_text_hash(error->error_message)};
  outcome.hash.hi += mend_hash_bytes(error->error_type).hi;
  settle(&outcome);
  return outcome;
}

/* ---- All ---- */

mend__outcome mend__outcome_of(const mend_event *event, const mend__outcome_hints *hints) {
  switch (event->kind) {
  case MEND_EVENT_TOOL_AFTER: return outcome_of_result((const mend_tool_after_event *)event, hints);
  case MEND_EVENT_TOOL_ERROR: return outcome_of_error((const mend_tool_error_event *)event);
  case MEND_EVENT_TOOL_SKIPPED: {
    const mend_tool_skipped_event *skipped = (const mend_tool_skipped_event *)event;
    const bool asks = skipped->hook.len == 0;
    if (hints->is_told || asks || mend_str_equal(skipped->hook, MEND_STR("watchdog"))) break;
    return (mend__outcome){MEND__OUTCOME_SKIPPED, true, mend__masked_text_hash(skipped->reason)};
  }
  default: break;
  }
  return (mend__outcome){MEND__OUTCOME_VETOED, false, {0, 0}};
}

/* ---- Excerpts ---- */

/* So much of a slice of a string that no escape is cut in two. */
static size_t cut_escaped(mend_str slice, size_t most) {
  const size_t shown = slice.len < most ? slice.len : most;
  if (shown == 0 || memchr(slice.ptr, '\\', shown) == NULL) return mend__utf8_cut(slice, shown);
  size_t len = 0;
  while (len < slice.len) {
    const bool is_escape = slice.ptr[len] == '\\' && len + 1 < slice.len;
    const size_t step = !is_escape ? 1 : slice.ptr[len + 1] == 'u' ? 6 : 2;
    if (len + step > most) break;
    len += step;
  }
  return mend__utf8_cut(slice, len);
}

static size_t copy_plain(mend_str text, char *to) {
  const size_t len = mend__utf8_cut(text, MEND__EXCERPT_MAX);
  if (len > 0) memcpy(to, text.ptr, len);
  return len;
}

size_t mend__outcome_excerpt(const mend_event *event, char ret_text[MEND__EXCERPT_MAX]) {
  if (event->kind == MEND_EVENT_TOOL_ERROR) {
    return copy_plain(((const mend_tool_error_event *)event)->error_message, ret_text);
  }
  if (event->kind == MEND_EVENT_TOOL_SKIPPED) {
    return copy_plain(((const mend_tool_skipped_event *)event)->reason, ret_text);
  }
  if (event->kind != MEND_EVENT_TOOL_AFTER) return 0;
  const mend_tool_after_event *after = (const mend_tool_after_event *)event;
  if (after->result.ptr == NULL) return copy_plain(after->result_preview, ret_text);
  const mend_str text = mend__answer_text(after->result);
  if (text.ptr == mend__trim(after->result).ptr) return copy_plain(text, ret_text);
  return mend_json_unescape((mend_str){text.ptr, cut_escaped(text, MEND__EXCERPT_MAX)}, ret_text);
}
