/* Who lives how long: runs, subscriptions and the bus itself, also when a handler drops the last reference. */
#include "support/mend_test.h"
#include "support/test_support.h"

#include "bus/room.h"

#include <stdio.h>

typedef struct holder {
  mend_bus *bus;
  mend_run *run;
  mend_subscription *subscription;
  unsigned calls, destroyed, released;
  bool drop_run, drop_bus, nested;
} holder;

static void on_destroy(void *ctx) { ((holder *)ctx)->destroyed++; }
static void on_slot_release(void *ctx) { ((holder *)ctx)->released++; }

static mend_status on_event(void *ctx, const mend_event *event) {
  holder *h = ctx;
  h->calls++;
  if (h->nested) {
    h->nested = false;
    return mend_run_emit(event->run, "tool.after", NULL, NULL);
  }
  if (h->drop_run) {
    h->drop_run = false;
    mend_run_release(h->run);
  }
  if (h->drop_bus) {
    h->drop_bus = false;
    mend_bus_release(h->bus);
  }
  /* The event and its run stay until the publish is over. */
  cr_assert(mend_run_id(event->run).len > 0);
  cr_assert_eq(h->released, 0u);
  return MEND_OK;
}

Test(bus_lifetime, the_last_reference_dropped_in_a_handler) {
  static const struct {
    const char *name;
    bool bus_first, drop_run, drop_bus, nested;
    unsigned calls;
  } cases[] = {
      {"nothing dropped in the handler", false, false, false, false, 2},
      {"the run: its subscriptions end there and then", false, true, false, false, 1},
      {"the bus, then the run outside", false, false, true, false, 2},
      {"run and bus", false, true, true, false, 1},
      {"the run, which was the bus's last", true, true, false, false, 1},
      {"run and bus from a nested publish", false, true, true, true, 2},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.allocator = &memory.base;
    holder h = {.drop_run = cases[i].drop_run, .drop_bus = cases[i].drop_bus, .nested = cases[i].nested};
    cr_assert_eq(mend_bus_new(&options, &h.bus, NULL), MEND_OK);
    cr_assert_eq(mend_run_new(h.bus, NULL, &h.run, NULL), MEND_OK);
    mend__run_slot_put(h.run, MEND__SLOT_HOOKS, &h, on_slot_release);
    mend__bus_slot_put(h.bus, MEND__SLOT_HOOKS, &h, on_slot_release);
    mend_bus_subscribe(h.bus, "*", on_event, &h, on_destroy, NULL, NULL);
    mend_run_subscribe(h.run, "*", on_event, &h, on_destroy, NULL, NULL);
    if (cases[i].bus_first) mend_bus_release(h.bus);
    mend_run_emit(h.run, "tool.before", NULL, NULL);
    if (!cases[i].drop_run) mend_run_release(h.run);
    if (!cases[i].drop_bus && !cases[i].bus_first) mend_bus_release(h.bus);
    cr_assert_eq(h.calls, cases[i].calls, "%s", cases[i].name);
    cr_assert_eq(h.destroyed, 2u, "%s", cases[i].name);
    cr_assert_eq(h.released, 2u, "%s", cases[i].name);
    cr_assert_eq(memory.blocks, 0u, "%s: %zu blocks are left", cases[i].name, (size_t)memory.blocks);
  }
}

static void release_bus(void *ctx) { mend_bus_release(((holder *)ctx)->bus); }

static mend_status close_own(void *ctx, const mend_event *event) {
  (void)event;
  mend_subscription_close(&((holder *)ctx)->subscription);
  return MEND_OK;
}

Test(bus_lifetime, destroy_may_drop_the_last_reference) {
  for (int in_handler = 0; in_handler < 2; in_handler++) {
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.allocator = &memory.base;
    holder h = {0};
    mend_bus_new(&options, &h.bus, NULL);
    mend_run_new(h.bus, NULL, &h.run, NULL);
    mend_bus_subscribe(h.bus, "*", close_own, &h, release_bus, &h.subscription, NULL);
    if (in_handler) {
      mend_run_emit(h.run, "tool.before", NULL, NULL);
      mend_run_release(h.run);
    } else {
      mend_run_release(h.run);
      mend_subscription_close(&h.subscription);
    }
    cr_assert_eq(memory.blocks, 0u);
  }
}

