/* Healing scopes: entering and leaving, whose run it is, what the report says. */
#include "world.h"

/* ---- How a scope is left ---- */

enum { BY_ITS_END, BY_BREAK, BY_CONTINUE, BY_RETURN, BY_GOTO, WAYS };

static int leave_by(mend_healing_runner *runner, int way, mend_healing_report *report) {
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.ret_report = report;
  int bodies = 0;
  MEND_HEALING_SCOPE(runner, &options) {
    bodies++;
    cr_assert_not_null(mend_healing_boundary(runner));
    cr_assert_eq(call(runner, "echo", "{}"), MEND_OK);
    if (way == BY_BREAK) break;
    if (way == BY_CONTINUE) continue;
    if (way == BY_RETURN) return bodies;
    if (way == BY_GOTO) goto out;
  }
out:
  return bodies;
}

Test(healing, a_scope_may_be_left_in_every_way) {
  for (int way = 0; way < WAYS; way++) {
    const size_t files = mend_test_open_files();
    world w;
    open_world(&w);
    mend_healing_runner *runner = new_runner(&w, NULL);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    cr_assert_eq(leave_by(runner, way, &report), 1, "way %d", way);
    cr_assert_null(mend_healing_boundary(runner), "way %d", way);
    cr_assert_null(mend_healing_current_run(runner), "way %d", way);
    cr_assert_eq(report.status, MEND_OK, "way %d", way);
    cr_assert_str_eq(w.log, OWN_RUN("tool.before tool.after "), "way %d: %s", way, w.log);
    mend_healing_runner_release(runner);
    close_world(&w);
    cr_assert_eq(mend_test_open_files(), files, "way %d", way);
  }
}

Test(healing, nested_scopes_of_one_run_only_count) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_healing_report outer = MEND_HEALING_REPORT_INIT, inner = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT, nested = MEND_SCOPE_OPTIONS_INIT;
  options.ret_report = &outer;
  nested.ret_report = &inner;
  MEND_HEALING_SCOPE(runner, &options) {
    mend_boundary *boundary = mend_healing_boundary(runner);
    MEND_HEALING_SCOPE(runner, &nested) { cr_assert_eq(mend_healing_boundary(runner), boundary); }
    cr_assert_eq(mend_healing_boundary(runner), boundary, "the outer one is still open");
    cr_assert_eq(call(runner, "echo", "{}"), MEND_OK);
  }
  cr_assert_eq(mend_healing_exit(runner, NULL), MEND_EINVAL);
  cr_assert_str_eq(w.log, OWN_RUN("tool.before tool.after "));
  mend_healing_runner_release(runner);
  close_world(&w);
}

Test(healing, a_runner_belongs_to_one_run) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_run *first, *second, *foreign;
  mend_bus *other;
  mend_run_options named = MEND_RUN_OPTIONS_INIT;
  named.id = MEND_STR("first");
  mend_run_new(w.bus, &named, &first, NULL);
  named.id = MEND_STR("second");
  mend_run_new(w.bus, &named, &second, NULL);
  mend_bus_new(NULL, &other, NULL);
  mend_run_new(other, NULL, &foreign, NULL);
  const struct {
    const char *name;
    mend_run *run;
    mend_status want;
    const char *sentence;
  } rows[] = {
      {"of another bus", foreign, MEND_EINVAL, "another bus"},
      {"the first", first, MEND_OK, ""},
      {"again", first, MEND_OK, ""},
      {"no run named: its own", NULL, MEND_OK, ""},
      {"a second, after the first was left", second, MEND_EINVAL, "belongs to run first"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.run = rows[i].run;
    options.ret_report = &report;
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, &options) bodies++;
    cr_assert_eq(bodies, rows[i].want == MEND_OK, "%s", rows[i].name);
    cr_assert_eq(report.status, rows[i].want, "%s", rows[i].name);
    cr_assert_not_null(strstr(report.error.message, rows[i].sentence), "%s: %s", rows[i].name, report.error.message);
  }
  mend_healing_runner_release(runner);
  mend_run_release(first);
  mend_run_release(second);
  mend_run_release(foreign);
  mend_bus_release(other);
  close_world(&w);
}

