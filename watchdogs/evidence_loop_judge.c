/* Whether the call that begins is one too many. The rules are asked in the order of how much they explain; one batch
 * has one finding, and what else is found in it belongs to that. */
#include "watchdogs/evidence_loop_judge.h"

/* How often something may be the same: the next one is reported. */
enum {
  MOVING_K = 6, /* other arguments, the same answer */
  UNKNOWN_TOOL_K = 3,
  RETRY_K = 6,
  VERIFY_K = 7, /* a check that fails alike after different edits */
  VERIFY_EDITS = 2
};

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

/* ---- Told once ---- */

/* Whether there is something to tell of what has come so often. */
static bool is_due(const mend__loop_state *state, const mend__told *told, uint32_t count, uint32_t limit) {
  if (count <= limit) return false;
  if (told->times == 0) return true;
  switch (state->watchdog->rules.rearm) {
  case MEND_LOOP_REARM_PAIR_CHANGE: return told->era != state->era;
  case MEND_LOOP_REARM_LEAVE_WINDOW: return false;
  case MEND_LOOP_REARM_BACKOFF: return told->times < 16 && count > (uint64_t)limit << told->times;
  }
  return false;
}

static void tell(mend__told *told, const mend__loop_state *state) {
  told->times++;
  told->era = state->era;
}

static bool is_told_now(const mend__told *told, const mend__loop_state *state) {
  return told->times > 0 && told->era == state->era;
}

static void tell_pair(mend__loop_pair *pair, const mend__loop_state *state) {
  tell(&pair->told, state);
  pair->told_span = pair->earlier > 0 ? pair->latest - pair->earlier : 0;
}

/* ---- Again and again the same call ---- */

static bool is_edited(const mend__loop_pair *pair, uint32_t k) {
  return pair->edits_latest - pair->edits_first >= VERIFY_EDITS && pair->unedited < k;
}

/* What may have been a poll is one that does not get on. */
static bool goes_on_after_warning(const mend__loop_state *state, const mend__loop_pair *pair) {
  return pair->is_warned && pair->decisions > state->watchdog->rules.poll_k;
}

/* The limit that holds for the pair, and what it is called to go beyond it. */
static void find_limit(const mend__loop_state *state, const mend__loop_call *call, mend__loop_finding *finding) {
  const mend__loop_pair *pair = call->pair;
  const mend__tool_facts *facts = &call->tool->facts;
  finding->limit = facts->k;
  finding->reason = mend__outcome_is_error(&pair->outcome) ? MEND__LOOP_REPEAT_ERROR : MEND__LOOP_REPEAT;
  if (is_edited(pair, facts->k)) {
    finding->limit = larger(finding->limit, VERIFY_K);
    finding->reason = MEND__LOOP_VERIFY_NO_PROGRESS;
  }
  if (mend__loop_acknowledges(call->tool, pair) && !facts->has_own_k) {
    finding->limit = larger(finding->limit, state->watchdog->rules.poll_k);
  }
  if (mend__loop_polls(call->tool, pair) || goes_on_after_warning(state, pair)) {
    finding->limit =
        facts->is_poll && facts->has_own_k ? facts->k : larger(finding->limit, state->watchdog->rules.poll_k);
    finding->reason = MEND__LOOP_FROZEN_POLL;
  }
  if (pair->outcome.kind == MEND__OUTCOME_TRY_LATER) {
    finding->limit = larger(finding->limit, RETRY_K);
    finding->reason = MEND__LOOP_RETRY_STORM;
  }
}

/* Only k itself is a matter of the window: larger limits may be beyond it. */
static uint32_t count_of(const mend__loop_state *state, const mend__loop_pair *pair, uint32_t limit) {
  const bool in_window = limit <= state->watchdog->rules.k && pair->told.times == 0;
  return in_window ? pair->in_window : pair->decisions;
}

static bool judge_pair(const mend__loop_state *state, const mend__loop_call *call, mend__loop_finding *finding) {
  const mend__loop_pair *pair = call->pair;
  if (pair->outcome.kind == MEND__OUTCOME_UNKNOWN_TOOL) return false; /* the tool's matter */
  find_limit(state, call, finding);
  if (pair->equal < finding->limit) return false;
  if (is_edited(pair, call->tool->facts.k) && !pair->outcome.is_failing) return false;
  const mend__loop_tool *tool = call->tool;
  if (tool->told.times > 0 && mend__outcome_equal(&tool->outcome, &pair->outcome)) return false;
  finding->scope = MEND__LOOP_OF_PAIR;
  finding->count = count_of(state, pair, finding->limit);
  finding->is_known = pair->known >= finding->limit;
  finding->identity = pair->key.lo;
  finding->first = &pair->first;
  const mend__told none = {0, 0};
  const mend__told *told = goes_on_after_warning(state, pair) ? &none : &pair->told;
  if (!is_due(state, told, finding->count, finding->limit)) return false;
  finding->may_be_poll = finding->reason != MEND__LOOP_FROZEN_POLL && mend__loop_may_be_poll(state, call);
  return true;
}

