/* Private to the watchdog "loop" of mode evidence (evidence_loop*.c); docs/internals/loop-evidence.md explains it.
 *
 * A call is told from others by its pair: its tool and its canonical arguments, without what changes with every call.
 * Equal calls that were asked for together are one decision. Calls that were asked for together are a batch. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_H

#include "watchdogs/chanting.h"
#include "watchdogs/compaction.h"
#include "watchdogs/evidence_loop_cycle.h"
#include "watchdogs/evidence_loop_outcome.h"
#include "watchdogs/evidence_loop_rules.h"
#include "watchdogs/monologue.h"
#include "watchdogs/table.h"
#include "watchdogs/watchdogs_internal.h"

/* How often something may be the same: the next one is reported. */
enum {
  MEND__LOOP_MOVING_K = 6, /* other arguments, the same answer */
  MEND__LOOP_UNKNOWN_TOOL_K = 3,
  MEND__LOOP_RETRY_K = 6,
  MEND__LOOP_VERIFY_K = 7, /* a check that fails alike after different edits */
  MEND__LOOP_VERIFY_EDITS = 2
};

/* ---- The state of a run ---- */

/* A call that is named later. Zero it before first use. */
typedef struct mend__loop_mark {
  uint64_t call;
  mend__kept_text name;
} mend__loop_mark;

/* When something was told last, and how often in a row. */
typedef struct mend__told {
  uint32_t times; /* 0: not told */
  uint32_t era;   /* of the state */
} mend__told;

/* A tool of the run, and how its latest batches ended. */
typedef struct mend__loop_tool {
  mend_hash name;
  mend__tool_facts facts;
  uint64_t latest; /* decision of the run when it was last called */

  /* The streak: batches in a row in which all its calls ended alike. */
  mend__outcome outcome;
  uint32_t batches;
  uint32_t moves; /* so often with other arguments than the time before */
  uint64_t edits; /* of the state, when it began */
  bool is_slow;   /* there was a wait before each but the first */
  mend__told told;
  mend__loop_mark first;

  /* Its calls in its latest batch. */
  uint64_t batch;
  mend_hash pair, earlier_pair; /* of the first of them, and of the first in the batch before; none: there was none */
  uint64_t shown;               /* the first of them */
  mend__outcome ending;         /* of those that ended */
  bool is_mixed;                /* they ended differently */
  uint64_t idle_ns;             /* of the state, when it was called */
} mend__loop_tool;

/* A pair among the decisions that are remembered. */
typedef struct mend__loop_pair {
  mend_hash key;
  uint64_t latest, earlier; /* numbers of its latest decision and of the one before */
  uint32_t in_window;       /* decisions among the last n */
  uint32_t kept;            /* among all that are remembered */

  /* The streak: decisions that came again before they left the window, and whose outcomes do not contradict. */
  mend__outcome outcome;
  uint32_t decisions;
  uint32_t equal;                     /* of them that ended, or have not; */
  uint32_t known;                     /* of these that said how */
  uint32_t unedited;                  /* the latest of them with no edit in between */
  uint64_t edits_first, edits_latest; /* of the state, at its first and latest decision */
  uint32_t waits, lulls;              /* so many of them came after a wait, a lull */
  uint64_t idle_ns, lull_ns, naps;    /* of the state, at its latest decision */
  mend__told told;
  uint64_t told_span; /* decisions from it to the one before, when it was told */
  bool is_warned;     /* it was told as what may be a poll */
  mend__loop_mark first;

  /* The latest decision. */
  mend__outcome ending;
  bool is_mixed;  /* equal calls of it ended differently */
  bool is_taken;  /* into the streak */
  bool is_open;   /* its newest call */
  uint64_t batch; /* in which it was asked for */
  uint64_t call;  /* the newest */
  uint64_t shown; /* likewise */
} mend__loop_pair;

/* An open call. */
typedef struct mend__loop_open {
  mend_hash call; /* its key */
  mend_hash pair, tool;
  uint64_t decision, batch, shown;
  uint64_t started_ns;
  bool waits, changes, looks; /* as its tool, or its arguments, say */
} mend__loop_open;

/* A call as evidence shows it. */
typedef struct mend__loop_shown {
  mend_hash pair, tool;
  uint64_t batch, call, wall_ns;
  mend__outcome outcome;
  bool is_retracted;
  uint8_t excerpt_len;
  char excerpt[MEND__EXCERPT_MAX];
  mend__kept_text name;
} mend__loop_shown;
enum { MEND__LOOP_SHOWN_MAX = 32 };

/* ---- evidence_loop_talk.c: what goes round without a call of a tool ---- */

/* Zero it, and set the allocator of the first, before first use. */
typedef struct mend__loop_talk {
  mend__chanting chanting;
  mend__monologue monologue;
  mend__compaction compaction;
} mend__loop_talk;

mend_status mend__loop_talk_event(mend__loop_talk *talk, const mend_event *event, mend_emitter *emitter);
void mend__loop_talk_reset(mend__loop_talk *talk);

/* ---- */

typedef struct mend__loop_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  mend__loop_rules rules;
} mend__loop_watchdog;

