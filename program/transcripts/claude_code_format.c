/* Sessions of Claude Code: JSONL, a run is a session; rows of a sidechain (a subagent) are a run of their own with the
 * session as parent. What `claude --output-format stream-json` prints is the same with other names and no times. */
#include "program/base/json_fields.h"
#include "program/transcripts/anthropic_blocks.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"
#include "program/transcripts/seen_rows.h"
#include "program/transcripts/sidechains.h"

#include <stdio.h>

#define ROW_FIELDS(F)                                                                                                  \
  F(TYPE, "type"), F(SUBTYPE, "subtype"), F(SESSION, "sessionId"), F(SESSION_ID, "session_id"), F(UUID, "uuid"),       \
      F(PARENT_UUID, "parentUuid"), F(LEAF, "leafUuid"), F(SIDECHAIN, "isSidechain"), F(AGENT, "agentId"),             \
      F(META, "isMeta"), F(SUMMARY, "isCompactSummary"), F(ORIGIN, "origin"), F(TIMESTAMP, "timestamp"),               \
      F(MESSAGE, "message"), F(CONTENT, "content"), F(TOOL_RESULT, "toolUseResult"),                                   \
      F(PARENT_TOOL, "parentToolUseID"), F(TOOL_PARENT, "parent_tool_use_id"), F(DATA, "data"),                        \
      F(OPERATION, "operation"), F(ATTACHMENT, "attachment"), F(COMPACTED, "compactMetadata"),                         \
      F(COMPACTED_TOO, "compact_metadata"), F(PRUNED, "microcompactMetadata"), F(ERROR, "error"),                      \
      F(API_ERROR, "isApiErrorMessage"), F(API_STATUS, "apiErrorStatus"), F(PAYLOAD, "payload")
/* Of the message in it. */
#define MESSAGE_FIELDS(F)                                                                                              \
  F(M_ID, "id"), F(M_MODEL, "model"), F(M_CONTENT, "content"), F(M_USAGE, "usage"), F(M_STOP_REASON, "stop_reason")
enum { ROW_FIELDS(JSON_FIELD_INDEX), MESSAGE_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT, ROW_COUNT = M_ID };

/* What rows say about the rows after them. */
typedef struct session {
  char id[256];   /* the last one named: rows without a name belong to it */
  seen_rows seen; /* a session that is resumed begins with what was there before */
  sidechains sides;
  mend_hash steered; /* the last thing that was said while the agent was at work: more rows tell it again */
} session;

static void free_session(void *state) { seen_rows_free(&((session *)state)->seen); }

static bool row_time(const json_field fields[FIELD_COUNT], uint64_t *ret_ns) {
  return iso_time_read(mend__json_inside(fields[TIMESTAMP].value), ret_ns);
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, ROW_COUNT, NULL) != MEND_OK)
    return (format_view){.reason = "not JSON objects, one a line"};
  if (!mend__json_is_string(fields[TYPE].value)) return (format_view){.reason = "no \"type\""};
  const bool streamed = mend__json_is_string(fields[SESSION_ID].value) &&
                        (mend__json_is_object(fields[MESSAGE].value) || mend__json_is_string(fields[SUBTYPE].value));
  const bool named = streamed || mend__json_is_string(fields[SESSION].value) ||
                     mend__json_is_string(fields[UUID].value) || mend__json_is_string(fields[LEAF].value);
  if (!named || fields[PAYLOAD].value.ptr != NULL) return (format_view){.reason = "no \"sessionId\" or \"uuid\""};
  format_view view = {.fit = FIT_YES};
  view.has_ts = row_time(fields, &view.ts_ns);
  return view;
}

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static void note_start(void *ctx, mend_str id, mend_str tool, mend_str arguments) {
  if (!mend_str_equal(tool, MEND_STR("Task")) && !mend_str_equal(tool, MEND_STR("Agent"))) return;
  /* Both rows come from one writer, so the prompts are escaped in the same way. */
  sidechains_start(ctx, id, mend__json_inside(json_member(arguments, MEND_STR("prompt"))));
}

