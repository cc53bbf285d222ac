/* House header: several calls that a token ends, for who makes them within something that may be cancelled. */
#ifndef MEND_HOOKS_UNTIL_H
#define MEND_HOOKS_UNTIL_H

#include "mend/flows.h"

/* As mend_boundary_call_all; when `until` is cancelled, those that are open are cancelled as by mend_run_cancel_call,
 * with its reason, and so are those that begin afterwards. NULL: nothing ends them. MEND_ENOMEM also when there is no
 * memory to listen. */
mend_status mend__boundary_call_all_until(mend_boundary *boundary, mend_batch_call *calls, size_t count,
                                          mend_token *until);

#endif
