/* Hooks, tools and policies that do what is written down. */
#ifndef MEND_TESTS_HOOKS_SCENARIO_PARTS_H
#define MEND_TESTS_HOOKS_SCENARIO_PARTS_H

#include "scenario_world.h"

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

/* Three calls at once, from within one. */
static inline mend_status fan_out(scenario *s, const char *tool) {
  mend_batch_call calls[3];
  for (size_t i = 0; i < 3; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = mend_str_from(tool);
  }
  const mend_status status = mend_boundary_call_all(s->boundary, calls, 3);
  for (size_t i = 0; i < 3; i++)
    mend_result_clear(&calls[i].result);
  return status;
}

/* ---- Tools and other threads ---- */

typedef struct elsewhere {
  mend_call *call;
  mend_str value;
} elsewhere;

static inline void *answer_elsewhere(void *ctx) {
  const elsewhere *self = ctx;
  mend_call_succeed(self->call, self->value);
  return NULL;
}

/* Answered by another thread, which is through with it before the tool returns. */
static inline mend_status answer_on_another_thread(mend_call *call, const char *value) {
  pthread_t thread;
  elsewhere self = {call, mend_str_from(value)};
  cr_assert_eq(pthread_create(&thread, NULL, answer_elsewhere, &self), 0);
  cr_assert_eq(pthread_join(thread, NULL), 0);
  return MEND_OK;
}

/* Looks at nothing, and answers when it is told to. */
static inline mend_status linger(scenario *s, mend_call *call) {
  gate_add(&s->lingers);
  gate_await(&s->may_end, 1);
  note_word(&s->ran, mend_status_name(mend_call_succeed(call, MEND_STR("1"))) + strlen("MEND_"));
  gate_add(&s->ended);
  return MEND_OK;
}

/* ---- What tools do ---- */

/* What its script says next. */
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
  if (is(&next, "linger")) return linger(s, call);
  if (is(&next, "elsewhere")) return answer_on_another_thread(call, next.first);
  if (is(&next, "fail")) return mend_call_fail(call, mend_str_from(next.first), mend_str_from(next.second));
  if (is(&next, "escalate")) return mend_call_escalate(call, optional(next.first));
  if (is(&next, "text")) return mend_call_succeed_text(call, mend_str_from(next.first));
  if (is(&next, "args")) return mend_call_succeed(call, mend_call_args(call));
  if (is(&next, "note")) return mend_call_succeed_text(call, mend_call_note(call));
  if (is(&next, "fail_note")) return mend_call_fail(call, MEND_STR("noted"), mend_call_note(call));
  if (is(&next, "call")) call_quietly(s, next.first);
  if (is(&next, "fan")) fan_out(s, next.first);
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

/* Calls the boundary, and asks: what it calls is not asked. */
static inline mend_status policy_help(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  call_quietly(ctx, "helper");
  return policy_escalate(ctx, detection, ret_action);
}

static inline mend_policy find_policy(const char *name) {
  static const struct {
    const char *name;
    mend_policy policy;
  } policies[] = {
      {"default", NULL},       {"abort", policy_abort}, {"observe", policy_observe}, {"escalate", policy_escalate},
      {"mixed", policy_mixed}, {"fail", policy_fail},   {"unknown", policy_unknown}, {"endless", policy_endless},
      {"call", policy_call},   {"twice", policy_twice}, {"help", policy_help}};
  for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
    if (strcmp(policies[i].name, name) == 0) return policies[i].policy;
  }
  cr_fail("no policy %s", name);
  return NULL;
}

#endif
