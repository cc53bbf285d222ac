/* Events of OpenHands from version 1 on: an event a line, an array of them, or an object that has them in `events` or
 * `items`. */
#include "program/base/json_fields.h"
#include "program/base/sums.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"

#define EVENT_FIELDS(F)                                                                                                \
  F(KIND, "kind"), F(TIMESTAMP, "timestamp"), F(SOURCE, "source"), F(TOOL, "tool_name"), F(CALL_ID, "tool_call_id"),   \
      F(CALL, "tool_call"), F(ACTION, "action"), F(THOUGHT, "thought"), F(CRITIC, "critic_result"),                    \
      F(OBSERVATION, "observation"), F(ERROR, "error"), F(REJECTION, "rejection_reason"), F(MESSAGE, "llm_message"),   \
      F(KEY, "key"), F(VALUE, "value")
enum { EVENT_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

static const char *const containers[] = {"events", "items", NULL};

/* What the model says about a call among its arguments, another text each time. */
static const char *const not_arguments[] = {"summary", "security_risk", "kind", NULL};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(mend__json_inside(fields[TIMESTAMP].value), ret_ns);
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {EVENT_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  const mend_str kind = fields[KIND].value;
  const bool known = json_string_ends_with(kind, MEND_STR("Event")) ||
                     json_string_ends_with(kind, MEND_STR("Observation")) ||
                     json_string_is(kind, MEND_STR("Condensation"));
  if (!known) return (format_view){.reason = "no \"kind\" of an event"};
  if (!mend__json_is_string(fields[SOURCE].value)) return (format_view){.reason = "no \"source\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

/* ---- Kinds of events --------------------------------------------------------------------------------------- */

static mend_status play_action(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const mend_str id = stage_text(on, fields[CALL_ID].value);
  const mend_str told = json_member(fields[CALL].value, MEND_STR("arguments"));
  const mend_str arguments = told.ptr != NULL ? stage_nested_json(on, told) : fields[ACTION].value;
  mend_status status = stage_model_text(on, run, (mend_str){NULL, 0}, stage_content_text(on, fields[THOUGHT].value));
  if (status != MEND_OK) return status;
  status = stage_call(on, run, id, stage_text(on, fields[TOOL].value), stage_without(on, arguments, not_arguments));
  const mend_str score = json_member(fields[CRITIC].value, MEND_STR("score"));
  if (status != MEND_OK || !mend__json_is_number(score)) return status;
  return stage_reading(on, run, id, MEND_STR("critic"), mend_json_double(score));
}

static mend_status play_observation(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  enum { CONTENT, IS_ERROR, EXIT_CODE, COUNT };
  json_field inside[COUNT] = {JSON_FIELD("content"), JSON_FIELD("is_error"), JSON_FIELD("exit_code")};
  const mend_str id = stage_text(on, fields[CALL_ID].value), observation = fields[OBSERVATION].value;
  if (mend__json_is_object(observation)) json_fields_read(observation, inside, COUNT, NULL);
  const mend_str content = inside[CONTENT].value.ptr != NULL ? inside[CONTENT].value : observation;
  const bool failed = mend__json_is_true(inside[IS_ERROR].value) || json_count(inside[EXIT_CODE].value) > 0;
  return failed ? stage_error(on, run, id, stage_content_text(on, content)) : stage_result(on, run, id, content);
}

static mend_status play_agent_error(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  return stage_error(on, run, stage_text(on, fields[CALL_ID].value), stage_text(on, fields[ERROR].value));
}

static mend_status play_rejection(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  return stage_error(on, run, stage_text(on, fields[CALL_ID].value), stage_text(on, fields[REJECTION].value));
}

static mend_status play_message(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const mend_str text = stage_content_text(on, json_member(fields[MESSAGE].value, MEND_STR("content")));
  if (json_string_is(fields[SOURCE].value, MEND_STR("user"))) return stage_user_message(on, run, text);
  return stage_model_text(on, run, (mend_str){NULL, 0}, text);
}

static mend_status play_condensation(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  (void)fields;
  return stage_compact(on, run, MEND_NONE, MEND_NONE);
}

/* Totals of the agent, its condenser and so on, which all count. */
static stage_tokens read_metrics(stage *on, mend_str metrics) {
  enum { MODEL, COST, USAGE, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("model_name"), JSON_FIELD("accumulated_cost"),
                              JSON_FIELD("accumulated_token_usage")};
  if (mend__json_is_object(metrics)) json_fields_read(metrics, fields, COUNT, NULL);
  return (stage_tokens){.model = stage_text(on, fields[MODEL].value),
                        .input = json_count(json_member(fields[USAGE].value, MEND_STR("prompt_tokens"))),
                        .output = json_count(json_member(fields[USAGE].value, MEND_STR("completion_tokens"))),
                        .cost_usd = json_amount(fields[COST].value)};
}

static mend_status play_status(stage *on, played_run *run, mend_str status) {
  static const char *const ends[] = {"idle", "paused", "finished", "error", "stuck", NULL};
  if (json_string_is(status, MEND_STR("waiting_for_confirmation"))) return stage_wait(on, run, (mend_str){NULL, 0});
  if (json_string_is(status, MEND_STR("running"))) return stage_go_on(on, run);
  return json_string_is_any_of(status, ends) ? stage_agent_end(on, run) : MEND_OK;
}

static mend_status play_state(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  const bool all = json_string_is(fields[KEY].value, MEND_STR("full_state"));
  if (json_string_is(fields[KEY].value, MEND_STR("execution_status"))) return play_status(on, run, fields[VALUE].value);
  if (!all && !json_string_is(fields[KEY].value, MEND_STR("stats"))) return MEND_OK;
  const mend_str stats = all ? json_member(fields[VALUE].value, MEND_STR("stats")) : fields[VALUE].value;
  const mend_str uses = json_member(stats, MEND_STR("usage_to_metrics"));
  stage_tokens total = {.cost_usd = 0};
  mend_json json;
  mend_json_init(&json, uses, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return MEND_OK;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    mend_str metrics;
    if (mend_json_value(&json, &metrics) != MEND_OK) break;
    const stage_tokens used = read_metrics(on, metrics);
    if (total.model.len == 0) total.model = used.model;
    total.input = sum_of(total.input, used.input);
    total.output = sum_of(total.output, used.output);
    total.cost_usd += used.cost_usd;
  }
  return stage_usage_so_far(on, run, MEND_STR("total"), &total);
}

static mend_status play_pause(stage *on, played_run *run, const json_field fields[FIELD_COUNT]) {
  (void)fields;
  return stage_agent_end(on, run);
}

static const struct {
  const char *kind;
  mend_status (*play)(stage *on, played_run *run, const json_field fields[FIELD_COUNT]);
} kinds[] = {
    {"ActionEvent", play_action},
    {"ObservationEvent", play_observation},
    {"AgentErrorEvent", play_agent_error},
    {"UserRejectObservation", play_rejection},
    {"MessageEvent", play_message},
    {"Condensation", play_condensation},
    {"ConversationStateUpdateEvent", play_state},
    {"PauseEvent", play_pause},
};

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {EVENT_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[KIND].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: an event has a string \"kind\"");
  }
  uint64_t ts_ns;
  if (row_time(fields, &ts_ns)) status = stage_at(on, ts_ns);
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  played_run *run;
  if (status == MEND_OK) status = stage_run(on, &options, &run, error);
  for (size_t i = 0; status == MEND_OK && i < sizeof kinds / sizeof kinds[0]; i++) {
    if (json_string_is(fields[KIND].value, mend_str_from(kinds[i].kind))) return kinds[i].play(on, run, fields);
  }
  return status;
}

const format openhands_v1_format = {.name = "openhands-v1",
                                    .title = "OpenHands events (version 1)",
                                    .containers = containers,
                                    .has_clock = true,
                                    .look = look,
                                    .play = play};
