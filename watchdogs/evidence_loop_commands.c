/* What a call does, by its arguments: the commands of a shell, and those of an editor. */
#include "core/text.h"
#include "watchdogs/evidence_loop_phrases.h"
#include "watchdogs/evidence_loop_text.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

enum { READ_MAX = 1024, PARTS_MAX = 16 };

/* A program, and what makes it one that changes something: one of these words behind it, or whatever is there. */
typedef struct command {
  const char *name;
  const char *parts[PARTS_MAX];
} command;

static const command changing[] = {
    {"cp", {NULL}},
    {"mv", {NULL}},
    {"rm", {NULL}},
    {"mkdir", {NULL}},
    {"touch", {NULL}},
    {"patch", {NULL}},
    {"apply_patch", {NULL}},
    {"tee", {NULL}},
    {"install", {NULL}},
    {"black", {NULL}},
    {"isort", {NULL}},
    {"rustfmt", {NULL}},
    {"sed", {"-i", "-ei", "-ri"}},
    {"perl", {"-pi"}},
    {"gofmt", {"-w"}},
    {"clang-format", {"-i"}},
    {"prettier", {"--write", "-w"}},
    {"eslint", {"--fix"}},
    {"ruff", {"--fix", "format"}},
    {"npm", {"install", "i", "ci", "uninstall", "update"}},
    {"yarn", {"add", "install", "remove"}},
    {"pnpm", {"add", "install", "i", "remove"}},
    {"pip", {"install", "uninstall"}},
    {"cargo", {"add", "fmt", "fix", "update"}},
    {"make", {"install", "clean"}},
    {"docker", {"up", "down", "start", "stop", "restart", "build"}},
    {"docker-compose", {"up", "down", "start", "stop", "restart", "build"}},
    {"systemctl", {"start", "stop", "restart", "reload"}},
    {"git",
     {"add", "apply", "am", "bisect", "checkout", "cherry-pick", "commit", "merge", "pull", "rebase", "reset",
      "restore", "revert", "stash", "switch"}},
};

/* Words of a command line: between blanks, quotes and the signs of a shell. */

static bool ends_command(char c) { return c == ';' || c == '|' || c == '&' || c == '\n'; }

static bool ends_word(char c) {
  switch (c) {
  case '"':
  case '\'':
  case '`':
  case '\\':
  case '(':
  case ')':
  case '<':
  case '>':
  case ',':
  case ':':
  case '[':
  case ']':
  case '{':
  case '}':
  case '\0': return true;
  default: return mend__is_blank(c) || ends_command(c);
  }
}

/* The next word of the same command; empty when there is none. */
static mend_str next_word(mend_str *rest) {
  while (rest->len > 0 && ends_word(rest->ptr[0]) && !ends_command(rest->ptr[0])) {
    const size_t step = rest->ptr[0] == '\\' && rest->len > 1 ? 2 : 1; /* \n, \" */
    rest->ptr += step;
    rest->len -= step;
  }
  size_t len = 0;
  while (len < rest->len && !ends_word(rest->ptr[len]))
    len++;
  const mend_str word = {rest->ptr, len};
  rest->ptr += len;
  rest->len -= len;
  return word;
}

/* Options may have something behind them: -i.bak. */
static bool is_part(const command *one, mend_str word) {
  for (size_t i = 0; i < PARTS_MAX && one->parts[i] != NULL; i++) {
    const char *part = one->parts[i];
    if (part[0] == '-' ? mend__begins_lower(word, part) : mend__equals_lower(word, part)) return true;
  }
  return false;
}

/* Whether the command that begins with this word, and goes on with the rest, is one of those. */
static bool changes_something(mend_str word, mend_str rest) {
  if (!mend__is_letter(word.ptr[0])) return false;
  for (size_t i = 0; i < COUNT_OF(changing); i++) {
    const command *one = &changing[i];
    if (word.ptr[0] != one->name[0] || !mend__equals_lower(word, one->name)) continue;
    if (one->parts[0] == NULL) return rest.len > 0 && rest.ptr[0] == ' ';
    for (mend_str part; (part = next_word(&rest)).len > 0;) {
      if (is_part(one, part)) return true;
    }
    return false;
  }
  return false;
}

static mend_str beginning(mend_str text) { return (mend_str){text.ptr, text.len < READ_MAX ? text.len : READ_MAX}; }

/* "<< EOF", "> file", ">> file". */
static bool redirects(mend_str text) {
  for (size_t i = 0; i + 2 < text.len; i++) {
    const char *at = text.ptr + i;
    if (at[0] == '<' && at[1] == '<') return true;
    if (at[0] == ' ' && at[1] == '>' && (at[2] == ' ' || at[2] == '>')) return true;
  }
  return false;
}

static void skip_sign(mend_str *rest) {
  if (rest->len == 0) return;
  rest->ptr++;
  rest->len--;
}

bool mend__says_change(mend_str args) {
  mend_str rest = beginning(args);
  if (redirects(rest) || mend__find_phrase(rest, "write_text") != NULL) return true;
  while (rest.len > 0) {
    const mend_str word = next_word(&rest);
    if (word.len > 0 && changes_something(word, rest)) return true;
    if (word.len == 0) skip_sign(&rest);
  }
  return false;
}

bool mend__says_search(mend_str args) {
  static const char *const searching[] = {"grep", "rg", "ag", "fd", "find", "ack", "egrep", "fgrep"};
  mend_str rest = beginning(args);
  while (rest.len > 0) {
    const mend_str word = next_word(&rest);
    if (mend__is_one_of(word, searching, COUNT_OF(searching))) return true;
    if (word.len == 0) skip_sign(&rest);
  }
  return false;
}

bool mend__says_sleep(mend_str args) {
  const mend_str text = beginning(args);
  const char *at = mend__find_phrase(text, "sleep ");
  return at != NULL && (at == text.ptr || !mend__is_letter(at[-1]));
}

/* "command": "view" */
bool mend__says_view(mend_str args) {
  static const char *const names[] = {"command", "sub_command", "action", "operation", "mode"};
  static const char *const looks[] = {"view", "read", "list", "show", "open", "search", "find", "get"};
  mend_json json;
  mend_json_init(&json, args, MEND_JSON_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return false;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool is_command = mend__is_one_of(json.slice, names, COUNT_OF(names));
    mend_str value;
    if (mend_json_value(&json, &value) != MEND_OK) return false;
    if (is_command)
      return value.len > 2 && mend__is_one_of((mend_str){value.ptr + 1, value.len - 2}, looks, COUNT_OF(looks));
  }
  return false;
}
