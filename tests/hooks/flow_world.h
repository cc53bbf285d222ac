/* Scenarios of flows: those of scenario.h with lines of their own. See tests/data/flows/README.md. */
#ifndef MEND_TESTS_HOOKS_FLOW_WORLD_H
#define MEND_TESTS_HOOKS_FLOW_WORLD_H

#include "scenario.h"

typedef struct flow_world {
  scenario scenario;
  log_text shown; /* what a flow publishes beside its calls */
  log_text value; /* of its result, where the test keeps it apart */
  void *flow;     /* the test's own; `clear` begins it anew for a case */
  void (*clear)(void *flow);
} flow_world;

/* A line of the test's own; false when the word is none of its. */
typedef bool (*flow_line)(flow_world *world, const char *word, char *rest);

static inline mend_status on_flow_event(void *ctx, const mend_event *event) {
  flow_world *world = ctx;
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  log_text word = {.len = 0};
  if (event->kind == MEND_EVENT_TOOL_PROGRESS) {
    note(&word, "\"%.*s\"", MEND_STR_ARG(any->tool_progress.note));
  } else if (event->kind == MEND_EVENT_REDECOMPOSITION) {
    const mend_redecomposition_event *told = &any->redecomposition;
    note(&word, "%llu/redecomposition:%g<%g#%u,%u", (unsigned long long)event->call, told->confidence, told->threshold,
         (unsigned)told->redecompositions, (unsigned)told->remaining);
  } else if (event->kind == MEND_EVENT_TOOL_BEFORE && any->tool_before.within != MEND_NONE) {
    note(&word, "%llu/within:%u", (unsigned long long)event->call, (unsigned)any->tool_before.within);
  } else {
    return MEND_OK;
  }
  pthread_mutex_lock(&events_lock);
  note_word(&world->shown, word.text);
  pthread_mutex_unlock(&events_lock);
  return MEND_OK;
}

static inline void flow_play_line(flow_world *world, char *line, flow_line play) {
  char copy[1024], *rest = copy;
  cr_assert(strlen(line) < sizeof copy, "%s", world->scenario.place);
  memcpy(copy, line, strlen(line) + 1);
  const char *word = take_word(&rest);
  if (strcmp(word, "shown") == 0) {
    expect(&world->scenario, &world->shown, rest);
  } else if (strcmp(word, "value") == 0) {
    expect(&world->scenario, &world->value, rest);
  } else if (!play(world, word, rest)) {
    play_line(&world->scenario, line);
  }
}

static inline size_t flow_play_case(flow_world *world, const char *name, unsigned line, const char *text, bool expects,
                                    flow_line play) {
  scenario *s = &world->scenario;
  char place[256];
  char *lines = strdup(text), *rest = lines;
  scenario_clear(s);
  clear_log(&world->shown);
  clear_log(&world->value);
  world->clear(world->flow);
  s->place = place;
  s->expects = expects;
  snprintf(place, sizeof place, "%s:%u", name, line);
  mend_status status = scenario_try_open(s);
  if (status == MEND_OK) status = mend_bus_subscribe(s->bus, "*", on_flow_event, world, NULL, NULL, NULL);
  if (expects) cr_assert_eq(status, MEND_OK);
  for (char *each; status == MEND_OK && (each = strsep(&rest, "\n")) != NULL;) {
    snprintf(place, sizeof place, "%s:%u", name, ++line);
    if (*each != '\0' && *each != '#') flow_play_line(world, each, play);
  }
  scenario_close(s);
  free(lines);
  return s->differences;
}

static inline flow_world *flow_world_new(void *flow, void (*clear)(void *flow)) {
  flow_world *world = calloc(1, sizeof *world);
  if (world == NULL) abort();
  mend_test_allocator_init(&world->scenario.memory);
  world->flow = flow;
  world->clear = clear;
  return world;
}

/* With each of its allocations failing: once, and from there on. */
static inline size_t flow_torture_case(flow_world *world, const char *name, unsigned line, const char *text,
                                       flow_line play) {
  size_t points = 0;
  for (int fail_after = 0; fail_after < 2; fail_after++) {
    bool failed = true;
    for (size_t fail_at = 1; failed; fail_at++, points++) {
      mend_test_allocator_arm(&world->scenario.memory, fail_at, fail_after == 1);
      flow_play_case(world, name, line, text, false, play);
      failed = mend_test_allocator_failed(&world->scenario.memory);
    }
  }
  return points;
}

#endif
