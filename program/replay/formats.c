#include "program/replay/format.h"

#include "program/replay/foreign.h"

const format *const formats[] = {&journal_format, &openai_chat_format, &claude_code_format, NULL};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] - 1 };
_Static_assert((int)FORMAT_COUNT < (int)FORMAT_CONTAINERS_MAX, "room for a container of each format");

void format_containers(const char *ret_names[FORMAT_CONTAINERS_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < FORMAT_COUNT; i++) {
    if (formats[i]->container != NULL) ret_names[count++] = formats[i]->container;
  }
  ret_names[count] = NULL;
}

/* So many bytes of rows are looked at, and always one row. */
static const size_t ENOUGH_BYTES = 256 * 1024;

/* What the rows so far say about one format. */
typedef struct verdict {
  unsigned yes, maybe;
  bool never;
  const char *reason; /* the first */
  bool has_ts;
  uint64_t first_ts_ns;
} verdict;

static void take_view(verdict *of, format_view view) {
  of->yes += view.fit == FIT_YES;
  of->maybe += view.fit == FIT_MAYBE;
  of->never |= view.fit == FIT_NEVER;
  if (of->reason == NULL || view.fit == FIT_NEVER) of->reason = view.reason;
  if (view.has_ts && !of->has_ts) {
    of->has_ts = true;
    of->first_ts_ns = view.ts_ns;
  }
}

static bool is_better(const verdict *a, const verdict *b) {
  return a->yes != b->yes ? a->yes > b->yes : a->maybe > b->maybe;
}

/* The index of the format that fits best, -1 for none. */
static int best_of(const verdict verdicts[FORMAT_COUNT]) {
  int best = -1;
  for (int i = 0; i < FORMAT_COUNT; i++) {
    if (verdicts[i].never || verdicts[i].yes + verdicts[i].maybe == 0) continue;
    if (best < 0 || is_better(&verdicts[i], &verdicts[best])) best = i;
  }
  return best;
}

static bool is_sure(const verdict verdicts[FORMAT_COUNT]) {
  const int best = best_of(verdicts);
  return best >= 0 && verdicts[best].yes > 0 && (verdicts[best].has_ts || !formats[best]->has_clock);
}

static void explain(const verdict verdicts[FORMAT_COUNT], bool any_rows, mend__buffer *reasons) {
  for (int i = 0; i < FORMAT_COUNT; i++) {
    const char *reason = any_rows ? verdicts[i].reason : "it is a JSON document without an array of rows";
    mend__buffer_printf(reasons, "\n  tried %s: %s", formats[i]->title, reason != NULL ? reason : "no row can be read");
  }
}

/* What the rows looked at so far say. */
typedef struct findings {
  verdict verdicts[FORMAT_COUNT];
  const char *foreign;
  bool any_rows;
} findings;

static void take_row(findings *of, const input_row *row) {
  of->any_rows = true;
  if (row->problem != NULL) return;
  for (int i = 0; i < FORMAT_COUNT; i++)
    take_view(&of->verdicts[i], formats[i]->look(row->text));
  if (of->foreign == NULL) of->foreign = foreign_name(row->text);
}

static mend_status look_at_rows(input *in, findings *of) {
  input_row row;
  for (size_t bytes = 0; bytes <= ENOUGH_BYTES && !is_sure(of->verdicts); bytes += row.text.len) {
    const mend_status status = input_look_ahead(in, &row);
    if (status == MEND_ENOENT || status == MEND_ELIMIT) break;
    if (status != MEND_OK) return status;
    take_row(of, &row);
  }
  return MEND_OK;
}

mend_status format_choose(input *in, format_choice *ret_choice, mend__buffer *reasons) {
  findings of = {0};
  *ret_choice = (format_choice){0};
  if (in->shape == INPUT_DOCUMENT) of.foreign = foreign_name(in->beginning);
  if (of.foreign != NULL) {
    ret_choice->foreign = of.foreign;
    return MEND_OK;
  }
  const mend_status status = look_at_rows(in, &of);
  if (status != MEND_OK) return status;
  const int best = best_of(of.verdicts);
  if (best >= 0) {
    *ret_choice = (format_choice){formats[best], NULL, of.verdicts[best].has_ts, of.verdicts[best].first_ts_ns};
  } else {
    ret_choice->foreign = of.foreign;
    explain(of.verdicts, of.any_rows, reasons);
  }
  return MEND_OK;
}
