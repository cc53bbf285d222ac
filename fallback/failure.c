#include "core/memory.h"
#include "fallback/fallback_internal.h"

#include <stdio.h>

static mend_str name_of_signal(const mend_failure_signal *signal) {
  if (signal->transport != NULL) return mend_str_from(signal->transport);
  return signal->http_status != 0 && signal->http_status != 200 ? MEND_STR("http_error") : MEND_STR("bad_reply");
}

void mend__failure_hide(mend_failure *failure, const char *row, char instead[MEND__INSTEAD_MAX]) {
  failure->body = (mend_str){NULL, 0};
  snprintf(instead, MEND__INSTEAD_MAX, "%s (HTTP status %u)", row, (unsigned)failure->http_status);
  failure->message = mend_str_from(instead);
}

void mend__failure_complete(mend_failure *failure, const mend_failure_signal *signal, const mend_classification *table,
                            char instead[MEND__INSTEAD_MAX]) {
  enum { BODY_SHOWN = 64 * 1024 };
  mend_failure_class row = MEND_FAILURE_CLASS_INIT;
  if (table != NULL) mend_classify(table, signal, &row);
  if (row.hides_body) mend__failure_hide(failure, row.name, instead);
  if (failure->body.len > BODY_SHOWN) failure->body.len = mend__utf8_cut(failure->body, BODY_SHOWN);
  if (failure->type.len == 0) failure->type = row.name != NULL ? mend_str_from(row.name) : name_of_signal(signal);
  if (failure->message.len == 0) failure->message = failure->type;
}
