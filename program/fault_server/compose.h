/* From a question and a plan to what is sent. */
#ifndef MEND_PROGRAM_FAULT_SERVER_COMPOSE_H
#define MEND_PROGRAM_FAULT_SERVER_COMPOSE_H

#include "program/fault_server/plan.h"
#include "program/fault_server/question.h"

/* given: what the model is to say (answer.h), absent: its own words. Errors: MEND_EINVAL (it is no such object),
 * MEND_ENOMEM. */
mend_status compose(const question *asked, const fault_plan *plan, mend_str given, delivery *to, mend_error *error);
/* An answer of the server's own, for a request that it cannot take: the connection is closed behind it. */
void compose_complaint(int status, const char *sentence, delivery *to);

#endif