static mend_status quiesce(void *ctx, const mend_event *event) {
  (void)event;
  holder *h = ctx;
  h->calls += mend_bus_quiesce(h->bus) == MEND_EDEADLK;
  return MEND_OK;
}

static void quiesce_in_destroy(void *ctx) { quiesce(ctx, NULL); }

Test(bus_lifetime, quiesce_is_refused_where_it_would_wait_for_itself) {
  holder h = {0};
  mend_bus_new(NULL, &h.bus, NULL);
  mend_run_new(h.bus, NULL, &h.run, NULL);
  mend_bus_subscribe(h.bus, "*", quiesce, &h, quiesce_in_destroy, &h.subscription, NULL);
  mend_run_emit(h.run, "tool.before", NULL, NULL);
  cr_assert_eq(h.calls, 1u);
  mend_subscription_close(&h.subscription);
  cr_assert_eq(h.calls, 2u);
  cr_assert_eq(mend_bus_quiesce(h.bus), MEND_OK);
  mend_run_release(h.run);
  mend_bus_release(h.bus);
}

/* ---- destroy functions that do more than free ---- */

typedef struct link {
  struct link *next;
  mend_subscription *subscription;
  unsigned *destroyed;
} link;

static void close_next(void *ctx) {
  link *l = ctx;
  ++*l->destroyed;
  if (l->next != NULL) mend_subscription_close(&l->next->subscription);
}

static mend_status count(void *ctx, const mend_event *event) {
  (void)event;
  ++*(unsigned *)ctx;
  return MEND_OK;
}

