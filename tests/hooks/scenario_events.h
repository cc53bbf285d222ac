/* Events as words: see tests/data/hooks_boundary/README.md. */
#ifndef MEND_TESTS_HOOKS_SCENARIO_EVENTS_H
#define MEND_TESTS_HOOKS_SCENARIO_EVENTS_H

#include "scenario_world.h"

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

#endif
