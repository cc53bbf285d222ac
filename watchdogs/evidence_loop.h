/* Private to the watchdog "loop" of mode evidence (evidence_loop*.c); docs/internals/loop-evidence.md explains it.
 *
 * A call is told from others by its pair: its tool and its canonical arguments, without what changes with every call.
 * Equal calls that were asked for together are one decision. Calls that were asked for together are a batch. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_H

#include "watchdogs/detector.h"
#include "watchdogs/evidence_loop_cycle.h"
#include "watchdogs/evidence_loop_outcome.h"
#include "watchdogs/evidence_loop_rules.h"
#include "watchdogs/evidence_loop_talk.h"
#include "watchdogs/table.h"

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
  struct mend__loop_pair *next_spare;
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

/* A place of the table of pairs. */
typedef struct mend__loop_pair_place {
  mend_hash key;
  mend__loop_pair *pair;
} mend__loop_pair_place;

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
enum { MEND__LOOP_SHOWN_MAX = 32 }; /* a power of two */

typedef struct mend__loop_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  mend__loop_rules rules;
} mend__loop_watchdog;

typedef struct mend__loop_state {
  mend__loop_watchdog *watchdog;
  mend__table tools, pairs, open; /* pairs: of places */
  size_t tools_sweep;             /* so many tools, and those that are not remembered go */
  mend__loop_pair *spare_pairs;
  mend__loop_pair **ring; /* of the decisions that are remembered; NULL: it was taken back */
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
  const mend__loop_pair_place *place = mend__table_find(&state->pairs, sizeof *place, key);
  return place != NULL ? place->pair : NULL;
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
/* Takes the pair's latest decision out unless it has left the window; the pair may be gone then. */
void mend__loop_window_retract(mend__loop_state *state, mend__loop_pair *pair);
void mend__loop_window_free(mend__loop_state *state);

/* ---- evidence_loop_pair.c: decisions ---- */

/* A call of the pair begins, in the state's batch and in room that was made. *ret_is_new: it is a decision of its
 * own. */
mend__loop_pair *mend__loop_pair_begins(mend__loop_state *state, const mend_tool_before_event *before, mend_hash key,
                                        uint64_t shown, bool *ret_is_new);
void mend__loop_pair_ends(mend__loop_pair *pair, const mend__loop_open *call, const mend__outcome *outcome);
/* The call never ran. The pair may be gone then. */
void mend__loop_pair_retract(mend__loop_state *state, mend__loop_pair *pair, const mend__loop_open *call);

/* ---- evidence_loop_calls.c: calls begin, end, and are taken back ---- */

mend_status mend__loop_call_begins(mend__loop_state *state, const mend_tool_before_event *before,
                                   mend_emitter *emitter);
/* By the event's call, or the tool's name where it has none. */
void mend__loop_call_ends(mend__loop_state *state, const mend_event *event, mend_str tool_name);
/* Those of this turn that are open. */
void mend__loop_retract_calls(mend__loop_state *state);

#endif
