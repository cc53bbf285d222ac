/* Trajectories of mini-swe-agent: the list of messages, or the document that holds it in `messages`. A command is the
 * only fenced block of an assistant's message, answered by the next user message; newer versions have tool calls, times
 * and what the environment said in `extra`. */
#include "core/text.h"
#include "program/base/json_fields.h"
#include "program/transcripts/format.h"
#include "program/transcripts/shell_calls.h"

#define MESSAGE_FIELDS(F)                                                                                              \
  F(ROLE, "role"), F(CONTENT, "content"), F(CALLS, "tool_calls"), F(CALL_ID, "tool_call_id"), F(EXTRA, "extra")
enum { MESSAGE_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

#define EXTRA_FIELDS(F)                                                                                                \
  F(RETURNCODE, "returncode"), F(OUTPUT, "raw_output"), F(PROBLEM, "exception_info"), F(INTERRUPT, "interrupt_type"),  \
      F(TIMESTAMP, "timestamp"), F(RESPONSE, "response"), F(COST, "cost")
enum { EXTRA_FIELDS(JSON_FIELD_INDEX), EXTRA_COUNT };

/* Those of a message; all absent where it has none. */
static void read_extra(const json_field fields[FIELD_COUNT], json_field extra[EXTRA_COUNT]) {
  if (mend__json_is_object(fields[EXTRA].value)) json_fields_read(fields[EXTRA].value, extra, EXTRA_COUNT, NULL);
}

/* ---- Texts ------------------------------------------------------------------------------------------------- */

/* How a block begins that holds a command: of today's versions, and of older ones. */
static const char *const fences[] = {"```mswea_bash_command", "```bash"};

/* What comes after a mark; absent without it. */
static mend_str after(mend_str text, mend_str mark) {
  const char *place = text.len > 0 ? memmem(text.ptr, text.len, mark.ptr, mark.len) : NULL;
  if (place == NULL) return (mend_str){NULL, 0};
  place += mark.len;
  return (mend_str){place, (size_t)(text.ptr + text.len - place)};
}

/* What comes before a mark, all of it without one. */
static mend_str before(mend_str text, mend_str mark) {
  const char *place = text.len > 0 ? memmem(text.ptr, text.len, mark.ptr, mark.len) : NULL;
  return place != NULL ? (mend_str){text.ptr, (size_t)(place - text.ptr)} : text;
}

/* The next block that begins with the fence; absent at the end. */
static mend_str next_block(mend_str *rest, mend_str fence) {
  mend_str line = after(*rest, fence);
  const mend_str block = after(line, MEND_STR("\n"));
  if (block.ptr == NULL || mend__trim(before(line, MEND_STR("\n"))).len > 0) {
    *rest = line;
    return (mend_str){NULL, 0};
  }
  *rest = after(block, MEND_STR("\n```"));
  return rest->ptr != NULL ? mend__trim(before(block, MEND_STR("\n```"))) : (mend_str){NULL, 0};
}

/* The command in a text: mini-swe-agent runs none when there are several blocks. */
static mend_str command_in(mend_str text) {
  for (size_t i = 0; i < sizeof fences / sizeof fences[0]; i++) {
    mend_str rest = text, command = {NULL, 0};
    unsigned blocks = 0;
    while (rest.ptr != NULL) {
      const mend_str block = next_block(&rest, mend_str_from(fences[i]));
      if (block.ptr == NULL) continue;
      command = block;
      blocks++;
    }
    if (blocks > 0) return blocks == 1 ? command : (mend_str){NULL, 0};
  }
  return (mend_str){NULL, 0};
}

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static bool says_so(mend_str info, mend_str trajectory_format) {
  return mend__begins_with(mend__json_inside(trajectory_format), MEND_STR("mini-swe-agent")) ||
         mend__json_is_string(json_member(info, MEND_STR("mini_version")));
}

static fit look_at_document(mend_str beginning) {
  enum { INFO, FORMAT, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("info"), JSON_FIELD("trajectory_format")};
  json_field version = JSON_FIELD("mini_version");
  json_fields_peek(beginning, fields, COUNT);
  if (mend__json_is_object(fields[INFO].value)) json_fields_peek(fields[INFO].value, &version, 1);
  return mend__json_is_string(version.value) || says_so(fields[INFO].value, fields[FORMAT].value) ? FIT_YES : FIT_MAYBE;
}

static bool is_own_text(mend_str role, mend_str content) {
  const mend_str text = mend__json_inside(content);
  if (json_string_is(role, MEND_STR("user"))) return mend__begins_with(text, MEND_STR("<returncode>"));
  return after(text, mend_str_from(fences[0])).ptr != NULL && !json_string_is(role, MEND_STR("tool"));
}

static format_view look(mend_str row) {
  static const char *const roles[] = {"system", "user", "assistant", "tool", "exit", NULL};
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)},
             extra[EXTRA_COUNT] = {EXTRA_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (!json_string_is_any_of(fields[ROLE].value, roles)) return (format_view){.reason = "no \"role\" that it has"};
  format_view view = {.fit = FIT_MAYBE};
  read_extra(fields, extra);
  view.has_ts = mend__json_is_number(extra[TIMESTAMP].value) &&
                mend_json_seconds_ns(extra[TIMESTAMP].value, &view.ts_ns) == MEND_OK;
  if (is_own_text(fields[ROLE].value, fields[CONTENT].value)) view.fit = FIT_YES;
  return view;
}