/* Each closes the next one: no deeper than one, however many. */
Test(bus_lifetime, a_long_chain_of_destroy_functions) {
  enum { LINKS = 100000 };
  static link links[LINKS];
  unsigned destroyed = 0;
  mend_bus *bus;
  mend_run *run;
  mend_bus_new(NULL, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  char topic[16];
  for (int i = 0; i < LINKS; i++) {
    links[i].destroyed = &destroyed;
    links[i].next = i + 1 < LINKS ? &links[i + 1] : NULL;
    snprintf(topic, sizeof topic, "t.%d", i % 1000);
    cr_assert_eq(mend_bus_subscribe(bus, topic, count, &links[i], close_next, &links[i].subscription, NULL), MEND_OK);
  }
  mend_subscription_close(&links[0].subscription);
  cr_assert_eq(destroyed, (unsigned)LINKS);
  mend_run_release(run);
  mend_bus_release(bus);
}

/* A component that has several subscriptions and closes those it has left with the first that goes. */
typedef struct component {
  mend_subscription *subscriptions[6];
  unsigned destroyed;
} component;

static void close_the_rest(void *ctx) {
  component *c = ctx;
  c->destroyed++;
  for (size_t i = 0; i < 6; i++)
    mend_subscription_close(&c->subscriptions[i]);
}

Test(bus_lifetime, handles_may_be_closed_by_the_end_of_their_run_or_bus) {
  static const char *const patterns[] = {"tool.before", "tool.*", "*"};
  for (int of_run = 0; of_run < 2; of_run++) {
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.allocator = &memory.base;
    mend_bus *bus;
    mend_run *run;
    component c = {.destroyed = 0};
    mend_bus_new(&options, &bus, NULL);
    mend_run_new(bus, NULL, &run, NULL);
    for (size_t i = 0; i < 6; i++) {
      const char *pattern = patterns[i % 3];
      if (of_run) {
        mend_run_subscribe(run, pattern, count, &c, close_the_rest, &c.subscriptions[i], NULL);
      } else {
        mend_bus_subscribe(bus, pattern, count, &c, close_the_rest, &c.subscriptions[i], NULL);
      }
    }
    mend_run_release(run);
    cr_assert_eq(c.destroyed, of_run ? 6u : 0u);
    mend_bus_release(bus);
    cr_assert_eq(c.destroyed, 6u);
    cr_assert_eq(memory.blocks, 0u);
  }
}

static mend_status drop_the_run(void *ctx, const mend_event *event) {
  (void)event;
  mend_run_release(*(mend_run **)ctx);
  return MEND_OK;
}

static mend_status subscribe_to_its_run(void *ctx, const mend_event *event) {
  mend_error error = MEND_ERROR_INIT;
  mend_subscription *subscription = NULL;
  const mend_status status = mend_run_subscribe(event->run, "*", count, NULL, NULL, &subscription, &error);
  *(mend_status *)ctx = status;
  cr_assert(subscription == NULL && error.status == status, "%s", error.message);
  return MEND_OK;
}

Test(bus_lifetime, a_run_at_its_end_takes_no_subscriber) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &memory.base;
  mend_bus *bus;
  mend_run *run;
  mend_status status = MEND_OK;
  mend_bus_new(&options, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  mend_bus_subscribe(bus, "tool.before", drop_the_run, &run, NULL, NULL, NULL);
  mend_bus_subscribe(bus, "*", subscribe_to_its_run, &status, NULL, NULL, NULL);
  cr_assert_eq(mend_run_emit(run, "tool.before", NULL, NULL), MEND_OK);
  cr_assert_eq(status, MEND_ECLOSED);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(bus, &stats);
  cr_assert_eq(stats.subscriptions, 2u);
  mend_bus_release(bus);
  cr_assert_eq(memory.blocks, 0u);
}

static mend_status hold_the_run_for_a_moment(void *ctx, const mend_event *event) {
  (void)ctx;
  mend_run *run = mend_run_retain(event->run);
  cr_assert_eq(mend_run_emit(run, "run.reset", NULL, NULL), MEND_OK);
  mend_run_release(run);
  return MEND_OK;
}

static mend_status drop_the_bus(void *ctx, const mend_event *event) {
  (void)event;
  mend_bus_release(ctx);
  return MEND_OK;
}

Test(bus_lifetime, a_handler_may_hold_a_run_at_its_end) {
  for (int row = 0; row < 4; row++) {
    const bool kept = row & 1, drops_bus = row & 2;
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.allocator = &memory.base;
    mend_run_options of_run = MEND_RUN_OPTIONS_INIT;
    of_run.id = MEND_STR("r");
    mend_bus *bus;
    mend_run *run;
    mend_bus_new(&options, &bus, NULL);
    cr_assert_eq((kept ? mend_bus_run : mend_run_new)(bus, &of_run, &run, NULL), MEND_OK);
    mend_bus_subscribe(bus, "tool.before", drop_the_run, &run, NULL, NULL, NULL);
    if (drops_bus) mend_bus_subscribe(bus, "tool.before", drop_the_bus, bus, NULL, NULL, NULL);
    mend_bus_subscribe(bus, "tool.*", hold_the_run_for_a_moment, NULL, NULL, NULL, NULL);
    mend_bus_subscribe(bus, "tool.*", hold_the_run_for_a_moment, NULL, NULL, NULL, NULL);
    cr_assert_eq(mend_run_emit(run, "tool.before", NULL, NULL), MEND_OK);
    mend_bus_stats stats = {.size = sizeof stats};
    if (!drops_bus) mend_bus_get_stats(bus, &stats);
    cr_assert_eq(stats.runs, kept && !drops_bus ? 1u : 0u, "row %d", row);
    if (!drops_bus) mend_bus_release(bus);
    cr_assert_eq(memory.blocks, 0u, "row %d", row);
  }
}

typedef struct last_wish {
  mend_bus *bus;
  mend_status subscribed, made, found;
} last_wish;

static void wish(void *ctx) {
  last_wish *w = ctx;
  mend_subscription *subscription;
  mend_run *run;
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = MEND_STR("late");
  w->subscribed = mend_bus_subscribe(w->bus, "*", count, NULL, wish, &subscription, NULL);
  w->made = mend_run_new(w->bus, NULL, &run, NULL);
  w->found = mend_bus_run(w->bus, &options, &run, NULL);
}

Test(bus_lifetime, nothing_new_is_made_at_the_end) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &memory.base;
  last_wish w = {0};
  mend_bus_new(&options, &w.bus, NULL);
  mend_bus_subscribe(w.bus, "*", count, &w, wish, NULL, NULL);
  mend_bus_release(w.bus);
  cr_assert_eq(w.subscribed, MEND_ECLOSED);
  cr_assert_eq(w.made, MEND_ECLOSED);
  cr_assert_eq(w.found, MEND_ECLOSED);
  cr_assert_eq(memory.blocks, 0u);
}

