/* Which spans there are: of runs and their calls, open ones and the latest finished ones. Records of spans that are
 * gone are used again. */
#include "core/memory.h"
#include "healing_runner/tracer_internal.h"

static mend_str key_of(const uint8_t id[8]) { return (mend_str){(const char *)id, 8}; }

/* ---- Lists ---- */

static void list_init(mend__link *list) { *list = (mend__link){list, list}; }

static bool list_is_empty(const mend__link *list) { return list->next == list; }

static void list_append(mend__link *list, mend__link *link) {
  *link = (mend__link){list->previous, list};
  list->previous->next = link;
  list->previous = link;
}

static void list_take(mend__link *link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
  list_init(link);
}

/* ---- Runs ---- */

static mend__traced_run *run_new(const mend__spans *spans, const mend_run *run, const uint8_t span_id[8]) {
  const mend_str id = mend_run_id(run);
  mend__traced_run *traced = mend__alloc_zero(spans->allocator, sizeof *traced + id.len);
  if (traced == NULL) return NULL;
  traced->references = 1;
  mend_run_trace_id(run, traced->trace_id);
  memcpy(traced->span_id, span_id, sizeof traced->span_id);
  list_init(&traced->open_spans);
  traced->id_len = id.len;
  memcpy(traced->id, id.ptr, id.len);
  return traced;
}

static void run_release(mend__spans *spans, mend__traced_run *run) {
  if (--run->references == 0) mend__free(spans->allocator, run);
}

/* ---- Records of spans ---- */

static mend__span *record_take(mend__spans *spans) {
  if (list_is_empty(&spans->unused)) return mend__alloc(spans->allocator, sizeof(mend__span));
  mend__span *span = MEND__CONTAINER(spans->unused.next, mend__span, in_list);
  list_take(&span->in_list);
  return span;
}

static mend__span *record_fill(mend__spans *spans, mend__span *span, mend__traced_run *run, const mend_event *event,
                               const char *kind) {
  *span = (mend__span){.run = run, .kind = kind, .is_open = true};
  run->references++;
  span->start = (mend__span_time){event->mono_ns, event->wall_ns};
  span->order = ++spans->begun;
  list_append(&spans->open, &span->in_list);
  list_append(&run->open_spans, &span->in_run);
  spans->open_count++;
  return span;
}

static void unlist(mend__spans *spans, mend__span *span) {
  list_take(&span->in_list);
  if (span->is_open) list_take(&span->in_run);
  --*(span->is_open ? &spans->open_count : &spans->finished_count);
}

static void drop(mend__spans *spans, mend__span *span) {
  unlist(spans, span);
  if (span->call != 0) mend__strmap_remove(&spans->calls, key_of(span->span_id));
  if (span->run->span == span) span->run->span = NULL;
  run_release(spans, span->run);
  list_append(&spans->unused, &span->in_list);
}

/* ---- Room ---- */

static void forget(mend__spans *spans, mend__traced_run *run) {
  while (!list_is_empty(&run->open_spans)) {
    drop(spans, MEND__CONTAINER(run->open_spans.next, mend__span, in_run));
    spans->forgotten++;
  }
  list_take(&run->by_age);
  mend__strmap_remove(&spans->runs, key_of(run->span_id));
  run_release(spans, run);
}

/* The run that was heard of longest ago makes room, with its open spans, but not `wanted`, which asks. */
static bool make_room(mend__spans *spans, const mend__traced_run *wanted) {
  while (spans->open_count >= spans->open_limit || spans->runs.count > spans->open_limit) {
    mend__traced_run *oldest = MEND__CONTAINER(spans->known.next, mend__traced_run, by_age);
    if (oldest == wanted) return false;
    forget(spans, oldest);
  }
  return true;
}

/* ---- Beginning and end ---- */

static mend__span *begin_run(mend__spans *spans, mend__traced_run *run, const mend_event *event) {
  mend__span *span = make_room(spans, run) ? record_take(spans) : NULL;
  if (span == NULL) return NULL;
  record_fill(spans, span, run, event, "run");
  memcpy(span->span_id, run->span_id, sizeof span->span_id);
  mend_run_parent_span_id(event->run, span->parent_id);
  mend__span_set_name(span, mend_run_agent(event->run));
  run->span = span;
  return span;
}

static mend__traced_run *make_known(mend__spans *spans, const mend_event *event, const uint8_t span_id[8]) {
  mend__traced_run *run = run_new(spans, event->run, span_id);
  if (run == NULL) return NULL;
  if (mend__strmap_put(&spans->runs, key_of(run->span_id), run) != MEND_OK) {
    run_release(spans, run);
    return NULL;
  }
  list_append(&spans->known, &run->by_age);
  if (begin_run(spans, run, event) != NULL) return run;
  forget(spans, run);
  return NULL;
}

