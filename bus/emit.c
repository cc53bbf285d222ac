#include "bus/event_json.h"

static mend_status refuse(mend_error *error, mend_status status, mend_str topic) {
  return mend_error_set(error, status, "event \"%.*s\": %s", MEND_STR_ARG(topic), mend_status_message(status));
}

static mend_status publish(mend_run *run, mend__event_line *line, mend_error *error) {
  mend_event *event = &line->event.event;
  if (line->custom) {
    mend_status status = mend_bus_topic(mend_run_bus(run), line->topic, &event->topic);
    if (status != MEND_OK) return refuse(error, status, line->topic);
  }
  mend_status status = mend_run_publish(run, event);
  return status == MEND_OK ? MEND_OK : refuse(error, status, line->topic);
}

mend_status mend_run_emit(mend_run *run, const char *topic, const char *payload, mend_error *error) {
  mend_str name = mend_str_from(topic), text = payload != NULL ? mend_str_from(payload) : MEND_STR("{}");
  if (name.len == 0) return mend_error_set(error, MEND_EINVAL, "topic: expected a dotted name");
  mend__buffer scratch;
  mend__buffer_init(&scratch, mend_bus_allocator(mend_run_bus(run)));
  mend__event_line line;
  mend_status status = mend__event_read(text, name, false, &scratch, &line, NULL, error);
  if (status == MEND_OK) status = publish(run, &line, error);
  mend__buffer_free(&scratch);
  return status;
}
