/* What a tool does, by the words of its name. */
#include "watchdogs/evidence_loop_phrases.h"
#include "watchdogs/evidence_loop_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* Words are separated by anything but letters, or begin with a capital. */

static bool is_capital(char c) { return c >= 'A' && c <= 'Z'; }

static mend_str next_name_word(mend_str *rest) {
  while (rest->len > 0 && !mend__is_letter(rest->ptr[0])) {
    rest->ptr++;
    rest->len--;
  }
  size_t len = 0;
  while (len < rest->len && mend__is_letter(rest->ptr[len])) {
    if (len > 0 && is_capital(rest->ptr[len]) && !is_capital(rest->ptr[len - 1])) break;
    len++;
  }
  const mend_str word = {rest->ptr, len};
  rest->ptr += len;
  rest->len -= len;
  return word;
}

static bool is_changing(mend_str word) {
  static const char *const words[] = {"add",      "append",    "apply",  "checkout", "commit",  "create", "delete",
                                      "edit",     "editor",    "format", "insert",   "install", "merge",  "modify",
                                      "move",     "overwrite", "patch",  "post",     "push",    "put",    "rebase",
                                      "refactor", "remove",    "rename", "replace",  "revert",  "save",   "send",
                                      "set",      "submit",    "update", "upload",   "write"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

static bool is_looking(mend_str word) {
  static const char *const words[] = {"cat",    "count", "describe", "fetch",  "find",  "get",  "glob", "grep",
                                      "head",   "list",  "lookup",   "ls",     "query", "read", "scan", "search",
                                      "select", "show",  "stat",     "status", "tail",  "view"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

static bool is_waiting(mend_str word) {
  static const char *const words[] = {"await", "poll", "sleep", "wait"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

/* What is asked for again because it may have come meanwhile. */
static bool is_polling(mend_str word) {
  static const char *const words[] = {"monitor", "output", "poll", "progress", "runs", "status", "stdin"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

static bool is_shell(mend_str word) {
  static const char *const words[] = {"bash",    "cmd",        "command", "console", "exec",
                                      "execute", "powershell", "sh",      "shell",   "terminal"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

/* What one does to a page or a screen: only looking at it tells what came of
 * it. */
static bool is_acting(mend_str word) {
  static const char *const words[] = {"back",     "computer", "click", "drag",   "forward", "goto", "hover", "key",
                                      "navigate", "next",     "press", "scroll", "swipe",   "tap",  "type"};
  return mend__is_one_of(word, words, COUNT_OF(words));
}

mend__tool_words mend__tool_words_of(mend_str tool) {
  mend__tool_words words = {false, false, false, false, false, false};
  size_t count = 0;
  for (mend_str word; (word = next_name_word(&tool)).len > 0; count++) {
    words.changes = words.changes || is_changing(word);
    words.looks = words.looks || is_looking(word);
    words.waits = words.waits || is_waiting(word);
    words.polls = words.polls || is_polling(word) || (count == 0 && mend__equals_lower(word, "check"));
    words.is_shell = words.is_shell || is_shell(word);
    words.acts = words.acts || is_acting(word);
  }
  words.polls = words.polls && count > 1; /* nobody knows of what a "status" or "check" is one */
  words.looks = words.looks && !words.changes;
  words.acts = words.acts && !words.looks && !words.is_shell;
  return words;
}
