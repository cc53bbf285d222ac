/* Messages of OpenAI's Chat Completions: an array of them, an object with `messages`, a message or an answer (with
 * `choices`) a line, or an object with `messages` a line (then each line is a run of its own). There is no clock and no
 * error flag. The deprecated function_call and role function, which have no ids, are taken too. */
#include "program/base/json_fields.h"
#include "program/transcripts/anthropic_blocks.h"
#include "program/transcripts/format.h"

#include <stdio.h>

#define MESSAGE_FIELDS(F)                                                                                              \
  F(ROLE, "role"), F(CONTENT, "content"), F(TOOL_CALLS, "tool_calls"), F(TOOL_CALL_ID, "tool_call_id"),                \
      F(FUNCTION_CALL, "function_call"), F(MESSAGES, "messages"), F(CHOICES, "choices"), F(ID, "id"),                  \
      F(MODEL, "model"), F(USAGE, "usage")
enum { MESSAGE_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static const char *const containers[] = {"messages", NULL};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

/* The message of an answer's first choice; absent when there is none. */
static mend_str chosen_message(mend_str choices) {
  mend__json_items elements = mend__json_items_of(choices);
  mend_str choice;
  return mend__json_items_next(&elements, &choice) ? json_member(choice, MEND_STR("message")) : (mend_str){NULL, 0};
}

static format_view look_at_message(mend_str message) {
  static const char *const talking[] = {"system", "developer", "user", "assistant", NULL};
  static const char *const answering[] = {"tool", "function", NULL};
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(message, fields, FIELD_COUNT, NULL) != MEND_OK)
    return (format_view){.reason = "not JSON objects"};
  if (mend__json_is_object(chosen_message(fields[CHOICES].value))) return (format_view){.fit = FIT_YES};
  const mend_str role = fields[ROLE].value;
  if (!mend__json_is_string(role)) return (format_view){.reason = "no \"role\""};
  if (anthropic_has_tool_blocks(fields[CONTENT].value)) {
    return (format_view){.fit = FIT_NEVER, .reason = "tool_use or tool_result blocks, which are Anthropic's"};
  }
  if (json_string_is_any_of(role, answering)) return (format_view){.fit = FIT_YES};
  if (!json_string_is_any_of(role, talking)) return (format_view){.reason = "a \"role\" that is none of OpenAI's"};
  const bool calls = mend__json_is_array(fields[TOOL_CALLS].value) || mend__json_is_object(fields[FUNCTION_CALL].value);
  return (format_view){.fit = calls ? FIT_YES : FIT_MAYBE};
}

static format_view look(mend_str row) {
  const mend_str messages = json_member(row, MEND_STR("messages"));
  return mend__json_is_array(messages) ? format_look_inside(messages, look_at_message) : look_at_message(row);
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

/* A function with its arguments as JSON in a string, or a custom tool with its input. */
static mend_status play_function(stage *on, played_run *run, mend_str id, mend_str function) {
  enum { NAME, ARGUMENTS, INPUT, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("name"), JSON_FIELD("arguments"), JSON_FIELD("input")};
  if (!mend__json_is_object(function)) return MEND_OK;
  json_fields_read(function, fields, COUNT, NULL);
  const mend_str arguments =
      fields[INPUT].value.ptr != NULL ? fields[INPUT].value : stage_nested_json(on, fields[ARGUMENTS].value);
  return stage_call(on, run, id, stage_text(on, fields[NAME].value), arguments);
}

static mend_status play_tool_calls(stage *on, played_run *run, mend_str tool_calls) {
  enum { CALL, FUNCTION, CUSTOM, COUNT };
  mend__json_items elements = mend__json_items_of(tool_calls);
  mend_str element;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&elements, &element)) {
    json_field fields[COUNT] = {JSON_FIELD("id"), JSON_FIELD("function"), JSON_FIELD("custom")};
    if (!mend__json_is_object(element)) continue;
    json_fields_read(element, fields, COUNT, NULL);
    const mend_str function = fields[fields[FUNCTION].value.ptr != NULL ? FUNCTION : CUSTOM].value;
    status = play_function(on, run, stage_text(on, fields[CALL].value), function);
  }
  return status;
}

