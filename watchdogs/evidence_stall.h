/* Private to watchdogs/: Stall in mode evidence. Everything that can hang is an item with one deadline: a call, a
 * model's reply, and the run itself, when nothing else is open. */
#ifndef MEND_WATCHDOGS_EVIDENCE_STALL_H
#define MEND_WATCHDOGS_EVIDENCE_STALL_H

#include "core/tool_rules.h"
#include "watchdogs/detector.h"
#include "watchdogs/family.h"

typedef struct mend__stall_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  uint64_t timeout_ns, progress_ns, total_ns, first_token_ns, stream_idle_ns, run_idle_ns;
  mend__tool_rules tool_timeouts;
  mend__family family;
} mend__stall_watchdog;

typedef enum mend__stall_reason {
  MEND__STALL_TOOL_IDLE,
  MEND__STALL_HEARTBEAT,
  MEND__STALL_TOOL_TOTAL,
  MEND__STALL_NO_FIRST_TOKEN,
  MEND__STALL_STREAM_IDLE,
  MEND__STALL_RUN_IDLE
} mend__stall_reason;

typedef enum mend__stall_kind { MEND__STALL_CALL, MEND__STALL_STREAM, MEND__STALL_RUN } mend__stall_kind;

/* What is touched when a call ends comes first. */
typedef struct mend__stall_item {
  mend_deadline deadline;
  uint64_t call;
  uint64_t within;     /* the call in which this one was made; 0: none */
  uint32_t nested;     /* calls open that were made in this one: it waits for them */
  uint8_t kind;        /* mend__stall_kind */
  uint8_t told;        /* bits: 1 << mend__stall_reason */
  bool is_waiting;     /* for a person, since waiting_ns: its clock stands still */
  bool has_progressed; /* of a model: its reply has begun */
  uint64_t attempt;
  uint64_t started_ns, started_wall_ns;
  uint64_t seen_ns;     /* the last sign of life */
  uint64_t progress_ns; /* the last progress */
  uint64_t waiting_ns;
  uint64_t told_ns;      /* when anything was told of it last */
  uint64_t stood_ns;     /* of the run's, what these times have taken into account */
  uint64_t timeout_ns;   /* its tool's */
  uint64_t detection_id; /* the latest that names it; 0: none */
  struct mend__stall_item *next_free;
  mend__kept_text names; /* the tool's or model's, the call's */
} mend__stall_item;

typedef struct mend__stall_state {
  mend__stall_watchdog *watchdog;
  mend_run *run; /* not referenced: its watch has the state */
  mend__kin *kin;
  mend_deadlines *deadlines;
  mend__table items; /* of places, see evidence_stall_items.c */
  mend__stall_item *free;
  mend__stall_item idle; /* the run's */
  bool is_busy;          /* as the kin was told */
  bool is_due;           /* the run is expected to go on by itself */
  bool is_live;          /* models or agents tell what they do: their silence means something */
  bool is_waiting;       /* for a person, since waiting_ns, before there is a call */
  uint64_t waiting_ns;
  uint64_t stood_ns;            /* for so long the clock has stood still for everything */
  size_t open[MEND__STALL_RUN]; /* items of each kind */
} mend__stall_state;

/* ---- evidence_stall_items.c: what is open, and until when ---- */

/* What an item hangs by: the limit it reaches first. */
typedef struct mend__stall_limit {
  uint64_t start_ns, timeout_ns;
  mend__stall_reason reason;
} mend__stall_limit;

/* The last moment that is within it. */
uint64_t mend__stall_end_of(const mend__stall_limit *limit);
/* False when the item has no limit now. */
bool mend__stall_limit_of(const mend__stall_state *state, const mend__stall_item *item, mend__stall_limit *ret_limit);
/* Takes into account what has stood still since it was looked at last. */
void mend__stall_settle(const mend__stall_state *state, mend__stall_item *item);
/* Settled. */
mend__stall_item *mend__stall_find(const mend__stall_state *state, mend__stall_kind kind, uint64_t call);
/* Opens what is not open, with `names` and times set and everything else zero; its limits are not armed. NULL with
 * MEND_OK: as many are open as are watched. MEND_ENOMEM. */
mend_status mend__stall_open(mend__stall_state *state, mend__stall_kind kind, const mend_event *event, mend_str name,
                             mend__stall_item **ret_item);
/* The same thing again: times anew, nothing told of it. MEND_ENOMEM. */
mend_status mend__stall_begin(mend__stall_state *state, mend__stall_item *item, const mend_event *event, mend_str name);
void mend__stall_close(mend__stall_state *state, mend__stall_item *item);
void mend__stall_close_all(mend__stall_state *state, mend__stall_kind kind);
/* Arms the item's limit, if that is earlier than what is armed: a later one is found when that passes. */
void mend__stall_arm(mend__stall_state *state, mend__stall_item *item);
/* The same as if it had shown life so much later. */
void mend__stall_arm_later(mend__stall_state *state, mend__stall_item *item, uint64_t wait_ns);
/* Its clock stood still for so long. */
void mend__stall_shift(mend__stall_item *item, uint64_t gap_ns);
/* The same for everything: each item is settled when it is looked at, its deadline when that passes. */
void mend__stall_stand(mend__stall_state *state, uint64_t gap_ns);
void mend__stall_free(mend__stall_state *state);

/* ---- evidence_stall_events.c ---- */

/* Takes an event; there are deadlines. */
mend_status mend__stall_take(mend__stall_state *state, const mend_event *event, mend_emitter *emitter);

/* ---- evidence_stall_report.c ---- */

mend_status mend__stall_report(const mend__stall_state *state, mend__stall_item *item, const mend__stall_limit *limit,
                               uint64_t now_ns, mend_emitter *emitter);
/* What had stalled has ended after all. */
mend_status mend__stall_recovered(const mend__stall_item *item, const mend_event *ending, mend_emitter *emitter);

#endif
