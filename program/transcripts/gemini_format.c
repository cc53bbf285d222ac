/* Sessions of Gemini CLI: JSONL, whose records may replace a message (by its id), rewind to one, or set the messages
 * anew; or the older document with `messages`. A message is therefore held until it is no longer expected to change.
 * What a rewind takes out of the conversation has happened nevertheless: its calls ran and count. */
#include "program/base/json_fields.h"
#include "program/base/sums.h"
#include "program/stage/stage_later.h"
#include "program/transcripts/format.h"
#include "program/transcripts/held_rows.h"
#include "program/transcripts/iso_time.h"
#include "program/transcripts/seen_rows.h"

#define RECORD_FIELDS(F)                                                                                               \
  F(ID, "id"), F(TYPE, "type"), F(TIMESTAMP, "timestamp"), F(CONTENT, "content"), F(CALLS, "toolCalls"),               \
      F(TOKENS, "tokens"), F(MODEL, "model"), F(SESSION, "sessionId"), F(PROJECT, "projectHash"),                      \
      F(START, "startTime"), F(MESSAGES, "messages"), F(SET, "$set"), F(REWIND, "$rewindTo")
enum { RECORD_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

#define CALL_FIELDS(F)                                                                                                 \
  F(C_ID, "id"), F(C_NAME, "name"), F(C_ARGS, "args"), F(C_STATUS, "status"), F(C_TIMESTAMP, "timestamp"),             \
      F(C_RESULT, "result")
enum { CALL_FIELDS(JSON_FIELD_INDEX), CALL_COUNT };

#define TOKENS_FIELDS(F) F(T_INPUT, "input"), F(T_OUTPUT, "output"), F(T_THOUGHTS, "thoughts")
enum { TOKENS_FIELDS(JSON_FIELD_INDEX), TOKENS_COUNT };

/* ---- Is it one? -------------------------------------------------------------------------------------------- */

static bool read_time(mend_str value, uint64_t *ret_ns) { return iso_time_read(mend__json_inside(value), ret_ns); }

static bool is_header(const json_field fields[FIELD_COUNT]) {
  return mend__json_is_string(fields[SESSION].value) && mend__json_is_string(fields[PROJECT].value);
}

static bool is_change(const json_field fields[FIELD_COUNT]) {
  return mend__json_is_object(fields[SET].value) || mend__json_is_string(fields[REWIND].value);
}

static fit look_at_document(mend_str beginning) {
  json_field fields[FIELD_COUNT] = {RECORD_FIELDS(JSON_FIELD_ENTRY)};
  json_fields_peek(beginning, fields, FIELD_COUNT);
  return mend__json_is_string(fields[PROJECT].value) && mend__json_is_array(fields[MESSAGES].value) ? FIT_YES
                                                                                                    : FIT_MAYBE;
}

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {RECORD_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  format_view view = {.fit = FIT_YES};
  view.has_ts = read_time(fields[is_header(fields) ? START : TIMESTAMP].value, &view.ts_ns);
  if (is_header(fields) || is_change(fields)) return view;
  if (!mend__json_is_string(fields[ID].value)) return (format_view){.reason = "no \"id\""};
  if (json_string_is(fields[TYPE].value, MEND_STR("gemini"))) return view;
  const bool user = json_string_is(fields[TYPE].value, MEND_STR("user"));
  if (!user || !view.has_ts) return (format_view){.reason = "no message of type \"gemini\""};
  view.fit = FIT_MAYBE;
  return view;
}

/* ---- Messages ---------------------------------------------------------------------------------------------- */

typedef struct session {
  held_rows messages;
  char id[256];
  size_t id_len;    /* 0: the file's name */
  seen_rows played; /* messages, by their ids */
} session;

static void free_inside(void *state) {
  session *of = state;
  held_rows_free(&of->messages);
  seen_rows_free(&of->played);
}

static session *session_of(stage *on) {
  const bool is_new = on->state == NULL;
  session *of = stage_state(on, sizeof *of, free_inside);
  if (is_new && of != NULL) held_rows_init(&of->messages);
  return of;
}

/* What a call answered: {functionResponse: {response: {output or error}}} in parts; else what is there instead. */
static mend_str response_of(mend_str result, mend_str name) {
  mend__json_items parts = mend__json_items_of(result);
  mend_str part = {NULL, 0};
  mend__json_items_next(&parts, &part);
  const mend_str response = json_member(json_member(part, MEND_STR("functionResponse")), MEND_STR("response"));
  const mend_str answer = json_member(response, name);
  return answer.ptr != NULL ? answer : response.ptr != NULL ? response : result;
}

/* What is said of a call's end; false for one that had not ended. */
static bool read_ending(stage *on, const json_field call[CALL_COUNT], stage_moment *ending) {
  const mend_str status = call[C_STATUS].value, result = call[C_RESULT].value;
  if (json_string_is(status, MEND_STR("success"))) {
    ending->kind = STAGE_RESULT;
    ending->text = response_of(result, MEND_STR("output"));
    return true;
  }
  const bool cancelled = json_string_is(status, MEND_STR("cancelled"));
  if (!cancelled && !json_string_is(status, MEND_STR("error"))) return false;
  const mend_str message = response_of(result, MEND_STR("error"));
  ending->kind = cancelled ? STAGE_CANCELLED : STAGE_ERROR;
  ending->text = cancelled || mend__json_is_string(message) ? stage_text(on, message) : message;
  return true;
}

/* What is said of a call that a person did not allow: it waited for that person. */
static bool was_refused(const stage_moment *ending) {
  const mend_str words = MEND_STR("User did not allow tool call");
  const mend_str text = ending->text;
  return ending->kind == STAGE_CANCELLED && text.len > 0 && memmem(text.ptr, text.len, words.ptr, words.len) != NULL;
}

static mend_status play_call(stage *on, const mend_run_options *options, mend_str text, mend_error *error) {
  json_field call[CALL_COUNT] = {CALL_FIELDS(JSON_FIELD_ENTRY)};
  if (!mend__json_is_object(text)) return MEND_OK;
  json_fields_read(text, call, CALL_COUNT, NULL);
  played_run *run;
  stage_moment ending = {.wall_ns = on->now_ns, .run = *options, .id = stage_text(on, call[C_ID].value)};
  mend_status status = stage_run(on, options, &run, error);
  if (status == MEND_OK) {
    status = stage_call(on, run, ending.id, stage_text(on, call[C_NAME].value), call[C_ARGS].value);
  }
  if (status != MEND_OK || !read_ending(on, call, &ending)) return status;
  if (was_refused(&ending)) status = stage_wait(on, run, ending.id);
  if (status != MEND_OK) return status;
  read_time(call[C_TIMESTAMP].value, &ending.wall_ns);
  if (ending.wall_ns < on->now_ns) ending.wall_ns = on->now_ns;
  return stage_later(on, &ending, error);
}

static mend_status play_tokens(stage *on, played_run *run, mend_str model, mend_str tokens) {
  json_field fields[TOKENS_COUNT] = {TOKENS_FIELDS(JSON_FIELD_ENTRY)};
  if (!mend__json_is_object(tokens)) return MEND_OK;
  json_fields_read(tokens, fields, TOKENS_COUNT, NULL);
  const stage_tokens used = {.model = model,
                             .input = json_count(fields[T_INPUT].value),
                             .output =
                                 sum_of(json_count(fields[T_OUTPUT].value), json_count(fields[T_THOUGHTS].value))};
  return stage_usage(on, run, &used);
}

static mend_status play_reply(stage *on, const mend_run_options *options, played_run *run,
                              const json_field fields[FIELD_COUNT], mend_error *error) {
  const mend_str model = stage_text(on, fields[MODEL].value);
  const mend_str said = stage_content_text(on, fields[CONTENT].value);
  mend_status status = said.len > 0 ? stage_model_text(on, run, model, said) : MEND_OK;
  if (status == MEND_OK) status = play_tokens(on, run, model, fields[TOKENS].value);
  mend__json_items calls = mend__json_items_of(fields[CALLS].value);
  mend_str call;
  while (status == MEND_OK && mend__json_items_next(&calls, &call))
    status = play_call(on, options, call, error);
  return status;
}

static mend_status play_message(stage *on, const session *of, mend_str text, mend_error *error) {
  json_field fields[FIELD_COUNT] = {RECORD_FIELDS(JSON_FIELD_ENTRY)};
  json_fields_read(text, fields, FIELD_COUNT, NULL);
  uint64_t ts_ns;
  mend_status status = read_time(fields[TIMESTAMP].value, &ts_ns) ? stage_at(on, ts_ns) : MEND_OK;
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  if (of->id_len > 0) options.id = (mend_str){of->id, of->id_len};
  options.session_id = options.id;
  played_run *run;
  if (status == MEND_OK) status = stage_run(on, &options, &run, error);
  if (status != MEND_OK) return status;
  if (json_string_is(fields[TYPE].value, MEND_STR("gemini"))) return play_reply(on, &options, run, fields, error);
  const mend_str said = stage_content_text(on, fields[CONTENT].value);
  const bool user = json_string_is(fields[TYPE].value, MEND_STR("user"));
  return user && said.len > 0 ? stage_user_message(on, run, said) : MEND_OK;
}

/* ---- Records ----------------------------------------------------------------------------------------------- */

/* Plays a message that was held, unless it was played before, and drops it. */
static mend_status play_held(stage *on, session *of, held_row *message) {
  const uint64_t row = on->row;
  bool seen = false;
  mend_status status = seen_rows_add(&of->played, mend_hash_bytes(message->name).lo, &seen);
  if (status == MEND_OK && !seen) status = stage_begin_row(on, message->number, message->text);
  if (status == MEND_OK && !seen) status = play_message(on, of, message->text, NULL);
  held_rows_drop(&of->messages, message);
  on->row = row;
  return status;
}

static mend_status play_all_held(stage *on, session *of) {
  mend_status status = MEND_OK;
  while (status == MEND_OK && of->messages.oldest != NULL)
    status = play_held(on, of, of->messages.oldest);
  return status;
}

static mend_status hold(stage *on, session *of, uint64_t number, mend_str text) {
  json_field id = JSON_FIELD("id");
  if (!mend__json_is_object(text)) return MEND_OK;
  json_fields_read(text, &id, 1, NULL);
  if (!mend__json_is_string(id.value)) return MEND_OK;
  return held_rows_put(&of->messages, stage_text(on, id.value), number, text);
}

static mend_status hold_all(stage *on, session *of, uint64_t number, mend_str messages) {
  mend__json_items elements = mend__json_items_of(messages);
  mend_str message;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&elements, &message))
    status = hold(on, of, number, message);
  return status;
}