/* There is one deprecated function call at a time, and it has no id: the row that asked for it gives it one, which its
 * answer finds by the number of such calls so far. */
static mend_str function_call_id(const uint64_t *asked, char buffer[48]) {
  snprintf(buffer, 48, "function_call %llu", (unsigned long long)*asked);
  return mend_str_from(buffer);
}

static mend_status play_function_call(stage *on, played_run *run, mend_str function) {
  char buffer[48];
  uint64_t *asked = stage_state(on, sizeof *asked, NULL);
  if (asked == NULL) return MEND_ENOMEM;
  ++*asked;
  return play_function(on, run, function_call_id(asked, buffer), function);
}

static mend_status play_function_result(stage *on, played_run *run, mend_str content) {
  char buffer[48];
  const uint64_t *asked = stage_state(on, sizeof *asked, NULL);
  if (asked == NULL) return MEND_ENOMEM;
  return stage_result(on, run, function_call_id(asked, buffer), content);
}

/* ---- Messages ---------------------------------------------------------------------------------------------- */

static mend_status play_assistant(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str model) {
  mend_status status = stage_model_text(on, run, model, stage_content_text(on, fields[CONTENT].value));
  if (status == MEND_OK) status = play_tool_calls(on, run, fields[TOOL_CALLS].value);
  if (status != MEND_OK || !mend__json_is_object(fields[FUNCTION_CALL].value)) return status;
  return play_function_call(on, run, fields[FUNCTION_CALL].value);
}

static mend_status play_message(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str model) {
  const mend_str role = fields[ROLE].value, content = fields[CONTENT].value;
  if (json_string_is(role, MEND_STR("tool"))) {
    return stage_result(on, run, stage_text(on, fields[TOOL_CALL_ID].value), content);
  }
  if (json_string_is(role, MEND_STR("function"))) return play_function_result(on, run, content);
  if (json_string_is(role, MEND_STR("user"))) return stage_user_message(on, run, stage_content_text(on, content));
  return json_string_is(role, MEND_STR("assistant")) ? play_assistant(on, run, fields, model) : MEND_OK;
}

static mend_status play_message_text(stage *on, played_run *run, mend_str message, mend_str model) {
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(message, fields, FIELD_COUNT, NULL) != MEND_OK) return MEND_OK;
  return play_message(on, run, fields, model);
}

static mend_status play_conversation(stage *on, mend_str messages, mend_error *error) {
  played_run *run;
  mend_status status = stage_row_run(on, &run, error);
  mend__json_items elements = mend__json_items_of(messages);
  mend_str message;
  while (status == MEND_OK && mend__json_items_next(&elements, &message))
    status = play_message_text(on, run, message, (mend_str){NULL, 0});
  return status;
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_status play_usage(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str model) {
  enum { READ, WRITTEN, COUNT };
  json_field tokens[COUNT] = {JSON_FIELD("prompt_tokens"), JSON_FIELD("completion_tokens")};
  if (!mend__json_is_object(fields[USAGE].value)) return MEND_OK;
  json_fields_read(fields[USAGE].value, tokens, COUNT, NULL);
  const stage_tokens used = {
      .model = model, .input = json_count(tokens[READ].value), .output = json_count(tokens[WRITTEN].value)};
  return stage_usage_so_far(on, run, fields[ID].value, &used);
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (mend__json_is_array(fields[MESSAGES].value)) return play_conversation(on, fields[MESSAGES].value, error);
  const mend_str chosen = chosen_message(fields[CHOICES].value);
  if (!mend__json_is_object(chosen) && !mend__json_is_string(fields[ROLE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a message has a string \"role\"");
  }
  if (anthropic_has_tool_blocks(fields[CONTENT].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: tool_use or tool_result blocks are Anthropic's");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  status = stage_run(on, &options, &run, error);
  const mend_str model = stage_text(on, fields[MODEL].value);
  if (status == MEND_OK) status = play_usage(on, run, fields, model);
  if (status != MEND_OK) return status;
  return mend__json_is_object(chosen) ? play_message_text(on, run, chosen, model)
                                      : play_message(on, run, fields, model);
}

const format openai_chat_format = {
    .name = "openai-chat", .title = "OpenAI Chat messages", .containers = containers, .look = look, .play = play};
