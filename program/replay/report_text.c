/* The report for people. A file is told of when it has been read, so that it begins with what the file holds and each
 * incident stands once with all its times. */
#include "core/buffer.h"
#include "core/memory.h"
#include "core/strmap.h"
#include "program/replay/json_fields.h"
#include "program/replay/plain.h"
#include "program/replay/report.h"

enum {
  INCIDENTS_MAX = 1000, /* more are counted, not shown */
  ROWS_SHOWN = 8,       /* of an incident that comes again */
  BROKEN_SHOWN = 10,
  INDENT = 3,
  VALUE_COLUMN = INDENT + 10,
  TEXT_MAX = 4096
};

/* Detections of one kind about one thing in one run. */
typedef struct incident {
  struct incident *next;
  mend__buffer key, text;
  uint64_t rows[ROWS_SHOWN]; /* where it came again */
  uint64_t again;
  uint64_t last_row;
} incident;

typedef struct text_report {
  report base;
  FILE *out;
  bool colour;
  uint64_t files;
  const replay_file *file;
  mend__strmap by_key;
  incident *first, *last;
  uint64_t not_shown;  /* detections beyond INCIDENTS_MAX */
  mend__buffer broken; /* lines about broken rows */
  uint64_t broken_count;
  mend__buffer page, line;
} text_report;

/* ---- Pieces ------------------------------------------------------------------------------------------------ */

typedef enum style { BOLD, DIM, ALARM, GOOD } style;

static void styled(const text_report *to, mend__buffer *page, style as, const char *text) {
  static const char *const codes[] = {"1", "2", "1;31", "32"};
  if (to->colour) {
    mend__buffer_printf(page, "\x1b[%sm%s\x1b[0m", codes[as], text);
  } else {
    mend__buffer_str(page, mend_str_from(text));
  }
}

static void label(const text_report *to, mend__buffer *page, const char *name) {
  char padded[VALUE_COLUMN + 1];
  snprintf(padded, sizeof padded, "%*s%-*s", INDENT, "", VALUE_COLUMN - INDENT, name);
  styled(to, page, DIM, padded);
}

/* What is in to->line becomes the value of a label. */
static void put_line(text_report *to, mend__buffer *page, const char *name) {
  label(to, page, name);
  plain_wrap(page, (mend_str){to->line.data, to->line.len}, VALUE_COLUMN, VALUE_COLUMN);
  page->failed |= to->line.failed;
}

static mend__buffer *begin_line(text_report *to) {
  mend__buffer_clear(&to->line);
  return &to->line;
}

static mend_str plain_of(text_report *to, mend_str text, size_t max_chars) {
  plain_text(begin_line(to), text, max_chars);
  return (mend_str){to->line.data, to->line.len};
}

/* ---- An incident ------------------------------------------------------------------------------------------- */

static void put_title(text_report *to, mend__buffer *page, const mend_detection *detection, size_t number) {
  char heading[96];
  const int width = snprintf(heading, sizeof heading, "%zu. %.*s: ", number, MEND_STR_ARG(detection->detector));
  styled(to, page, ALARM, heading);
  plain_wrap(page, plain_of(to, detection->summary, TEXT_MAX), (size_t)width, INDENT);
}

static void put_when(text_report *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer *line = begin_line(to);
  const uint64_t at = found->detection->wall_ns;
  if (to->file->has_clock) {
    plain_clock(line, at);
    mend__buffer_str(line, MEND_STR(", "));
    plain_duration(line, at > found->start_ns ? at - found->start_ns : 0);
    mend__buffer_printf(line, " after the start, %s", at < found->ts_ns ? "before " : "");
  }
  mend__buffer_printf(line, "%s %llu", to->file->row, (unsigned long long)found->row);
  put_line(to, page, "when");
}

