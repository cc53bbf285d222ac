/* Events as JSON: what is read is shown as JSON that reads as the same, leniently and strictly. */
#include "bus/event_json.h"
#include "fuzz/fuzz.h"
#include "mend/json.h"

typedef struct scene {
  mend_bus *bus;
  mend_run *run;
  mend__buffer scratch, first, second;
} scene;

static void open_scene(scene *s) {
  MUST(mend_bus_new(NULL, &s->bus, NULL) == MEND_OK);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = MEND_STR("r");
  MUST(mend_run_new(s->bus, &options, &s->run, NULL) == MEND_OK);
  mend__buffer_init(&s->scratch, NULL);
  mend__buffer_init(&s->first, NULL);
  mend__buffer_init(&s->second, NULL);
}

/* The view of an event that was read; false for a topic that no bus has. */
static bool view(scene *s, mend__event_line *line, mend__buffer *buffer, bool content) {
  mend_event *event = &line->event.event;
  if (line->custom && mend_bus_topic(s->bus, line->topic, &event->topic, NULL) != MEND_OK) return false;
  event->run = s->run;
  mend__buffer_clear(buffer);
  mend__event_write(buffer, event, content);
  MUST(!buffer->failed);
  MUST(mend_json_check(mend__buffer_text(buffer), MEND_JSON_DEPTH_MAX, NULL) == MEND_OK);
  return true;
}

static void check_round_trip(scene *s, mend__event_line *line) {
  const mend_str none = {NULL, 0};
  view(s, line, &s->first, false);
  if (!view(s, line, &s->first, true)) return;
  mend_str text = {s->first.data, s->first.len};
  mend__event_line again;
  mend_error error;
  MUST(mend__event_read(text, none, false, &s->scratch, &again, NULL, &error) == MEND_OK);
  MUST(view(s, &again, &s->second, true));
  MUST(mend_str_equal(text, mend__buffer_text(&s->second)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static scene s;
  if (s.bus == NULL) open_scene(&s);
  mend_str text = fuzz_text(data, size), none = {NULL, 0};
  mend__event_line line;
  mend_error error;
  uint64_t ignored;
  mend__event_read(text, none, false, &s.scratch, &line, NULL, &error);
  mend__event_read(text, MEND_STR("tool.before"), false, &s.scratch, &line, NULL, &error);
  mend_status status = mend__event_read(text, none, true, &s.scratch, &line, &ignored, &error);
  MUST(status == MEND_OK || status == MEND_EINVAL || status == MEND_ESYNTAX);
  if (status == MEND_OK) check_round_trip(&s, &line);
  return 0;
}
