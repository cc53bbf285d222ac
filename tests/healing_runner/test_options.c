/* Options of healing runners and scopes: what is refused, and what a scope says of them when it begins. */
#include "mend/json.h"
#include "mend/metacognition.h"
#include "world.h"

#include <math.h>

/* ---- What cannot be ---- */

Test(healing, options_that_cannot_be) {
  static const struct {
    const char *option, *value, *sentence;
    mend_status want;
  } rows[] = {
      {"stall_timeout_s", "0.001", "", MEND_OK},
      {"loop_threshold_k", "10", "loop.n", MEND_EINVAL},
      {"mode", "evidence", "", MEND_OK},
      {"fallback_models", "[]", "", MEND_OK},
      {"fallback_models", "[\"openai:gpt-4.1\"]", "fallback.models", MEND_EINVAL},
      {"loop.poll_tools", "[\"wait\"]", "", MEND_OK},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_option_tree *tree;
    mend_option_tree_new(NULL, &tree);
    cr_assert_eq(mend_option_tree_set(tree, mend_str_from(rows[i].option), mend_str_from(rows[i].value), NULL),
                 MEND_OK);
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.config = mend_option_tree_get(tree);
    mend_healing_runner *runner = NULL;
    mend_error error = {0};
    cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), rows[i].want, "%s: %s", rows[i].option,
                 error.message);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s: %s", rows[i].option, error.message);
    mend_option_tree_free(tree); /* what the runner needs of it is its own */
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, NULL) bodies++; /* without a runner the body is skipped */
    cr_assert_eq(bodies, rows[i].want == MEND_OK, "%s", rows[i].option);
    mend_healing_runner_release(runner);
  }
  static const double graces[] = {-1, (double)INFINITY, (double)NAN};
  for (size_t i = 0; i < 3; i++) {
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.exit_grace_s = graces[i];
    mend_healing_runner *runner;
    mend_error error = {0};
    cr_assert_eq(mend_healing_runner_new(&options, &runner, &error), MEND_EINVAL);
    cr_assert_not_null(strstr(error.message, "exit_grace_s"));
  }
}