static void put_call(text_report *to, mend__buffer *page, const replay_detection *found) {
  mend__buffer *line = begin_line(to);
  plain_text(line, found->detection->run_id, 200);
  put_line(to, page, "run");
  if (found->call_id.len == 0) return;
  line = begin_line(to);
  plain_text(line, found->call_id, 200);
  if (found->detection->tool_name.len > 0) mend__buffer_str(line, MEND_STR(", "));
  plain_text(line, found->detection->tool_name, 200);
  if (found->args.len > 0) mend__buffer_char(line, ' ');
  plain_text(line, found->args, TEXT_MAX);
  put_line(to, page, "call");
}

/* A number without the decimals after the third. */
static mend_str short_number(mend_str value) {
  const char *point = value.len > 0 ? memchr(value.ptr, '.', value.len) : NULL;
  if (point == NULL || memchr(value.ptr, 'e', value.len) != NULL) return value;
  const size_t whole = (size_t)(point - value.ptr);
  if (value.len > whole + 4) value.len = whole + 4;
  while (value.ptr[value.len - 1] == '0')
    value.len--;
  if (value.len == whole + 1) value.len = whole;
  return value;
}

/* The detector's own fields as "name value, name value", without what the report says elsewhere. */
static void append_payload(mend__buffer *line, mend_str payload) {
  mend_json json;
  mend_json_init(&json, payload, MEND_JSON_DEPTH_MAX);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) return;
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const bool told = mend_json_is(&json, MEND_STR("tool_name")) || mend_json_is(&json, MEND_STR("call_id"));
    const mend_str key = json.slice;
    mend_str value;
    if (mend_json_value(&json, &value) != MEND_OK) return;
    if (told) continue;
    mend__buffer_str(line, MEND_STR(", "));
    plain_text(line, key, 80);
    mend__buffer_char(line, ' ');
    plain_json(line, json.token == MEND_JSON_NUMBER ? short_number(value) : value, 200);
  }
}

static void put_evidence(text_report *to, mend__buffer *page, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  mend__buffer *line = begin_line(to);
  plain_text(line, detection->reason, 80);
  mend__buffer_printf(line, ", severity %.2f", detection->severity);
  append_payload(line, detection->payload);
  put_line(to, page, "evidence");
  json_elements pieces = json_elements_of(detection->evidence);
  mend_str piece;
  while (json_elements_next(&pieces, &piece)) {
    plain_json(begin_line(to), piece, TEXT_MAX);
    put_line(to, page, "");
  }
}

static void put_answer(text_report *to, mend__buffer *page, const replay_detection *found) {
  if (found->answer.len == 0) return;
  mend__buffer *line = begin_line(to);
  if (found->answer_id.len > 0) {
    plain_text(line, found->answer_id, 200);
    mend__buffer_str(line, found->answer_failed ? MEND_STR(" failed: ") : MEND_STR(" returned: "));
  }
  if (found->answer_failed) {
    plain_text(line, found->answer, TEXT_MAX);
  } else {
    plain_json(line, found->answer, TEXT_MAX);
  }
  put_line(to, page, "answer");
}

static void put_policy(text_report *to, mend__buffer *page, const replay_detection *found) {
  static const char *const would[] = {
      [MEND_ACTION_NONE] = "would have let the run go on",
      [MEND_ACTION_ABORT] = "would have aborted the run",
      [MEND_ACTION_ESCALATE] = "would have asked: ",
  };
  mend__buffer *line = begin_line(to);
  mend__buffer_str(line, mend_str_from(would[found->action.kind]));
  if (found->action.kind == MEND_ACTION_ESCALATE) plain_text(line, mend_str_from(found->action.text), TEXT_MAX);
  put_line(to, page, "policy");
  if (found->detection->steer.len == 0) return;
  plain_text(begin_line(to), found->detection->steer, TEXT_MAX);
  put_line(to, page, "try");
}

