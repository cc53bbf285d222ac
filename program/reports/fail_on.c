#include "program/reports/fail_on.h"

#include "core/nearest.h"

static const char *const known[] = {
    "none",
    /* kinds */
    "loop", "stall", "regression", "budget",
    /* reasons of loops */
    "repeat", "repeat_error", "cycle2", "cycle3", "cycle4", "cycle5", "cycle6", "cycle7", "cycle8", "cycle9", "cycle10",
    "cycle11", "cycle12", "cycle13", "cycle14", "cycle15", "cycle16", "same_error_moving_args",
    "empty_result_moving_args", "unknown_tool", "retry_storm", "frozen_poll", "verify_no_progress", "chanting",
    "monologue", "compaction",
    /* of stalls */
    "tool_idle", "heartbeat_without_progress", "tool_total", "no_first_token", "stream_idle", "run_idle",
    /* of regressions and budgets */
    "half_window", "cusum", "calls", "tokens", "cost", "time"};

/* The name at the beginning of a list, which goes on behind it. */
static mend_str next_name(const char **list) {
  const char *begin = *list;
  const size_t len = strcspn(begin, ",");
  *list = begin[len] == ',' ? begin + len + 1 : begin + len;
  return (mend_str){begin, len};
}

static mend_status check_name(mend_str name, mend_error *error) {
  mend__nearest search = mend__nearest_to(name);
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    if (mend_str_equal(name, mend_str_from(known[i]))) return MEND_OK;
    mend__nearest_consider(&search, mend_str_from(known[i]), known[i]);
  }
  if (search.answer != NULL) {
    return mend_error_set(error, MEND_EINVAL, "unknown name \"%.*s\"; did you mean %s?", MEND_STR_ARG(name),
                          search.answer);
  }
  return mend_error_set(
      error, MEND_EINVAL,
      "unknown name \"%.*s\", expected loop, stall, regression, budget, a reason such as repeat, or none",
      MEND_STR_ARG(name));
}

mend_status fail_on_set(fail_on *of, const char *names, mend_error *error) {
  const char *rest = names;
  bool none = false;
  size_t count = 0;
  do {
    const mend_str name = next_name(&rest);
    const mend_status status = check_name(name, error);
    if (status != MEND_OK) return status;
    none |= mend_str_equal(name, MEND_STR("none"));
    count++;
  } while (*rest != '\0');
  if (none && count > 1) return mend_error_set(error, MEND_EINVAL, "none goes with no other name");
  of->names = names;
  return MEND_OK;
}

bool fail_on_matches(const fail_on *of, const mend_detection *detection) {
  if (of == NULL || of->names == NULL) return true;
  const char *rest = of->names;
  while (*rest != '\0') {
    const mend_str name = next_name(&rest);
    if (mend_str_equal(name, detection->kind) || mend_str_equal(name, detection->detector) ||
        mend_str_equal(name, detection->reason)) {
      return true;
    }
  }
  return false;
}
