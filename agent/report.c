#include "agent/agent_internal.h"

const char *mend_agent_end_name(mend_agent_end end) {
  switch (end) {
  case MEND_AGENT_DONE: return "done";
  case MEND_AGENT_TURNS: return "max_turns";
  case MEND_AGENT_ESCALATED: return "escalated";
  case MEND_AGENT_ABORTED: return "aborted";
  case MEND_AGENT_CANCELLED: return "cancelled";
  case MEND_AGENT_FAILED: break;
  }
  return "failed";
}

void mend_agent_report_clear(mend_agent_report *report) {
  if (report == NULL) return;
  mend__texts_free(&report->memory);
  *report = (mend_agent_report)MEND_AGENT_REPORT_INIT;
}

mend_status mend__report_check(const mend_agent_report *report, mend_error *error) {
  if (report == NULL || report->size >= sizeof *report) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_agent_report: its size is too small, start from MEND_AGENT_REPORT_INIT");
}

mend_status mend__report_set(mend__work *work, mend_str *member, mend_str text) {
  return mend__texts_set(&work->report->memory, work->agent->allocator, member, text);
}

static void add_tokens(uint64_t *sum, uint64_t tokens) {
  if (tokens == MEND_NONE) return;
  *sum = *sum == MEND_NONE ? tokens : *sum + tokens;
}

void mend__usage_add(mend_usage *sum, const mend_usage *usage) {
  add_tokens(&sum->input, usage->input);
  add_tokens(&sum->output, usage->output);
  add_tokens(&sum->cached_input, usage->cached_input);
  add_tokens(&sum->reasoning, usage->reasoning);
}

mend_status mend__report_add_reply(mend__work *work) {
  mend_agent_report *report = work->report;
  const mend_reply *reply = &work->reply;
  report->finish = reply->finish;
  report->calls += mend__count_calls(reply);
  mend__usage_add(&report->usage, &reply->usage);
  mend_status status = mend__report_set(work, &report->text, reply->text);
  if (status == MEND_OK) status = mend__report_set(work, &report->target, reply->target);
  return status == MEND_OK ? mend__report_set(work, &report->attempts, reply->attempts) : status;
}
