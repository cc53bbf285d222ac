/* OpenTelemetry traces as OTLP writes them in JSON: a document or a batch a line. What an agent did is told by the
 * attributes of its spans: OpenTelemetry's own names for generative AI, and those of others. A
 * trace is a run. Spans are written when they end, so they are played by stage_later. */
#include "core/text.h"
#include "program/base/json_fields.h"
#include "program/stage/stage_later.h"
#include "program/transcripts/format.h"
#include "program/transcripts/otlp_attributes.h"
#include "program/transcripts/otlp_values.h"

#define ROW_FIELDS(F)                                                                                                  \
  F(RESOURCE_SPANS, "resourceSpans"), F(SCOPE_SPANS, "scopeSpans"), F(RESOURCE, "resource"),                           \
      F(RESOURCE_LOGS, "resourceLogs"), F(RESOURCE_METRICS, "resourceMetrics")
enum { ROW_FIELDS(JSON_FIELD_INDEX), ROW_COUNT };

#define SPAN_FIELDS(F)                                                                                                 \
  F(TRACE, "traceId"), F(SPAN, "spanId"), F(PARENT, "parentSpanId"), F(NAME, "name"), F(START, "startTimeUnixNano"),   \
      F(END, "endTimeUnixNano"), F(ATTRIBUTES, "attributes"), F(EVENTS, "events"), F(STATUS, "status")
enum { SPAN_FIELDS(JSON_FIELD_INDEX), SPAN_COUNT };

/* ---- Spans ------------------------------------------------------------------------------------------------- */

/* A span being played. */
typedef struct span {
  const json_field *fields;
  otlp_attributes attributes;
  uint64_t start_ns, end_ns; /* end 0: it had not ended */
  bool failed;
  bool is_of_trace;    /* its run is all of the trace */
  stage_moment moment; /* what all its moments have in common */
} span;

static void read_times(stage *on, span *of) {
  of->start_ns = otlp_time(of->fields[START].value);
  of->end_ns = otlp_time(of->fields[END].value);
  if (of->start_ns == 0) of->start_ns = of->end_ns != 0 ? of->end_ns : on->now_ns;
  if (of->end_ns != 0 && of->end_ns < of->start_ns) of->end_ns = of->start_ns;
}

static bool has_failed(mend_str status) {
  const mend_str code = json_member(status, MEND_STR("code"));
  return json_count(code) == 2 || json_string_is(code, MEND_STR("STATUS_CODE_ERROR"));
}

/* A trace is a run, unless its spans say whose they are. Its id is hexadecimal digits where it can be read, else as it
 * is. */
static void name_run(stage *on, span *of, char digits[OTLP_TRACE_ID_SIZE]) {
  mend_run_options *run = &of->moment.run;
  const mend_str own_id = otlp_text(on, &of->attributes, OTLP_RUN);
  run->id = stage_text(on, of->fields[TRACE].value);
  run->session_id = otlp_text(on, &of->attributes, OTLP_SESSION);
  run->agent = otlp_text(on, &of->attributes, OTLP_AGENT);
  if (otlp_trace_id(run->id, run->trace_id)) {
    otlp_trace_id_format(run->trace_id, digits);
    run->id = mend_str_from(digits);
  }
  of->is_of_trace = own_id.len == 0;
  if (of->is_of_trace) return;
  run->id = own_id;
  run->parent_id = otlp_text(on, &of->attributes, OTLP_PARENT_RUN);
  run->parent_call = otlp_text(on, &of->attributes, OTLP_PARENT_CALL);
}

static mend_status tell(stage *on, span *of, stage_moment_kind kind, uint64_t wall_ns, mend_str text,
                        mend_error *error) {
  if (on->scratch.failed) return MEND_ENOMEM; /* where texts are put together */
  of->moment.kind = kind;
  of->moment.wall_ns = wall_ns;
  of->moment.text = text;
  return stage_later(on, &of->moment, error);
}

