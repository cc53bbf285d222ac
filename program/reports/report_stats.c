/* The counts of each file, as a JSON object. */
#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/report_kinds.h"

typedef struct stats_report {
  report base;
  outlet *out;
  const replay_file *file;
} stats_report;

static mend_status begin(report *base, const replay_file *file) {
  ((stats_report *)base)->file = file;
  return MEND_OK;
}

static void add_counts(mend__buffer *line, const replay_counts *counts) {
  const struct {
    const char *name;
    uint64_t count;
  } members[] = {{"rows", counts->rows},
                 {"broken", counts->broken},
                 {"runs", counts->runs},
                 {"calls", counts->calls},
                 {"results", counts->results},
                 {"results_without_call", counts->results_without_call},
                 {"unfinished", counts->unfinished},
                 {"detections", counts->detections},
                 {"detections_lost", counts->detections_lost},
                 {"derived", counts->derived},
                 {"backwards", counts->backwards},
                 {"ignored_members", counts->ignored_members},
                 {"runs_forgotten", counts->runs_forgotten},
                 {"open_calls_dropped", counts->open_calls_dropped},
                 {"incidents", counts->incidents},
                 {"runs_stopped", counts->runs_stopped}};
  for (size_t i = 0; i < sizeof members / sizeof members[0]; i++)
    mend__buffer_printf(line, ",\"%s\":%llu", members[i].name, (unsigned long long)members[i].count);
}

static void add_use(mend__buffer *line, const char *name, const replay_use *use) {
  mend__buffer_printf(line, ",\"%s\":{\"calls\":%llu,\"tokens\":%llu,\"cost_usd\":", name,
                      (unsigned long long)use->calls, (unsigned long long)use->tokens);
  mend__buffer_f64(line, use->cost_usd < 1e9 ? (double)(uint64_t)(use->cost_usd * 1e6 + 0.5) / 1e6 : use->cost_usd);
  mend__buffer_str(line, MEND_STR(",\"seconds\":"));
  mend__buffer_seconds(line, use->ns);
  mend__buffer_char(line, '}');
}

static mend_status end(report *base, const replay_summary *summary) {
  stats_report *to = (stats_report *)base;
  mend__buffer line, safe;
  mend__buffer_init(&line, NULL);
  mend__buffer_init(&safe, NULL);
  mend__buffer_str(&line, MEND_STR("{\"file\":"));
  mend__buffer_json_string(&line, mend_str_from(to->file->path));
  mend__buffer_printf(&line, ",\"format\":\"%s\",\"clock\":%s", to->file->format,
                      to->file->has_clock ? "true" : "false");
  add_counts(&line, &summary->counts);
  add_use(&line, "used", &summary->used);
  add_use(&line, "saved", &summary->saved);
  mend__buffer_str(&line, MEND_STR("}\n"));
  plain_json_escaped(&safe, mend__buffer_text(&line));
  safe.failed |= line.failed;
  mend_status status = outlet_put(to->out, &safe);
  if (status == MEND_ECLOSED) status = MEND_OK; /* the report counts */
  mend__buffer_free(&line);
  mend__buffer_free(&safe);
  return status;
}

static void free_report(report *base) { mend__free(NULL, base); }

static report *open_report(const report_kind *kind, outlet *out) {
  (void)kind;
  stats_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin, .end = end, .free = free_report};
  to->out = out;
  return &to->base;
}

report_kind *report_stats_kind(void) {
  report_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind != NULL) kind->open = open_report;
  return kind;
}
