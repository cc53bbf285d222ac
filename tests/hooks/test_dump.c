/* What a boundary tells people who debug, and hooks that want to know of its run. */
#include "kinds_world.h"

/* ---- The dump ---- */

static char *dump(kinds_world *w) {
  char *text = NULL;
  cr_assert_eq(mend_boundary_dump(w->boundary, &w->memory.base, &text), MEND_OK);
  return text;
}

static void expect_dumped(kinds_world *w, const char *const lines[]) {
  char *text = dump(w);
  for (size_t i = 0; lines[i] != NULL; i++)
    cr_assert(strstr(text, lines[i]) != NULL, "%s\nis not in\n%s", lines[i], text);
  mend_free(&w->memory.base, text);
}

static void expect_no_empty_heading(kinds_world *w) {
  char *text = dump(w);
  cr_assert(strstr(text, "tools that") == NULL && strstr(text, "watchdog hooks") == NULL, "%s", text);
  mend_free(&w->memory.base, text);
}

typedef struct dumping_tool {
  kinds_world *w;
  const char *const *lines;
} dumping_tool;

static mend_status dump_here(void *ctx, mend_call *call) {
  dumping_tool *self = ctx;
  expect_dumped(self->w, self->lines);
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(dump, lines) {
  static const char *const idle[] = {"run \"", "the run: not aborted\n", "open calls: 0\n",
                                     "watchdog hooks:\n  first: next detection 0\n", NULL};
  static const char *const open[] = {"open calls: 2\n", "  1 \"keep\", attempt 1, asynchronous, for 2000 ms\n",
                                     "  2 \"dump\", attempt 1, blocking, for 0 ms\n", NULL};
  static const char *const ended[] = {
      "the run: aborted: \"enough\" by \"me\"\n", "open calls: 0\n",
      "tools that run on after their calls:\n  1 \"keep\", attempt 1, asynchronous, cancelled\n",
      "pool: 1 threads, 0 busy, 0 calls waiting\n", NULL};
  kinds_world w;
  kinds_open(&w);
  handover kept = HANDOVER_INIT;
  dumping_tool dumping = {.w = &w, .lines = open};
  kinds_add(&w, "keep", MEND_TOOL_ASYNC, keep_call, &kept);
  kinds_add(&w, "dump", MEND_TOOL_BLOCKING, dump_here, &dumping);
  expect_no_empty_heading(&w);
  cr_assert_eq(mend_boundary_add_watchdog_hook(w.boundary, "first", NULL, NULL, NULL), MEND_OK);
  expect_dumped(&w, idle);
  kinds_start(&w, "keep");
  mend_call *call = receive_call(&kept);
  mend_clock_advance(w.clock, 2 * MEND_SECOND_NS);
  cr_assert_eq(kinds_call(&w, "dump", NULL), MEND_OK);
  static const char *const none[] = {NULL};
  dumping.lines = none;
  kinds_add(&w, "pooled", MEND_TOOL_POOLED, dump_here, &dumping);
  cr_assert_eq(kinds_call(&w, "pooled", NULL), MEND_OK);
  mend_run_abort(w.run, MEND_STR("enough"), MEND_STR("me"));
  while (mend__pool_count(mend__tools_pool_find(w.tools)).busy > 0)
    sched_yield();
  expect_dumped(&w, ended);
  mend_call_release(call);
  kinds_close(&w);
}

/* Names that would act on who reads them are refused or quoted. */
Test(dump, shows_as_itself) {
  static const char *const names[] = {"", "a\x1b[2J", "a\nb", "a\xc2\x9b", "\xe2\x80\xae", "\xff", NULL};
  static const char *const aborted[] = {"the run: aborted: \"a\\u001b[2J\\u202e\" by \"\\u009b\"\n", NULL};
  kinds_world w;
  kinds_open(&w);
  for (size_t i = 0; names[i] != NULL; i++)
    cr_assert_eq(mend_boundary_add_watchdog_hook(w.boundary, names[i], NULL, NULL, NULL), MEND_EINVAL, "%zu", i);
  cr_assert_eq(mend_boundary_add_watchdog_hook(NULL, NULL, NULL, NULL, NULL), MEND_EINVAL);
  mend_run_abort(w.run, MEND_STR("a\x1b[2J\xe2\x80\xae"), MEND_STR("\xc2\x9b"));
  expect_dumped(&w, aborted);
  char *text;
  cr_assert_eq(mend_boundary_dump(NULL, NULL, &text), MEND_EINVAL);
  kinds_close(&w);
}

Test(dump, without_memory) {
  kinds_world w;
  kinds_open(&w);
  bool failed = true;
  for (size_t fail_at = 1; failed; fail_at++) {
    char *text = NULL;
    mend_test_allocator_arm(&w.memory, fail_at, false);
    const mend_status status = mend_boundary_dump(w.boundary, &w.memory.base, &text);
    failed = mend_test_allocator_failed(&w.memory);
    cr_assert_eq(status, failed ? MEND_ENOMEM : MEND_OK);
    if (status == MEND_OK) mend_free(&w.memory.base, text);
  }
  kinds_close(&w);
}

/* ---- Attaching ---- */

typedef struct attached {
  const char *name;
  mend_status status;
  const char *sentence; /* NULL: it says nothing */
  log_text *log;
} attached;

static mend_status attach(void *ctx, mend_run *run, mend_error *error) {
  const attached *self = ctx;
  cr_assert_not_null(run);
  note(self->log, "+%s", self->name);
  if (self->sentence != NULL) return mend_error_set(error, self->status, "%s", self->sentence);
  return self->status;
}

static void detach(void *ctx, mend_run *run) {
  const attached *self = ctx;
  cr_assert_not_null(run);
  note(self->log, "-%s", self->name);
}

Test(dump, attached_hooks) {
  static const struct {
    mend_status status; /* of the second of three */
    const char *sentence;
    const char *message, *log;
  } rows[] = {{MEND_OK, NULL, NULL, "+a+b+c-a-b-c"},
              {MEND_EEXIST, "one is enough", "hook b: one is enough", "+a+b-a"},
              {MEND_EIO, NULL, "hook b: input or output failed", "+a+b-a"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    log_text log = {.len = 0};
    attached hooks[] = {{"a", MEND_OK, NULL, &log},
                        {"b", rows[i].status, rows[i].sentence, &log},
                        {"c", MEND_OK, NULL, &log},
                        {"d", MEND_OK, NULL, &log}};
    mend_error error = MEND_ERROR_INIT;
    mend_boundary *boundary = NULL;
    mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
    options.run = w.run;
    options.hooks = w.hooks;
    for (size_t k = 0; k < 4; k++) {
      /* The last one comes too late for the boundary. */
      if (k == 3) cr_assert_eq(mend_boundary_new(&options, &boundary, &error), rows[i].status);
      const mend_hook hook = {.size = sizeof hook, .name = hooks[k].name, .attach = attach, .detach = detach};
      cr_assert_eq(mend_hooks_add(w.hooks, &hook, &hooks[k], NULL, NULL), MEND_OK);
    }
    if (rows[i].message != NULL) cr_assert_str_eq(error.message, rows[i].message);
    mend_boundary_release(boundary);
    cr_assert_str_eq(log.text, rows[i].log);
    kinds_close(&w);
  }
}

/* ---- Calls within calls ---- */

typedef struct within {
  kinds_world *w;
  uint64_t outer, told;
} within;

static mend_status look_within(void *ctx, const mend_event *event) {
  within *self = ctx;
  const mend_tool_before_event *before = (const mend_tool_before_event *)event;
  if (event->call != self->outer) self->told = before->within;
  return MEND_OK;
}

static mend_status call_within(void *ctx, mend_call *call) {
  within *self = ctx;
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  self->outer = mend_call_number(call);
  options.within = call;
  mend_boundary_call(self->w->boundary, MEND_STR("missing"), (mend_str)MEND_ABSENT, &options, &result);
  mend_result_clear(&result);
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(dump, within) {
  kinds_world w;
  kinds_open(&w);
  within self = {.w = &w};
  cr_assert_eq(mend_bus_subscribe(w.bus, "tool.before", look_within, &self, NULL, NULL, NULL), MEND_OK);
  kinds_add(&w, "outer", MEND_TOOL_BLOCKING, call_within, &self);
  cr_assert_eq(kinds_call(&w, "outer", NULL), MEND_OK);
  cr_assert_eq(self.outer, 1u);
  cr_assert_eq(self.told, 1u);
  cr_assert_eq(kinds_call(&w, "missing", NULL), MEND_EFAILED);
  cr_assert_eq(self.told, MEND_NONE);
  kinds_close(&w);
}
