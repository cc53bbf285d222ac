#include "program/replay/otlp_writer.h"

#include "core/memory.h"
#include "core/strmap.h"
#include "program/replay/otlp_span.h"

/* So many runs are open at once; then all of them are written, and one that goes on is a second span. */
enum { RUNS_MAX = 100000 };

/* What people say is kept until their run ends, so much of each run. */
static const size_t SAID_MAX = 4 * 1024 * 1024;

/* Times that are made up begin in the year 2000 and are a millisecond apart. */
static const uint64_t MADE_UP_START_NS = 946684800 * UINT64_C(1000000000), MADE_UP_STEP_NS = 1000000;

struct otlp_writer {
  otlp_line line;
  mend__strmap calls, runs;
  bool makes_up_times;
  uint64_t events, made; /* events, and ids of spans, so far */
  uint64_t unannounced;  /* runs that did not begin with agent.start */
  tally lost;
};

otlp_writer *otlp_writer_new(FILE *out) {
  otlp_writer *writer = mend__alloc_zero(NULL, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->line.out = out;
  mend__strmap_init(&writer->calls, NULL);
  mend__strmap_init(&writer->runs, NULL);
  mend__buffer_init(&writer->line.text, NULL);
  return writer;
}

void otlp_writer_make_up_times(otlp_writer *writer) { writer->makes_up_times = true; }

uint64_t otlp_writer_count(const otlp_writer *writer) { return writer->line.count; }

const tally *otlp_writer_lost(const otlp_writer *writer) { return &writer->lost; }

uint64_t otlp_writer_unannounced(const otlp_writer *writer) { return writer->unannounced; }

static uint64_t time_of(const otlp_writer *writer, const mend_event *event) {
  return writer->makes_up_times ? MADE_UP_START_NS + writer->events * MADE_UP_STEP_NS : event->wall_ns;
}

/* ---- Open spans -------------------------------------------------------------------------------------------- */

static void free_spans(mend__strmap *spans) {
  size_t position = 0;
  for (otlp_span *span; (span = mend__strmap_next(spans, &position)) != NULL;)
    otlp_span_free(span);
  mend__strmap_free(spans);
}

void otlp_writer_free(otlp_writer *writer) {
  if (writer == NULL) return;
  free_spans(&writer->calls);
  free_spans(&writer->runs);
  mend__buffer_free(&writer->line.text);
  mend__free(NULL, writer);
}

static otlp_span *find(const mend__strmap *spans, const mend_event *event) {
  char key[OTLP_SPAN_KEY_SIZE];
  otlp_span_key(key, event->trace_id, event->span_id);
  return mend__strmap_get(spans, (mend_str){key, OTLP_SPAN_KEY_SIZE});
}

static mend_status keep_open(mend__strmap *spans, otlp_span *span) {
  const mend_status status = mend__strmap_put(spans, (mend_str){span->key, OTLP_SPAN_KEY_SIZE}, span);
  if (status != MEND_OK) otlp_span_free(span);
  return status;
}

/* ---- Ending ------------------------------------------------------------------------------------------------ */

static mend_status close_span(otlp_writer *writer, mend__strmap *spans, otlp_span *span, const otlp_span_end *end) {
  mend__strmap_remove(spans, (mend_str){span->key, OTLP_SPAN_KEY_SIZE});
  const mend_status status = otlp_span_write(&writer->line, span, end);
  otlp_span_free(span);
  return status;
}

static mend_status close_all(otlp_writer *writer, mend__strmap *spans, const otlp_span_end *end) {
  mend_status status = MEND_OK;
  size_t position = 0;
  for (otlp_span *span; (span = mend__strmap_next(spans, &position)) != NULL;) {
    if (span->run != NULL) span->end_ns = span->run->end_ns;
    if (span->ended) continue;
    const mend_status written = status == MEND_OK ? otlp_span_write(&writer->line, span, end) : status;
    status = written;
  }
  free_spans(spans);
  mend__strmap_init(spans, NULL);
  return status;
}

mend_status otlp_writer_finish(otlp_writer *writer) {
  const otlp_span_end unfinished = {.error_type = MEND_STR("unfinished"),
                                    .message = MEND_STR("it was still open at the end of the recording")};
  const otlp_span_end fine = {.result = {NULL, 0}};
  mend_status status = close_all(writer, &writer->calls, &unfinished);
  if (status == MEND_OK) status = close_all(writer, &writer->runs, &fine);
  return status == MEND_OK ? otlp_line_flush(&writer->line) : status;
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

/* A span of the writer's own. */
static void make_id(otlp_writer *writer, const mend_event *event, uint8_t ret_id[8]) {
  char name[32];
  const int len = snprintf(name, sizeof name, "span %llu", (unsigned long long)++writer->made);
  mend_run_span_id(event->run, mend_call_from_name((mend_str){name, (size_t)len}), ret_id);
}

/* The agent stopped, and goes on. */
static void begin_again(otlp_writer *writer, otlp_span *run, const mend_event *event) {
  make_id(writer, event, run->id);
  run->begin_ns = time_of(writer, event);
  run->input_tokens = run->output_tokens = 0;
  run->cost_usd = 0;
  mend__buffer_clear(&run->said);
  run->ended = false;
}

static mend_status run_span(otlp_writer *writer, const mend_event *event, otlp_span **ret_span) {
  uint8_t span_id[8];
  char key[OTLP_SPAN_KEY_SIZE];
  mend_run_span_id(event->run, 0, span_id);
  otlp_span_key(key, event->trace_id, span_id);
  otlp_span *span = mend__strmap_get(&writer->runs, (mend_str){key, OTLP_SPAN_KEY_SIZE});
  mend_status status = MEND_OK;
  if (span == NULL && writer->runs.count >= RUNS_MAX) status = otlp_writer_finish(writer);
  if (span == NULL && status == MEND_OK) {
    const mend_str texts[4] = {mend_run_agent(event->run), mend_run_id(event->run)};
    span = otlp_span_new("invoke_agent", span_id, event->trace_id, time_of(writer, event), texts);
    if (span == NULL) return MEND_ENOMEM;
    writer->unannounced += event->kind != MEND_EVENT_AGENT_START;
    mend_run_parent_span_id(event->run, span->parent);
    status = keep_open(&writer->runs, span);
  }
  if (status != MEND_OK) return status;
  if (span->ended) begin_again(writer, span, event);
  span->end_ns = time_of(writer, event);
  *ret_span = span;
  return MEND_OK;
}

static void lose(otlp_writer *writer, const mend_event *event, const char *why) {
  char what[64];
  const mend_str topic = mend_bus_topic_name(mend_run_bus(event->run), event->topic);
  snprintf(what, sizeof what, "%.*s%s", MEND_STR_ARG(topic), why);
  tally_add(&writer->lost, mend_str_from(what));
}

/* One that begins again without having ended, as a later attempt does, is one span. */
static mend_status begin_call(otlp_writer *writer, otlp_span *run, const char *operation, const mend_event *event,
                              mend_str name, mend_str arguments) {
  if (find(&writer->calls, event) != NULL) return MEND_OK;
  const mend_str texts[4] = {name, mend_run_id(event->run), event->call_name, arguments};
  otlp_span *span = otlp_span_new(operation, event->span_id, event->trace_id, time_of(writer, event), texts);
  if (span == NULL) return MEND_ENOMEM;
  span->run = run;
  memcpy(span->parent, run->id, sizeof span->parent);
  return keep_open(&writer->calls, span);
}

static mend_status end_call(otlp_writer *writer, const mend_event *event, const otlp_span_end *end) {
  otlp_span *span = find(&writer->calls, event);
  if (span == NULL) {
    lose(writer, event, " without a call");
    return MEND_OK;
  }
  span->end_ns = time_of(writer, event);
  return close_span(writer, &writer->calls, span, end);
}

static mend_status begin_tool(otlp_writer *writer, otlp_span *run, const mend_tool_before_event *call) {
  if (call->event.call != 0) return begin_call(writer, run, "execute_tool", &call->event, call->tool_name, call->args);
  lose(writer, &call->event, " without call_id");
  return MEND_OK;
}

/* ---- Models and people ------------------------------------------------------------------------------------- */

/* A reply that no request announced is a span as well, without length. */
static mend_status end_model(otlp_writer *writer, otlp_span *run, const mend_event *event, mend_str model,
                             const otlp_span_end *end) {
  if (event->call != 0 && find(&writer->calls, event) != NULL) return end_call(writer, event, end);
  uint8_t span_id[8];
  make_id(writer, event, span_id);
  const mend_str texts[4] = {model, mend_run_id(event->run)};
  otlp_span *span = otlp_span_new("chat", span_id, event->trace_id, time_of(writer, event), texts);
  if (span == NULL) return MEND_ENOMEM;
  memcpy(span->parent, run->id, sizeof span->parent);
  const mend_status status = otlp_span_write(&writer->line, span, end);
  otlp_span_free(span);
  return status;
}

static void add_usage(otlp_span *span, const mend_model_usage_event *usage) {
  if (usage->input_tokens != MEND_NONE) span->input_tokens += usage->input_tokens;
  if (usage->output_tokens != MEND_NONE) span->output_tokens += usage->output_tokens;
  if (usage->cost_usd > 0) span->cost_usd += usage->cost_usd;
}

static mend_status end_run(otlp_writer *writer, otlp_span *run) {
  run->ended = true;
  return otlp_span_write(&writer->line, run, &(otlp_span_end){.result = {NULL, 0}});
}

static mend_status take_usage(otlp_writer *writer, otlp_span *run, const mend_model_usage_event *usage) {
  otlp_span *asked = find(&writer->calls, &usage->event);
  add_usage(asked != NULL ? asked : run, usage);
  return MEND_OK;
}

static mend_status take_message(otlp_writer *writer, otlp_span *run, const mend_user_message_event *message) {
  mend__buffer *said = &run->said;
  if (said->len + message->text.len > SAID_MAX) {
    lose(writer, &message->event, "");
    return MEND_OK;
  }
  if (said->len > 0) mend__buffer_char(said, ',');
  mend__buffer_printf(said, "{\"timeUnixNano\":\"%llu\",\"name\":\"gen_ai.user.message\",\"attributes\":[",
                      (unsigned long long)time_of(writer, &message->event));
  otlp_add_string(said, "content", message->text);
  mend__buffer_str(said, MEND_STR("]}"));
  return said->failed ? MEND_ENOMEM : MEND_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

static mend_str or_else(mend_str text, const char *other) { return text.len > 0 ? text : mend_str_from(other); }

static mend_status take_event(otlp_writer *writer, otlp_span *run, const mend_any_event *any) {
  const mend_event *event = &any->event;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_tool(writer, run, &any->tool_before);
  case MEND_EVENT_TOOL_AFTER: return end_call(writer, event, &(otlp_span_end){.result = any->tool_after.result});
  case MEND_EVENT_TOOL_ERROR:
    return end_call(writer, event,
                    &(otlp_span_end){.error_type = or_else(any->tool_error.error_type, "_OTHER"),
                                     .message = any->tool_error.error_message});
  case MEND_EVENT_TOOL_SKIPPED:
    return end_call(writer, event,
                    &(otlp_span_end){.error_type = MEND_STR("skipped"), .message = any->tool_skipped.reason});
  case MEND_EVENT_TOOL_ABORTED:
    return end_call(writer, event,
                    &(otlp_span_end){.error_type = MEND_STR("aborted"), .message = any->tool_aborted.reason});
  case MEND_EVENT_TOOL_CANCELLED:
    return end_call(writer, event,
                    &(otlp_span_end){.error_type = MEND_STR("cancelled"), .message = any->tool_cancelled.reason});
  case MEND_EVENT_MODEL_REQUEST:
    if (event->call == 0) return MEND_OK;
    return begin_call(writer, run, "chat", event, any->model_request.model, (mend_str){NULL, 0});
  case MEND_EVENT_MODEL_RESPONSE:
    return end_model(
        writer, run, event, any->model_response.model,
        &(otlp_span_end){.result = any->model_response.text, .finish_reason = any->model_response.finish_reason});
  case MEND_EVENT_MODEL_ERROR:
    return end_model(writer, run, event, any->model_error.model,
                     &(otlp_span_end){.error_type = or_else(any->model_error.error_type, "_OTHER"),
                                      .message = any->model_error.error});
  case MEND_EVENT_MODEL_USAGE: return take_usage(writer, run, &any->model_usage);
  case MEND_EVENT_USER_MESSAGE: return take_message(writer, run, &any->user_message);
  case MEND_EVENT_AGENT_END: return end_run(writer, run);
  case MEND_EVENT_AGENT_START:
  case MEND_EVENT_RUN_STARTED:
  case MEND_EVENT_RUN_FINISHED: return MEND_OK;
  default: lose(writer, event, ""); return MEND_OK;
  }
}

mend_status otlp_writer_event(void *ctx, const mend_event *event) {
  otlp_writer *writer = ctx;
  otlp_span *run;
  writer->events++;
  const mend_status status = run_span(writer, event, &run);
  return status == MEND_OK ? take_event(writer, run, (const mend_any_event *)event) : status;
}
