#include "program/replay/otlp_writer.h"

#include "core/memory.h"
#include "program/base/sums.h"
#include "program/replay/otlp_open_spans.h"

/* So many runs are open at once, and so much is kept of what is open; then all of it is written, and a run that goes on
 * is a second span. */
enum { RUNS_MAX = 100000 };
static const size_t KEPT_MAX = 64 * 1024 * 1024;

/* What people say is kept until their run ends, so much of each run. */
static const size_t SAID_MAX = 4 * 1024 * 1024;

/* Times that are made up begin in the year 2000 and are a millisecond apart. */
static const uint64_t MADE_UP_START_NS = 946684800 * UINT64_C(1000000000), MADE_UP_STEP_NS = 1000000;

struct otlp_writer {
  otlp_line line;
  otlp_open_spans calls, runs;
  size_t said; /* bytes, in all runs */
  bool makes_up_times;
  bool was_full; /* and all was written: the spans of runs are no longer their first */
  uint64_t last_ns;
  uint64_t events, made; /* events, and ids of spans, so far */
  uint64_t unanswered;   /* requests to models, in no call */
  uint64_t unannounced;  /* runs that did not begin with agent.start */
  tally lost;
};

otlp_writer *otlp_writer_new(FILE *out) {
  otlp_writer *writer = mend__alloc_zero(NULL, sizeof *writer);
  if (writer == NULL) return NULL;
  writer->line.out = out;
  otlp_open_spans_init(&writer->calls);
  otlp_open_spans_init(&writer->runs);
  mend__buffer_init(&writer->line.text, NULL);
  return writer;
}

void otlp_writer_free(otlp_writer *writer) {
  if (writer == NULL) return;
  otlp_open_spans_free(&writer->calls);
  otlp_open_spans_free(&writer->runs);
  mend__buffer_free(&writer->line.text);
  mend__free(NULL, writer);
}

void otlp_writer_make_up_times(otlp_writer *writer) { writer->makes_up_times = true; }

uint64_t otlp_writer_count(const otlp_writer *writer) { return writer->line.count; }

const tally *otlp_writer_lost(const otlp_writer *writer) { return &writer->lost; }

uint64_t otlp_writer_unannounced(const otlp_writer *writer) { return writer->unannounced; }

void otlp_writer_until(otlp_writer *writer, uint64_t wall_ns) {
  if (!writer->makes_up_times && wall_ns > writer->last_ns) writer->last_ns = wall_ns;
}

/* What is closed before the end goes on, unseen: that is no call that never ended. */
static mend_status close_all(otlp_writer *writer, bool at_end) {
  const otlp_span_end unfinished = {.error_type = MEND_STR("unfinished"),
                                    .message = MEND_STR("it was still open at the end of the recording"),
                                    .is_no_error = at_end};
  const otlp_span_end fine = {.result = {NULL, 0}};
  mend_status status = otlp_open_spans_close_all(&writer->calls, &writer->line, &unfinished, writer->last_ns);
  if (status == MEND_OK) status = otlp_open_spans_close_all(&writer->runs, &writer->line, &fine, writer->last_ns);
  writer->said = 0;
  return status;
}

mend_status otlp_writer_finish(otlp_writer *writer) {
  const mend_status status = close_all(writer, true);
  for (; writer->unanswered > 0; writer->unanswered--)
    tally_add(&writer->lost, MEND_STR("model.request without a reply"));
  return status == MEND_OK ? otlp_line_flush(&writer->line) : status;
}

/* ---- Spans ------------------------------------------------------------------------------------------------- */

static uint64_t time_of(const otlp_writer *writer, const mend_event *event) {
  return writer->makes_up_times ? MADE_UP_START_NS + writer->events * MADE_UP_STEP_NS : event->wall_ns;
}

/* A span of the writer's own. */
static void make_id(otlp_writer *writer, const mend_event *event, uint8_t ret_id[8]) {
  char name[32];
  const int len = snprintf(name, sizeof name, "span %llu", (unsigned long long)++writer->made);
  mend_run_span_id(event->run, mend_call_from_name((mend_str){name, (size_t)len}), ret_id);
}

/* Begins with the event; NULL when out of memory. */
static otlp_span *new_span(const otlp_writer *writer, otlp_work of, const mend_event *event, const uint8_t span_id[8],
                           mend_str name, mend_str arguments) {
  const mend_str call = of == OTLP_TOOL_WORK ? event->call_name : (mend_str){NULL, 0};
  otlp_span *span = otlp_span_new(of, event->run, event->trace_id, span_id, name, call, arguments);
  if (span != NULL) span->begin_ns = span->end_ns = time_of(writer, event);
  return span;
}