/* Why a span failed: its status says so, else the exception among its events, else the class of the error. */
static mend_str failure_of(stage *on, span *of) {
  const mend_str said = json_member(of->fields[STATUS].value, MEND_STR("message"));
  if (mend__json_inside(said).len > 0) return stage_text(on, said);
  mend__json_items events = mend__json_items_of(of->fields[EVENTS].value);
  mend_str event;
  while (mend__json_items_next(&events, &event))
    otlp_attributes_read(json_member(event, MEND_STR("attributes")), &of->attributes);
  const mend_str message = otlp_text(on, &of->attributes, OTLP_MESSAGE);
  if (message.len > 0) return message;
  const mend_str type = otlp_text(on, &of->attributes, OTLP_ERROR_TYPE);
  return type.len > 0 ? type : MEND_STR("it failed");
}

/* The span of a tool is called "execute_tool NAME"; mend's own has no NAME where nobody said it. */
static mend_str tool_of(stage *on, const span *of) {
  const mend_str tool = otlp_text(on, &of->attributes, OTLP_TOOL), prefix = MEND_STR("execute_tool ");
  if (tool.len > 0) return tool;
  const mend_str name = stage_text(on, of->fields[NAME].value);
  if (!of->is_of_trace && mend_str_equal(name, MEND_STR("execute_tool"))) return (mend_str){NULL, 0};
  const bool prefixed = name.len > prefix.len && mend__begins_with(name, prefix);
  return prefixed ? (mend_str){name.ptr + prefix.len, name.len - prefix.len} : name;
}

/* Arguments and results are in a trace only when somebody asked for them to be. */
static mend_status doubt_once(stage *on) {
  bool *doubted = stage_state(on, sizeof *doubted, NULL);
  if (doubted == NULL) return MEND_ENOMEM;
  if (*doubted) return MEND_OK;
  *doubted = true;
  return stage_doubt(on, "a call without its arguments: whether such calls repeat each other cannot be told");
}

static mend_status take_arguments_hash(stage *on, span *of) {
  const mend_str hash = otlp_text(on, &of->attributes, OTLP_ARGUMENTS_HASH);
  of->moment.has_args_hash = mend_hash_parse(hash, &of->moment.args_hash) == MEND_OK;
  return of->moment.has_args_hash ? MEND_OK : doubt_once(on);
}

/* What the end of a span is, whose status is an error. */
static stage_moment_kind failed_end(stage *on, const span *of, stage_moment_kind error) {
  static const struct {
    mend_str name;
    stage_moment_kind kind;
  } ends[] = {{{"cancelled", 9}, STAGE_CANCELLED},
              {{"skipped", 7}, STAGE_SKIPPED},
              {{"aborted", 7}, STAGE_ABORTED},
              {{"unfinished", 10}, STAGE_TIME_PASSES}};
  const mend_str how = otlp_text(on, &of->attributes, OTLP_ENDED);
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    if (mend_str_equal(how, ends[i].name)) return ends[i].kind;
  }
  return error;
}

static mend_status play_tool(stage *on, span *of, mend_error *error) {
  of->moment.id = otlp_text(on, &of->attributes, OTLP_CALL);
  if (of->moment.id.len == 0) of->moment.id = stage_text(on, of->fields[SPAN].value);
  of->moment.tool = tool_of(on, of);
  const mend_str arguments = otlp_json(on, &of->attributes, OTLP_ARGUMENTS);
  mend_status status = arguments.ptr != NULL ? MEND_OK : take_arguments_hash(on, of);
  if (status == MEND_OK) status = tell(on, of, STAGE_CALL, of->start_ns, arguments, error);
  if (status != MEND_OK || of->end_ns == 0) return status;
  if (of->failed) return tell(on, of, failed_end(on, of, STAGE_ERROR), of->end_ns, failure_of(on, of), error);
  return tell(on, of, STAGE_RESULT, of->end_ns, otlp_json(on, &of->attributes, OTLP_RESULT), error);
}

/* The first text in [{"role": "assistant", "parts": [{"type": "text", "content": "..."}]}]. */
static mend_str text_in_messages(stage *on, mend_str messages) {
  mend__json_items all = mend__json_items_of(messages);
  mend_str message, part;
  while (mend__json_items_next(&all, &message)) {
    mend__json_items parts = mend__json_items_of(json_member(message, MEND_STR("parts")));
    while (mend__json_items_next(&parts, &part)) {
      const mend_str text = json_member(part, MEND_STR("content"));
      if (!mend__json_is_string(text) || !json_string_is(json_member(part, MEND_STR("type")), MEND_STR("text")))
        continue;
      mend__buffer_clear(&on->scratch);
      if (!mend__buffer_reserve(&on->scratch, text.len)) continue;
      on->scratch.len = mend_json_unescape(mend__json_inside(text), on->scratch.data);
      return mend__buffer_text(&on->scratch);
    }
  }
  return (mend_str){NULL, 0};
}