mend__traced_run *mend__spans_hear(mend__spans *spans, const mend_event *event) {
  uint8_t span_id[8];
  mend_run_span_id(event->run, 0, span_id);
  mend__traced_run *run = mend__strmap_get(&spans->runs, key_of(span_id));
  if (run == NULL) return make_known(spans, event, span_id);
  list_take(&run->by_age);
  list_append(&spans->known, &run->by_age);
  return run;
}

mend__span *mend__spans_find(const mend__spans *spans, const mend_run *run, uint64_t call) {
  uint8_t span_id[8];
  mend_run_span_id(run, call, span_id);
  return mend__strmap_get(&spans->calls, key_of(span_id));
}

mend__span *mend__spans_begin(mend__spans *spans, mend__traced_run *run, const mend_event *event, const char *kind,
                              const uint8_t parent_id[8]) {
  mend__span *span = make_room(spans, run) ? record_take(spans) : NULL;
  if (span == NULL) return NULL;
  record_fill(spans, span, run, event, kind);
  span->call = event->call;
  mend_run_span_id(event->run, event->call, span->span_id);
  memcpy(span->parent_id, parent_id, sizeof span->parent_id);
  if (mend__strmap_put(&spans->calls, key_of(span->span_id), span) == MEND_OK) return span;
  drop(spans, span);
  return NULL;
}

/* Its run may have been forgotten since, and be known anew. */
bool mend__spans_reopen(mend__spans *spans, mend__traced_run *run, mend__span *span) {
  if (!make_room(spans, run)) return false;
  unlist(spans, span);
  run->references++;
  run_release(spans, span->run);
  span->run = run;
  span->is_open = true;
  span->status_len = 0;
  list_append(&spans->open, &span->in_list);
  list_append(&run->open_spans, &span->in_run);
  spans->open_count++;
  return true;
}

void mend__spans_end(mend__spans *spans, mend__span *span, const mend_event *event, mend_str status) {
  unlist(spans, span);
  span->is_open = false;
  span->end = (mend__span_time){event->mono_ns, event->wall_ns};
  span->status_len = (uint8_t)mend__utf8_cut(status, MEND__SPAN_STATUS_MAX);
  if (span->status_len > 0) memcpy(span->status, status.ptr, span->status_len);
  list_append(&spans->finished, &span->in_list);
  spans->finished_count++;
  spans->ended++;
}

void mend__spans_trim(mend__spans *spans) {
  while (spans->finished_count > spans->finished_limit)
    drop(spans, MEND__CONTAINER(spans->finished.next, mend__span, in_list));
}

/* ---- Looking ---- */

mend__span *mend__spans_next(const mend__spans *spans, const mend__span *span) {
  const mend__link *next = span != NULL ? span->in_list.next : spans->finished.next;
  if (next == &spans->finished) next = spans->open.next;
  return next != &spans->open ? MEND__CONTAINER(next, mend__span, in_list) : NULL;
}

mend__span mend__span_copy(const mend__span *span) {
  span->run->references++;
  return *span;
}

void mend__span_copy_release(mend__spans *spans, mend__span *copy) { run_release(spans, copy->run); }

uint64_t mend__span_duration_ns(const mend__span *span, uint64_t now_ns) {
  const uint64_t end_ns = span->is_open ? now_ns : span->end.mono_ns;
  return end_ns > span->start.mono_ns ? end_ns - span->start.mono_ns : 0;
}

void mend__span_set_name(mend__span *span, mend_str name) {
  if (name.len == 0) return;
  span->name_len = (uint8_t)mend__utf8_cut(name, MEND__SPAN_NAME_MAX);
  memcpy(span->name, name.ptr, span->name_len);
}

/* ---- All of them ---- */

void mend__spans_init(mend__spans *spans, const mend_tracer_options *options, const mend_allocator *allocator) {
  *spans = (mend__spans){
      .allocator = allocator, .open_limit = options->open_limit, .finished_limit = options->finished_limit};
  mend__strmap_init(&spans->runs, allocator);
  mend__strmap_init(&spans->calls, allocator);
  list_init(&spans->known);
  list_init(&spans->open);
  list_init(&spans->finished);
  list_init(&spans->unused);
}

void mend__spans_free(mend__spans *spans) {
  spans->finished_limit = 0;
  mend__spans_trim(spans);
  while (!list_is_empty(&spans->known))
    forget(spans, MEND__CONTAINER(spans->known.next, mend__traced_run, by_age));
  while (!list_is_empty(&spans->unused))
    mend__free(spans->allocator, record_take(spans));
  mend__strmap_free(&spans->runs);
  mend__strmap_free(&spans->calls);
}
