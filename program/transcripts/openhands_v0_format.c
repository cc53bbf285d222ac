/* Events of OpenHands before version 1: an array of them, an object that has them in `trajectory` or `history`, an
 * event a line, or such an object a line (then each line is a run of its own). An action is a call, the observation
 * whose cause it is its result. */
#include "program/base/json_fields.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"

#define EVENT_FIELDS(F)                                                                                                \
  F(ID, "id"), F(CAUSE, "cause"), F(TIMESTAMP, "timestamp"), F(SOURCE, "source"), F(ACTION, "action"),                 \
      F(OBSERVATION, "observation"), F(ARGS, "args"), F(CONTENT, "content"), F(EXTRAS, "extras"),                      \
      F(CALL_METADATA, "tool_call_metadata"), F(METRICS, "llm_metrics"), F(KIND, "kind"), F(HISTORY, "history")
enum { EVENT_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static const char *const containers[] = {"trajectory", "history", NULL};

/* What an agent does that no tool runs; `finish` is never answered. */
static const char *const no_calls[] = {"message",
                                       "system",
                                       "null",
                                       "finish",
                                       "reject",
                                       "recall",
                                       "condensation",
                                       "condensation_request",
                                       "loop_recovery",
                                       "pause",
                                       "resume",
                                       "stop",
                                       "change_agent_state",
                                       NULL};
/* Observations that answer nobody. */
static const char *const no_answers[] = {"null", "recall", NULL};
/* What an action has beside what the tool is told. */
static const char *const not_arguments[] = {"thought", "security_risk", NULL};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(mend__json_inside(fields[TIMESTAMP].value), ret_ns);
}

