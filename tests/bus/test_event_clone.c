#include "event_fields.h"
#include "mend/bus.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdlib.h>

/* A copy of the event's strings in memory of their own, so that the test can take it away. */
static void own_texts(mend_any_event *event, const test_kind *kind, char **texts) {
  for (size_t i = 0; i < kind->field_count; i++) {
    if (kind->fields[i].type != TEST_STR && kind->fields[i].type != TEST_JSON) continue;
    mend_str *text = (mend_str *)(void *)((char *)event + kind->fields[i].offset);
    if (text->ptr == NULL) continue;
    texts[i] = malloc(text->len + 1);
    memcpy(texts[i], text->ptr, text->len);
    text->ptr = texts[i];
  }
}

static void check_clone(mend_run *run, mend_event_kind number, size_t sample) {
  enum { FIELDS_MAX = 32 };
  test_kind kind = test_kind_of(number);
  cr_assert(kind.field_count <= FIELDS_MAX);
  char *texts[FIELDS_MAX] = {NULL};
  mend_any_event event, expected;
  mend_event_init(&event, number);
  for (size_t i = 0; i < kind.field_count; i++) {
    if ((sample + i) % (TEST_SAMPLES + 1) > 0) test_field_set(&event, &kind.fields[i], (sample + i) % TEST_SAMPLES);
  }
  event.event.run = run;
  event.event.call = 5;
  event.event.seq = 6;
  event.event.call_name = MEND_STR("toolu_01");
  expected = event;
  own_texts(&event, &kind, texts);

  mend_event *clone;
  cr_assert_eq(mend_event_clone(&event.event, NULL, &clone), MEND_OK);
  for (size_t i = 0; i < kind.field_count; i++)
    free(texts[i]);
  memset(&event, 0xa5, sizeof event);
  cr_assert(clone->run == run && clone->call == 5 && clone->seq == 6 && clone->kind == number);
  cr_assert(clone->size == kind.size && mend_str_equal(clone->call_name, MEND_STR("toolu_01")));
  for (size_t i = 0; i < kind.field_count; i++) {
    cr_assert(test_field_equal((const mend_any_event *)(const void *)clone, &expected, &kind.fields[i]), "%s of %s",
              kind.fields[i].name, kind.topic);
  }
  mend_event_free(clone);
}

static void custom_events_are_cloned(mend_run *run) {
  char payload[] = "{\"a\":1}";
  mend_custom_event event = {.event = {.size = sizeof event, .kind = MEND_EVENT_CUSTOM, .run = run}};
  event.payload = mend_str_from(payload);
  mend_event *clone;
  cr_assert_eq(mend_event_clone(&event.event, NULL, &clone), MEND_OK);
  memset(payload, 'x', sizeof payload - 1);
  cr_assert(mend_str_equal(((mend_custom_event *)clone)->payload, MEND_STR("{\"a\":1}")));
  mend_event_free(clone);
}

static void clones_keep_their_run(mend_bus *bus) {
  mend_run_options options = MEND_RUN_OPTIONS_INIT;
  options.id = MEND_STR("short");
  mend_run *run;
  mend_event *clone;
  cr_assert_eq(mend_run_new(bus, &options, &run, NULL), MEND_OK);
  mend_tick_event event = MEND_TICK_EVENT_INIT;
  event.event.run = run;
  cr_assert_eq(mend_event_clone(&event.event, NULL, &clone), MEND_OK);
  mend_run_release(run);
  cr_assert(mend_str_equal(mend_run_id(clone->run), MEND_STR("short")));
  mend_event_free(clone);
}