typedef struct mend__loop_state {
  mend__loop_watchdog *watchdog;
  mend__table tools, pairs, open;
  size_t tools_sweep; /* so many tools, and those that are not remembered go */
  mend_hash *ring;    /* the pairs of the decisions that are remembered; none: it was taken back */
  uint32_t ring_capacity;
  uint32_t shown_capacity;
  mend__loop_shown *shown;
  uint64_t shown_count; /* calls */
  uint64_t decisions;
  uint64_t edits;   /* different ones that succeeded */
  uint64_t turns;   /* model requests */
  uint64_t turn;    /* 0: unknown */
  bool has_asked;   /* a model that has not answered yet */
  uint64_t idle_ns; /* waited in all: pauses between calls, and calls that do nothing but wait */
  uint64_t lull_ns; /* of pauses that are too short to be waits, too */
  uint64_t naps;    /* calls that did nothing but wait, however long */
  uint64_t busy_ns; /* when a call began or ended last */
  bool has_clock;   /* there were two different times */
  uint32_t era;     /* ends with a call of which nothing was told in it */
  mend__loop_batch batch;
  mend__loop_cycle *cycle; /* NULL before the first call */
  mend__told cycle_told;   /* the cycle below */
  bool is_cycle_warned;    /* it was told as what may be a poll */
  uint64_t cycle_identity;
  uint64_t cycle_batch; /* the latest that went on with it */
  mend__loop_talk talk;
} mend__loop_state;

static inline mend__loop_pair *mend__loop_find_pair(const mend__loop_state *state, mend_hash key) {
  return mend__table_find(&state->pairs, sizeof(mend__loop_pair), key);
}
static inline mend__loop_tool *mend__loop_find_tool(const mend__loop_state *state, mend_hash name) {
  return mend__table_find(&state->tools, sizeof(mend__loop_tool), name);
}

/* From so much waiting on, a call that comes again is a poll: something has had time to happen. */
#define MEND__LOOP_PAUSE_NS (20 * MEND_SECOND_NS)
/* From so much on it may be one. */
#define MEND__LOOP_LULL_NS (5 * MEND_SECOND_NS)

static inline bool mend__loop_has_waited(const mend__loop_state *state, uint64_t idle_ns_before) {
  return state->idle_ns - idle_ns_before >= MEND__LOOP_PAUSE_NS;
}

/* ---- evidence_loop_shown.c ---- */

/* Makes room for one more. MEND_ENOMEM. */
mend_status mend__loop_shown_reserve(mend__loop_state *state, mend_str call_name);
/* In room that was made; its number, from 1. */
uint64_t mend__loop_shown_add(mend__loop_state *state, const mend_event *event, mend_hash pair, mend_hash tool);
/* NULL: it is forgotten. */
mend__loop_shown *mend__loop_shown_at(const mend__loop_state *state, uint64_t number);
/* Names a call that is shown; without its foreign id where there is no memory for that. */
void mend__loop_mark_set(mend__loop_mark *mark, const mend__loop_state *state, uint64_t shown);

/* ---- evidence_loop_tools.c: the tools of a run ---- */

/* Finds the tool, or adds it; what was found before is then somewhere else. MEND_ENOMEM. */
mend_status mend__loop_tool_of(mend__loop_state *state, mend_str name, mend__loop_tool **ret_tool);
/* A call of the tool begins, in the state's batch. */
void mend__loop_tool_begins(mend__loop_tool *tool, const mend__loop_state *state, mend_hash pair, uint64_t shown);
void mend__loop_tool_ends(mend__loop_tool *tool, const mend__loop_open *call, const mend__outcome *outcome);

/* ---- evidence_loop_window.c: the decisions that are remembered ---- */

/* Makes room for one more. MEND_ENOMEM. */
mend_status mend__loop_window_reserve(mend__loop_state *state);
/* Adds a decision in room that was made. */
mend__loop_pair *mend__loop_window_add(mend__loop_state *state, mend_hash key);
/* Takes the pair's latest decision out unless it has left the window; the pair is then somewhere else, or gone. */
void mend__loop_window_retract(mend__loop_state *state, mend__loop_pair *pair);

/* ---- evidence_loop_pair.c: decisions ---- */

/* A call of the pair begins, in the state's batch and in room that was made. *ret_is_new: it is a decision of its
 * own. */
mend__loop_pair *mend__loop_pair_begins(mend__loop_state *state, const mend_tool_before_event *before, mend_hash key,
                                        uint64_t shown, bool *ret_is_new);
void mend__loop_pair_ends(mend__loop_pair *pair, const mend__loop_open *call, const mend__outcome *outcome);
/* The call never ran. The pair is then somewhere else, or gone. */
void mend__loop_pair_retract(mend__loop_state *state, mend__loop_pair *pair, const mend__loop_open *call);

/* ---- evidence_loop_calls.c: calls begin, end, and are taken back ---- */

mend_status mend__loop_call_begins(mend__loop_state *state, const mend_tool_before_event *before,
                                   mend_emitter *emitter);
/* By the event's call, or the tool's name where it has none. */
void mend__loop_call_ends(mend__loop_state *state, const mend_event *event, mend_str tool_name);
/* Those of this turn that are open. */
void mend__loop_retract_calls(mend__loop_state *state);

/* ---- evidence_loop_judge.c: whether a call is one too many ---- */

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