/* ---- Replies ----------------------------------------------------------------------------------------------- */

/* What the format remembers. */
typedef struct talk {
  shell_calls commands;
  bool unheard; /* the last reply had no command that could be run: what comes next says so */
} talk;

static mend_status play_usage(stage *on, played_run *run, const json_field extra[EXTRA_COUNT]) {
  const mend_str response = extra[RESPONSE].value, usage = json_member(response, MEND_STR("usage"));
  const stage_tokens used = {.model = stage_text(on, json_member(response, MEND_STR("model"))),
                             .input = json_count(json_member(usage, MEND_STR("prompt_tokens"))),
                             .output = json_count(json_member(usage, MEND_STR("completion_tokens"))),
                             .cost_usd = json_amount(extra[COST].value)};
  return stage_usage(on, run, &used);
}

static mend_status play_call(stage *on, played_run *run, mend_str call) {
  const mend_str function = json_member(call, MEND_STR("function"));
  const mend_str id = stage_text(on, json_member(call, MEND_STR("id")));
  const mend_str name = stage_text(on, json_member(function, MEND_STR("name")));
  return stage_call(on, run, id, name, stage_nested_json(on, json_member(function, MEND_STR("arguments"))));
}

static mend_status play_reply(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT],
                              const json_field extra[EXTRA_COUNT]) {
  const mend_str text = stage_content_text(on, fields[CONTENT].value);
  mend_status status = text.len > 0 ? stage_model_text(on, run, (mend_str){NULL, 0}, text) : MEND_OK;
  if (status == MEND_OK) status = play_usage(on, run, extra);
  mend__json_items calls = mend__json_items_of(fields[CALLS].value);
  mend_str call;
  of->unheard = true;
  while (status == MEND_OK && mend__json_items_next(&calls, &call)) {
    of->unheard = false;
    if (mend__json_is_object(call)) status = play_call(on, run, call);
  }
  const mend_str command = of->unheard ? command_in(text) : (mend_str){NULL, 0};
  if (status != MEND_OK || command.len == 0) return status;
  of->unheard = false;
  return shell_call(on, run, &of->commands, command);
}

/* ---- Answers ----------------------------------------------------------------------------------------------- */

/* What the environment said of a command. */
typedef struct outcome {
  bool failed;
  mend_str output;
} outcome;