/* ---- Whatever the arguments ---- */

static bool find_moving_reason(const mend__loop_tool *tool, mend__loop_finding *finding) {
  const bool has_moved = tool->moves >= MOVING_K / 2;
  finding->limit = MOVING_K;
  switch (tool->outcome.kind) {
  case MEND__OUTCOME_UNKNOWN_TOOL:
    finding->reason = MEND__LOOP_UNKNOWN_TOOL;
    finding->limit = UNKNOWN_TOOL_K;
    return true;
  case MEND__OUTCOME_TRY_LATER:
    finding->reason = MEND__LOOP_RETRY_STORM;
    finding->limit = RETRY_K;
    return true;
  case MEND__OUTCOME_ERROR: finding->reason = MEND__LOOP_SAME_ERROR; return has_moved;
  case MEND__OUTCOME_EMPTY: finding->reason = MEND__LOOP_EMPTY_RESULT; return has_moved;
  case MEND__OUTCOME_OK: finding->reason = MEND__LOOP_SAME_RESULT; return has_moved && tool->facts.is_read_only;
  default: return false;
  }
}

static bool judge_tool(const mend__loop_state *state, const mend__loop_call *call, mend__loop_finding *finding) {
  const mend__loop_tool *tool = call->tool;
  if (tool->batches == 0 || !find_moving_reason(tool, finding)) return false;
  if (tool->facts.has_own_k) finding->limit = larger(finding->limit, tool->facts.k);
  if (tool->facts.is_poll || (tool->is_slow && finding->reason == MEND__LOOP_RETRY_STORM)) {
    finding->limit = larger(finding->limit, state->watchdog->rules.poll_k);
  }
  if (state->edits - tool->edits >= VERIFY_EDITS) finding->limit *= 2;
  finding->scope = MEND__LOOP_OF_TOOL;
  finding->count = tool->batches + 1;
  finding->is_known = true;
  finding->identity = tool->outcome.hash.lo;
  finding->first = &tool->first;
  return is_due(state, &tool->told, finding->count, finding->limit);
}

/* ---- Round and round ---- */

/* What the calls of a round are. */
typedef struct round_facts {
  uint32_t k;
  bool polls, may_be_poll, is_idempotent;
  bool acknowledges; /* none of them does anything else */
  bool is_news;      /* not all of them were told of by themselves */
} round_facts;

static void add_facts(round_facts *facts, const mend__loop_state *state, const mend__loop_shown *shown) {
  const mend__loop_tool *tool = mend__loop_find_tool(state, shown->tool);
  const mend__loop_pair *pair = mend__loop_find_pair(state, shown->pair);
  if (tool == NULL || pair == NULL) return;
  facts->k = larger(facts->k, tool->facts.k);
  facts->polls = facts->polls || mend__loop_polls(tool, pair);
  facts->may_be_poll = facts->may_be_poll || mend__loop_may_have_waited(state, pair, shown);
  facts->acknowledges = facts->acknowledges && mend__loop_acknowledges(tool, pair);
  facts->is_idempotent = facts->is_idempotent && tool->facts.is_idempotent;
  facts->is_news = facts->is_news || (tool->told.times == 0 && pair->told.times == 0);
}

/* The call before the one of this number in batches from the first one on; NULL when there is none. */
static const mend__loop_shown *earlier_shown(const mend__loop_state *state, uint64_t *number, uint64_t first_batch) {
  while (*number > 0) {
    const mend__loop_shown *shown = mend__loop_shown_at(state, (*number)--);
    if (shown == NULL || shown->batch < first_batch) return NULL;
    if (!shown->is_retracted) return shown;
  }
  return NULL;
}

static round_facts facts_of_round(const mend__loop_state *state, uint64_t first_batch) {
  round_facts facts = {.k = state->watchdog->rules.k, .is_idempotent = true, .acknowledges = true};
  uint64_t number = state->shown_count;
  for (const mend__loop_shown *shown; (shown = earlier_shown(state, &number, first_batch)) != NULL;)
    add_facts(&facts, state, shown);
  return facts;
}

/* Whether it is the cycle that was told last, and has not been left since. */
static bool goes_on(const mend__loop_state *state, const mend__loop_finding *finding) {
  return state->cycle_told.times > 0 && state->cycle_identity == finding->identity &&
         state->batch.number - state->cycle_batch <= finding->period;
}