static void clones_are_refused(mend_run *run) {
  mend_event *clone = NULL;
  mend_tick_event event = MEND_TICK_EVENT_INIT;
  cr_assert_eq(mend_event_clone(&event.event, NULL, &clone), MEND_EINVAL, "no run");
  event.event.run = run;
  event.event.size = sizeof(mend_event);
  cr_assert_eq(mend_event_clone(&event.event, NULL, &clone), MEND_EINVAL, "too short");
  event.event.size = sizeof event;
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  mend_test_allocator_arm(&allocator, 1, true);
  cr_assert_eq(mend_event_clone(&event.event, &allocator.base, &clone), MEND_ENOMEM);
  cr_assert_null(clone);
  mend_test_allocator_arm(&allocator, 0, false);
  cr_assert_eq(mend_event_clone(&event.event, &allocator.base, &clone), MEND_OK);
  cr_assert(allocator.calls == 1 && allocator.blocks == 1, "one block");
  mend_event_free(clone);
  cr_assert_eq(allocator.blocks, 0);
  mend_event_free(NULL);
}

/* ---- In a handler, after an earlier one has let go of the run, and perhaps of the bus ---- */

typedef struct parting {
  mend_bus *bus;
  mend_run *run;
  bool drops_bus;
  mend_event *clone;
  mend_status status;
} parting;

static mend_status let_go(void *ctx, const mend_event *event) {
  (void)event;
  parting *p = ctx;
  mend_run_release(p->run);
  if (p->drops_bus) mend_bus_release(p->bus);
  return MEND_OK;
}

static mend_status clone_it(void *ctx, const mend_event *event) {
  parting *p = ctx;
  p->status = mend_event_clone(event, NULL, &p->clone);
  return MEND_OK;
}

Test(event_clone, of_a_run_at_its_end) {
  static const struct {
    const char *what;
    bool kept, drops_bus;
    mend_status status;
  } rows[] = {
      {"a run that nobody else has", false, false, MEND_ECLOSED},
      {"nor the bus", false, true, MEND_ECLOSED},
      {"a run that the bus remembers", true, false, MEND_OK},
      {"but the bus ends too", true, true, MEND_ECLOSED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    mend_bus_options options = MEND_BUS_OPTIONS_INIT;
    options.allocator = &memory.base;
    mend_run_options of_run = MEND_RUN_OPTIONS_INIT;
    of_run.id = MEND_STR("r");
    parting p = {.drops_bus = rows[i].drops_bus};
    cr_assert_eq(mend_bus_new(&options, &p.bus, NULL), MEND_OK);
    cr_assert_eq((rows[i].kept ? mend_bus_run : mend_run_new)(p.bus, &of_run, &p.run, NULL), MEND_OK);
    cr_assert_eq(mend_bus_subscribe(p.bus, "run.reset", let_go, &p, NULL, NULL, NULL), MEND_OK);
    cr_assert_eq(mend_bus_subscribe(p.bus, "*", clone_it, &p, NULL, NULL, NULL), MEND_OK);
    cr_assert_eq(mend_run_emit(p.run, "run.reset", NULL, NULL), MEND_OK);
    cr_assert_eq(p.status, rows[i].status, "%s: %s", rows[i].what, mend_status_name(p.status));
    if (!rows[i].drops_bus) mend_bus_release(p.bus);
    if (p.clone != NULL) cr_assert(mend_str_equal(mend_run_id(p.clone->run), MEND_STR("r")));
    mend_event_free(p.clone);
    cr_assert_eq(memory.blocks, 0u, "%s", rows[i].what);
  }
}

Test(event_clone, owns_all_it_points_to) {
  mend_bus *bus;
  mend_run *run;
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, NULL, &run, NULL), MEND_OK);
  for (int kind = MEND_EVENT_CUSTOM + 1; kind < MEND_EVENT_KIND_COUNT; kind++) {
    for (size_t sample = 0; sample <= TEST_SAMPLES; sample++)
      check_clone(run, (mend_event_kind)kind, sample);
  }
  custom_events_are_cloned(run);
  clones_keep_their_run(bus);
  clones_are_refused(run);
  mend_run_release(run);
  mend_bus_release(bus);
}
