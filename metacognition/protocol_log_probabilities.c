#include "metacognition/metacognition_internal.h"

#include <math.h>
#include <stdio.h>

static mend_status read_probability(const mend_protocol_input *input, size_t index, double *ret_probability,
                                    mend_error *error) {
  const double log_prob = input->log_probs[index];
  if (isnan(log_prob) || log_prob == INFINITY) {
    return mend_error_set(error, MEND_EINVAL, "log_probs[%zu]: %s, expected the logarithm of a probability", index,
                          isnan(log_prob) ? "not a number" : "infinite");
  }
  *ret_probability = mend__clamp_confidence(exp(log_prob));
  return MEND_OK;
}

static mend_status tell_tokens(size_t count, mend_enriched *enriched) {
  char metadata[64];
  snprintf(metadata, sizeof metadata, "{\"tokens\":%zu}", count);
  return mend_enriched_set(enriched, &enriched->metadata, mend_str_from(metadata));
}

static mend_status measure(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  (void)ctx;
  double sum = 0;
  if (input->log_prob_count == 0) {
    return mend_error_set(error, MEND_EINVAL, "log_probs: none, the model gave no probabilities of its tokens");
  }
  for (size_t i = 0; i < input->log_prob_count; i++) {
    double probability = 0;
    const mend_status status = read_probability(input, i, &probability, error);
    if (status != MEND_OK) return status;
    sum += probability;
  }
  enriched->confidence = sum / (double)input->log_prob_count;
  return tell_tokens(input->log_prob_count, enriched);
}

mend_status mend_protocol_new_log_probabilities(const mend_allocator *allocator, mend_protocol **ret_protocol,
                                                mend_error *error) {
  static const mend_protocol_vtable vtable = {.size = sizeof vtable, .name = "log_probabilities", .measure = measure};
  return mend_protocol_new(&vtable, NULL, allocator, ret_protocol, error);
}
