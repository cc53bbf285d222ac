#include "core/memory.h"
#include "core/options_size.h"
#include "healing_runner/tracer_internal.h"

#include <pthread.h>

struct mend_tracer {
  mend_bus *bus;
  mend_subscription *subscription;
  void (*finished)(void *ctx, const mend_span *span);
  void *finished_ctx;

  pthread_mutex_t lock; /* covers all below */
  mend__spans spans;
  uint64_t untraced;
};

static mend_span view(const mend__span *span) {
  mend_span seen = {.size = sizeof seen};
  memcpy(seen.trace_id, span->run->trace_id, sizeof seen.trace_id);
  memcpy(seen.span_id, span->span_id, sizeof seen.span_id);
  memcpy(seen.parent_span_id, span->parent_id, sizeof seen.parent_span_id);
  seen.kind = span->kind;
  seen.name = mend__span_name(span);
  seen.run_id = mend__span_run_id(span);
  seen.call = span->call;
  seen.start_ns = span->start.wall_ns;
  seen.end_ns = span->is_open ? 0 : span->end.wall_ns;
  seen.duration_ms = span->is_open ? MEND_NAN : (double)mend__span_duration_ns(span, 0) / 1e6;
  seen.attempts = span->attempts;
  seen.status = mend__span_status(span);
  seen.detections = span->detections;
  return seen;
}

/* ---- Events of calls ---- */

/* A call as the events of tools and models tell it. */
typedef struct call_event {
  const mend_event *event;
  const char *kind; /* "tool" or "model" */
  mend_str name;
  uint64_t attempt; /* MEND_NONE: not said */
  uint8_t parent[8];
} call_event;

static void count_attempt(mend__span *span, uint64_t attempt) {
  if (attempt == MEND_NONE) attempt = (uint64_t)span->attempts + 1;
  if (attempt > UINT32_MAX) attempt = UINT32_MAX;
  if (attempt > span->attempts) span->attempts = (uint32_t)attempt;
}

/* Whether the call is traced. A later attempt goes on with the span of the first and gives it its name, for it may ask
 * another model; while that is open, only one that says so is another attempt, and else the same start told twice. */
static bool begin_call(mend_tracer *tracer, mend__traced_run *run, const call_event *begun) {
  const mend_event *event = begun->event;
  if (event->call == 0) return false;
  mend__span *span = mend__spans_find(&tracer->spans, event->run, event->call);
  if (span == NULL) {
    span = mend__spans_begin(&tracer->spans, run, event, begun->kind, begun->parent);
    if (span == NULL) return false;
  } else if (span->is_open) {
    if (begun->attempt == MEND_NONE) return true;
  } else if (!mend__spans_reopen(&tracer->spans, run, span)) {
    return false;
  }
  mend__span_set_name(span, begun->name);
  count_attempt(span, begun->attempt);
  return true;
}

/* The span of the call that it is made in, or of the run. */
static void find_parent(const mend_event *event, uint64_t within, uint8_t ret_id[8]) {
  mend_run_span_id(event->run, within != MEND_NONE ? within : 0, ret_id);
}

static bool begin_tool(mend_tracer *tracer, mend__traced_run *run, const mend_event *event) {
  const mend_tool_before_event *before = (const mend_tool_before_event *)event;
  call_event begun = {event, "tool", before->tool_name, before->attempt, {0}};
  find_parent(event, before->within, begun.parent);
  return begin_call(tracer, run, &begun);
}

static bool begin_model(mend_tracer *tracer, mend__traced_run *run, const mend_event *event) {
  const mend_model_request_event *request = (const mend_model_request_event *)event;
  call_event begun = {event, "model", request->model, request->attempt, {0}};
  find_parent(event, request->within, begun.parent);
  return begin_call(tracer, run, &begun);
}

static void retry_model(mend_tracer *tracer, const mend_model_retry_event *retry) {
  mend__span *span = mend__spans_find(&tracer->spans, retry->event.run, retry->event.call);
  if (span != NULL) count_attempt(span, retry->attempt);
}

/* A topic without its prefix. */
static mend_str last_part(mend_str topic) {
  const char *dot = memchr(topic.ptr, '.', topic.len);
  return (mend_str){dot + 1, topic.len - (size_t)(dot + 1 - topic.ptr)};
}

