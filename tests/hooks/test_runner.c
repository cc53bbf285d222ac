#include "hook_world.h"

#include <math.h>

/* ---- Cases from tests/data/hooks/runner.cases ---- */

enum { WORDS_MAX = 12, LOG_SIZE = 4096 };

typedef struct script {
  hook_world world;
  char log[LOG_SIZE], expected[LOG_SIZE];
  size_t log_len, expected_len;
  char title[200];
  mend_hooks *hooks;
  mend__phase phase;
  unsigned how;
  mend_decision_kind earlier;
  unsigned failures, told; /* of hooks: how many, and how many of them the log was told of */
  char failure[400];       /* what it must be told next */
} script;

typedef struct script_hook {
  script *script;
  char name[16];
  bool absent, fails, unsaid, corrected;
  uint64_t takes_ns;
  mend_decision_kind kind;
  char first[64], second[64]; /* the stub, or the tool and the arguments; "-": absent */
} script_hook;

static void write_log(script *all, const char *line) {
  const int len = snprintf(all->log + all->log_len, LOG_SIZE - all->log_len, "%s\n", line);
  cr_assert(len > 0 && (size_t)len < LOG_SIZE - all->log_len);
  all->log_len += (size_t)len;
}

static mend_str or_absent(const char *text) {
  return strcmp(text, "-") == 0 ? (mend_str)MEND_ABSENT : mend_str_from(text);
}

static mend_status decide(const script_hook *self, mend_decision *decision) {
  char reason[32];
  snprintf(reason, sizeof reason, "of %s", self->name);
  const mend_str why = mend_str_from(reason), first = or_absent(self->first), second = or_absent(self->second);
  switch (self->kind) {
  case MEND_DECISION_CONTINUE: return MEND_OK;
  case MEND_DECISION_SKIP: return mend_decision_skip(decision, why, first);
  case MEND_DECISION_REDIRECT: return mend_decision_redirect(decision, why, first, second);
  case MEND_DECISION_ABORT: return mend_decision_abort(decision, why);
  }
  return MEND_EINVAL;
}

static mend_status act(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  script_hook *self = ctx;
  char line[32];
  snprintf(line, sizeof line, "called %s", self->name);
  write_log(self->script, line);
  if (call->call != 7 || !text_is(call->tool_name, "t") || call->state != self->script) return MEND_EINVAL;
  if (self->takes_ns > 0) mend_clock_advance(self->script->world.clock, self->takes_ns);
  const mend_status status = decide(self, decision);
  if (self->fails) return MEND_EIO;
  if (status != MEND_OK && self->corrected)
    return mend_decision_skip_text(decision, MEND_STR("corrected"), mend_str_from(self->first));
  return self->unsaid ? MEND_OK : status;
}

static void free_hook(void *ctx) { free(ctx); }

/* The log is told of it right after the event. */
static void count_failure(script *all, const mend_hook_failed_event *it) {
  cr_assert_eq(all->told, all->failures, "%s", all->title);
  all->failures++;
  snprintf(all->failure, sizeof all->failure, "hook %.*s failed %s a call, which %s: %.*s", MEND_STR_ARG(it->hook),
           all->phase == MEND__PHASE_ON_ERROR ? "after the failure of" : it->phase.ptr,
           it->fail_closed ? "is aborted" : "goes on, for the hook was not added fail_closed", MEND_STR_ARG(it->error));
}

static void on_log(void *ctx, mend_log_level level, const char *message) {
  script *all = ctx;
  cr_assert_eq(level, MEND_LOG_WARNING);
  cr_assert_eq(all->failures, ++all->told, "%s", message);
  cr_assert_str_eq(message, all->failure);
}

