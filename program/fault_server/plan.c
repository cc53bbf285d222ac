#include "program/fault_server/plan.h"

#include <limits.h>

void plan_init(fault_plan *plan) {
  *plan = (fault_plan){0};
  mend__buffer *const buffers[] = {&plan->vendor,     &plan->body,   &plan->content_type,
                                   &plan->retry_info, &plan->finish, &plan->call_index};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    mend__buffer_init(buffers[i], NULL);
  text_list_init(&plan->headers);
  for (int kind = 0; kind < CUT_KINDS; kind++)
    plan->after[kind] = UINT_MAX;
}

void plan_free(fault_plan *plan) {
  mend__buffer *const buffers[] = {&plan->vendor,     &plan->body,   &plan->content_type,
                                   &plan->retry_info, &plan->finish, &plan->call_index};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    mend__buffer_free(buffers[i]);
  text_list_free(&plan->headers);
}

bool plan_failed(const fault_plan *plan) {
  return plan->vendor.failed || plan->body.failed || plan->content_type.failed || plan->retry_info.failed ||
         plan->finish.failed || plan->call_index.failed || text_list_failed(&plan->headers);
}

plan_cut plan_cut_at(const fault_plan *plan, unsigned contents) {
  for (int kind = 0; kind < CUT_KINDS; kind++) {
    if (plan->after[kind] == contents) return (plan_cut)kind;
  }
  return CUT_NONE;
}

unsigned plan_contents_needed(const fault_plan *plan) {
  unsigned needed = plan->deltas;
  for (int kind = 0; kind < CUT_KINDS; kind++) {
    if (plan->after[kind] != UINT_MAX && plan->after[kind] >= needed) needed = plan->after[kind] + 1;
  }
  return needed;
}

bool plan_is_error(const fault_plan *plan) {
  return plan->status != 0 || plan->wording != NULL || plan->html || plan->waits || plan->body.len > 0;
}
