#include "watchdogs/compaction.h"

static bool says_both(const mend_context_compact_event *compact) {
  return compact->before != MEND_NONE && compact->after != MEND_NONE && compact->before != 0;
}

bool mend__compaction_is_vain(const mend_context_compact_event *compact) {
  if (!says_both(compact)) return false;
  if (compact->after >= compact->before) return true;
  const uint64_t tenth = compact->before / 10 + (compact->before % 10 != 0);
  return compact->before - compact->after < tenth;
}

static bool count(mend__compaction *compaction, const mend_context_compact_event *compact) {
  if (!says_both(compact)) return false;
  if (!mend__compaction_is_vain(compact)) {
    compaction->times = 0;
    return false;
  }
  compaction->before = compact->before;
  compaction->after = compact->after;
  return ++compaction->times == MEND__COMPACTION_TIMES;
}

bool mend__compaction_event(mend__compaction *compaction, const mend_event *event) {
  switch (event->kind) {
  case MEND_EVENT_CONTEXT_COMPACT: return count(compaction, (const mend_context_compact_event *)event);
  case MEND_EVENT_USER_MESSAGE: compaction->times = 0; return false;
  default: return false;
  }
}
