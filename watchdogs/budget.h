/* Private to watchdogs/: what a run may spend, and what it has spent. */
#ifndef MEND_WATCHDOGS_BUDGET_H
#define MEND_WATCHDOGS_BUDGET_H

#include "core/tool_rules.h"
#include "watchdogs/detector.h"
#include "watchdogs/table.h"

typedef enum mend__budget_limit {
  MEND__BUDGET_CALLS,
  MEND__BUDGET_TOKENS,
  MEND__BUDGET_COST,
  MEND__BUDGET_TIME,
  MEND__BUDGET_COUNT
} mend__budget_limit;

/* What is spent is counted so far. */
#define MEND__BUDGET_LARGEST 1e15

/* A limit of 0 is none. Calls, tokens, US dollars, seconds. */
typedef struct mend__spending {
  double used, limit;
} mend__spending;

/* The tool is absent where the limit is the run's. `event` is the call that would go beyond; NULL: time has passed. */
mend_status mend__budget_report(mend__budget_limit what, const mend__spending *spending, mend_str tool,
                                const mend_event *event, const mend_allocator *allocator, mend_emitter *emitter);

#endif
