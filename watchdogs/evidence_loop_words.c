/* What words say: of a tool its name, of an answer what it reads like. Only English is understood; what is not
 * understood says nothing, and then the rules that need it keep silent. */
#include "core/block.h"
#include "core/text.h"
#include "watchdogs/evidence_loop_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- Names of tools: words are separated by anything but letters and digits, or begin with a capital ---- */

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

static mend_str next_name_word(mend_str *rest) {
  while (rest->len > 0 && !is_letter(rest->ptr[0])) {
    rest->ptr++;
    rest->len--;
  }
  size_t len = 0;
  while (len < rest->len && is_letter(rest->ptr[len])) {
    if (len > 0 && is_capital(rest->ptr[len]) && !is_capital(rest->ptr[len - 1])) break;
    len++;
  }
  const mend_str word = {rest->ptr, len};
  rest->ptr += len;
  rest->len -= len;
  return word;
}

static bool equals_lower(mend_str text, const char *lower) {
  for (size_t i = 0; i < text.len; i++) {
    if (mend__lower(text.ptr[i]) != lower[i]) return false;
  }
  return lower[text.len] == '\0';
}

static bool is_one_of(mend_str word, const char *const *list, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (equals_lower(word, list[i])) return true;
  }
  return false;
}

mend__tool_words mend__tool_words_of(mend_str tool) {
  static const char *const changing[] = {"add",  "append", "apply", "commit", "create", "delete", "edit",   "insert",
                                         "move", "patch",  "post",  "push",   "put",    "remove", "rename", "replace",
                                         "save", "send",   "set",   "submit", "update", "upload", "write"};
  static const char *const looking[] = {"cat",    "count", "describe", "fetch",  "find",  "get",  "glob", "grep",
                                        "head",   "list",  "lookup",   "ls",     "query", "read", "scan", "search",
                                        "select", "show",  "stat",     "status", "tail",  "view"};
  static const char *const waiting[] = {"await", "poll", "sleep", "wait"};
  static const char *const shells[] = {"bash",    "cmd",        "command", "console", "exec",
                                       "execute", "powershell", "sh",      "shell",   "terminal"};
  mend__tool_words words = {false, false, false, false};
  for (mend_str word; (word = next_name_word(&tool)).len > 0;) {
    words.changes = words.changes || is_one_of(word, changing, COUNT_OF(changing));
    words.looks = words.looks || is_one_of(word, looking, COUNT_OF(looking));
    words.waits = words.waits || is_one_of(word, waiting, COUNT_OF(waiting));
    words.is_shell = words.is_shell || is_one_of(word, shells, COUNT_OF(shells));
  }
  words.looks = words.looks && !words.changes;
  return words;
}

/* ---- Texts ---- */

/* Long answers say it in the beginning, or at the end. */
enum { READ_MAX = 1024 };

static bool begins_lower(const char *text, size_t available, const char *lower, size_t len) {
  if (available < len) return false;
  for (size_t i = 0; i < len; i++) {
    if (mend__lower(text[i]) != lower[i]) return false;
  }
  return true;
}

/* A bit, the lowest for the first, for each of the characters of a block that the phrase may begin with: one more follows
 * the block. */
static uint32_t may_begin(const char *text, const char *lower) {
  const mend__block first = mend__block_is(mend__block_at(text) | 0x20, (unsigned char)lower[0]);
  const mend__block second = mend__block_is(mend__block_at(text + 1) | 0x20, (unsigned char)(lower[1] | 0x20));
  return mend__block_bits(first & second);
}

/* Where the phrase begins, NULL when it is not there. Every phrase has two characters or more, and begins with a
 * letter. */