/* The subagent's name in the run's id: its own, that of the call that started it, or a number. */
static void name_sidechain(stage *on, session *of, const json_field fields[FIELD_COUNT], mend_run_options *options) {
  const mend_str uuid = mend__json_inside(fields[UUID].value);
  const mend_str before = mend__json_inside(fields[PARENT_UUID].value);
  options->agent = stage_text(on, fields[AGENT].value);
  options->parent_call = stage_text(on, fields[TOOL_PARENT].value);
  mend_str name = options->agent.len > 0 ? options->agent : options->parent_call;
  if (name.len > 0 && options->parent_call.len == 0 && before.len == 0) {
    options->parent_call =
        mend_str_from(sidechains_starter(&of->sides, mend__json_inside(json_first_text(fields[M_CONTENT].value))));
  }
  mend__buffer_str(&on->scratch, MEND_STR("/sidechain"));
  if (name.len > 0) {
    mend__buffer_char(&on->scratch, '/');
    mend__buffer_str(&on->scratch, name);
    return;
  }
  const mend_str prompt =
      before.len == 0 ? mend__json_inside(json_first_text(fields[M_CONTENT].value)) : (mend_str){NULL, 0};
  const sidechain *chain = sidechains_follow(&of->sides, uuid, before, prompt);
  if (chain == NULL) return;
  options->parent_call = mend_str_from(chain->call);
  mend__buffer_printf(&on->scratch, "/%llu", (unsigned long long)chain->number);
}

static mend_str session_of(stage *on, session *of, const json_field fields[FIELD_COUNT]) {
  const mend_str id = stage_text(on, fields[mend__json_is_string(fields[SESSION].value) ? SESSION : SESSION_ID].value);
  if (id.len == 0) return mend_str_from(of->id);
  if (id.len < sizeof of->id && !mend_str_equal(id, mend_str_from(of->id))) {
    snprintf(of->id, sizeof of->id, "%.*s", MEND_STR_ARG(id));
  }
  return id;
}

static mend_status find_run(stage *on, session *of, const json_field fields[FIELD_COUNT], played_run **ret_run,
                            mend_error *error) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = session_of(on, of, fields);
  options.session_id = options.id;
  if (mend__json_is_true(fields[SIDECHAIN].value) || mend__json_is_string(fields[TOOL_PARENT].value)) {
    options.parent_id = options.id;
    mend__buffer_clear(&on->scratch);
    mend__buffer_str(&on->scratch, options.id.len > 0 ? options.id : mend_str_from(on->default_run));
    name_sidechain(on, of, fields, &options);
    if (on->scratch.failed) return MEND_ENOMEM;
    options.id = mend__buffer_text(&on->scratch);
  }
  return stage_run(on, &options, ret_run, error);
}

/* ---- Messages ---------------------------------------------------------------------------------------------- */

/* Of a row of a user, what a person typed: not what a subagent was told, nor what the program put in. */
static bool is_from_person(const json_field fields[FIELD_COUNT]) {
  const mend_str origin = json_member(fields[ORIGIN].value, MEND_STR("kind"));
  const bool human = !mend__json_is_string(origin) || json_string_is(origin, MEND_STR("human"));
  return human && json_string_is(fields[TYPE].value, MEND_STR("user")) &&
         !mend__json_is_true(fields[SIDECHAIN].value) && !mend__json_is_string(fields[TOOL_PARENT].value) &&
         !mend__json_is_true(fields[META].value) && !mend__json_is_true(fields[SUMMARY].value);
}

/* Texts in the place of a person's that say that the agent has stopped, or had nothing to do. */
static bool says_nothing(const json_field fields[FIELD_COUNT]) {
  static const char *const beginnings[] = {"[Request interrupted by user", "<local-command-", "<bash-",
                                           "Caveat: The messages below", NULL};
  return json_string_begins_with_any_of(json_first_text(fields[M_CONTENT].value), beginnings);
}

/* "toolUseResult" is what the tool gave the program, a text when it failed. */
static void read_tool_result(mend_str result, anthropic_message *message) {
  static const char *const failures[] = {"Error", NULL};
  message->cancelled = mend__json_is_true(json_member(result, MEND_STR("interrupted")));
  message->failed = json_string_begins_with_any_of(result, failures);
}

/* Whether a row tells what an earlier one told, and forgets it. */
static bool was_told(session *of, mend_str text) {
  if (text.len == 0 || !mend_hash_equal(of->steered, mend_hash_bytes(text))) return false;
  of->steered = (mend_hash){0, 0};
  return true;
}

