/* A provider, and whether it answers. */
#ifndef MEND_PROGRAM_DOCTOR_PROVIDER_H
#define MEND_PROGRAM_DOCTOR_PROVIDER_H

#include "program/doctor/sheet.h"
#include "program/doctor/visit.h"

/* One that is asked for its list of models. */
typedef struct doctor_provider {
  const mend__dialect *dialect;
  const char *base_url;
  bool by_proxy;
  bool has_list; /* the visit's body is one */
  visit visit;
} doctor_provider;

/* The variable of the environment that has its key; NULL: none has. */
const char *doctor_find_variable(const mend__dialect *dialect);
const char *doctor_find_key(const mend__dialect *dialect);
/* Asks, for so many seconds at most, and says what came of it; visit_free(&asked->visit) in any case. Errors:
 * MEND_ENOMEM. */
mend_status doctor_check_provider(doctor_sheet *sheet, doctor_provider *asked, mend_loop *loop, mend__http *http,
                                  double limit_s, mend_error *error);
#endif
