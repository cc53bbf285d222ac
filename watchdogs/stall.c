/* Stall: which calls are open, and since when. Calls are records in a table by their number and, until they are
 * reported or end, in mend_deadlines; records of calls that ended are used again. */
#include "core/options_size.h"
#include "core/seconds.h"
#include "watchdogs/detector.h"
#include "watchdogs/table.h"

#include <stdio.h>

enum { OPEN_MAX = 65536 };

typedef struct stall_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  uint64_t timeout_ns;
} stall_watchdog;

/* What is touched when a call ends comes first. */
typedef struct open_call {
  mend_deadline deadline;
  uint64_t call;
  uint64_t attempt;
  uint64_t started_ns, started_wall_ns;
  struct open_call *next_free;
  mend__kept_text names; /* the tool's, the call's */
} open_call;

/* A place of the table; the number is here too, so that looking for another one does not touch the record. */
typedef struct open_place {
  mend_hash call; /* its number */
  open_call *record;
} open_place;

typedef struct stall_state {
  stall_watchdog *watchdog;
  mend_deadlines *deadlines;
  mend__table calls; /* of open_place */
  open_call *free;
} stall_state;

/* ---- Records ---- */

static open_call *take_record(stall_state *state) {
  open_call *record = state->free;
  if (record == NULL) return mend__alloc_zero(state->watchdog->allocator, sizeof *record);
  state->free = record->next_free;
  return record;
}

static void give_back(stall_state *state, open_call *record) {
  record->next_free = state->free;
  state->free = record;
}

static mend_status fill_record(const stall_state *state, open_call *record, const mend_tool_before_event *before) {
  const mend_event *event = &before->event;
  if (!mend__kept_text_set(&record->names, before->tool_name, event->call_name, state->watchdog->allocator)) {
    return MEND_ENOMEM;
  }
  record->call = event->call;
  record->attempt = before->attempt != MEND_NONE ? before->attempt : 1;
  record->started_ns = event->mono_ns;
  record->started_wall_ns = event->wall_ns;
  return MEND_OK;
}

static void start_timer(stall_state *state, open_call *record) {
  mend_deadlines_arm(state->deadlines, &record->deadline, record->started_ns, state->watchdog->timeout_ns);
}

/* ---- Events ---- */

/* A later attempt starts anew; anything else is the same start told twice. */
static mend_status start_again(stall_state *state, open_call *record, const mend_tool_before_event *before) {
  if (before->attempt == MEND_NONE || before->attempt <= record->attempt) {
    mend__count(&state->watchdog->counters.duplicates);
    return MEND_OK;
  }
  const mend_status status = fill_record(state, record, before);
  if (status == MEND_OK) start_timer(state, record);
  return status;
}

static mend_hash key_of(uint64_t call) { return (mend_hash){0, call}; }

static mend_status reserve(stall_state *state) {
  if (state->deadlines == NULL) {
    const mend_status status =
        mend_deadlines_new(state->watchdog->allocator, (mend_waker){NULL, NULL}, &state->deadlines);
    if (status != MEND_OK) return status;
  }
  return mend__table_reserve(&state->calls, sizeof(open_place), state->watchdog->allocator);
}

static mend_status start(stall_state *state, const mend_tool_before_event *before) {
  mend_status status = reserve(state);
  if (status != MEND_OK) return status;
  const mend_hash key = key_of(before->event.call);
  open_place *place = mend__table_find(&state->calls, sizeof *place, key);
  if (place != NULL) return start_again(state, place->record, before);
  if (state->calls.count >= OPEN_MAX) {
    mend__count(&state->watchdog->counters.unwatched);
    return MEND_OK;
  }
  open_call *record = take_record(state);
  if (record == NULL) return MEND_ENOMEM;
  status = fill_record(state, record, before);
  if (status != MEND_OK) {
    give_back(state, record);
    return status;
  }
  place = mend__table_add(&state->calls, sizeof *place, key);
  place->record = record;
  start_timer(state, record);
  return MEND_OK;
}

static void end(stall_state *state, uint64_t call) {
  open_place *place = mend__table_find(&state->calls, sizeof *place, key_of(call));
  if (place == NULL) return;
  open_call *record = place->record;
  mend_deadlines_disarm(state->deadlines, &record->deadline);
  mend__table_take(&state->calls, sizeof *place, place);
  give_back(state, record);
}

static mend_status stall_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  (void)emitter;
  stall_state *state = ctx;
  if (event->call == 0) {
    mend__count(&state->watchdog->counters.ignored);
    return MEND_OK;
  }
  if (event->kind == MEND_EVENT_TOOL_BEFORE) return start(state, (const mend_tool_before_event *)event);
  end(state, event->call);
  return MEND_OK;
}

/* ---- Time ---- */

static uint64_t stall_deadline(void *ctx) {
  stall_state *state = ctx;
  return state->deadlines != NULL ? mend_deadlines_next(state->deadlines) : MEND_NEVER;
}

