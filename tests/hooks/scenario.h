/* Scenarios as data: a line a step, and what is expected of it as one line of text. See
 * tests/data/hooks_boundary/README.md. Everything lives on a virtual clock and counted memory. */
#ifndef MEND_TESTS_HOOKS_SCENARIO_H
#define MEND_TESTS_HOOKS_SCENARIO_H

#include "hooks/hooks_internal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOG_SIZE = 8192, PARTS_MAX = 16, CALLS_MAX = 512, KEPT_MAX = 8 };

typedef struct log_text {
  char text[LOG_SIZE];
  size_t len;
} log_text;

/* A hook or a tool whose behaviour is written down: for each time it is asked one item, the last one from then on. */
typedef struct scripted {
  struct scenario *scenario;
  char name[64];
  char scripts[3][256]; /* before, after, on_error; of a tool the first */
  unsigned asked[3];
} scripted;

typedef struct scenario {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_tools *tools;
  mend_hooks *hooks;
  mend_boundary *boundary;
  scripted parts[PARTS_MAX];
  size_t part_count;
  mend__abort_frame frames[4];
  size_t frame_count;
  mend_token *token;         /* of the latest call that a tool was given */
  mend_call *kept[KEPT_MAX]; /* by tools that answer later, the oldest first */
  size_t kept_count;
  unsigned started, done;
  size_t threads; /* before there was a pool; 0: there is none */
  log_text events, ran, result;
  const char *place; /* file and line, for messages */
  bool expects;      /* false: what is expected is not looked at (torture) */
  size_t differences;

  /* Every before must get one terminal event, and no two attempts of a call are open at once. */
  unsigned befores[CALLS_MAX], ends[CALLS_MAX];
} scenario;

/* ---- Logs ---- */

__attribute__((format(printf, 2, 3))) static inline void note(log_text *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int len = vsnprintf(log->text + log->len, LOG_SIZE - log->len, format, arguments);
  va_end(arguments);
  cr_assert(len >= 0 && log->len + (size_t)len < LOG_SIZE);
  log->len += (size_t)len;
}

static inline void note_word(log_text *log, const char *word) { note(log, "%s%s", log->len > 0 ? " " : "", word); }

static inline void clear_log(log_text *log) {
  log->len = 0;
  log->text[0] = '\0';
}

/* ---- Events as words ---- */

static inline void describe_end(log_text *word, const char *what, uint64_t attempt, mend_str tool, mend_str effective) {
  note(word, "%s#%u:%.*s", what, (unsigned)attempt, MEND_STR_ARG(tool));
  if (effective.ptr != NULL) note(word, ">%.*s", MEND_STR_ARG(effective));
}

static inline void describe_redirector(log_text *word, mend_str hook, mend_str reason) {
  if (hook.ptr == NULL) return;
  note(word, "<%.*s", MEND_STR_ARG(hook));
  cr_assert(mend_str_equal(reason, MEND_STR("redirecting")), "%.*s", MEND_STR_ARG(reason));
}

static inline void describe_action(log_text *word, const mend_action_event *action) {
  note(word, "action:%.*s=%.*s/%.*s", MEND_STR_ARG(action->hook), MEND_STR_ARG(action->action),
       MEND_STR_ARG(action->decision));
  if (action->policy_error.ptr != NULL) note(word, "!");
}

