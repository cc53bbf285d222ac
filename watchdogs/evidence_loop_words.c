/* What answers read like. Only English is understood; what is not understood says nothing, and then the rules that need
 * it keep silent. */
#include "core/text.h"
#include "watchdogs/evidence_loop_phrases.h"
#include "watchdogs/evidence_loop_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Texts ---- */

/* Long answers say it in the beginning, or at the end. */
enum { READ_MAX = 1024 };

static mend_str beginning(mend_str text) { return (mend_str){text.ptr, text.len < READ_MAX ? text.len : READ_MAX}; }

static mend_str ending(mend_str text) {
  if (text.len <= READ_MAX) return text;
  return (mend_str){text.ptr + text.len - READ_MAX, READ_MAX};
}

static bool has_text(mend_str text, mend_str piece) {
  for (size_t i = 0; piece.len > 0 && i + piece.len <= text.len; i++) {
    if (memcmp(text.ptr + i, piece.ptr, piece.len) == 0) return true;
  }
  return false;
}

/* ---- Errors ---- */

static bool has_word(mend_str text, const char *word) {
  const size_t len = strlen(word);
  for (const char *at; (at = mend__find_phrase(text, word)) != NULL;) {
    const size_t begin = (size_t)(at - text.ptr);
    const bool begins = begin == 0 || !mend__is_letter(at[-1]),
               ends = begin + len == text.len || !mend__is_letter(at[len]);
    if (begins && ends) return true;
    text = (mend_str){at + len, text.len - begin - len};
  }
  return false;
}

/* "Tool 'read' not found", but not "compiler not found", nor what a shell says: "tool: command not found". */
static bool says_tool_is_missing(mend_str tool, mend_str message) {
  static const char *const missing[] = {"not found",      "does not exist", "not available",
                                        "not registered", "not recognized", "unrecognized"};
  if (mend__find_phrase(message, "command not found") != NULL) return false;
  const bool is_about_tools = has_word(message, "tool") || has_word(message, "function");
  return is_about_tools && has_text(message, tool) && mend__has_one_of(message, missing, COUNT_OF(missing));
}

/* The names of those that there are may follow, so only the beginning is read. */
bool mend__says_unknown_tool(mend_str tool, mend_str type, mend_str message) {
  static const char *const types[] = {"unknown_tool",   "unknowntool",  "unknown_function", "unknownfunction",
                                      "tool_not_found", "toolnotfound", "no_such_tool",     "nosuchtool"};
  static const char *const phrases[] = {"unknown tool",     "no such tool",        "there is no tool called",
                                        "no tool named",    "unknown function",    "is not a valid tool",
                                        "unavailable tool", "is not a known tool", "invalid tool name"};
  enum { BEGINNING = 300 };
  if (mend__has_one_of(type, types, COUNT_OF(types))) return true;
  const bool is_short = message.len <= BEGINNING;
  if (!is_short) message.len = BEGINNING;
  return mend__has_one_of(message, phrases, COUNT_OF(phrases)) || (is_short && says_tool_is_missing(tool, message));
}

/* 429, 5xx: a number of its own that "HTTP", "status" or "code" stands before, or that the text begins with. */
static bool is_status_of_later(mend_str text, size_t at) {
  static const char *const codes[] = {"429", "500", "502", "503", "504", "529"};
  if (at + 3 > text.len || (at + 3 < text.len && mend__is_digit(text.ptr[at + 3]))) return false;
  if (at > 0 && (mend__is_digit(text.ptr[at - 1]) || mend__is_letter(text.ptr[at - 1]))) return false;
  if (!mend__is_one_of((mend_str){text.ptr + at, 3}, codes, COUNT_OF(codes))) return false;
  static const char *const before[] = {"http", "status", "code"};
  enum { NEAR = 16 };
  const size_t from = at > NEAR ? at - NEAR : 0;
  return at == 0 || mend__has_one_of((mend_str){text.ptr + from, at - from}, before, COUNT_OF(before));
}