/* What each of two runners, a and b, does to one run, in turn; and how it goes. */
typedef struct step {
  char runner;
  enum { ENTER, EXIT } what;
  mend_status want;
} step;

static void take_step(const step *s, mend_healing_runner *runner, mend_run *run, const char *name) {
  if (s->what == EXIT) {
    cr_assert_eq(mend_healing_exit(runner, NULL), s->want, "%s: %c", name, s->runner);
    return;
  }
  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  options.run = run;
  options.ret_report = &report;
  cr_assert_eq(mend_healing_enter(runner, &options, &error), s->want, "%s: %c: %s", name, s->runner, error.message);
  if (s->want == MEND_OK) return;
  cr_assert_str_eq(error.message, "run shared: another healing runner protects it already, all would be found and "
                                  "done twice");
  cr_assert_eq(report.status, s->want, "%s", name);
  cr_assert_str_eq(report.error.message, error.message);
  cr_assert_null(mend_healing_boundary(runner), "%s", name);
}

Test(healing, a_run_has_one_runner_at_a_time) {
  static const struct {
    const char *name;
    step steps[7];
    const char *log;
  } rows[] = {
      {"at once",
       {{'a', ENTER, MEND_OK}, {'b', ENTER, MEND_EEXIST}, {'b', EXIT, MEND_EINVAL}, {'a', EXIT, MEND_OK}},
       "healing.started healing.stopped "},
      {"nested, of the same runner",
       {{'a', ENTER, MEND_OK},
        {'a', ENTER, MEND_OK},
        {'a', EXIT, MEND_OK},
        {'b', ENTER, MEND_EEXIST},
        {'a', EXIT, MEND_OK}},
       "healing.started healing.stopped "},
      {"one after the other",
       {{'a', ENTER, MEND_OK}, {'a', EXIT, MEND_OK}, {'b', ENTER, MEND_OK}, {'b', EXIT, MEND_OK}},
       "healing.started healing.stopped healing.started healing.stopped "},
      {"after it was refused",
       {{'a', ENTER, MEND_OK},
        {'b', ENTER, MEND_EEXIST},
        {'a', EXIT, MEND_OK},
        {'b', ENTER, MEND_OK},
        {'a', ENTER, MEND_EEXIST},
        {'b', EXIT, MEND_OK}},
       "healing.started healing.stopped healing.started healing.stopped "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    mend_run_options named = MEND_RUN_OPTIONS_INIT;
    named.id = MEND_STR("shared");
    mend_run *run;
    cr_assert_eq(mend_run_new(w.bus, &named, &run, NULL), MEND_OK);
    mend_healing_runner *a = new_runner(&w, NULL), *b = new_runner(&w, NULL);
    for (const step *s = rows[i].steps; s->runner != 0; s++)
      take_step(s, s->runner == 'a' ? a : b, run, rows[i].name);
    cr_assert_str_eq(w.log, rows[i].log, "%s", rows[i].name);
    mend_healing_runner_release(a);
    mend_healing_runner_release(b);
    mend_run_release(run);
    close_world(&w);
  }
}

enum { ROUNDS = 100 };

typedef struct rivals {
  mend_run *run;
  atomic_int inside, entered, wrong;
} rivals;

typedef struct rival {
  rivals *all;
  mend_healing_runner *runner;
} rival;

static void *enter_often(void *ctx) {
  const rival *self = ctx;
  mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
  options.run = self->all->run;
  for (int i = 0; i < ROUNDS; i++) {
    const mend_status status = mend_healing_enter(self->runner, &options, NULL);
    if (status == MEND_OK) {
      const bool alone = atomic_fetch_add(&self->all->inside, 1) == 0;
      const bool calls = call(self->runner, "echo", "{}") == MEND_OK;
      if (!alone || !calls) atomic_fetch_add(&self->all->wrong, 1);
      atomic_fetch_add(&self->all->entered, 1);
      atomic_fetch_sub(&self->all->inside, 1);
      mend_healing_exit(self->runner, NULL);
    } else if (status != MEND_EEXIST) {
      atomic_fetch_add(&self->all->wrong, 1);
    }
  }
  return NULL;
}

Test(healing, a_run_has_one_runner_at_a_time_on_two_threads) {
  world w;
  open_world(&w);
  rivals all = {.inside = 0};
  rival two[2];
  pthread_t threads[2];
  cr_assert_eq(mend_run_new(w.bus, NULL, &all.run, NULL), MEND_OK);
  mend_options config = MEND_OPTIONS_INIT;
  config.loop.enable = false; /* every round makes the same call */
  for (int i = 0; i < 2; i++) {
    two[i] = (rival){&all, new_runner(&w, &config)};
    cr_assert_eq(pthread_create(&threads[i], NULL, enter_often, &two[i]), 0);
  }
  for (int i = 0; i < 2; i++) {
    pthread_join(threads[i], NULL);
    mend_healing_runner_release(two[i].runner);
  }
  cr_assert_eq(atomic_load(&all.wrong), 0);
  cr_assert(atomic_load(&all.entered) > 0);
  mend_run_release(all.run);
  close_world(&w);
}

/* ---- Whose run it is ---- */

typedef struct run_told {
  char text[256];
  size_t len;
} run_told;

static mend_status hear_of_run(void *ctx, const mend_event *event) {
  run_told *told = ctx;
  const bool begins = event->kind == MEND_EVENT_RUN_STARTED;
  const mend_str what =
      begins ? ((const mend_run_started_event *)event)->source : ((const mend_run_finished_event *)event)->status;
  told->len += (size_t)snprintf(told->text + told->len, sizeof told->text - told->len, "%s(%.*s) ",
                                begins ? "started" : "finished", MEND_STR_ARG(what));
  return MEND_OK;
}

/* Each time it is entered; the caller's own is the caller's to tell. */
Test(healing, tells_of_a_run_of_its_own) {
  static const struct {
    bool own;
    int times;
    bool aborts;
    const char *told;
  } rows[] = {
      {true, 1, false, "started(healing) finished(ok) "},
      {true, 2, false, "started(healing) finished(ok) started(healing) finished(ok) "},
      {true, 1, true, "started(healing) finished(aborted) "},
      {false, 2, true, ""},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    run_told told = {.text = ""};
    mend_run *run = NULL;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    mend_healing_runner *runner = new_runner(&w, NULL);
    cr_assert_eq(mend_bus_subscribe(w.bus, "run.*", hear_of_run, &told, NULL, NULL, NULL), MEND_OK);
    if (!rows[i].own) cr_assert_eq(mend_run_new(w.bus, NULL, &run, NULL), MEND_OK);
    options.run = run;
    for (int time = 0; time < rows[i].times; time++) {
      MEND_HEALING_SCOPE(runner, &options) {
        if (rows[i].aborts) mend_run_abort(mend_healing_current_run(runner), MEND_STR("no"), MEND_STR("me"));
      }
    }
    cr_assert_str_eq(told.text, rows[i].told, "row %zu: %s", i, told.text);
    mend_run_release(run);
    mend_healing_runner_release(runner);
    close_world(&w);
  }
}

/* ---- Reports ---- */

Test(healing, each_exit_fills_in_its_own_report) {
  world w;
  open_world(&w);
  mend_healing_runner *runner = new_runner(&w, NULL);
  mend_healing_report inner = MEND_HEALING_REPORT_INIT, outer = MEND_HEALING_REPORT_INIT;
  cr_assert_eq(mend_healing_enter(runner, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(runner, NULL, NULL), MEND_OK);
  for (int i = 0; i < 4; i++)
    call(runner, "echo", "{}");
  cr_assert_eq(mend_healing_exit(runner, &inner), MEND_OK);
  cr_assert_eq(inner.status, MEND_ABORTED);
  cr_assert_eq(inner.detections, 1u);
  mend_healing_runner_release(runner); /* the last reference: the scope has its own */
  cr_assert_eq(call(runner, "echo", "{}"), MEND_ABORTED);
  cr_assert_eq(mend_healing_exit(runner, &outer), MEND_OK);
  cr_assert_eq(outer.detections, 1u);
  close_world(&w);
}

/* Of an older program: no more is written than it has room for, and the scope is left all the same. */
Test(healing, a_report_is_filled_in_as_far_as_it_goes) {
  static const struct {
    size_t size;
    uint64_t detections;
    char reason;
  } rows[] = {{0, 7, 'x'},
              {offsetof(mend_healing_report, detections), 7, 'x'},
              {offsetof(mend_healing_report, abort_reason), 1, 'x'},
              {sizeof(mend_healing_report), 1, 'l'}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    world w;
    open_world(&w);
    mend_healing_runner *runner = new_runner(&w, NULL);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    report.size = rows[i].size;
    report.detections = 7;
    report.abort_reason[0] = 'x';
    cr_assert_eq(mend_healing_enter(runner, NULL, NULL), MEND_OK);
    for (int n = 0; n < 4; n++)
      call(runner, "echo", "{}");
    cr_assert_eq(mend_healing_exit(runner, &report), MEND_OK);
    cr_assert_eq(report.size, rows[i].size, "row %zu", i);
    cr_assert_eq(report.detections, rows[i].detections, "row %zu", i);
    cr_assert_eq(report.abort_reason[0], rows[i].reason, "row %zu: %c", i, report.abort_reason[0]);
    cr_assert_null(mend_healing_boundary(runner), "row %zu", i);
    mend_healing_runner_release(runner);
    close_world(&w);
  }
}

/* ---- A scope that is not entered says so, where it can, and the log has why ---- */

static void keep_log(void *ctx, mend_log_level level, const char *message) {
  if (level == MEND_LOG_ERROR) snprintf(ctx, 256, "%s", message);
}

Test(healing, a_scope_that_is_not_entered) {
  mend_healing_report report = MEND_HEALING_REPORT_INIT, small = MEND_HEALING_REPORT_INIT;
  small.size = 8;
  const struct {
    mend_scope_options options;
    const char *logged;
  } rows[] = {
      {{.size = 0, .ret_report = &report}, "mend_scope_options"},
      {{.size = sizeof(mend_scope_options), .ret_report = &small}, "mend_healing_report"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    char logged[256] = "";
    mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
    bus_options.log = keep_log;
    bus_options.log_ctx = logged;
    mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
    cr_assert_eq(mend_bus_new(&bus_options, &options.bus, NULL), MEND_OK);
    mend_healing_runner *runner;
    cr_assert_eq(mend_healing_runner_new(&options, &runner, NULL), MEND_OK);
    MEND_HEALING_SCOPE(runner, &rows[i].options) { cr_fail("it was entered"); }
    cr_assert_eq(rows[i].options.ret_report->status, MEND_EINVAL, "row %zu", i);
    cr_assert(rows[i].options.ret_report->error.message[0] != '\0', "row %zu", i);
    cr_assert_not_null(strstr(logged, rows[i].logged), "row %zu: %s", i, logged);
    mend_healing_runner_release(runner);
    mend_bus_release(options.bus);
  }
}

static mend_status fail_to_open(void *ctx, mend_run *run, void **ret_state) {
  (void)run;
  *ret_state = ctx;
  return MEND_EIO;
}

Test(healing, an_enter_that_fails_leaves_nothing) {
  world w;
  open_world(&w);
  const mend_watchdog_vtable vtable = {.size = sizeof vtable, .name = "broken", .open = fail_to_open};
  mend_watchdog *broken;
  mend_watchdog_new(&vtable, NULL, NULL, &broken, NULL);
  mend_healing_runner *runner = runner_with(&w, broken, NULL, NULL);
  const size_t files = mend_test_open_files();
  mend_run *runs[2];
  for (int i = 0; i < 2; i++) {
    mend_run_new(w.bus, NULL, &runs[i], NULL);
    mend_healing_report report = MEND_HEALING_REPORT_INIT;
    mend_scope_options options = MEND_SCOPE_OPTIONS_INIT;
    options.run = runs[i]; /* a failed enter does not bind the runner to its run */
    options.ret_report = &report;
    int bodies = 0;
    MEND_HEALING_SCOPE(runner, &options) bodies++;
    cr_assert_eq(bodies, 0);
    cr_assert_eq(report.status, MEND_EIO);
    cr_assert_not_null(strstr(report.error.message, "broken"), "%s", report.error.message);
    cr_assert_eq(mend_test_open_files(), files);
  }
  cr_assert_str_eq(w.log, "", "%s", w.log);
  mend_run_release(runs[0]);
  mend_run_release(runs[1]);
  mend_healing_runner_release(runner);
  mend_watchdog_release(broken);
  close_world(&w);
}

/* Whoever hears of a scope while it is entered cannot enter or leave it: that would wait for itself. */
typedef struct intruder {
  mend_healing_runner *runner;
  mend_status entered, left;
  mend_error error;
} intruder;

static mend_status intrude(void *ctx, const mend_event *event) {
  intruder *self = ctx;
  (void)event;
  self->entered = mend_healing_enter(self->runner, NULL, &self->error);
  self->left = mend_healing_exit(self->runner, NULL);
  return MEND_OK;
}

Test(healing, is_not_entered_while_it_is_entered) {
  world w;
  open_world(&w);
  intruder self = {.runner = new_runner(&w, NULL), .error = MEND_ERROR_INIT};
  cr_assert_eq(mend_bus_subscribe(w.bus, "healing.started", intrude, &self, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_healing_enter(self.runner, NULL, NULL), MEND_OK);
  cr_assert_eq(self.entered, MEND_EDEADLK);
  cr_assert_not_null(strstr(self.error.message, "is being entered"), "%s", self.error.message);
  cr_assert_eq(self.left, MEND_EDEADLK);
  cr_assert_eq(call(self.runner, "echo", "{}"), MEND_OK);
  cr_assert_eq(mend_healing_exit(self.runner, NULL), MEND_OK);
  mend_healing_runner_release(self.runner);
  close_world(&w);
}

/* ---- Out of memory at every point: an error, nothing left, and the next enter works ---- */

static mend_status scenario(world *w) {
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  options.bus = w->bus;
  options.tools = w->tools;
  mend_healing_runner *runner;
  mend_status status = mend_healing_runner_new(&options, &runner, NULL);
  if (status != MEND_OK) return status;
  status = mend_healing_enter(runner, NULL, NULL);
  if (status == MEND_OK) {
    status = call(runner, "echo", "{}");
    mend_healing_exit(runner, NULL);
  }
  mend_healing_runner_release(runner);
  return status;
}

Test(healing, out_of_memory_at_every_point) {
  for (size_t n = 1;; n++) {
    world w;
    open_world(&w);
    mend_test_allocator_arm(&w.memory, n, false);
    const mend_status status = scenario(&w);
    const bool failed = mend_test_allocator_failed(&w.memory);
    mend_test_allocator_arm(&w.memory, 0, false);
    cr_assert(status == MEND_OK || status == MEND_ENOMEM || status == MEND_EFAILED, "point %zu: %s", n,
              mend_status_name(status));
    cr_assert_eq(scenario(&w), MEND_OK, "after a failure at point %zu everything works", n);
    close_world(&w);
    if (!failed) {
      cr_assert(n > 10, "only %zu points", n);
      break;
    }
  }
}
