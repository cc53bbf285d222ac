/* Rollouts of Codex: JSONL, a run a file; each row has a time and a payload. What is said and done are items of the
 * Responses API; rows of type event_msg tell the same once more, and what people said, tokens and errors. */
#include "core/text.h"
#include "program/base/json_fields.h"
#include "program/base/sums.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"
#include "program/transcripts/responses_items.h"
#include "program/transcripts/shell_calls.h"

#include <stdio.h>

#define ROW_FIELDS(F) F(TYPE, "type"), F(TIMESTAMP, "timestamp"), F(PAYLOAD, "payload")
enum { ROW_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

#define PAYLOAD_FIELDS(F)                                                                                              \
  F(P_TYPE, "type"), F(P_ID, "id"), F(P_MODEL, "model"), F(P_MESSAGE, "message"), F(P_INFO, "info"),                   \
      F(P_SOURCE, "source"), F(P_CALL_ID, "call_id"), F(P_OUTPUT, "output")
enum { PAYLOAD_FIELDS(JSON_FIELD_INDEX), PAYLOAD_COUNT };

/* What rows say about the rows after them. */
typedef struct rollout {
  char session[256]; /* the first one named: a fork repeats what it was forked from */
  char parent[256];  /* whose agent this is; empty for none */
  char model[128];
  uint64_t context; /* tokens of the last request; 0 when nothing is known */
} rollout;

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(mend__json_inside(fields[TIMESTAMP].value), ret_ns);
}

static format_view look(mend_str row) {
  static const char *const types[] = {"session_meta", "response_item", "event_msg", "turn_context", "compacted", NULL};
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) {
    return (format_view){.reason = "not JSON objects, one a line"};
  }
  if (!mend__json_is_object(fields[PAYLOAD].value)) return (format_view){.reason = "no \"payload\""};
  if (!json_string_is_any_of(fields[TYPE].value, types)) return (format_view){.reason = "no \"type\" of a rollout"};
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

/* ---- What a call returned ---------------------------------------------------------------------------------- */

static bool take_beginning(mend_str *text, mend_str beginning) {
  if (!mend__begins_with(*text, beginning)) return false;
  *text = (mend_str){text->ptr + beginning.len, text->len - beginning.len};
  return true;
}

/* The next line of a JSON string, still escaped. */
static bool take_line(mend_str *text, mend_str *ret_line) {
  const char *feed = text->len > 0 ? memmem(text->ptr, text->len, "\\n", 2) : NULL;
  if (feed == NULL) return false;
  *ret_line = (mend_str){text->ptr, (size_t)(feed - text->ptr)};
  *text = (mend_str){feed + 2, text->len - ret_line->len - 2};
  return true;
}

/* Some lines may come before the output: how long it took, a number that is another one each time, the exit code.
 * Leaves what follows in *text, when there are such lines. */
static bool take_preamble(mend_str *text, mend_str *ret_code) {
  enum { LINES_MAX = 8 };
  mend_str rest = *text, line;
  bool found = false;
  for (int i = 0; i < LINES_MAX && take_line(&rest, &line); i++) {
    mend_str code = line;
    if (take_beginning(&code, MEND_STR("Exit code: ")) ||
        take_beginning(&code, MEND_STR("Process exited with code "))) {
      *ret_code = code;
      found = true;
    }
    if (mend_str_equal(line, MEND_STR("Output:"))) {
      *text = rest;
      return true;
    }
  }
  return found;
}

/* What Codex says itself when there was nothing to run. */
static const char *const failures[] = {"unsupported call: ", "failed to parse function arguments",
                                       "exec_command failed", "apply_patch verification failed", NULL};

/* And when a person would not have the call, */
static const char *const refusals[] = {"exec command rejected by user", "patch rejected by user", "rejected by user",
                                       NULL};

static bool is_refusal(mend_str output) { return json_string_begins_with_any_of(output, refusals); }

/* or stopped it while it ran. */
static bool is_abort(mend_str output) {
  static const char *const aborts[] = {"aborted by user", NULL};
  return json_string_begins_with_any_of(output, aborts) || json_string_is(output, MEND_STR("aborted"));
}

