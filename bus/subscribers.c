#include "bus/bus_internal.h"

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

/* Takes one out without needing memory: its place becomes empty. Half-empty arrays are made anew when there is
 * memory. */
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
    if (mend__pattern_matches(bus, subscription->match, subscription->pattern, topic)) return topic;
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
  while (made != NULL) {
    mend__subscribers *array = MEND__CONTAINER(made, mend__subscribers, retired);
    made = made->next;
    array_replace(bus, next_match(bus, subscription, &position), array);
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
  for (int kind = 0; kind < 2; kind++) {
    array->firsts[kind + 1] = array->count;
    mend_subscription **wildcards = bus->wildcards[kind].items;
    for (size_t i = 0; i < bus->wildcards[kind].count; i++) {
      mend_subscription *wildcard = wildcards[i];
      if (mend__pattern_matches(bus, wildcard->match, wildcard->pattern, topic)) append(array, wildcard);
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

mend_status mend__bus_subscribers_add(mend_bus *bus, mend_subscription *subscription) {
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

void mend__bus_subscribers_remove(mend_bus *bus, mend_subscription *subscription) {
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
  if (subscription->match == MEND__MATCH_PREFIX) item->prefix = mend__pattern_prefix(bus, subscription->pattern);
}

mend_status mend__run_subscribers_add(mend_run *run, mend_subscription *added) {
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

void mend__run_subscribers_remove(mend_run *run, const mend_subscription *subscription) {
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

/* ---- The end of a run or of the bus: all in one epoch, so that they are freed together ---- */

void mend__run_close_subscriptions(mend_run *run) {
  mend__run_subscribers *array = atomic_load(&run->subscribers);
  if (array == NULL) return;
  atomic_store(&run->subscribers, NULL);
  const uint64_t epoch = mend__epoch_end(run->bus);
  for (uint32_t i = 0; i < array->count; i++) {
    mend_subscription *subscription = run_item_at(array, i);
    if (subscription != NULL) mend__subscription_retire(run->bus, subscription, epoch);
  }
  mend__retire(run->bus, &run->bus->limbo_arrays, &array->retired);
}

/* Nobody publishes any more. */
void mend__bus_close_subscriptions(mend_bus *bus) {
  const uint64_t epoch = mend__epoch_end(bus);
  for (int kind = 0; kind < 2; kind++) {
    mend_subscription **wildcards = bus->wildcards[kind].items;
    for (size_t i = 0; i < bus->wildcards[kind].count; i++)
      mend__subscription_retire(bus, wildcards[i], epoch);
    bus->wildcards[kind].count = 0;
  }
  const uint32_t count = atomic_load(&bus->topic_count);
  for (uint32_t number = 1; number < count; number++) {
    mend__topic *topic = mend__topic_at(bus, number);
    mend__subscribers *array = array_of(topic);
    if (array == NULL) continue;
    for (uint32_t i = 0; i < array->firsts[MEND__MATCH_PREFIX]; i++) {
      if (item_at(array, i) != NULL) mend__subscription_retire(bus, item_at(array, i), epoch);
    }
    array_replace(bus, topic, NULL);
  }
}
