#include "program/stage/run_record.h"

#include "core/memory.h"

/* ---- Calls that took part ---------------------------------------------------------------------------------- */

/* Reasons whose count is not one of calls. */
static bool is_about_texts(mend_str reason) {
  static const char *const reasons[] = {"chanting", "monologue", "compaction", NULL};
  for (const char *const *each = reasons; *each != NULL; each++) {
    if (mend_str_equal(reason, mend_str_from(*each))) return true;
  }
  return false;
}

static uint64_t calls_of(const mend_detection *detection, replay_kind kind) {
  if (kind == REPLAY_STALL) return detection->last_call.len + detection->first_call.len > 0;
  if (kind != REPLAY_LOOP || is_about_texts(detection->reason)) return 0;
  return detection->count * (detection->period > 1 ? detection->period : 1);
}

/* The incident has `calls` calls now; the one with most of them gives the trouble its name. */
static void count_calls(run_findings *of, replay_kind kind, numbered_incident *incident, uint64_t calls) {
  replay_trouble *trouble = &of->troubles[kind];
  if (calls > incident->calls) {
    trouble->calls += calls - incident->calls;
    incident->calls = calls;
  }
  const bool first = trouble->reason[0] == '\0';
  trouble->other_tools |= !first && strcmp(trouble->tool, incident->tool) != 0;
  if (!first && incident->calls <= of->most_calls[kind]) return;
  of->most_calls[kind] = incident->calls;
  memcpy(trouble->tool, incident->tool, sizeof trouble->tool);
  memcpy(trouble->reason, incident->reason, sizeof trouble->reason);
}

/* ---- What happens ------------------------------------------------------------------------------------------ */

/* Where the run would have ended, and what it had done until then. */
static void stop_at(run_record *of, const replay_detection *found, bool at_call) {
  run_findings *findings = of->findings;
  const uint64_t at_ns = found->detection->wall_ns;
  findings->stop = (replay_stop){.row = found->row, .at_ns = at_ns, .action = found->action.kind};
  findings->before = of->used;
  findings->away_before_ns = of->away_ns;
  if (at_call) findings->before.calls--;
}

mend_status run_record_detection(run_record *of, const replay_detection *found, bool at_call,
                                 numbered_incident *incident) {
  if (of->findings == NULL) of->findings = mend__alloc_zero(NULL, sizeof *of->findings);
  run_findings *findings = of->findings;
  if (findings == NULL) return MEND_ENOMEM;
  const replay_kind kind = replay_kind_of(found->detection);
  findings->detections++;
  findings->failing += found->fails;
  if (!found->again) {
    findings->incidents++;
    findings->troubles[kind].incidents++;
  }
  if (incident != NULL) {
    const uint64_t calls = calls_of(found->detection, kind);
    count_calls(findings, kind, incident, kind == REPLAY_STALL ? incident->calls + calls : calls);
  }
  if (findings->stop.row == 0 && found->action.kind != MEND_ACTION_NONE) stop_at(of, found, at_call);
  return MEND_OK;
}

void run_record_repeated(run_record *of, numbered_incident *incident) {
  count_calls(of->findings, REPLAY_LOOP, incident, incident->calls + 1);
}

void run_record_stalled(run_record *of, uint64_t open_ns) {
  replay_trouble *stall = &of->findings->troubles[REPLAY_STALL];
  if (open_ns > stall->longest_ns) stall->longest_ns = open_ns;
}

/* ---- The end ----------------------------------------------------------------------------------------------- */

void run_record_describe(const run_record *of, replay_run *ret_run) {
  ret_run->first_row = of->first_row;
  ret_run->last_row = of->last_row;
  ret_run->start_ns = of->start_ns;
  ret_run->end_ns = of->end_ns;
  ret_run->used = of->used;
  ret_run->used.ns = of->end_ns - of->start_ns;
  ret_run->results = of->results;
  const run_findings *findings = of->findings;
  if (findings == NULL) return;
  ret_run->detections = findings->detections;
  ret_run->incidents = findings->incidents;
  ret_run->failing = findings->failing;
  ret_run->troubles = findings->troubles;
  ret_run->stop = findings->stop;
  if (findings->stop.row == 0) return;
  ret_run->saved.calls = of->used.calls - findings->before.calls;
  ret_run->saved.tokens = of->used.tokens - findings->before.tokens;
  ret_run->saved.cost_usd = of->used.cost_usd - findings->before.cost_usd;
  const uint64_t away_ns = of->away_ns - findings->away_before_ns;
  if (of->end_ns > findings->stop.at_ns + away_ns) ret_run->saved.ns = of->end_ns - findings->stop.at_ns - away_ns;
}

void run_record_free(run_record *of) { mend__free(NULL, of->findings); }
