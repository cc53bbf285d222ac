#include "bus/bus_internal.h"
#include "core/buffer.h"

#include <inttypes.h>

/* Names are quoted as in JSON: they may hold anything. Everything but the counters is written under the mutex, which
 * is what keeps it from changing; publishing goes on meanwhile. */

static void write_counters(mend__buffer *text, mend_bus *bus) {
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(bus, &stats);
  mend__buffer_printf(text, "bus %" PRIu64 ", %" PRIu32 " references\n", bus->id, atomic_load(&bus->references));
  mend__buffer_printf(text, "%" PRIu64 " events published, %" PRIu64 " dropped, %" PRIu64 " failures of handlers\n",
                      stats.published, stats.dropped, stats.handler_failures);
  mend__buffer_printf(text,
                      "%" PRIu64 " topics, %" PRIu64 " subscriptions, %" PRIu64 " runs, %" PRIu64 " runs forgotten\n",
                      stats.topics, stats.subscriptions, stats.runs, stats.runs_evicted);
}

static void write_subscription(mend__buffer *text, mend_bus *bus, const mend_subscription *subscription) {
  if (subscription == NULL) return; /* closed */
  mend__buffer_printf(text, "    ");
  mend__buffer_quoted(text, mend__pattern_text(bus, subscription->match, subscription->pattern));
  mend__buffer_printf(text, ": handler 0x%" PRIxPTR ", context 0x%" PRIxPTR "\n", (uintptr_t)subscription->handler,
                      (uintptr_t)subscription->ctx);
}

static void write_topics(mend__buffer *text, mend_bus *bus) {
  mend__buffer_printf(text, "topics with subscribers, in the order of delivery:\n");
  const uint32_t count = atomic_load(&bus->topic_count);
  for (uint32_t number = 1; number < count; number++) {
    mend__topic *topic = mend__topic_at(bus, number);
    mend__subscribers *subscribers = atomic_load(&topic->subscribers);
    if (subscribers == NULL) continue;
    mend__buffer_printf(text, "  ");
    mend__buffer_quoted(text, topic->name);
    mend__buffer_char(text, '\n');
    for (uint32_t i = 0; i < subscribers->count; i++)
      write_subscription(text, bus, atomic_load(&subscribers->items[i]));
  }
}

static void write_run(mend__buffer *text, mend_run *run, uint64_t now_ns) {
  const uint64_t last_ns = atomic_load(&run->last_event_ns);
  mend__buffer_printf(text, "  ");
  mend__buffer_quoted(text, run->id);
  if (run->agent.ptr != NULL) {
    mend__buffer_printf(text, " of ");
    mend__buffer_quoted(text, run->agent);
  }
  mend__buffer_printf(text, ": %" PRIu64 " events, %" PRIu32 " references, ", atomic_load(&run->seq),
                      atomic_load(&run->references));
  mend__buffer_seconds(text, last_ns < now_ns ? now_ns - last_ns : 0);
  mend__buffer_printf(text, " s since the last event%s\n", run->kept ? ", kept" : "");
  mend__run_subscribers *subscribers = atomic_load(&run->subscribers);
  for (uint32_t i = 0; subscribers != NULL && i < subscribers->count; i++)
    write_subscription(text, run->bus, atomic_load(&subscribers->items[i].subscription));
}

static void write_runs(mend__buffer *text, mend_bus *bus) {
  const uint64_t now_ns = mend_clock_now(bus->clock).mono_ns;
  mend__buffer_printf(text, "runs, the latest first:\n");
  for (mend_run *run = bus->runs; run != NULL; run = run->next)
    write_run(text, run, now_ns);
}

static void write_threads(mend__buffer *text, mend_bus *bus) {
  mend__buffer_printf(text, "threads that have published, the latest first:\n");
  for (mend__reader *reader = atomic_load(&bus->readers); reader != NULL; reader = reader->next) {
    const uint64_t epoch = atomic_load(&reader->epoch);
    mend__buffer_printf(text, "  %" PRIu64 " published, %" PRIu64 " dropped, %" PRIu64 " failures",
                        atomic_load(&reader->published), atomic_load(&reader->dropped), atomic_load(&reader->failures));
    if (epoch != 0) mend__buffer_printf(text, "; publishes now, since epoch %" PRIu64, epoch);
    mend__buffer_char(text, '\n');
  }
}

static uint64_t count_retired(const mend__retired_list *list) {
  uint64_t count = 0;
  for (const mend__retired *retired = list->first; retired != NULL; retired = retired->next)
    count++;
  return count;
}

static void write_limbo(mend__buffer *text, mend_bus *bus) {
  mend__buffer_printf(text,
                      "waiting to be freed: %" PRIu64 " subscriptions, %" PRIu64 " runs, %" PRIu64
                      " arrays; the epoch is %" PRIu64 "\n",
                      count_retired(&bus->limbo_subscriptions), count_retired(&bus->limbo_runs),
                      count_retired(&bus->limbo_arrays), atomic_load(&bus->epoch));
}

mend_status mend_bus_dump(mend_bus *bus, const mend_allocator *allocator, char **ret_text) {
  if (bus == NULL) return MEND_EINVAL;
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  write_counters(&text, bus);
  pthread_mutex_lock(&bus->mutex);
  write_topics(&text, bus);
  write_runs(&text, bus);
  write_threads(&text, bus);
  write_limbo(&text, bus);
  pthread_mutex_unlock(&bus->mutex);
  return mend__buffer_take(&text, ret_text, NULL);
}
