#include "watchdogs/evidence_regression.h"
#include "watchdogs/regression_rule.h"
#include "watchdogs/saying.h"

static mend__fall fall_of(const mend__readings *series, mend__decline decline) {
  const mend__half_window *window = &series->window;
  if (decline == MEND__DECLINE_HALF_WINDOW) return mend__half_window_fall(window);
  const uint32_t half = window->n / 2, newest = window->count < half ? window->count : half;
  return (mend__fall){series->cusum.mean, mend__half_window_mean(window, window->count - newest, newest)};
}

static void write_summary(mend__buffer *text, const mend__readings *series, mend__decline decline, mend__fall fell) {
  const mend_str source = mend__kept_text_first(&series->source);
  mend__buffer_str(text, MEND_STR("confidence "));
  if (source.len > 0) {
    mend__buffer_str(text, MEND_STR("of "));
    mend__buffer_tool(text, source);
    mend__buffer_char(text, ' ');
  }
  const bool drifts = decline == MEND__DECLINE_CUSUM;
  mend__buffer_str(text, drifts ? MEND_STR("keeps below where it began: from ") : MEND_STR("fell from "));
  mend__fall_write(fell, text);
}

static void write_payload(mend__buffer *text, const mend__readings *series, mend__decline decline, mend__fall fell) {
  if (decline == MEND__DECLINE_HALF_WINDOW) {
    mend__fall_write_number(text, "{\"head_mean\":", fell.from);
    mend__fall_write_number(text, ",\"tail_mean\":", fell.to);
    mend__fall_write_number(text, ",\"standard_error\":", mend__half_window_error(&series->window));
  } else {
    mend__fall_write_number(text, "{\"base_mean\":", series->cusum.mean);
    mend__fall_write_number(text, ",\"base_deviation\":", series->cusum.deviation);
    mend__fall_write_number(text, ",\"sum\":", series->cusum.sum);
  }
  mend__buffer_str(text, MEND_STR(",\"source\":"));
  mend__buffer_json_text(text, mend__kept_text_first(&series->source));
  mend__buffer_str(text, MEND_STR(",\"scores\":"));
  mend__half_window_write(&series->window, text);
  mend__buffer_char(text, '}');
}

static void write_incident(mend__buffer *text, const mend__readings *series) {
  const mend_str source = mend__kept_text_first(&series->source);
  mend__buffer_str(text, MEND_STR("confidence"));
  if (source.len == 0) return;
  mend__buffer_char(text, '/');
  mend__buffer_str(text, source);
}

static double severity_of(const mend__readings *series, double drop, mend__decline decline, mend__fall fell) {
  if (decline == MEND__DECLINE_CUSUM) return series->cusum.sum / (2 * MEND__CUSUM_LIMIT);
  return mend__fall_severity(fell.from - fell.to, drop);
}

mend_status mend__readings_report(const mend__readings *series, double drop, mend__decline decline,
                                  const mend_confidence_event *reading, const mend_allocator *allocator,
                                  mend_emitter *emitter) {
  const bool drifts = decline == MEND__DECLINE_CUSUM;
  const mend__fall fell = fall_of(series, decline);
  char digits[MEND__CALL_DIGITS];
  mend_detection detection = MEND_DETECTION_INIT;
  detection.reason = drifts ? MEND_STR("cusum") : MEND_STR("half_window");
  detection.severity = severity_of(series, drop, decline, fell);
  detection.confidence = drifts ? 0.6 : 0.7;
  detection.tool_name = reading->tool_name;
  detection.first_call = mend__kept_text_first(&series->begun_with);
  detection.last_call = mend__call_text(reading->event.call, reading->event.call_name, digits);
  detection.count = series->window.count;
  detection.steer = mend__fall_steer();

  mend__saying saying;
  mend__saying_init(&saying, allocator);
  write_summary(&saying.text, series, decline, fell);
  mend__saying_next(&saying);
  mend__half_window_write(&series->window, &saying.text);
  mend__saying_next(&saying);
  write_incident(&saying.text, series);
  mend__saying_next(&saying);
  write_payload(&saying.text, series, decline, fell);
  return mend__saying_emit(&saying, emitter, &detection);
}