static otlp_span *find_call(const otlp_writer *writer, const mend_event *event) {
  return otlp_open_spans_find(&writer->calls, event->trace_id, event->span_id);
}

static void lose(otlp_writer *writer, const mend_event *event, const char *why) {
  char what[64];
  const mend_str topic = mend_bus_topic_name(mend_run_bus(event->run), event->topic);
  snprintf(what, sizeof what, "%.*s%s", MEND_STR_ARG(topic), why);
  tally_add(&writer->lost, mend_str_from(what));
}

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static void forget_said(otlp_writer *writer, otlp_span *run) {
  writer->said -= run->said.len;
  mend__buffer_free(&run->said);
  mend__buffer_init(&run->said, NULL);
}

/* The agent stopped, and goes on. */
static void begin_again(otlp_writer *writer, otlp_span *run, const mend_event *event) {
  make_id(writer, event, run->id);
  run->begin_ns = time_of(writer, event);
  run->input_tokens = run->output_tokens = 0;
  run->cost_usd = 0;
  run->asked_ns = 0;
  run->ended = false;
  run->is_at_work = event->kind == MEND_EVENT_AGENT_START;
}

static mend_status begin_run(otlp_writer *writer, const mend_event *event, const uint8_t span_id[8],
                             otlp_span **ret_span) {
  otlp_span *span = new_span(writer, OTLP_AGENT_WORK, event, span_id, mend_run_agent(event->run), (mend_str){NULL, 0});
  const mend_status status = otlp_open_spans_add(&writer->runs, span);
  if (status != MEND_OK) return status;
  if (writer->was_full) make_id(writer, event, span->id);
  span->is_at_work = event->kind == MEND_EVENT_AGENT_START;
  writer->unannounced += !span->is_at_work;
  mend_run_parent_span_id(event->run, span->parent);
  *ret_span = span;
  return MEND_OK;
}

static bool is_full(const otlp_writer *writer) {
  return writer->runs.by_key.count >= RUNS_MAX || writer->runs.bytes + writer->calls.bytes + writer->said > KEPT_MAX;
}

static mend_status run_span(otlp_writer *writer, const mend_event *event, otlp_span **ret_span) {
  uint8_t span_id[8];
  mend_status status = MEND_OK;
  if (is_full(writer)) {
    status = close_all(writer, false);
    writer->was_full = true;
  }
  mend_run_span_id(event->run, 0, span_id);
  *ret_span = otlp_open_spans_find(&writer->runs, event->trace_id, span_id);
  if (status == MEND_OK && *ret_span == NULL) status = begin_run(writer, event, span_id, ret_span);
  if (status != MEND_OK) return status;
  if ((*ret_span)->ended) begin_again(writer, *ret_span, event);
  (*ret_span)->end_ns = writer->last_ns;
  return MEND_OK;
}