/* <returncode>0</returncode> and then <output>...</output>, or other words where the command did not end by itself. */
static outcome outcome_in(mend_str text, mend_str arguments) {
  if (!mend__begins_with(text, MEND_STR("<returncode>"))) {
    return (outcome){after(text, MEND_STR("has been killed")).ptr != NULL, text};
  }
  const mend_str rest = after(text, MEND_STR("</returncode>")), inside = after(rest, MEND_STR("<output>"));
  const mend_str code = mend__trim(before(after(text, MEND_STR("<returncode>")), MEND_STR("</returncode>")));
  const mend_str output = mend__trim(inside.ptr != NULL ? before(inside, MEND_STR("</output>")) : rest);
  return (outcome){shell_failed(code, output, arguments), output};
}

/* In newer versions the message says so itself. */
static outcome outcome_of(stage *on, mend_str content, const json_field extra[EXTRA_COUNT], mend_str arguments) {
  if (extra[RETURNCODE].value.ptr == NULL) return outcome_in(stage_content_text(on, content), arguments);
  const mend_str problem = stage_text(on, extra[PROBLEM].value);
  const mend_str output = stage_text(on, extra[OUTPUT].value);
  outcome of = {shell_failed(extra[RETURNCODE].value, mend__trim(output), arguments), output};
  if (of.failed && problem.len > 0) of.output = problem;
  return of;
}

static mend_status play_answer(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT],
                               const json_field extra[EXTRA_COUNT]) {
  const bool named = mend__json_is_string(fields[CALL_ID].value);
  const mend_str id = stage_text(on, fields[CALL_ID].value);
  const mend_str arguments = named ? stage_arguments(run, id) : shell_arguments(run, &of->commands);
  outcome got = outcome_of(on, fields[CONTENT].value, extra, arguments);
  if (got.failed && mend__trim(got.output).len == 0) got.output = MEND_STR("it failed and said nothing");
  if (!named) return shell_answer(on, run, &of->commands, got.output, got.failed);
  return got.failed ? stage_error(on, run, id, got.output) : shell_result(on, run, id, got.output);
}

static mend_status play_message(stage *on, played_run *run, talk *of, const json_field fields[FIELD_COUNT],
                                const json_field extra[EXTRA_COUNT]) {
  const mend_str role = fields[ROLE].value;
  if (json_string_is(role, MEND_STR("assistant"))) return play_reply(on, run, of, fields, extra);
  if (json_string_is(role, MEND_STR("tool"))) return play_answer(on, run, of, fields, extra);
  if (!json_string_is(role, MEND_STR("user"))) return MEND_OK;
  const bool answers = of->commands.open || extra[RETURNCODE].value.ptr != NULL;
  if (answers && extra[INTERRUPT].value.ptr == NULL) return play_answer(on, run, of, fields, extra);
  const bool complaint = of->unheard || json_string_is(extra[INTERRUPT].value, MEND_STR("FormatError"));
  of->unheard = false;
  return complaint ? MEND_OK : stage_user_message(on, run, stage_content_text(on, fields[CONTENT].value));
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {MESSAGE_FIELDS(JSON_FIELD_ENTRY)},
             extra[EXTRA_COUNT] = {EXTRA_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[ROLE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a message: a message has a string \"role\"");
  }
  uint64_t ts_ns;
  read_extra(fields, extra);
  const mend_str timestamp = extra[TIMESTAMP].value;
  if (mend__json_is_number(timestamp) && mend_json_seconds_ns(timestamp, &ts_ns) == MEND_OK)
    status = stage_at(on, ts_ns);
  const mend_run_options options = MEND_RUN_OPTIONS_INIT;
  talk *of = stage_state(on, sizeof *of, NULL);
  played_run *run;
  if (status == MEND_OK) status = of != NULL ? stage_run(on, &options, &run, error) : MEND_ENOMEM;
  return status == MEND_OK ? play_message(on, run, of, fields, extra) : status;
}

static const char *const containers[] = {"messages", NULL};
const format mini_swe_format = {.name = "mini-swe-agent",
                                .title = "mini-swe-agent trajectory",
                                .containers = containers,
                                .has_clock = true,
                                .look_at_document = look_at_document,
                                .look = look,
                                .play = play};
