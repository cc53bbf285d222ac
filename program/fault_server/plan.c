#include "program/fault_server/plan.h"

#include <limits.h>

enum { BUFFERS = 6 };

static void buffers_of(fault_plan *plan, mend__buffer *ret_buffers[BUFFERS]) {
  mend__buffer *const buffers[BUFFERS] = {&plan->vendor,     &plan->body,   &plan->content_type,
                                          &plan->retry_info, &plan->finish, &plan->call_index};
  memcpy(ret_buffers, buffers, sizeof buffers);
}

void plan_init(fault_plan *plan) {
  mend__buffer *buffers[BUFFERS];
  *plan = (fault_plan){0};
  buffers_of(plan, buffers);
  for (size_t i = 0; i < BUFFERS; i++)
    mend__buffer_init(buffers[i], NULL);
  text_list_init(&plan->headers);
  for (int kind = 0; kind < CUT_KINDS; kind++)
    plan->after[kind] = UINT_MAX;
}

void plan_free(fault_plan *plan) {
  mend__buffer *buffers[BUFFERS];
  buffers_of(plan, buffers);
  for (size_t i = 0; i < BUFFERS; i++)
    mend__buffer_free(buffers[i]);
  text_list_free(&plan->headers);
}

bool plan_failed(fault_plan *plan) {
  mend__buffer *buffers[BUFFERS];
  bool failed = text_list_failed(&plan->headers);
  buffers_of(plan, buffers);
  for (size_t i = 0; i < BUFFERS; i++)
    failed |= buffers[i]->failed;
  return failed;
}

bool plan_breaks_off(const fault_plan *plan, plan_cut how) { return plan->after[how] != UINT_MAX; }

plan_cut plan_cut_at(const fault_plan *plan, unsigned contents) {
  for (int kind = 0; kind < CUT_KINDS; kind++) {
    if (plan->after[kind] == contents) return (plan_cut)kind;
  }
  return CUT_NONE;
}

unsigned plan_contents_needed(const fault_plan *plan) {
  unsigned needed = plan->deltas;
  for (int kind = 0; kind < CUT_KINDS; kind++) {
    if (plan_breaks_off(plan, (plan_cut)kind) && plan->after[kind] >= needed) needed = plan->after[kind] + 1;
  }
  return needed;
}

bool plan_is_error(const fault_plan *plan) {
  return plan->status != 0 || plan->wording != NULL || plan->html || plan->waits || plan->body.len > 0;
}
