#include "mend/metacognition.h"
#include "torture/boundary.h"

#include <stdlib.h>

#define SURE MEND_STR("{\"answer\": 42, \"self_confidence\": 0.75, \"uncertain_about\": [\"the year\"]}")

/* ---- Enriched output ---- */

static mend_status write_and_read(torture *t) {
  mend_enriched written = MEND_ENRICHED_INIT, read = MEND_ENRICHED_INIT;
  char *json = NULL;
  size_t len = 0;
  mend_status status = MEND_OK;
  written.output = SURE;
  written.confidence = 0.75;
  written.uncertainty_targets = MEND_STR("[\"the year\"]");
  written.protocol_name = MEND_STR("structured");
  TRY(mend_enriched_write(&written, t->allocator, &json, &len));
  TRY(mend_enriched_read((mend_str){json, len}, t->allocator, &read));
  torture_must(t, read.confidence == 0.75 && read.uncertainty_targets.ptr != NULL, "what was written is read");
end:
  mend_enriched_clear(&read);
  mend_free(t->allocator, json);
  return status;
}

/* ---- Protocols: one that lacks memory says so in its metadata, and gives no confidence ---- */

static mend_status enrich(torture *t, mend_protocol *protocol, mend_protocol_input *input) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  input->prompt = MEND_STR("how many?");
  input->output = SURE;
  input->result = SURE;
  const mend_status status = mend_protocol_enrich(protocol, input, t->allocator, &enriched, NULL);
  if (enriched.confidence != enriched.confidence) t->reported = true; /* the metadata says why */
  torture_claim(t, status != MEND_OK || enriched.confidence > 0, "it has a confidence");
  mend_enriched_clear(&enriched);
  return status;
}

static mend_status ask_structured(torture *t) {
  mend_structured_options options = MEND_STRUCTURED_OPTIONS_INIT;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  mend_protocol *protocol = NULL;
  mend_status status = MEND_OK;
  options.allocator = t->allocator;
  TRY(mend_protocol_new_structured(&options, &protocol, NULL));
  TRY(enrich(t, protocol, &input));
end:
  mend_protocol_release(protocol);
  return status;
}

static mend_status reply(void *ctx, mend_str prompt, char **ret_reply) {
  (void)ctx;
  (void)prompt;
  *ret_reply = strdup("```json\n{\"confidence\": 0.5, \"uncertain_about\": [\"all\"]}\n```");
  return MEND_OK;
}

static mend_status ask_for_rating(torture *t) {
  mend_self_rating_options options = MEND_SELF_RATING_OPTIONS_INIT;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  mend_protocol *protocol = NULL;
  mend_status status = MEND_OK;
  options.allocator = t->allocator;
  options.ask = reply;
  TRY(mend_protocol_new_self_rating(&options, &protocol, NULL));
  TRY(enrich(t, protocol, &input));
end:
  mend_protocol_release(protocol);
  return status;
}

static mend_status answer_again(void *ctx, char **ret_output) {
  (void)ctx;
  *ret_output = strdup(SURE.ptr);
  return MEND_OK;
}

static mend_status ask_ensemble(torture *t) {
  mend_ensemble_options options = MEND_ENSEMBLE_OPTIONS_INIT;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  mend_protocol *protocol = NULL;
  mend_status status = MEND_OK;
  options.allocator = t->allocator;
  input.again = answer_again;
  TRY(mend_protocol_new_ensemble(&options, &protocol, NULL));
  TRY(enrich(t, protocol, &input));
end:
  mend_protocol_release(protocol);
  return status;
}

/* ---- The hook ---- */

static mend_status say_sure(void *ctx, mend_call *call, mend_str prompt) {
  (void)ctx;
  (void)prompt;
  return mend_call_succeed(call, SURE);
}

/* Whether the result tells why it has no confidence. */
static bool says_why(mend_str result) {
  mend_enriched enriched = MEND_ENRICHED_INIT;
  const mend_status status = mend_enriched_read(result, NULL, &enriched);
  const bool says = status == MEND_OK && enriched.confidence != enriched.confidence && enriched.metadata.ptr != NULL;
  mend_enriched_clear(&enriched);
  return says;
}

static mend_status call_enriched(torture *t, mend_protocol *protocol, mend_hooks *hooks) {
  const mend_compound_tool tool = {.size = sizeof tool, .name = "historian", .agent = say_sure};
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  mend_boundary *boundary;
  options.run = t->run;
  options.hooks = hooks;
  mend_status status = mend_boundary_new(&options, &boundary, NULL);
  if (status != MEND_OK) return status;
  status = mend_boundary_compound_enriched(boundary, &tool, protocol, MEND_STR("when?"), &result);
  if (status == MEND_OK) torture_claim(t, t->events == 1 || says_why(result.value), "the confidence is published");
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  return status;
}

static mend_status publish_confidence(torture *t) {
  mend_structured_options options = MEND_STRUCTURED_OPTIONS_INIT;
  mend_protocol *protocol = NULL;
  mend_hooks *hooks = NULL;
  mend_status status = torture_open_bus(t);
  options.allocator = t->allocator;
  if (status != MEND_OK) goto end;
  TRY(mend_bus_subscribe(t->bus, "metacognition.confidence", torture_count_event, t, NULL, NULL, NULL));
  TRY(mend_protocol_new_structured(&options, &protocol, NULL));
  TRY(mend_hooks_new(t->allocator, &hooks));
  TRY(mend_hooks_add_metacognition(hooks, NULL, NULL));
  status = call_enriched(t, protocol, hooks);
end:
  mend_hooks_release(hooks);
  mend_protocol_release(protocol);
  torture_close_bus(t);
  return status;
}

static const torture_scenario scenarios[] = {
    {"an enriched result, written and read", write_and_read, NULL, NULL},
    {"protocol structured", ask_structured, NULL, NULL},
    {"protocol self_rating", ask_for_rating, NULL, NULL},
    {"protocol ensemble", ask_ensemble, NULL, NULL},
    {"a compound tool and the hook", publish_confidence, NULL, NULL},
};
const torture_room torture_metacognition = TORTURE_ROOM("metacognition", scenarios);