static mend_str said_in(stage *on, const span *of) {
  const mend_str said = otlp_text(on, &of->attributes, OTLP_SAID),
                 messages = otlp_string(of->attributes.value[OTLP_MESSAGES]);
  if (said.len > 0 || messages.ptr == NULL) return said;
  return text_in_messages(on, stage_nested_json(on, messages));
}

/* Of pieces that are in no span nothing can be said: such a reply is asked for when it comes. */
static mend_status tell_request(stage *on, span *of, mend_error *error) {
  const bool streams = mend_str_equal(otlp_text(on, &of->attributes, OTLP_ASKED), MEND_STR("streaming"));
  return tell(on, of, STAGE_MODEL_REQUEST, streams ? of->end_ns : of->start_ns, (mend_str){NULL, 0}, error);
}

static mend_status play_model(stage *on, span *of, mend_error *error) {
  stage_tokens *tokens = &of->moment.tokens;
  tokens->model = otlp_text(on, &of->attributes, OTLP_MODEL);
  if (of->end_ns == 0) return MEND_OK;
  mend_status status = MEND_OK;
  if (otlp_text(on, &of->attributes, OTLP_ASKED).len > 0) status = tell_request(on, of, error);
  if (status != MEND_OK) return status;
  if (of->failed) return tell(on, of, failed_end(on, of, STAGE_MODEL_ERROR), of->end_ns, failure_of(on, of), error);
  status = tell(on, of, STAGE_MODEL_REPLY, of->end_ns, said_in(on, of), error);
  tokens->input = otlp_count(of->attributes.value[OTLP_INPUT_TOKENS]);
  tokens->output = otlp_count(of->attributes.value[OTLP_OUTPUT_TOKENS]);
  tokens->cost_usd = otlp_amount(of->attributes.value[OTLP_COST]);
  return status == MEND_OK ? tell(on, of, STAGE_USAGE, of->end_ns, (mend_str){NULL, 0}, error) : status;
}

/* What people said while the agent was at work: the text in {"name": "gen_ai.user.message", "attributes": [...]}. */
static mend_status play_messages(stage *on, span *of, mend_error *error) {
  mend__json_items events = mend__json_items_of(of->fields[EVENTS].value);
  mend_status status = MEND_OK;
  mend_str event;
  while (status == MEND_OK && mend__json_items_next(&events, &event)) {
    json_field fields[] = {JSON_FIELD("name"), JSON_FIELD("timeUnixNano"), JSON_FIELD("attributes")};
    if (!mend__json_is_object(event)) continue;
    json_fields_read(event, fields, 3, NULL);
    if (!json_string_is(fields[0].value, MEND_STR("gen_ai.user.message"))) continue;
    const uint64_t at_ns = otlp_time(fields[1].value);
    otlp_attributes said = {.rank = {0}};
    otlp_attributes_read(fields[2].value, &said);
    status =
        tell(on, of, STAGE_USER_MESSAGE, at_ns != 0 ? at_ns : of->start_ns, otlp_text(on, &said, OTLP_CONTENT), error);
  }
  return status;
}

/* Agents that work for another one of the same run begin and end in the middle of it. */
static mend_status play_agent(stage *on, span *of, mend_error *error) {
  if (of->is_of_trace && mend__json_inside(of->fields[PARENT].value).len > 0) return MEND_OK;
  const mend_str name = of->moment.run.agent;
  mend_status status = tell(on, of, STAGE_AGENT_STARTS, of->start_ns, name, error);
  if (status == MEND_OK) status = play_messages(on, of, error);
  return status == MEND_OK && of->end_ns != 0 ? tell(on, of, STAGE_AGENT_ENDS, of->end_ns, name, error) : status;
}