static inline void describe(log_text *word, const mend_event *event) {
  const mend_any_event *any = (const mend_any_event *)(const void *)event;
  if (event->call > 1) note(word, "%llu/", (unsigned long long)event->call);
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE:
    describe_end(word, "before", any->tool_before.attempt, any->tool_before.tool_name, (mend_str)MEND_ABSENT);
    break;
  case MEND_EVENT_TOOL_AFTER:
    describe_end(word, "after", any->tool_after.attempt, any->tool_after.tool_name, any->tool_after.effective_tool);
    describe_redirector(word, any->tool_after.redirected_by, any->tool_after.redirect_reason);
    break;
  case MEND_EVENT_TOOL_ERROR:
    describe_end(word, "error", any->tool_error.attempt, any->tool_error.tool_name, any->tool_error.effective_tool);
    describe_redirector(word, any->tool_error.redirected_by, any->tool_error.redirect_reason);
    note(word, "!%.*s", MEND_STR_ARG(any->tool_error.error_type));
    break;
  case MEND_EVENT_TOOL_SKIPPED:
    describe_end(word, "skipped", any->tool_skipped.attempt, any->tool_skipped.tool_name,
                 any->tool_skipped.effective_tool);
    note(word, "@%.*s", MEND_STR_ARG(any->tool_skipped.hook));
    break;
  case MEND_EVENT_TOOL_ABORTED:
    describe_end(word, "aborted", any->tool_aborted.attempt, any->tool_aborted.tool_name,
                 any->tool_aborted.effective_tool);
    note(word, "@%.*s", MEND_STR_ARG(any->tool_aborted.hook));
    break;
  case MEND_EVENT_TOOL_CANCELLED:
    describe_end(word, "cancelled", any->tool_cancelled.attempt, any->tool_cancelled.tool_name,
                 any->tool_cancelled.effective_tool);
    describe_redirector(word, any->tool_cancelled.redirected_by, any->tool_cancelled.redirect_reason);
    if (any->tool_cancelled.late_result) note(word, "~late");
    break;
  case MEND_EVENT_TOOL_REFUSED: note(word, "refused:%.*s", MEND_STR_ARG(any->tool_refused.tool_name)); break;
  case MEND_EVENT_TOOL_PROGRESS: note(word, "progress:%.*s", MEND_STR_ARG(any->tool_progress.tool_name)); break;
  case MEND_EVENT_HOOK_SHADOWED:
    note(word, "shadowed:%.*s=%.*s", MEND_STR_ARG(any->hook_shadowed.hook), MEND_STR_ARG(any->hook_shadowed.decision));
    break;
  case MEND_EVENT_HOOK_FAILED: note(word, "failed:%.*s", MEND_STR_ARG(any->hook_failed.hook)); break;
  case MEND_EVENT_DETECTION: note(word, "detection:%.*s", MEND_STR_ARG(any->detection.detector)); break;
  case MEND_EVENT_ACTION: describe_action(word, &any->action); break;
  case MEND_EVENT_RUN_RESET: note(word, "reset"); break;
  default: note(word, "%.*s", MEND_STR_ARG(mend_event_kind_topic(event->kind))); break;
  }
}

static inline void count_attempts(scenario *s, const mend_event *event) {
  if (event->call >= CALLS_MAX) return;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE:
    cr_assert_eq(s->befores[event->call], s->ends[event->call], "%s: two attempts at once", s->place);
    s->befores[event->call]++;
    break;
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: s->ends[event->call]++; break;
  default: break;
  }
}

/* Of what threads publish that a test has beside its own. */
static pthread_mutex_t events_lock = PTHREAD_MUTEX_INITIALIZER;

static inline mend_status on_event(void *ctx, const mend_event *event) {
  scenario *s = ctx;
  log_text word = {.len = 0};
  describe(&word, event);
  pthread_mutex_lock(&events_lock);
  count_attempts(s, event);
  note_word(&s->events, word.text);
  pthread_mutex_unlock(&events_lock);
  return MEND_OK;
}

/* ---- Scripts ---- */

/* The item for this time: "word", "word=first", "word=first=second". */
typedef struct item {
  char text[128];
  const char *word, *first, *second;
} item;

static inline item next_item(scripted *part, int which) {
  item next = {.text = ""};
  const char *at = part->scripts[which];
  for (unsigned i = 0; i < part->asked[which] && strchr(at, ';') != NULL; i++)
    at = strchr(at, ';') + 1;
  part->asked[which]++;
  const size_t len = strcspn(at, ";");
  cr_assert(len < sizeof next.text);
  memcpy(next.text, at, len);
  next.text[len] = '\0';
  return next;
}

