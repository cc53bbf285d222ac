#include "core/texts.h"
#include "hooks/boundary_internal.h"

const char *mend_outcome_name(mend_outcome outcome) {
  switch (outcome) {
  case MEND_OUTCOME_OK: return "ok";
  case MEND_OUTCOME_SKIPPED: return "skipped";
  case MEND_OUTCOME_ESCALATED: return "escalated";
  case MEND_OUTCOME_REDIRECTED: return "redirected";
  case MEND_OUTCOME_FAILED: return "failed";
  case MEND_OUTCOME_ABORTED: return "aborted";
  case MEND_OUTCOME_CANCELLED: return "cancelled";
  }
  return "unknown";
}

mend_status mend__result_set(mend_result *result, const mend_allocator *allocator, mend_str *field, mend_str text) {
  return mend__texts_set(&result->memory, allocator, field, text);
}

/* Without memory for the sentence the status's own stays. */
mend_status mend__result_refuse(mend_result *result, const mend_allocator *allocator, mend_status status,
                                const char *sentence) {
  result->outcome = MEND_OUTCOME_FAILED;
  result->error_type = mend_str_from(mend_status_name(status));
  result->error_message = mend_str_from(mend_status_message(status));
  if (sentence != NULL && *sentence != '\0') {
    mend__result_set(result, allocator, &result->error_message, mend_str_from(sentence));
  }
  return status;
}

/* There is no result to tell it by. */
static mend_status refuse_result(const mend_boundary *boundary, const mend_result *result) {
  mend_error error = MEND_ERROR_INIT;
  if (boundary == NULL) return MEND_EINVAL;
  if (result == NULL) {
    mend_error_set(&error, MEND_EINVAL, "a call was refused: its mend_result is NULL");
  } else {
    mend_error_set(&error, MEND_EINVAL,
                   "a call was refused: the size of its mend_result is %zu, start from MEND_RESULT_INIT", result->size);
  }
  mend__bus_log(mend_run_bus(boundary->run), MEND_LOG_ERROR, error.message);
  return MEND_EINVAL;
}

mend_status mend__flow_begin(const mend_boundary *boundary, mend_result *result, mend_result *ret_own) {
  if (result == NULL || result->size < sizeof *result) return refuse_result(boundary, result);
  *ret_own = (mend_result)MEND_RESULT_INIT;
  if (boundary != NULL) return MEND_OK;
  mend_result_clear(result);
  return mend__result_refuse(result, NULL, MEND_EINVAL,
                             "boundary: NULL, expected one; a healing runner has none outside of a scope");
}

void mend__result_move(mend_result *to, mend_result *from) {
  mend__texts_free(&to->memory);
  const size_t size = to->size;
  *to = *from;
  to->size = size;
  *from = (mend_result)MEND_RESULT_INIT;
}

void mend_result_clear(mend_result *result) {
  if (result == NULL) return;
  mend__texts_free(&result->memory);
  const size_t size = result->size;
  *result = (mend_result)MEND_RESULT_INIT;
  result->size = size;
}