/* ---- Runs ---- */

static mend_status expect_run(mend_bus *bus, const char *id, mend_run **ret_run) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = mend_str_from(id);
  return mend_bus_run(bus, &options, ret_run, NULL);
}

Test(bus_lifetime, runs_by_id) {
  mend_bus *bus;
  mend_run *made, *found, *again;
  mend_bus_new(NULL, &bus, NULL);
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = MEND_STR("r1");
  options.agent = MEND_STR("coder");
  options.parent_id = MEND_STR("boss");
  options.parent_call = MEND_STR("c7");
  options.session_id = MEND_STR("s");
  options.project_id = MEND_STR("");
  cr_assert_eq(mend_run_new(bus, &options, &made, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, &options, &again, NULL), MEND_EEXIST);
  cr_assert_eq(expect_run(bus, "r1", &found), MEND_OK);
  cr_assert_eq(found, made);
  cr_assert(mend_str_equal(mend_run_agent(found), MEND_STR("coder")));
  cr_assert(mend_str_equal(mend_run_parent_id(found), MEND_STR("boss")));
  cr_assert(mend_str_equal(mend_run_parent_call(found), MEND_STR("c7")));
  cr_assert(mend_str_equal(mend_run_session_id(found), MEND_STR("s")));
  cr_assert_not_null(mend_run_project_id(found).ptr, "empty is not absent");
  cr_assert_eq(mend_run_next_call(found), 1u);
  cr_assert_eq(mend_run_next_call(made), 2u);
  mend_run_release(found);
  mend_run_release(made);
  cr_assert_eq(mend_run_new(bus, &options, &made, NULL), MEND_OK,
               "a run made by hand is forgotten with its last reference");
  cr_assert_eq(mend_run_next_call(made), 1u);
  mend_run *child;
  mend_run_options child_options = MEND_RUN_OPTIONS_INIT;
  child_options.parent = made;
  cr_assert_eq(mend_run_new(bus, &child_options, &child, NULL), MEND_OK);
  cr_assert_eq(mend_run_id(child).len, 32u);
  cr_assert(mend_str_equal(mend_run_parent_id(child), MEND_STR("r1")));
  options.id = MEND_STR("");
  cr_assert_eq(mend_run_new(bus, &options, &again, NULL), MEND_EINVAL);
  options.id = (mend_str){NULL, 0};
  cr_assert_eq(mend_bus_run(bus, &options, &again, NULL), MEND_EINVAL, "without an id there is nothing to find");
  cr_assert_eq(mend_run_new(NULL, NULL, &again, NULL), MEND_EINVAL);
  mend_run_release(child);
  mend_run_release(made);
  mend_bus_release(bus);
}

