#include "program/transcripts/suspension.h"

#include "program/stage/played_run.h"
#include "watchdogs/room.h"

/* As often as this the usual distance, which is what mend takes for far too late itself. */
enum { FAR_BEYOND = 10 };

static bool is_kind(const mend__event_line *line, mend_event_kind kind) {
  return !line->custom && line->event.event.kind == kind;
}

/* How long the host stood still before the line. */
static uint64_t gap_before(const suspension *seen, const mend__event_line *line) {
  const uint64_t gap_ns = line->ts_ns - seen->last_ns;
  if (is_kind(line, MEND_EVENT_CLOCK_REBASED)) {
    const double told_ns = line->event.clock_rebased.gap_s * (double)MEND_SECOND_NS;
    if (!(told_ns > 0)) return 0;
    return told_ns < (double)gap_ns ? (uint64_t)told_ns : gap_ns;
  }
  const bool is_polled = seen->longest_ns > 0 && (seen->was_tick || is_kind(line, MEND_EVENT_TICK));
  return is_polled && gap_ns / FAR_BEYOND > seen->longest_ns ? gap_ns : 0;
}

/* A host is no matter of a single run. */
static mend_status publish(stage *on, uint64_t gap_ns) {
  if (on->newest == NULL) return MEND_OK;
  mend_clock_rebased_event event = MEND_CLOCK_REBASED_EVENT_INIT;
  event.gap_s = (double)gap_ns / (double)MEND_SECOND_NS;
  return mend_run_publish(on->newest->run, &event.event);
}

/* Takes the line; for how long the host stood still before it. */
static uint64_t note(suspension *seen, const mend__event_line *line) {
  const bool is_tick = is_kind(line, MEND_EVENT_TICK), is_first = seen->last_ns == 0;
  if (line->ts_ns < seen->last_ns) return 0;
  const uint64_t gap_ns = is_first ? 0 : gap_before(seen, line);
  const uint64_t distance_ns = line->ts_ns - seen->last_ns;
  const bool is_usual = !is_first && gap_ns == 0 && is_tick && seen->was_tick;
  if (is_usual && distance_ns > seen->longest_ns) seen->longest_ns = distance_ns;
  seen->last_ns = line->ts_ns;
  seen->was_tick = is_tick;
  return gap_ns;
}

mend_status suspension_move_time(suspension *seen, stage *on, const mend__event_line *line) {
  const uint64_t gap_ns = note(seen, line);
  mend_status status = gap_ns > 0 ? mend__bus_stood_still(on->bus, gap_ns) : MEND_OK;
  if (status == MEND_OK) status = stage_at(on, line->ts_ns);
  return status == MEND_OK && gap_ns > 0 ? publish(on, gap_ns) : status;
}