static mend_status play_answer(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  static const char *const asking[] = {"AskUserQuestion", "ExitPlanMode", NULL};
  const mend_str content = fields[M_CONTENT].value, model = stage_text(on, fields[M_MODEL].value);
  if (mend__json_is_true(fields[API_ERROR].value)) {
    return stage_model_error(on, run, model, stage_text(on, fields[ERROR].value), stage_content_text(on, content),
                             json_count(fields[API_STATUS].value));
  }
  /* One answer of the model is several rows, a block each; each tells the usage so far. */
  const stage_tokens used = anthropic_tokens(model, fields[M_USAGE].value);
  const anthropic_message message = {
      .model = model, .by_assistant = true, .asking = asking, .on_call = note_start, .ctx = &of->sides};
  mend_status status = stage_usage_so_far(on, run, fields[M_ID].value, &used);
  if (status == MEND_OK) status = anthropic_play_content(on, run, content, &message);
  const bool ends = json_string_is(fields[M_STOP_REASON].value, MEND_STR("end_turn"));
  return status == MEND_OK && ends ? stage_agent_end(on, run) : status;
}

static mend_status play_message(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  if (!json_string_is(fields[TYPE].value, MEND_STR("user"))) return play_answer(on, run, of, fields);
  anthropic_message message = {.by_person = is_from_person(fields)};
  if (message.by_person && says_nothing(fields)) return stage_agent_end(on, run);
  if (message.by_person && was_told(of, mend__json_inside(fields[M_CONTENT].value))) message.by_person = false;
  read_tool_result(fields[TOOL_RESULT].value, &message);
  return anthropic_play_content(on, run, fields[M_CONTENT].value, &message);
}

/* ---- Other rows -------------------------------------------------------------------------------------------- */

/* Tokens by the name that sessions or streams have for them; MEND_NONE when they are not there. */
static uint64_t tokens_of(mend_str metadata, mend_str name, mend_str other_name) {
  const mend_str first = json_member(metadata, name);
  const mend_str value = mend__json_is_number(first) ? first : json_member(metadata, other_name);
  return mend__json_is_number(value) ? json_count(value) : MEND_NONE;
}

static mend_status play_system(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  (void)of;
  const mend_str subtype = fields[SUBTYPE].value, error = fields[ERROR].value;
  if (json_string_is(subtype, MEND_STR("compact_boundary"))) {
    const mend_str metadata = fields[mend__json_is_object(fields[COMPACTED].value) ? COMPACTED : COMPACTED_TOO].value;
    return stage_compact(on, run, tokens_of(metadata, MEND_STR("preTokens"), MEND_STR("pre_tokens")),
                         tokens_of(metadata, MEND_STR("postTokens"), MEND_STR("post_tokens")));
  }
  if (json_string_is(subtype, MEND_STR("microcompact_boundary"))) {
    const uint64_t before = tokens_of(fields[PRUNED].value, MEND_STR("preTokens"), MEND_STR("pre_tokens"));
    const uint64_t saved = json_count(json_member(fields[PRUNED].value, MEND_STR("tokensSaved")));
    return stage_compact(on, run, before, before != MEND_NONE && saved <= before ? before - saved : MEND_NONE);
  }
  if (json_string_is(subtype, MEND_STR("turn_duration"))) return stage_agent_end(on, run);
  if (!json_string_is(subtype, MEND_STR("api_error"))) return MEND_OK;
  mend_str told = json_member(error, MEND_STR("message"));
  if (told.ptr == NULL) told = json_member(json_member(error, MEND_STR("error")), MEND_STR("message"));
  if (told.ptr == NULL) told = json_member(json_member(error, MEND_STR("cause")), MEND_STR("code"));
  return stage_model_error(on, run, (mend_str){NULL, 0}, MEND_STR("api_error"), stage_text(on, told),
                           json_count(json_member(error, MEND_STR("status"))));
}

/* Of a tool that is running, or a subagent; hooks tell of themselves, too. */
static mend_status play_progress(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  (void)of;
  const mend_str call = stage_text(on, fields[PARENT_TOOL].value);
  const mend_str type = json_member(fields[DATA].value, MEND_STR("type"));
  if (!stage_is_open(run, call) || json_string_is(type, MEND_STR("hook_progress"))) return MEND_OK;
  const mend_str output = json_member(fields[DATA].value, MEND_STR("output"));
  return stage_progress(on, run, call, mend__json_is_string(output) ? output.len - 2 : fields[DATA].value.len);
}

static mend_status play_steering(stage *on, played_run *run, session *of, mend_str text) {
  const mend_str inside = mend__json_inside(text);
  if (inside.len == 0 || inside.ptr[0] == '<' || was_told(of, inside)) return MEND_OK; /* "<task-notification>..." */
  of->steered = mend_hash_bytes(inside);
  return stage_user_message(on, run, stage_text(on, text));
}