/* Points into the item, which must stay in place. */
static inline void split_item(item *next) {
  next->word = next->text;
  next->first = "";
  next->second = "";
  char *first = strchr(next->text, '=');
  if (first == NULL) return;
  *first = '\0';
  next->first = first + 1;
  char *second = strchr(first + 1, '=');
  if (second == NULL) return;
  *second = '\0';
  next->second = second + 1;
}

static inline bool is(const item *next, const char *word) { return strcmp(next->word, word) == 0; }

static inline mend_str optional(const char *text) {
  return *text == '\0' || strcmp(text, "-") == 0 ? (mend_str)MEND_ABSENT : mend_str_from(text);
}

static inline void call_quietly(scenario *s, const char *tool) {
  mend_result result = MEND_RESULT_INIT;
  mend_boundary_call(s->boundary, mend_str_from(tool), (mend_str)MEND_ABSENT, NULL, &result);
  mend_result_clear(&result);
}

static inline mend_status play_hook(scripted *part, int which, const char *phase, const mend_hook_call *call,
                                    mend_decision *decision) {
  scenario *s = part->scenario;
  item next = next_item(part, which);
  char word[512];
  split_item(&next);
  snprintf(word, sizeof word, "%s.%s(%.*s,%.*s)", part->name, phase, MEND_STR_ARG(call->tool_name),
           MEND_STR_ARG(call->args));
  note_word(&s->ran, word);
  if (is(&next, "skip")) return mend_decision_skip(decision, MEND_STR("skipping"), optional(next.first));
  if (is(&next, "redirect")) {
    return mend_decision_redirect(decision, MEND_STR("redirecting"), optional(next.first), optional(next.second));
  }
  if (is(&next, "escalate")) return mend_decision_escalate(decision, mend_str_from(next.first));
  if (is(&next, "abort")) return mend_decision_abort(decision, mend_str_from(next.first));
  if (is(&next, "abort_run")) return mend_run_abort(s->run, mend_str_from(next.first), mend_str_from(part->name));
  if (is(&next, "cancel")) {
    if (s->token != NULL) mend_token_cancel(s->token, MEND_STR("by a hook"));
    return mend_decision_redirect(decision, MEND_STR("redirecting"), mend_str_from(next.first), (mend_str)MEND_ABSENT);
  }
  if (is(&next, "call")) call_quietly(s, next.first);
  return is(&next, "fail") ? MEND_EIO : MEND_OK;
}

static inline mend_status play_before(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  return play_hook(ctx, 0, "before", call, decision);
}

static inline mend_status play_after(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  return play_hook(ctx, 1, "after", call, decision);
}

static inline mend_status play_on_error(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  return play_hook(ctx, 2, "on_error", call, decision);
}

/* An abort in a step of the tool's own, which does not reach the tool's call. */
static inline void abort_in_a_step(scenario *s, const char *tool) {
  mend__abort_frame step;
  mend__frame_open(s->boundary->run_state, &step);
  mend_run_abort(s->run, MEND_STR("in a step"), MEND_STR("test"));
  call_quietly(s, tool);
  mend__frame_close(s->boundary->run_state, &step);
}