static void tell_round(mend__loop_state *state, const mend__loop_finding *finding) {
  if (!goes_on(state, finding)) state->cycle_told = (mend__told){0, 0};
  tell(&state->cycle_told, state);
  state->is_cycle_warned = finding->may_be_poll;
  state->cycle_identity = finding->identity;
  state->cycle_batch = state->batch.number;
  uint64_t number = state->shown_count;
  for (const mend__loop_shown *shown; (shown = earlier_shown(state, &number, finding->first_batch)) != NULL;) {
    mend__loop_pair *pair = mend__loop_find_pair(state, shown->pair);
    if (pair != NULL && pair->shown == number + 1) tell_pair(pair, state);
  }
}

static void become_frozen_poll(const mend__loop_state *state, mend__loop_finding *finding) {
  finding->reason = MEND__LOOP_FROZEN_POLL;
  finding->limit = larger(finding->limit, state->watchdog->rules.poll_k);
  finding->may_be_poll = false;
}

/* A batch of several calls that comes again and again is a round of its own, and repeats. */
static bool judge_round(mend__loop_state *state, const mend__loop_call *call, mend__loop_finding *finding) {
  uint64_t all_rounds = 0;
  const uint32_t k = state->watchdog->rules.k;
  const uint32_t period = mend__loop_cycle_period(state->cycle, &state->batch, k, &all_rounds);
  if (period == 0 || (period == 1 && state->batch.calls == 1)) return false;
  const uint32_t rounds = all_rounds < UINT32_MAX ? (uint32_t)all_rounds : UINT32_MAX;
  const uint64_t first_batch = state->batch.number - period + 1;
  const round_facts facts = facts_of_round(state, first_batch);
  const bool is_patient = facts.polls || facts.acknowledges;
  finding->limit = is_patient ? larger(facts.k, state->watchdog->rules.poll_k) : facts.k;
  finding->reason = facts.polls ? MEND__LOOP_FROZEN_POLL : period == 1 ? MEND__LOOP_REPEAT : MEND__LOOP_CYCLE;
  finding->scope = MEND__LOOP_OF_ROUND;
  finding->count = rounds;
  finding->period = period;
  finding->is_known = mend__loop_cycle_is_known(state->cycle, period);
  finding->is_idempotent = facts.is_idempotent;
  finding->may_be_poll = facts.may_be_poll && !facts.polls;
  finding->first_batch = first_batch;
  finding->identity = mend__loop_cycle_set(state->cycle, period);
  finding->first = &call->pair->first;
  const mend__told none = {0, 0};
  const bool is_known_cycle = goes_on(state, finding);
  const bool is_late = is_known_cycle && state->is_cycle_warned && rounds >= state->watchdog->rules.poll_k;
  if (is_known_cycle) state->cycle_batch = state->batch.number;
  if (!is_known_cycle && !facts.is_news) return false;
  if (is_late) become_frozen_poll(state, finding);
  return is_due(state, is_known_cycle && !is_late ? &state->cycle_told : &none, rounds, finding->limit - 1);
}

/* ---- All of them ---- */

static bool find(mend__loop_state *state, const mend__loop_call *call, mend__loop_finding *finding) {
  *finding = (mend__loop_finding){.is_idempotent = call->tool->facts.is_idempotent};
  if (call->is_new && call->tool->outcome.kind == MEND__OUTCOME_UNKNOWN_TOOL && judge_tool(state, call, finding)) {
    return true;
  }
  if (judge_round(state, call, finding)) return true;
  *finding = (mend__loop_finding){.is_idempotent = call->tool->facts.is_idempotent};
  return call->is_new && (judge_pair(state, call, finding) || judge_tool(state, call, finding));
}

static void remember(mend__loop_state *state, const mend__loop_call *call, const mend__loop_finding *finding) {
  switch (finding->scope) {
  case MEND__LOOP_OF_TOOL: tell(&call->tool->told, state); break;
  case MEND__LOOP_OF_PAIR:
    tell_pair(call->pair, state);
    call->pair->is_warned = finding->may_be_poll;
    if (finding->reason == MEND__LOOP_RETRY_STORM) tell(&call->tool->told, state); /* it is the same storm */
    break;
  case MEND__LOOP_OF_ROUND: tell_round(state, finding); break;
  }
}

/* For pair_change: what was told in one era may be told again in the next. */
static void end_era(mend__loop_state *state, const mend__loop_call *call) {
  const bool goes_on = is_told_now(&call->pair->told, state) || is_told_now(&call->tool->told, state);
  if (call->is_new && !goes_on) state->era++;
}

mend_status mend__loop_judge(mend__loop_state *state, const mend__loop_call *call, mend_emitter *emitter) {
  mend__loop_finding finding;
  end_era(state, call);
  if (!find(state, call, &finding)) return MEND_OK;
  if (!state->batch.is_told) {
    const mend_status status = mend__loop_report(state, call, &finding, emitter);
    if (status != MEND_OK) return status;
  }
  state->batch.is_told = true;
  remember(state, call, &finding);
  return MEND_OK;
}
