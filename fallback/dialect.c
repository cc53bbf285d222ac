#include "fallback/dialect.h"

static const mend__dialect *const dialects[] = {&mend__dialect_openai, &mend__dialect_openai_responses,
                                                &mend__dialect_anthropic, &mend__dialect_google,
                                                &mend__dialect_compatible};

const mend__dialect *mend__dialect_find(mend_str provider) {
  for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++) {
    if (mend_str_equal(provider, mend_str_from(dialects[i]->provider))) return dialects[i];
  }
  return NULL;
}

const mend__dialect *mend__dialect_at(size_t index) {
  return index < sizeof dialects / sizeof *dialects ? dialects[index] : NULL;
}

mend_status mend__dialect_write(const mend__dialect *dialect, const mend_model_request *request, mend_str model_id,
                                const char *key, mend__wire *wire, mend_error *error) {
  const mend_status status = dialect->write(request, model_id, key, wire, error);
  return status == MEND_OK ? mend__wire_finish(wire, request->extra, error) : status;
}
