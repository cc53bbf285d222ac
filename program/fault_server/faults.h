/* Faults by their names: how one gets into a plan, and which there are. */
#ifndef MEND_PROGRAM_FAULT_SERVER_FAULTS_H
#define MEND_PROGRAM_FAULT_SERVER_FAULTS_H

#include "program/fault_server/plan.h"

#include <stdio.h>

/* "reset_after=5": puts one fault into the plan. Errors name it, and the nearest one that exists: MEND_EINVAL,
 * MEND_ENOMEM. */
mend_status fault_apply(fault_plan *plan, mend_str text, mend_error *error);
/* "status=503,retry_after=2": the same for a list; %XX stands for a byte that is no separator. */
mend_status fault_apply_list(fault_plan *plan, mend_str list, mend_error *error);

/* The same for a JSON string that is such a list, or an array of strings, each a fault as it is. */
mend_status fault_apply_json(fault_plan *plan, mend_str json, mend_error *error);

/* The name of the index-th fault that is not a provider's error (those: wordings.h); NULL behind the last. Static. */
const char *fault_name(size_t index);
/* One line a fault. */
void fault_list(FILE *out);

#endif
