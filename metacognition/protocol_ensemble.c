#include "core/json_hash.h"
#include "core/options_size.h"
#include "metacognition/metacognition_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { RUNS_MIN = 2, RUNS_MAX = 100 };

typedef struct ensemble {
  const mend_allocator *allocator;
  uint32_t k;
} ensemble;

/* The outputs of the runs that gave one. */
typedef struct outputs {
  uint32_t count;
  mend_hash hashes[RUNS_MAX];
} outputs;

/* ---- The runs ---- */

/* MEND_ESYNTAX for what is no output. */
static mend_status add(outputs *all, mend_str output, const mend_allocator *allocator) {
  mend_json_hash_result read;
  mend_status status = mend__json_hash_alloc(output, allocator, &read);
  if (status == MEND_OK && read.raw) status = mend_json_check(output, MEND_JSON_DEPTH_MAX, NULL);
  if (status == MEND_OK) all->hashes[all->count++] = read.hash;
  return status;
}

static mend_status run_again(const ensemble *self, const mend_protocol_input *input, outputs *all) {
  char *output = NULL;
  mend_status status = input->again(input->again_ctx, &output);
  if (status == MEND_OK && output == NULL) status = MEND_EFAILED;
  if (status == MEND_OK) status = add(all, mend_str_from(output), self->allocator);
  free(output);
  return status;
}

/* A run that fails is left out. Once the run of the whole is aborted or its call cancelled, none will succeed. */
static bool is_over(mend_status status) { return status == MEND_ABORTED || status == MEND_ECANCELLED; }

static mend_status run_all(const ensemble *self, const mend_protocol_input *input, outputs *all) {
  mend_status status = add(all, input->output, self->allocator);
  for (uint32_t run = 1; run < self->k && !is_over(status); run++)
    status = run_again(self, input, all);
  return is_over(status) ? status : MEND_OK;
}

/* ---- Their agreement ---- */

static double agreement(const outputs *all) {
  uint32_t equal = 0;
  for (uint32_t i = 0; i < all->count; i++) {
    for (uint32_t j = 0; j < i; j++)
      equal += mend_hash_equal(all->hashes[i], all->hashes[j]);
  }
  return equal / (all->count * (all->count - 1) / 2.0);
}

static mend_status tell_runs(const ensemble *self, const outputs *all, mend_enriched *enriched) {
  char metadata[64];
  snprintf(metadata, sizeof metadata, "{\"runs\":%u,\"failed\":%u}", self->k, self->k - all->count);
  return mend_enriched_set(enriched, &enriched->metadata, mend_str_from(metadata));
}

static mend_status measure(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  const ensemble *self = ctx;
  outputs all = {.count = 0};
  if (input->again == NULL) return mend_error_set(error, MEND_EINVAL, "the agent cannot be run again");
  mend_status status = run_all(self, input, &all);
  if (status != MEND_OK)
    return mend_error_set(error, status, "running the agent again: %s", mend_status_message(status));
  status = tell_runs(self, &all, enriched);
  if (status != MEND_OK) return status;
  if (all.count < RUNS_MIN) {
    return mend_error_set(error, MEND_EFAILED, "%u of %u runs gave an output, expected %d at least", all.count, self->k,
                          RUNS_MIN);
  }
  enriched->confidence = agreement(&all);
  return MEND_OK;
}

/* ---- Life ---- */

static void destroy(void *ctx) {
  ensemble *self = ctx;
  mend__free(self->allocator, self);
}

static const mend_protocol_vtable vtable = {
    .size = sizeof vtable,
    .name = "ensemble",
    .measure = measure,
    .destroy = destroy,
};

mend_status mend_protocol_new_ensemble(const mend_ensemble_options *given, mend_protocol **ret_protocol,
                                       mend_error *error) {
  mend_ensemble_options options = MEND_ENSEMBLE_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_ensemble_options", error);
  if (status == MEND_OK) {
    status = mend__options_check_range("mend_ensemble_options.k", options.k, RUNS_MIN, RUNS_MAX, error);
  }
  if (status != MEND_OK) return status;
  ensemble *self = mend__alloc(options.allocator, sizeof *self);
  if (self == NULL) return mend_error_set(error, MEND_ENOMEM, "protocol ensemble: out of memory");
  *self = (ensemble){options.allocator, options.k};
  status = mend_protocol_new(&vtable, self, options.allocator, ret_protocol, error);
  if (status != MEND_OK) destroy(self);
  return status;
}