Test(bus_lifetime, runs_known_by_id_are_bounded) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_clock *clock;
  mend_clock_new_virtual(NULL, (mend_time){1, 1}, &clock);
  options.clock = clock;
  options.run_limit = 3;
  mend_bus *bus;
  mend_bus_new(&options, &bus, NULL);
  /* Letters are runs that have an event; +x keeps a reference, -x drops it. After each, who is remembered (their call
   * counter goes on) is checked at the end only: the last count of each run. */
  static const struct {
    const char *events;
    const char *want; /* letter and its count, for runs asked at the end in this order */
  } cases[] = {
      {"a b c", "c1 b1 a1"},
      {"a b c d", "d1 c1 b1 a0"},         /* a's last event was the oldest */
      {"a b c a d", "a2 d1 c1 b0"},       /* a had one since: b goes */
      {"+a b c d e", "a1 e1 d1 b0"},      /* a is referenced: never forgotten */
      {"+a +b +c d e", "a1 b1 c1 e0"},    /* all are referenced: new ones stay only while they are used */
      {"+a b c d -a e f", "f1 e1 d1 a0"}, /* the last event counts, not when it was let go of */
      {"+a +b +c -b -c -a d", "d1 c1 b1 a0"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_run *held[128] = {NULL};
    char text[128], id[16];
    snprintf(text, sizeof text, "%s", cases[i].events);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
      int letter = word[strlen(word) - 1];
      snprintf(id, sizeof id, "%zu-%c", i, letter);
      mend_run *run = NULL;
      if (word[0] == '-') {
        mend_run_release(held[letter]);
        held[letter] = NULL;
        continue;
      }
      cr_assert_eq(expect_run(bus, id, &run), MEND_OK);
      mend_run_next_call(run);
      mend_clock_advance(clock, 1);
      mend_run_emit(run, "own.event", NULL, NULL);
      if (word[0] == '+') {
        held[letter] = run;
      } else {
        mend_run_release(run);
      }
    }
    snprintf(text, sizeof text, "%s", cases[i].want);
    for (char *rest = text, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
      mend_run *run = NULL;
      snprintf(id, sizeof id, "%zu-%c", i, word[0]);
      expect_run(bus, id, &run);
      uint64_t count = mend_run_next_call(run) - 1;
      cr_assert_eq(count, (uint64_t)(word[1] - '0'), "case %zu, run %c: %d", i, word[0], (int)count);
      mend_run_release(run);
    }
    for (int letter = 0; letter < 128; letter++)
      mend_run_release(held[letter]);
  }
  mend_clock_release(clock);
  mend_bus_release(bus);
}

Test(bus_lifetime, a_thousand_runs_on_one_bus) {
  enum { RUNS = 1000 };
  static mend_run *runs[RUNS];
  static unsigned of_run[RUNS];
  unsigned of_bus = 0;
  mend_bus *bus;
  mend_bus_new(NULL, &bus, NULL);
  mend_bus_subscribe(bus, "tool.*", count, &of_bus, NULL, NULL, NULL);
  for (int i = 0; i < RUNS; i++) {
    cr_assert_eq(mend_run_new(bus, NULL, &runs[i], NULL), MEND_OK);
    cr_assert_eq(mend_run_subscribe(runs[i], "tool.before", count, &of_run[i], NULL, NULL, NULL), MEND_OK);
  }
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < RUNS; i++) {
      mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
      cr_assert_eq(mend_run_publish(runs[i], &event.event), MEND_OK);
      cr_assert_eq(event.event.seq, (uint64_t)round + 1, "seq is per run");
    }
  }
  cr_assert_eq(of_bus, 3u * RUNS);
  for (int i = 0; i < RUNS; i++)
    cr_assert_eq(of_run[i], 3u);
  mend_bus_stats stats = {.size = sizeof stats};
  mend_bus_get_stats(bus, &stats);
  cr_assert_eq(stats.runs, (uint64_t)RUNS);
  for (int i = 0; i < RUNS; i++)
    mend_run_release(runs[i]);
  mend_bus_get_stats(bus, &stats);
  cr_assert_eq(stats.runs, 0u);
  cr_assert_eq(stats.subscriptions, 1u);
  mend_bus_release(bus);
}

