/* What is told of a file becomes records, one after the other; page/page.js reads them. */
#include "program/reports/page_file.h"

#include "core/memory.h"
#include "core/text.h"
#include "program/reports/notes.h"
#include "program/reports/page_finding.h"
#include "program/reports/page_record.h"
#include "program/reports/page_run.h"

enum { NAME_BYTES = 200, TEXT_BYTES = 4096, EXCERPT_BYTES = 120, BROKEN_SHOWN = 10 };
/* Records are written when there are so many bytes of them. */
enum { RECORDS_BYTES = 64 * 1024 };

typedef struct page_file {
  report base;
  outlet *out;
  page_limits limits;
  const replay_file *file;
  page_runs runs;
  uint64_t base_ns; /* when the first run began: from there times count */
  uint64_t calls, readings, incidents, broken;
  uint64_t content_bytes;     /* that were written */
  page_aftermath *aftermaths; /* of the incident with number n at n - 1; NULL before the first */
  mend__buffer records;
} page_file;

/* ---- Records ----------------------------------------------------------------------------------------------- */

static mend_status flush(page_file *to) {
  const mend_status status = outlet_put(to->out, &to->records);
  mend__buffer_clear(&to->records);
  return status;
}

static mend_status settle(page_file *to) {
  if (to->records.failed) return MEND_ENOMEM;
  return to->records.len < RECORDS_BYTES ? MEND_OK : flush(to);
}

static mend__buffer *begin_record(page_file *to, const char *kind) {
  page_record_begin(&to->records);
  mend__buffer_printf(&to->records, "{\"t\":\"%s\"", kind);
  return &to->records;
}

static mend_status end_record(page_file *to) {
  mend__buffer_char(&to->records, '}');
  return settle(to);
}

static uint64_t since_base(const page_file *to, uint64_t ns) { return ns > to->base_ns ? ns - to->base_ns : 0; }

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static mend_status begin(report *base, const replay_file *file) {
  page_file *to = (page_file *)base;
  to->file = file;
  mend__buffer *record = begin_record(to, "file");
  page_add_text(record, "name", mend_str_from(file->name), TEXT_BYTES);
  page_add_text(record, "title", mend_str_from(file->title), NAME_BYTES);
  page_add_text(record, "row", mend_str_from(file->row), NAME_BYTES);
  page_add_flag(record, "clock", file->has_clock);
  return end_record(to);
}

static page_calls_target target_of(page_file *to, const page_run *run) {
  return (page_calls_target){&to->records, run->number, to->base_ns};
}

static mend_status tell_run_began(report *base, const replay_run *began) {
  page_file *to = (page_file *)base;
  if (to->runs.count == 0) to->base_ns = began->start_ns;
  page_run *run = page_runs_add(&to->runs, began->id);
  if (run == NULL) return MEND_ENOMEM;
  if (to->runs.shown < to->limits.runs) page_run_show(&to->runs, run, &to->records);
  return settle(to);
}

static mend_status tell_run_ended(report *base, const replay_run *ended) {
  page_file *to = (page_file *)base;
  page_run *run = page_runs_take(&to->runs, ended->id);
  if (run != NULL && run->shown) {
    const page_calls_target target = target_of(to, run);
    if (run->blocks != NULL) page_blocks_finish(run->blocks, &target);
    page_run_write_end(run, ended, to->base_ns, &to->records);
  }
  page_run_free(run);
  return settle(to);
}

/* ---- Calls and readings ------------------------------------------------------------------------------------ */

static void write_call(page_file *to, const page_calls_target *target, const replay_call *call) {
  const bool full = to->content_bytes >= to->limits.content_bytes;
  page_calls_write(target, call, full ? EXCERPT_BYTES : TEXT_BYTES);
  to->content_bytes += call->args.len + call->answer.value.len;
}

static mend_status tell_called(report *base, const replay_call *call) {
  page_file *to = (page_file *)base;
  page_run *run = page_runs_find(&to->runs, call->run_id);
  if (run == NULL || !run->shown) return MEND_OK;
  const page_calls_target target = target_of(to, run);
  const uint64_t by_run = page_block_size(run->calls++, PAGE_CALLS_PER_RUN);
  const uint64_t by_file = page_block_size(to->calls++, to->limits.calls);
  const uint64_t size = by_run > by_file ? by_run : by_file;
  if (size == 1) {
    write_call(to, &target, call);
    return settle(to);
  }
  if (run->blocks == NULL) run->blocks = mend__alloc_zero(NULL, sizeof *run->blocks);
  if (run->blocks == NULL) return MEND_ENOMEM;
  page_blocks_add(run->blocks, &target, call, size);
  return settle(to);
}

static mend_status tell_reading(report *base, const replay_reading *reading) {
  page_file *to = (page_file *)base;
  const page_run *run = page_runs_find(&to->runs, reading->run_id);
  if (run == NULL || !run->shown) return MEND_OK;
  const uint64_t nth = to->readings++;
  if (nth % page_block_size(nth, to->limits.readings) != 0) return MEND_OK;
  mend__buffer *record = &to->records;
  page_record_begin(record);
  mend__buffer_printf(record, "[\"v\",%llu,", (unsigned long long)run->number);
  mend__buffer_seconds(record, since_base(to, reading->ts_ns));
  mend__buffer_printf(record, ",%llu,", (unsigned long long)reading->row);
  mend__buffer_f64(record, reading->confidence);
  mend__buffer_char(record, ',');
  page_text(record, reading->source, NAME_BYTES);
  mend__buffer_char(record, ']');
  return settle(to);
}

