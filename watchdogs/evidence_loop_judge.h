/* Private to the watchdog "loop" of mode evidence: whether a call is one too many, and what is said then. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_JUDGE_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_JUDGE_H

#include "watchdogs/evidence_loop.h"

/* What a finding is about. */
typedef enum mend__loop_scope { MEND__LOOP_OF_PAIR, MEND__LOOP_OF_TOOL, MEND__LOOP_OF_ROUND } mend__loop_scope;

typedef enum mend__loop_reason {
  MEND__LOOP_REPEAT,
  MEND__LOOP_REPEAT_ERROR,
  MEND__LOOP_CYCLE,
  MEND__LOOP_SAME_ERROR,
  MEND__LOOP_EMPTY_RESULT,
  MEND__LOOP_SAME_RESULT, /* of a tool that only looks */
  MEND__LOOP_UNKNOWN_TOOL,
  MEND__LOOP_RETRY_STORM,
  MEND__LOOP_FROZEN_POLL,
  MEND__LOOP_VERIFY_NO_PROGRESS
} mend__loop_reason;

typedef struct mend__loop_finding {
  mend__loop_reason reason;
  mend__loop_scope scope;
  uint32_t count, limit;
  uint32_t period; /* of a cycle, else 0 */
  bool is_known;   /* what all of the calls answered */
  bool is_idempotent, may_be_poll;
  uint64_t first_batch; /* of the round */
  uint64_t identity;    /* of the incident, beside reason and tool */
  const mend__loop_mark *first;
} mend__loop_finding;

/* The call that begins: what it adds to, if it is one too many. */
typedef struct mend__loop_call {
  const mend_tool_before_event *before;
  mend_hash args_hash;
  mend__loop_tool *tool;
  mend__loop_pair *pair;
  bool is_new; /* a decision of its own */
} mend__loop_call;

mend_status mend__loop_judge(mend__loop_state *state, const mend__loop_call *call, mend_emitter *emitter);

/* ---- evidence_loop_poll.c ---- */

/* Whether it is a poll: by the options, by its name, or because it waits. */
bool mend__loop_polls(const mend__loop_tool *tool, const mend__loop_pair *pair);
/* Whether what it answers only acknowledges that it was done. */
bool mend__loop_acknowledges(const mend__loop_tool *tool, const mend__loop_pair *pair);
/* Whether there may have been a wait before each decision; `shown` is one of them. */
bool mend__loop_may_have_waited(const mend__loop_state *state, const mend__loop_pair *pair,
                                const mend__loop_shown *shown);
/* Whether the call, which comes again, may be a poll. */
bool mend__loop_may_be_poll(const mend__loop_state *state, const mend__loop_call *call);

/* ---- evidence_loop_report.c ---- */

mend_status mend__loop_report(const mend__loop_state *state, const mend__loop_call *call,
                              const mend__loop_finding *finding, mend_emitter *emitter);

#endif
