/* Messages of OpenAI's Chat Completions: an array of them, an object with `messages`, a message a line, or an object
 * with `messages` a line (then each line is a run of its own). There is no clock and no error flag. The deprecated
 * function_call and role function, which have no ids, are taken too. */
#include "program/replay/foreign.h"
#include "program/replay/format.h"
#include "program/replay/json_fields.h"

#include <stdio.h>

enum { ROLE, CONTENT, TOOL_CALLS, TOOL_CALL_ID, FUNCTION_CALL, MESSAGES, FIELD_COUNT };
#define MESSAGE_FIELDS                                                                                                 \
  {                                                                                                                    \
    JSON_FIELD("role"), JSON_FIELD("content"), JSON_FIELD("tool_calls"), JSON_FIELD("tool_call_id"),                   \
        JSON_FIELD("function_call"), JSON_FIELD("messages")                                                            \
  }

static bool is_any_of(mend_str value, const char *const *names) {
  for (; *names != NULL; names++) {
    if (json_string_is(value, mend_str_from(*names))) return true;
  }
  return false;
}

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static format_view look_at_message(const json_field fields[FIELD_COUNT]) {
  static const char *const talking[] = {"system", "developer", "user", "assistant", NULL};
  static const char *const answering[] = {"tool", "function", NULL};
  if (!json_is_string(fields[ROLE].value)) return (format_view){.reason = "no \"role\""};
  const char *foreign = foreign_message_name(fields[ROLE].value, fields[CONTENT].value);
  if (foreign != NULL) return (format_view){.fit = FIT_NEVER, .reason = foreign};
  if (is_any_of(fields[ROLE].value, answering)) return (format_view){.fit = FIT_YES};
  if (!is_any_of(fields[ROLE].value, talking)) return (format_view){.reason = "a \"role\" that is none of OpenAI's"};
  const bool calls = json_is_array(fields[TOOL_CALLS].value) || json_is_object(fields[FUNCTION_CALL].value);
  return (format_view){.fit = calls ? FIT_YES : FIT_MAYBE};
}

static format_view look_at_conversation(mend_str messages) {
  format_view best = {.reason = "\"messages\" without a message"};
  json_elements elements = json_elements_of(messages);
  mend_str message;
  while (best.fit < FIT_YES && json_elements_next(&elements, &message)) {
    json_field fields[FIELD_COUNT] = MESSAGE_FIELDS;
    if (json_fields_read(message, fields, FIELD_COUNT, NULL) != MEND_OK) continue;
    const format_view view = look_at_message(fields);
    if (view.fit >= best.fit) best = view;
  }
  return best;
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = MESSAGE_FIELDS;
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (json_is_array(fields[MESSAGES].value)) return look_at_conversation(fields[MESSAGES].value);
  return look_at_message(fields);
}

/* ---- Playing it -------------------------------------------------------------------------------------------- */

/* Arguments are JSON in a string; what is in it when it is JSON, else the string. */
static mend_str arguments_of(stage *on, mend_str value) {
  const mend_str inside = stage_text(on, value);
  return inside.ptr != NULL && mend_json_check(inside, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK ? inside : value;
}

static mend_status play_function(stage *on, played_run *run, mend_str id, mend_str function) {
  enum { NAME, ARGUMENTS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("name"), JSON_FIELD("arguments")};
  if (!json_is_object(function)) return MEND_OK;
  json_fields_read(function, fields, COUNT, NULL);
  return stage_call(on, run, id, stage_text(on, fields[NAME].value), arguments_of(on, fields[ARGUMENTS].value));
}

static mend_status play_tool_calls(stage *on, played_run *run, mend_str tool_calls) {
  enum { ID, FUNCTION, COUNT };
  json_elements elements = json_elements_of(tool_calls);
  mend_str element;
  mend_status status = MEND_OK;
  while (status == MEND_OK && json_elements_next(&elements, &element)) {
    json_field fields[COUNT] = {JSON_FIELD("id"), JSON_FIELD("function")};
    if (!json_is_object(element)) continue;
    json_fields_read(element, fields, COUNT, NULL);
    status = play_function(on, run, stage_text(on, fields[ID].value), fields[FUNCTION].value);
  }
  return status;
}

/* There is one deprecated function call at a time, and it has no id: the row that asked for it gives it one, which its
 * answer finds by the number of such calls so far. */
static mend_str function_call_id(const stage *on, char buffer[48]) {
  snprintf(buffer, 48, "function_call %llu", (unsigned long long)on->unnamed_calls);
  return mend_str_from(buffer);
}

static mend_status play_message(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  char buffer[48];
  const mend_str role = fields[ROLE].value;
  if (json_string_is(role, MEND_STR("tool"))) {
    return stage_result(on, run, stage_text(on, fields[TOOL_CALL_ID].value), fields[CONTENT].value);
  }
  if (json_string_is(role, MEND_STR("function"))) {
    return stage_result(on, run, function_call_id(on, buffer), fields[CONTENT].value);
  }
  if (json_string_is(role, MEND_STR("user"))) return stage_user_message(on, run, stage_text(on, fields[CONTENT].value));
  const mend_status status = play_tool_calls(on, run, fields[TOOL_CALLS].value);
  if (status != MEND_OK || !json_is_object(fields[FUNCTION_CALL].value)) return status;
  on->unnamed_calls++;
  return play_function(on, run, function_call_id(on, buffer), fields[FUNCTION_CALL].value);
}

static mend_status play_conversation(stage *on, uint64_t number, mend_str messages, mend_error *error) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  mend__buffer_clear(&on->scratch);
  mend__buffer_printf(&on->scratch, "%.240s:%llu", on->default_run, (unsigned long long)number);
  if (on->scratch.failed) return MEND_ENOMEM;
  options.id = mend__buffer_text(&on->scratch);
  played_run *run;
  mend_status status = stage_run(on, &options, &run, error);
  json_elements elements = json_elements_of(messages);
  mend_str message;
  while (status == MEND_OK && json_elements_next(&elements, &message)) {
    json_field fields[FIELD_COUNT] = MESSAGE_FIELDS;
    if (json_fields_read(message, fields, FIELD_COUNT, NULL) == MEND_OK) status = play_message(on, run, fields);
  }
  return status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = MESSAGE_FIELDS;
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (json_is_array(fields[MESSAGES].value)) return play_conversation(on, row->number, fields[MESSAGES].value, error);
  if (!json_is_string(fields[ROLE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a message has a string \"role\"");
  }
  if (foreign_has_tool_blocks(fields[CONTENT].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: tool_use or tool_result blocks are Anthropic's");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  status = stage_run(on, &options, &run, error);
  return status == MEND_OK ? play_message(on, run, fields) : status;
}

const format openai_chat_format = {
    .name = "openai-chat", .title = "OpenAI Chat messages", .container = "messages", .look = look, .play = play};