static format_view look_at_event(mend_str event) {
  json_field fields[FIELD_COUNT] = {EVENT_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(event, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (!mend__json_is_string(fields[ACTION].value) && !mend__json_is_string(fields[OBSERVATION].value)) {
    return (format_view){.reason = "no \"action\" or \"observation\""};
  }
  if (!mend__json_is_string(fields[SOURCE].value)) return (format_view){.reason = "no \"source\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

/* An event, or an action with its observation. */
static format_view look_at_step(mend_str step) {
  return mend__json_is_array(step) ? format_look_inside(step, look_at_event) : look_at_event(step);
}

static format_view look(mend_str row) {
  const mend_str history = json_member(row, MEND_STR("history"));
  return mend__json_is_array(history) ? format_look_inside(history, look_at_step) : look_at_step(row);
}

/* ---- Actions ----------------------------------------------------------------------------------------------- */

/* Several actions can come from one answer of the model, and each repeats its usage. Newer recordings have the total,
 * though not in every action: then only that counts. */
static mend_status play_usage(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str response) {
  enum { ANSWER, MODEL, USAGE, COUNT };
  json_field answer[COUNT] = {JSON_FIELD("id"), JSON_FIELD("model"), JSON_FIELD("usage")};
  if (mend__json_is_object(response)) json_fields_read(response, answer, COUNT, NULL);
  const mend_str metrics = fields[METRICS].value;
  const mend_str total = json_member(metrics, MEND_STR("accumulated_token_usage"));
  bool *has_totals = stage_state(on, sizeof *has_totals, NULL);
  if (has_totals == NULL) return MEND_ENOMEM;
  *has_totals |= mend__json_is_object(total);
  const mend_str usage = *has_totals ? total : answer[USAGE].value;
  const stage_tokens used = {.model = stage_text(on, answer[MODEL].value),
                             .input = json_count(json_member(usage, MEND_STR("prompt_tokens"))),
                             .output = json_count(json_member(usage, MEND_STR("completion_tokens"))),
                             .cost_usd = json_amount(json_member(metrics, MEND_STR("accumulated_cost")))};
  return stage_usage_so_far(on, run, *has_totals ? MEND_STR("total") : answer[ANSWER].value, &used);
}

static bool is_thinking(const json_field fields[FIELD_COUNT]) {
  return json_string_is(fields[ACTION].value, MEND_STR("think"));
}

static mend_status play_call(stage *on, played_run *run, const json_field fields[FIELD_COUNT], mend_str function) {
  mend_str tool = mend__json_is_string(function) ? function : fields[ACTION].value;
  mend_str arguments = fields[ARGS].value; /* of thinking, the thought */
  if (!is_thinking(fields)) arguments = stage_without(on, arguments, not_arguments);
  if (json_string_is(fields[ACTION].value, MEND_STR("call_tool_mcp"))) {
    tool = json_member(fields[ARGS].value, MEND_STR("name"));
    arguments = json_member(fields[ARGS].value, MEND_STR("arguments"));
  }
  return stage_call(on, run, fields[ID].value, stage_text(on, tool), arguments);
}

static mend_status play_agent_action(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  enum { FUNCTION, RESPONSE, COUNT };
  json_field metadata[COUNT] = {JSON_FIELD("function_name"), JSON_FIELD("model_response")};
  if (mend__json_is_object(fields[CALL_METADATA].value))
    json_fields_read(fields[CALL_METADATA].value, metadata, COUNT, NULL);
  const mend_str action = fields[ACTION].value;
  const bool speaks = json_string_is(action, MEND_STR("message"));
  const mend_str said = json_member(fields[ARGS].value, speaks ? MEND_STR("content") : MEND_STR("thought"));
  mend_status status = play_usage(on, run, fields, metadata[RESPONSE].value);
  if (status == MEND_OK && !is_thinking(fields))
    status = stage_model_text(on, run, (mend_str){NULL, 0}, stage_text(on, said));
  if (status != MEND_OK) return status;
  if (json_string_is(action, MEND_STR("condensation"))) return stage_compact(on, run, MEND_NONE, MEND_NONE);
  if (json_string_is(action, MEND_STR("finish"))) return stage_agent_end(on, run);
  if (json_string_is_any_of(action, no_calls)) return MEND_OK;
  return play_call(on, run, fields, metadata[FUNCTION].value);
}

static mend_status play_action(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  if (json_string_is(fields[SOURCE].value, MEND_STR("agent"))) return play_agent_action(on, run, fields);
  const bool spoken = json_string_is(fields[SOURCE].value, MEND_STR("user")) &&
                      json_string_is(fields[ACTION].value, MEND_STR("message"));
  if (!spoken) return MEND_OK;
  return stage_user_message(on, run, stage_text(on, json_member(fields[ARGS].value, MEND_STR("content"))));
}

/* ---- Observations ------------------------------------------------------------------------------------------ */

/* -1 is that of a command that has not ended. */
static bool has_failed(const json_field fields[FIELD_COUNT]) {
  static const char *const failures[] = {"error", "user_rejected", NULL};
  if (json_string_is_any_of(fields[OBSERVATION].value, failures)) return true;
  const mend_str code = json_member(fields[EXTRAS].value, MEND_STR("exit_code"));
  const mend_str metadata = json_member(fields[EXTRAS].value, MEND_STR("metadata"));
  return json_count(code) > 0 || json_count(json_member(metadata, MEND_STR("exit_code"))) > 0;
}

static mend_status play_state(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  static const char *const ends[] = {"awaiting_user_input", "finished", "rejected", "stopped", "paused", "error", NULL};
  static const char *const begins[] = {"running", "user_confirmed", "user_rejected", NULL};
  const mend_str state = json_member(fields[EXTRAS].value, MEND_STR("agent_state"));
  if (json_string_is(state, MEND_STR("awaiting_user_confirmation"))) return stage_wait(on, run, (mend_str){NULL, 0});
  if (json_string_is_any_of(state, ends)) return stage_agent_end(on, run);
  return json_string_is_any_of(state, begins) ? stage_go_on(on, run) : MEND_OK;
}

static mend_status play_observation(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const mend_str id = fields[CAUSE].value;
  if (json_string_is(fields[OBSERVATION].value, MEND_STR("agent_state_changed"))) return play_state(on, run, fields);
  if (!mend__json_is_number(id)) return MEND_OK;
  if (!stage_is_open(run, id) && json_string_is_any_of(fields[OBSERVATION].value, no_answers)) return MEND_OK;
  if (has_failed(fields)) return stage_error(on, run, id, stage_content_text(on, fields[CONTENT].value));
  return stage_result(on, run, id, fields[CONTENT].value);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_status play_event(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  uint64_t ts_ns;
  const mend_status status = row_time(fields, &ts_ns) ? stage_at(on, ts_ns) : MEND_OK;
  if (status != MEND_OK) return status;
  if (mend__json_is_string(fields[OBSERVATION].value)) return play_observation(on, run, fields);
  return mend__json_is_string(fields[ACTION].value) ? play_action(on, run, fields) : MEND_OK;
}

static mend_status play_event_text(stage *on, played_run *run, mend_str event) {
  json_field fields[FIELD_COUNT] = {EVENT_FIELDS(JSON_FIELD_ENTRY)};
  return json_fields_read(event, fields, FIELD_COUNT, NULL) == MEND_OK ? play_event(on, run, fields) : MEND_OK;
}

static mend_status play_pair(stage *on, played_run *run, mend_str pair) {
  mend__json_items events = mend__json_items_of(pair);
  mend_str event;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&events, &event))
    status = play_event_text(on, run, event);
  return status;
}

static mend_status play_history(stage *on, played_run *run, mend_str history) {
  mend__json_items steps = mend__json_items_of(history);
  mend_str step;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&steps, &step))
    status = mend__json_is_array(step) ? play_pair(on, run, step) : play_event_text(on, run, step);
  return status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {EVENT_FIELDS(JSON_FIELD_ENTRY)};
  const bool pair = mend__json_is_array(row->text);
  mend_status status = pair ? mend_json_check(row->text, MEND_JSON_DEPTH_MAX, error)
                            : json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  const bool whole_run = mend__json_is_array(fields[HISTORY].value);
  if (!pair && !whole_run && !mend__json_is_string(fields[ACTION].value) &&
      !mend__json_is_string(fields[OBSERVATION].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: an event has a string \"action\" or \"observation\"");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  status = whole_run ? stage_row_run(on, &run, error) : stage_run(on, &options, &run, error);
  if (status != MEND_OK) return status;
  if (pair) return play_pair(on, run, row->text);
  return whole_run ? play_history(on, run, fields[HISTORY].value) : play_event(on, run, fields);
}

const format openhands_v0_format = {.name = "openhands-v0",
                                    .title = "OpenHands events (version 0)",
                                    .containers = containers,
                                    .has_clock = true,
                                    .look = look,
                                    .play = play};
