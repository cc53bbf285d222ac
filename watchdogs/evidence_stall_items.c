#include "core/seconds.h"
#include "watchdogs/evidence_stall.h"

enum { OPEN_MAX = 65536 };

/* A place of the table; the number is here too, so that looking for another one does not touch the item. */
typedef struct item_place {
  mend_hash key;
  mend__stall_item *item;
} item_place;

/* Calls and requests of one number are two things, and a request may have none. */
static mend_hash key_of(mend__stall_kind kind, uint64_t call) { return (mend_hash){kind + UINT64_C(1), call}; }

/* ---- Limits ---- */

uint64_t mend__stall_end_of(const mend__stall_limit *limit) {
  return mend__ns_later(limit->start_ns, limit->timeout_ns);
}

static bool was_told(const mend__stall_item *item, mend__stall_reason reason) {
  return (item->told >> reason & 1) != 0;
}

static void consider(const mend__stall_item *item, mend__stall_limit limit, mend__stall_limit *best, bool *has_one) {
  if (was_told(item, limit.reason)) return;
  if (*has_one && mend__stall_end_of(&limit) >= mend__stall_end_of(best)) return;
  *best = limit;
  *has_one = true;
}

static uint64_t longer(uint64_t a, uint64_t b) { return a > b ? a : b; }

static uint64_t progress_limit(const mend__stall_watchdog *watchdog, uint64_t timeout_ns) {
  enum { TIMES = 20 };
  if (watchdog->progress_ns != 0) return longer(watchdog->progress_ns, timeout_ns);
  return timeout_ns < MEND_NEVER / TIMES ? timeout_ns * TIMES : MEND_NEVER;
}

/* Heartbeats count as life, but only for so long. Without any of them the call is idle, and when that was told and it
 * is silent still there is nothing to add. */
static void consider_call(const mend__stall_watchdog *watchdog, const mend__stall_item *item, mend__stall_limit *best,
                          bool *has_one) {
  const uint64_t timeout_ns = item->timeout_ns;
  const uint64_t total_ns = longer(watchdog->total_ns, timeout_ns), progress_ns = progress_limit(watchdog, timeout_ns);
  const bool told = was_told(item, MEND__STALL_TOOL_IDLE) || was_told(item, MEND__STALL_TOOL_TOTAL);
  if (told && item->seen_ns <= item->told_ns) return;
  consider(item, (mend__stall_limit){item->started_ns, total_ns, MEND__STALL_TOOL_TOTAL}, best, has_one);
  if (item->nested > 0) return;
  consider(item, (mend__stall_limit){item->seen_ns, timeout_ns, MEND__STALL_TOOL_IDLE}, best, has_one);
  if (item->seen_ns <= item->progress_ns) return;
  consider(item, (mend__stall_limit){item->progress_ns, progress_ns, MEND__STALL_HEARTBEAT}, best, has_one);
}

static mend__stall_limit limit_of_stream(const mend__stall_watchdog *watchdog, const mend__stall_item *item) {
  return item->has_progressed
             ? (mend__stall_limit){item->progress_ns, watchdog->stream_idle_ns, MEND__STALL_STREAM_IDLE}
             : (mend__stall_limit){item->started_ns, watchdog->first_token_ns, MEND__STALL_NO_FIRST_TOKEN};
}

bool mend__stall_limit_of(const mend__stall_state *state, const mend__stall_item *item, mend__stall_limit *ret_limit) {
  const mend__stall_watchdog *watchdog = state->watchdog;
  bool has_one = false;
  if (item->is_waiting || state->is_waiting) return false;
  if (item->kind == MEND__STALL_CALL) {
    consider_call(watchdog, item, ret_limit, &has_one);
  } else if (item->kind == MEND__STALL_STREAM) {
    consider(item, limit_of_stream(watchdog, item), ret_limit, &has_one);
  } else if (state->is_due && state->items.count == 0) {
    consider(item, (mend__stall_limit){item->seen_ns, watchdog->run_idle_ns, MEND__STALL_RUN_IDLE}, ret_limit,
             &has_one);
  }
  return has_one;
}

static void arm(mend__stall_state *state, mend__stall_item *item, const mend__stall_limit *limit) {
  if (mend_deadline_is_armed(&item->deadline) && item->deadline.due_ns <= mend__stall_end_of(limit)) return;
  mend_deadlines_arm(state->deadlines, &item->deadline, limit->start_ns, limit->timeout_ns);
}

void mend__stall_arm(mend__stall_state *state, mend__stall_item *item) {
  mend__stall_limit limit;
  if (mend__stall_limit_of(state, item, &limit)) arm(state, item, &limit);
}

void mend__stall_arm_later(mend__stall_state *state, mend__stall_item *item, uint64_t wait_ns) {
  mend__stall_item later = *item;
  mend__stall_limit limit;
  later.seen_ns = mend__ns_later(item->seen_ns, wait_ns);
  later.progress_ns = mend__ns_later(item->progress_ns, wait_ns);
  if (mend__stall_limit_of(state, &later, &limit)) arm(state, item, &limit);
}

/* ---- Items ---- */

