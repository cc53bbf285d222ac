#include "program/transcripts/anthropic_blocks.h"

#include "program/base/json_fields.h"
#include "program/base/sums.h"

#define BLOCK_FIELDS(F)                                                                                                \
  F(TYPE, "type"), F(ID, "id"), F(NAME, "name"), F(INPUT, "input"), F(TOOL_USE_ID, "tool_use_id"),                     \
      F(CONTENT, "content"), F(IS_ERROR, "is_error"), F(TEXT, "text")
enum { BLOCK_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

/* tool_use, server_tool_use, mcp_tool_use; tool_result, web_search_tool_result and so on. */
static bool is_call(mend_str type) { return json_string_ends_with(type, MEND_STR("tool_use")); }
static bool is_result(mend_str type) { return json_string_ends_with(type, MEND_STR("tool_result")); }

bool anthropic_has_tool_blocks(mend_str content) {
  mend__json_items blocks = mend__json_items_of(content);
  mend_str block;
  while (mend__json_items_next(&blocks, &block)) {
    const mend_str type = json_member(block, MEND_STR("type"));
    if (is_call(type) || is_result(type)) return true;
  }
  return false;
}

/* What a server's tool says instead of a result: {"type":"web_search_tool_result_error","error_code":"..."}. */
static bool is_error_of_server(mend_str content) {
  return json_string_ends_with(json_member(content, MEND_STR("type")), MEND_STR("_error"));
}

/* ---- What a person would not have -------------------------------------------------------------------------- */

/* What Claude Code says instead of a result. */
static const char *const refusals[] = {"The user doesn't want to ", "[Request interrupted by user", NULL};

static bool is_refusal(mend_str content) { return json_string_begins_with_any_of(json_first_text(content), refusals); }

/* Most contents can be told apart without being parsed. */
static bool mentions_refusal(mend_str content) {
  const char *const *refusal = refusals;
  while (*refusal != NULL && memmem(content.ptr, content.len, *refusal, strlen(*refusal)) == NULL)
    refusal++;
  return *refusal != NULL;
}

/* The next block that refuses a call. */
static bool next_refusal(mend__json_items *blocks, json_field fields[FIELD_COUNT]) {
  mend_str block;
  while (json_items_next_fields(blocks, fields, FIELD_COUNT, &block)) {
    if (is_result(fields[TYPE].value) && is_refusal(fields[CONTENT].value)) return true;
  }
  return false;
}

bool anthropic_has_refusals(mend_str content) {
  if (content.len == 0 || !mentions_refusal(content)) return false;
  json_field fields[FIELD_COUNT] = {BLOCK_FIELDS(JSON_FIELD_ENTRY)};
  mend__json_items blocks = mend__json_items_of(content);
  return next_refusal(&blocks, fields);
}

mend_status anthropic_await_refusals(stage *on, played_run *run, mend_str content) {
  json_field fields[FIELD_COUNT] = {BLOCK_FIELDS(JSON_FIELD_ENTRY)};
  mend__json_items blocks = mend__json_items_of(content);
  mend_status status = MEND_OK;
  while (status == MEND_OK && next_refusal(&blocks, fields)) {
    const mend_str id = stage_text(on, fields[TOOL_USE_ID].value);
    if (stage_is_open(run, id)) status = stage_wait(on, run, id);
  }
  return status;
}

/* ---- Playing them ------------------------------------------------------------------------------------------ */

static mend_status play_result(stage *on, played_run *run, const json_field fields[FIELD_COUNT],
                               const anthropic_message *message) {
  const mend_str id = stage_text(on, fields[TOOL_USE_ID].value);
  const mend_str content = fields[CONTENT].value;
  if (message->cancelled || is_refusal(content)) return stage_cancelled(on, run, id, stage_content_text(on, content));
  if (is_error_of_server(content)) {
    return stage_error(on, run, id, stage_text(on, json_member(content, MEND_STR("error_code"))));
  }
  if (fields[IS_ERROR].value.ptr != NULL ? mend__json_is_true(fields[IS_ERROR].value) : message->failed) {
    return stage_error(on, run, id, stage_content_text(on, content));
  }
  return stage_result(on, run, id, content);
}

static mend_status play_call(stage *on, played_run *run, const json_field fields[FIELD_COUNT],
                             const anthropic_message *message) {
  const mend_str id = stage_text(on, fields[ID].value), tool = stage_text(on, fields[NAME].value);
  if (message->on_call != NULL) message->on_call(message->ctx, id, tool, fields[INPUT].value);
  const mend_status status = stage_call(on, run, id, tool, fields[INPUT].value);
  const bool asks = message->asking != NULL && json_string_is_any_of(fields[NAME].value, message->asking);
  return status == MEND_OK && asks ? stage_wait(on, run, id) : status;
}

static mend_status play_block(stage *on, played_run *run, const json_field fields[FIELD_COUNT],
                              const anthropic_message *message) {
  const mend_str type = fields[TYPE].value;
  if (is_call(type)) return play_call(on, run, fields, message);
  if (is_result(type)) return play_result(on, run, fields, message);
  if (!message->by_assistant || !json_string_is(type, MEND_STR("text"))) return MEND_OK;
  return stage_model_text(on, run, message->model, stage_text(on, fields[TEXT].value));
}

mend_status anthropic_play_content(stage *on, played_run *run, mend_str content, const anthropic_message *message) {
  bool has_results = false;
  mend_status status = MEND_OK;
  if (message->by_assistant && mend__json_is_string(content)) {
    status = stage_model_text(on, run, message->model, stage_text(on, content));
  }
  mend__json_items blocks = mend__json_items_of(content);
  json_field fields[FIELD_COUNT] = {BLOCK_FIELDS(JSON_FIELD_ENTRY)};
  mend_str block;
  while (status == MEND_OK && json_items_next_fields(&blocks, fields, FIELD_COUNT, &block)) {
    has_results |= is_result(fields[TYPE].value);
    status = play_block(on, run, fields, message);
  }
  if (status != MEND_OK || has_results || !message->by_person) return status;
  return stage_user_message(on, run, stage_content_text(on, content));
}

stage_tokens anthropic_tokens(mend_str model, mend_str usage) {
  enum { READ, CACHED, CREATED, WRITTEN, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("input_tokens"), JSON_FIELD("cache_read_input_tokens"),
                              JSON_FIELD("cache_creation_input_tokens"), JSON_FIELD("output_tokens")};
  if (mend__json_is_object(usage)) json_fields_read(usage, fields, COUNT, NULL);
  const uint64_t cached = sum_of(json_count(fields[CACHED].value), json_count(fields[CREATED].value));
  return (stage_tokens){.model = model,
                        .input = sum_of(json_count(fields[READ].value), cached),
                        .output = json_count(fields[WRITTEN].value)};
}
