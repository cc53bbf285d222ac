/* Items of OpenAI's Responses API: an array of them, an object with `output` (a response) or `input` (a request), an
 * item or a response a line, or a request a line (then each line is a run of its own). There is no clock, and no error
 * flag but for tools that ran on OpenAI's side. */
#include "program/transcripts/responses_items.h"

#include "program/base/json_fields.h"
#include "program/transcripts/anthropic_blocks.h"
#include "program/transcripts/format.h"

#define ROW_FIELDS(F)                                                                                                  \
  F(TYPE, "type"), F(ROLE, "role"), F(CONTENT, "content"), F(ID, "id"), F(OUTPUT, "output"), F(INPUT, "input"),        \
      F(MODEL, "model"), F(USAGE, "usage")
enum { ROW_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static const char *const containers[] = {"output", "input", NULL};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static format_view look_at_item(mend_str item) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(item, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  const mend_str type = fields[TYPE].value;
  if (responses_is_item(type)) return (format_view){.fit = FIT_YES};
  if (anthropic_has_tool_blocks(fields[CONTENT].value)) {
    return (format_view){.fit = FIT_NEVER, .reason = "tool_use or tool_result blocks, which are Anthropic's"};
  }
  const bool message = !mend__json_is_string(type) || json_string_is(type, MEND_STR("message"));
  if (message && mend__json_is_string(fields[ROLE].value)) return (format_view){.fit = FIT_MAYBE};
  return (format_view){.reason = "no \"type\" that an item has"};
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  const mend_str input_items = fields[INPUT].value, output_items = fields[OUTPUT].value;
  if (mend__json_is_string(fields[TYPE].value)) return look_at_item(row);
  if (mend__json_is_array(output_items)) return format_look_inside(output_items, look_at_item);
  return mend__json_is_array(input_items) ? format_look_inside(input_items, look_at_item) : look_at_item(row);
}

/* ---- Playing it -------------------------------------------------------------------------------------------- */

static mend_status play_items(stage *on, played_run *run, mend_str items, const responses_rules *rules) {
  mend__json_items elements = mend__json_items_of(items);
  mend_str item;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&elements, &item))
    status = responses_play_item(on, run, item, rules);
  return status;
}

static mend_status play_usage(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str model) {
  enum { READ, WRITTEN, COUNT };
  json_field tokens[COUNT] = {JSON_FIELD("input_tokens"), JSON_FIELD("output_tokens")};
  if (!mend__json_is_object(fields[USAGE].value)) return MEND_OK;
  json_fields_read(fields[USAGE].value, tokens, COUNT, NULL);
  const stage_tokens used = {
      .model = model, .input = json_count(tokens[READ].value), .output = json_count(tokens[WRITTEN].value)};
  return stage_usage_so_far(on, run, fields[ID].value, &used);
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  const bool typed = mend__json_is_string(fields[TYPE].value);
  const bool request = !typed && mend__json_is_array(fields[INPUT].value);
  const bool response = !typed && mend__json_is_array(fields[OUTPUT].value);
  if (!typed && !request && !response && !mend__json_is_string(fields[ROLE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: an item has a string \"type\" or \"role\"");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  status = request ? stage_row_run(on, &run, error) : stage_run(on, &options, &run, error);
  if (status != MEND_OK) return status;
  const responses_rules rules = {.model = stage_text(on, fields[MODEL].value)};
  if (!request && !response) return responses_play_item(on, run, row->text, &rules);
  status = play_usage(on, run, fields, rules.model);
  if (status == MEND_OK) status = play_items(on, run, fields[INPUT].value, &rules);
  return status == MEND_OK ? play_items(on, run, fields[OUTPUT].value, &rules) : status;
}

const format responses_format = {
    .name = "responses", .title = "OpenAI Responses items", .containers = containers, .look = look, .play = play};
