#include "program/reports/totals.h"

#include "program/base/plain.h"
#include "program/base/sums.h"
#include "program/reports/headline.h"

replay_use replay_use_sum(replay_use a, replay_use b) {
  return (replay_use){a.calls + b.calls, sum_of(a.tokens, b.tokens), a.cost_usd + b.cost_usd, a.ns + b.ns};
}

bool replay_use_is_nothing(const replay_use *of) {
  return of->calls == 0 && of->tokens == 0 && of->ns == 0 && !(of->cost_usd > 0);
}

/* ---- The worst runs ---------------------------------------------------------------------------------------- */

/* More calls would have been saved, or as many calls and more time, or there was more to tell. */
static bool is_worse(const replay_use *a, uint64_t a_incidents, const replay_use *b, uint64_t b_incidents) {
  if (a->calls != b->calls) return a->calls > b->calls;
  return a->ns != b->ns ? a->ns > b->ns : a_incidents > b_incidents;
}

/* The place for a run, from which on others move down; REPLAY_WORST_SHOWN when it is not among the worst. */
static size_t make_place(replay_worst *of, const replay_use *saved, uint64_t incidents) {
  size_t place = of->count;
  while (place > 0 && is_worse(saved, incidents, &of->runs[place - 1].saved, of->runs[place - 1].incidents))
    place--;
  if (place == REPLAY_WORST_SHOWN) return place;
  if (of->count < REPLAY_WORST_SHOWN) of->count++;
  memmove(&of->runs[place + 1], &of->runs[place], (of->count - 1 - place) * sizeof of->runs[0]);
  return place;
}

void replay_worst_consider(replay_worst *of, const char *file, const replay_run *run) {
  const size_t place = make_place(of, &run->saved, run->incidents);
  if (place == REPLAY_WORST_SHOWN) return;
  mend__buffer headline;
  mend__buffer_init(&headline, NULL);
  headline_write(&headline, run);
  plain_keep(of->runs[place].run, sizeof of->runs[place].run, run->id);
  plain_keep(of->runs[place].headline, sizeof of->runs[place].headline,
             headline.failed ? MEND_STR("?") : mend__buffer_text(&headline));
  of->runs[place].file = file;
  of->runs[place].incidents = run->incidents;
  of->runs[place].saved = run->saved;
  mend__buffer_free(&headline);
}

static void merge_worst(replay_worst *of, const replay_worst *more) {
  for (size_t i = 0; i < more->count; i++) {
    const size_t place = make_place(of, &more->runs[i].saved, more->runs[i].incidents);
    if (place == REPLAY_WORST_SHOWN) return;
    of->runs[place] = more->runs[i];
  }
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static void add_names(tally *to, const tally *names) {
  for (size_t i = 0; i < names->len; i++)
    tally_add(to, mend_str_from(names->names[i].name));
}

void replay_totals_add(replay_totals *of, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  of->troubled += counts->detections > 0;
  of->runs += counts->runs;
  of->calls += counts->calls;
  of->detections += counts->detections;
  of->failing += counts->failing;
  of->incidents += counts->incidents;
  of->priced += counts->priced;
  of->runs_open += counts->runs_open;
  of->runs_stopped += counts->runs_stopped;
  of->used = replay_use_sum(of->used, summary->used);
  of->saved = replay_use_sum(of->saved, summary->saved);
  add_names(&of->files_by_detector, &summary->by_detector);
  tally_merge(&of->by_reason, &summary->by_reason);
  merge_worst(&of->worst, &summary->worst);
}

void replay_totals_write_others(mend__buffer *line, const replay_totals *of) {
  if (of->unreadable > 0) {
    mend__buffer_printf(line, ", %llu not readable", (unsigned long long)of->unreadable);
  }
  if (of->passed_over > 0) {
    const bool one = of->passed_over == 1;
    mend__buffer_printf(line, ", %llu %s", (unsigned long long)of->passed_over,
                        one ? "was no transcript" : "were no transcripts");
  }
}
