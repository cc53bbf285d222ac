#include "core/memory.h"
#include "watchdogs/room.h"

#include <stdarg.h>
#include <stdio.h>

const char *mend_action_kind_name(mend_action_kind kind) {
  switch (kind) {
  case MEND_ACTION_ABORT: return "abort";
  case MEND_ACTION_ESCALATE: return "escalate";
  case MEND_ACTION_NONE: break;
  }
  return "none";
}

static mend_action make_action(mend_action_kind kind, const char *format, va_list arguments) {
  mend_action action = {.kind = kind};
  const int len = vsnprintf(action.text, sizeof action.text, format, arguments);
  if (len < 0) action.text[0] = '\0';
  if (len >= (int)sizeof action.text) {
    /* Whether the last byte written ends a character cannot be seen: it is taken for one that goes on. */
    const size_t limit = sizeof action.text - 1;
    const mend_str written = {action.text, limit};
    action.text[mend__utf8_cut(written, limit - 1)] = '\0';
  }
  return action;
}

mend_action mend_action_none(void) { return (mend_action){.kind = MEND_ACTION_NONE}; }

mend_action mend_action_abort(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const mend_action action = make_action(MEND_ACTION_ABORT, format, arguments);
  va_end(arguments);
  return action;
}

mend_action mend_action_escalate(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const mend_action action = make_action(MEND_ACTION_ESCALATE, format, arguments);
  va_end(arguments);
  return action;
}

mend_status mend_default_policy(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  if (detection == NULL) return MEND_EINVAL;
  (void)ctx;
  *ret_action = mend_action_abort("%.*s: %.*s", MEND_STR_ARG(detection->detector), MEND_STR_ARG(detection->summary));
  return MEND_OK;
}

/* ---- Deciding ---------------------------------------------------------------------------------------------- */

const char *mend_rung_name(mend_rung rung) {
  switch (rung) {
  case MEND_RUNG_WARN: return "warn";
  case MEND_RUNG_ACT: return "act";
  case MEND_RUNG_ABORT: return "abort";
  case MEND_RUNG_NONE: break;
  }
  return "none";
}

static mend_status ask(mend_policy policy, void *ctx, const mend_detection *detection, mend_action *ret_action,
                       const char **ret_failure) {
  const mend_status status = policy(ctx, detection, ret_action);
  if (status != MEND_OK) {
    *ret_failure = mend_status_name(status);
    return status;
  }
  if ((unsigned)ret_action->kind > MEND_ACTION_ESCALATE) {
    *ret_failure = "the policy answered with an action that is none";
  } else if (memchr(ret_action->text, '\0', sizeof ret_action->text) == NULL) {
    *ret_failure = "the policy answered with a text that does not end";
  }
  return *ret_failure == NULL ? MEND_OK : MEND_EINVAL;
}

mend_status mend__decide_detection(const mend_detection *detection, mend_policy policy, void *ctx,
                                   mend_action *ret_action, const char **ret_failure) {
  *ret_action = mend_action_none();
  *ret_failure = NULL;
  if (detection->rung == MEND_RUNG_WARN) return MEND_OK;
  if (detection->rung == MEND_RUNG_ABORT) {
    *ret_action = mend_action_abort("%.*s: %.*s; it was not the first time", MEND_STR_ARG(detection->detector),
                                    MEND_STR_ARG(detection->summary));
    return MEND_OK;
  }
  const mend_status status = ask(policy, ctx, detection, ret_action, ret_failure);
  if (status != MEND_OK) *ret_action = mend_action_none();
  return status;
}

mend_status mend_detection_decide(const mend_detection *detection, mend_policy policy, void *ctx,
                                  mend_action *ret_action) {
  if (detection == NULL) return MEND_EINVAL;
  const char *failure;
  return mend__decide_detection(detection, policy, ctx, ret_action, &failure);
}