/* ---- Incidents --------------------------------------------------------------------------------------------- */

static mend_status note_detection(page_file *to, const replay_detection *found) {
  if (to->aftermaths == NULL) to->aftermaths = mend__alloc_zero(NULL, INCIDENTS_MAX * sizeof *to->aftermaths);
  if (to->aftermaths == NULL) return MEND_ENOMEM;
  if (!found->again || found->incident == 0) return MEND_OK;
  page_aftermath *after = &to->aftermaths[found->incident - 1];
  after->again++;
  after->last_row = found->row;
  return MEND_OK;
}

static mend_status tell_detection(report *base, const replay_detection *found) {
  page_file *to = (page_file *)base;
  const mend_status status = note_detection(to, found);
  page_run *run = page_runs_find(&to->runs, found->detection->run_id);
  if (status != MEND_OK || run == NULL) return status;
  /* As many again as there may be runs in which all is well. */
  if (!run->shown && to->runs.shown < 2 * to->limits.runs) page_run_show(&to->runs, run, &to->records);
  if (run->shown && to->incidents++ < to->limits.incidents) {
    const page_place at = {to->file, run->number, to->base_ns};
    page_finding_write(&to->records, &at, found);
  }
  return settle(to);
}

static mend_status tell_ended(report *base, uint64_t incident, const replay_ending *ending) {
  page_file *to = (page_file *)base;
  page_ending_write(&to->records, incident, ending);
  return settle(to);
}

static mend_status tell_repeated(report *base, uint64_t incident, uint64_t row) {
  page_file *to = (page_file *)base;
  page_aftermath *after = &to->aftermaths[incident - 1];
  after->repeated++;
  after->last_repeated = row;
  return MEND_OK;
}

static void write_aftermaths(page_file *to) {
  for (size_t i = 0; to->aftermaths != NULL && i < INCIDENTS_MAX; i++) {
    const page_aftermath *after = &to->aftermaths[i];
    if (after->again > 0 || after->repeated > 0) page_aftermath_write(&to->records, i + 1, after);
  }
}

/* ---- Files ------------------------------------------------------------------------------------------------- */

static mend_status tell_broken(report *base, uint64_t row, const char *problem) {
  page_file *to = (page_file *)base;
  if (to->broken++ >= BROKEN_SHOWN) return MEND_OK;
  mend__buffer *record = begin_record(to, "broken");
  page_add_count(record, "row", row);
  page_add_text(record, "problem", mend_str_from(problem), TEXT_BYTES);
  return end_record(to);
}

/* What one should know before believing the rest, a line each. */
static void add_notes(const page_file *to, mend__buffer *record, const replay_summary *summary) {
  writer sentences = {.width = SIZE_MAX, .file = to->file};
  mend__buffer notes;
  mend__buffer_init(&notes, NULL);
  mend__buffer_init(&sentences.line, NULL);
  notes_put(&sentences, &notes, summary);
  page_add_text(record, "notes", mend__trim(mend__buffer_text(&notes)), TEXT_BYTES);
  record->failed |= notes.failed || sentences.line.failed;
  mend__buffer_free(&sentences.line);
  mend__buffer_free(&notes);
}

static mend_status tell_end(report *base, const replay_summary *summary) {
  page_file *to = (page_file *)base;
  write_aftermaths(to);
  mend__buffer *record = begin_record(to, "done");
  page_add_count(record, "rows", summary->counts.rows);
  page_add_count(record, "broken", summary->counts.broken);
  page_add_count(record, "runs", summary->counts.runs);
  page_add_count(record, "incidents", summary->counts.incidents);
  if (to->file->has_clock) page_add_seconds(record, "since", to->base_ns);
  add_notes(to, record, summary);
  mend__buffer_char(record, '}');
  return flush(to);
}

static mend_status tell_unreadable(report *base, const char *name, mend_str why) {
  page_file *to = (page_file *)base;
  mend__buffer *record = begin_record(to, "unreadable");
  page_add_text(record, "name", mend_str_from(name), TEXT_BYTES);
  page_add_text(record, "why", why, TEXT_BYTES);
  mend__buffer_char(record, '}');
  return flush(to);
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static void free_report(report *base) {
  page_file *to = (page_file *)base;
  page_runs_free(&to->runs);
  mend__buffer_free(&to->records);
  mend__free(NULL, to->aftermaths);
  mend__free(NULL, to);
}

report *page_file_open(outlet *out, const page_limits *limits) {
  page_file *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin,
                      .broken = tell_broken,
                      .detection = tell_detection,
                      .ended = tell_ended,
                      .repeated = tell_repeated,
                      .called = tell_called,
                      .reading = tell_reading,
                      .run_began = tell_run_began,
                      .run_ended = tell_run_ended,
                      .end = tell_end,
                      .unreadable = tell_unreadable,
                      .free = free_report};
  to->out = out;
  to->limits = *limits;
  page_runs_init(&to->runs);
  mend__buffer_init(&to->records, NULL);
  return &to->base;
}