static void append_key(mend__buffer *key, const replay_detection *found) {
  const mend_detection *detection = found->detection;
  const mend_str parts[] = {detection->run_id, detection->detector, detection->reason, detection->tool_name};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    mend__buffer_str(key, parts[i]);
    mend__buffer_char(key, '\0');
  }
  char hash[MEND_HASH_TEXT_SIZE];
  mend_hash_format(found->args_hash, hash);
  mend__buffer_str(key, mend_str_from(hash));
}

static void free_incident(incident *of) {
  mend__buffer_free(&of->key);
  mend__buffer_free(&of->text);
  mend__free(NULL, of);
}

static mend_status add_incident(text_report *to, const replay_detection *found) {
  incident *new = mend__alloc_zero(NULL, sizeof *new);
  if (new == NULL) return MEND_ENOMEM;
  mend__buffer_init(&new->key, NULL);
  mend__buffer_init(&new->text, NULL);
  append_key(&new->key, found);
  put_title(to, &new->text, found->detection, to->by_key.count + 1);
  put_when(to, &new->text, found);
  put_call(to, &new->text, found);
  put_evidence(to, &new->text, found);
  put_answer(to, &new->text, found);
  put_policy(to, &new->text, found);
  const bool failed = new->key.failed || new->text.failed;
  if (failed || mend__strmap_put(&to->by_key, (mend_str){new->key.data, new->key.len}, new) != MEND_OK) {
    free_incident(new);
    return MEND_ENOMEM;
  }
  if (to->last != NULL) {
    to->last->next = new;
  } else {
    to->first = new;
  }
  to->last = new;
  return MEND_OK;
}

static mend_status tell_detection(report *base, const replay_detection *found) {
  text_report *to = (text_report *)base;
  mend__buffer *key = begin_line(to);
  append_key(key, found);
  if (key->failed) return MEND_ENOMEM;
  incident *known = mend__strmap_get(&to->by_key, (mend_str){key->data, key->len});
  if (known != NULL) {
    if (known->again < ROWS_SHOWN) known->rows[known->again] = found->row;
    known->again++;
    known->last_row = found->row;
    return MEND_OK;
  }
  if (to->by_key.count < INCIDENTS_MAX) return add_incident(to, found);
  to->not_shown++;
  return MEND_OK;
}

/* ---- The page ---------------------------------------------------------------------------------------------- */

static void put_again(text_report *to, mend__buffer *page, const incident *of) {
  if (of->again == 0) return;
  mend__buffer *line = begin_line(to);
  plain_count(line, of->again, "time");
  mend__buffer_printf(line, " more: %s%s ", to->file->row, of->again == 1 ? "" : "s");
  for (uint64_t i = 0; i < of->again && i < ROWS_SHOWN; i++) {
    mend__buffer_printf(line, "%s%llu", i > 0 ? ", " : "", (unsigned long long)of->rows[i]);
  }
  if (of->again > ROWS_SHOWN) mend__buffer_printf(line, " ... %llu", (unsigned long long)of->last_row);
  put_line(to, page, "again");
}

static void put_head(text_report *to, mend__buffer *page, const replay_summary *summary) {
  const replay_counts *counts = &summary->counts;
  if (to->files++ > 0) mend__buffer_char(page, '\n');
  const mend_str path = plain_of(to, mend_str_from(to->file->name), 200);
  mend__buffer_char(&to->line, '\0');
  if (!to->line.failed) styled(to, page, BOLD, path.ptr);
  mend__buffer_printf(page, ": %s, ", to->file->title);
  plain_count(page, counts->rows, to->file->row);
  mend__buffer_char(page, '\n');
  plain_count(page, counts->runs, "run");
  mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, counts->calls, "call");
  mend__buffer_str(page, MEND_STR(", "));
  plain_count(page, counts->results, "result");
  if (counts->unfinished > 0) mend__buffer_printf(page, ", %llu unfinished", (unsigned long long)counts->unfinished);
  mend__buffer_char(page, '\n');
}

