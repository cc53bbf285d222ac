#include "program/reports/facts.h"

static const char *const kinds[] = {
    [REPLAY_LOOP] = "loop", [REPLAY_STALL] = "stall", [REPLAY_REGRESSION] = "regression", [REPLAY_BUDGET] = "budget"};

replay_kind replay_kind_of(const mend_detection *detection) {
  for (replay_kind kind = REPLAY_LOOP; kind < REPLAY_OTHER; kind++) {
    if (mend_str_equal(detection->kind, mend_str_from(kinds[kind]))) return kind;
  }
  return REPLAY_OTHER;
}

bool replay_is_repeat(const mend_detection *detection) {
  return mend_str_equal(detection->reason, MEND_STR("repeat")) ||
         mend_str_equal(detection->reason, MEND_STR("repeat_error")) ||
         mend_str_equal(detection->reason, MEND_STR("frozen_poll"));
}
