/* Mode evidence in a healing scope: what the agent meets when the same trouble comes back. */
#include "mend/healing.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>

#define SECOND MEND_SECOND_NS

typedef struct world {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_tools *tools;
  char actions[512]; /* what was decided, in order: "act:escalate warn:none " */
} world;

static mend_status note_action(void *ctx, const mend_event *event) {
  world *w = ctx;
  const mend_action_event *action = (const mend_action_event *)event;
  const size_t len = strlen(w->actions);
  snprintf(w->actions + len, sizeof w->actions - len, "%.*s:%.*s ", MEND_STR_ARG(action->rung),
           MEND_STR_ARG(action->action));
  return MEND_OK;
}

static mend_status echo(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, mend_call_args(call));
}

static mend_status ask_back(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx, (void)detection;
  *ret_action = mend_action_escalate("go on?");
  return MEND_OK;
}

static void open_world(world *w) {
  static const mend_tool tool = {.size = sizeof tool, .name = "echo", .effect = MEND_EFFECT_READ_ONLY, .execute = echo};
  memset(w, 0, sizeof *w);
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(mend_clock_new_virtual(&w->memory.base, (mend_time){SECOND, SECOND}, &w->clock), MEND_OK);
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = &w->memory.base;
  options.clock = w->clock;
  cr_assert_eq(mend_bus_new(&options, &w->bus, NULL), MEND_OK);
  cr_assert_eq(mend_tools_new(&w->memory.base, &w->tools), MEND_OK);
  cr_assert_eq(mend_tools_add(w->tools, &tool, w, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(w->bus, "healing.action", note_action, w, NULL, NULL, NULL), MEND_OK);
}

static void close_world(world *w) {
  mend_tools_release(w->tools);
  mend_bus_release(w->bus);
  mend_clock_release(w->clock);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u);
}

static mend_healing_runner *new_runner(world *w, const mend_options *config) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  options.config = config;
  options.policy = ask_back;
  mend_healing_runner *runner = NULL;
  cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
  return runner;
}

/* How each call came out: o ok, e escalated, a aborted, r another way. */
static char make_call(mend_healing_runner *runner, const char *args) {
  mend_result result = MEND_RESULT_INIT;
  mend_boundary_call(mend_healing_boundary(runner), MEND_STR("echo"), mend_str_from(args), NULL, &result);
  const mend_outcome outcome = result.outcome;
  mend_result_clear(&result);
  return outcome == MEND_OUTCOME_OK          ? 'o'
         : outcome == MEND_OUTCOME_ESCALATED ? 'e'
         : outcome == MEND_OUTCOME_ABORTED   ? 'a'
                                             : 'r';
}

static const struct {
  const char *name;
  const char *set[2][2];
  const char *calls; /* a letter a call, of which equal ones are equal calls; ! resets the run */
  const char *came_out;
  const char *actions;
} stories[] = {
    {"honest work is left alone", {{NULL}}, "abcdefabcdef", "oooooooooooo", ""},
    {"a loop is asked about", {{NULL}}, "aaaa", "oooe", "act:escalate "},
    {"where it comes back it is over",
     {{"loop.n", "4"}},
     "aaaabcdeaaaaa",
     "oooeoooooooaa",
     "act:escalate abort:abort "},
    {"a run that may go on begins at the policy",
     {{"loop.n", "4"}},
     "aaaa!aaaa",
     "oooeoooe",
     "act:escalate act:escalate "},
    {"what does no harm is only told", {{"loop.idempotent", "echo"}}, "aaaaaa", "oooooo", "warn:none "},
    {"without the ladder the policy decides each time",
     {{"loop.n", "4"}, {"ladder", "false"}},
     "aaaabcdeaaaa",
     "oooeoooooooe",
     ":escalate :escalate "},
    {"a budget is told before the call beyond it",
     {{"budget.enable", "true"}, {"budget.calls", "3"}},
     "abcde",
     "oooeo",
     "act:escalate "},
    {"there is a ceiling", {{"ceiling", "1"}, {"loop.n", "4"}}, "aaaabbbb", "oooeoooa", "act:escalate abort:abort "},
};

static void play(mend_healing_runner *runner, const char *calls, char *came_out) {
  MEND_HEALING_SCOPE(runner, NULL) {
    for (const char *call = calls; *call != '\0'; call++) {
      if (*call == '!') {
        cr_assert_eq(mend_run_reset(mend_healing_current_run(runner), MEND_STR("go on")), MEND_OK);
        continue;
      }
      char args[16];
      snprintf(args, sizeof args, "{\"of\":\"%c\"}", *call);
      *came_out++ = make_call(runner, args);
    }
  }
  *came_out = '\0';
}

Test(ladder, what_the_agent_meets) {
  for (size_t i = 0; i < sizeof stories / sizeof stories[0]; i++) {
    world w;
    open_world(&w);
    mend_option_tree *tree;
    cr_assert_eq(mend_option_tree_new(&w.memory.base, &tree), MEND_OK);
    cr_assert_eq(mend_option_tree_set(tree, MEND_STR("mode"), MEND_STR("evidence"), NULL), MEND_OK);
    for (size_t j = 0; j < 2 && stories[i].set[j][0] != NULL; j++) {
      cr_assert_eq(
          mend_option_tree_set(tree, mend_str_from(stories[i].set[j][0]), mend_str_from(stories[i].set[j][1]), NULL),
          MEND_OK);
    }
    mend_healing_runner *runner = new_runner(&w, mend_option_tree_get(tree));
    char came_out[64];
    play(runner, stories[i].calls, came_out);
    cr_assert_str_eq(came_out, stories[i].came_out, "%s", stories[i].name);
    cr_assert_str_eq(w.actions, stories[i].actions, "%s", stories[i].name);
    mend_healing_runner_release(runner);
    mend_option_tree_free(tree);
    close_world(&w);
  }
}
