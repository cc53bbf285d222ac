/* The contract of publishing (mend/bus.h): order, changes during a publish, nesting, failing handlers. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "bus/room.h"

#include <stdio.h>

enum { SUBSCRIBERS = 8, LOG = 4096 };

/* What a subscriber does when it is called, once, after having written its letter to the log. */
typedef enum deed {
  NOTHING,
  CLOSE, /* the subscriber named by `on` */
  ADD,   /* subscribes `on` */
  PUBLISH,
  PUBLISH_ALWAYS,
  FAIL,
  AFTER
} deed;

typedef struct actor {
  struct scene *scene;
  char letter;
  const char *pattern; /* "run:" in front: of the run only */
  deed deed;
  const char *on; /* a letter, or a topic */
  bool absent;    /* not subscribed at the beginning */
  mend__after after;
  mend_subscription *subscription;
  bool destroyed;
} actor;

typedef struct scene {
  mend_bus *bus;
  mend_run *run;
  actor actors[SUBSCRIBERS];
  char log[LOG];
  size_t log_len;
} scene;

static void write_log(scene *s, char c) {
  if (s->log_len + 1 < LOG) s->log[s->log_len++] = c;
}

static mend_status on_event(void *ctx, const mend_event *event);

static void on_destroy(void *ctx) {
  actor *a = ctx;
  cr_assert(!a->destroyed, "destroy of %c ran twice", a->letter);
  a->destroyed = true;
}

static mend_status subscribe(actor *a) {
  scene *s = a->scene;
  return strncmp(a->pattern, "run:", 4) == 0
             ? mend_run_subscribe(s->run, a->pattern + 4, on_event, a, on_destroy, &a->subscription, NULL)
             : mend_bus_subscribe(s->bus, a->pattern, on_event, a, on_destroy, &a->subscription, NULL);
}

static actor *find(scene *s, char letter) {
  actor *a = s->actors;
  while (a->letter != letter)
    a++;
  return a;
}

static void after_event(mend__after *after) {
  actor *a = (actor *)(void *)((char *)after - offsetof(actor, after));
  write_log(a->scene, (char)(a->letter - 'a' + 'A'));
}

static mend_status on_event(void *ctx, const mend_event *event) {
  actor *a = ctx;
  scene *s = a->scene;
  cr_assert(!a->destroyed, "%c was called after its destroy", a->letter);
  write_log(s, a->letter);
  if (event->kind == MEND_EVENT_BUS_HANDLER_FAILED || event->kind == MEND_EVENT_BUS_DROPPED) write_log(s, '!');
  deed now = a->deed;
  if (now != PUBLISH_ALWAYS && now != FAIL) a->deed = NOTHING;
  switch (now) {
  case NOTHING: return MEND_OK;
  case CLOSE: mend_subscription_close(&find(s, a->on[0])->subscription); return MEND_OK;
  case ADD: return subscribe(find(s, a->on[0]));
  case PUBLISH:
  case PUBLISH_ALWAYS: mend_run_emit(s->run, a->on, NULL, NULL); return MEND_OK;
  case FAIL: return MEND_EIO;
  case AFTER: a->after.run = after_event; return mend__emit_after(s->bus, &a->after);
  }
  return MEND_OK;
}

typedef struct script {
  const char *name;
  actor actors[SUBSCRIBERS];
  const char *publish; /* topics, separated by blanks */
  const char *log;     /* a blank after each publish */
} script;

