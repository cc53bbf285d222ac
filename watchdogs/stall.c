/* Stall: which calls are open, and since when. Calls are records in a hash table by their number and, until they are
 * reported or end, in mend_deadlines; records of calls that ended are used again. */
#include "core/options_size.h"
#include "watchdogs/watchdogs_internal.h"

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
  uint64_t call;
  open_call *record; /* NULL: free */
} open_place;

typedef struct stall_state {
  stall_watchdog *watchdog;
  mend_deadlines *deadlines;
  open_place *table; /* open addressing, linear probing; NULL until the first call */
  size_t capacity;   /* 0 or a power of two */
  size_t count;
  open_call *free;
} stall_state;

/* ---- The table ---- */

static size_t home(const stall_state *state, uint64_t call) {
  const uint64_t mixed = (call ^ call >> 32) * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(mixed >> 32) & (state->capacity - 1);
}

static size_t after(const stall_state *state, size_t place) { return (place + 1) & (state->capacity - 1); }

/* The place of the call, or the free one where it belongs. */
static open_place *find(const stall_state *state, uint64_t call) {
  size_t place = home(state, call);
  while (state->table[place].record != NULL && state->table[place].call != call)
    place = after(state, place);
  return &state->table[place];
}

/* Keeps a quarter of the table free. */
static mend_status reserve_place(stall_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  if (state->count < state->capacity / 4 * 3) return MEND_OK;
  stall_state larger = *state;
  larger.capacity = state->capacity == 0 ? 8 : state->capacity * 2;
  larger.table = mend__alloc_zero(allocator, larger.capacity * sizeof *larger.table);
  if (larger.table == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < state->capacity; i++) {
    if (state->table[i].record != NULL) *find(&larger, state->table[i].call) = state->table[i];
  }
  mend__free(allocator, state->table);
  *state = larger;
  return MEND_OK;
}

/* Frees a place and moves up those behind it that it kept from their home. */
static void free_place(stall_state *state, open_place *freed) {
  const size_t mask = state->capacity - 1;
  size_t place = (size_t)(freed - state->table);
  for (size_t next = after(state, place); state->table[next].record != NULL; next = after(state, next)) {
    const size_t distance = (next - home(state, state->table[next].call)) & mask;
    if (distance < ((next - place) & mask)) continue;
    state->table[place] = state->table[next];
    place = next;
  }
  state->table[place].record = NULL;
}

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

static mend_status reserve(stall_state *state) {
  if (state->deadlines == NULL) {
    const mend_status status =
        mend_deadlines_new(state->watchdog->allocator, (mend_waker){NULL, NULL}, &state->deadlines);
    if (status != MEND_OK) return status;
  }
  return reserve_place(state);
}

static mend_status start(stall_state *state, const mend_tool_before_event *before) {
  mend_status status = reserve(state);
  if (status != MEND_OK) return status;
  open_place *place = find(state, before->event.call);
  if (place->record != NULL) return start_again(state, place->record, before);
  if (state->count >= OPEN_MAX) {
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
  *place = (open_place){record->call, record};
  state->count++;
  start_timer(state, record);
  return MEND_OK;
}

static void end(stall_state *state, uint64_t call) {
  if (state->count == 0) return;
  open_place *place = find(state, call);
  open_call *record = place->record;
  if (record == NULL) return;
  mend_deadlines_disarm(state->deadlines, &record->deadline);
  free_place(state, place);
  state->count--;
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
  for (size_t i = 0; i < state->capacity; i++) {
    if (state->table[i].record != NULL) give_back(state, state->table[i].record);
  }
  for (open_call *record = state->free, *next; record != NULL; record = next) {
    next = record->next_free;
    mend__kept_text_free(&record->names, allocator);
    mend__free(allocator, record);
  }
  mend__free(allocator, state->table);
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