static mend_status play_span(stage *on, mend_str text, mend_str resource, mend_error *error) {
  json_field fields[SPAN_COUNT] = {SPAN_FIELDS(JSON_FIELD_ENTRY)};
  if (!mend__json_is_object(text)) return MEND_OK;
  json_fields_read(text, fields, SPAN_COUNT, NULL);
  char digits[OTLP_TRACE_ID_SIZE];
  span of = {.fields = fields, .moment = {.run = MEND_RUN_OPTIONS_INIT}};
  otlp_attributes_read(json_member(resource, MEND_STR("attributes")), &of.attributes);
  otlp_attributes_read(fields[ATTRIBUTES].value, &of.attributes);
  const otlp_span_kind kind = otlp_kind_of(&of.attributes);
  if (kind == OTLP_OTHER_SPAN) return MEND_OK;
  read_times(on, &of);
  of.failed = has_failed(fields[STATUS].value);
  name_run(on, &of, digits);
  switch (kind) {
  case OTLP_TOOL_SPAN: return play_tool(on, &of, error);
  case OTLP_MODEL_SPAN: return play_model(on, &of, error);
  default: return play_agent(on, &of, error);
  }
}

/* ---- Batches ----------------------------------------------------------------------------------------------- */

/* Goes to the next span in a list of {"resource", "scopeSpans": [{"spans": [...]}]}. */
typedef struct walk {
  mend__json_items resources, scopes, spans;
  mend_str resource;
} walk;

static walk walk_from(const json_field row[ROW_COUNT]) {
  walk at = {.resources = mend__json_items_of(row[RESOURCE_SPANS].value),
             .scopes = mend__json_items_of(row[SCOPE_SPANS].value),
             .spans = {.ended = true},
             .resource = row[RESOURCE].value};
  return at;
}

static bool next_span(walk *at, mend_str *ret_span) {
  mend_str scope, batch;
  while (!mend__json_items_next(&at->spans, ret_span)) {
    if (mend__json_items_next(&at->scopes, &scope)) {
      at->spans = mend__json_items_of(json_member(scope, MEND_STR("spans")));
    } else if (mend__json_items_next(&at->resources, &batch)) {
      json_field fields[ROW_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
      if (mend__json_is_object(batch)) json_fields_read(batch, fields, ROW_COUNT, NULL);
      at->scopes = mend__json_items_of(fields[SCOPE_SPANS].value);
      at->resource = fields[RESOURCE].value;
    } else {
      return false;
    }
  }
  return true;
}

static format_view look(mend_str row) {
  json_field fields[ROW_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, ROW_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  const bool is_batch =
      mend__json_is_array(fields[RESOURCE_SPANS].value) || mend__json_is_array(fields[SCOPE_SPANS].value);
  if (!is_batch) return (format_view){.reason = "no \"resourceSpans\" or \"scopeSpans\""};
  format_view view = {.fit = FIT_YES};
  walk at = walk_from(fields);
  mend_str text;
  while (!view.has_ts && next_span(&at, &text)) {
    view.ts_ns = otlp_time(json_member(text, MEND_STR("startTimeUnixNano")));
    view.has_ts = view.ts_ns != 0;
  }
  return view;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[ROW_COUNT] = {ROW_FIELDS(JSON_FIELD_ENTRY)};
  mend_status status = json_fields_read(row->text, fields, ROW_COUNT, error);
  if (status != MEND_OK) return status;
  const bool is_batch =
      mend__json_is_array(fields[RESOURCE_SPANS].value) || mend__json_is_array(fields[SCOPE_SPANS].value);
  const bool is_other =
      mend__json_is_array(fields[RESOURCE_LOGS].value) || mend__json_is_array(fields[RESOURCE_METRICS].value);
  if (!is_batch && !is_other) return mend_error_set(error, MEND_EINVAL, "not a batch: no \"resourceSpans\"");
  walk at = walk_from(fields);
  mend_str text;
  while (status == MEND_OK && next_span(&at, &text))
    status = play_span(on, text, at.resource, error);
  return status;
}

static const char *const containers[] = {"resourceSpans", NULL};
const format otlp_format = {.name = "otlp",
                            .title = "OpenTelemetry trace (OTLP)",
                            .containers = containers,
                            .has_clock = true,
                            .any_order = true,
                            .look = look,
                            .play = play};
