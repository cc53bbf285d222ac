/* Scenarios as data: a line a step, and what is expected of it as one line of text. See
 * tests/data/hooks_boundary/README.md. */
#ifndef MEND_TESTS_HOOKS_SCENARIO_H
#define MEND_TESTS_HOOKS_SCENARIO_H

#include "hooks/scope.h"
#include "scenario_events.h"
#include "scenario_parts.h"

/* ---- The world ---- */

static inline void on_log(void *ctx, mend_log_level level, const char *message) {
  if (level == MEND_LOG_WARNING) note(&((scenario *)ctx)->said, "%s\n", message);
}

static inline mend_status scenario_try_open(scenario *s) {
  mend_bus_options bus_options = MEND_BUS_OPTIONS_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_status status = mend_clock_new_virtual(
      &s->memory.base, (mend_time){1000 * MEND_SECOND_NS, UINT64_C(1700000000) * MEND_SECOND_NS}, &s->clock);
  s->lingers = (gate)GATE_INIT;
  s->may_end = (gate)GATE_INIT;
  s->ended = (gate)GATE_INIT;
  bus_options.allocator = &s->memory.base;
  bus_options.clock = s->clock;
  bus_options.id_seed = 7;
  bus_options.log = on_log;
  bus_options.log_ctx = s;
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
  const mend_str texts[] = {result->value,  result->error_type, result->error_message,
                            result->reason, result->question,   result->hook};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cr_assert(texts[i].ptr == NULL || texts[i].ptr[texts[i].len] == '\0', "%s: text %zu has no NUL", s->place, i);
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

/* ---- The end of a scope, and tools that outlive it ---- */

/* Without waiting for anybody. */
static inline void leave_scope_of(scenario *s, char *rest) {
  (void)rest;
  char word[32];
  mend__boundary_close(s->boundary);
  snprintf(word, sizeof word, "left=%zu", mend__boundary_drain(s->boundary, MEND_STR("over"), 0));
  note_word(&s->ran, word);
}

static inline void set_pool(scenario *s, char *rest) {
  const uint32_t threads = (uint32_t)strtoul(take_word(&rest), NULL, 10);
  mend_tools_set_pool(s->tools, threads, (uint32_t)strtoul(take_word(&rest), NULL, 10), NULL);
}

static inline void await_lingering(scenario *s, char *rest) {
  (void)rest;
  gate_await(&s->lingers, 1);
}

static inline void end_lingering(scenario *s, char *rest) {
  (void)rest;
  gate_add(&s->may_end);
  gate_await(&s->ended, 1);
}

/* ---- Flows ---- */

enum { BATCH_MAX = 8 };

/* Its result is the status, and those of the calls. */
static inline void make_all(scenario *s, char *rest) {
  mend_batch_call calls[BATCH_MAX];
  size_t count = 0;
  for (char *word; *(word = take_word(&rest)) != '\0'; count++) {
    cr_assert(count < BATCH_MAX, "%s", s->place);
    calls[count] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[count].tool = mend_str_from(word);
  }
  const mend_status status = mend_boundary_call_all(s->boundary, calls, count);
  clear_log(&s->result);
  note(&s->result, "%s:", mend_status_name(status) + strlen("MEND_"));
  for (size_t i = 0; i < count; i++) {
    note_word(&s->result, mend_status_name(calls[i].status) + strlen("MEND_"));
    mend_result_clear(&calls[i].result);
  }
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

/* Where allocations fail nothing behind this line is played. */
static inline void need_memory(scenario *s, char *rest) {
  (void)s;
  (void)rest;
}

static inline void play_line(scenario *s, char *line) {
  static const struct {
    const char *word;
    void (*play)(scenario *s, char *rest);
  } steps[] = {{"hook", add_hook},          {"tool", add_tool},    {"async", add_async_tool},
               {"pooled", add_pooled_tool}, {"start", start_call}, {"answer", answer_kept},
               {"cancel", cancel_call},     {"watch", watch},      {"watchdog", add_watchdog_hook},
               {"call", make_call},         {"retry", make_retry}, {"confidence", publish_confidence},
               {"all", make_all},           {"pool", set_pool},    {"leave", leave_scope_of},
               {"await", await_lingering},  {"go", end_lingering}, {"frame", open_frame},
               {"unframe", close_frame},    {"abort", abort_run},  {"abort_on", abort_on},
               {"needs", need_memory},      {"reset", reset_run},  {"advance", advance},
               {"events", expect_events},   {"ran", expect_ran},   {"result", expect_result}};
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
    if (!expects && strcmp(each, "needs memory") == 0) break;
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
