#include "bus/bus_internal.h"

/* ---- Patterns ---- */

static mend__pattern *pattern_at(const mend_bus *bus, uint32_t index) {
  return ((mend__pattern **)bus->patterns.items)[index];
}

static bool starts_with(mend_str text, mend_str prefix) {
  return text.len >= prefix.len && memcmp(text.ptr, prefix.ptr, prefix.len) == 0;
}

static bool pattern_matches(const mend_bus *bus, uint8_t match, uint32_t pattern, const mend__topic *topic) {
  if (match == MEND__MATCH_EXACT) return pattern == topic->number;
  return match == MEND__MATCH_ALL || starts_with(topic->name, pattern_at(bus, pattern)->prefix);
}

mend_str mend__pattern_text(mend_bus *bus, uint8_t match, uint32_t pattern) {
  if (match == MEND__MATCH_EXACT) return mend_bus_topic_name(bus, pattern);
  pthread_mutex_lock(&bus->mutex);
  mend_str text = pattern_at(bus, pattern)->text;
  pthread_mutex_unlock(&bus->mutex);
  return text;
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

/* "*", "tool.*" or "tool.before": fills in match and pattern. */
static mend_status take_pattern(mend_bus *bus, const char *text, mend_subscription *subscription) {
  mend_str pattern = mend_str_from(text);
  if (mend_str_equal(pattern, MEND_STR("*"))) {
    subscription->match = MEND__MATCH_ALL;
    return pattern_intern(bus, pattern, &subscription->pattern);
  }
  if (pattern.len > 2 && memcmp(text + pattern.len - 2, ".*", 2) == 0) {
    if (mend__topic_name_fault((mend_str){text, pattern.len - 2}) != NULL) return MEND_EINVAL;
    subscription->match = MEND__MATCH_PREFIX;
    return pattern_intern(bus, pattern, &subscription->pattern);
  }
  if (mend__topic_name_fault(pattern) != NULL) return MEND_EINVAL;
  mend__topic *topic;
  mend_status status = mend__topic_intern(bus, pattern, &topic);
  if (status != MEND_OK) return status;
  subscription->match = MEND__MATCH_EXACT;
  subscription->pattern = topic->number;
  return MEND_OK;
}

/* ---- The array of a topic ---- */

static mend_subscription *item_at(const mend__subscribers *array, uint32_t i) {
  return atomic_load_explicit(&((mend__subscribers *)array)->items[i], memory_order_relaxed);
}

static uint32_t count_live(const mend__subscribers *array) {
  uint32_t live = 0;
  for (uint32_t i = 0; array != NULL && i < array->count; i++)
    live += item_at(array, i) != NULL;
  return live;
}

static void append(mend__subscribers *array, mend_subscription *subscription) {
  atomic_init(&array->items[array->count], subscription);
  array->count++;
}

static mend__subscribers *array_new(mend_bus *bus, uint32_t capacity) {
  return mend__alloc_zero(bus->allocator, sizeof(mend__subscribers) + capacity * sizeof(mend_subscription *));
}

/* A copy without the closed ones and, if given, with one more at the end of its class. NULL: out of memory. */
static mend__subscribers *array_copy(mend_bus *bus, const mend__subscribers *old, mend_subscription *added) {
  mend__subscribers *array = array_new(bus, count_live(old) + (added != NULL));
  if (array == NULL) return NULL;
  for (uint8_t match = MEND__MATCH_EXACT; match <= MEND__MATCH_ALL; match++) {
    array->firsts[match] = array->count;
    if (old != NULL) {
      uint32_t end = match < MEND__MATCH_ALL ? old->firsts[match + 1] : old->count;
      for (uint32_t i = old->firsts[match]; i < end; i++) {
        if (item_at(old, i) != NULL) append(array, item_at(old, i));
      }
    }
    if (added != NULL && added->match == match) append(array, added);
  }
  return array;
}

static mend__subscribers *array_of(mend__topic *topic) {
  return atomic_load_explicit(&topic->subscribers, memory_order_relaxed);
}

static void array_replace(mend_bus *bus, mend__topic *topic, mend__subscribers *array) {
  mend__subscribers *old = array_of(topic);
  atomic_store(&topic->subscribers, array);
  if (old != NULL) mend__retire(bus, &bus->limbo_arrays, &old->retired);
}

/* Takes one out without needing memory: its place becomes empty. Half-empty arrays are made anew when there is memory. */
static void array_remove(mend_bus *bus, mend__topic *topic, const mend_subscription *subscription) {
  mend__subscribers *array = array_of(topic);
  if (array == NULL) return;
  for (uint32_t i = 0; i < array->count; i++) {
    if (item_at(array, i) == subscription) atomic_store(&array->items[i], NULL);
  }
  uint32_t live = count_live(array);
  if (live == 0) {
    array_replace(bus, topic, NULL);
  } else if (live < array->count / 2) {
    mend__subscribers *smaller = array_copy(bus, array, NULL);
    if (smaller != NULL) array_replace(bus, topic, smaller);
  }
}

/* The topics a subscription matches, from *position (start with 1); NULL after the last. */
static mend__topic *next_match(mend_bus *bus, const mend_subscription *subscription, uint32_t *position) {
  uint32_t count = atomic_load_explicit(&bus->topic_count, memory_order_relaxed);
  if (subscription->match == MEND__MATCH_EXACT) {
    if (*position != 1) return NULL;
    *position = count;
    return mend__topic_at(bus, subscription->pattern);
  }
  while (*position < count) {
    mend__topic *topic = mend__topic_at(bus, (*position)++);
    if (pattern_matches(bus, subscription->match, subscription->pattern, topic)) return topic;
  }
  return NULL;
}

/* Adds to every matching topic or to none: all arrays are made first, linked in order of topic, then put in place. */
static mend_status arrays_add(mend_bus *bus, mend_subscription *subscription) {
  mend__retired *made = NULL, **end = &made;
  uint32_t position = 1;
  mend__topic *topic;
  while ((topic = next_match(bus, subscription, &position)) != NULL) {
    mend__subscribers *array = array_copy(bus, array_of(topic), subscription);
    if (array == NULL) goto fail;
    *end = &array->retired;
    end = &array->retired.next;
  }
  position = 1;
  while ((topic = next_match(bus, subscription, &position)) != NULL) {
    mend__subscribers *array = (mend__subscribers *)made;
    made = array->retired.next;
    array_replace(bus, topic, array);
  }
  return MEND_OK;
fail:
  while (made != NULL) {
    mend__retired *next = made->next;
    mend__free(bus->allocator, made);
    made = next;
  }
  return MEND_ENOMEM;
}

mend_status mend__subscribers_for_new_topic(mend_bus *bus, mend__topic *topic) {
  const uint32_t all = (uint32_t)(bus->wildcards[0].count + bus->wildcards[1].count);
  if (all == 0) return MEND_OK;
  mend__subscribers *array = array_new(bus, all);
  if (array == NULL) return MEND_ENOMEM;
  for (int class = 0; class < 2; class ++) {
    array->firsts[class + 1] = array->count;
    mend_subscription **wildcards = bus->wildcards[class].items;
    for (size_t i = 0; i < bus->wildcards[class].count; i++) {
      mend_subscription *wildcard = wildcards[i];
      if (pattern_matches(bus, wildcard->match, wildcard->pattern, topic)) append(array, wildcard);
    }
  }
  if (array->count == 0) {
    mend__free(bus->allocator, array);
    return MEND_OK;
  }
  atomic_store(&topic->subscribers, array);
  return MEND_OK;
}

/* ---- Subscriptions of the bus ---- */

static mend__list *wildcards_of(mend_bus *bus, const mend_subscription *subscription) {
  return &bus->wildcards[subscription->match - MEND__MATCH_PREFIX];
}

static mend_status bus_add(mend_bus *bus, mend_subscription *subscription) {
  if (subscription->match == MEND__MATCH_EXACT) return arrays_add(bus, subscription);
  mend__list *wildcards = wildcards_of(bus, subscription);
  mend_status status = mend__list_reserve(bus, wildcards, sizeof(mend_subscription *));
  if (status == MEND_OK) status = arrays_add(bus, subscription);
  if (status == MEND_OK) ((mend_subscription **)wildcards->items)[wildcards->count++] = subscription;
  return status;
}

static void wildcards_remove(mend_bus *bus, const mend_subscription *subscription) {
  mend__list *wildcards = wildcards_of(bus, subscription);
  mend_subscription **items = wildcards->items;
  size_t at = 0;
  while (items[at] != subscription)
    at++;
  memmove(items + at, items + at + 1, (wildcards->count - at - 1) * sizeof *items);
  wildcards->count--;
}

static void bus_remove(mend_bus *bus, mend_subscription *subscription) {
  uint32_t position = 1;
  mend__topic *topic;
  while ((topic = next_match(bus, subscription, &position)) != NULL)
    array_remove(bus, topic, subscription);
  if (subscription->match != MEND__MATCH_EXACT) wildcards_remove(bus, subscription);
}

/* ---- Subscriptions of a run ---- */

static mend_subscription *run_item_at(const mend__run_subscribers *array, uint32_t i) {
  return atomic_load_explicit(&((mend__run_subscribers *)array)->items[i].subscription, memory_order_relaxed);
}

static void run_append(const mend_bus *bus, mend__run_subscribers *array, mend_subscription *subscription) {
  mend__run_subscriber *item = &array->items[array->count++];
  atomic_init(&item->subscription, subscription);
  item->match = subscription->match;
  item->topic = subscription->pattern;
  if (subscription->match == MEND__MATCH_PREFIX) item->prefix = pattern_at(bus, subscription->pattern)->prefix;
}

static mend_status run_add(mend_run *run, mend_subscription *added) {
  mend_bus *bus = run->bus;
  mend__run_subscribers *old = atomic_load(&run->subscribers);
  const uint32_t count = old == NULL ? 0 : old->count;
  mend__run_subscribers *array =
      mend__alloc_zero(bus->allocator, sizeof *array + (count + 1) * sizeof(mend__run_subscriber));
  if (array == NULL) return MEND_ENOMEM;
  for (uint8_t match = MEND__MATCH_EXACT; match <= MEND__MATCH_ALL; match++) {
    for (uint32_t i = 0; i < count; i++) {
      mend_subscription *subscription = run_item_at(old, i);
      if (subscription != NULL && subscription->match == match) run_append(bus, array, subscription);
    }
    if (added->match == match) run_append(bus, array, added);
  }
  atomic_store(&run->subscribers, array);
  if (old != NULL) mend__retire(bus, &bus->limbo_arrays, &old->retired);
  return MEND_OK;
}

static void run_remove(mend_run *run, const mend_subscription *subscription) {
  mend__run_subscribers *array = atomic_load(&run->subscribers);
  uint32_t live = 0;
  for (uint32_t i = 0; i < array->count; i++) {
    if (run_item_at(array, i) == subscription) {
      atomic_store(&array->items[i].subscription, NULL);
    }
    live += run_item_at(array, i) != NULL;
  }
  if (live > 0) return;
  atomic_store(&run->subscribers, NULL);
  mend__retire(run->bus, &run->bus->limbo_arrays, &array->retired);
}

/* ---- Both ---- */

static mend_status subscribe(mend_bus *bus, mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                             void (*destroy)(void *), mend_subscription **ret_subscription) {
  if (pattern == NULL || handler == NULL) return MEND_EINVAL;
  mend_subscription *subscription = mend__alloc_zero(bus->allocator, sizeof *subscription);
  if (subscription == NULL) return MEND_ENOMEM;
  subscription->handler = handler;
  subscription->ctx = ctx;
  subscription->destroy = destroy;
  subscription->in_run = run != NULL;
  subscription->owner = run != NULL ? (void *)run : (void *)bus;
  pthread_mutex_lock(&bus->mutex);
  mend_status status = bus->closing ? MEND_ECLOSED : take_pattern(bus, pattern, subscription);
  if (status == MEND_OK) status = run != NULL ? run_add(run, subscription) : bus_add(bus, subscription);
  if (status == MEND_OK) bus->subscription_count++;
  pthread_mutex_unlock(&bus->mutex);
  if (status != MEND_OK) mend__free(bus->allocator, subscription);
  if (status == MEND_OK && ret_subscription != NULL) *ret_subscription = subscription;
  mend__reclaim(bus);
  return status;
}

mend_status mend_bus_subscribe(mend_bus *bus, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription) {
  return subscribe(bus, NULL, pattern, handler, ctx, destroy, ret_subscription);
}

mend_status mend_run_subscribe(mend_run *run, const char *pattern, mend_handler handler, void *ctx,
                               void (*destroy)(void *ctx), mend_subscription **ret_subscription) {
  return subscribe(run->bus, run, pattern, handler, ctx, destroy, ret_subscription);
}

/* Under the mutex, after it has been taken out of the arrays. */
static void retire_subscription(mend_bus *bus, mend_subscription *subscription) {
  atomic_store_explicit(&subscription->closed, true, memory_order_relaxed);
  bus->subscription_count--;
  mend__retire(bus, &bus->limbo_subscriptions, &subscription->retired);
}

void mend_subscription_close(mend_subscription **handle) {
  if (handle == NULL || *handle == NULL) return;
  mend_subscription *subscription = *handle;
  *handle = NULL;
  mend_run *run = subscription->in_run ? subscription->owner : NULL;
  mend_bus *bus = run != NULL ? run->bus : subscription->owner;
  pthread_mutex_lock(&bus->mutex);
  if (run != NULL) {
    run_remove(run, subscription);
  } else {
    bus_remove(bus, subscription);
  }
  retire_subscription(bus, subscription);
  pthread_mutex_unlock(&bus->mutex);
  mend__reclaim(bus);
}

void mend__subscription_free(mend_bus *bus, mend_subscription *subscription) {
  if (subscription->destroy != NULL) subscription->destroy(subscription->ctx);
  mend__free(bus->allocator, subscription);
}

void mend__run_close_subscriptions(mend_run *run) {
  mend__run_subscribers *array = atomic_load(&run->subscribers);
  if (array == NULL) return;
  atomic_store(&run->subscribers, NULL);
  for (uint32_t i = 0; i < array->count; i++) {
    mend_subscription *subscription = run_item_at(array, i);
    if (subscription != NULL) retire_subscription(run->bus, subscription);
  }
  mend__retire(run->bus, &run->bus->limbo_arrays, &array->retired);
}

void mend__bus_close_subscriptions(mend_bus *bus) {
  for (int class = 0; class < 2; class ++) {
    while (bus->wildcards[class].count > 0) {
      mend_subscription *wildcard = ((mend_subscription **)bus->wildcards[class].items)[0];
      bus_remove(bus, wildcard);
      retire_subscription(bus, wildcard);
    }
  }
  uint32_t count = atomic_load(&bus->topic_count);
  for (uint32_t number = 1; number < count; number++) {
    mend__topic *topic = mend__topic_at(bus, number);
    mend__subscribers *array = array_of(topic);
    if (array == NULL) continue;
    for (uint32_t i = 0; i < array->count; i++) {
      if (item_at(array, i) != NULL) retire_subscription(bus, item_at(array, i));
    }
    array_replace(bus, topic, NULL);
  }
}
