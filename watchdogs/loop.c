/* Loop: the last n calls of a run in a ring, and how often each pair of tool and arguments occurs in it in a
 * table. The calls of one pair are linked from the oldest to the newest, so a report can name the first. Both grow
 * with what the ring holds, up to n. */
#include "core/json_hash.h"
#include "core/options_size.h"
#include "mend/json.h"
#include "watchdogs/detector.h"
#include "watchdogs/table.h"

#include <stdio.h>

typedef struct loop_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  uint32_t k, n;
} loop_watchdog;

/* A call in the ring. */
typedef struct loop_call {
  mend_hash pair;
  uint64_t call;
  mend__kept_text name; /* its foreign id */
  uint32_t next;        /* place in the ring of the next call of this pair */
} loop_call;

/* A pair that occurs in the ring. */
typedef struct loop_pair {
  mend_hash pair;
  uint32_t count;
  uint32_t oldest, newest;
} loop_pair;

typedef struct loop_state {
  loop_watchdog *watchdog;
  loop_call *ring;
  uint32_t ring_capacity, ring_count, ring_oldest;
  mend__table pairs; /* of loop_pair */
  bool silent;       /* `reported` has been, and no other pair has come since */
  mend_hash reported;
} loop_state;

/* ---- The ring ---- */

/* The ring has not gone round before it holds n calls, so a longer one begins the same. */
static mend_status reserve_ring(loop_state *state) {
  const uint32_t n = state->watchdog->n;
  if (state->ring_count < state->ring_capacity || state->ring_capacity == n) return MEND_OK;
  uint32_t capacity = state->ring_capacity == 0 ? 2 : state->ring_capacity * 2;
  if (capacity > n) capacity = n;
  loop_call *ring = mend__realloc(state->watchdog->allocator, state->ring, capacity * sizeof *ring);
  if (ring == NULL) return MEND_ENOMEM;
  memset(ring + state->ring_capacity, 0, (capacity - state->ring_capacity) * sizeof *ring);
  state->ring = ring;
  state->ring_capacity = capacity;
  return MEND_OK;
}

/* The oldest call of the window is the oldest of its pair. */
static void forget_oldest(loop_state *state) {
  const loop_call *oldest = &state->ring[state->ring_oldest];
  loop_pair *pair = mend__table_find(&state->pairs, sizeof *pair, oldest->pair);
  pair->oldest = oldest->next;
  if (--pair->count == 0) mend__table_take(&state->pairs, sizeof *pair, pair);
  state->ring_oldest = (state->ring_oldest + 1) % state->ring_capacity;
  state->ring_count--;
}

static loop_pair *count_call(loop_state *state, mend_hash key, uint32_t place) {
  loop_pair *pair = mend__table_find(&state->pairs, sizeof *pair, key);
  if (pair != NULL) {
    state->ring[pair->newest].next = place;
  } else {
    pair = mend__table_add(&state->pairs, sizeof *pair, key);
    pair->oldest = place;
  }
  pair->newest = place;
  pair->count++;
  return pair;
}

/* Takes the call into the window. After an error the window is as it was. */
static mend_status remember(loop_state *state, const mend_event *event, mend_hash key, const loop_pair **ret_pair) {
  const bool is_full = state->ring_count == state->watchdog->n;
  mend_status status = reserve_ring(state);
  if (status == MEND_OK) status = mend__table_reserve(&state->pairs, sizeof(loop_pair), state->watchdog->allocator);
  if (status != MEND_OK) return status;
  const uint32_t place = (state->ring_oldest + state->ring_count) % state->ring_capacity;
  loop_call *call = &state->ring[place]; /* when the ring is full, the oldest one's: it goes now */
  if (!mend__kept_text_set(&call->name, event->call_name, (mend_str)MEND_ABSENT, state->watchdog->allocator))
    return MEND_ENOMEM;
  if (is_full) forget_oldest(state);
  call->pair = key;
  call->call = event->call;
  state->ring_count++;
  *ret_pair = count_call(state, key, place);
  return MEND_OK;
}

/* ---- The pair ---- */

static mend_status hash_args(const loop_state *state, mend_str args, mend_hash *ret_hash) {
  mend_json_hash_result result;
  const mend_status status = mend__json_hash_alloc(args, state->watchdog->allocator, &result);
  if (status != MEND_OK) return status;
  if (result.raw) mend__count(&state->watchdog->counters.raw);
  *ret_hash = result.hash;
  return MEND_OK;
}

/* The arguments' hash, zero for a call without any. */
static mend_status find_args_hash(const loop_state *state, const mend_tool_before_event *before, mend_hash *ret_hash) {
  *ret_hash = before->args_hash;
  if (!mend_hash_is_none(before->args_hash) || before->args.ptr == NULL) return MEND_OK;
  return hash_args(state, before->args, ret_hash);
}

/* Never none, whatever hash an event brings. */
static mend_hash make_pair(mend_str tool_name, mend_hash args_hash) {
  const mend_hash tool = mend_hash_bytes(tool_name);
  const mend_hash pair = {args_hash.hi + tool.hi * 3, args_hash.lo + tool.lo * 3};
  return mend_hash_is_none(pair) ? tool : pair;
}

