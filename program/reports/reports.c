#include "program/reports/reports.h"

void reports_add(reports *to, report *one) {
  to->each[to->count++] = one;
  to->want_calls |= one->called != NULL;
  to->want_readings |= one->reading != NULL;
  to->want_usage |= one->usage != NULL;
}

void reports_free(reports *to) {
  for (size_t i = 0; i < to->count; i++)
    to->each[i]->free(to->each[i]);
  to->count = 0;
}

/* Tells those who want to know. */
#define TELL(to, member, ...)                                                                                          \
  do {                                                                                                                 \
    mend_status status = MEND_OK;                                                                                      \
    for (size_t i = 0; i < (to)->count && status == MEND_OK; i++) {                                                    \
      report *one = (to)->each[i];                                                                                     \
      if (one->member != NULL) status = one->member(one, __VA_ARGS__);                                                 \
    }                                                                                                                  \
    return status;                                                                                                     \
  } while (0)

mend_status reports_begin(const reports *to, const replay_file *file) { TELL(to, begin, file); }

mend_status reports_broken(const reports *to, uint64_t row, const char *problem) { TELL(to, broken, row, problem); }

mend_status reports_doubt(const reports *to, uint64_t row, const char *problem) { TELL(to, doubt, row, problem); }

mend_status reports_detection(const reports *to, const replay_detection *found) { TELL(to, detection, found); }

mend_status reports_ended(const reports *to, uint64_t incident, const replay_ending *ending) {
  TELL(to, ended, incident, ending);
}

mend_status reports_repeated(const reports *to, uint64_t incident, uint64_t row) { TELL(to, repeated, incident, row); }

mend_status reports_called(const reports *to, const replay_call *call) { TELL(to, called, call); }

mend_status reports_reading(const reports *to, const replay_reading *reading) { TELL(to, reading, reading); }

mend_status reports_usage(const reports *to, const replay_usage *usage) { TELL(to, usage, usage); }

mend_status reports_run_began(const reports *to, const replay_run *run) { TELL(to, run_began, run); }

mend_status reports_run_ended(const reports *to, const replay_run *run) { TELL(to, run_ended, run); }

mend_status reports_end(const reports *to, const replay_summary *summary) { TELL(to, end, summary); }

mend_status reports_unreadable(const reports *to, const char *name, mend_str failure) {
  TELL(to, unreadable, name, failure);
}
