#include "core/seconds.h"
#include "watchdogs/budget.h"
#include "watchdogs/saying.h"

typedef struct wording {
  const char *reason, *before, *unit, *option;
} wording;

static const wording wordings[MEND__BUDGET_COUNT] = {
    [MEND__BUDGET_CALLS] = {"calls", "the run has made ", " tool calls", "budget.calls"},
    [MEND__BUDGET_TOKENS] = {"tokens", "the run has used ", " tokens", "budget.tokens"},
    [MEND__BUDGET_COST] = {"cost", "the run has cost ", " US dollars", "budget.cost_usd"},
    [MEND__BUDGET_TIME] = {"time", "the run has taken ", " s", "budget.time_s"},
};

/* For people: as many 0.0001 as fit. */
static double rounded(double amount) {
  return amount < 1e12 ? (double)(uint64_t)(amount * 10000 + 0.5) / 10000 : amount;
}

static void write_amount(mend__buffer *text, mend__budget_limit what, double amount) {
  if (what == MEND__BUDGET_TIME) {
    mend__buffer_tenths(text, mend__seconds_to_ns(amount));
  } else if (what == MEND__BUDGET_COST) {
    mend__buffer_f64(text, rounded(amount));
  } else {
    mend__buffer_f64(text, amount);
  }
}

static void write_summary(mend__buffer *text, mend__budget_limit what, const mend__spending *spending, mend_str tool) {
  const wording *words = &wordings[what];
  mend__buffer_str(text, mend_str_from(words->before));
  write_amount(text, what, spending->used);
  mend__buffer_str(text, mend_str_from(words->unit));
  if (tool.len > 0) {
    mend__buffer_str(text, MEND_STR(" of "));
    mend__buffer_tool(text, tool);
  }
  mend__buffer_str(text, MEND_STR(" of the "));
  write_amount(text, what, spending->limit);
  mend__buffer_str(text, MEND_STR(" it may"));
  if (what != MEND__BUDGET_TIME) mend__buffer_str(text, MEND_STR(", and is about to go on"));
}

static void write_spending(mend__buffer *text, mend__budget_limit what, const mend__spending *spending, mend_str tool) {
  mend__buffer_str(text, MEND_STR("{\"limit\":\""));
  mend__buffer_str(text, mend_str_from(tool.len > 0 ? "budget.tool_calls" : wordings[what].option));
  mend__buffer_str(text, MEND_STR("\",\"used\":"));
  mend__buffer_f64(text, spending->used);
  mend__buffer_str(text, MEND_STR(",\"of\":"));
  mend__buffer_f64(text, spending->limit);
  mend__buffer_char(text, '}');
}

mend_status mend__budget_report(mend__budget_limit what, const mend__spending *spending, mend_str tool,
                                const mend_event *event, const mend_allocator *allocator, mend_emitter *emitter) {
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = mend_str_from(wordings[what].reason);
  detection.severity = spending->used / (2 * spending->limit);
  detection.tool_name = tool;
  const bool is_call = event != NULL && event->kind == MEND_EVENT_TOOL_BEFORE;
  if (is_call) detection.last_call = mend__call_text(event->call, event->call_name, digits);
  detection.first_call = detection.last_call;
  if (what == MEND__BUDGET_CALLS) detection.count = (uint64_t)spending->used;
  detection.steer = MEND_STR("finish with what there is, or ask whether more may be spent");

  mend__saying saying;
  mend__saying_init(&saying, allocator);
  write_summary(&saying.text, what, spending, tool);
  mend__saying_next(&saying);
  mend__buffer_char(&saying.text, '[');
  write_spending(&saying.text, what, spending, tool);
  mend__buffer_char(&saying.text, ']');
  mend__saying_next(&saying);
  mend__buffer_str(&saying.text, detection.reason);
  if (tool.len > 0) mend__buffer_char(&saying.text, '/');
  mend__buffer_str(&saying.text, tool);
  mend__saying_next(&saying);
  write_spending(&saying.text, what, spending, tool);
  return mend__saying_emit(&saying, emitter, &detection);
}