/* ---- Reporting ---- */

static void write_summary(mend__buffer *text, const loop_watchdog *watchdog, mend_str tool_name, uint32_t count) {
  mend__buffer_tool(text, tool_name);
  mend__buffer_str(text, MEND_STR(" was called "));
  mend__buffer_u64(text, count);
  mend__buffer_str(text, MEND_STR(" times with the same arguments in the last "));
  mend__buffer_u64(text, watchdog->n);
  mend__buffer_str(text, MEND_STR(" calls"));
}

static void write_payload(mend__buffer *text, const loop_watchdog *watchdog, mend_str tool_name, mend_hash args_hash,
                          uint32_t count) {
  char hash[MEND_HASH_TEXT_SIZE];
  mend_hash_format(args_hash, hash);
  mend__buffer_str(text, MEND_STR("{\"tool_name\":"));
  mend__buffer_json_string(text, tool_name);
  mend__buffer_printf(text, ",\"args_hash\":\"%s\",\"count\":%u,\"window_size\":%u}", hash, count, watchdog->n);
}

static mend_status report(const loop_state *state, const loop_pair *pair, const mend_tool_before_event *before,
                          mend_hash args_hash, mend_emitter *emitter) {
  const loop_watchdog *watchdog = state->watchdog;
  const loop_call *first = &state->ring[pair->oldest], *last = &state->ring[pair->newest];
  char first_digits[MEND__CALL_DIGITS], last_digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = MEND_STR("repeat");
  detection.severity = pair->count / (2.0 * watchdog->k);
  detection.tool_name = before->tool_name;
  detection.first_call = mend__call_text(first->call, mend__kept_text_first(&first->name), first_digits);
  detection.last_call = mend__call_text(last->call, mend__kept_text_first(&last->name), last_digits);
  detection.count = pair->count;
  detection.steer = MEND_STR("asking again has not helped so far: use what it answered, or try something else");

  mend__buffer text;
  mend__buffer_init(&text, watchdog->allocator);
  write_summary(&text, watchdog, before->tool_name, pair->count);
  const size_t payload_at = text.len;
  write_payload(&text, watchdog, before->tool_name, args_hash, pair->count);
  const mend_status status = mend__emit_written(emitter, &detection, &text, payload_at);
  mend__buffer_free(&text);
  return status;
}

static mend_status loop_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  loop_state *state = ctx;
  const mend_tool_before_event *before = (const mend_tool_before_event *)event;
  if (before->tool_name.len == 0) {
    mend__count(&state->watchdog->counters.ignored);
    return MEND_OK;
  }
  mend_hash args_hash;
  const loop_pair *pair = NULL;
  mend_status status = find_args_hash(state, before, &args_hash);
  const mend_hash key = make_pair(before->tool_name, args_hash);
  if (status == MEND_OK) status = remember(state, event, key, &pair);
  if (status != MEND_OK) return status;
  if (state->silent && mend_hash_equal(state->reported, key)) return MEND_OK;
  state->silent = false;
  if (pair->count <= state->watchdog->k) return MEND_OK;
  status = report(state, pair, before, args_hash, emitter);
  state->silent = status == MEND_OK;
  state->reported = key;
  return status;
}

/* ---- States ---- */

static mend_status loop_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  loop_watchdog *watchdog = ctx;
  loop_state *state = mend__alloc_zero(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  state->watchdog = watchdog;
  *ret_state = state;
  return MEND_OK;
}

static void free_memory(loop_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  for (uint32_t i = 0; i < state->ring_capacity; i++)
    mend__kept_text_free(&state->ring[i].name, allocator);
  mend__free(allocator, state->ring);
  mend__free(allocator, state->pairs.items);
}

static void loop_reset(void *ctx) {
  loop_state *state = ctx;
  free_memory(state);
  *state = (loop_state){.watchdog = state->watchdog};
}

static void loop_close(void *ctx) {
  loop_state *state = ctx;
  free_memory(state);
  mend__free(state->watchdog->allocator, state);
}

static void loop_destroy(void *ctx) {
  loop_watchdog *watchdog = ctx;
  mend__free(watchdog->allocator, watchdog);
}

static void loop_describe(void *ctx, char *text, size_t size) {
  const loop_state *state = ctx;
  snprintf(text, size, "calls %u of %u, different %zu%s", state->ring_count, state->watchdog->n, state->pairs.count,
           state->silent ? ", silent until another one comes" : "");
}

static const mend_watchdog_vtable loop_vtable = {
    .size = sizeof loop_vtable,
    .name = "loop",
    .topics = "tool.before",
    .open = loop_open,
    .event = loop_event,
    .reset = loop_reset,
    .close = loop_close,
    .destroy = loop_destroy,
    .describe = loop_describe,
};

mend_status mend_loop_watchdog_new(const mend_loop_watchdog_options *given, const mend_allocator *allocator,
                                   mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.loop, given, "mend_loop_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  loop_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog loop: out of memory");
  watchdog->allocator = allocator;
  watchdog->k = options.loop.k;
  watchdog->n = options.loop.n;
  status = mend__watchdog_new_counting(&loop_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  if (status != MEND_OK) mend__free(allocator, watchdog);
  return status;
}