/* Output of a shell: the text alone, without what differs each time. */
static responses_output read_text(stage *on, mend_str string, mend_str arguments) {
  mend_str text = mend__json_inside(string), code = {NULL, 0};
  responses_output output = {string, json_string_begins_with_any_of(string, failures),
                             is_refusal(string) || is_abort(string)};
  if (!take_preamble(&text, &code)) return output;
  if (code.len > 0) output.failed = shell_failed(code, text, arguments);
  if (text.len == string.len - 2) return output;
  mend__buffer_clear(&on->scratch);
  mend__buffer_char(&on->scratch, '"');
  mend__buffer_str(&on->scratch, text);
  mend__buffer_char(&on->scratch, '"');
  output.value = mend__buffer_text(&on->scratch);
  if (on->scratch.failed) on->failure = MEND_ENOMEM;
  return output;
}

/* Older ones are JSON in a string, {"output":"...","metadata":{"exit_code":1}}, or objects, {"content":"...",
 * "success":false}. */
static responses_output read_output(stage *on, mend_str value, mend_str arguments) {
  enum { OUTPUT, METADATA, CONTENT, SUCCESS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("output"), JSON_FIELD("metadata"), JSON_FIELD("content"),
                              JSON_FIELD("success")};
  const mend_str inside = mend__json_inside(value);
  const bool nested = inside.len > 0 && inside.ptr[0] == '{';
  const mend_str object = nested ? stage_nested_json(on, value) : value;
  if (mend__json_is_string(object)) return read_text(on, object, arguments);
  if (!mend__json_is_object(object)) return (responses_output){.value = value};
  json_fields_read(object, fields, COUNT, NULL);
  const mend_str code = json_member(fields[METADATA].value, MEND_STR("exit_code"));
  const mend_str output = fields[nested ? OUTPUT : CONTENT].value;
  const bool failed = nested ? shell_failed(code, mend__json_inside(output), arguments)
                             : mend_str_equal(fields[SUCCESS].value, MEND_STR("false"));
  const bool known = output.ptr != NULL && (code.ptr != NULL || !nested); /* tools have JSON of their own */
  return (responses_output){known ? output : value, failed, known && (is_refusal(output) || is_abort(output))};
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static void keep(char *place, size_t size, mend_str text) {
  if (text.len > 0 && text.len < size) snprintf(place, size, "%.*s", MEND_STR_ARG(text));
}

/* {"subagent":{"thread_spawn":{"parent_thread_id":"..."}}} */
static mend_str parent_of(mend_str origin) {
  const mend_str spawn = json_member(json_member(origin, MEND_STR("subagent")), MEND_STR("thread_spawn"));
  return json_member(spawn, MEND_STR("parent_thread_id"));
}

static void keep_session(stage *on, rollout *of, const json_field payload[PAYLOAD_COUNT]) {
  if (of->session[0] != '\0') return;
  keep(of->session, sizeof of->session, stage_text(on, payload[P_ID].value));
  keep(of->parent, sizeof of->parent, stage_text(on, parent_of(payload[P_SOURCE].value)));
}

static stage_tokens read_tokens(mend_str usage) {
  enum { READ, WRITTEN, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("input_tokens"), JSON_FIELD("output_tokens")};
  if (mend__json_is_object(usage)) json_fields_read(usage, fields, COUNT, NULL);
  return (stage_tokens){.input = json_count(fields[READ].value), .output = json_count(fields[WRITTEN].value)};
}

static mend_status play_tokens(stage *on, played_run *run, rollout *of, mend_str info) {
  enum { TOTAL, LAST, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("total_token_usage"), JSON_FIELD("last_token_usage")};
  if (!mend__json_is_object(info)) return MEND_OK;
  json_fields_read(info, fields, COUNT, NULL);
  const stage_tokens last = read_tokens(fields[LAST].value);
  of->context = sum_of(last.input, last.output);
  stage_tokens total = read_tokens(fields[TOTAL].value);
  total.model = mend_str_from(of->model);
  return stage_usage_so_far(on, run, MEND_STR("session"), &total);
}

static mend_status play_abort(stage *on, played_run *run) {
  const mend_status status = stage_cancel_open(on, run, MEND_STR("turn_aborted"));
  return status == MEND_OK ? stage_agent_end(on, run) : status;
}

/* Somebody is asked whether a call may run. */
static mend_status play_question(stage *on, played_run *run, mend_str call_id) {
  const mend_str id = stage_text(on, call_id);
  return stage_is_open(run, id) ? stage_wait(on, run, id) : MEND_OK;
}

static mend_status play_event(stage *on, played_run *run, rollout *of, const json_field payload[PAYLOAD_COUNT]) {
  static const char *const ends[] = {"task_complete", "turn_complete", NULL};
  const mend_str type = payload[P_TYPE].value;
  if (json_string_is(type, MEND_STR("user_message"))) {
    return stage_user_message(on, run, stage_text(on, payload[P_MESSAGE].value));
  }
  if (json_string_is(type, MEND_STR("token_count"))) return play_tokens(on, run, of, payload[P_INFO].value);
  if (json_string_is_any_of(type, ends)) return stage_agent_end(on, run);
  if (json_string_is(type, MEND_STR("turn_aborted"))) return play_abort(on, run);
  if (json_string_ends_with(type, MEND_STR("_approval_request"))) {
    return play_question(on, run, payload[P_CALL_ID].value);
  }
  if (!json_string_is(type, MEND_STR("error")) && !json_string_is(type, MEND_STR("stream_error"))) return MEND_OK;
  return stage_model_error(on, run, mend_str_from(of->model), stage_text(on, type),
                           stage_text(on, payload[P_MESSAGE].value), 0);
}

static mend_status play_compacted(stage *on, played_run *run, const rollout *of) {
  return stage_compact(on, run, of->context > 0 ? of->context : MEND_NONE, MEND_NONE);
}

static mend_status find_run(stage *on, const rollout *of, played_run **ret_run, mend_error *error) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  if (of->session[0] != '\0') options.id = options.session_id = mend_str_from(of->session);
  if (of->parent[0] != '\0') options.parent_id = mend_str_from(of->parent);
  return stage_run(on, &options, ret_run, error);
}