static mend_status log_event(void *ctx, const mend_event *event) {
  script *all = ctx;
  char line[400] = "unexpected event";
  if (event->call != 7 || !text_is(event->call_name, "seven")) {
    snprintf(line, sizeof line, "event of another call");
  } else if (event->kind == MEND_EVENT_HOOK_SHADOWED) {
    const mend_hook_shadowed_event *it = (const mend_hook_shadowed_event *)event;
    snprintf(line, sizeof line, "shadowed %.*s %.*s by %.*s", MEND_STR_ARG(it->hook), MEND_STR_ARG(it->decision),
             MEND_STR_ARG(it->active_hook.ptr != NULL ? it->active_hook : MEND_STR("-")));
    if (!text_is(it->tool_name, "t")) strcat(line, " without its tool");
  } else if (event->kind == MEND_EVENT_HOOK_FAILED) {
    const mend_hook_failed_event *it = (const mend_hook_failed_event *)event;
    snprintf(line, sizeof line, "failed %.*s %.*s%s %.*s", MEND_STR_ARG(it->hook), MEND_STR_ARG(it->phase),
             it->fail_closed ? " closed" : "", MEND_STR_ARG(it->error));
    if (!text_is(it->tool_name, "t")) strcat(line, " without its tool");
    count_failure(all, it);
  }
  write_log(all, line);
  return MEND_OK;
}

static void log_decision(script *all, const mend_decision *decision, mend_str hook) {
  char line[400];
  const mend_str none = MEND_STR("-"), reason = mend_decision_reason(decision);
  int len = snprintf(line, sizeof line, "%s %.*s %.*s", mend_decision_kind_name(mend_decision_get_kind(decision)),
                     MEND_STR_ARG(hook.ptr != NULL ? hook : none), MEND_STR_ARG(reason.ptr != NULL ? reason : none));
  const mend_str stub = mend_decision_stub(decision);
  if (stub.ptr != NULL) snprintf(line + len, sizeof line - (size_t)len, " %.*s", MEND_STR_ARG(stub));
  if (mend_decision_get_kind(decision) == MEND_DECISION_REDIRECT) {
    const mend_str tool = mend_decision_tool(decision), args = mend_decision_args(decision);
    snprintf(line + len, sizeof line - (size_t)len, " %.*s %.*s", MEND_STR_ARG(tool.ptr != NULL ? tool : none),
             MEND_STR_ARG(args.ptr != NULL ? args : none));
  }
  write_log(all, line);
}

/* ---- Reading a case ---- */

static mend_decision_kind kind_named(const char *word) {
  for (mend_decision_kind kind = MEND_DECISION_CONTINUE; kind <= MEND_DECISION_ABORT; kind++) {
    if (strcmp(mend_decision_kind_name(kind), word) == 0) return kind;
  }
  cr_fail("no decision: %s", word);
  return MEND_DECISION_CONTINUE;
}

static size_t split(char *line, char *words[WORDS_MAX]) {
  size_t count = 0;
  for (char *rest = line, *word; (word = strtok_r(rest, " ", &rest)) != NULL;) {
    cr_assert(count < WORDS_MAX);
    words[count++] = word;
  }
  return count;
}

/* The words behind a hook's name. */
static void read_hook(script_hook *self, mend_hook_options *options, char **words, size_t count) {
  strcpy(self->first, "-");
  strcpy(self->second, "-");
  size_t texts = 0;
  for (size_t i = 0; i < count; i++) {
    if (strcmp(words[i], "closed") == 0)
      options->fail_closed = true;
    else if (strcmp(words[i], "limit") == 0)
      options->time_limit_s = strtod(words[++i], NULL);
    else if (strcmp(words[i], "takes") == 0)
      self->takes_ns = (uint64_t)(strtod(words[++i], NULL) * 1e9 + 0.5);
    else if (strcmp(words[i], "absent") == 0)
      self->absent = true;
    else if (strcmp(words[i], "fail") == 0)
      self->fails = true;
    else if (strcmp(words[i], "unsaid") == 0)
      self->unsaid = true;
    else if (strcmp(words[i], "corrected") == 0)
      self->corrected = true;
    else if (self->kind != MEND_DECISION_CONTINUE)
      strcpy(texts++ == 0 ? self->first : self->second, words[i]);
    else
      self->kind = kind_named(words[i]);
  }
}

