/* What docs/guide/healing.md quotes beside porting.c. */
#include "mend/healing.h"

mend_status end_hung_calls(void *ctx, const mend_detection *detection, mend_action *ret_action);

mend_status end_hung_calls(void *ctx, const mend_detection *detection, mend_action *ret_action) {
  mend_run *run = ctx;
  if (!mend_str_equal(detection->detector, MEND_STR("stall"))) return mend_default_policy(NULL, detection, ret_action);
  mend_run_cancel_call(run, mend_call_from_name(detection->last_call), detection->summary);
  *ret_action = mend_action_escalate("%.*s. Try again?", MEND_STR_ARG(detection->summary));
  return MEND_OK;
}

mend_status new_runner(const mend_key *keys, size_t key_count, mend_healing_runner **ret_runner, mend_error *error);

mend_status new_runner(const mend_key *keys, size_t key_count, mend_healing_runner **ret_runner, mend_error *error) {
  mend_options config = MEND_OPTIONS_INIT;
  mend_fallback_options models = MEND_FALLBACK_OPTIONS_INIT;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  config.fallback.models = MEND_STR("[\"openai:gpt-4.1\", \"anthropic:claude-sonnet-4-6\"]");
  models.keys = keys;
  models.key_count = key_count;
  models.profile = MEND_FALLBACK_RESILIENT;
  options.config = &config;
  options.models = &models;
  return mend_healing_runner_new(&options, ret_runner, error);
}
