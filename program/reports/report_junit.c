/* JUnit's XML. A file's testcases are kept until its end: their testsuite begins with how many there are. */
#include "core/memory.h"
#include "program/base/plain.h"
#include "program/reports/headline.h"
#include "program/reports/markup.h"
#include "program/reports/report_kinds.h"
#include "program/reports/spool.h"

enum { NAME_MAX_CHARS = 1000, TEXT_MAX_CHARS = 4096 };

/* What is wrong with a run, until the run ends. */
typedef struct failure {
  struct failure *next;
  mend__buffer run_id, element;
} failure;

typedef struct junit_report {
  report base;
  outlet *out;
  const replay_file *file;
  spool cases;
  uint64_t tests, failed;
  failure *failures, **last;
} junit_report;

/* ---- Elements ---------------------------------------------------------------------------------------------- */

static void add_attribute(mend__buffer *xml, const char *name, mend_str value) {
  mend__buffer_printf(xml, " %s=\"", name);
  markup_text(xml, value, NAME_MAX_CHARS);
  mend__buffer_char(xml, '"');
}

static void add_seconds(mend__buffer *xml, uint64_t ns) {
  mend__buffer_str(xml, MEND_STR(" time=\""));
  mend__buffer_seconds(xml, ns);
  mend__buffer_char(xml, '"');
}

static void add_line(mend__buffer *xml, const char *name, mend_str value) {
  if (value.len == 0) return;
  mend__buffer_printf(xml, "%s: ", name);
  markup_text(xml, value, TEXT_MAX_CHARS);
  mend__buffer_char(xml, '\n');
}

static void write_failure(mend__buffer *xml, const replay_file *file, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  mend__buffer_str(xml, MEND_STR("      <failure"));
  add_attribute(xml, "message", detection->summary);
  mend__buffer_str(xml, MEND_STR(" type=\""));
  markup_text(xml, detection->detector, NAME_MAX_CHARS);
  mend__buffer_char(xml, '.');
  markup_text(xml, detection->reason, NAME_MAX_CHARS);
  mend__buffer_printf(xml, "\">%s %llu\n", file->row, (unsigned long long)found->row);
  add_line(xml, "call", found->call_id);
  add_line(xml, "tool", detection->tool_name);
  add_line(xml, "args", found->args);
  add_line(xml, found->answer.failed ? "last error" : "last result", found->answer.value);
  add_line(xml, "evidence", detection->evidence);
  add_line(xml, "try", detection->steer);
  mend__buffer_str(xml, MEND_STR("      </failure>\n"));
}

/* ---- Failures ---------------------------------------------------------------------------------------------- */

static void free_failure(failure *of) {
  mend__buffer_free(&of->run_id);
  mend__buffer_free(&of->element);
  mend__free(NULL, of);
}

static failure *new_failure(const replay_file *file, const replay_detection *found) {
  failure *new = mend__alloc_zero(NULL, sizeof *new);
  if (new == NULL) return NULL;
  mend__buffer_init(&new->run_id, NULL);
  mend__buffer_init(&new->element, NULL);
  mend__buffer_str(&new->run_id, found->detection->run_id);
  write_failure(&new->element, file, found);
  if (!new->run_id.failed && !new->element.failed) return new;
  free_failure(new);
  return NULL;
}

/* Each incident once; those that are not told apart do not come here, but their runs fail. */
static mend_status tell_detection(report *base, const replay_detection *found) {
  junit_report *to = (junit_report *)base;
  if (!found->fails || found->again || found->incident == 0) return MEND_OK;
  failure *new = new_failure(to->file, found);
  if (new == NULL) return MEND_ENOMEM;
  *to->last = new;
  to->last = &new->next;
  return MEND_OK;
}

/* Moves the run's failures into its testcase; false when there were none. */
static bool take_failures(junit_report *to, mend_str run_id, mend__buffer *xml) {
  bool any = false;
  failure **place = &to->failures;
  while (*place != NULL) {
    failure *each = *place;
    if (!mend_str_equal(mend__buffer_text(&each->run_id), run_id)) {
      place = &each->next;
      continue;
    }
    mend__buffer_str(xml, mend__buffer_text(&each->element));
    any = true;
    *place = each->next;
    free_failure(each);
  }
  to->last = place;
  return any;
}

/* ---- Runs and files ---------------------------------------------------------------------------------------- */

static mend_status begin(report *base, const replay_file *file) {
  ((junit_report *)base)->file = file;
  return MEND_OK;
}