static const char *find_phrase(mend_str text, const char *lower) {
  const size_t len = strlen(lower);
  size_t i = 0;
  for (; i + MEND__BLOCK_SIZE < text.len; i += MEND__BLOCK_SIZE) {
    for (uint32_t places = may_begin(text.ptr + i, lower); places != 0; places &= places - 1) {
      const size_t at = i + (size_t)__builtin_ctz(places);
      if (begins_lower(text.ptr + at, text.len - at, lower, len)) return text.ptr + at;
    }
  }
  for (; i + len <= text.len; i++) {
    if ((text.ptr[i] | 0x20) == lower[0] && begins_lower(text.ptr + i, text.len - i, lower, len)) return text.ptr + i;
  }
  return NULL;
}

static bool has_one_of(mend_str text, const char *const *phrases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (find_phrase(text, phrases[i]) != NULL) return true;
  }
  return false;
}

static bool has_text(mend_str text, mend_str piece) {
  for (size_t i = 0; piece.len > 0 && i + piece.len <= text.len; i++) {
    if (memcmp(text.ptr + i, piece.ptr, piece.len) == 0) return true;
  }
  return false;
}

static bool has_char(mend_str text, char c) { return text.len > 0 && memchr(text.ptr, c, text.len) != NULL; }

static mend_str beginning(mend_str text) { return (mend_str){text.ptr, text.len < READ_MAX ? text.len : READ_MAX}; }

static mend_str ending(mend_str text) {
  if (text.len <= READ_MAX) return text;
  return (mend_str){text.ptr + text.len - READ_MAX, READ_MAX};
}

/* Whether one of them begins a word: "rm " is not in "alarm ". */
static bool has_command(mend_str text, const char *const *commands, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const char *at = find_phrase(text, commands[i]);
    if (at != NULL && (at == text.ptr || !is_letter(at[-1]))) return true;
  }
  return false;
}

bool mend__says_sleep(mend_str args) {
  static const char *const command[] = {"sleep "};
  return has_command(beginning(args), command, 1);
}

bool mend__says_change(mend_str args) {
  static const char *const phrases[] = {"sed -i",  "perl -pi",  "patch",        "tee ",       "install ",
                                        "git add", "git apply", "git checkout", "git commit", "mv ",
                                        "cp ",     "rm ",       "write_text"};
  const mend_str text = beginning(args);
  if (has_char(text, '<') && has_text(text, MEND_STR("<<"))) return true;
  if (has_char(text, '>') && (has_text(text, MEND_STR(" > ")) || has_text(text, MEND_STR(" >> ")))) return true;
  return has_command(text, phrases, COUNT_OF(phrases));
}

/* ---- Errors ---- */

static bool has_word(mend_str text, const char *word) {
  const size_t len = strlen(word);
  for (const char *at; (at = find_phrase(text, word)) != NULL;) {
    const size_t begin = (size_t)(at - text.ptr);
    const bool begins = begin == 0 || !is_letter(at[-1]), ends = begin + len == text.len || !is_letter(at[len]);
    if (begins && ends) return true;
    text = (mend_str){at + len, text.len - begin - len};
  }
  return false;
}

/* "Tool 'read' not found", but not "compiler not found", nor what a shell says: "tool: command not found". */
static bool says_tool_is_missing(mend_str tool, mend_str message) {
  static const char *const missing[] = {"not found",      "does not exist", "not available",
                                        "not registered", "not recognized", "unrecognized"};
  if (find_phrase(message, "command not found") != NULL) return false;
  const bool is_about_tools = has_word(message, "tool") || has_word(message, "function");
  return is_about_tools && has_text(message, tool) && has_one_of(message, missing, COUNT_OF(missing));
}

/* The names of those that there are may follow, so only the beginning is read. */
bool mend__says_unknown_tool(mend_str tool, mend_str type, mend_str message) {
  static const char *const types[] = {"unknown_tool",   "unknowntool",  "unknown_function", "unknownfunction",
                                      "tool_not_found", "toolnotfound", "no_such_tool",     "nosuchtool"};
  static const char *const phrases[] = {"unknown tool",     "no such tool",        "there is no tool called",
                                        "no tool named",    "unknown function",    "is not a valid tool",
                                        "unavailable tool", "is not a known tool", "invalid tool name"};
  enum { BEGINNING = 300 };
  if (has_one_of(type, types, COUNT_OF(types))) return true;
  const bool is_short = message.len <= BEGINNING;
  if (!is_short) message.len = BEGINNING;
  return has_one_of(message, phrases, COUNT_OF(phrases)) || (is_short && says_tool_is_missing(tool, message));
}