/* Does what its script says next. */
static inline mend_status play_part(scripted *part, mend_call *call) {
  scenario *s = part->scenario;
  item next = next_item(part, 0);
  split_item(&next);
  mend_token_release(s->token);
  s->token = mend_token_retain(mend_call_token(call));
  if (is(&next, "keep")) {
    cr_assert(s->kept_count < KEPT_MAX);
    s->kept[s->kept_count++] = mend_call_retain(call);
    return MEND_OK;
  }
  if (is(&next, "none")) return MEND_OK;
  if (is(&next, "status")) return MEND_EIO;
  if (is(&next, "fail")) return mend_call_fail(call, mend_str_from(next.first), mend_str_from(next.second));
  if (is(&next, "escalate")) return mend_call_escalate(call, optional(next.first));
  if (is(&next, "text")) return mend_call_succeed_text(call, mend_str_from(next.first));
  if (is(&next, "args")) return mend_call_succeed(call, mend_call_args(call));
  if (is(&next, "note")) return mend_call_succeed_text(call, mend_call_note(call));
  if (is(&next, "fail_note")) return mend_call_fail(call, MEND_STR("noted"), mend_call_note(call));
  if (is(&next, "call")) call_quietly(s, next.first);
  if (is(&next, "confine")) abort_in_a_step(s, next.first);
  if (is(&next, "abort") || is(&next, "abort_reset"))
    mend_run_abort(s->run, mend_str_from(next.first), mend_str_from(part->name));
  if (is(&next, "abort_reset")) mend_run_reset(s->run, MEND_STR("at once"));
  if (is(&next, "cancel") || is(&next, "stop")) mend_token_cancel(mend_call_token(call), MEND_STR("enough"));
  if (is(&next, "stop")) return MEND_ECANCELLED;
  if (is(&next, "remove")) mend_tools_remove(s->tools, mend_call_tool(call));
  if (is(&next, "progress")) mend_call_progress(call, 7, MEND_STR("going on"));
  if (is(&next, "sleep")) mend_clock_advance(s->clock, strtoull(next.first, NULL, 10) * MEND_SECOND_NS);
  mend_call_succeed(call, is(&next, "ok") ? mend_str_from(next.first) : MEND_STR("1"));
  if (is(&next, "twice")) return mend_call_succeed(call, MEND_STR("2")) == MEND_EEXIST ? MEND_OK : MEND_EINVAL;
  return MEND_OK;
}

static inline mend_status play_tool(void *ctx, mend_call *call) {
  scripted *part = ctx;
  char word[512];
  snprintf(word, sizeof word, "%s(%.*s)", part->name, MEND_STR_ARG(mend_call_args(call)));
  note_word(&part->scenario->ran, word);
  return play_part(part, call);
}

/* ---- Policies ---- */

static inline mend_status policy_abort(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx;
  *ret_action = mend_action_abort("%.*s_found", MEND_STR_ARG(detection->detector));
  return MEND_OK;
}

static inline mend_status policy_observe(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx;
  (void)detection;
  *ret_action = mend_action_none();
  return MEND_OK;
}

static inline mend_status policy_escalate(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  (void)ctx;
  *ret_action = mend_action_escalate("%.*s?", MEND_STR_ARG(detection->detector));
  return MEND_OK;
}

/* Asks about loops, aborts on all else. */
static inline mend_status policy_mixed(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  const bool is_loop = mend_str_equal(detection->detector, MEND_STR("loop"));
  return is_loop ? policy_escalate(ctx, detection, ret_action) : policy_abort(ctx, detection, ret_action);
}

static inline mend_status policy_fail(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  policy_abort(ctx, detection, ret_action);
  return MEND_EIO;
}

static inline mend_status policy_unknown(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  policy_abort(ctx, detection, ret_action);
  ret_action->kind = (mend_action_kind)99;
  return MEND_OK;
}

static inline mend_status policy_endless(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  policy_abort(ctx, detection, ret_action);
  memset(ret_action->text, 'x', sizeof ret_action->text);
  return MEND_OK;
}

/* Calls the boundary it works for: its calls are made, not decided about twice. */
static inline mend_status policy_call(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  call_quietly(ctx, "helper");
  return policy_abort(ctx, detection, ret_action);
}

/* Calls twice what it is not about: what comes of that is decided about too, by the same round. */
static inline mend_status policy_twice(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  if (!mend_str_equal(detection->tool_name, MEND_STR("helper"))) {
    call_quietly(ctx, "helper");
    call_quietly(ctx, "helper");
  }
  *ret_action = mend_action_none();
  return MEND_OK;
}

