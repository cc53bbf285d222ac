/* Whether what comes again is a poll, or may be one. */
#include "watchdogs/evidence_loop_judge.h"

/* Three of four times there had been time for something to happen. */
static bool is_slow(const mend__loop_pair *pair) {
  return pair->decisions > 1 && pair->waits * 4 >= (pair->decisions - 1) * 3;
}

/* Three of four times it came after a lull. */
static bool is_leisurely(const mend__loop_pair *pair) {
  return pair->decisions > 1 && pair->lulls * 4 >= (pair->decisions - 1) * 3;
}

/* What it answered may be another one later, and nobody asks it for its errors. */
static bool polls_by_name(const mend__loop_tool *tool, const mend__loop_pair *pair) {
  return tool->facts.words.waits || (tool->facts.words.polls && !mend__outcome_is_error(&pair->outcome));
}

bool mend__loop_polls(const mend__loop_tool *tool, const mend__loop_pair *pair) {
  return tool->facts.is_poll || polls_by_name(tool, pair) || is_slow(pair);
}

/* What it answers is an acknowledgement, until it fails: only looking tells what came of it. */
bool mend__loop_acknowledges(const mend__loop_tool *tool, const mend__loop_pair *pair) {
  return tool->facts.words.acts && !mend__outcome_is_error(&pair->outcome);
}

static bool says_pending(const mend__loop_shown *shown) {
  return !mend__outcome_is_error(&shown->outcome) && mend__says_pending((mend_str){shown->excerpt, shown->excerpt_len});
}

/* Without a clock nobody knows whether there was a wait. */
bool mend__loop_may_have_waited(const mend__loop_state *state, const mend__loop_pair *pair,
                                const mend__loop_shown *shown) {
  return state->has_clock ? is_leisurely(pair) : says_pending(shown);
}

static bool was_pending(const mend__loop_state *state, const mend__loop_pair *pair) {
  for (uint64_t number = state->shown_count - 1; number > 0; number--) {
    const mend__loop_shown *shown = mend__loop_shown_at(state, number);
    if (shown == NULL) return false;
    if (mend_hash_equal(shown->pair, pair->key)) return says_pending(shown);
  }
  return false;
}

/* What is read from a file does not change by itself, and who waits changes nothing. */
bool mend__loop_may_be_poll(const mend__loop_state *state, const mend__loop_call *call) {
  const mend__tool_words *words = &call->tool->facts.words;
  if (!state->has_clock) return was_pending(state, call->pair);
  return is_leisurely(call->pair) && (words->polls || !(words->looks || words->changes));
}