/* A call that a person refuses has waited for that person until now: that is known before the time moves. */
static mend_status await_refusal(stage *on, const rollout *of, const json_field payload[PAYLOAD_COUNT],
                                 mend_error *error) {
  enum { REFUSAL_MAX = 512 }; /* longer outputs need not be read to know that they are none */
  const mend_str output = payload[P_OUTPUT].value, no_arguments = {NULL, 0};
  if (output.len > REFUSAL_MAX || !is_refusal(read_output(on, output, no_arguments).value)) return MEND_OK;
  played_run *run;
  const mend_status status = find_run(on, of, &run, error);
  return status == MEND_OK ? play_question(on, run, payload[P_CALL_ID].value) : status;
}

static mend_status play_payload(stage *on, rollout *of, const json_field fields[FIELD_COUNT],
                                const json_field payload[PAYLOAD_COUNT], mend_error *error) {
  const mend_str type = fields[TYPE].value;
  if (json_string_is(type, MEND_STR("session_meta"))) keep_session(on, of, payload);
  if (json_string_is(type, MEND_STR("turn_context"))) {
    keep(of->model, sizeof of->model, stage_text(on, payload[P_MODEL].value));
  }
  played_run *run;
  const mend_status status = find_run(on, of, &run, error);
  if (status != MEND_OK) return status;
  if (json_string_is(type, MEND_STR("event_msg"))) return play_event(on, run, of, payload);
  if (json_string_is(type, MEND_STR("compacted"))) return play_compacted(on, run, of);
  if (!json_string_is(type, MEND_STR("response_item"))) return MEND_OK;
  const responses_rules rules = {mend_str_from(of->model), true, read_output};
  return responses_play_item(on, run, fields[PAYLOAD].value, &rules);
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  json_field payload[PAYLOAD_COUNT] = {PAYLOAD_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read_inside(row->text, fields, FIELD_COUNT, PAYLOAD, payload, PAYLOAD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[TYPE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a row has a string \"type\"");
  }
  rollout *of = stage_state(on, sizeof *of, NULL);
  if (of == NULL) return MEND_ENOMEM;
  uint64_t ts_ns;
  status = await_refusal(on, of, payload, error);
  if (status == MEND_OK && row_time(fields, &ts_ns)) status = stage_at(on, ts_ns);
  if (status != MEND_OK || !mend__json_is_object(fields[PAYLOAD].value)) return status;
  return play_payload(on, of, fields, payload, error);
}

const format codex_format = {.name = "codex", .title = "Codex rollout", .has_clock = true, .look = look, .play = play};
