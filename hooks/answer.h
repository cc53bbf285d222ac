/* House header: what a call has answered, for rooms that wrap a tool's execute and replace its answer. Only for a
 * blocking call, on its tool's thread, before execute returns: the answer of another one is on its way as soon as it is
 * given. */
#ifndef MEND_HOOKS_ANSWER_H
#define MEND_HOOKS_ANSWER_H

#include "mend/tools.h"

/* Whether it has answered. *ret_value: the result, JSON, valid until it is forgotten; absent when the call failed or
 * asks. Written only for an answer. */
bool mend__call_answered(const mend_call *call, mend_str *ret_value);
/* Whether the answer is a question for a person, which must reach it. */
bool mend__call_asks(const mend_call *call);
/* Answers with what execute returned, unless there is an answer. */
void mend__call_answer_status(mend_call *call, mend_status status);
/* mend_call_escalate for a question that a hook asked of another call; absent: its tool asked. */
mend_status mend__call_escalate_by(mend_call *call, mend_str question, mend_str hook);
/* Begins the answer anew. */
void mend__call_forget_answer(mend_call *call);
/* What the call's boundary allocates with. */
const mend_allocator *mend__call_allocator(const mend_call *call);

#endif
