/* Calls begin, end, and are taken back: what each of these does to the open calls, the batch, the window and the
 * tools. */
#include "core/mix.h"
#include "core/seconds.h"
#include "watchdogs/evidence_loop_judge.h"

enum { OPEN_MAX = 65536 };

/* ---- Open calls ---- */

/* A call without an id is known by its tool: one at a time. */
static mend_hash open_key(uint64_t call, mend_str tool_name) {
  return call != 0 ? (mend_hash){1, call} : mend_hash_bytes(tool_name);
}

static mend__loop_open *find_open(const mend__loop_state *state, mend_hash key) {
  return mend__table_find(&state->open, sizeof(mend__loop_open), key);
}

/* ---- Batches ---- */

static uint64_t pair_part(mend_hash pair) { return mend__mix(pair.lo ^ pair.hi * MEND__MIX_STEP); }

static uint64_t outcome_part(mend_hash pair, const mend__outcome *outcome) {
  return mend__mix(pair_part(pair) ^ (outcome->hash.lo + outcome->kind));
}

/* In one model turn, or where turns are unknown while the one before is open. */
static bool joins_batch(const mend__loop_state *state) {
  const mend__loop_batch *batch = &state->batch;
  if (batch->calls == 0 || batch->turn != state->turn) return false;
  return state->turn != 0 || batch->newest_is_open;
}

static void start_batch(mend__loop_state *state) {
  if (state->batch.calls > 0) mend__loop_cycle_push(state->cycle, &state->batch);
  state->batch = (mend__loop_batch){.number = state->batch.number + 1, .turn = state->turn};
}

static void add_to_batch(mend__loop_batch *batch, mend_hash pair) {
  batch->calls++;
  batch->unknown++;
  batch->key += pair_part(pair);
  batch->newest_is_open = true;
}

/* ---- Waiting ---- */

static void note_time(mend__loop_state *state, uint64_t now_ns) {
  state->has_clock = state->has_clock || (state->busy_ns != 0 && state->busy_ns != now_ns);
  state->busy_ns = now_ns;
}

/* Before a call that begins. */
static void note_pause(mend__loop_state *state, uint64_t now_ns) {
  const uint64_t pause = state->busy_ns != 0 ? mend__ns_between(state->busy_ns, now_ns) : 0;
  if (pause >= MEND__LOOP_PAUSE_NS) state->idle_ns += pause;
  if (pause >= MEND__LOOP_LULL_NS) state->lull_ns += pause;
  note_time(state, now_ns);
}

/* What takes long has waited, unless it was busy with failing. What does nothing but wait has waited also where there
 * is no clock to say how long. */
static void note_wait(mend__loop_state *state, const mend__loop_open *call, const mend__outcome *outcome,
                      uint64_t now_ns) {
  const uint64_t took = mend__ns_between(call->started_ns, now_ns);
  const bool is_long = took >= MEND__LOOP_PAUSE_NS && (call->waits || !outcome->is_failing);
  if (is_long) state->idle_ns += took;
  if (call->waits && took == 0) state->idle_ns += MEND__LOOP_PAUSE_NS;
  state->naps += call->waits;
  note_time(state, now_ns);
}

/* ---- A call begins ---- */

static mend_status reserve_cycle(mend__loop_state *state) {
  if (state->cycle == NULL) state->cycle = mend__alloc_zero(state->watchdog->allocator, sizeof *state->cycle);
  return state->cycle != NULL ? MEND_OK : MEND_ENOMEM;
}

/* Room for one more call. */
static mend_status reserve(mend__loop_state *state, mend_str call_name) {
  mend_status status = reserve_cycle(state);
  if (status == MEND_OK) status = mend__loop_window_reserve(state);
  if (status == MEND_OK) {
    status = mend__table_reserve(&state->open, sizeof(mend__loop_open), state->watchdog->allocator);
  }
  return status == MEND_OK ? mend__loop_shown_reserve(state, call_name) : status;
}

static bool is_change(const mend__tool_words *words, mend_str args) {
  if (words->changes) return !mend__says_view(args);
  return words->is_shell && mend__says_change(args);
}

static void keep_open(mend__loop_state *state, const mend_tool_before_event *before, const mend__loop_open *call) {
  mend__loop_open *open = find_open(state, call->call);
  if (open == NULL && state->open.count >= OPEN_MAX) {
    mend__count(&state->watchdog->counters.unwatched);
    return;
  }
  if (open != NULL && before->event.call != 0) mend__count(&state->watchdog->counters.duplicates);
  if (open == NULL) open = mend__table_add(&state->open, sizeof *open, call->call);
  *open = *call;
}

