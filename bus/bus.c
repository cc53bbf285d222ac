#include "bus/bus_internal.h"
#include "core/options_size.h"
#include "core/reason.h"

#include <errno.h>
#include <sys/random.h>

/* ---- Making ---- */

static mend_status check_options(const mend_bus_options *options, mend_error *error) {
  const struct {
    const char *name;
    uint32_t value, min, max;
  } limits[] = {
      {"mend_bus_options.nesting_limit", options->nesting_limit, 1, 1024},
      {"mend_bus_options.run_limit", options->run_limit, 1, UINT32_C(1) << 31},
      {"mend_bus_options.topic_limit", options->topic_limit, 64, 65536},
  };
  mend_status status = MEND_OK;
  for (size_t i = 0; i < sizeof limits / sizeof limits[0] && status == MEND_OK; i++)
    status = mend__options_check_range(limits[i].name, limits[i].value, limits[i].min, limits[i].max, error);
  return status;
}

static mend_status choose_seed(mend_bus *bus, uint64_t seed, mend_error *error) {
  bus->id_seed = seed;
  while (bus->id_seed == 0) {
    if (getrandom(&bus->id_seed, sizeof bus->id_seed, 0) < 0 && errno != EINTR) {
      return mend_error_set(error, MEND_EIO, "getrandom: %s", mend__reason(errno));
    }
  }
  return MEND_OK;
}

static uint64_t next_bus_id(void) {
  static _Atomic uint64_t last;
  return atomic_fetch_add(&last, 1) + 1;
}

static mend_status init_parts(mend_bus *bus, const mend_bus_options *options, mend_error *error) {
  bus->id = next_bus_id();
  bus->nesting_limit = options->nesting_limit;
  bus->run_limit = options->run_limit;
  bus->topic_limit = options->topic_limit;
  bus->log = options->log;
  bus->log_ctx = options->log_ctx;
  bus->clock = mend_clock_retain(options->clock != NULL ? options->clock : mend_clock_real());
  atomic_store(&bus->epoch, 1);
  atomic_store(&bus->references, 1);
  mend__strmap_init(&bus->topics_by_name, bus->allocator);
  mend__strmap_init(&bus->patterns_by_text, bus->allocator);
  mend__strmap_init(&bus->runs_by_id, bus->allocator);
  mend__limbo_init(&bus->limbo_arrays);
  mend__limbo_init(&bus->limbo_subscriptions);
  mend__limbo_init(&bus->limbo_runs);
  mend_status status = choose_seed(bus, options->id_seed, error);
  if (status != MEND_OK) return status;
  status = mend__readers_make_spare(bus);
  if (status == MEND_OK) status = mend__topics_init(bus);
  return status == MEND_OK ? MEND_OK : mend_error_set(error, status, "a bus: %s", mend_status_message(status));
}

static void free_parts(mend_bus *bus) {
  mend__topics_free(bus);
  for (size_t i = 0; i < bus->patterns.count; i++) {
    mend__free(bus->allocator, ((mend__pattern **)bus->patterns.items)[i]);
  }
  mend__free(bus->allocator, bus->patterns.items);
  mend__free(bus->allocator, bus->wildcards[0].items);
  mend__free(bus->allocator, bus->wildcards[1].items);
  mend__strmap_free(&bus->topics_by_name);
  mend__strmap_free(&bus->patterns_by_text);
  mend__strmap_free(&bus->runs_by_id);
  mend__readers_free(bus);
  mend_clock_release(bus->clock);
  pthread_mutex_destroy(&bus->mutex);
  mend__free(bus->allocator, bus);
}

mend_status mend_bus_new(const mend_bus_options *given, mend_bus **ret_bus, mend_error *error) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_bus_options", error);
  if (status == MEND_OK) status = check_options(&options, error);
  if (status != MEND_OK) return status;
  mend_bus *bus = mend__alloc_zero(options.allocator, sizeof *bus);
  if (bus == NULL) return mend_error_set(error, MEND_ENOMEM, "a bus: out of memory");
  bus->allocator = options.allocator;
  if (pthread_mutex_init(&bus->mutex, NULL) != 0) {
    mend__free(bus->allocator, bus);
    return mend_error_set(error, MEND_ENOMEM, "a bus: no mutex");
  }
  status = init_parts(bus, &options, error);
  if (status != MEND_OK) {
    free_parts(bus);
    return status;
  }
  *ret_bus = bus;
  return MEND_OK;
}

/* ---- Ending ---- */

void mend__slots_release(mend__slot_entry slots[MEND__SLOT_COUNT]) {
  for (int slot = MEND__SLOT_COUNT - 1; slot >= 0; slot--) {
    void *object = atomic_exchange(&slots[slot].object, NULL);
    if (object != NULL) slots[slot].release(object);
  }
}