static void put_span(text_report *to, mend__buffer *page, const replay_summary *summary) {
  if (!to->file->has_clock) return;
  plain_date(page, summary->start_ns);
  mend__buffer_char(page, ' ');
  plain_clock(page, summary->start_ns);
  mend__buffer_str(page, MEND_STR(" to "));
  if (summary->start_ns / MEND_SECOND_NS / 86400 != summary->end_ns / MEND_SECOND_NS / 86400) {
    plain_date(page, summary->end_ns);
    mend__buffer_char(page, ' ');
  }
  plain_clock(page, summary->end_ns);
  mend__buffer_str(page, MEND_STR(" UTC ("));
  plain_duration(page, summary->end_ns - summary->start_ns);
  mend__buffer_str(page, MEND_STR(")\n"));
}

static void put_incidents(text_report *to, mend__buffer *page, const replay_counts *counts) {
  mend__buffer_char(page, '\n');
  if (counts->detections == 0) {
    styled(to, page, GOOD, "Nothing was detected.");
    mend__buffer_char(page, '\n');
    return;
  }
  for (const incident *of = to->first; of != NULL; of = of->next) {
    if (of != to->first) mend__buffer_char(page, '\n');
    mend__buffer_bytes(page, of->text.data, of->text.len);
    put_again(to, page, of);
  }
  if (to->not_shown == 0) return;
  mend__buffer_str(page, MEND_STR("\nNot shown: "));
  plain_count(page, to->not_shown, "further detection");
  mend__buffer_str(page, MEND_STR("; --json lists them all.\n"));
}

static void put_unfinished(text_report *to, mend__buffer *page, const replay_summary *summary) {
  if (summary->counts.unfinished == 0) return;
  mend__buffer_str(page, MEND_STR("\nStill open at the end (which is no stall):\n"));
  for (size_t i = 0; i < summary->open_count; i++) {
    const replay_open_call *call = &summary->open[i];
    mend__buffer *line = begin_line(to);
    plain_text(line, mend_str_from(call->id), 64);
    if (call->tool[0] != '\0') mend__buffer_str(line, MEND_STR(", "));
    plain_text(line, mend_str_from(call->tool), 64);
    mend__buffer_printf(line, ", since %s %llu", to->file->row, (unsigned long long)call->row);
    if (to->file->has_clock) {
      mend__buffer_str(line, MEND_STR(" at "));
      plain_clock(line, call->since_ns);
    }
    if (summary->counts.runs > 1) mend__buffer_str(line, MEND_STR(", run "));
    if (summary->counts.runs > 1) plain_text(line, mend_str_from(call->run), 64);
    mend__buffer_printf(page, "%*s", INDENT, "");
    plain_wrap(page, (mend_str){line->data, line->len}, INDENT, INDENT + 2);
  }
  const uint64_t more = summary->counts.unfinished - summary->open_count;
  if (more > 0) mend__buffer_printf(page, "%*sand %llu more\n", INDENT, "", (unsigned long long)more);
}

static void put_broken(text_report *to, mend__buffer *page) {
  if (to->broken_count == 0) return;
  mend__buffer_char(page, '\n');
  plain_count(page, to->broken_count, to->file->row);
  mend__buffer_str(page, MEND_STR(" left out:\n"));
  mend__buffer_bytes(page, to->broken.data, to->broken.len);
  if (to->broken_count > BROKEN_SHOWN) {
    const unsigned long long more = to->broken_count - BROKEN_SHOWN;
    mend__buffer_printf(page, "%*sand %llu more\n", INDENT, "", more);
  }
}

/* What one should know before believing the rest. */
static void put_note(mend__buffer *page, bool *first, mend_str note) {
  if (*first) mend__buffer_char(page, '\n');
  *first = false;
  plain_wrap(page, note, 0, 0);
}

