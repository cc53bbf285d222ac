/* A topic of one's own under a prefix of the library's is allowed, and mostly a slip: nobody built in looks at it. */
#include "bus/bus_internal.h"
#include "bus/event_internal.h"
#include "core/nearest.h"
#include "core/text.h"

/* With the dot; empty without one. */
static mend_str prefix_of(mend_str name) {
  const char *dot = memchr(name.ptr, '.', name.len);
  return dot != NULL ? (mend_str){name.ptr, (size_t)(dot + 1 - name.ptr)} : (mend_str){"", 0};
}

/* The library's topics under a prefix, with commas between. Returns the one that was probably meant, or NULL. */
static const char *list_topics(mend__buffer *list, mend_str prefix, mend_str wanted) {
  mend__nearest search = mend__nearest_to(wanted);
  for (int kind = 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    const mend_str topic = mend_event_kind_topic((mend_event_kind)kind);
    if (prefix.len == 0 || !mend__begins_with(topic, prefix)) continue;
    if (list->len > 0) mend__buffer_str(list, MEND_STR(", "));
    mend__buffer_str(list, topic);
    mend__nearest_consider(&search, topic, topic.ptr);
  }
  return search.answer;
}

static void write_doubt(mend__buffer *sentence, mend_str name, const char *meant, mend_str list) {
  name.len = mend__utf8_cut(name, 80);
  mend__buffer_printf(sentence, "topic \"%.*s\" is none of the library's, ", MEND_STR_ARG(name));
  if (meant != NULL) {
    mend__buffer_printf(sentence, "did you mean %s?", meant);
  } else {
    mend__buffer_printf(sentence, "which are %.*s", MEND_STR_ARG(list));
  }
  mend__buffer_char(sentence, '\0');
}

void mend__topic_doubt(mend_bus *bus, mend__topic *topic) {
  if (!atomic_load_explicit(&topic->is_new, memory_order_relaxed) || !atomic_exchange(&topic->is_new, false)) return;
  if (bus->log == NULL) return;
  mend__buffer list, sentence;
  mend__buffer_init(&list, bus->allocator);
  mend__buffer_init(&sentence, bus->allocator);
  const char *meant = list_topics(&list, prefix_of(topic->name), topic->name);
  if (list.len > 0) write_doubt(&sentence, topic->name, meant, mend__buffer_text(&list));
  if (sentence.len > 0 && !list.failed && !sentence.failed) mend__bus_log(bus, MEND_LOG_WARNING, sentence.data);
  mend__buffer_free(&list);
  mend__buffer_free(&sentence);
}
