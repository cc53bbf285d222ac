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