static inline mend_policy find_policy(const char *name) {
  static const struct {
    const char *name;
    mend_policy policy;
  } policies[] = {
      {"default", NULL},       {"abort", policy_abort}, {"observe", policy_observe}, {"escalate", policy_escalate},
      {"mixed", policy_mixed}, {"fail", policy_fail},   {"unknown", policy_unknown}, {"endless", policy_endless},
      {"call", policy_call},   {"twice", policy_twice}};
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
    if (strcmp(policies[i].name, name) == 0) return policies[i].policy;
  }
  cr_fail("no policy %s", name);
  return NULL;
}

/* ---- The world ---- */

static inline mend_status scenario_try_open(scenario *s) {
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_status status = mend_clock_new_virtual(
      &s->memory.base, (mend_time){1000 * MEND_SECOND_NS, UINT64_C(1700000000) * MEND_SECOND_NS}, &s->clock);
  bus_options.allocator = &s->memory.base;
  bus_options.clock = s->clock;
  bus_options.id_seed = 7;
  if (status == MEND_OK) status = mend_bus_new(&bus_options, &s->bus, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(s->bus, "*", on_event, s, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_run_new(s->bus, NULL, &s->run, NULL);
  if (status == MEND_OK) status = mend_tools_new(&s->memory.base, &s->tools);
  if (status == MEND_OK) status = mend_hooks_new(&s->memory.base, &s->hooks);
  options.run = s->run;
  options.tools = s->tools;
  options.hooks = s->hooks;
  options.state = s;
  if (status == MEND_OK) status = mend_boundary_new(&options, &s->boundary, NULL);
  return status;
}

/* Keeps the memory's counters. */
static inline void scenario_clear(scenario *s) {
  const mend_test_allocator *memory = &s->memory;
  memset((char *)s + sizeof *memory, 0, sizeof *s - sizeof *memory);
}

static inline void scenario_close(scenario *s) {
  while (s->kept_count > 0)
    mend_call_release(s->kept[--s->kept_count]);
  mend_token_release(s->token);
  mend_boundary_release(s->boundary);
  mend_hooks_release(s->hooks);
  mend_tools_release(s->tools);
  mend_run_release(s->run);
  mend_bus_release(s->bus);
  mend_clock_release(s->clock);
  if (s->threads > 0) cr_assert(mend_test_threads_are(s->threads), "%s: %zu threads", s->place, mend_test_threads());
  cr_assert_eq(s->done, s->started, "%s: started %u, done %u", s->place, s->started, s->done);
  for (size_t call = 0; call < CALLS_MAX; call++)
    cr_assert_eq(s->befores[call], s->ends[call], "%s: call %zu", s->place, call);
  cr_assert_eq(atomic_load(&s->memory.blocks), 0u, "%s: %zu blocks left", s->place, atomic_load(&s->memory.blocks));
}

static inline scenario *scenario_new(void) {
  scenario *s = calloc(1, sizeof *s);
  if (s == NULL) abort();
  mend_test_allocator_init(&s->memory);
  return s;
}

/* ---- Lines ---- */

/* Cuts the next word off; "" at the end. */
static inline char *take_word(char **rest) {
  char *word = *rest + strspn(*rest, " ");
  char *end = word + strcspn(word, " ");
  *rest = *end == '\0' ? end : end + 1;
  *end = '\0';
  return word;
}

static inline scripted *add_part(scenario *s, const char *name) {
  cr_assert(s->part_count < PARTS_MAX);
  scripted *part = &s->parts[s->part_count++];
  *part = (scripted){.scenario = s};
  snprintf(part->name, sizeof part->name, "%s", name);
  return part;
}

static inline void add_hook(scenario *s, char *rest) {
  static const char *const phases[] = {"before=", "after=", "on_error="};
  char *name = take_word(&rest);
  const size_t len = strlen(name);
  mend_hook_options options = MEND_HOOK_OPTIONS_INIT;
  options.fail_closed = name[len - 1] == '!';
  if (options.fail_closed) name[len - 1] = '\0';
  scripted *part = add_part(s, name);
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    for (int i = 0; i < 3; i++) {
      if (strncmp(word, phases[i], strlen(phases[i])) != 0) continue;
      snprintf(part->scripts[i], sizeof part->scripts[i], "%s", word + strlen(phases[i]));
    }
  }
  const mend_hook hook = {.size = sizeof hook,
                          .name = part->name,
                          .before = part->scripts[0][0] != '\0' ? play_before : NULL,
                          .after = part->scripts[1][0] != '\0' ? play_after : NULL,
                          .on_error = part->scripts[2][0] != '\0' ? play_on_error : NULL};
  mend_hooks_add(s->hooks, &hook, part, &options, NULL);
}

static inline void add_tool_of_kind(scenario *s, char *rest, mend_tool_kind kind) {
  scripted *part = add_part(s, take_word(&rest));
  snprintf(part->scripts[0], sizeof part->scripts[0], "%s", take_word(&rest));
  const mend_tool tool = {.size = sizeof tool, .name = part->name, .execute = play_tool, .kind = kind};
  mend_tools_add(s->tools, &tool, part, NULL);
}

static inline void add_tool(scenario *s, char *rest) { add_tool_of_kind(s, rest, MEND_TOOL_BLOCKING); }
static inline void add_async_tool(scenario *s, char *rest) { add_tool_of_kind(s, rest, MEND_TOOL_ASYNC); }

/* Counted beside a thread, for with its first one a program may get others that stay (ThreadSanitizer's). */
static inline void *count_others(void *ctx) {
  *(size_t *)ctx = mend_test_threads() - 1;
  return NULL;
}

static inline size_t count_threads(void) {
  size_t count = 0;
  pthread_t thread;
  cr_assert_eq(pthread_create(&thread, NULL, count_others, &count), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  return count;
}

static inline void add_pooled_tool(scenario *s, char *rest) {
  if (s->threads == 0) s->threads = count_threads();
  add_tool_of_kind(s, rest, MEND_TOOL_POOLED);
}

static inline void watch(scenario *s, char *rest) {
  mend_options options = MEND_OPTIONS_INIT;
  options.loop.enable = false;
  options.stall.enable = false;
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    if (strncmp(word, "loop=", 5) == 0) {
      options.loop.enable = true;
      options.loop.k = (uint32_t)strtoul(word + 5, NULL, 10);
    }
    if (strncmp(word, "stall=", 6) == 0) {
      options.stall.enable = true;
      options.stall.timeout_s = (double)strtoul(word + 6, NULL, 10);
    }
    if (strcmp(word, "regression") == 0) options.regression.enable = true;
  }
  mend_bus_watch(s->bus, &options, NULL);
}

static inline void add_watchdog_hook(scenario *s, char *rest) {
  const char *name = take_word(&rest);
  mend_boundary_add_watchdog_hook(s->boundary, name, find_policy(take_word(&rest)), s, NULL);
}

static inline void note_field(log_text *log, const char *name, mend_str text) {
  if (text.ptr != NULL) note(log, " %s=%.*s", name, MEND_STR_ARG(text));
}

static inline void note_result(scenario *s, mend_status status, const mend_result *result) {
  log_text *log = &s->result;
  clear_log(log);
  note(log, "%s %s", mend_status_name(status) + strlen("MEND_"), mend_outcome_name(result->outcome));
  note_field(log, "value", result->value);
  note_field(log, "type", result->error_type);
  note_field(log, "message", result->error_message);
  note_field(log, "reason", result->reason);
  note_field(log, "question", result->question);
  note_field(log, "hook", result->hook);
  note(log, " attempts=%u", result->attempts);
}

static inline void make_call(scenario *s, char *rest) {
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  const char *tool = take_word(&rest), *args = take_word(&rest);
  options.call_name = optional(take_word(&rest));
  note_result(s, mend_boundary_call(s->boundary, mend_str_from(tool), optional(args), &options, &result), &result);
  mend_result_clear(&result);
}

/* ---- Calls that nobody waits for ---- */

static inline void on_done(void *ctx, mend_status status, const mend_result *result) {
  scenario *s = ctx;
  s->done++;
  note_word(&s->events, "done");
  note_result(s, status, result);
}

static inline void start_call(scenario *s, char *rest) {
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  const char *tool = take_word(&rest), *args = take_word(&rest);
  options.call_name = optional(take_word(&rest));
  s->started++;
  cr_assert_eq(mend_boundary_start(s->boundary, mend_str_from(tool), optional(args), &options, on_done, s, NULL),
               MEND_OK);
}

/* Answers the oldest call that was kept, as often as there are words: what it is told is noted. */
static inline void answer_kept(scenario *s, char *rest) {
  if (s->kept_count == 0 && !s->expects) return; /* there was no memory to begin it */
  cr_assert(s->kept_count > 0, "%s", s->place);
  mend_call *call = s->kept[0];
  memmove(s->kept, s->kept + 1, --s->kept_count * sizeof s->kept[0]);
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    item next = {.text = ""};
    mend_status status = MEND_OK;
    snprintf(next.text, sizeof next.text, "%s", word);
    split_item(&next);
    if (is(&next, "ok")) status = mend_call_succeed(call, mend_str_from(next.first));
    if (is(&next, "text")) status = mend_call_succeed_text(call, mend_str_from(next.first));
    if (is(&next, "fail")) status = mend_call_fail(call, mend_str_from(next.first), mend_str_from(next.second));
    if (is(&next, "escalate")) status = mend_call_escalate(call, mend_str_from(next.first));
    if (is(&next, "progress")) status = mend_call_progress(call, 7, MEND_STR("going on"));
    if (is(&next, "args")) status = mend_call_succeed(call, mend_call_args(call));
    if (is(&next, "note")) status = mend_call_succeed_text(call, mend_call_note(call));
    note_word(&s->ran, mend_status_name(status) + strlen("MEND_"));
  }
  mend_call_release(call);
}

