#include "program/transcripts/shell_calls.h"

#include <stdio.h>

enum { ID_SIZE = 32 };

static mend_str id_of(const shell_calls *calls, char buffer[ID_SIZE]) {
  snprintf(buffer, ID_SIZE, "command %llu", (unsigned long long)calls->count);
  return mend_str_from(buffer);
}

mend_status shell_call(stage *on, played_run *run, shell_calls *calls, mend_str command) {
  char buffer[ID_SIZE];
  mend__buffer_clear(&on->scratch);
  mend__buffer_str(&on->scratch, MEND_STR("{\"command\":"));
  mend__buffer_json_string(&on->scratch, command);
  mend__buffer_char(&on->scratch, '}');
  if (on->scratch.failed) return MEND_ENOMEM;
  calls->count++;
  calls->open = true;
  return stage_call(on, run, id_of(calls, buffer), MEND_STR("bash"), mend__buffer_text(&on->scratch));
}

mend_str shell_arguments(const played_run *run, const shell_calls *calls) {
  char buffer[ID_SIZE];
  return calls->open ? stage_arguments(run, id_of(calls, buffer)) : (mend_str){NULL, 0};
}

mend_status shell_result(stage *on, played_run *run, mend_str id, mend_str output) {
  mend__buffer_clear(&on->scratch);
  mend__buffer_json_string(&on->scratch, output);
  if (on->scratch.failed) return MEND_ENOMEM;
  return stage_result(on, run, id, mend__buffer_text(&on->scratch));
}

mend_status shell_answer(stage *on, played_run *run, shell_calls *calls, mend_str output, bool failed) {
  char buffer[ID_SIZE];
  const mend_str id = calls->open ? id_of(calls, buffer) : (mend_str){NULL, 0};
  calls->open = false;
  return failed ? stage_error(on, run, id, output) : shell_result(on, run, id, output);
}

/* ---- Commands ---------------------------------------------------------------------------------------------- */

/* Where a command begins: at the beginning of a string, or after another command. */
static bool begins_command(mend_str text, const char *place) {
  while (place > text.ptr && place[-1] == ' ')
    place--;
  return place > text.ptr && strchr("\"'|;&(", place[-1]) != NULL;
}

static bool ends_word(mend_str text, const char *place) {
  return place < text.ptr + text.len && strchr(" \"'", *place) != NULL;
}

static bool runs(mend_str text, mend_str command) {
  const char *end = text.ptr + text.len, *from = text.ptr;
  while ((from = memmem(from, (size_t)(end - from), command.ptr, command.len)) != NULL) {
    if (begins_command(text, from) && ends_word(text, from + command.len)) return true;
    from += command.len;
  }
  return false;
}

static bool only_asks(mend_str arguments) {
  static const char *const commands[] = {"grep",     "egrep", "fgrep", "rg",   "ag", "git grep",
                                         "git diff", "diff",  "cmp",   "test", "[",  NULL};
  if (arguments.len == 0) return false;
  for (const char *const *command = commands; *command != NULL; command++) {
    if (runs(arguments, mend_str_from(*command))) return true;
  }
  return false;
}

bool shell_failed(mend_str code, mend_str output, mend_str arguments) {
  if (code.len == 0 || mend_str_equal(code, MEND_STR("0"))) return false;
  return output.len > 0 || !mend_str_equal(code, MEND_STR("1")) || !only_asks(arguments);
}