static mend_status end_run(otlp_writer *writer, otlp_span *run) {
  const mend_status status = otlp_span_write(&writer->line, run, &(otlp_span_end){.result = {NULL, 0}});
  run->ended = true;
  forget_said(writer, run);
  return status;
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

/* One that begins again without having ended, as a later attempt does, is one span. */
static mend_status begin_call(otlp_writer *writer, otlp_span *run, otlp_work of, const mend_event *event, mend_str name,
                              mend_str arguments) {
  if (find_call(writer, event) != NULL) return MEND_OK;
  otlp_span *span = new_span(writer, of, event, event->span_id, name, arguments);
  const mend_status status = otlp_open_spans_add(&writer->calls, span);
  if (status != MEND_OK) return status;
  span->run = run;
  memcpy(span->parent, run->id, sizeof span->parent);
  return MEND_OK;
}

static mend_status end_call(otlp_writer *writer, const mend_event *event, const otlp_span_end *end) {
  otlp_span *span = find_call(writer, event);
  if (span == NULL) {
    lose(writer, event, " without a call");
    return MEND_OK;
  }
  span->end_ns = time_of(writer, event);
  return otlp_open_spans_close(&writer->calls, span, &writer->line, end);
}

static mend_status begin_tool(otlp_writer *writer, otlp_span *run, const mend_tool_before_event *call) {
  if (call->event.call == 0) {
    lose(writer, &call->event, " without call_id");
    return MEND_OK;
  }
  const mend_status status = begin_call(writer, run, OTLP_TOOL_WORK, &call->event, call->tool_name, call->args);
  if (status == MEND_OK) find_call(writer, &call->event)->args_hash = call->args_hash;
  return status;
}

/* ---- Models and people ------------------------------------------------------------------------------------- */

static mend_status begin_model(otlp_writer *writer, otlp_span *run, const mend_model_request_event *request) {
  if (request->event.call == 0) {
    writer->unanswered++;
    run->asked_ns = writer->last_ns;
    run->was_lively = false;
    return MEND_OK;
  }
  const mend_status status =
      begin_call(writer, run, OTLP_MODEL_WORK, &request->event, request->model, (mend_str){NULL, 0});
  if (status == MEND_OK) find_call(writer, &request->event)->was_asked_for = true;
  return status;
}

/* Also of a reply in no call, from the run's last request on; one that no request announced has no length. */
static mend_status end_model(otlp_writer *writer, otlp_span *run, const mend_event *event, mend_str model,
                             const otlp_span_end *end) {
  if (event->call != 0 && find_call(writer, event) != NULL) return end_call(writer, event, end);
  uint8_t span_id[8];
  make_id(writer, event, span_id);
  otlp_span *span = new_span(writer, OTLP_MODEL_WORK, event, span_id, model, (mend_str){NULL, 0});
  if (span == NULL) return MEND_ENOMEM;
  memcpy(span->parent, run->id, sizeof span->parent);
  span->was_asked_for = run->asked_ns > 0;
  if (span->was_asked_for) span->begin_ns = run->asked_ns;
  span->was_lively = run->was_lively;
  writer->unanswered -= span->was_asked_for;
  run->asked_ns = 0;
  const mend_status status = otlp_span_write(&writer->line, span, end);
  otlp_span_free(span);
  return status;
}

/* A reply that is on its way. */
static void note_life(otlp_writer *writer, otlp_span *run, const mend_event *event) {
  otlp_span *asked = find_call(writer, event);
  (asked != NULL ? asked : run)->was_lively = true;
  lose(writer, event, "");
}

static mend_status take_usage(otlp_writer *writer, otlp_span *run, const mend_model_usage_event *usage) {
  otlp_span *asked = find_call(writer, &usage->event), *span = asked != NULL ? asked : run;
  if (usage->input_tokens != MEND_NONE) span->input_tokens = sum_of(span->input_tokens, usage->input_tokens);
  if (usage->output_tokens != MEND_NONE) span->output_tokens = sum_of(span->output_tokens, usage->output_tokens);
  if (usage->cost_usd > 0) span->cost_usd += usage->cost_usd;
  return MEND_OK;
}

static mend_status take_message(otlp_writer *writer, otlp_span *run, const mend_user_message_event *message) {
  mend__buffer *said = &run->said;
  const size_t before = said->len;
  if (before + message->text.len > SAID_MAX) {
    lose(writer, &message->event, "");
    return MEND_OK;
  }
  if (before > 0) mend__buffer_char(said, ',');
  mend__buffer_printf(said, "{\"timeUnixNano\":\"%llu\",\"name\":\"gen_ai.user.message\",\"attributes\":[",
                      (unsigned long long)time_of(writer, &message->event));
  otlp_add_string(said, "content", message->text);
  mend__buffer_str(said, MEND_STR("]}"));
  writer->said += said->len - before;
  return said->failed ? MEND_ENOMEM : MEND_OK;
}

/* ---- Events ------------------------------------------------------------------------------------------------ */

static mend_status take_event(otlp_writer *writer, otlp_span *run, const mend_any_event *any) {
  const mend_event *event = &any->event;
  otlp_span_end end;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_tool(writer, run, &any->tool_before);
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: end = otlp_span_end_of(any); return end_call(writer, event, &end);
  case MEND_EVENT_MODEL_REQUEST: return begin_model(writer, run, &any->model_request);
  case MEND_EVENT_MODEL_RESPONSE:
    end = otlp_span_end_of(any);
    return end_model(writer, run, event, any->model_response.model, &end);
  case MEND_EVENT_MODEL_ERROR:
    end = otlp_span_end_of(any);
    return end_model(writer, run, event, any->model_error.model, &end);
  case MEND_EVENT_MODEL_USAGE: return take_usage(writer, run, &any->model_usage);
  case MEND_EVENT_USER_MESSAGE: return take_message(writer, run, &any->user_message);
  case MEND_EVENT_AGENT_END: return end_run(writer, run);
  case MEND_EVENT_AGENT_START:
  case MEND_EVENT_RUN_STARTED:
  case MEND_EVENT_RUN_FINISHED: return MEND_OK;
  case MEND_EVENT_MODEL_DELTA:
  case MEND_EVENT_MODEL_RETRY: note_life(writer, run, event); return MEND_OK;
  default: lose(writer, event, ""); return MEND_OK;
  }
}

mend_status otlp_writer_event(void *ctx, const mend_event *event) {
  otlp_writer *writer = ctx;
  otlp_span *run;
  writer->events++;
  writer->last_ns = time_of(writer, event);
  const mend_status status = run_span(writer, event, &run);
  return status == MEND_OK ? take_event(writer, run, (const mend_any_event *)event) : status;
}
