/* The tools of a run, and for each how its latest batches ended: what tells that it is called in vain with whatever
 * arguments. */
#include "watchdogs/evidence_loop.h"

/* ---- Which there are ---- */

enum { SWEEP_MIN = 256 };

static void drop_forgotten(mend__loop_state *state) {
  const uint64_t remembered = state->watchdog->rules.n + MEND__LOOP_PERIOD_MAX;
  for (size_t place = 0; place < state->tools.capacity;) {
    mend__loop_tool *tool = (void *)mend__table_at(&state->tools, sizeof *tool, place);
    if (mend_hash_is_none(tool->name) || tool->latest + remembered > state->decisions) {
      place++;
      continue;
    }
    mend__kept_text_free(&tool->first.name, state->watchdog->allocator);
    mend__table_take(&state->tools, sizeof *tool, tool); /* another one may come here */
  }
  state->tools_sweep = state->tools.count * 2 < SWEEP_MIN ? SWEEP_MIN : state->tools.count * 2;
}

mend_status mend__loop_tool_of(mend__loop_state *state, mend_str name, mend__loop_tool **ret_tool) {
  const mend_hash key = mend_hash_bytes(name);
  mend__loop_tool *tool = mend__loop_find_tool(state, key);
  if (tool == NULL) {
    if (state->tools.count >= state->tools_sweep) drop_forgotten(state);
    const mend_status status = mend__table_reserve(&state->tools, sizeof *tool, state->watchdog->allocator);
    if (status != MEND_OK) return status;
    tool = mend__table_add(&state->tools, sizeof *tool, key);
    tool->facts = mend__tool_facts_of(&state->watchdog->rules, name);
    tool->latest = state->decisions;
  }
  *ret_tool = tool;
  return MEND_OK;
}

/* ---- The streak ---- */

static void start_streak(mend__loop_tool *tool, const mend__loop_state *state) {
  tool->outcome = tool->ending;
  tool->batches = 1;
  tool->moves = 0;
  tool->edits = state->edits;
  tool->is_slow = true;
  tool->told = (mend__told){0, 0};
  mend__loop_mark_set(&tool->first, state, tool->shown);
}

static void end_streak(mend__loop_tool *tool) {
  tool->batches = 0;
  tool->moves = 0;
  tool->told = (mend__told){0, 0};
}

/* What came of the tool's latest batch. One of which nothing is known changes nothing. */
static void take_ending(mend__loop_tool *tool, const mend__loop_state *state) {
  if (tool->is_mixed) {
    end_streak(tool);
  } else if (mend__outcome_is_known(&tool->ending)) {
    if (tool->batches > 0 && mend__outcome_equal(&tool->outcome, &tool->ending)) {
      tool->batches++;
      tool->moves += !mend_hash_equal(tool->pair, tool->earlier_pair);
    } else {
      start_streak(tool, state);
    }
  }
  tool->earlier_pair = tool->pair;
}

/* ---- Its calls ---- */

void mend__loop_tool_begins(mend__loop_tool *tool, const mend__loop_state *state, mend_hash pair, uint64_t shown) {
  if (tool->batch != state->batch.number) {
    take_ending(tool, state);
    if (state->decisions - tool->latest >= state->watchdog->rules.n) end_streak(tool);
    tool->is_slow = tool->is_slow && mend__loop_has_waited(state, tool->idle_ns);
    tool->idle_ns = state->idle_ns;
    tool->batch = state->batch.number;
    tool->pair = pair;
    tool->shown = shown;
    tool->ending = (mend__outcome){MEND__OUTCOME_UNKNOWN, false, {0, 0}};
    tool->is_mixed = false;
  }
  tool->latest = state->decisions;
}

void mend__loop_tool_ends(mend__loop_tool *tool, const mend__loop_open *call, const mend__outcome *outcome) {
  if (tool->batch != call->batch || !mend__outcome_is_known(outcome)) return;
  if (!mend__outcome_is_known(&tool->ending)) {
    tool->ending = *outcome;
  } else if (!mend__outcome_equal(&tool->ending, outcome)) {
    tool->is_mixed = true;
  }
}
