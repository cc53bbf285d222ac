#include "bus/bus_internal.h"
#include "core/text.h"

static const mend__pattern *pattern_at(const mend_bus *bus, uint32_t index) {
  return ((mend__pattern **)bus->patterns.items)[index];
}

mend_str mend__pattern_prefix(const mend_bus *bus, uint32_t pattern) { return pattern_at(bus, pattern)->prefix; }

bool mend__pattern_matches(const mend_bus *bus, uint8_t match, uint32_t pattern, const mend__topic *topic) {
  if (match == MEND__MATCH_EXACT) return pattern == topic->number;
  return match == MEND__MATCH_ALL || mend__begins_with(topic->name, pattern_at(bus, pattern)->prefix);
}

mend_str mend__pattern_text(const mend_bus *bus, uint8_t match, uint32_t pattern) {
  return match == MEND__MATCH_EXACT ? mend__topic_at(bus, pattern)->name : pattern_at(bus, pattern)->text;
}

static mend_status pattern_intern(mend_bus *bus, mend_str text, uint32_t *ret_index) {
  mend__pattern *pattern = mend__strmap_get(&bus->patterns_by_text, text);
  if (pattern != NULL) {
    *ret_index = pattern->index;
    return MEND_OK;
  }
  if (bus->patterns.count >= bus->topic_limit) return MEND_ELIMIT;
  mend_status status = mend__list_reserve(bus, &bus->patterns, sizeof(mend__pattern *));
  if (status != MEND_OK) return status;
  pattern = mend__alloc(bus->allocator, sizeof *pattern + text.len);
  if (pattern == NULL) return MEND_ENOMEM;
  char *copy = (char *)(pattern + 1);
  memcpy(copy, text.ptr, text.len);
  *pattern = (mend__pattern){{copy, text.len}, {copy, text.len - 1}, (uint32_t)bus->patterns.count};
  status = mend__strmap_put(&bus->patterns_by_text, pattern->text, pattern);
  if (status != MEND_OK) {
    mend__free(bus->allocator, pattern);
    return status;
  }
  ((mend__pattern **)bus->patterns.items)[bus->patterns.count++] = pattern;
  *ret_index = pattern->index;
  return MEND_OK;
}

static bool ends_in_star(mend_str pattern) {
  return pattern.len > 2 && memcmp(pattern.ptr + pattern.len - 2, ".*", 2) == 0;
}

bool mend__pattern_is_one(mend_str pattern) {
  if (mend_str_equal(pattern, MEND_STR("*"))) return true;
  if (ends_in_star(pattern)) pattern.len -= 2;
  return mend__topic_name_fault(pattern) == NULL;
}

mend_status mend__pattern_take(mend_bus *bus, mend_str pattern, mend_subscription *subscription) {
  if (mend_str_equal(pattern, MEND_STR("*"))) {
    subscription->match = MEND__MATCH_ALL;
    return pattern_intern(bus, pattern, &subscription->pattern);
  }
  if (ends_in_star(pattern)) {
    subscription->match = MEND__MATCH_PREFIX;
    return pattern_intern(bus, pattern, &subscription->pattern);
  }
  mend__topic *topic;
  mend_status status = mend__topic_intern(bus, pattern, &topic);
  if (status != MEND_OK) return status;
  subscription->match = MEND__MATCH_EXACT;
  subscription->pattern = topic->number;
  return MEND_OK;
}
