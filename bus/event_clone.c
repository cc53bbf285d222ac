#include "bus/event_internal.h"

#include "bus/event_json.h"
#include "bus/room.h"
#include "core/memory.h"

static bool is_text(const mend__field *field) {
  return field->type == MEND__FIELD_STR || field->type == MEND__FIELD_JSON;
}

/* A field that is a text. */
static mend_str *text_at(void *event, const mend__field *field) { return (mend_str *)((char *)event + field->offset); }

static size_t head_size(const mend__kind *kind) { return offsetof(mend__event_clone, event) + kind->size; }

size_t mend__event_clone_size(const mend_event *event) {
  const mend__kind *kind = mend__kind_get(event->kind);
  size_t size = head_size(kind) + event->call_name.len;
  for (size_t i = 0; i < kind->field_count; i++) {
    if (is_text(&kind->fields[i])) size += text_at((mend_event *)event, &kind->fields[i])->len;
  }
  return size;
}

/* Copies what `text` points to to `to` and lets it point there; returns where the next one goes. */
static char *move_text(mend_str *text, char *to) {
  if (text->ptr == NULL) return to;
  memcpy(to, text->ptr, text->len);
  text->ptr = to;
  return to + text->len;
}

mend_status mend_event_clone(const mend_event *event, const mend_allocator *allocator, mend_event **ret_clone) {
  if (event == NULL) return MEND_EINVAL;
  if (event->run == NULL || !mend__event_fits(event)) return MEND_EINVAL;
  const mend__kind *kind = mend__kind_get(event->kind);
  const size_t size = mend__event_clone_size(event);
  mend__event_clone *clone = mend__alloc(allocator, size);
  if (clone == NULL) return MEND_ENOMEM;
  if (!mend__run_try_retain(event->run)) {
    mend__free(allocator, clone);
    return MEND_ECLOSED;
  }
  clone->allocator = allocator;
  clone->bytes = size;
  clone->next = NULL;
  memcpy(&clone->event, event, kind->size);
  clone->event.size = kind->size;
  char *to = move_text(&clone->event.call_name, (char *)clone + head_size(kind));
  for (size_t i = 0; i < kind->field_count; i++) {
    if (is_text(&kind->fields[i])) to = move_text(text_at(&clone->event, &kind->fields[i]), to);
  }
  *ret_clone = &clone->event;
  return MEND_OK;
}

void mend_event_free(mend_event *event) {
  if (event == NULL) return;
  mend__event_clone *clone = mend__event_clone_of(event);
  mend_run_release(event->run);
  mend__free(clone->allocator, clone);
}
