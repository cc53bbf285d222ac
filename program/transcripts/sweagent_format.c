/* Trajectories of SWE-agent: a document whose `trajectory` has steps with an action and what was observed, or whose
 * `history` has messages. There is no clock: a step says at most how long it took. */
#include "core/text.h"
#include "program/base/json_fields.h"
#include "program/transcripts/format.h"
#include "program/transcripts/shell_calls.h"

#define ROW_FIELDS(F)                                                                                                  \
  F(ACTION, "action"), F(OBSERVATION, "observation"), F(RESPONSE, "response"), F(THOUGHT, "thought"),                  \
      F(STATE, "state"), F(ROLE, "role"), F(CONTENT, "content"), F(TYPE, "message_type"), F(AGENT, "agent"),           \
      F(CALLS, "tool_calls"), F(CALL_IDS, "tool_call_ids"), F(DEMO, "is_demo"), F(SOURCE, "source")
enum { ROW_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

/* Observations that hold these are the environment's own: the command did not do what it was to do. */
static const char *const failures[] = {
    "EXECUTION TIMED OUT",
    "RESTARTING PROCESS",
    "was cancelled because it took more than",
    "is not supported by this environment",
    "Your proposed edit has introduced new syntax error",
};

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static fit look_at_document(mend_str beginning) {
  enum { TRAJECTORY, HISTORY, MESSAGES, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("trajectory"), JSON_FIELD("history"), JSON_FIELD("messages")};
  json_fields_peek(beginning, fields, COUNT);
  if (mend__json_is_array(fields[TRAJECTORY].value)) return FIT_YES;
  return mend__json_is_array(fields[HISTORY].value) && fields[MESSAGES].value.ptr == NULL ? FIT_YES : FIT_MAYBE;
}

static bool is_step(const json_field fields[FIELD_COUNT]) {
  return mend__json_is_string(fields[ACTION].value) && mend__json_is_string(fields[OBSERVATION].value);
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (mend__json_is_string(fields[ROLE].value)) {
    const bool told = mend__json_is_string(fields[TYPE].value) || mend__json_is_string(fields[AGENT].value);
    return (format_view){.fit = told ? FIT_YES : FIT_NO, .reason = "messages without \"message_type\" or \"agent\""};
  }
  if (mend__json_is_string(fields[SOURCE].value)) {
    return (format_view){.fit = FIT_NEVER, .reason = "a \"source\", which OpenHands has"};
  }
  if (!is_step(fields)) return (format_view){.reason = "no \"action\" with an \"observation\""};
  const bool told =
      fields[RESPONSE].value.ptr != NULL || fields[THOUGHT].value.ptr != NULL || fields[STATE].value.ptr != NULL;
  return (format_view){.fit = told ? FIT_YES : FIT_MAYBE};
}

/* ---- Playing it -------------------------------------------------------------------------------------------- */

/* What the format remembers. */
typedef struct talk {
  shell_calls commands;
  bool begun; /* the agent has spoken: it is asked by nobody any more */
} talk;

static bool take_end(mend_str *text, mend_str end) {
  if (!mend__ends_with(*text, end)) return false;
  text->len -= end.len;
  return true;
}

/* Takes the last line when it begins so. */
static void take_last_line(mend_str *text, mend_str beginning) {
  const char *feed = text->len > 0 ? memrchr(text->ptr, '\n', text->len) : NULL;
  const char *line = feed != NULL ? feed + 1 : text->ptr, *end = text->ptr + text->len;
  if ((size_t)(end - line) < beginning.len || memcmp(line, beginning.ptr, beginning.len) != 0) return;
  text->len = (size_t)((feed != NULL ? feed : line) - text->ptr);
}

/* Older versions end what was observed with the state of the shell: it is no part of the answer. */
static mend_str without_prompt(mend_str observation) {
  mend_str rest = observation;
  while (take_end(&rest, MEND_STR(" ")) || take_end(&rest, MEND_STR("\n"))) {
  }
  if (!take_end(&rest, MEND_STR("bash-$"))) return observation;
  take_end(&rest, MEND_STR("\n"));
  take_last_line(&rest, MEND_STR("(Current directory: "));
  take_last_line(&rest, MEND_STR("(Open file: "));
  return rest;
}

static bool is_failure(mend_str observation) {
  bool found = false;
  for (size_t i = 0; observation.len > 0 && !found && i < sizeof failures / sizeof failures[0]; i++)
    found = memmem(observation.ptr, observation.len, failures[i], strlen(failures[i])) != NULL;
  return found;
}

static mend_status play_said(stage *on, played_run *run, talk *of, mend_str text) {
  of->begun = true;
  return text.len > 0 ? stage_model_text(on, run, (mend_str){NULL, 0}, text) : MEND_OK;
}

static mend_status play_command(stage *on, played_run *run, talk *of, mend_str action) {
  const mend_str command = mend__trim(stage_text(on, action));
  return command.len > 0 ? shell_call(on, run, &of->commands, command) : MEND_OK;
}

static mend_status play_step(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT]) {
  mend_status status = play_said(on, run, of, stage_text(on, fields[RESPONSE].value));
  if (status == MEND_OK) status = play_command(on, run, of, fields[ACTION].value);
  if (status != MEND_OK || !of->commands.open) return status;
  const mend_str observation = without_prompt(stage_text(on, fields[OBSERVATION].value));
  return shell_answer(on, run, &of->commands, observation, is_failure(observation));
}

