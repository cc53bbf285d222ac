#include "mend/queue.h"
#include "torture/torture.h"

#include <stdio.h>

static const char *const patterns[] = {"own.topic", "own.*", "*", "own.topic"};
enum { PATTERNS = sizeof patterns / sizeof patterns[0] };

static mend_status subscribe_and_publish(torture *t) {
  mend_subscription *subscriptions[2 * PATTERNS] = {NULL};
  mend_status status = torture_open_bus(t);
  if (status != MEND_OK) goto end;
  for (size_t i = 0; i < PATTERNS; i++) {
    TRY(mend_bus_subscribe(t->bus, patterns[i], torture_count_event, t, NULL, &subscriptions[2 * i], NULL));
    TRY(mend_run_subscribe(t->run, patterns[i], torture_count_event, t, NULL, &subscriptions[2 * i + 1], NULL));
  }
  TRY(mend_run_emit(t->run, "own.topic", "{\"a\": [1, \"two\"]}", NULL));
  torture_claim(t, t->events == 2 * PATTERNS, "each subscriber was called once");
end:
  for (size_t i = 0; i < 2 * PATTERNS; i++)
    mend_subscription_close(&subscriptions[i]);
  torture_close_bus(t);
  return status;
}

/* ---- On a bus that is there: what fails leaves it as it was ---- */

static mend_status publish(torture *t) {
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  return mend_run_publish(t->run, &event.event);
}

static void open_bus(torture *t) { torture_must(t, torture_open_bus(t) == MEND_OK, "a bus is made"); }

static uint64_t subscriptions_of(torture *t) {
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(t->bus, &stats);
  return stats.subscriptions;
}

/* One more subscriber; or none, and those that are there go on. */
static mend_status subscribe_once_more(torture *t) {
  mend_subscription *subscription = NULL;
  const uint64_t before = subscriptions_of(t);
  const mend_status status = mend_bus_subscribe(t->bus, "tool.*", torture_count_event, t, NULL, &subscription, NULL);
  torture_must(t, subscriptions_of(t) == before + (status == MEND_OK), "it is counted when it is there");
  torture_must(t, publish(t) == MEND_OK, "publishing needs no memory, not even the first time");
  torture_must(t, t->events == (status == MEND_OK), "it is called when it is there");
  mend_subscription_close(&subscription);
  return status;
}

static mend_status make_topics(torture *t) {
  char name[32];
  mend_topic topic;
  for (int i = 0; i < 100; i++) {
    snprintf(name, sizeof name, "own.topic.%d", i);
    const mend_status status = mend_bus_topic(t->bus, mend_str_from(name), &topic, NULL);
    if (status != MEND_OK) return status;
    torture_must(t, mend_str_equal(mend_bus_topic_name(t->bus, topic), mend_str_from(name)), "a topic keeps its name");
  }
  return MEND_OK;
}

static mend_status make_runs(torture *t) {
  enum { RUNS = 40 };
  mend_run *runs[RUNS] = {NULL};
  char id[RUNS][16];
  mend_status status = MEND_OK;
  for (int i = 0; i < RUNS; i++) {
    mend_run_options options = MEND_RUN_OPTIONS_INIT;
    snprintf(id[i], sizeof id[i], "run %d", i);
    options.id = mend_str_from(id[i]);
    options.agent = MEND_STR("an agent");
    options.parent = t->run;
    TRY(i % 2 == 0 ? mend_run_new(t->bus, &options, &runs[i], NULL) : mend_bus_run(t->bus, &options, &runs[i], NULL));
    torture_must(t, mend_str_equal(mend_run_id(runs[i]), options.id), "a run keeps its id");
  }
end:
  for (int i = 0; i < RUNS; i++)
    mend_run_release(runs[i]);
  return status;
}

/* ---- Texts of events ---- */

static mend_status write_and_clone(torture *t) {
  mend_tool_after_event event = MEND_TOOL_AFTER_EVENT_INIT;
  char *json = NULL;
  size_t len = 0;
  mend_event *clone = NULL;
  mend_status status = MEND_OK;
  event.event.run = t->run;
  event.event.call = 1;
  event.tool_name = MEND_STR("search");
  event.result = MEND_STR("{\"found\": [1, 2, 3]}");
  TRY(mend_event_to_json(&event.event, NULL, t->allocator, &json, &len));
  torture_claim(t, len > 0 && json[len] == '\0', "the view is a text");
  TRY(mend_event_clone(&event.event, t->allocator, &clone));
  torture_claim(t, clone->call == 1, "the clone is of the same call");
end:
  mend_free(t->allocator, json);
  mend_event_free(clone);
  return status;
}

static mend_status emit_builtin(torture *t) {
  return mend_run_emit(t->run, "tool.before", "{\"tool_name\": \"a\\u0020b\", \"args\": {\"q\": \"r\\n\"}}", NULL);
}

static mend_status fill_queue(torture *t) {
  enum { EVENTS = 12 };
  mend_queue_options options = MEND_QUEUE_OPTIONS_INIT;
  mend_queue_stats stats = {.size = sizeof stats};
  mend_queue *queue = NULL;
  mend_event *event;
  uint64_t drained = 0;
  options.capacity = EVENTS;
  mend_status status = mend_bus_queue(t->bus, "own.*", &options, &queue, NULL);
  if (status != MEND_OK) return status;
  for (int i = 0; i < EVENTS; i++)
    TRY(mend_run_emit(t->run, "own.topic", "{\"a\": 1}", NULL));
  mend_queue_get_stats(queue, &stats);
  torture_must(t, stats.taken + stats.dropped == EVENTS, "each event was taken or counted as dropped");
  if (stats.dropped > 0) t->reported = true;
  for (; mend_queue_next(queue, &event) == MEND_OK; mend_event_free(event))
    drained++;
  torture_must(t, drained == stats.taken, "what was taken comes out");
end:
  mend_queue_close(&queue);
  return status;
}

static mend_status dump_bus(torture *t) {
  char *text = NULL;
  const mend_status status = mend_bus_dump(t->bus, t->allocator, &text);
  mend_free(t->allocator, text);
  return status;
}

static const torture_scenario scenarios[] = {
    {"subscribe eight, publish, close", subscribe_and_publish, NULL, NULL},
    {"one more subscriber of a bus in use", subscribe_once_more, open_bus, torture_close_bus},
    {"a hundred topics", make_topics, open_bus, torture_close_bus},
    {"forty runs", make_runs, open_bus, torture_close_bus},
    {"an event as JSON and as a clone", write_and_clone, open_bus, torture_close_bus},
    {"an event from JSON", emit_builtin, open_bus, torture_close_bus},
    {"a queue, filled and drained", fill_queue, open_bus, torture_close_bus},
    {"the dump of a bus", dump_bus, open_bus, torture_close_bus},
};
const torture_room torture_bus = TORTURE_ROOM("bus", scenarios);
