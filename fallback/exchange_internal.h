/* Between exchange.c, which begins and hears what the model tells, and exchange_end.c: how an exchange ends. */
#ifndef MEND_FALLBACK_EXCHANGE_INTERNAL_H
#define MEND_FALLBACK_EXCHANGE_INTERNAL_H

#include "fallback/fallback_internal.h"

/* Ends of an open one. What they are given may be completed on the way. */
void mend__exchange_succeed(mend_exchange *exchange, mend_reply *reply);
void mend__exchange_end_failed(mend_exchange *exchange, mend_status status, const mend_failure *failure,
                               const mend_failure_signal *signal);
/* type: as of mend_failure_signal.transport */
void mend__exchange_end_by(mend_exchange *exchange, mend_status status, const char *type, const char *sentence);
void mend__exchange_end_without_memory(mend_exchange *exchange);
/* The same, of one whose model does not know yet. */
void mend__exchange_run_out_of_memory(mend_exchange *exchange);

/* For its timer, and to be posted. */
void mend__exchange_ring(void *ctx);
void mend__exchange_run_cancel(void *ctx);
void mend__exchange_let_go(void *ctx);

#endif