static mend_status change(stage *on, session *of, uint64_t number, mend_str set) {
  json_field messages = JSON_FIELD("messages");
  json_fields_read(set, &messages, 1, NULL);
  return hold_all(on, of, number, messages.value);
}

static mend_status begin_session(session *of, mend_str id, mend_error *error) {
  if (id.len == 0 || id.len >= sizeof of->id) {
    return mend_error_set(error, MEND_EINVAL, "a session's id is 1 to 255 bytes long, this one has %zu", id.len);
  }
  memcpy(of->id, id.ptr, id.len);
  of->id_len = id.len;
  return MEND_OK;
}

static mend_status play_record(stage *on, session *of, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {RECORD_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (mend__json_is_string(fields[REWIND].value)) return play_all_held(on, of);
  if (mend__json_is_string(fields[ID].value)) return hold(on, of, row->number, row->text);
  if (mend__json_is_object(fields[SET].value)) return change(on, of, row->number, fields[SET].value);
  if (!is_header(fields)) {
    return mend_error_set(error, MEND_EINVAL, "not a record: no \"id\", \"sessionId\", \"$set\" or \"$rewindTo\"");
  }
  status = begin_session(of, stage_text(on, fields[SESSION].value), error);
  return status == MEND_OK ? hold_all(on, of, row->number, fields[MESSAGES].value) : status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  session *of = session_of(on);
  if (of == NULL) return MEND_ENOMEM;
  mend_status status = play_record(on, of, row, error);
  for (held_row *oldest; status == MEND_OK && (oldest = held_rows_surplus(&of->messages)) != NULL;)
    status = play_held(on, of, oldest);
  return status;
}

static mend_status finish(stage *on) {
  session *of = session_of(on);
  return of != NULL ? play_all_held(on, of) : MEND_ENOMEM;
}

static const char *const containers[] = {"messages", NULL};
const format gemini_format = {.name = "gemini-cli",
                              .title = "Gemini CLI session",
                              .containers = containers,
                              .has_clock = true,
                              .look_at_document = look_at_document,
                              .look = look,
                              .play = play,
                              .finish = finish};
