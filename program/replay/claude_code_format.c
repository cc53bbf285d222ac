/* Sessions of Claude Code: JSONL, a run is a session; rows of a sidechain (a subagent) are a run of their own with the
 * session as parent. */
#include "program/replay/format.h"
#include "program/replay/iso_time.h"
#include "program/replay/json_fields.h"

enum { TYPE, SESSION, UUID, LEAF, SIDECHAIN, AGENT, META, TIMESTAMP, MESSAGE, PAYLOAD, FIELD_COUNT };
#define ROW_FIELDS                                                                                                     \
  {                                                                                                                    \
    JSON_FIELD("type"), JSON_FIELD("sessionId"), JSON_FIELD("uuid"), JSON_FIELD("leafUuid"),                           \
        JSON_FIELD("isSidechain"), JSON_FIELD("agentId"), JSON_FIELD("isMeta"), JSON_FIELD("timestamp"),               \
        JSON_FIELD("message"), JSON_FIELD("payload")                                                                   \
  }

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(json_string_inside(fields[TIMESTAMP].value), ret_ns);
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = ROW_FIELDS;
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK)
    return (format_view){.reason = "not JSON objects, one a line"};
  if (!json_is_string(fields[TYPE].value)) return (format_view){.reason = "no \"type\""};
  const bool named =
      json_is_string(fields[SESSION].value) || json_is_string(fields[UUID].value) || json_is_string(fields[LEAF].value);
  if (!named || fields[PAYLOAD].value.ptr != NULL) return (format_view){.reason = "no \"sessionId\" or \"uuid\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

enum { B_TYPE, B_ID, B_NAME, B_INPUT, B_TOOL_USE_ID, B_CONTENT, B_IS_ERROR, B_TEXT, BLOCK_COUNT };
#define BLOCK_FIELDS                                                                                                   \
  {                                                                                                                    \
    JSON_FIELD("type"), JSON_FIELD("id"), JSON_FIELD("name"), JSON_FIELD("input"), JSON_FIELD("tool_use_id"),          \
        JSON_FIELD("content"), JSON_FIELD("is_error"), JSON_FIELD("text")                                              \
  }

/* Text given as a string, or as the first text among parts, which may be plain strings. */
static mend_str first_text(stage *on, mend_str content) {
  json_elements parts = json_elements_of(content);
  mend_str part;
  while (json_elements_next(&parts, &part)) {
    json_field text = JSON_FIELD("text");
    if (json_is_string(part)) return stage_text(on, part);
    if (json_is_object(part) && json_fields_read(part, &text, 1, NULL) == MEND_OK && json_is_string(text.value)) {
      return stage_text(on, text.value);
    }
  }
  return stage_text(on, content);
}

static mend_status play_block(stage *on, played_run *run, mend_str block, bool *saw_result) {
  json_field fields[BLOCK_COUNT] = BLOCK_FIELDS;
  if (!json_is_object(block)) return MEND_OK;
  json_fields_read(block, fields, BLOCK_COUNT, NULL);
  if (json_string_is(fields[B_TYPE].value, MEND_STR("tool_use"))) {
    return stage_call(on, run, stage_text(on, fields[B_ID].value), stage_text(on, fields[B_NAME].value),
                      fields[B_INPUT].value);
  }
  if (!json_string_is(fields[B_TYPE].value, MEND_STR("tool_result"))) return MEND_OK;
  *saw_result = true;
  const mend_str id = stage_text(on, fields[B_TOOL_USE_ID].value);
  if (json_is_true(fields[B_IS_ERROR].value)) return stage_error(on, run, id, first_text(on, fields[B_CONTENT].value));
  return stage_result(on, run, id, fields[B_CONTENT].value);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_status find_run(stage *on, const json_field fields[FIELD_COUNT], played_run **ret_run, mend_error *error) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = stage_text(on, fields[SESSION].value);
  options.session_id = options.id;
  if (json_is_true(fields[SIDECHAIN].value)) {
    const mend_str agent = stage_text(on, fields[AGENT].value);
    options.parent_id = options.id;
    options.agent = agent;
    mend__buffer_clear(&on->scratch);
    mend__buffer_str(&on->scratch, options.id.len > 0 ? options.id : mend_str_from(on->default_run));
    mend__buffer_str(&on->scratch, MEND_STR("/sidechain"));
    if (agent.len > 0) mend__buffer_char(&on->scratch, '/');
    mend__buffer_str(&on->scratch, agent);
    if (on->scratch.failed) return MEND_ENOMEM;
    options.id = mend__buffer_text(&on->scratch);
  }
  return stage_run(on, &options, ret_run, error);
}

/* What a person typed: not what a sidechain was told, nor what the program put in. */
static bool is_from_person(const json_field fields[FIELD_COUNT]) {
  return json_string_is(fields[TYPE].value, MEND_STR("user")) && !json_is_true(fields[SIDECHAIN].value) &&
         !json_is_true(fields[META].value);
}

static mend_status play_content(stage *on, const json_field fields[FIELD_COUNT], mend_str content, mend_error *error) {
  played_run *run;
  mend_status status = find_run(on, fields, &run, error);
  bool saw_result = false;
  json_elements blocks = json_elements_of(content);
  mend_str block;
  while (status == MEND_OK && json_elements_next(&blocks, &block))
    status = play_block(on, run, block, &saw_result);
  if (status != MEND_OK || saw_result || !is_from_person(fields)) return status;
  return stage_user_message(on, run, first_text(on, content));
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = ROW_FIELDS;
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!json_is_string(fields[TYPE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a row has a string \"type\"");
  }
  uint64_t ts_ns;
  if (row_time(fields, &ts_ns)) status = stage_at(on, ts_ns);
  const bool speaks =
      json_string_is(fields[TYPE].value, MEND_STR("user")) || json_string_is(fields[TYPE].value, MEND_STR("assistant"));
  json_field content = JSON_FIELD("content");
  if (status != MEND_OK || !speaks || !json_is_object(fields[MESSAGE].value)) return status;
  json_fields_read(fields[MESSAGE].value, &content, 1, NULL);
  return content.value.ptr != NULL ? play_content(on, fields, content.value, error) : MEND_OK;
}

const format claude_code_format = {
    .name = "claude-code", .title = "Claude Code session", .has_clock = true, .look = look, .play = play};
