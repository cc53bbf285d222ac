/* The ladder: how far the answer to each incident of a run has come. */
#include "watchdogs/ladder.h"

#include "mend/json.h"

typedef struct ladder_step {
  mend_hash incident;
  uint64_t occurrences;
} ladder_step;

/* From which confidence on the first answer is more than a warning. */
static const double SURE = 0.5;

static mend_rung first_rung(const mend_detection *detection) {
  const bool warns = detection->confidence < SURE || mend_str_equal(detection->kind, MEND_STR("regression"));
  return warns ? MEND_RUNG_WARN : MEND_RUNG_ACT;
}

static mend_rung climb(mend_rung first, uint64_t occurrence) {
  const uint64_t steps = (uint64_t)MEND_RUNG_ABORT - (uint64_t)first;
  return occurrence > steps ? MEND_RUNG_ABORT : (mend_rung)((uint64_t)first + occurrence - 1);
}

/* An incident there is no room for is met as if for the first time. */
static mend_status count_occurrence(mend__ladder *ladder, mend_hash incident, const mend_allocator *allocator,
                                    uint64_t *ret_occurrence) {
  ladder_step *step = mend__table_find(&ladder->steps, sizeof *step, incident);
  *ret_occurrence = 1;
  if (step == NULL) {
    if (ladder->steps.count >= MEND__LADDER_INCIDENTS) return MEND_OK;
    const mend_status status = mend__table_reserve(&ladder->steps, sizeof *step, allocator);
    if (status != MEND_OK) return status;
    step = mend__table_add(&ladder->steps, sizeof *step, incident);
  }
  *ret_occurrence = ++step->occurrences;
  return MEND_OK;
}

mend_status mend__ladder_climb(mend__ladder *ladder, uint32_t ceiling, mend_detection *detection,
                               const mend_allocator *allocator) {
  if (detection->incident.len == 0 || ceiling == 0) return MEND_OK;
  uint64_t occurrence;
  const mend_status status = count_occurrence(ladder, mend_hash_bytes(detection->incident), allocator, &occurrence);
  if (status != MEND_OK) return status;
  detection->occurrence = occurrence;
  detection->rung = climb(first_rung(detection), occurrence);
  if (detection->rung == MEND_RUNG_WARN) return MEND_OK;
  if (++ladder->acted_on > ceiling) detection->rung = MEND_RUNG_ABORT;
  return MEND_OK;
}

void mend__ladder_reset(mend__ladder *ladder, const mend_allocator *allocator) {
  mend__free(allocator, ladder->steps.items);
  ladder->steps = (mend__table){NULL, 0, 0};
}