typedef struct observer {
  unsigned opened;
  mend_status answer;
} observer;

static mend_status on_opened(void *ctx, mend_run *run) {
  observer *o = ctx;
  o->opened++;
  return o->answer == MEND_OK && mend_run_id(run).len == 0 ? MEND_EINVAL : o->answer;
}

Test(bus_lifetime, observers_see_every_run_once_known) {
  observer o = {0, MEND_OK};
  unsigned failures = 0;
  mend_bus *bus;
  mend_run *before, *after, *found;
  mend_bus_new(NULL, &bus, NULL);
  mend_bus_subscribe(bus, "bus.handler_failed", count, &failures, NULL, NULL, NULL);
  mend_run_new(bus, NULL, &before, NULL);
  o.answer = MEND_ENOMEM;
  cr_assert_eq(mend__bus_observe_runs(bus, MEND__SLOT_WATCH, on_opened, &o), MEND_ENOMEM);
  o = (observer){0, MEND_OK};
  cr_assert_eq(mend__bus_observe_runs(bus, MEND__SLOT_WATCH, on_opened, &o), MEND_OK, "the failed one is forgotten");
  cr_assert_eq(o.opened, 1u, "a run that was there");
  cr_assert_eq(mend__bus_observe_runs(bus, MEND__SLOT_WATCH, on_opened, &o), MEND_EEXIST);
  mend_run_new(bus, NULL, &after, NULL);
  cr_assert_eq(o.opened, 2u);
  expect_run(bus, "x", &found);
  mend_run_release(found);
  expect_run(bus, "x", &found);
  cr_assert_eq(o.opened, 3u, "found again is not made again");
  cr_assert_eq(failures, 0u);
  o.answer = MEND_EIO;
  mend_run *failing;
  cr_assert_eq(mend_run_new(bus, NULL, &failing, NULL), MEND_OK);
  cr_assert_eq(failures, 1u, "the observer's failure is reported");
  mend_run_release(before);
  mend_run_release(after);
  mend_run_release(found);
  mend_run_release(failing);
  mend_bus_release(bus);
}

static mend_status keep_seq(void *ctx, const mend_event *event) {
  mend_event *seen = ctx;
  *seen = *event;
  return MEND_OK;
}

Test(bus_lifetime, the_stamp) {
  mend_clock *clock;
  mend_clock_new_virtual(NULL, (mend_time){5, 1000}, &clock);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.clock = clock;
  options.id_seed = 42;
  mend_bus *bus, *same;
  mend_run *run, *other, *child, *named;
  mend_bus_new(&options, &bus, NULL);
  mend_bus_new(&options, &same, NULL);
  mend_clock_release(clock);
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  mend_run_new(bus, NULL, &run, NULL);
  mend_run_new(same, NULL, &other, NULL);
  cr_assert(mend_str_equal(mend_run_id(run), mend_run_id(other)), "one seed, one sequence of ids");
  run_options.parent = run;
  mend_run_new(bus, &run_options, &child, NULL);
  run_options.parent = NULL;
  run_options.trace_id[3] = 9;
  mend_run_new(bus, &run_options, &named, NULL);
  mend_event seen, of_child, of_named;
  mend_run_subscribe(run, "*", keep_seq, &seen, NULL, NULL, NULL);
  mend_run_subscribe(child, "*", keep_seq, &of_child, NULL, NULL, NULL);
  mend_run_subscribe(named, "*", keep_seq, &of_named, NULL, NULL, NULL);
  mend_run_emit(run, "tool.before", NULL, NULL);
  mend_clock_advance(mend_bus_clock(bus), 7);
  mend_run_emit(run, "tool.after", NULL, NULL);
  mend_run_emit(child, "tool.after", NULL, NULL);
  mend_run_emit(named, "tool.after", NULL, NULL);
  cr_assert_eq(seen.seq, 2u);
  cr_assert_eq(seen.run, run);
  cr_assert_eq(seen.mono_ns, 12u);
  cr_assert_eq(seen.wall_ns, 1007u);
  cr_assert_eq(memcmp(seen.trace_id, of_child.trace_id, 16), 0, "a child has its parent's trace");
  cr_assert_neq(memcmp(seen.trace_id, of_named.trace_id, 16), 0);
  cr_assert_eq(of_named.trace_id[3], 9);
  mend_run_release(run);
  mend_run_release(child);
  mend_run_release(named);
  mend_run_release(other);
  mend_bus_release(bus);
  mend_bus_release(same);
}