static void put_counted_note(text_report *to, mend__buffer *page, bool *first, uint64_t count, const char *one,
                             const char *rest) {
  if (count == 0) return;
  mend__buffer *line = begin_line(to);
  plain_count(line, count, one);
  mend__buffer_str(line, mend_str_from(rest));
  put_note(page, first, (mend_str){line->data, line->len});
}

static void put_notes(text_report *to, mend__buffer *page, const replay_counts *counts) {
  bool first = true;
  if (counts->calls == 0) put_note(page, &first, MEND_STR("There are no tool calls in it."));
  if (!to->file->has_clock) {
    put_note(page, &first, MEND_STR("It has no clock, so nothing can be said about stalls."));
  }
  put_counted_note(to, page, &first, counts->results_without_call, "result", " belonged to no call in this file.");
  put_counted_note(to, page, &first, counts->backwards, "time", " ran backwards and counted as the time before.");
  put_counted_note(to, page, &first, counts->late_times, "time",
                   " came too late to start a clock: the first rows had none.");
  put_counted_note(to, page, &first, counts->ignored_members, "member", " of the wrong type did not count.");
  put_counted_note(to, page, &first, counts->detections_lost, "detection", " came too fast to be told.");
  put_counted_note(to, page, &first, counts->readings_unused, "reading",
                   " of confidence went unread; --set regression.enable=true reads them.");
}

/* ---- The report -------------------------------------------------------------------------------------------- */

static void forget_file(text_report *to) {
  while (to->first != NULL) {
    incident *of = to->first;
    to->first = of->next;
    free_incident(of);
  }
  to->last = NULL;
  mend__strmap_free(&to->by_key);
  mend__strmap_init(&to->by_key, NULL);
  mend__buffer_clear(&to->broken);
  to->broken_count = to->not_shown = 0;
}

static mend_status begin(report *base, const replay_file *file) {
  text_report *to = (text_report *)base;
  forget_file(to);
  to->file = file;
  return MEND_OK;
}

static mend_status tell_broken(report *base, uint64_t row, const char *problem) {
  text_report *to = (text_report *)base;
  if (to->broken_count++ >= BROKEN_SHOWN) return MEND_OK;
  mend__buffer *line = begin_line(to);
  mend__buffer_printf(line, "%s %llu: ", to->file->row, (unsigned long long)row);
  plain_text(line, mend_str_from(problem), TEXT_MAX);
  mend__buffer_printf(&to->broken, "%*s", INDENT, "");
  plain_wrap(&to->broken, (mend_str){line->data, line->len}, INDENT, INDENT + 2);
  return line->failed || to->broken.failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status end(report *base, const replay_summary *summary) {
  text_report *to = (text_report *)base;
  mend__buffer *page = &to->page;
  mend__buffer_clear(page);
  put_head(to, page, summary);
  put_span(to, page, summary);
  put_incidents(to, page, &summary->counts);
  put_unfinished(to, page, summary);
  put_broken(to, page);
  put_notes(to, page, &summary->counts);
  if (page->failed || to->line.failed) return MEND_ENOMEM;
  const bool written = fwrite(page->data, 1, page->len, to->out) == page->len && fflush(to->out) == 0;
  return written ? MEND_OK : MEND_ECLOSED;
}

static void free_report(report *base) {
  text_report *to = (text_report *)base;
  forget_file(to);
  mend__strmap_free(&to->by_key);
  mend__buffer_free(&to->broken);
  mend__buffer_free(&to->page);
  mend__buffer_free(&to->line);
  mend__free(NULL, to);
}

report *report_text_new(FILE *out, bool colour) {
  text_report *to = mend__alloc_zero(NULL, sizeof *to);
  if (to == NULL) return NULL;
  to->base = (report){begin, tell_broken, tell_detection, end, free_report};
  to->out = out;
  to->colour = colour;
  mend__strmap_init(&to->by_key, NULL);
  mend__buffer_init(&to->broken, NULL);
  mend__buffer_init(&to->page, NULL);
  mend__buffer_init(&to->line, NULL);
  return &to->base;
}