/* Returns the span, NULL when none of that kind is open. */
static mend__span *end_call(mend_tracer *tracer, const mend_event *event, const char *kind) {
  mend__span *span = mend__spans_find(&tracer->spans, event->run, event->call);
  if (span == NULL || strcmp(span->kind, kind) != 0) {
    tracer->untraced++;
    return NULL;
  }
  if (!span->is_open) return NULL;
  mend__spans_end(&tracer->spans, span, event, last_part(mend_event_kind_topic(event->kind)));
  return span;
}

/* ---- Events of runs ---- */

static void name_run(mend__traced_run *run, const mend_run_started_event *started) {
  if (run->span != NULL && run->span->name_len == 0) mend__span_set_name(run->span, started->name);
}

static mend__span *end_run(mend_tracer *tracer, mend__traced_run *run, const mend_run_finished_event *finished) {
  if (run->span == NULL || !run->span->is_open) return NULL;
  const mend_str status = finished->status.len > 0 ? finished->status : MEND_STR("finished");
  mend__spans_end(&tracer->spans, run->span, &finished->event, status);
  return run->span;
}

static void count_detection(mend_tracer *tracer, mend__traced_run *run, const mend_detection_event *detection) {
  if (run->span != NULL) run->span->detections++;
  const uint64_t call = mend_call_from_name(detection->last_call_id);
  mend__span *span = call != 0 ? mend__spans_find(&tracer->spans, detection->event.run, call) : NULL;
  if (span != NULL) span->detections++;
}

/* ---- Every event ---- */

/* Returns the span that it ended. */
static mend__span *take(mend_tracer *tracer, const mend_event *event) {
  mend__traced_run *run = mend__spans_hear(&tracer->spans, event);
  if (run == NULL) {
    tracer->untraced++;
    return NULL;
  }
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: tracer->untraced += !begin_tool(tracer, run, event); return NULL;
  case MEND_EVENT_MODEL_REQUEST: tracer->untraced += !begin_model(tracer, run, event); return NULL;
  case MEND_EVENT_MODEL_RETRY: retry_model(tracer, (const mend_model_retry_event *)event); return NULL;
  case MEND_EVENT_RUN_STARTED: name_run(run, (const mend_run_started_event *)event); return NULL;
  case MEND_EVENT_DETECTION: count_detection(tracer, run, (const mend_detection_event *)event); return NULL;
  case MEND_EVENT_RUN_FINISHED: return end_run(tracer, run, (const mend_run_finished_event *)event);
  case MEND_EVENT_MODEL_RESPONSE:
  case MEND_EVENT_MODEL_ERROR: return end_call(tracer, event, "model");
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: return end_call(tracer, event, "tool");
  default: return NULL;
  }
}

/* Without the lock: who is told may publish. */
static void tell(mend_tracer *tracer, mend__span *ended) {
  const mend_span span = view(ended);
  tracer->finished(tracer->finished_ctx, &span);
  pthread_mutex_lock(&tracer->lock);
  mend__span_copy_release(&tracer->spans, ended);
  pthread_mutex_unlock(&tracer->lock);
}

static mend_status on_event(void *ctx, const mend_event *event) {
  mend_tracer *tracer = ctx;
  mend__span copy;
  pthread_mutex_lock(&tracer->lock);
  const mend__span *ended = take(tracer, event);
  const bool tells = ended != NULL && tracer->finished != NULL;
  if (tells) copy = mend__span_copy(ended);
  if (ended != NULL) mend__spans_trim(&tracer->spans);
  pthread_mutex_unlock(&tracer->lock);
  if (tells) tell(tracer, &copy);
  return MEND_OK;
}

/* ---- Life ---- */

static mend_status check(const mend_bus *bus, const mend_tracer_options *options, mend_error *error) {
  const uint32_t most = UINT32_C(1) << 20;
  if (bus == NULL) return mend_error_set(error, MEND_EINVAL, "a tracer: the bus is NULL");
  const mend_status status =
      mend__options_check_range("mend_tracer_options.open_limit", options->open_limit, 1, most, error);
  if (status != MEND_OK) return status;
  return mend__options_check_range("mend_tracer_options.finished_limit", options->finished_limit, 0, most, error);
}

/* No thread is in the handler any more. */
static void destroy(void *ctx) {
  mend_tracer *tracer = ctx;
  const mend_allocator *allocator = tracer->spans.allocator;
  mend__spans_free(&tracer->spans);
  pthread_mutex_destroy(&tracer->lock);
  mend__free(allocator, tracer);
}