static void play(const script *it) {
  scene s = {0};
  cr_assert_eq(mend_bus_new(NULL, &s.bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(s.bus, NULL, &s.run, NULL), MEND_OK);
  memcpy(s.actors, it->actors, sizeof s.actors);
  for (actor *a = s.actors; a < s.actors + SUBSCRIBERS && a->letter != 0; a++) {
    a->scene = &s;
    if (!a->absent) cr_assert_eq(subscribe(a), MEND_OK, "%s: subscribing %c", it->name, a->letter);
  }
  char topics[256];
  snprintf(topics, sizeof topics, "%s", it->publish);
  for (char *rest = topics, *topic; (topic = strtok_r(rest, " ", &rest)) != NULL;) {
    cr_assert_eq(mend_run_emit(s.run, topic, NULL, NULL), MEND_OK, "%s: publishing %s", it->name, topic);
    write_log(&s, ' ');
  }
  cr_assert_str_eq(s.log, it->log, "%s: got \"%s\", want \"%s\"", it->name, s.log, it->log);
  for (actor *a = s.actors; a < s.actors + SUBSCRIBERS && a->letter != 0; a++) {
    bool closed = a->subscription == NULL && !a->absent;
    cr_assert_eq(a->destroyed, closed, "%s: destroy of %c", it->name, a->letter);
    mend_subscription_close(&a->subscription);
    cr_assert_null(a->subscription);
  }
  mend_run_release(s.run);
  mend_bus_release(s.bus);
}

static void play_all(const script *scripts, size_t count) {
  for (size_t i = 0; i < count; i++)
    play(&scripts[i]);
}
#define PLAY(scripts) play_all(scripts, sizeof(scripts) / sizeof(scripts)[0])

Test(bus_delivery, order) {
  static const script scripts[] = {
      {"bus before run, exact, prefix, all",
       {{.letter = 'a', .pattern = "run:*"},
        {.letter = 'b', .pattern = "run:tool.*"},
        {.letter = 'c', .pattern = "run:tool.before"},
        {.letter = 'd', .pattern = "*"},
        {.letter = 'e', .pattern = "tool.*"},
        {.letter = 'f', .pattern = "tool.before"}},
       "tool.before tool.after run.started",
       "fedcba edba da "},
      {"within a class, the order of subscription",
       {{.letter = 'a', .pattern = "*"},
        {.letter = 'b', .pattern = "tool.before"},
        {.letter = 'c', .pattern = "*"},
        {.letter = 'd', .pattern = "tool.before"},
        {.letter = 'e', .pattern = "tool.*"},
        {.letter = 'f', .pattern = "tool.*"}},
       "tool.before",
       "bdefac "},
      {"own topics, known before or after the subscription",
       {{.letter = 'a', .pattern = "shop.*"},
        {.letter = 'b', .pattern = "shop.cart.*"},
        {.letter = 'c', .pattern = "shop.cart.add"},
        {.letter = 'd', .pattern = "*"}},
       "shop.cart.add shop.cart.remove shop.open shopping",
       "cabd abd ad d "},
      {"a longer prefix is no other rank than a shorter one",
       {{.letter = 'a', .pattern = "x.*"}, {.letter = 'b', .pattern = "x.y.*"}, {.letter = 'c', .pattern = "x.*"}},
       "x.y.z",
       "abc "},
      {"a prefix is whole parts: tool.* is not toolbox, and not tool itself",
       {{.letter = 'a', .pattern = "tool.*"}},
       "toolbox.open tool tool.x",
       "  a "},
      {"nobody", {{0}}, "tool.before own.topic", "  "},
  };
  PLAY(scripts);
}

Test(bus_delivery, changes_during_a_publish) {
  static const script scripts[] = {
      {"closing the next: it is not called",
       {{.letter = 'a', .pattern = "*", .deed = CLOSE, .on = "b"},
        {.letter = 'b', .pattern = "*"},
        {.letter = 'c', .pattern = "*"}},
       "tool.before tool.before",
       "ac ac "},
      {"closing the previous",
       {{.letter = 'a', .pattern = "*"},
        {.letter = 'b', .pattern = "*", .deed = CLOSE, .on = "a"},
        {.letter = 'c', .pattern = "*"}},
       "tool.before tool.before",
       "abc bc "},
      {"closing oneself",
       {{.letter = 'a', .pattern = "*", .deed = CLOSE, .on = "a"}, {.letter = 'b', .pattern = "*"}},
       "tool.before tool.before",
       "ab b "},
      {"the only one closes itself",
       {{.letter = 'a', .pattern = "tool.before", .deed = CLOSE, .on = "a"}},
       "tool.before tool.before",
       "a  "},
      {"one of the bus closes one of the run",
       {{.letter = 'a', .pattern = "*", .deed = CLOSE, .on = "b"},
        {.letter = 'b', .pattern = "run:*"},
        {.letter = 'c', .pattern = "run:*"}},
       "tool.before tool.before",
       "ac ac "},
      {"one of the run closes one of the bus",
       {{.letter = 'a', .pattern = "run:*", .deed = CLOSE, .on = "b"}, {.letter = 'b', .pattern = "*"}},
       "tool.before tool.before",
       "ba a "},
      {"the added waits for the next",
       {{.letter = 'a', .pattern = "*", .deed = ADD, .on = "b"}, {.letter = 'b', .pattern = "*", .absent = true}},
       "tool.before tool.before",
       "a ab "},
      {"the added of the run waits, though the run comes later",
       {{.letter = 'a', .pattern = "*", .deed = ADD, .on = "b"}, {.letter = 'b', .pattern = "run:*", .absent = true}},
       "tool.before tool.before",
       "a ab "},
      {"add one and then close one that is still in the old array",
       {{.letter = 'a', .pattern = "*", .deed = ADD, .on = "d"},
        {.letter = 'b', .pattern = "*", .deed = CLOSE, .on = "c"},
        {.letter = 'c', .pattern = "*"},
        {.letter = 'd', .pattern = "*", .absent = true}},
       "tool.before tool.before",
       "ab abd "},
      {"a nested publish sees what was added before it began",
       {{.letter = 'a', .pattern = "tool.before", .deed = ADD, .on = "c"},
        {.letter = 'b', .pattern = "tool.before", .deed = PUBLISH, .on = "tool.after"},
        {.letter = 'c', .pattern = "*", .absent = true}},
       "tool.before",
       "abc "},
      {"closed in a nested publish: not called in the outer one",
       {{.letter = 'a', .pattern = "tool.before", .deed = PUBLISH, .on = "tool.after"},
        {.letter = 'b', .pattern = "tool.after", .deed = CLOSE, .on = "c"},
        {.letter = 'c', .pattern = "tool.before"}},
       "tool.before",
       "ab "},
  };
  PLAY(scripts);
}

Test(bus_delivery, a_duplicate_is_called_twice) {
  scene s = {0};
  actor a = {.scene = &s, .letter = 'a', .pattern = "tool.before"};
  mend_bus_new(NULL, &s.bus, NULL);
  mend_run_new(s.bus, NULL, &s.run, NULL);
  mend_subscription *first, *second;
  cr_assert_eq(mend_bus_subscribe(s.bus, a.pattern, on_event, &a, NULL, &first, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(s.bus, a.pattern, on_event, &a, NULL, &second, NULL), MEND_OK);
  mend_run_emit(s.run, "tool.before", NULL, NULL);
  cr_assert_str_eq(s.log, "aa");
  mend_subscription_close(&first);
  mend_run_emit(s.run, "tool.before", NULL, NULL);
  cr_assert_str_eq(s.log, "aaa");
  mend_run_release(s.run);
  mend_bus_release(s.bus); /* the second one ends with the bus */
}

Test(bus_delivery, nesting_afters_and_failures) {
  static const script scripts[] = {
      {"depth first: the nested event is delivered before the outer one goes on",
       {{.letter = 'a', .pattern = "tool.before", .deed = PUBLISH, .on = "tool.after"},
        {.letter = 'b', .pattern = "tool.after"},
        {.letter = 'c', .pattern = "tool.before"}},
       "tool.before",
       "abc "},
      {"what is asked for after the event comes after everybody, in order",
       {{.letter = 'a', .pattern = "tool.before", .deed = AFTER},
        {.letter = 'b', .pattern = "*", .deed = AFTER},
        {.letter = 'c', .pattern = "run:*"}},
       "tool.before tool.before",
       "abcAB abc "},
      {"after a nested event, not after the outer one",
       {{.letter = 'a', .pattern = "tool.before", .deed = PUBLISH, .on = "tool.after"},
        {.letter = 'b', .pattern = "tool.after", .deed = AFTER},
        {.letter = 'c', .pattern = "tool.*"}},
       "tool.before",
       "abcBc "},
      {"a failure: the others still run, then it is reported once",
       {{.letter = 'a', .pattern = "tool.before", .deed = FAIL},
        {.letter = 'b', .pattern = "tool.before", .deed = FAIL},
        {.letter = 'c', .pattern = "tool.before"},
        {.letter = 'd', .pattern = "bus.handler_failed"}},
       "tool.before tool.before",
       "abcd! abcd! "},
      {"one who always fails is not reported for the report",
       {{.letter = 'a', .pattern = "*", .deed = FAIL}, {.letter = 'b', .pattern = "run:*"}},
       "tool.before",
       "aba!b! "},
  };
  PLAY(scripts);
}

static mend_status keep_copy(void *ctx, const mend_event *event) {
  return mend_event_clone(event, NULL, (mend_event **)ctx);
}

static mend_status fail(void *ctx, const mend_event *event) {
  (void)event;
  return *(mend_status *)ctx;
}

Test(bus_delivery, the_report_of_a_failure_says_who_and_what) {
  mend_bus *bus;
  mend_run *run;
  mend_event *report = NULL;
  mend_status status = MEND_EIO;
  mend_bus_new(NULL, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  mend_bus_subscribe(bus, "bus.handler_failed", keep_copy, &report, NULL, NULL, NULL);
  mend_bus_subscribe(bus, "tool.*", fail, &status, NULL, NULL, NULL);
  mend_run_subscribe(run, "tool.after", fail, &status, NULL, NULL, NULL);
  cr_assert_eq(mend_run_emit(run, "tool.after", NULL, NULL), MEND_OK, "publishing itself succeeds");
  cr_assert_not_null(report);
  const mend_bus_handler_failed_event *event = (const mend_bus_handler_failed_event *)report;
  cr_assert(mend_str_equal(event->failed_topic, MEND_STR("tool.after")));
  cr_assert(mend_str_equal(event->handler, MEND_STR("tool.*")));
  cr_assert(mend_str_equal(event->status, MEND_STR("MEND_EIO")));
  cr_assert_eq(event->failures, 2u);
  cr_assert_eq(event->failed_seq, 1u);
  cr_assert_eq(event->event.seq, 2u);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(bus, &stats);
  cr_assert_eq(stats.handler_failures, 2u);
  mend_event_free(report);
  mend_run_release(run);
  mend_bus_release(bus);
}

typedef struct endless {
  mend_run *run;
  unsigned calls, deepest, depth, reports;
  uint64_t reported;
} endless;

static mend_status publish_without_end(void *ctx, const mend_event *event) {
  endless *e = ctx;
  e->calls++;
  if (event->kind == MEND_EVENT_BUS_DROPPED) {
    e->reports++;
    e->reported += ((const mend_bus_dropped_event *)event)->count;
    cr_assert(mend_str_equal(((const mend_bus_dropped_event *)event)->first_topic, MEND_STR("again")));
  }
  if (++e->depth > e->deepest) e->deepest = e->depth;
  mend_run_emit(e->run, "again", NULL, NULL);
  e->depth--;
  return MEND_OK;
}

Test(bus_delivery, a_handler_that_publishes_without_end) {
  static const uint32_t limits[] = {1, 2, 32, 100};
  for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.nesting_limit = limits[i];
    mend_bus *bus;
    endless e = {0};
    cr_assert_eq(mend_bus_new(&options, &bus, NULL), MEND_OK);
    mend_run_new(bus, NULL, &e.run, NULL);
    mend_bus_subscribe(bus, "*", publish_without_end, &e, NULL, NULL, NULL);
    cr_assert_eq(mend_run_emit(e.run, "first", NULL, NULL), MEND_OK);
    cr_assert_eq(e.deepest, limits[i]);
    cr_assert_eq(e.reports, 1u, "reported once, from the outermost");
    cr_assert_eq(e.reported, 1u);
    cr_assert_eq(e.calls, 2 * limits[i], "as deep again while reporting, and not reported again");
    mend_bus_stats stats = {.size = sizeof stats};
    mend_bus_get_stats(bus, &stats);
    cr_assert_eq(stats.dropped, 2u);
    mend_run_release(e.run);
    mend_bus_release(bus);
  }
}

Test(bus_delivery, what_may_be_published) {
  mend_bus *bus, *other;
  mend_run *run;
  mend_bus_new(NULL, &bus, NULL);
  mend_bus_new(NULL, &other, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  mend_topic own;
  cr_assert_eq(mend_bus_topic(bus, MEND_STR("own.topic"), &own, NULL), MEND_OK);
  static const struct {
    const char *name;
    size_t smaller;
    int kind, topic; /* -1: as they are; -2: the own topic */
    mend_status want;
  } cases[] = {
      {"as it is", 0, -1, -1, MEND_OK},
      {"another topic than its kind's", 0, -1, MEND_EVENT_TOOL_AFTER, MEND_EINVAL},
      {"smaller than its kind", 1, -1, -1, MEND_EINVAL},
      {"a kind that is none", 0, 9999, -1, MEND_EINVAL},
      {"a tick", 0, MEND_EVENT_TICK, MEND_EVENT_TICK, MEND_EINVAL},
      {"custom with a built-in topic", 0, MEND_EVENT_CUSTOM, MEND_EVENT_TOOL_BEFORE, MEND_EINVAL},
      {"custom with its own topic", 0, MEND_EVENT_CUSTOM, -2, MEND_OK},
      {"custom with a topic nobody made", 0, MEND_EVENT_CUSTOM, 60000, MEND_EINVAL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    event.event.size -= cases[i].smaller;
    if (cases[i].kind != -1) event.event.kind = (mend_event_kind)cases[i].kind;
    if (cases[i].topic != -1) event.event.topic = cases[i].topic == -2 ? own : (mend_topic)cases[i].topic;
    cr_assert_eq(mend_run_publish(run, &event.event), cases[i].want, "%s", cases[i].name);
  }
  mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
  cr_assert_eq(mend_bus_publish(bus, &event.event), MEND_EINVAL, "an event of no run");
  event.event.run = run;
  cr_assert_eq(mend_bus_publish(other, &event.event), MEND_EINVAL, "an event of another bus's run");
  cr_assert_eq(mend_bus_publish(bus, &event.event), MEND_OK);
  mend_run_release(run);
  mend_bus_release(bus);
  mend_bus_release(other);
}

static mend_status count(void *ctx, const mend_event *event) {
  (void)event;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

Test(bus_delivery, patterns_and_topics) {
  static const struct {
    const char *pattern;
    mend_status want;
  } cases[] = {
      {"*", MEND_OK},           {"tool.*", MEND_OK},       {"tool.before", MEND_OK},
      {"a", MEND_OK},           {"a.b.c.*", MEND_OK},      {"na\xc3\xafve.*", MEND_OK},
      {"", MEND_EINVAL},        {".*", MEND_EINVAL},       {"**", MEND_EINVAL},
      {"tool*", MEND_EINVAL},   {"*.before", MEND_EINVAL}, {"tool.*.x", MEND_EINVAL},
      {"tool..x", MEND_EINVAL}, {".tool", MEND_EINVAL},    {"tool.", MEND_EINVAL},
      {"tool. x", MEND_EINVAL}, {"tool\n", MEND_EINVAL},   {NULL, MEND_EINVAL},
      {"na\xef", MEND_EINVAL},  {"na\xc3.*", MEND_EINVAL}, {"\xed\xa0\x80", MEND_EINVAL},
  };
  mend_bus *bus;
  mend_run *run;
  unsigned calls = 0;
  mend_bus_new(NULL, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *name = cases[i].pattern == NULL ? "NULL" : cases[i].pattern;
    mend_subscription *subscription = NULL;
    cr_assert_eq(mend_bus_subscribe(bus, cases[i].pattern, count, &calls, NULL, &subscription, NULL), cases[i].want,
                 "%s", name);
    cr_assert_eq(subscription != NULL, cases[i].want == MEND_OK, "%s", name);
    mend_subscription_close(&subscription);
    cr_assert_eq(mend_run_subscribe(run, cases[i].pattern, count, &calls, NULL, &subscription, NULL), cases[i].want,
                 "%s", name);
    mend_subscription_close(&subscription);
  }
  char longest[300];
  memset(longest, 'x', sizeof longest);
  mend_topic topic, again;
  cr_assert_eq(mend_bus_topic(bus, (mend_str){longest, 255}, &topic, NULL), MEND_OK);
  cr_assert_eq(mend_bus_topic(bus, (mend_str){longest, 255}, &again, NULL), MEND_OK);
  cr_assert_eq(topic, again);
  cr_assert_eq(mend_bus_topic(bus, (mend_str){longest, 256}, &topic, NULL), MEND_EINVAL);
  cr_assert_eq(mend_bus_topic(bus, MEND_STR("tool.before"), &topic, NULL), MEND_OK);
  cr_assert_eq(topic, (mend_topic)MEND_EVENT_TOOL_BEFORE, "a built-in topic's number is its kind");
  cr_assert_null(mend_bus_topic_name(bus, 0).ptr);
  cr_assert_null(mend_bus_topic_name(bus, 65000).ptr);
  mend_run_release(run);
  mend_bus_release(bus);
}

Test(bus_delivery, topics_have_a_limit) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_bus *bus;
  mend_run *run;
  unsigned calls = 0;
  mend_bus_new(&options, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  mend_bus_subscribe(bus, "t.*", count, &calls, NULL, NULL, NULL);
  mend_topic topic = 0;
  char name[32];
  unsigned made = 0;
  mend_status status;
  do {
    snprintf(name, sizeof name, "t.%u", made);
    status = mend_bus_topic(bus, mend_str_from(name), &topic, NULL);
  } while (status == MEND_OK && ++made < 70000);
  cr_assert_eq(status, MEND_ELIMIT);
  cr_assert_eq(made, 65536u - MEND_EVENT_KIND_COUNT);
  cr_assert_eq(mend_run_emit(run, "t.0", NULL, NULL), MEND_OK);
  cr_assert_eq(mend_run_emit(run, "t.65000", NULL, NULL), MEND_OK);
  cr_assert_eq(calls, 2u, "every topic has its subscribers, also those in the last chunk");
  mend_run_release(run);
  mend_bus_release(bus);
}

Test(bus_delivery, options_are_checked) {
  static const struct {
    size_t size;
    uint32_t nesting, runs, topics;
    const char *names;
  } cases[] = {
      {0, 32, 1, 64, "size"},
      {sizeof(mend_bus_options), 0, 1, 64, "nesting_limit"},
      {sizeof(mend_bus_options), 1025, 1, 64, "nesting_limit"},
      {sizeof(mend_bus_options), 32, 0, 64, "run_limit"},
      {sizeof(mend_bus_options), 32, 1, 63, "topic_limit"},
      {sizeof(mend_bus_options), 32, 1, 65537, "topic_limit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.size = cases[i].size;
    options.nesting_limit = cases[i].nesting;
    options.run_limit = cases[i].runs;
    options.topic_limit = cases[i].topics;
    mend_bus *bus = NULL;
    mend_error error = {0};
    cr_assert_eq(mend_bus_new(&options, &bus, &error), MEND_EINVAL, "%s", cases[i].names);
    cr_assert_null(bus);
    cr_assert_not_null(strstr(error.message, cases[i].names), "%s", error.message);
  }
}

Test(bus_delivery, defaults) {
  const mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  cr_assert_eq(options.nesting_limit, 32u);
  cr_assert_eq(options.run_limit, 10000u);
  cr_assert_eq(options.topic_limit, 65536u);
  mend_bus *one, *two;
  mend_run *first, *second;
  mend_bus_new(NULL, &one, NULL);
  mend_bus_new(NULL, &two, NULL);
  mend_run_new(one, NULL, &first, NULL);
  mend_run_new(two, NULL, &second, NULL);
  cr_assert(!mend_str_equal(mend_run_id(first), mend_run_id(second)), "every bus has randomness of its own");
  for (int i = 0; i < 3; i++)
    mend_run_emit(first, "own.event", NULL, NULL);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(one, &stats);
  cr_assert_eq(stats.published, 3u, "events for nobody count as well");
  mend_run_release(first);
  mend_run_release(second);
  mend_bus_release(one);
  mend_bus_release(two);
}