bool mend__says_try_later(mend_str type, mend_str message) {
  static const char *const phrases[] = {"too many requests",
                                        "rate limit",
                                        "rate_limit",
                                        "ratelimit",
                                        "overloaded",
                                        "service unavailable",
                                        "temporarily unavailable",
                                        "bad gateway",
                                        "gateway timeout",
                                        "internal server error",
                                        "connection reset",
                                        "econnreset"};
  const mend_str text = beginning(message);
  if (mend__has_one_of(type, phrases, COUNT_OF(phrases)) || mend__has_one_of(text, phrases, COUNT_OF(phrases)))
    return true;
  for (size_t i = 0; i < text.len; i++) {
    if (mend__is_digit(text.ptr[i]) && is_status_of_later(text, i)) return true;
  }
  return false;
}

/* ---- Results ---- */

bool mend__says_error(mend_str text) {
  static const char *const beginnings[] = {"error", "exception", "fatal", "traceback", "tool_use_error"};
  while (text.len > 0 && !mend__is_letter(text.ptr[0]) && !mend__is_digit(text.ptr[0])) {
    text.ptr++;
    text.len--;
  }
  for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
    if (mend__begins_lower(text, beginnings[i])) return true;
  }
  return false;
}

/* "0 failed" and "no errors" say that nothing did. */
static bool is_denied_before(mend_str text, size_t word) {
  size_t end = word;
  while (end > 0 && mend__is_blank(text.ptr[end - 1]))
    end--;
  size_t begin = end;
  while (begin > 0 && (mend__is_letter(text.ptr[begin - 1]) || mend__is_digit(text.ptr[begin - 1])))
    begin--;
  static const char *const denials[] = {"0", "no", "without", "zero"};
  return mend__is_one_of((mend_str){text.ptr + begin, end - begin}, denials, COUNT_OF(denials));
}

/* So do "errors": [], "failed": 0 and failures=0. */
static bool is_denied_behind(mend_str text, size_t word) {
  static const char *const denials[] = {"null", "none", "false", "[]", "{}"};
  size_t place = word;
  bool has_value = false;
  while (place < text.len && mend__is_letter(text.ptr[place]))
    place++;
  for (; place < text.len && strchr("\"\\ :=", text.ptr[place]) != NULL; place++)
    has_value = has_value || text.ptr[place] == ':' || text.ptr[place] == '=';
  const mend_str value = {text.ptr + place, text.len - place};
  if (!has_value || value.len == 0) return false;
  if (value.ptr[0] == '0') return value.len == 1 || (!mend__is_digit(value.ptr[1]) && value.ptr[1] != '.');
  for (size_t i = 0; i < COUNT_OF(denials); i++) {
    if (mend__begins_lower(value, denials[i])) return true;
  }
  return false;
}

static bool affirms(mend_str text, const char *word) {
  size_t from = 0;
  for (const char *at; (at = mend__find_phrase((mend_str){text.ptr + from, text.len - from}, word)) != NULL;) {
    const size_t place = (size_t)(at - text.ptr);
    if (!is_denied_before(text, place) && !is_denied_behind(text, place)) return true;
    from = place + 1;
  }
  return false;
}

static bool names_failure(mend_str text) {
  static const char *const words[] = {"fail",          "error",          "traceback",     "panic",
                                      "not ok",        "exit code 1",    "exit status 1", "exit code 2",
                                      "exit status 2", "returncode\": 1"};
  for (size_t i = 0; i < COUNT_OF(words); i++) {
    if (affirms(text, words[i])) return true;
  }
  return false;
}

bool mend__says_failed(mend_str text) { return names_failure(ending(text)) || names_failure(beginning(text)); }

bool mend__says_nothing_found(mend_str text) {
  static const char *const whole[] = {
      "none",    "nothing found", "no results", "no results found", "no matches", "no matches found", "no files found",
      "no hits", "0 hits",        "0 results",  "0 matches",        "not found",  "no data",          "empty"};
  enum { LONGEST = 32 };
  if (text.len > LONGEST) return false;
  text = mend__trim(text);
  while (text.len > 0 && text.ptr[text.len - 1] == '.')
    text.len--;
  return mend__is_one_of(text, whole, COUNT_OF(whole));
}

bool mend__says_pending(mend_str text) {
  static const char *const phrases[] = {"running", "pending",  "in progress", "in_progress", "queued",
                                        "waiting", "building", "not ready",   "still ",      "active"};
  return mend__has_one_of(beginning(text), phrases, COUNT_OF(phrases));
}