static inline void cancel_call(scenario *s, char *rest) {
  const uint64_t number = strtoull(take_word(&rest), NULL, 10);
  note_word(&s->ran,
            mend_status_name(mend_run_cancel_call(s->run, number, optional(take_word(&rest)))) + strlen("MEND_"));
}

static inline void make_retry(scenario *s, char *rest) {
  mend_retry_options options = MEND_RETRY_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  options.max_attempts = (uint32_t)strtoul(take_word(&rest), NULL, 10);
  const char *tool = take_word(&rest), *args = take_word(&rest);
  options.note = optional(take_word(&rest));
  note_result(s, mend_boundary_retry(s->boundary, mend_str_from(tool), optional(args), &options, &result), &result);
  mend_result_clear(&result);
}

static inline void publish_confidence(scenario *s, char *rest) {
  for (char *word; *(word = take_word(&rest)) != '\0';) {
    mend_confidence_event event = MEND_CONFIDENCE_EVENT_INIT;
    event.confidence = strtod(word, NULL);
    mend_run_publish(s->run, &event.event);
  }
}

static inline void open_frame(scenario *s, char *rest) {
  (void)rest;
  mend__frame_open(s->boundary->run_state, &s->frames[s->frame_count++]);
}

static inline void close_frame(scenario *s, char *rest) {
  (void)rest;
  mend__frame_close(s->boundary->run_state, &s->frames[--s->frame_count]);
}

