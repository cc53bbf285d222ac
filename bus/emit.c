#include "bus/bus_internal.h"
#include "bus/event_json.h"
#include "core/given.h"

static mend_status check_topic(mend_str topic, mend_error *error) {
  const char *fault = mend__topic_name_fault(topic);
  if (fault != NULL) return mend__name_refuse(error, MEND_EINVAL, "topic", topic, fault);
  if (mend_str_equal(topic, mend_event_kind_topic(MEND_EVENT_TICK))) {
    return mend_error_set(error, MEND_EINVAL, "topic tick is for journals only");
  }
  return MEND_OK;
}

static mend_status publish(mend_run *run, mend__event_line *line, mend_error *error) {
  mend_event *event = &line->event.event;
  mend_status status = line->custom ? mend_bus_topic(mend_run_bus(run), line->topic, &event->topic, error) : MEND_OK;
  if (status != MEND_OK) return status;
  status = mend__run_publish_in_span(run, event);
  if (status == MEND_OK) return MEND_OK;
  return mend__name_refuse(error, status, "topic", line->topic, mend_status_message(status));
}

mend_status mend_run_emit_text(mend_run *run, mend_str topic, mend_str payload, mend_error *error) {
  if (run == NULL) return mend__refuse_null(error, "the run");
  mend_status status = check_topic(topic, error);
  if (status != MEND_OK) return status;
  if (payload.ptr == NULL) payload = MEND_STR("{}");
  mend__buffer scratch;
  mend__buffer_init(&scratch, mend_bus_allocator(mend_run_bus(run)));
  mend__event_line line;
  status = mend__event_read(payload, topic, false, &scratch, &line, NULL, error);
  if (status == MEND_OK) status = publish(run, &line, error);
  mend__buffer_free(&scratch);
  return status;
}

mend_status mend_run_emit(mend_run *run, const char *topic, const char *payload, mend_error *error) {
  return mend_run_emit_text(run, mend_str_from(topic), mend_str_from(payload), error);
}
