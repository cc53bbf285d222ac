/* The torture program: runs every scenario of every room, or those whose room or part of whose name is given, and
 * prints how many points of failure each has. The status is 1 when anything that must hold did not. */
#include "torture/memory.h"
#include "torture/torture.h"

#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const torture_room torture_core, torture_bus, torture_journal, torture_watchdogs, torture_hooks, torture_flows,
    torture_metacognition, torture_loop, torture_models, torture_chain, torture_healing, torture_workbench,
    torture_agent;

static const torture_room *const rooms[] = {
    &torture_core,    &torture_bus,           &torture_journal, &torture_watchdogs, &torture_hooks,
    &torture_flows,   &torture_metacognition, &torture_loop,    &torture_models,    &torture_chain,
    &torture_healing, &torture_workbench,     &torture_agent,
};
enum { ROOMS = sizeof rooms / sizeof rooms[0] };

/* More points than any scenario has, so that one that goes wrong comes to an end; and sentences than anybody reads. */
enum { MOST_POINTS = 100000, MOST_SENTENCES = 200 };

static struct {
  const char *room, *scenario;
  size_t fail_at;
  bool onwards;
  size_t violations;
} now;

/* ---- What a scenario may say ---- */

void torture_must(torture *t, bool holds, const char *what) {
  (void)t;
  if (holds || now.violations++ >= MOST_SENTENCES) return;
  fprintf(stderr, "%s, %s, allocation %zu%s: it does not hold that %s\n", now.room, now.scenario, now.fail_at,
          now.onwards ? " and later ones" : "", what);
}

void torture_claim(torture *t, bool holds, const char *what) { torture_must(t, holds || t->reported, what); }

static mend_status note_report(void *ctx, const mend_event *event) {
  (void)event;
  ((torture *)ctx)->reported = true;
  return MEND_OK;
}

mend_status torture_open_bus(torture *t) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  mend_run_options run = MEND_RUN_OPTIONS_INIT;
  const mend_time start = {1000 * MEND_SECOND_NS, 1700000000 * MEND_SECOND_NS};
  mend_status status = mend_clock_new_virtual(t->allocator, start, &t->clock);
  options.allocator = t->allocator;
  options.clock = t->clock;
  options.id_seed = 7;
  run.id = MEND_STR("r");
  if (status == MEND_OK) status = mend_bus_new(&options, &t->bus, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(t->bus, "bus.handler_failed", note_report, t, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(t->bus, "hook.failed", note_report, t, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_run_new(t->bus, &run, &t->run, NULL);
  return status;
}

void torture_close_bus(torture *t) {
  mend_run_release(t->run);
  mend_bus_release(t->bus);
  mend_clock_release(t->clock);
  t->run = NULL;
  t->bus = NULL;
  t->clock = NULL;
}

mend_status torture_count_event(void *ctx, const mend_event *event) {
  (void)event;
  ((torture *)ctx)->events++;
  return MEND_OK;
}

/* ---- Rounds ---- */

static bool is_reported(const torture *t, mend_status status) { return status != MEND_OK || t->reported; }

/* Without failures, on what there is. */
static void try_again(const torture_scenario *scenario, torture *t) {
  memory_arm(0, false);
  t->reported = false;
  t->events = 0;
  torture_must(t, !is_reported(t, scenario->attempt(t)), "it succeeds when there is memory");
}

/* Whether there was such an allocation. */
static bool play_round(const torture_scenario *scenario, size_t fail_at, bool onwards) {
  torture t = {.allocator = &memory_allocator};
  const size_t before = memory_blocks();
  now.fail_at = fail_at;
  now.onwards = onwards;
  memory_arm(0, false);
  if (scenario->prepare != NULL) scenario->prepare(&t);
  memory_arm(fail_at, onwards);
  const mend_status status = scenario->attempt(&t);
  const bool failed = memory_has_failed();
  if (!failed) torture_must(&t, !is_reported(&t, status), "it succeeds when there is memory");
  if (failed && is_reported(&t, status)) try_again(scenario, &t);
  memory_arm(0, false);
  if (scenario->finish != NULL) scenario->finish(&t);
  torture_must(&t, memory_blocks_are(before), "no memory is left");
  return failed;
}

static size_t play(const torture_scenario *scenario, bool onwards) {
  size_t points = 0;
  while (points < MOST_POINTS && play_round(scenario, points + 1, onwards))
    points++;
  torture_must(NULL, points < MOST_POINTS, "the scenario comes to an end");
  return points;
}

static size_t play_both(const char *room, const torture_scenario *scenario) {
  now.room = room;
  now.scenario = scenario->name;
  const size_t once = play(scenario, false), onwards = play(scenario, true);
  printf("%-14s %-44s %6zu %6zu\n", room, scenario->name, once, onwards);
  torture_must(NULL, once > 0, "the scenario has a point of failure");
  return once + onwards;
}

static bool is_wanted(const char *room, const char *scenario, char **parts) {
  if (*parts == NULL) return true;
  for (; *parts != NULL; parts++) {
    if (strcmp(room, *parts) == 0 || strstr(scenario, *parts) != NULL) return true;
  }
  return false;
}

/* ---- libevent ---- */

/* Where libevent ends the process there is no going on: it holds locks and lists half changed. */
static void libevent_gives_up(int error) {
  fprintf(stderr, "%s, %s, allocation %zu%s: libevent ends the process (%d)\n", now.room, now.scenario, now.fail_at,
          now.onwards ? " and later ones" : "", error);
  exit(1);
}

/* It warns of every failure, of which there are many here. */
static void say_nothing(int severity, const char *message) {
  (void)severity;
  (void)message;
}

int main(int argc, char **argv) {
  (void)argc;
  size_t points = 0, scenarios = 0;
  memory_give_to_libevent();
  event_set_fatal_callback(libevent_gives_up);
  event_set_log_callback(say_nothing);
  setvbuf(stdout, NULL, _IOLBF, 0);
  printf("%-14s %-44s %6s %6s\n", "room", "scenario", "once", "from n");
  for (size_t r = 0; r < ROOMS; r++) {
    for (size_t s = 0; s < rooms[r]->count; s++) {
      if (!is_wanted(rooms[r]->name, rooms[r]->scenarios[s].name, argv + 1)) continue;
      points += play_both(rooms[r]->name, &rooms[r]->scenarios[s]);
      scenarios++;
    }
  }
  printf("%zu points of failure in %zu scenarios, %zu violations\n", points, scenarios, now.violations);
  return now.violations == 0 && scenarios > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