static void add_hook(script *all, char **words, size_t count) {
  script_hook *self = calloc(1, sizeof *self);
  self->script = all;
  strcpy(self->name, words[1]);
  mend_hook_options options = MEND_HOOK_OPTIONS_INIT;
  read_hook(self, &options, words + 2, count - 2);
  mend_hook hook = {.size = sizeof hook, .name = self->name, .destroy = free_hook};
  if (!self->absent) {
    if (all->phase == MEND__PHASE_BEFORE) hook.before = act;
    if (all->phase == MEND__PHASE_AFTER) hook.after = act;
    if (all->phase == MEND__PHASE_ON_ERROR) hook.on_error = act;
  }
  cr_assert_eq(mend_hooks_add(all->hooks, &hook, self, &options, NULL), MEND_OK);
}

static void read_line(script *all, char *line) {
  char *words[WORDS_MAX];
  const size_t count = split(line, words);
  if (strcmp(words[0], "phase") == 0) {
    all->phase = strcmp(words[1], "after") == 0 ? MEND__PHASE_AFTER : MEND__PHASE_ON_ERROR;
  } else if (strcmp(words[0], "ask") == 0) {
    for (size_t i = 1; i < count; i++) {
      all->how |= strcmp(words[i], "ignore_redirects") == 0 ? MEND__ASK_IGNORE_REDIRECTS : MEND__ASK_FAIL_CLOSED_ONLY;
    }
  } else if (strcmp(words[0], "earlier") == 0) {
    all->earlier = kind_named(words[1]);
  } else if (strcmp(words[0], "hook") == 0) {
    add_hook(all, words, count);
  } else {
    cr_assert_str_eq(words[0], "log", "unknown line in case \"%s\"", all->title);
  }
}

/* ---- Running a case ---- */