/* 429, 5xx: a number of its own that "HTTP", "status" or "code" stands before, or that the text begins with. */
static bool is_status_of_later(mend_str text, size_t at) {
  static const char *const codes[] = {"429", "500", "502", "503", "504", "529"};
  if (at + 3 > text.len || (at + 3 < text.len && mend__is_digit(text.ptr[at + 3]))) return false;
  if (at > 0 && (mend__is_digit(text.ptr[at - 1]) || is_letter(text.ptr[at - 1]))) return false;
  if (!is_one_of((mend_str){text.ptr + at, 3}, codes, COUNT_OF(codes))) return false;
  static const char *const before[] = {"http", "status", "code"};
  enum { NEAR = 16 };
  const size_t from = at > NEAR ? at - NEAR : 0;
  return at == 0 || has_one_of((mend_str){text.ptr + from, at - from}, before, COUNT_OF(before));
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
  if (has_one_of(type, phrases, COUNT_OF(phrases)) || has_one_of(text, phrases, COUNT_OF(phrases))) return true;
  for (size_t i = 0; i < text.len; i++) {
    if (mend__is_digit(text.ptr[i]) && is_status_of_later(text, i)) return true;
  }
  return false;
}

/* ---- Results ---- */

bool mend__says_error(mend_str text) {
  static const char *const beginnings[] = {"error", "exception", "fatal", "traceback", "tool_use_error"};
  while (text.len > 0 && !is_letter(text.ptr[0]) && !mend__is_digit(text.ptr[0])) {
    text.ptr++;
    text.len--;
  }
  for (size_t i = 0; i < COUNT_OF(beginnings); i++) {
    if (begins_lower(text.ptr, text.len, beginnings[i], strlen(beginnings[i]))) return true;
  }
  return false;
}

/* "0 failed" and "no errors" say that nothing did. */
static bool is_denied_before(mend_str text, size_t word) {
  size_t end = word;
  while (end > 0 && mend__is_blank(text.ptr[end - 1]))
    end--;
  size_t begin = end;
  while (begin > 0 && (is_letter(text.ptr[begin - 1]) || mend__is_digit(text.ptr[begin - 1])))
    begin--;
  static const char *const denials[] = {"0", "no", "without", "zero"};
  return is_one_of((mend_str){text.ptr + begin, end - begin}, denials, COUNT_OF(denials));
}

/* So do "errors": [], "failed": 0 and failures=0. */
static bool is_denied_behind(mend_str text, size_t word) {
  static const char *const denials[] = {"null", "none", "false", "[]", "{}"};
  size_t place = word;
  bool has_value = false;
  while (place < text.len && is_letter(text.ptr[place]))
    place++;
  for (; place < text.len && strchr("\"\\ :=", text.ptr[place]) != NULL; place++)
    has_value = has_value || text.ptr[place] == ':' || text.ptr[place] == '=';
  const mend_str value = {text.ptr + place, text.len - place};
  if (!has_value || value.len == 0) return false;
  if (value.ptr[0] == '0') return value.len == 1 || (!mend__is_digit(value.ptr[1]) && value.ptr[1] != '.');
  for (size_t i = 0; i < COUNT_OF(denials); i++) {
    if (begins_lower(value.ptr, value.len, denials[i], strlen(denials[i]))) return true;
  }
  return false;
}

static bool affirms(mend_str text, const char *word) {
  size_t from = 0;
  for (const char *at; (at = find_phrase((mend_str){text.ptr + from, text.len - from}, word)) != NULL;) {
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
  return is_one_of(text, whole, COUNT_OF(whole));
}
