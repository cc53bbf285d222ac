/* Private to hooks/: a boundary, and the results of what passes it. */
#ifndef MEND_HOOKS_BOUNDARY_INTERNAL_H
#define MEND_HOOKS_BOUNDARY_INTERNAL_H

#include "hooks/hooks_internal.h"
#include "hooks/run_internal.h"
#include "hooks/tools_internal.h"

struct mend_boundary {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_run *run;
  mend__run_state *run_state;
  mend_tools *tools;
  mend_hooks *hooks;
  void *state;

  size_t attached; /* of the hooks, those that know of the run */

  /* Under the run's lock. */
  bool closed;
  size_t open;        /* passages */
  mend_call *running; /* whose tools run apart from their passages: asynchronous and pooled ones */
  size_t running_count;
  mend__passage *told; /* closed ones whose `done` is being called */
  size_t told_count;
  mend_token *drain; /* cancelled when none of these is left but those of the thread that waits; NULL: none does */
  size_t own_open, own_running, own_told;
};

/* ---- drain.c, beside hooks/scope.h ---- */

/* Under the run's lock, when a passage was closed or a tool has come to its end: what is to be cancelled afterwards
 * with mend__boundary_tell_drained, or NULL. */
mend_token *mend__boundary_drained(const mend_boundary *boundary);
void mend__boundary_tell_drained(mend_token *drain);
/* A call whose tool is about to run apart from its passage, and one whose tool has come to its end. */
void mend__boundary_enlist(mend_call *call, mend_tool_kind kind);
void mend__boundary_delist(mend_call *call);
/* That tool runs on this thread now; and an asynchronous one, which has begun there, does not any more. */
void mend__boundary_step_in(mend_call *call);
void mend__boundary_step_out(mend__passage *passage);

/* ---- result.c ---- */

/* Fills in a result for what went no further, and returns the status. sentence: NULL for the status's own. */
mend_status mend__result_refuse(mend_result *result, const mend_allocator *allocator, mend_status status,
                                const char *sentence);
/* What every flow begins with: a result of its own, moved to the caller's at the end. What the caller's holds may be
 * the call's input, and a tool may clear it. MEND_EINVAL, told by `result` where it can be. */
mend_status mend__flow_begin(const mend_boundary *boundary, mend_result *result, mend_result *ret_own);
/* Copies `text` into the result and lets *field, one of its members, point to the copy; absent stays absent. Frees what
 * the field held. MEND_ENOMEM leaves the field as it was. */
mend_status mend__result_set(mend_result *result, const mend_allocator *allocator, mend_str *field, mend_str text);
/* What `to` held is freed; `from` is empty afterwards. */
void mend__result_move(mend_result *to, mend_result *from);

#endif