static inline mend_status abort_on_event(void *ctx, const mend_event *event) {
  (void)event;
  return mend_run_abort(((scenario *)ctx)->run, MEND_STR("seen"), MEND_STR("subscriber"));
}

static inline void abort_on(scenario *s, char *rest) {
  mend_bus_subscribe(s->bus, take_word(&rest), abort_on_event, s, NULL, NULL, NULL);
}

static inline void abort_run(scenario *s, char *rest) {
  const char *reason = take_word(&rest);
  mend_run_abort(s->run, mend_str_from(reason), mend_str_from(take_word(&rest)));
}

static inline void reset_run(scenario *s, char *rest) {
  (void)rest;
  mend_run_reset(s->run, MEND_STR("again"));
}

static inline void advance(scenario *s, char *rest) {
  mend_clock_advance(s->clock, strtoull(take_word(&rest), NULL, 10) * MEND_SECOND_NS);
}

/* All differences are shown, not only the first. */
static inline void expect(scenario *s, log_text *log, const char *expected) {
  if (s->expects && strcmp(log->text, expected) != 0) {
    fprintf(stderr, "%s:\n  got      %s\n  expected %s\n", s->place, log->text, expected);
    s->differences++;
  }
  clear_log(log);
}

static inline void expect_events(scenario *s, char *rest) { expect(s, &s->events, rest); }
static inline void expect_ran(scenario *s, char *rest) { expect(s, &s->ran, rest); }
static inline void expect_result(scenario *s, char *rest) { expect(s, &s->result, rest); }