static mend_tracer *tracer_new(mend_bus *bus, const mend_tracer_options *options) {
  const mend_allocator *allocator = mend_bus_allocator(bus);
  mend_tracer *tracer = mend__alloc_zero(allocator, sizeof *tracer);
  if (tracer == NULL) return NULL;
  if (pthread_mutex_init(&tracer->lock, NULL) != 0) {
    mend__free(allocator, tracer);
    return NULL;
  }
  tracer->bus = bus;
  tracer->finished = options->finished;
  tracer->finished_ctx = options->finished_ctx;
  mend__spans_init(&tracer->spans, options, allocator);
  return tracer;
}

mend_status mend_tracer_new(mend_bus *bus, const mend_tracer_options *given, mend_tracer **ret_tracer,
                            mend_error *error) {
  mend_tracer_options options = MEND_TRACER_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_tracer_options", error);
  if (status == MEND_OK) status = check(bus, &options, error);
  if (status != MEND_OK) return status;
  mend_tracer *tracer = tracer_new(bus, &options);
  status = tracer != NULL ? mend_bus_subscribe(bus, "*", on_event, tracer, destroy, &tracer->subscription, NULL)
                          : MEND_ENOMEM;
  if (status != MEND_OK) {
    if (tracer != NULL) destroy(tracer);
    return mend_error_set(error, status, "a tracer: %s", mend_status_message(status));
  }
  mend_bus_retain(bus);
  *ret_tracer = tracer;
  return MEND_OK;
}

void mend_tracer_free(mend_tracer *tracer) {
  if (tracer == NULL) return;
  mend_bus *bus = tracer->bus;
  mend_subscription *subscription = tracer->subscription;
  mend_subscription_close(&subscription);
  mend_bus_release(bus);
}

/* ---- Looking ---- */

void mend_tracer_each(mend_tracer *tracer, bool (*visit)(void *ctx, const mend_span *span), void *ctx) {
  pthread_mutex_lock(&tracer->lock);
  const mend__span *span = NULL;
  while ((span = mend__spans_next(&tracer->spans, span)) != NULL) {
    const mend_span seen = view(span);
    if (!visit(ctx, &seen)) break;
  }
  pthread_mutex_unlock(&tracer->lock);
}

static bool is_wanted(const mend__span *span, const char *run_id) {
  return run_id == NULL || mend_str_equal(mend__span_run_id(span), mend_str_from(run_id));
}

/* NULL when out of memory. */
static mend__span *copy_spans(mend_tracer *tracer, const char *run_id, const mend_allocator *allocator,
                              size_t *ret_count) {
  mend__spans *spans = &tracer->spans;
  mend__span *copies = mend__alloc(allocator, (spans->open_count + spans->finished_count) * sizeof *copies);
  if (copies == NULL) return NULL;
  *ret_count = 0;
  for (const mend__span *span = NULL; (span = mend__spans_next(spans, span)) != NULL;) {
    if (is_wanted(span, run_id)) copies[(*ret_count)++] = mend__span_copy(span);
  }
  return copies;
}

mend_status mend_tracer_draw(mend_tracer *tracer, const char *run_id, const mend_allocator *allocator,
                             char **ret_text) {
  if (tracer == NULL) return MEND_EINVAL;
  size_t count;
  pthread_mutex_lock(&tracer->lock);
  mend__span *copies = copy_spans(tracer, run_id, allocator, &count);
  pthread_mutex_unlock(&tracer->lock);
  if (copies == NULL) return MEND_ENOMEM;
  const uint64_t now_ns = mend_clock_now(mend_bus_clock(tracer->bus)).mono_ns;
  const mend_status status = mend__trace_draw(copies, count, now_ns, allocator, ret_text);
  pthread_mutex_lock(&tracer->lock);
  for (size_t i = 0; i < count; i++)
    mend__span_copy_release(&tracer->spans, &copies[i]);
  pthread_mutex_unlock(&tracer->lock);
  mend__free(allocator, copies);
  return status;
}

void mend_tracer_get_stats(mend_tracer *tracer, mend_tracer_stats *ret_stats) {
  mend_tracer_stats stats = {.size = sizeof stats};
  pthread_mutex_lock(&tracer->lock);
  stats.open = tracer->spans.open_count;
  stats.finished = tracer->spans.ended;
  stats.untraced = tracer->untraced;
  stats.forgotten = tracer->spans.forgotten;
  pthread_mutex_unlock(&tracer->lock);
  mend__options_give(ret_stats, &stats);
}
