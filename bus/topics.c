#include "bus/bus_internal.h"
#include "core/given.h"
#include "core/text.h"

static bool is_utf8(mend_str text) {
  size_t at = 0;
  for (mend__prefix character; at < text.len; at += character.len) {
    character = mend__utf8_prefix(text.ptr + at, text.len - at);
    if (!character.whole) return false;
  }
  return true;
}

const char *mend__topic_name_fault(mend_str name) {
  static const char empty_part_or_star[] = "a name has no empty part and no *";
  if (name.len == 0 || name.len > 255) return "a name has 1 to 255 bytes";
  bool part_is_empty = true, is_ascii = true;
  for (size_t i = 0; i < name.len; i++) {
    unsigned char c = (unsigned char)name.ptr[i];
    if (c <= ' ' || c == 0x7f) return "a name has no blanks and no control characters";
    if (c == '*' || (c == '.' && part_is_empty)) return empty_part_or_star;
    part_is_empty = c == '.';
    is_ascii &= c < 0x80;
  }
  if (part_is_empty) return empty_part_or_star;
  return is_ascii || is_utf8(name) ? NULL : "a name is UTF-8";
}

const char *mend__bus_reason(mend_status status) {
  if (status == MEND_ELIMIT) return "the bus has as many as its topic_limit allows";
  return status == MEND_ECLOSED ? "the bus, or the run, is at its end" : mend_status_message(status);
}

mend_status mend__name_refuse(mend_error *error, mend_status status, const char *what, mend_str name,
                              const char *reason) {
  name.len = mend__utf8_cut(name, 80);
  return mend_error_set(error, status, "%s \"%.*s\": %s", what, MEND_STR_ARG(name), reason);
}

static mend_status make_chunk(mend_bus *bus, uint32_t index) {
  mend__topic *chunk = mend__alloc_zero(bus->allocator, MEND__TOPICS_IN_CHUNK * sizeof(mend__topic));
  if (chunk == NULL) return MEND_ENOMEM;
  atomic_store_explicit(&bus->topics[index], chunk, memory_order_release);
  return MEND_OK;
}

/* Makes the topic with the next number. Only when its count is raised can a publish name it. */
static mend_status topic_add(mend_bus *bus, mend_str name, mend__topic **ret_topic) {
  uint32_t number = atomic_load_explicit(&bus->topic_count, memory_order_relaxed);
  if (number >= bus->topic_limit) return MEND_ELIMIT;
  uint32_t chunk = number / MEND__TOPICS_IN_CHUNK;
  if (atomic_load_explicit(&bus->topics[chunk], memory_order_relaxed) == NULL) {
    mend_status status = make_chunk(bus, chunk);
    if (status != MEND_OK) return status;
  }
  char *copy = mend__str_copy(bus->allocator, name);
  if (copy == NULL) return MEND_ENOMEM;
  mend__topic *topic = mend__topic_at(bus, number);
  topic->number = number;
  topic->name = (mend_str){copy, name.len};
  atomic_init(&topic->is_new, number >= MEND_EVENT_KIND_COUNT);
  mend_status status = mend__subscribers_for_new_topic(bus, topic);
  if (status == MEND_OK) status = mend__strmap_put(&bus->topics_by_name, topic->name, topic);
  if (status != MEND_OK) {
    mend__free(bus->allocator, atomic_exchange(&topic->subscribers, NULL));
    mend__free(bus->allocator, copy);
    topic->name = (mend_str){NULL, 0};
    return status;
  }
  atomic_store_explicit(&bus->topic_count, number + 1, memory_order_release);
  *ret_topic = topic;
  return MEND_OK;
}

mend_status mend__topic_intern(mend_bus *bus, mend_str name, mend__topic **ret_topic) {
  mend__topic *topic = mend__strmap_get(&bus->topics_by_name, name);
  if (topic == NULL) return mend__topic_name_fault(name) == NULL ? topic_add(bus, name, ret_topic) : MEND_EINVAL;
  *ret_topic = topic;
  return MEND_OK;
}

/* Built-in topics get the numbers of their kinds; number 0, the custom kind's, is no topic. */
mend_status mend__topics_init(mend_bus *bus) {
  mend_status status = make_chunk(bus, 0);
  if (status != MEND_OK) return status;
  atomic_store(&bus->topic_count, 1);
  for (int kind = 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    mend__topic *topic;
    status = topic_add(bus, mend_event_kind_topic((mend_event_kind)kind), &topic);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

void mend__topics_free(mend_bus *bus) {
  uint32_t count = atomic_load(&bus->topic_count);
  for (uint32_t number = 1; number < count; number++) {
    mend__topic *topic = mend__topic_at(bus, number);
    mend__free(bus->allocator, atomic_load(&topic->subscribers));
    mend__free(bus->allocator, (char *)topic->name.ptr);
  }
  for (uint32_t chunk = 0; chunk < MEND__TOPIC_CHUNKS; chunk++) {
    mend__free(bus->allocator, atomic_load(&bus->topics[chunk]));
  }
}

mend_status mend_bus_topic(mend_bus *bus, mend_str name, mend_topic *ret_topic, mend_error *error) {
  if (bus == NULL) return mend__refuse_null(error, "the bus");
  mend__topic *topic;
  pthread_mutex_lock(&bus->mutex);
  mend_status status = mend__topic_intern(bus, name, &topic);
  pthread_mutex_unlock(&bus->mutex);
  if (status == MEND_EINVAL) return mend__name_refuse(error, status, "topic", name, mend__topic_name_fault(name));
  if (status != MEND_OK) return mend__name_refuse(error, status, "topic", name, mend__bus_reason(status));
  mend__topic_doubt(bus, topic);
  *ret_topic = topic->number;
  return MEND_OK;
}

mend_str mend_bus_topic_name(const mend_bus *bus, mend_topic topic) {
  if (topic == 0 || topic >= atomic_load_explicit(&((mend_bus *)bus)->topic_count, memory_order_acquire)) {
    return (mend_str){NULL, 0};
  }
  return mend__topic_at(bus, topic)->name;
}