static inline void play_line(scenario *s, char *line) {
  static const struct {
    const char *word;
    void (*play)(scenario *s, char *rest);
  } steps[] = {{"hook", add_hook},          {"tool", add_tool},       {"async", add_async_tool},
               {"pooled", add_pooled_tool}, {"start", start_call},    {"answer", answer_kept},
               {"cancel", cancel_call},     {"watch", watch},         {"watchdog", add_watchdog_hook},
               {"call", make_call},         {"retry", make_retry},    {"confidence", publish_confidence},
               {"frame", open_frame},       {"unframe", close_frame}, {"abort", abort_run},
               {"abort_on", abort_on},      {"reset", reset_run},     {"advance", advance},
               {"events", expect_events},   {"ran", expect_ran},      {"result", expect_result}};
  char *rest = line;
  const char *word = take_word(&rest);
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    if (strcmp(steps[i].word, word) != 0) continue;
    steps[i].play(s, rest);
    return;
  }
  cr_fail("%s: what is \"%s\"?", s->place, word);
}

/* ---- Files: cases begin with "case TITLE"; empty lines and those with # are nothing ---- */

typedef struct case_count {
  size_t cases, differences;
} case_count;

typedef size_t (*case_player)(const char *name, unsigned line, const char *text);

/* Plays one case (its lines without the title) in a world of its own; returns how much was not as expected. */
static inline size_t play_case(scenario *s, const char *name, unsigned line, const char *text, bool expects) {
  char place[256];
  char *lines = strdup(text), *rest = lines;
  scenario_clear(s);
  s->place = place;
  s->expects = expects;
  snprintf(place, sizeof place, "%s:%u", name, line);
  const mend_status status = scenario_try_open(s);
  if (expects) cr_assert_eq(status, MEND_OK);
  for (char *each; status == MEND_OK && (each = strsep(&rest, "\n")) != NULL;) {
    snprintf(place, sizeof place, "%s:%u", name, ++line);
    if (*each != '\0' && *each != '#') play_line(s, each);
  }
  scenario_close(s);
  free(lines);
  return s->differences;
}

static inline void each_case(const char *name, case_player play, case_count *count) {
  char *text = mend_test_read(name, NULL);
  unsigned line = 1;
  for (char *at = text, *next; at != NULL && *at != '\0'; at = next) {
    char *body = strchr(at, '\n');
    cr_assert_not_null(body, "%s: does not end in a line feed", name);
    next = strstr(body, "\ncase ");
    if (next != NULL) *next++ = '\0';
    if (strncmp(at, "case ", 5) == 0) {
      count->differences += play(name, line, body + 1);
      count->cases++;
    }
    for (const char *each = at; *each != '\0'; each++)
      line += *each == '\n';
    if (next != NULL) line++;
  }
  free(text);
}

#endif
