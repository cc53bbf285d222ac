#include "program/transcripts/format.h"

#include "program/base/json_fields.h"

/* When two fit as well, the first one counts. */
const format *const formats[] = {
    &journal_format,      &openai_chat_format,
    &anthropic_format,    &responses_format,
    &claude_code_format,  &codex_format,
    &openhands_v0_format, &openhands_v1_format,
    &gemini_format,       &otlp_format,
    &langsmith_format,    &sweagent_format,
    &mini_swe_format,     NULL,
};

enum { FORMAT_COUNT = sizeof formats / sizeof formats[0] - 1 };

void format_containers(const char *ret_names[FORMAT_CONTAINERS_MAX]) {
  size_t count = 0;
  for (size_t i = 0; i < FORMAT_COUNT; i++) {
    const char *const *name = formats[i]->containers;
    for (; name != NULL && *name != NULL && count < FORMAT_CONTAINERS_MAX - 1; name++)
      ret_names[count++] = *name;
  }
  ret_names[count] = NULL;
}

const format *format_of_stranger(const format *as, mend_str row) {
  if (as->look(row).fit != FIT_NO) return NULL;
  for (size_t i = 0; i < FORMAT_COUNT; i++) {
    if (formats[i]->look(row).fit == FIT_YES) return formats[i];
  }
  return NULL;
}

format_view format_look_inside(mend_str rows, format_view (*look)(mend_str row)) {
  format_view best = {.reason = "an array without rows in it"};
  mend__json_items elements = mend__json_items_of(rows);
  mend_str row;
  while (best.fit < FIT_YES && mend__json_items_next(&elements, &row)) {
    const format_view view = look(row);
    if (view.fit >= best.fit) best = view;
  }
  return best;
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
  bool says_no_progress;
} verdict;

static void take_view(verdict *of, format_view view) {
  of->yes += view.fit == FIT_YES;
  of->maybe += view.fit == FIT_MAYBE;
  of->never |= view.fit == FIT_NEVER;
  if (of->reason == NULL || view.fit == FIT_NEVER) of->reason = view.reason;
  of->says_no_progress |= view.says_no_progress;
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
  bool any_rows;
} findings;

static void take_row(findings *of, const input_row *row) {
  of->any_rows = true;
  if (row->problem != NULL) return;
  for (int i = 0; i < FORMAT_COUNT; i++)
    take_view(&of->verdicts[i], formats[i]->look(row->text));
}

/* What the document's beginning says counts more than all rows that are looked at. */
static void take_document(findings *of, mend_str beginning) {
  for (int i = 0; i < FORMAT_COUNT; i++) {
    if (formats[i]->look_at_document == NULL) continue;
    const fit says = formats[i]->look_at_document(beginning);
    if (says == FIT_YES) of->verdicts[i].yes += INPUT_AHEAD_MAX + 1;
    of->verdicts[i].never |= says == FIT_NEVER;
  }
}

static mend_status look_at_rows(input *in, findings *of) {
  input_row row;
  for (size_t bytes = 0; bytes <= ENOUGH_BYTES && !(of->any_rows && is_sure(of->verdicts)); bytes += row.text.len) {
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
  if (in->shape == INPUT_DOCUMENT) take_document(&of, in->beginning);
  const mend_status status = look_at_rows(in, &of);
  if (status != MEND_OK) return status;
  const int best = best_of(of.verdicts);
  if (best >= 0) {
    const verdict *chosen = &of.verdicts[best];
    const bool tells_progress = formats[best]->tells_progress && !chosen->says_no_progress;
    *ret_choice = (format_choice){formats[best], chosen->has_ts, chosen->first_ts_ns, tells_progress};
  } else {
    explain(of.verdicts, of.any_rows, reasons);
  }
  return MEND_OK;
}