static void write_payload(mend__buffer *text, const open_call *record, mend_str call_id, uint64_t elapsed_ns) {
  mend__buffer_str(text, MEND_STR("{\"call_id\":"));
  mend__buffer_json_string(text, call_id);
  mend__buffer_str(text, MEND_STR(",\"started_at\":"));
  mend__buffer_seconds(text, record->started_wall_ns);
  mend__buffer_str(text, MEND_STR(",\"elapsed_s\":"));
  mend__buffer_seconds(text, elapsed_ns);
  mend__buffer_char(text, '}');
}

static mend_status report(const stall_state *state, const open_call *record, uint64_t now_ns, mend_emitter *emitter) {
  const uint64_t elapsed_ns = now_ns - record->started_ns;
  const uint64_t timeout_ns = state->watchdog->timeout_ns;
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("tool_total");
  detection.severity = (double)elapsed_ns / (2 * (double)timeout_ns);
  detection.tool_name = mend__kept_text_first(&record->names);
  detection.first_call = mend__call_text(record->call, mend__kept_text_second(&record->names), digits);
  detection.last_call = detection.first_call;
  detection.steer = MEND_STR("give the call a time limit of its own, or split it into smaller ones");

  mend__buffer text;
  mend__buffer_init(&text, state->watchdog->allocator);
  mend__buffer_tool(&text, detection.tool_name);
  mend__buffer_str(&text, MEND_STR(" has not returned for "));
  mend__buffer_tenths(&text, elapsed_ns);
  mend__buffer_str(&text, MEND_STR(" s"));
  const size_t payload_at = text.len;
  write_payload(&text, record, detection.first_call, elapsed_ns);
  const mend_status status = mend__emit_written(emitter, &detection, &text, payload_at);
  mend__buffer_free(&text);
  return status;
}

/* Those of the earliest deadline only: the watch asks again for the next one. A call that could not be reported stays
 * due. */
static mend_status stall_expire(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  stall_state *state = ctx;
  const uint64_t due_ns = stall_deadline(state);
  if (due_ns > now_ns) return MEND_OK;
  for (mend_deadline *due; (due = mend_deadlines_expire(state->deadlines, due_ns)) != NULL;) {
    open_call *record = MEND__CONTAINER(due, open_call, deadline);
    const mend_status status = report(state, record, now_ns, emitter);
    if (status == MEND_OK) continue;
    start_timer(state, record);
    return status;
  }
  return MEND_OK;
}

/* ---- States ---- */

static mend_status stall_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  stall_watchdog *watchdog = ctx;
  stall_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  *ret_state = state;
  return MEND_OK;
}

static void free_memory(stall_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  mend_deadlines_free(state->deadlines);
  const open_place *places = state->calls.items;
  for (size_t i = 0; i < state->calls.capacity; i++) {
    if (!mend_hash_is_none(places[i].call)) give_back(state, places[i].record);
  }
  for (open_call *record = state->free, *next; record != NULL; record = next) {
    next = record->next_free;
    mend__kept_text_free(&record->names, allocator);
    mend__free(allocator, record);
  }
  mend__free(allocator, state->calls.items);
}

static void stall_reset(void *ctx) {
  stall_state *state = ctx;
  free_memory(state);
  *state = (stall_state){.watchdog = state->watchdog};
}

static void stall_close(void *ctx) {
  stall_state *state = ctx;
  free_memory(state);
  mend__free(state->watchdog->allocator, state);
}

static void stall_destroy(void *ctx) {
  stall_watchdog *watchdog = ctx;
  mend__free(watchdog->allocator, watchdog);
}

static void stall_describe(void *ctx, char *text, size_t size) {
  const stall_state *state = ctx;
  const size_t waiting = state->deadlines != NULL ? mend_deadlines_count(state->deadlines) : 0;
  snprintf(text, size, "open calls %zu, reported %zu", state->calls.count, state->calls.count - waiting);
}

static const mend_watchdog_vtable stall_vtable = {
    .size = sizeof stall_vtable,
    .name = "stall",
    .topics = "tool.before tool.after tool.error tool.skipped tool.aborted tool.cancelled",
    .open = stall_open,
    .event = stall_event,
    .deadline = stall_deadline,
    .expire = stall_expire,
    .reset = stall_reset,
    .close = stall_close,
    .destroy = stall_destroy,
    .describe = stall_describe,
};

mend_status mend_stall_watchdog_new(const mend_stall_watchdog_options *given, const mend_allocator *allocator,
                                    mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.stall, given, "mend_stall_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  stall_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog stall: out of memory");
  watchdog->allocator = allocator;
  watchdog->timeout_ns = mend__seconds_to_ns(options.stall.timeout_s);
  status = mend__watchdog_new_counting(&stall_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  if (status != MEND_OK) mend__free(allocator, watchdog);
  return status;
}