Test(bus_lifetime, a_call_that_has_only_a_name_gets_its_number) {
  static const struct {
    uint64_t call;
    const char *name;
  } rows[] = {{0, "toolu_1"}, {0, NULL}, {0, ""}, {7, "toolu_1"}, {0, "12"}};
  mend_bus *bus;
  mend_run *run;
  mend_event seen;
  mend_bus_new(NULL, &bus, NULL);
  mend_run_new(bus, NULL, &run, NULL);
  mend_run_subscribe(run, "*", keep_seq, &seen, NULL, NULL, NULL);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_tool_before_event event = MEND_TOOL_BEFORE_EVENT_INIT;
    const mend_str name = mend_str_from(rows[i].name);
    event.event.call = rows[i].call;
    event.event.call_name = name;
    cr_assert_eq(mend_run_publish(run, &event.event), MEND_OK);
    const uint64_t want = rows[i].call == 0 && name.len > 0 ? mend_call_from_name(name) : rows[i].call;
    cr_assert_eq(seen.call, want, "row %zu", i);
  }
  mend_run_release(run);
  mend_bus_release(bus);
}

/* ---- Out of memory: every allocation once, and from there on ---- */

static mend_status scenario(const mend_allocator *allocator, unsigned *ret_calls) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = allocator;
  options.id_seed = 1;
  mend_bus *bus;
  mend_run *run = NULL, *kept = NULL;
  mend_subscription *all = NULL, *exact = NULL, *of_run = NULL;
  mend_status status = mend_bus_new(&options, &bus, NULL);
  if (status != MEND_OK) return status;
  status = mend_run_new(bus, NULL, &run, NULL);
  if (status == MEND_OK) status = expect_run(bus, "kept", &kept);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "*", count, ret_calls, NULL, &all, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "own.*", count, ret_calls, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "own.topic", count, ret_calls, NULL, &exact, NULL);
  if (status == MEND_OK) status = mend_run_subscribe(run, "own.*", count, ret_calls, NULL, &of_run, NULL);
  if (status == MEND_OK) status = mend_run_emit(run, "own.topic", NULL, NULL);
  mend_subscription_close(&exact);
  mend_subscription_close(&all);
  if (status == MEND_OK) status = mend_run_emit(run, "own.topic", NULL, NULL);
  mend_subscription_close(&of_run);
  mend_run_release(kept);
  mend_run_release(run);
  mend_bus_release(bus);
  return status;
}

Test(bus_lifetime, out_of_memory_at_every_point) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  for (int from_there_on = 0; from_there_on < 2; from_there_on++) {
    for (size_t n = 1;; n++) {
      unsigned calls = 0;
      mend_test_allocator_arm(&memory, n, from_there_on);
      mend_status status = scenario(&memory.base, &calls);
      cr_assert_eq(memory.blocks, 0u, "failure at %zu leaves %zu blocks", n, (size_t)memory.blocks);
      /* What the bus has in reserve may do instead. */
      if (status == MEND_OK) cr_assert_eq(calls, 6u, "failure at %zu", n);
      if (status != MEND_OK) cr_assert_eq(status, MEND_ENOMEM, "failure at %zu: %s", n, mend_status_name(status));
      if (mend_test_allocator_failed(&memory)) continue;
      cr_assert_eq(status, MEND_OK);
      cr_assert(n > 10, "only %zu points were tried", n);
      break;
    }
  }
}