Test(healing, options_that_do_not_fit_together) {
  world w;
  open_world(&w);
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  const struct {
    mend_loop *loop;
    size_t watchdog_count, report_size;
    const char *sentence;
  } rows[] = {{NULL, 0, sizeof(mend_healing_report), ""},
              {loop, 0, sizeof(mend_healing_report), "another clock than the bus"},
              {NULL, 1, sizeof(mend_healing_report), "watchdogs: NULL, expected watchdog_count (1)"},
              {NULL, 0, sizeof(mend_healing_report) - 1, "mend_healing_report: its size is too small"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.loop = rows[i].loop;
    options.watchdog_count = rows[i].watchdog_count;
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    report.size = rows[i].report_size;
    mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
    scope.ret_report = &report;
    mend_healing_runner *runner = NULL;
    mend_error error = MEND_ERROR_INIT;
    mend_status status = mend_healing_runner_new(&options, &runner, &error);
    if (status == MEND_OK) status = mend_healing_enter(runner, &scope, &error);
    if (status == MEND_OK) mend_healing_exit(runner, NULL);
    cr_assert_eq(status, rows[i].sentence[0] == '\0' ? MEND_OK : MEND_EINVAL, "row %zu", i);
    cr_assert_not_null(strstr(error.message, rows[i].sentence), "%s", error.message);
    mend_healing_runner_release(runner);
  }
  mend_loop_release(loop);
  close_world(&w);
}

Test(healing, watchdogs_have_names_of_their_own) {
  static const struct {
    const char *names[2];
    const char *refused; /* NULL: none */
  } rows[] = {{{"a", "b"}, NULL},
              {{"loop", "a"}, "loop"},
              {{"a", "a"}, "a"},
              {{"a", "stall"}, "stall"},
              {{"regression", "a"}, NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    mend_watchdog *watchdogs[2];
    for (size_t each = 0; each < 2; each++) {
      const mend_watchdog_vtable vtable = {
          .size = sizeof vtable, .name = rows[i].names[each], .expire = find_at_the_end};
      cr_assert_eq(mend_watchdog_new(&vtable, NULL, NULL, &watchdogs[each], NULL), MEND_OK);
    }
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.watchdogs = watchdogs;
    options.watchdog_count = 2;
    mend_healing_runner *runner = NULL;
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend_healing_runner_new(&options, &runner, &error);
    cr_assert_eq(status, rows[i].refused == NULL ? MEND_OK : MEND_EEXIST, "row %zu: %s", i, error.message);
    if (rows[i].refused != NULL) cr_assert_not_null(strstr(error.message, rows[i].refused), "%s", error.message);
    mend_healing_runner_release(runner);
    for (size_t each = 0; each < 2; each++)
      mend_watchdog_release(watchdogs[each]);
    close_world(&w);
  }
}

/* ---- What is worth a look ---- */

static mend_status keep_notices(void *ctx, const mend_event *event) {
  char *text = ctx;
  const mend_str notices = ((const mend_healing_started_event *)event)->notices;
  snprintf(text, 512, "%.*s", MEND_STR_ARG(notices));
  return MEND_OK;
}

Test(healing, notices) {
  static const struct {
    bool regression, publishes;
    uint32_t window_n;
    bool says_nobody_publishes, says_small_window;
    bool budget;
    const char *tool_timeouts;
  } rows[] = {
      {false, false, 5, false, false, false, NULL}, {true, false, 5, true, true, false, NULL},
      {true, false, 6, true, false, false, "{}"},   {true, true, 5, false, true, true, "{\"search\":9}"},
      {true, true, 6, false, false, false, NULL},   {false, false, 5, false, false, true, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    char notices[512] = "";
    mend_bus_subscribe(w.bus, "healing.started", keep_notices, notices, NULL, NULL, NULL);
    mend_options config = MEND_OPTIONS_INIT;
    config.regression.enable = rows[i].regression;
    config.regression.window_n = rows[i].window_n;
    config.budget.enable = rows[i].budget;
    config.stall.tool_timeout_s = mend_str_from(rows[i].tool_timeouts);
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.config = &config;
    cr_assert_eq(mend_hooks_new(&w.memory.base, &options.hooks), MEND_OK);
    if (rows[i].publishes) cr_assert_eq(mend_hooks_add_metacognition(options.hooks, NULL, NULL), MEND_OK);
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, NULL) {}
    const bool nobody_publishes = strstr(notices, "until somebody in this scope publishes") != NULL;
    const bool small_window = strstr(notices, "window_n is below 6") != NULL;
    cr_assert_eq(nobody_publishes, rows[i].says_nobody_publishes, "row %zu: %s", i, notices);
    cr_assert_eq(small_window, rows[i].says_small_window, "row %zu: %s", i, notices);
    cr_assert_eq(strstr(notices, "budget.enable has no effect") != NULL, rows[i].budget, "row %zu: %s", i, notices);
    const bool says_timeouts = strstr(notices, "tool_timeout_s has no effect") != NULL;
    cr_assert_eq(says_timeouts, rows[i].tool_timeouts != NULL && strlen(rows[i].tool_timeouts) > 2, "row %zu", i);
    if (notices[0] != '\0') cr_assert_eq(mend_json_check(mend_str_from(notices), 64, NULL), MEND_OK, "%s", notices);
    mend_healing_runner_release(runner);
    mend_hooks_release(options.hooks);
    close_world(&w);
  }
}

Test(healing, notices_of_what_has_no_effect) {
  enum { OF_CALLS, OF_TOOLS, OF_TIME, ENABLED };
  static const struct {
    mend_watch_mode mode;
    int budget;
    bool enable, publishes, regression, bus_watches;
    const char *notice; /* NULL: none */
  } rows[] = {
      {MEND_WATCH_MODE_SEED, OF_CALLS, false, false, false, false, "budget.calls has no effect in mode seed"},
      {MEND_WATCH_MODE_SEED, OF_CALLS, true, false, false, false, "budget.enable has no effect in mode seed"},
      {MEND_WATCH_MODE_EVIDENCE, OF_CALLS, false, false, false, false,
       "budget.calls has no effect without budget.enable=true"},
      {MEND_WATCH_MODE_EVIDENCE, OF_TOOLS, false, false, false, false,
       "budget.tool_calls has no effect without budget.enable=true"},
      {MEND_WATCH_MODE_EVIDENCE, OF_TIME, false, false, false, false,
       "budget.time_s has no effect without budget.enable=true"},
      {MEND_WATCH_MODE_EVIDENCE, OF_CALLS, true, false, false, false, NULL},
      {MEND_WATCH_MODE_EVIDENCE, ENABLED, true, false, false, false, NULL},
      {MEND_WATCH_MODE_EVIDENCE, ENABLED, false, true, false, false, "nobody watches without regression.enable=true"},
      {MEND_WATCH_MODE_EVIDENCE, ENABLED, false, true, true, false, NULL},
      {MEND_WATCH_MODE_EVIDENCE, ENABLED, false, true, false, true, NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    char notices[512] = "";
    mend_bus_subscribe(w.bus, "healing.started", keep_notices, notices, NULL, NULL, NULL);
    mend_options config = MEND_OPTIONS_INIT, of_bus = MEND_OPTIONS_INIT;
    of_bus.regression.enable = true;
    of_bus.regression.window_n = 6;
    if (rows[i].bus_watches) cr_assert_eq(mend_bus_watch(w.bus, &of_bus, NULL), MEND_OK);
    config.mode = rows[i].mode;
    config.regression.enable = rows[i].regression;
    config.regression.window_n = 6;
    config.budget.enable = rows[i].enable;
    if (rows[i].budget == OF_CALLS) config.budget.calls = 3;
    if (rows[i].budget == OF_TOOLS) config.budget.tool_calls = MEND_STR("{\"search\":3}");
    if (rows[i].budget == OF_TIME) config.budget.time_s = 3;
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    options.bus = w.bus;
    options.config = &config;
    cr_assert_eq(mend_hooks_new(&w.memory.base, &options.hooks), MEND_OK);
    if (rows[i].publishes) cr_assert_eq(mend_hooks_add_metacognition(options.hooks, NULL, NULL), MEND_OK);
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, NULL) {}
    if (rows[i].notice == NULL) cr_assert_str_eq(notices, "", "row %zu", i);
    if (rows[i].notice != NULL) cr_assert_not_null(strstr(notices, rows[i].notice), "row %zu: %s", i, notices);
    mend_healing_runner_release(runner);
    mend_hooks_release(options.hooks);
    close_world(&w);
  }
}