/* What is typed while the agent is at work waits in a queue. From there it is either taken into the turn, or becomes a
 * row of its own. */
static mend_status play_queue(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  if (!json_string_is(fields[OPERATION].value, MEND_STR("remove"))) return MEND_OK;
  return play_steering(on, run, of, fields[CONTENT].value);
}

static mend_status play_attachment(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]) {
  enum { KIND, PROMPT, MODE, COUNT };
  json_field inside[COUNT] = {JSON_FIELD("type"), JSON_FIELD("prompt"), JSON_FIELD("commandMode")};
  if (!mend__json_is_object(fields[ATTACHMENT].value)) return MEND_OK;
  json_fields_read(fields[ATTACHMENT].value, inside, COUNT, NULL);
  const mend_str mode = inside[MODE].value;
  if (!json_string_is(inside[KIND].value, MEND_STR("queued_command"))) return MEND_OK;
  if (mend__json_is_string(mode) && !json_string_is(mode, MEND_STR("prompt"))) return MEND_OK;
  return play_steering(on, run, of, inside[PROMPT].value);
}

/* ---- Rows -------------------------------------------------------------------------------------------------- */

static const struct {
  const char *type;
  mend_status (*play)(stage *on, played_run *run, session *of, const json_field fields[FIELD_COUNT]);
} types[] = {
    {"assistant", play_message}, {"user", play_message},          {"progress", play_progress},
    {"system", play_system},     {"queue-operation", play_queue}, {"attachment", play_attachment},
};

/* Whether the row was there before. Two rows of one id say different things where somebody wrote them by hand. */
static mend_status note_row(session *of, const json_field fields[FIELD_COUNT], bool *ret_seen) {
  *ret_seen = false;
  if (!mend__json_is_string(fields[UUID].value)) return MEND_OK;
  const mend_str says = fields[fields[MESSAGE].value.ptr != NULL ? MESSAGE : TYPE].value;
  const uint64_t fingerprint = mend_hash_bytes(fields[UUID].value).lo ^ mend_hash_bytes(says).hi;
  return seen_rows_add(&of->seen, fingerprint, ret_seen);
}

static mend_status move_time(stage *on, const json_field fields[FIELD_COUNT]) {
  uint64_t ts_ns;
  return row_time(fields, &ts_ns) ? stage_at(on, ts_ns) : MEND_OK;
}

/* A call that a person refuses has waited for that person until now: that is known before the time moves. */
static mend_status await_refusals(stage *on, session *of, const json_field fields[FIELD_COUNT], mend_error *error) {
  const mend_str content = fields[M_CONTENT].value;
  if (!json_string_is(fields[TYPE].value, MEND_STR("user")) || !anthropic_has_refusals(content)) return MEND_OK;
  played_run *run;
  const mend_status status = find_run(on, of, fields, &run, error);
  return status == MEND_OK ? anthropic_await_refusals(on, run, content) : status;
}

static mend_status play_type(stage *on, session *of, const json_field fields[FIELD_COUNT], mend_error *error) {
  size_t i = 0;
  const size_t count = sizeof types / sizeof types[0];
  while (i < count && !json_string_is(fields[TYPE].value, mend_str_from(types[i].type)))
    i++;
  if (i == count || (types[i].play == play_message && !mend__json_is_object(fields[MESSAGE].value))) return MEND_OK;
  played_run *run;
  const mend_status status = find_run(on, of, fields, &run, error);
  return status == MEND_OK ? types[i].play(on, run, of, fields) : status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY), MESSAGE_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read_inside(row->text, fields, ROW_COUNT, MESSAGE, &fields[ROW_COUNT],
                                               FIELD_COUNT - ROW_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[TYPE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a row: a row has a string \"type\"");
  }
  session *of = stage_state(on, sizeof *of, free_session);
  if (of == NULL) return MEND_ENOMEM;
  bool seen;
  status = note_row(of, fields, &seen);
  if (status != MEND_OK || seen) return status;
  status = await_refusals(on, of, fields, error);
  if (status == MEND_OK) status = move_time(on, fields);
  return status == MEND_OK ? play_type(on, of, fields, error) : status;
}

const format claude_code_format = {
    .name = "claude-code", .title = "Claude Code session", .has_clock = true, .look = look, .play = play};
