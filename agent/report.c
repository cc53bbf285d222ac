/* What an agent has come to. */
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
  const size_t size = report->size;
  *report = (mend_agent_report)MEND_AGENT_REPORT_INIT;
  report->size = size;
}

mend_status mend__report_check(const mend_agent_report *report, mend_error *error) {
  if (report == NULL || report->size >= sizeof *report) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL,
                        "mend_agent_report: its size is too small, start from MEND_AGENT_REPORT_INIT");
}

mend_status mend__report_set(mend__work *work, mend_str *member, mend_str text) {
  return mend__texts_set(&work->report->memory, work->agent->allocator, member, text);
}

/* Whatever a provider says, a sum is neither small again nor MEND_NONE. */
static void add_tokens(uint64_t *sum, uint64_t tokens) {
  static const uint64_t most = MEND_NONE - 1;
  if (tokens == MEND_NONE) return;
  const uint64_t before = *sum != MEND_NONE ? *sum : 0;
  *sum = tokens < most - before ? before + tokens : most;
}

void mend__usage_add(mend_usage *sum, const mend_usage *usage) {
  add_tokens(&sum->input, usage->input);
  add_tokens(&sum->output, usage->output);
  add_tokens(&sum->cached_input, usage->cached_input);
  add_tokens(&sum->reasoning, usage->reasoning);
}

size_t mend__count_calls(const mend_reply *reply) {
  size_t count = 0;
  for (size_t i = 0; i < reply->part_count; i++)
    count += reply->parts[i].kind == MEND_PART_CALL;
  return count;
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

mend_status mend__report_end(mend__work *work, mend_agent_end end, mend_str reason) {
  work->is_over = true;
  work->report->end = end;
  return mend__report_set(work, &work->report->reason, reason);
}
