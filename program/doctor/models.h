/* Models, their keys, and whether their providers can be reached. */
#ifndef MEND_PROGRAM_DOCTOR_MODELS_H
#define MEND_PROGRAM_DOCTOR_MODELS_H

#include "mend/fallback.h"
#include "program/doctor/sheet.h"

/* Borrowed. */
typedef struct doctor_models {
  const char *const *names; /* provider:model_id */
  size_t count;
  const mend_endpoint *endpoints;
  size_t endpoint_count;
  const char *proxy, *ca_file; /* NULL: none, the system's */
  double limit_s;              /* of a request */
  bool offline;                /* nobody is asked */
} doctor_models;

/* Keys are those of the environment; none is ever shown, nor what a provider says, which may repeat it. Errors, with a
 * sentence: what could not be looked at at all. */
mend_status doctor_check_models(doctor_sheet *sheet, const doctor_models *models, mend_error *error);

#endif
