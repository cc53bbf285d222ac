/* What docs/guide/healing.md quotes beside porting.c. */
#include "mend/flows.h"

mend_status end_hung_calls(void *ctx, const mend_detection *detection, mend_action *ret_action);

mend_status end_hung_calls(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  mend_run *run = ctx;
  if (!mend_str_equal(detection->detector, MEND_STR("stall"))) return mend_default_policy(NULL, detection, ret_action);
  mend_run_cancel_call(run, mend_call_from_name(detection->last_call), detection->summary);
  *ret_action = mend_action_escalate("%.*s. Try again?", MEND_STR_ARG(detection->summary));
  return MEND_OK;
}