mend__stall_item *mend__stall_find(const mend__stall_state *state, mend__stall_kind kind, uint64_t call) {
  const item_place *place = mend__table_find(&state->items, sizeof *place, key_of(kind, call));
  if (place == NULL) return NULL;
  mend__stall_settle(state, place->item);
  return place->item;
}

static mend__stall_item *take_item(mend__stall_state *state) {
  mend__stall_item *item = state->free;
  if (item == NULL) return mend__alloc_zero(state->watchdog->allocator, sizeof *item);
  state->free = item->next_free;
  return item;
}

static void give_back(mend__stall_state *state, mend__stall_item *item) {
  item->next_free = state->free;
  state->free = item;
}

static uint64_t timeout_for(const mend__stall_watchdog *watchdog, mend_str tool) {
  const mend__tool_rule *rule = mend__tool_rules_find(&watchdog->tool_timeouts, tool);
  return rule != NULL ? mend__seconds_to_ns(rule->number) : watchdog->timeout_ns;
}

mend_status mend__stall_begin(mend__stall_state *state, mend__stall_item *item, const mend_event *event,
                              mend_str name) {
  const mend__stall_watchdog *watchdog = state->watchdog;
  if (!mend__kept_text_set(&item->names, name, event->call_name, watchdog->allocator)) return MEND_ENOMEM;
  item->told = 0;
  item->detection_id = 0;
  item->is_waiting = item->has_progressed = false;
  item->started_ns = item->seen_ns = item->progress_ns = event->mono_ns;
  item->started_wall_ns = event->wall_ns;
  item->timeout_ns = item->kind == MEND__STALL_CALL ? timeout_for(watchdog, name) : 0;
  return MEND_OK;
}

mend_status mend__stall_open(mend__stall_state *state, mend__stall_kind kind, const mend_event *event, mend_str name,
                             mend__stall_item **ret_item) {
  *ret_item = NULL;
  if (state->items.count >= OPEN_MAX) {
    mend__count(&state->watchdog->counters.unwatched);
    return MEND_OK;
  }
  if (mend__table_reserve(&state->items, sizeof(item_place), state->watchdog->allocator) != MEND_OK) return MEND_ENOMEM;
  mend__stall_item *item = take_item(state);
  if (item == NULL) return MEND_ENOMEM;
  item->kind = (uint8_t)kind;
  item->call = event->call;
  item->within = 0;
  item->nested = 0;
  item->stood_ns = state->stood_ns;
  if (mend__stall_begin(state, item, event, name) != MEND_OK) {
    give_back(state, item);
    return MEND_ENOMEM;
  }
  item_place *place = mend__table_add(&state->items, sizeof *place, key_of(kind, event->call));
  place->item = item;
  state->open[kind]++;
  *ret_item = item;
  return MEND_OK;
}

void mend__stall_close(mend__stall_state *state, mend__stall_item *item) {
  mend_deadlines_disarm(state->deadlines, &item->deadline);
  item_place *place = mend__table_find(&state->items, sizeof *place, key_of(item->kind, item->call));
  mend__table_take(&state->items, sizeof *place, place);
  state->open[item->kind]--;
  give_back(state, item);
}

/* Closing one may move another to its place, so the place is looked at again. */
void mend__stall_close_all(mend__stall_state *state, mend__stall_kind kind) {
  const item_place *places = state->items.items;
  for (size_t i = 0; state->open[kind] > 0 && i < state->items.capacity;) {
    const bool closes = !mend_hash_is_none(places[i].key) && places[i].item->kind == kind;
    if (closes) {
      mend__stall_close(state, places[i].item);
    } else {
      i++;
    }
  }
}

void mend__stall_shift(mend__stall_item *item, uint64_t gap_ns) {
  item->started_ns = mend__ns_later(item->started_ns, gap_ns);
  item->seen_ns = mend__ns_later(item->seen_ns, gap_ns);
  item->progress_ns = mend__ns_later(item->progress_ns, gap_ns);
  item->waiting_ns = mend__ns_later(item->waiting_ns, gap_ns);
  item->told_ns = mend__ns_later(item->told_ns, gap_ns);
}

void mend__stall_settle(const mend__stall_state *state, mend__stall_item *item) {
  if (item->stood_ns == state->stood_ns) return;
  mend__stall_shift(item, state->stood_ns - item->stood_ns);
  item->stood_ns = state->stood_ns;
}

void mend__stall_stand(mend__stall_state *state, uint64_t gap_ns) {
  state->stood_ns = mend__ns_later(state->stood_ns, gap_ns);
  state->waiting_ns = mend__ns_later(state->waiting_ns, gap_ns);
}

void mend__stall_free(mend__stall_state *state) {
  const mend_allocator *allocator = state->watchdog->allocator;
  mend_deadlines_free(state->deadlines);
  const item_place *places = state->items.items;
  for (size_t i = 0; i < state->items.capacity; i++) {
    if (!mend_hash_is_none(places[i].key)) give_back(state, places[i].item);
  }
  for (mend__stall_item *item = state->free, *next; item != NULL; item = next) {
    next = item->next_free;
    mend__kept_text_free(&item->names, allocator);
    mend__free(allocator, item);
  }
  mend__free(allocator, state->items.items);
}
