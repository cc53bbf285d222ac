/* Messages of Anthropic's Messages API: an array of them, an object with `messages` (a request), a message a line (an
 * answer is one), or a request a line (then each line is a run of its own). There is no clock. */
#include "program/base/json_fields.h"
#include "program/transcripts/anthropic_blocks.h"
#include "program/transcripts/format.h"

#define MESSAGE_FIELDS(F)                                                                                              \
  F(ROLE, "role"), F(CONTENT, "content"), F(ID, "id"), F(MODEL, "model"), F(USAGE, "usage"),                           \
      F(STOP_REASON, "stop_reason"), F(TOOL_CALLS, "tool_calls"), F(MESSAGES, "messages")
enum { MESSAGE_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static const char *const containers[] = {"messages", NULL};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static format_view look_at_message(mend_str message) {
  static const char *const roles[] = {"user", "assistant", NULL};
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(message, fields, FIELD_COUNT, NULL) != MEND_OK)
    return (format_view){.reason = "not JSON objects"};
  if (!mend__json_is_string(fields[ROLE].value)) return (format_view){.reason = "no \"role\""};
  if (!json_string_is_any_of(fields[ROLE].value, roles)) {
    return (format_view){.reason = "a \"role\" that is none of Anthropic's"};
  }
  if (mend__json_is_array(fields[TOOL_CALLS].value))
    return (format_view){.reason = "\"tool_calls\", which are OpenAI's"};
  const bool answer = fields[STOP_REASON].value.ptr != NULL && mend__json_is_array(fields[CONTENT].value);
  return (format_view){.fit = answer || anthropic_has_tool_blocks(fields[CONTENT].value) ? FIT_YES : FIT_MAYBE};
}

static format_view look(mend_str row) {
  const mend_str messages = json_member(row, MEND_STR("messages"));
  return mend__json_is_array(messages) ? format_look_inside(messages, look_at_message) : look_at_message(row);
}

/* ---- Playing it -------------------------------------------------------------------------------------------- */

static mend_status play_message(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const anthropic_message message = {
      .model = stage_text(on, fields[MODEL].value),
      .by_assistant = json_string_is(fields[ROLE].value, MEND_STR("assistant")),
      .by_person = json_string_is(fields[ROLE].value, MEND_STR("user")),
  };
  const stage_tokens used = anthropic_tokens(message.model, fields[USAGE].value);
  const mend_status status = stage_usage_so_far(on, run, fields[ID].value, &used);
  return status == MEND_OK ? anthropic_play_content(on, run, fields[CONTENT].value, &message) : status;
}

static mend_status play_conversation(stage *on, mend_str messages, mend_error *error) {
  played_run *run;
  mend_status status = stage_row_run(on, &run, error);
  mend__json_items elements = mend__json_items_of(messages);
  mend_str message;
  while (status == MEND_OK && mend__json_items_next(&elements, &message)) {
    json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
    if (json_fields_read(message, fields, FIELD_COUNT, NULL) == MEND_OK) status = play_message(on, run, fields);
  }
  return status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (mend__json_is_array(fields[MESSAGES].value)) return play_conversation(on, fields[MESSAGES].value, error);
  if (!mend__json_is_string(fields[ROLE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a message has a string \"role\"");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  status = stage_run(on, &options, &run, error);
  return status == MEND_OK ? play_message(on, run, fields) : status;
}

const format anthropic_format = {
    .name = "anthropic", .title = "Anthropic Messages", .containers = containers, .look = look, .play = play};
