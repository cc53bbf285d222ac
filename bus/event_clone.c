#include "bus/event_internal.h"

#include "bus/event_json.h"
#include "core/memory.h"

/* One block: this, the rest of the event's struct right behind it, then what the strings point to. */
typedef struct event_clone {
  const mend_allocator *allocator;
  mend_event event;
} event_clone;

/* NULL for a field that is no string. */
static mend_str *text_of(mend_event *event, const mend__field *field) {
  bool is_text = field->type == MEND__FIELD_STR || field->type == MEND__FIELD_JSON;
  return is_text ? (mend_str *)((char *)event + field->offset) : NULL;
}

static size_t texts_len(mend_event *event, const mend__kind *kind) {
  size_t len = event->call_name.len;
  for (size_t i = 0; i < kind->field_count; i++) {
    const mend_str *text = text_of(event, &kind->fields[i]);
    if (text != NULL) len += text->len;
  }
  return len;
}

/* Copies what `text` points to to `to` and lets it point there; returns where the next one goes. */
static char *move_text(mend_str *text, char *to) {
  if (text->ptr == NULL) return to;
  memcpy(to, text->ptr, text->len);
  text->ptr = to;
  return to + text->len;
}

mend_status mend_event_clone(const mend_event *event, const mend_allocator *allocator, mend_event **ret_clone) {
  if (event->run == NULL || !mend__event_fits(event)) return MEND_EINVAL;
  const mend__kind *kind = mend__kind_get(event->kind);
  mend_any_event copy;
  memcpy(&copy, event, kind->size);
  copy.event.size = kind->size;
  size_t head = offsetof(event_clone, event) + kind->size;
  event_clone *clone = mend__alloc(allocator, head + texts_len(&copy.event, kind));
  if (clone == NULL) return MEND_ENOMEM;

  char *to = move_text(&copy.event.call_name, (char *)clone + head);
  for (size_t i = 0; i < kind->field_count; i++) {
    mend_str *text = text_of(&copy.event, &kind->fields[i]);
    if (text != NULL) to = move_text(text, to);
  }
  clone->allocator = allocator;
  memcpy(&clone->event, &copy, kind->size);
  mend_run_retain(clone->event.run);
  *ret_clone = &clone->event;
  return MEND_OK;
}

void mend_event_free(mend_event *event) {
  if (event == NULL) return;
  event_clone *clone = (event_clone *)((char *)event - offsetof(event_clone, event));
  mend_run_release(event->run);
  mend__free(clone->allocator, clone);
}