/* In room that was made. */
static void begin(mend__loop_state *state, mend__loop_call *call) {
  const mend_event *event = &call->before->event;
  const mend__tool_words *words = &call->tool->facts.words;
  const mend_hash key = mend__loop_pair_key(call->tool->name, call->args_hash);
  note_pause(state, event->mono_ns);
  if (!joins_batch(state)) start_batch(state);
  add_to_batch(&state->batch, key);
  const uint64_t shown = mend__loop_shown_add(state, event, key, call->tool->name);
  call->pair = mend__loop_pair_begins(state, call->before, key, shown, &call->is_new);
  mend__loop_tool_begins(call->tool, state, key, shown);
  const bool changes = is_change(words, call->before->args);
  const mend__loop_open open = {
      .call = open_key(event->call, call->before->tool_name),
      .pair = key,
      .tool = call->tool->name,
      .decision = call->pair->latest,
      .batch = state->batch.number,
      .shown = shown,
      .started_ns = event->mono_ns,
      .waits = words->waits || (words->is_shell && mend__says_sleep(call->before->args)),
      .changes = changes,
      .looks = words->is_shell ? !changes && mend__says_search(call->before->args) : words->looks,
  };
  keep_open(state, call->before, &open);
}

mend_status mend__loop_call_begins(mend__loop_state *state, const mend_tool_before_event *before,
                                   mend_emitter *emitter) {
  const mend_allocator *allocator = state->watchdog->allocator;
  mend__loop_call call = {.before = before};
  mend_json_hash_result args;
  mend_status status = mend__loop_tool_of(state, before->tool_name, &call.tool);
  if (status == MEND_OK) status = mend__loop_args_hash(&call.tool->facts, before, allocator, &args);
  if (status == MEND_OK) status = reserve(state, before->event.call_name);
  if (status != MEND_OK) return status;
  if (args.raw) mend__count(&state->watchdog->counters.raw);
  call.args_hash = args.hash;
  begin(state, &call);
  return mend__loop_judge(state, &call, emitter);
}

/* ---- A call ends ---- */

static mend__outcome find_outcome(const mend__loop_state *state, const mend__loop_open *call,
                                  const mend__loop_tool *tool, const mend__loop_pair *pair, const mend_event *event) {
  mend__outcome_hints hints = {.is_repeated = pair != NULL && pair->decisions > 1};
  if (tool != NULL) hints.words = tool->facts.words;
  hints.words.looks = call->looks;
  hints.is_told = state->batch.is_told && call->batch == state->batch.number;
  return mend__outcome_of(event, &hints);
}

static void end_in_batch(mend__loop_batch *batch, const mend__loop_open *call, const mend__outcome *outcome) {
  if (batch->number != call->batch || !mend__outcome_is_known(outcome)) return;
  batch->unknown--;
  batch->outcome += outcome_part(call->pair, outcome);
}

static void show_ending(mend__loop_shown *shown, const mend_event *event, const mend__outcome *outcome) {
  shown->outcome = *outcome;
  shown->excerpt_len = (uint8_t)mend__outcome_excerpt(event, shown->excerpt);
}

/* One that has not been made before, or that ends otherwise this time. */
static bool is_new_edit(const mend__loop_open *call, const mend__loop_pair *pair, const mend__outcome *outcome) {
  if (!call->changes || pair == NULL || !mend__outcome_is_known(outcome) || mend__outcome_is_error(outcome)) {
    return false;
  }
  return pair->decisions == 1 || (pair->known > 0 && !mend__outcome_equal(&pair->outcome, outcome));
}

static void end(mend__loop_state *state, const mend__loop_open *call, const mend_event *event) {
  mend__loop_tool *tool = mend__loop_find_tool(state, call->tool);
  mend__loop_pair *pair = mend__loop_find_pair(state, call->pair);
  mend__loop_shown *shown = mend__loop_shown_at(state, call->shown);
  const mend__outcome outcome = find_outcome(state, call, tool, pair, event);
  note_wait(state, call, &outcome, event->mono_ns);
  if (pair != NULL) mend__loop_pair_ends(pair, call, &outcome);
  if (is_new_edit(call, pair, &outcome)) state->edits++;
  if (tool != NULL) mend__loop_tool_ends(tool, call, &outcome);
  end_in_batch(&state->batch, call, &outcome);
  if (state->shown_count == call->shown) state->batch.newest_is_open = false;
  if (shown != NULL) show_ending(shown, event, &outcome);
}

void mend__loop_call_ends(mend__loop_state *state, const mend_event *event, mend_str tool_name) {
  mend__loop_open *open = find_open(state, open_key(event->call, tool_name));
  if (open == NULL) return;
  end(state, open, event);
  mend__table_take(&state->open, sizeof *open, open);
}

/* ---- Calls are taken back ---- */

static void retract(mend__loop_state *state, const mend__loop_open *call) {
  mend__loop_pair *pair = mend__loop_find_pair(state, call->pair);
  mend__loop_shown *shown = mend__loop_shown_at(state, call->shown);
  state->batch.calls--;
  state->batch.unknown--;
  state->batch.key -= pair_part(call->pair);
  if (shown != NULL) shown->is_retracted = true;
  if (pair != NULL) mend__loop_pair_retract(state, pair, call);
}

void mend__loop_retract_calls(mend__loop_state *state) {
  if (state->batch.turn != state->turn) return;
  for (size_t place = 0; place < state->open.capacity;) {
    mend__loop_open *open = (void *)mend__table_at(&state->open, sizeof *open, place);
    if (mend_hash_is_none(open->call) || open->batch != state->batch.number) {
      place++;
      continue;
    }
    retract(state, open);
    mend__table_take(&state->open, sizeof *open, open); /* another one may come here */
  }
  state->batch.newest_is_open = false;
}