static void begin_case(script *all, const char *title) {
  *all = (script){.phase = MEND__PHASE_BEFORE};
  snprintf(all->title, sizeof all->title, "%s", title);
  hook_world_open_logged(&all->world, on_log, all);
  cr_assert_eq(mend_bus_subscribe(all->world.bus, "*", log_event, all, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_new(&all->world.memory.base, &all->hooks), MEND_OK);
}

static mend_status ask_publicly(script *all, const mend_hook_call *call, mend_decision *decision, mend_str *hook) {
  switch (all->phase) {
  case MEND__PHASE_AFTER: return mend_hooks_after(all->hooks, call, decision, hook);
  case MEND__PHASE_ON_ERROR: return mend_hooks_on_error(all->hooks, call, decision, hook);
  case MEND__PHASE_BEFORE: break;
  }
  return mend_hooks_before(all->hooks, call, decision, hook);
}

static mend_status ask(script *all, const mend_hook_call *call, mend_decision *decision, mend_str *hook) {
  if (all->earlier == MEND_DECISION_CONTINUE && all->how == MEND__ASK_ALL) {
    mend_decision_abort(decision, MEND_STR("to be overwritten"));
    return ask_publicly(all, call, decision, hook);
  }
  const mend_str why = MEND_STR("of watchdog");
  if (all->earlier == MEND_DECISION_SKIP) mend_decision_skip(decision, why, MEND_STR("\"earlier\""));
  if (all->earlier == MEND_DECISION_REDIRECT) mend_decision_redirect(decision, why, why, (mend_str)MEND_ABSENT);
  if (all->earlier != MEND_DECISION_CONTINUE) *hook = MEND_STR("watchdog");
  return mend__hooks_ask(all->hooks, all->phase, call, all->how, decision, hook);
}

static void run_case(script *all) {
  mend_hook_call call = {.size = sizeof call, .run = all->world.run, .call = 7, .call_name = MEND_STR("seven")};
  call.tool_name = MEND_STR("t");
  call.state = all;
  mend_decision *decision;
  mend_str hook = MEND_ABSENT;
  cr_assert_eq(mend_decision_new(&all->world.memory.base, &decision), MEND_OK);
  const mend_status status = ask(all, &call, decision, &hook);
  const bool aborts = mend_decision_get_kind(decision) == MEND_DECISION_ABORT;
  cr_assert_eq(status, aborts ? MEND_ABORTED : MEND_OK, "%s", all->title);
  log_decision(all, decision, hook);
  mend_decision_free(decision);
  mend_hooks_release(all->hooks);
  hook_world_close(&all->world);
  cr_assert_str_eq(all->log, all->expected, "%s:\n%s", all->title, all->log);
  cr_assert_eq(all->told, all->failures, "%s", all->title);
}

static void expect(script *all, const char *line) {
  const int len = snprintf(all->expected + all->expected_len, LOG_SIZE - all->expected_len, "%s\n", line);
  cr_assert(len > 0 && (size_t)len < LOG_SIZE - all->expected_len);
  all->expected_len += (size_t)len;
}

Test(runner, cases) {
  char *text = mend_test_read("hooks/runner.cases", NULL);
  static script all;
  size_t cases = 0;
  for (char *rest = text, *line; (line = strsep(&rest, "\n")) != NULL;) {
    if (line[0] == '#' || line[0] == '\0') continue;
    if (strncmp(line, "case ", 5) == 0) {
      if (cases++ > 0) run_case(&all);
      begin_case(&all, line + 5);
    } else if (strncmp(line, "  ", 2) == 0) {
      expect(&all, line + 2);
    } else {
      read_line(&all, line);
    }
  }
  run_case(&all);
  free(text);
  cr_assert_eq(cases, 43u, "%zu", cases);
}

/* ---- What is refused ---- */

#define X16 "xxxxxxxxxxxxxxxx"

static mend_status continue_on(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  (void)decision;
  return MEND_OK;
}

static void count_destroy(void *ctx) { ++*(unsigned *)ctx; }

Test(runner, what_is_refused) {
  static const struct {
    size_t size, options_size;
    const char *name;
    double limit_s;
    const char *sentence; /* NULL: it is taken; "already": MEND_EEXIST, else MEND_EINVAL */
  } rows[] = {
      {sizeof(mend_hook), sizeof(mend_hook_options), "a", 0, NULL},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a", 1e300,
       "hook a: one of this name is there already, and events"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "A", 1e300, NULL},
      {sizeof(mend_hook), sizeof(mend_hook_options), X16 X16 X16 "xxxxxxxxxxxxxxx", 0.001, NULL},
      {sizeof(mend_hook), offsetof(mend_hook_options, time_limit_s), "an older header", -1, NULL},
      {0, sizeof(mend_hook_options), "a", 0, "mend_hook: size is 0"},
      {sizeof(mend_hook), 0, "a", 0, "mend_hook_options: size is 0"},
      {sizeof(mend_hook), sizeof(mend_hook_options), NULL, 0, "mend_hook.name: none, expected 1 to 63 bytes"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "", 0, "mend_hook.name: none, expected 1 to 63 bytes"},
      {sizeof(mend_hook), sizeof(mend_hook_options), X16 X16 X16 X16, 0, "mend_hook.name: \"xxxxxxxxxx"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a\x1b[2J", 0, "mend_hook.name: expected UTF-8 without control"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a\xe2\x80\xae", 0, "mend_hook.name: expected UTF-8 without"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a", -0.5, "mend_hook_options.time_limit_s: -0.5 is out"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a", MEND_NAN, "mend_hook_options.time_limit_s: NaN is out"},
      {sizeof(mend_hook), sizeof(mend_hook_options), "a", (double)INFINITY,
       "mend_hook_options.time_limit_s: infinity is out"},
  };
  mend_hooks *hooks;
  cr_assert_eq(mend_hooks_new(NULL, &hooks), MEND_OK);
  unsigned taken = 0, destroyed = 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend_hook hook = {rows[i].size, rows[i].name, continue_on, NULL, NULL, count_destroy, NULL, NULL};
    const mend_hook_options options = {rows[i].options_size, false, rows[i].limit_s};
    mend_error error = {.status = MEND_OK};
    const mend_status status = mend_hooks_add(hooks, &hook, &destroyed, &options, &error);
    const bool is_there = rows[i].sentence != NULL && strstr(rows[i].sentence, "already") != NULL;
    const mend_status refused = is_there ? MEND_EEXIST : MEND_EINVAL;
    cr_assert_eq(status, rows[i].sentence == NULL ? MEND_OK : refused, "row %zu: %s", i, error.message);
    taken += status == MEND_OK;
    if (status != MEND_OK) cr_assert(strstr(error.message, rows[i].sentence) != NULL, "row %zu: %s", i, error.message);
  }
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_hooks_add(hooks, NULL, NULL, NULL, &error), MEND_EINVAL);
  cr_assert_str_eq(error.message, "mend_hook: NULL, expected one");
  const mend_hook again = {.size = sizeof again, .name = "again", .before = continue_on};
  cr_assert_eq(mend_hooks_add(NULL, &again, NULL, NULL, NULL), MEND_EINVAL);
  cr_assert_eq(destroyed, 0u);

  mend_decision *decision;
  cr_assert_eq(mend_decision_new(NULL, &decision), MEND_OK);
  const mend_hook_call sizeless = {.size = 0};
  cr_assert_eq(mend_hooks_before(hooks, NULL, decision, NULL), MEND_EINVAL);
  cr_assert_eq(mend_hooks_before(hooks, &sizeless, decision, NULL), MEND_EINVAL);
  const mend_hook_call call = {.size = sizeof call};
  cr_assert_eq(mend_hooks_before(NULL, &call, decision, NULL), MEND_EINVAL);
  cr_assert_eq(mend_hooks_before(hooks, &call, NULL, NULL), MEND_EINVAL);
  mend_decision_free(decision);
  mend_hooks_release(hooks);
  mend_hooks_release(NULL);
  cr_assert_eq(destroyed, taken);
}

