#include "core/options_size.h"
#include "metacognition/metacognition_internal.h"

#include <stdatomic.h>
#include <stdio.h>

enum { NAME_SIZE = 64 };

struct mend_protocol {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend_protocol_vtable vtable; /* its name is the one below */
  void *ctx;
  char name[NAME_SIZE];
};

/* ---- Life ---- */

static mend_status take_vtable(const mend_protocol_vtable *given, mend_protocol_vtable *ret_vtable, mend_error *error) {
  *ret_vtable = (mend_protocol_vtable){.size = sizeof *ret_vtable};
  const mend_status status = mend__options_require(ret_vtable, given, "mend_protocol_vtable", error);
  if (status != MEND_OK) return status;
  const size_t len = ret_vtable->name != NULL ? strnlen(ret_vtable->name, NAME_SIZE) : 0;
  if (len == 0 || len == NAME_SIZE) {
    return mend_error_set(error, MEND_EINVAL, "mend_protocol_vtable.name: it has %s bytes, expected 1 to %d",
                          len == 0 ? "no" : "too many", NAME_SIZE - 1);
  }
  if (ret_vtable->measure != NULL) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "protocol %s: measure is NULL, expected a function", ret_vtable->name);
}

mend_status mend_protocol_new(const mend_protocol_vtable *vtable, void *ctx, const mend_allocator *allocator,
                              mend_protocol **ret_protocol, mend_error *error) {
  mend_protocol_vtable taken;
  const mend_status status = take_vtable(vtable, &taken, error);
  if (status != MEND_OK) return status;
  mend_protocol *protocol = mend__alloc_zero(allocator, sizeof *protocol);
  if (protocol == NULL) return mend_error_set(error, MEND_ENOMEM, "protocol %s: out of memory", taken.name);
  atomic_init(&protocol->references, 1);
  protocol->allocator = allocator;
  protocol->vtable = taken;
  protocol->ctx = ctx;
  snprintf(protocol->name, sizeof protocol->name, "%s", taken.name);
  protocol->vtable.name = protocol->name;
  *ret_protocol = protocol;
  return MEND_OK;
}

mend_protocol *mend_protocol_retain(mend_protocol *protocol) {
  atomic_fetch_add_explicit(&protocol->references, 1, memory_order_relaxed);
  return protocol;
}

void mend_protocol_release(mend_protocol *protocol) {
  if (protocol == NULL || atomic_fetch_sub_explicit(&protocol->references, 1, memory_order_acq_rel) > 1) return;
  if (protocol->vtable.destroy != NULL) protocol->vtable.destroy(protocol->ctx);
  mend__free(protocol->allocator, protocol);
}

const char *mend_protocol_name(const mend_protocol *protocol) { return protocol->name; }

/* ---- Asking it ---- */

static mend_status take_input(const mend_protocol_input *given, mend_protocol_input *ret_input, mend_error *error) {
  *ret_input = (mend_protocol_input)MEND_PROTOCOL_INPUT_INIT;
  const mend_status status = mend__options_require(ret_input, given, "mend_protocol_input", error);
  if (status != MEND_OK) return status;
  if (ret_input->log_prob_count > 0 && ret_input->log_probs == NULL) {
    return mend_error_set(error, MEND_EINVAL,
                          "mend_protocol_input.log_probs: NULL, expected log_prob_count (%zu) of them",
                          ret_input->log_prob_count);
  }
  if (ret_input->output.ptr == NULL) ret_input->output = MEND_STR("null");
  if (ret_input->result.ptr == NULL) ret_input->result = ret_input->output;
  return MEND_OK;
}

static mend_status begin(const mend_protocol *protocol, mend_str output, mend_enriched *enriched) {
  const mend_status status = mend_enriched_set(enriched, &enriched->output, output);
  if (status != MEND_OK) return status;
  return mend_enriched_set(enriched, &enriched->protocol_name, mend_str_from(protocol->name));
}

static void write_member(mend__buffer *object, mend_str key, mend_str value) {
  mend__buffer_char(object, '"');
  mend__buffer_str(object, key);
  mend__buffer_str(object, MEND_STR("\":"));
  mend__buffer_str(object, value);
  mend__buffer_char(object, ',');
}

/* What it has already told in metadata stays there, up to where that is no JSON or nests too deeply. */
static void write_failure(mend__buffer *metadata, mend_str told, const char *sentence) {
  mend_json json;
  mend_str value;
  mend_json_init(&json, told, MEND_JSON_DEPTH);
  mend_json_next(&json);
  mend__buffer_char(metadata, '{');
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const mend_str key = json.slice;
    if (mend_json_value(&json, &value) == MEND_OK) write_member(metadata, key, value);
  }
  mend__buffer_str(metadata, MEND_STR("\"protocol_error\":"));
  mend__buffer_json_string(metadata, mend_str_from(sentence));
  mend__buffer_char(metadata, '}');
}

static mend_status tell_failure(const mend_protocol *protocol, mend_str output, const char *sentence,
                                mend_enriched *enriched) {
  mend__buffer metadata;
  mend__buffer_init(&metadata, enriched->allocator);
  write_failure(&metadata, enriched->metadata, sentence);
  enriched->confidence = MEND_NAN;
  mend_enriched_set(enriched, &enriched->uncertainty_targets, (mend_str)MEND_ABSENT);
  mend_enriched_set(enriched, &enriched->capability_boundary, (mend_str)MEND_ABSENT);
  mend_status status = begin(protocol, output, enriched);
  if (status == MEND_OK) status = mend__enriched_set_written(enriched, &enriched->metadata, &metadata);
  mend__buffer_free(&metadata);
  return status;
}

static mend_status enrich(const mend_protocol *protocol, const mend_protocol_input *input, mend_enriched *enriched,
                          mend_error *error) {
  mend_status status = begin(protocol, input->result, enriched);
  if (status == MEND_OK) status = mend__enriched_check(enriched, error);
  if (status != MEND_OK) return status;
  mend_error failure = MEND_ERROR_INIT;
  status = protocol->vtable.measure(protocol->ctx, input, enriched, &failure);
  if (status == MEND_OK) status = mend__enriched_check(enriched, &failure);
  enriched->confidence = mend__clamp_confidence(enriched->confidence);
  if (status == MEND_OK) return MEND_OK;
  return tell_failure(protocol, input->result, mend_error_sentence(&failure, status), enriched);
}

mend_status mend_protocol_enrich(mend_protocol *protocol, const mend_protocol_input *given,
                                 const mend_allocator *allocator, mend_enriched *ret_enriched, mend_error *error) {
  mend_protocol_input input;
  if (protocol == NULL) return mend_error_set(error, MEND_EINVAL, "protocol: NULL, expected one");
  if (ret_enriched == NULL || ret_enriched->size < sizeof *ret_enriched) {
    return mend_error_set(error, MEND_EINVAL, "mend_enriched: its size is too small, start from MEND_ENRICHED_INIT");
  }
  mend_status status = take_input(given, &input, error);
  if (status != MEND_OK) return status;
  mend_enriched own = MEND_ENRICHED_INIT;
  own.allocator = allocator;
  status = enrich(protocol, &input, &own, error);
  if (status == MEND_OK) {
    mend__enriched_move(ret_enriched, &own);
  } else {
    mend_enriched_clear(&own);
  }
  return status == MEND_ENOMEM ? mend_error_set(error, status, "protocol %s: out of memory", protocol->name) : status;
}