/* Nobody has a reference. Publishes under way on other threads are waited for; destroy functions may still use it. */
void mend__bus_destroy(mend_bus *bus) {
  mend__readers_wait(bus, UINT64_MAX);
  atomic_store(&bus->references, 1);
  pthread_mutex_lock(&bus->mutex);
  bus->closing = true;
  mend__runs_free_kept(bus);
  mend__bus_close_subscriptions(bus);
  pthread_mutex_unlock(&bus->mutex);
  mend__reclaim(bus);
  mend__slots_release(bus->slots);
  free_parts(bus);
}

mend_bus *mend_bus_retain(mend_bus *bus) {
  atomic_fetch_add_explicit(&bus->references, 1, memory_order_relaxed);
  return bus;
}

void mend_bus_release(mend_bus *bus) {
  if (bus == NULL || atomic_fetch_sub(&bus->references, 1) > 1) return;
  mend__reader *reader = mend__reader_find(bus);
  if (reader != NULL && reader->holds > 0) {
    reader->last_reference_gone = true;
  } else {
    mend__bus_destroy(bus);
  }
}

/* ---- Asking ---- */

mend_clock *mend_bus_clock(const mend_bus *bus) { return bus->clock; }
const mend_allocator *mend_bus_allocator(const mend_bus *bus) { return bus->allocator; }

void mend_bus_get_stats(mend_bus *bus, mend_bus_stats *ret_stats) {
  mend_bus_stats stats = {.size = sizeof stats, .dropped = atomic_load(&bus->unrecorded)};
  for (mend__reader *reader = atomic_load(&bus->readers); reader != NULL; reader = reader->next) {
    stats.published += atomic_load_explicit(&reader->published, memory_order_relaxed);
    stats.dropped += atomic_load_explicit(&reader->dropped, memory_order_relaxed);
    stats.handler_failures += atomic_load_explicit(&reader->failures, memory_order_relaxed);
  }
  pthread_mutex_lock(&bus->mutex);
  stats.runs = bus->run_count;
  stats.runs_evicted = bus->runs_evicted;
  stats.topics = atomic_load(&bus->topic_count) - 1;
  stats.subscriptions = bus->subscription_count;
  pthread_mutex_unlock(&bus->mutex);
  mend__options_give(ret_stats, &stats);
}

bool mend__would_wait_for_itself(const mend_bus *bus) {
  const mend__reader *reader = mend__reader_find(bus);
  return (reader != NULL && reader->holds > 0) || mend__reclaims_here() != NULL;
}

mend_status mend_bus_quiesce(mend_bus *bus) {
  if (bus == NULL) return MEND_EINVAL;
  if (mend__would_wait_for_itself(bus)) return MEND_EDEADLK;
  mend__readers_wait(bus, atomic_fetch_add(&bus->epoch, 1));
  mend__reclaim(bus);
  for (unsigned turns = 0; atomic_load(&bus->reclaiming) > 0;)
    mend__pause(&turns);
  return MEND_OK;
}

/* ---- For the rooms above ---- */

void mend__bus_log(const mend_bus *bus, mend_log_level level, const char *message) {
  if (bus->log != NULL) bus->log(bus->log_ctx, level, message);
}

static void *slot_put(mend_bus *bus, mend__slot_entry *entry, void *object, mend__slot_release release) {
  pthread_mutex_lock(&bus->mutex);
  void *there = atomic_load(&entry->object);
  if (there == NULL) {
    entry->release = release;
    atomic_store(&entry->object, object);
    there = object;
  }
  pthread_mutex_unlock(&bus->mutex);
  return there;
}

void *mend__bus_slot(mend_bus *bus, mend__slot slot) { return atomic_load(&bus->slots[slot].object); }
void *mend__run_slot(mend_run *run, mend__slot slot) { return atomic_load(&run->slots[slot].object); }

void *mend__bus_slot_put(mend_bus *bus, mend__slot slot, void *object, mend__slot_release release) {
  return slot_put(bus, &bus->slots[slot], object, release);
}

void *mend__run_slot_put(mend_run *run, mend__slot slot, void *object, mend__slot_release release) {
  return slot_put(run->bus, &run->slots[slot], object, release);
}

mend_status mend__list_reserve(mend_bus *bus, mend__list *list, size_t item_size) {
  if (list->count < list->capacity) return MEND_OK;
  size_t capacity = list->capacity == 0 ? 8 : list->capacity * 2;
  void *items = mend__realloc(bus->allocator, list->items, capacity * item_size);
  if (items == NULL) return MEND_ENOMEM;
  list->items = items;
  list->capacity = capacity;
  return MEND_OK;
}