/* ---- Without a run, with calls of an older header, from inside ---- */

typedef struct watcher {
  mend_hooks *hooks;
  unsigned calls, destroyed, added;
  uint64_t call, within;
  uint32_t attempt;
  mend_status status;
} watcher;

static void note_destroy(void *ctx) { ((watcher *)ctx)->destroyed++; }

static mend_status watch(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  watcher *self = ctx;
  self->calls++;
  self->call = call->call;
  self->attempt = call->attempt;
  self->within = call->within;
  (void)decision;
  return self->status;
}

/* Takes longer than its limit of a nanosecond. */
static mend_status dawdle(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  const uint64_t start_ns = mend_clock_now(mend_clock_real()).mono_ns;
  while (mend_clock_now(mend_clock_real()).mono_ns < start_ns + 1000) {
  }
  mend_decision_skip(decision, MEND_STR("late"), (mend_str)MEND_ABSENT);
  return watch(ctx, call, decision);
}

static mend_status add_watcher(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  watcher *self = ctx;
  char name[16];
  snprintf(name, sizeof name, "added %u", self->added++);
  const mend_hook hook = {.size = sizeof hook, .name = name, .before = watch};
  self->status = mend_hooks_add(self->hooks, &hook, self, NULL, NULL);
  (void)call;
  (void)decision;
  return MEND_OK;
}

static mend_status drop_hooks(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  watcher *self = ctx;
  mend_hooks_release(self->hooks);
  (void)call;
  return mend_decision_abort(decision, mend_str_from(self->destroyed == 0 ? "still there" : "gone"));
}