static void write_headline(mend__buffer *xml, const replay_run *run) {
  mend__buffer line;
  mend__buffer_init(&line, NULL);
  headline_write(&line, run);
  xml->failed |= line.failed;
  mend__buffer_str(xml, MEND_STR("      <system-out>"));
  markup_plain(xml, mend__buffer_text(&line));
  mend__buffer_str(xml, MEND_STR("</system-out>\n"));
  mend__buffer_free(&line);
}

static mend_status tell_run_ended(report *base, const replay_run *run) {
  junit_report *to = (junit_report *)base;
  mend__buffer *xml = &to->cases.text;
  mend__buffer_str(xml, MEND_STR("    <testcase"));
  add_attribute(xml, "name", run->id);
  add_attribute(xml, "classname", mend_str_from(to->file->name));
  add_seconds(xml, run->used.ns);
  mend__buffer_str(xml, MEND_STR(">\n"));
  if (!take_failures(to, run->id, xml) && run->failing > 0) {
    mend__buffer_str(xml, MEND_STR("      <failure message=\"more was detected than is told\"/>\n"));
  }
  write_headline(xml, run);
  mend__buffer_str(xml, MEND_STR("    </testcase>\n"));
  to->tests++;
  to->failed += run->failing > 0;
  return spool_settle(&to->cases);
}

static void begin_suite(mend__buffer *xml, mend_str name, uint64_t tests, uint64_t failures, uint64_t errors) {
  mend__buffer_str(xml, MEND_STR("  <testsuite"));
  add_attribute(xml, "name", name);
  mend__buffer_printf(xml, " tests=\"%llu\" failures=\"%llu\" errors=\"%llu\" skipped=\"0\"", (unsigned long long)tests,
                      (unsigned long long)failures, (unsigned long long)errors);
}

static mend_status end(report *base, const replay_summary *summary) {
  junit_report *to = (junit_report *)base;
  mend__buffer xml;
  mend__buffer_init(&xml, NULL);
  begin_suite(&xml, mend_str_from(to->file->name), to->tests, to->failed, 0);
  add_seconds(&xml, summary->end_ns - summary->start_ns);
  mend__buffer_str(&xml, MEND_STR(">\n"));
  mend_status status = outlet_put(to->out, &xml);
  if (status == MEND_OK) status = spool_write(&to->cases, to->out);
  if (status == MEND_OK) status = outlet_write(to->out, MEND_STR("  </testsuite>\n"));
  mend__buffer_free(&xml);
  return status;
}

static mend_status tell_unreadable(report *base, const char *name, mend_str why) {
  junit_report *to = (junit_report *)base;
  mend__buffer xml;
  mend__buffer_init(&xml, NULL);
  begin_suite(&xml, mend_str_from(name), 1, 0, 1);
  mend__buffer_str(&xml, MEND_STR(">\n    <testcase name=\"it can be read\""));
  add_attribute(&xml, "classname", mend_str_from(name));
  mend__buffer_str(&xml, MEND_STR(">\n      <error"));
  const char *feed = memchr(why.ptr, '\n', why.len);
  add_attribute(&xml, "message", feed != NULL ? (mend_str){why.ptr, (size_t)(feed - why.ptr)} : why);
  mend__buffer_str(&xml, MEND_STR("/>\n    </testcase>\n  </testsuite>\n"));
  const mend_status status = outlet_put(to->out, &xml);
  mend__buffer_free(&xml);
  return status;
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static void free_report(report *base) {
  junit_report *to = (junit_report *)base;
  while (to->failures != NULL) {
    failure *next = to->failures->next;
    free_failure(to->failures);
    to->failures = next;
  }
  spool_free(&to->cases);
  mend__free(NULL, to);
}

static report *open_report(const report_kind *kind, outlet *out) {
  (void)kind;
  junit_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){.begin = begin,
                      .detection = tell_detection,
                      .run_ended = tell_run_ended,
                      .end = end,
                      .unreadable = tell_unreadable,
                      .free = free_report};
  to->out = out;
  to->last = &to->failures;
  spool_init(&to->cases);
  return &to->base;
}

static mend_status start(report_kind *kind, outlet *to) {
  (void)kind;
  return outlet_write(to, MEND_STR("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"mend replay\">\n"));
}

static mend_status finish(report_kind *kind, const replay_totals *totals, outlet *to) {
  (void)kind;
  (void)totals;
  return outlet_write(to, MEND_STR("</testsuites>\n"));
}

report_kind *report_junit_kind(void) {
  report_kind *kind = mend__alloc_zero(NULL, sizeof *kind);
  if (kind != NULL) *kind = (report_kind){.start = start, .open = open_report, .finish = finish};
  return kind;
}