static mend_status play_call(stage *on, played_run *run, mend_str call) {
  enum { ID, FUNCTION, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("id"), JSON_FIELD("function")};
  if (!mend__json_is_object(call)) return MEND_OK;
  json_fields_read(call, fields, COUNT, NULL);
  const mend_str name = json_member(fields[FUNCTION].value, MEND_STR("name"));
  const mend_str arguments = json_member(fields[FUNCTION].value, MEND_STR("arguments"));
  return stage_call(on, run, stage_text(on, fields[ID].value), stage_text(on, name), stage_nested_json(on, arguments));
}

static mend_status play_reply(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT]) {
  mend_status status = play_said(on, run, of, stage_content_text(on, fields[CONTENT].value));
  mend__json_items calls = mend__json_items_of(fields[CALLS].value);
  mend_str call;
  bool any = false;
  while (status == MEND_OK && mend__json_items_next(&calls, &call)) {
    any = true;
    status = play_call(on, run, call);
  }
  return status != MEND_OK || any ? status : play_command(on, run, of, fields[ACTION].value);
}

static mend_status play_results(stage *on, played_run *run, mend_str call_ids, mend_str observation) {
  mend__json_items ids = mend__json_items_of(call_ids);
  mend_str id;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&ids, &id)) {
    const mend_str call = stage_text(on, id);
    status =
        is_failure(observation) ? stage_error(on, run, call, observation) : shell_result(on, run, call, observation);
  }
  return status;
}

static mend_status play_message(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT]) {
  const mend_str role = fields[ROLE].value;
  const bool demo =
      mend__json_is_true(fields[DEMO].value) || json_string_is(fields[TYPE].value, MEND_STR("demonstration"));
  if (demo) return MEND_OK;
  if (json_string_is(role, MEND_STR("assistant"))) return play_reply(on, run, of, fields);
  const mend_str text = without_prompt(stage_content_text(on, fields[CONTENT].value));
  if (mend__json_is_array(fields[CALL_IDS].value)) return play_results(on, run, fields[CALL_IDS].value, text);
  if (of->commands.open) return shell_answer(on, run, &of->commands, text, is_failure(text));
  const bool asked = json_string_is(role, MEND_STR("user")) && !of->begun;
  return asked ? stage_user_message(on, run, text) : MEND_OK;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  const bool is_message = mend__json_is_string(fields[ROLE].value);
  if (!is_message && !is_step(fields)) {
    return mend_error_set(error, MEND_EINVAL, "not a step: no \"action\" with an \"observation\", and no \"role\"");
  }
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  talk *of = stage_state(on, sizeof *of, NULL);
  played_run *run;
  status = of != NULL ? stage_run(on, &options, &run, error) : MEND_ENOMEM;
  if (status != MEND_OK) return status;
  return is_message ? play_message(on, run, of, fields) : play_step(on, run, of, fields);
}

static const char *const containers[] = {"trajectory", "history", NULL};
const format sweagent_format = {.name = "swe-agent",
                                .title = "SWE-agent trajectory",
                                .containers = containers,
                                .look_at_document = look_at_document,
                                .look = look,
                                .play = play};