Test(runner, without_a_run) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_decision *decision;
  watcher self = {.status = MEND_OK};
  cr_assert_eq(mend_hooks_new(&memory.base, &self.hooks), MEND_OK);
  cr_assert_eq(mend_decision_new(&memory.base, &decision), MEND_OK);

  /* an hour's limit, in real time; then one that is over */
  mend_hook hook = {.size = sizeof hook, .name = "quick", .before = watch};
  mend_hook_options options = {sizeof options, true, 3600};
  cr_assert_eq(mend_hooks_add(self.hooks, &hook, &self, &options, NULL), MEND_OK);
  mend_hook_call call = {.size = offsetof(mend_hook_call, attempt), .call_name = MEND_STR("12")};
  mend_str name = MEND_STR("to be overwritten");
  cr_assert_eq(mend_hooks_before(self.hooks, &call, decision, &name), MEND_OK);
  cr_assert(text_is(name, NULL));
  cr_assert_eq(self.call, 12u, "a name is a number");
  cr_assert_eq(self.attempt, 1u, "attempts count from 1");
  cr_assert_eq(self.within, MEND_NONE, "said by nobody");
  call.call = 5;
  cr_assert_eq(mend_hooks_before(self.hooks, &call, decision, NULL), MEND_OK);
  cr_assert_eq(self.call, 5u);
  hook = (mend_hook){.size = sizeof hook, .name = "slow", .before = dawdle};
  options.time_limit_s = 1e-9;
  cr_assert_eq(mend_hooks_add(self.hooks, &hook, &self, &options, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_before(self.hooks, &call, decision, &name), MEND_ABORTED);
  cr_assert(text_is(name, "slow"));
  cr_assert(strstr(mend_decision_reason(decision).ptr, "hook slow failed: returned after ") != NULL);
  cr_assert_eq(self.calls, 4u);
  mend_hooks_release(self.hooks);

  /* one that is added meanwhile waits for the next */
  self = (watcher){.status = MEND_OK};
  cr_assert_eq(mend_hooks_new(&memory.base, &self.hooks), MEND_OK);
  hook = (mend_hook){.size = sizeof hook, .name = "adds", .before = add_watcher};
  cr_assert_eq(mend_hooks_add(self.hooks, &hook, &self, NULL, NULL), MEND_OK);
  for (unsigned i = 0; i < 5; i++) {
    self.calls = 0;
    cr_assert_eq(mend_hooks_before(self.hooks, &call, decision, NULL), MEND_OK);
    cr_assert_eq(self.status, MEND_OK);
    cr_assert_eq(self.calls, i);
  }

  /* one that drops the last reference */
  hook = (mend_hook){.size = sizeof hook, .name = "drops", .after = drop_hooks, .destroy = note_destroy};
  cr_assert_eq(mend_hooks_add(self.hooks, &hook, &self, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_hooks_retain(self.hooks), self.hooks);
  mend_hooks_release(self.hooks);
  cr_assert_eq(mend_hooks_after(self.hooks, &call, decision, NULL), MEND_ABORTED);
  cr_assert(text_is(mend_decision_reason(decision), "still there"));
  cr_assert_eq(self.destroyed, 1u);
  mend_decision_free(decision);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Out of memory ---- */

static mend_status skip_by(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  return mend_decision_skip(decision, MEND_STR("why"), MEND_STR("1"));
}

static mend_status fail_by(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  (void)call;
  (void)decision;
  return MEND_EIO;
}

/* Makes the hooks and asks them; in whatever fails, a hook that was added fail-closed and was asked has aborted. */
static void live_without_memory(hook_world *world, mend_decision *decision) {
  const mend_hook skips = {.size = sizeof skips, .name = "skips", .before = skip_by};
  const mend_hook fails = {.size = sizeof fails, .name = "fails", .before = fail_by};
  const mend_hook_options closed = {sizeof closed, true, 0};
  const mend_hook_call call = {.size = sizeof call, .run = world->run, .tool_name = MEND_STR("t")};
  mend_hooks *hooks;
  if (mend_hooks_new(&world->memory.base, &hooks) != MEND_OK) return;
  const bool first = mend_hooks_add(hooks, &skips, NULL, NULL, NULL) == MEND_OK;
  mend_status status = mend_hooks_before(hooks, &call, decision, NULL);
  cr_assert_eq(status, MEND_OK);
  const mend_decision_kind kind = mend_decision_get_kind(decision);
  cr_assert(kind == MEND_DECISION_CONTINUE || (first && kind == MEND_DECISION_SKIP));
  if (mend_hooks_add(hooks, &fails, NULL, &closed, NULL) == MEND_OK) {
    cr_assert_eq(mend_hooks_before(hooks, &call, decision, NULL), MEND_ABORTED);
    cr_assert_eq(mend_decision_get_kind(decision), MEND_DECISION_ABORT);
    cr_assert(mend_decision_reason(decision).len > 0);
  }
  mend_hooks_release(hooks);
}

Test(runner, out_of_memory) {
  hook_world world;
  hook_world_open(&world);
  mend_decision decision;
  mend__decision_init(&decision, &world.memory.base);
  live_without_memory(&world, &decision); /* the bus keeps a record of the thread */
  mend__decision_clear(&decision);
  const size_t held = atomic_load(&world.memory.blocks);
  for (int after = 0; after < 2; after++) {
    size_t fail_at = 1;
    for (bool failed = true; failed; fail_at++) {
      mend_test_allocator_arm(&world.memory, fail_at, after != 0);
      live_without_memory(&world, &decision);
      failed = mend_test_allocator_failed(&world.memory);
      mend_test_allocator_arm(&world.memory, 0, false);
      mend__decision_clear(&decision);
      cr_assert_eq(atomic_load(&world.memory.blocks), held, "allocation %zu", fail_at);
    }
    cr_assert(fail_at > 5, "%zu", fail_at);
  }
  hook_world_close(&world);
}

/* ---- All at once ---- */

enum { ASKERS = 2, ADDERS = 2, ADDED = 200 };

typedef struct crowd {
  mend_hooks *hooks;
  mend_run *run;
  atomic_uint working, added, calls, events;
} crowd;

static mend_status count_call(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  crowd *all = ctx;
  const unsigned calls = atomic_fetch_add(&all->calls, 1);
  (void)call;
  return calls % 3 == 0 ? mend_decision_skip(decision, MEND_STR("why"), (mend_str)MEND_ABSENT) : MEND_OK;
}

static mend_status count_event(void *ctx, const mend_event *event) {
  (void)event;
  atomic_fetch_add(&((crowd *)ctx)->events, 1);
  return MEND_OK;
}

static void *add_hooks(void *ctx) {
  crowd *all = ctx;
  for (int i = 0; i < ADDED; i++) {
    char name[32];
    snprintf(name, sizeof name, "counts %u", atomic_fetch_add(&all->added, 1));
    const mend_hook hook = {.size = sizeof hook, .name = name, .before = count_call};
    mend_hooks_add(all->hooks, &hook, all, NULL, NULL);
  }
  atomic_fetch_sub(&all->working, 1);
  return NULL;
}

static void *ask_hooks(void *ctx) {
  crowd *all = ctx;
  const mend_hook_call call = {.size = sizeof call, .run = all->run, .tool_name = MEND_STR("t")};
  mend_decision *decision;
  if (mend_decision_new(NULL, &decision) != MEND_OK) return NULL;
  do {
    mend_hooks_before(all->hooks, &call, decision, NULL);
  } while (atomic_load(&all->working) > 0);
  mend_decision_free(decision);
  return NULL;
}

Test(runner, from_several_threads) {
  hook_world world;
  hook_world_open(&world);
  crowd all = {.run = world.run, .working = ADDERS};
  cr_assert_eq(mend_hooks_new(&world.memory.base, &all.hooks), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(world.bus, "hook.shadowed", count_event, &all, NULL, NULL, NULL), MEND_OK);
  pthread_t threads[ASKERS + ADDERS];
  for (int i = 0; i < ASKERS + ADDERS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, i < ASKERS ? ask_hooks : add_hooks, &all), 0);
  for (int i = 0; i < ASKERS + ADDERS; i++)
    pthread_join(threads[i], NULL);
  const mend_hook_call call = {.size = sizeof call, .run = world.run};
  mend_decision decision;
  mend__decision_init(&decision, NULL);
  atomic_store(&all.calls, 0);
  atomic_store(&all.events, 0);
  cr_assert_eq(mend_hooks_before(all.hooks, &call, &decision, NULL), MEND_OK);
  cr_assert_eq(atomic_load(&all.calls), (unsigned)(ADDERS * ADDED));
  cr_assert_eq(atomic_load(&all.events), (unsigned)(ADDERS * ADDED + 2) / 3 - 1);
  mend__decision_clear(&decision);
  mend_hooks_release(all.hooks);
  hook_world_close(&world);
}
