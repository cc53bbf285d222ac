#include "program/stage/subagents.h"

#include "core/seconds.h"
#include "core/text.h"
#include "core/tool_rules.h"

/* By name or pattern. */
static const char *const starters[] = {
    "Task",  "Agent",      "task",      "new_task",    "delegate*",  "spawn*",         "run_subagent",  "runSubagent",
    "agent", "sub_agent*", "subagent*", "call_agent*", "run_agent*", "dispatch_agent", "invoke_agent*", NULL,
};

mend_status subagents_write_limits(const mend_stall_watchdog_options *stall, mend__buffer *limits) {
  const mend_str given = mend__trim(stall->tool_timeout_s);
  mend__tool_rules rules = {0};
  if (mend__tool_rules_init(&rules, given, false, NULL) != MEND_OK) return MEND_ENOMEM;
  mend__buffer_char(limits, '{');
  for (const char *const *starter = starters; *starter != NULL; starter++) {
    if (mend__tool_rules_find(&rules, mend_str_from(*starter)) != NULL) continue;
    mend__buffer_printf(limits, "%s\"%s\":", limits->len > 1 ? "," : "", *starter);
    mend__buffer_seconds(limits, mend__seconds_to_ns(stall->total_s));
  }
  if (rules.count > 0) {
    if (limits->len > 1) mend__buffer_char(limits, ',');
    mend__buffer_bytes(limits, given.ptr + 1, given.len - 1);
  } else {
    mend__buffer_char(limits, '}');
  }
  mend__tool_rules_free(&rules, NULL);
  return limits->failed ? MEND_ENOMEM : MEND_OK;
}
