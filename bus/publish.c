#include "bus/bus_internal.h"
#include "bus/event_internal.h"
#include "core/text.h"

/* ---- What may be published ---- */

static bool is_well_formed(const mend_bus *bus, const mend_event *event) {
  if ((unsigned)event->kind >= MEND_EVENT_KIND_COUNT || event->size < mend__event_sizes[event->kind]) return false;
  if (event->kind != MEND_EVENT_CUSTOM) return event->topic == event->kind && event->kind != MEND_EVENT_TICK;
  return event->topic >= MEND_EVENT_KIND_COUNT &&
         event->topic < atomic_load_explicit(&((mend_bus *)bus)->topic_count, memory_order_acquire);
}

/* Only this thread adds to its counters; others read them. */
static inline void count_one(_Atomic uint64_t *counter) {
  atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

/* ---- Delivery ---- */

static void note_failure(mend__frame *frame, const mend_subscription *subscription, mend_status status) {
  if (frame->failures++ > 0) return;
  frame->first_failure = status;
  frame->failed_pattern = subscription->pattern;
  frame->failed_match = subscription->match;
}

static inline void call(mend__frame *frame, mend_subscription *subscription, const mend_event *event) {
  /* Closed on this thread since the array was loaded, or just now on another one. */
  if (subscription == NULL || atomic_load_explicit(&subscription->closed, memory_order_relaxed)) return;
  mend_status status = subscription->handler(subscription->ctx, event);
  if (status != MEND_OK) note_failure(frame, subscription, status);
}

static bool run_item_matches(const mend_bus *bus, const mend__run_subscriber *item, mend_topic topic) {
  if (item->match != MEND__MATCH_PREFIX) return item->match == MEND__MATCH_ALL || item->topic == topic;
  return mend__begins_with(mend__topic_at(bus, topic)->name, item->prefix);
}

/* Both arrays are loaded before the first handler runs: whoever subscribes from a handler waits for the next event. */
static void call_all(mend_bus *bus, mend__frame *frame, const mend_event *event) {
  mend__subscribers *of_bus = atomic_load(&mend__topic_at(bus, event->topic)->subscribers);
  mend__run_subscribers *of_run = atomic_load(&event->run->subscribers);
  if (of_bus != NULL) {
    for (uint32_t i = 0, count = of_bus->count; i < count; i++)
      call(frame, atomic_load(&of_bus->items[i]), event);
  }
  if (of_run != NULL) {
    for (uint32_t i = 0, count = of_run->count; i < count; i++) {
      mend__run_subscriber *item = &of_run->items[i];
      if (run_item_matches(bus, item, event->topic)) call(frame, atomic_load(&item->subscription), event);
    }
  }
}

static mend_status refuse_nesting(mend__reader *reader, const mend_event *event) {
  count_one(&reader->dropped);
  if (!reader->reporting_drops && reader->drops++ == 0) reader->first_drop = event->topic;
  return MEND_ELIMIT;
}

static void report_drops(mend_bus *bus, mend__reader *reader, mend_run *run) {
  mend_bus_dropped_event event = MEND_BUS_DROPPED_EVENT_INIT;
  event.count = reader->drops;
  event.first_topic = mend_bus_topic_name(bus, reader->first_drop);
  reader->drops = 0;
  reader->reporting_drops = true; /* a handler that publishes without end does so here as well */
  mend_run_publish(run, &event.event);
  reader->reporting_drops = false;
}

/* Who failed first: the name it gave, else its pattern. */
static mend_str handler_of(mend_bus *bus, const mend__frame *frame) {
  if (frame->failed_name[0] != '\0') return mend_str_from(frame->failed_name);
  pthread_mutex_lock(&bus->mutex);
  mend_str pattern = mend__pattern_text(bus, frame->failed_match, frame->failed_pattern);
  pthread_mutex_unlock(&bus->mutex);
  return pattern;
}

void mend__report_failure(mend_run *run, const mend_event *cause, const mend__frame *frame) {
  mend_bus_handler_failed_event event = MEND_BUS_HANDLER_FAILED_EVENT_INIT;
  if (cause != NULL) {
    event.failed_topic = mend_bus_topic_name(run->bus, cause->topic);
    event.failed_seq = cause->seq;
    event.handler = handler_of(run->bus, frame);
  }
  event.status = mend_str_from(mend_status_name(frame->first_failure));
  event.failures = frame->failures;
  mend_run_publish(run, &event.event);
}

/* What was asked for while the event was delivered. Another one may be asked for meanwhile, by an event of its own. */
static void run_afters(mend__after *after) {
  while (after != NULL) {
    mend__after *next = after->next;
    after->run(after);
    after = next;
  }
}

static void deliver(mend_bus *bus, mend__reader *reader, const mend_event *event) {
  mend__frame frame;
  frame.outer = reader->frame;
  frame.first_after = NULL;
  frame.last_after = &frame.first_after;
  frame.failures = 0;
  frame.failed_name[0] = '\0';
  reader->frame = &frame;
  reader->depth++;
  call_all(bus, &frame, event);
  reader->frame = frame.outer;
  run_afters(frame.first_after); /* nested too: what is published here may ask for the same again */
  if (frame.failures > 0) {
    atomic_fetch_add_explicit(&reader->failures, frame.failures, memory_order_relaxed);
    if (event->kind != MEND_EVENT_BUS_HANDLER_FAILED) mend__report_failure(event->run, event, &frame);
  }
  reader->depth--;
}

static mend_status publish(mend_bus *bus, const mend_event *event) {
  atomic_store_explicit(&event->run->last_event_ns, event->mono_ns, memory_order_relaxed);
  mend__reader *reader;
  mend_status status = mend__reader_get(bus, &reader);
  if (status != MEND_OK) return status;
  if (atomic_load_explicit(&mend__topic_at(bus, event->topic)->subscribers, memory_order_relaxed) == NULL &&
      atomic_load_explicit(&event->run->subscribers, memory_order_relaxed) == NULL) {
    count_one(&reader->published);
    return MEND_OK;
  }
  if (reader->depth >= bus->nesting_limit) return refuse_nesting(reader, event);
  count_one(&reader->published);
  mend__reader_enter(bus, reader);
  deliver(bus, reader, event);
  if (reader->depth == 0 && reader->drops > 0) report_drops(bus, reader, event->run);
  mend__reader_leave(bus, reader);
  return MEND_OK;
}

mend_status mend_bus_publish(mend_bus *bus, const mend_event *event) {
  if (bus == NULL || event == NULL) return MEND_EINVAL;
  if (!is_well_formed(bus, event) || event->run == NULL || event->run->bus != bus) return MEND_EINVAL;
  return publish(bus, event);
}

static void stamp(mend_run *run, mend_event *event) {
  mend_time now = mend_clock_now(run->bus->clock);
  if (event->call == 0 && event->call_name.len > 0) event->call = mend_call_from_name(event->call_name);
  event->run = run;
  event->seq = atomic_fetch_add_explicit(&run->seq, 1, memory_order_relaxed) + 1;
  event->mono_ns = now.mono_ns;
  event->wall_ns = now.wall_ns;
  memcpy(event->trace_id, run->trace_id, sizeof event->trace_id);
  mend__put_big_endian(mend__span_of(run, event->call), event->span_id);
}

mend_status mend_run_publish(mend_run *run, mend_event *event) {
  if (run == NULL || event == NULL) return MEND_EINVAL;
  if (!is_well_formed(run->bus, event)) return MEND_EINVAL;
  stamp(run, event);
  return publish(run->bus, event);
}

mend_status mend__run_publish_in_span(mend_run *run, mend_event *event) {
  uint8_t span_id[sizeof event->span_id];
  memcpy(span_id, event->span_id, sizeof span_id);
  if (mend__is_zero(span_id, sizeof span_id)) return mend_run_publish(run, event);
  if (!is_well_formed(run->bus, event)) return MEND_EINVAL;
  stamp(run, event);
  memcpy(event->span_id, span_id, sizeof span_id);
  return publish(run->bus, event);
}

void mend__name_failure(mend_bus *bus, mend_str name) {
  mend__reader *reader = mend__reader_find(bus);
  if (reader == NULL || reader->frame == NULL || reader->frame->failures > 0) return;
  mend__frame *frame = reader->frame;
  const size_t len = mend__utf8_cut(name, sizeof frame->failed_name - 1);
  memcpy(frame->failed_name, name.ptr, len);
  frame->failed_name[len] = '\0';
}

mend_status mend__emit_after(mend_bus *bus, mend__after *after) {
  mend__reader *reader = mend__reader_find(bus);
  if (reader == NULL || reader->frame == NULL) return MEND_ENOENT;
  after->next = NULL;
  *reader->frame->last_after = after;
  reader->frame->last_after = &after->next;
  return MEND_OK;
}
