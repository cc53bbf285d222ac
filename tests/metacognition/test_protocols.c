/* The four protocols, one's own, and what becomes of a protocol that fails. */
#include "cases.h"

#include <math.h>

/* ---- Structured: tests/data/metacognition/structured.cases ---- */

static void structured_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = given;
  expect_measured(title, ctx, &input, expected);
}

Test(protocols, structured) {
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new_structured(NULL, &protocol, NULL), MEND_OK);
  cr_assert_str_eq(mend_protocol_name(protocol), "structured");
  each_case("metacognition/structured.cases", structured_case, protocol);
  mend_protocol_release(protocol);

  char name[] = "sure";
  mend_structured_options options = MEND_STRUCTURED_OPTIONS_INIT;
  options.confidence_field = name;
  options.uncertainty_field = "unsure";
  options.boundary_field = "cannot";
  cr_assert_eq(mend_protocol_new_structured(&options, &protocol, NULL), MEND_OK);
  name[0] = '\0';
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = MEND_STR("{\"sure\":0.5,\"unsure\":\"a\",\"cannot\":\"b\",\"self_confidence\":1}");
  input.result = MEND_STR("\"done\"");
  expect_measured("other names, and a result of its own", protocol, &input,
                  MEND_STR("{\"output\":\"done\",\"confidence\":0.5,\"uncertainty_targets\":[\"a\"],"
                           "\"capability_boundary\":\"b\",\"protocol_name\":\"structured\",\"metadata\":{}}"));
  mend_protocol_release(protocol);
}

/* ---- Self-rating: self_rating.cases; a reply is a string, null for none, false for a model that fails ---- */

typedef struct model {
  mend_str reply;
  char question[512];
} model;

static char *unescape(mend_str quoted) {
  char *text = malloc(quoted.len);
  cr_assert_not_null(text);
  text[mend_json_unescape((mend_str){quoted.ptr + 1, quoted.len - 2}, text)] = '\0';
  return text;
}

static mend_status ask(void *ctx, mend_str question, char **ret_reply) {
  model *self = ctx;
  snprintf(self->question, sizeof self->question, "%.*s", MEND_STR_ARG(question));
  if (mend_str_equal(self->reply, MEND_STR("false"))) return MEND_EFAILED;
  if (self->reply.ptr[0] == '"') *ret_reply = unescape(self->reply);
  return MEND_OK;
}

static void self_rating_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  model self = {.reply = given};
  mend_self_rating_options options = MEND_SELF_RATING_OPTIONS_INIT;
  options.ask = ask;
  options.ask_ctx = &self;
  options.instruction = ctx;
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new_self_rating(&options, &protocol, NULL), MEND_OK);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.prompt = MEND_STR("a task");
  input.output = MEND_STR("\"an answer\"");
  expect_measured(title, protocol, &input, expected);
  if (ctx != NULL) {
    cr_assert_str_eq(self.question, "How sure?\n\nThe task:\na task\n\nThe answer:\n\"an answer\"");
  } else {
    cr_assert_not_null(strstr(self.question, "\"outside_my_capability\""), "%s", self.question);
  }
  mend_protocol_release(protocol);
}

Test(protocols, self_rating) {
  each_case("metacognition/self_rating.cases", self_rating_case, "How sure?");
  each_case("metacognition/self_rating.cases", self_rating_case, NULL);
}

/* ---- Ensemble: ensemble.cases; an array of outputs, and words for runs that give none ---- */

typedef struct agent {
  mend_json runs;
} agent;

static mend_status run_agent(void *ctx, char **ret_output) {
  agent *self = ctx;
  mend_str output;
  cr_assert_eq(mend_json_value(&self->runs, &output), MEND_OK, "one run too many");
  if (mend_str_equal(output, MEND_STR("\"fail\""))) return MEND_EFAILED;
  if (mend_str_equal(output, MEND_STR("\"cancel\""))) return MEND_ECANCELLED;
  if (mend_str_equal(output, MEND_STR("\"nothing\""))) return MEND_OK;
  if (mend_str_equal(output, MEND_STR("\"no JSON\""))) output = MEND_STR("[1");
  *ret_output = strndup(output.ptr, output.len);
  return MEND_OK;
}

static uint32_t count_elements(mend_str array) {
  mend_json json;
  mend_str element;
  uint32_t count = 0;
  mend_json_init(&json, array, MEND_JSON_DEPTH);
  for (mend_json_next(&json); mend_json_value(&json, &element) == MEND_OK; count++)
    continue;
  return count;
}

static void ensemble_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  (void)ctx;
  agent self;
  mend_json_init(&self.runs, given, MEND_JSON_DEPTH);
  mend_json_next(&self.runs);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  cr_assert_eq(mend_json_value(&self.runs, &input.output), MEND_OK);
  input.again = run_agent;
  input.again_ctx = &self;
  mend_ensemble_options options = MEND_ENSEMBLE_OPTIONS_INIT;
  options.k = count_elements(given);
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new_ensemble(&options, &protocol, NULL), MEND_OK, "%s", title);
  expect_measured(title, protocol, &input, expected);
  if (strstr(title, "cancelled") == NULL) cr_assert_eq(mend_json_next(&self.runs), MEND_JSON_ARRAY_END, "%s", title);
  mend_protocol_release(protocol);
}

Test(protocols, ensemble) {
  each_case("metacognition/ensemble.cases", ensemble_case, NULL);
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new_ensemble(NULL, &protocol, NULL), MEND_OK);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  expect_measured("an agent that cannot be run again", protocol, &input,
                  MEND_STR("{\"output\":null,\"confidence\":null,\"uncertainty_targets\":[],"
                           "\"capability_boundary\":null,\"protocol_name\":\"ensemble\","
                           "\"metadata\":{\"protocol_error\":\"the agent cannot be run again\"}}"));
  mend_protocol_release(protocol);
}

/* ---- Log-probabilities: log_probabilities.cases; null is NaN ---- */

static void log_probabilities_case(void *ctx, const char *title, mend_str given, mend_str expected) {
  double log_probs[16];
  mend_json json;
  mend_str element;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = MEND_STR("\"a reply\"");
  input.log_probs = log_probs;
  mend_json_init(&json, given, MEND_JSON_DEPTH);
  for (mend_json_next(&json); mend_json_value(&json, &element) == MEND_OK;)
    log_probs[input.log_prob_count++] = element.ptr[0] == 'n' ? NAN : mend_json_double(element);
  expect_measured(title, ctx, &input, expected);
}

Test(protocols, log_probabilities) {
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new_log_probabilities(NULL, &protocol, NULL), MEND_OK);
  each_case("metacognition/log_probabilities.cases", log_probabilities_case, protocol);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  input.log_prob_count = 1;
  cr_assert_eq(mend_protocol_enrich(protocol, &input, NULL, &enriched, NULL), MEND_EINVAL);
  mend_protocol_release(protocol);
}

/* ---- One's own ---- */

typedef struct own {
  double confidence;
  const char *output, *targets, *boundary, *name, *metadata, *sentence;
  mend_status status;
  int destroyed;
} own;

static mend_status set(mend_enriched *enriched, mend_str *member, const char *text) {
  return text != NULL ? mend_enriched_set(enriched, member, mend_str_from(text)) : MEND_OK;
}

static mend_status measure(void *ctx, const mend_protocol_input *input, mend_enriched *enriched, mend_error *error) {
  const own *self = ctx;
  cr_assert(mend_str_equal(enriched->output, input->result));
  cr_assert(mend_str_equal(enriched->protocol_name, MEND_STR("own")));
  enriched->confidence = self->confidence;
  cr_assert_eq(set(enriched, &enriched->output, self->output), MEND_OK);
  cr_assert_eq(set(enriched, &enriched->uncertainty_targets, self->targets), MEND_OK);
  cr_assert_eq(set(enriched, &enriched->capability_boundary, self->boundary), MEND_OK);
  cr_assert_eq(set(enriched, &enriched->protocol_name, self->name), MEND_OK);
  cr_assert_eq(set(enriched, &enriched->metadata, self->metadata), MEND_OK);
  return self->sentence != NULL ? mend_error_set(error, self->status, "%s", self->sentence) : self->status;
}

static void destroy(void *ctx) { ((own *)ctx)->destroyed++; }

static const mend_protocol_vtable own_vtable = {
    .size = sizeof own_vtable, .name = "own", .measure = measure, .destroy = destroy};

/* A text of what is expected between output and metadata when it failed. */
#define FAILED "\"confidence\":null,\"uncertainty_targets\":[],\"capability_boundary\":null,\"protocol_name\":\"own\","

static const struct {
  const char *title;
  own self;
  const char *expected;
} own_cases[] = {
    {"fills in everything",
     {0.5, "2", "[\"a\"]", "b", "other", "{\"c\":1}", NULL, MEND_OK, 0},
     "{\"output\":2,\"confidence\":0.5,\"uncertainty_targets\":[\"a\"],\"capability_boundary\":\"b\","
     "\"protocol_name\":\"other\",\"metadata\":{\"c\":1}}"},
    {"a confidence out of range",
     {-3, NULL, NULL, NULL, NULL, NULL, NULL, MEND_OK, 0},
     "{\"output\":1,\"confidence\":0,\"uncertainty_targets\":[],\"capability_boundary\":null,"
     "\"protocol_name\":\"own\",\"metadata\":{}}"},
    {"fails with a sentence, what it said is forgotten but for metadata",
     {0.5, "2", "[\"a\"]", "b", "other", "{ \"c\" : {\"d\":1}, \"protocol_error\":0 }", "no luck", MEND_EIO, 0},
     "{\"output\":1," FAILED "\"metadata\":{\"c\":{\"d\":1},\"protocol_error\":0,\"protocol_error\":\"no luck\"}}"},
    {"fails without a sentence",
     {0.5, NULL, NULL, NULL, NULL, NULL, NULL, MEND_ENOMEM, 0},
     "{\"output\":1," FAILED "\"metadata\":{\"protocol_error\":\"out of memory\"}}"},
    {"targets that are none",
     {0.5, NULL, "\"a\"", NULL, NULL, NULL, NULL, MEND_OK, 0},
     "{\"output\":1," FAILED
     "\"metadata\":{\"protocol_error\":\"uncertainty_targets: \\\"a\\\", expected a JSON array of strings\"}}"},
    {"metadata that is no object",
     {0.5, NULL, NULL, NULL, NULL, "[1]", NULL, MEND_OK, 0},
     "{\"output\":1," FAILED "\"metadata\":{\"protocol_error\":\"metadata: [1], expected a JSON object\"}}"},
    {"metadata that ends too early",
     {0.5, NULL, NULL, NULL, NULL, "{\"a\":1,\"b\":", NULL, MEND_OK, 0},
     "{\"output\":1," FAILED
     "\"metadata\":{\"a\":1,\"protocol_error\":\"expected a value, found the end of the text\"}}"},
    {"an output that is no JSON",
     {0.5, "two", NULL, NULL, NULL, NULL, NULL, MEND_OK, 0},
     "{\"output\":1," FAILED "\"metadata\":{\"protocol_error\":\"expected true, found 'w'\"}}"},
    {"a name that is empty",
     {0.5, NULL, NULL, NULL, "", NULL, NULL, MEND_OK, 0},
     "{\"output\":1," FAILED "\"metadata\":{\"protocol_error\":\"protocol_name: none, expected one\"}}"},
};

static void expect_own(const char *title, own self, const char *expected) {
  mend_protocol *protocol;
  cr_assert_eq(mend_protocol_new(&own_vtable, &self, NULL, &protocol, NULL), MEND_OK);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = MEND_STR("1");
  expect_measured(title, protocol, &input, mend_str_from(expected));
  cr_assert_eq(mend_protocol_retain(protocol), protocol);
  mend_protocol_release(protocol);
  cr_assert_eq(self.destroyed, 0);
  mend_protocol_release(protocol);
  cr_assert_eq(self.destroyed, 1);
}

Test(protocols, ones_own) {
  for (size_t i = 0; i < sizeof own_cases / sizeof own_cases[0]; i++)
    expect_own(own_cases[i].title, own_cases[i].self, own_cases[i].expected);
  mend_protocol_release(NULL);

  enum { DEEP = 1030 };
  char metadata[2 * DEEP + 32];
  char *place = stpcpy(metadata, "{\"a\":1,\"b\":");
  memset(place, '[', DEEP);
  memset(place + DEEP, ']', DEEP);
  strcpy(place + 2 * (size_t)DEEP, "}");
  const own self = {.confidence = 0.5, .metadata = metadata};
  expect_own("metadata that nests too deeply", self,
             "{\"output\":1," FAILED
             "\"metadata\":{\"a\":1,\"protocol_error\":\"expected fewer open arrays and objects, found '['\"}}");
}

/* ---- What is refused ---- */

#define LONG_NAME "a name of sixty-four bytes is one too many for any protocol at all"

static const struct {
  mend_protocol_vtable vtable;
  const char *sentence;
} bad_vtables[] = {
    {{0, "a", measure, NULL}, "mend_protocol_vtable: size is 0"},
    {{sizeof own_vtable, NULL, measure, NULL}, "mend_protocol_vtable.name: it has no bytes, expected 1 to 63"},
    {{sizeof own_vtable, "", measure, NULL}, "mend_protocol_vtable.name: it has no bytes, expected 1 to 63"},
    {{sizeof own_vtable, LONG_NAME, measure, NULL}, "mend_protocol_vtable.name: it has too many bytes"},
    {{sizeof own_vtable, "a", NULL, NULL}, "protocol a: measure is NULL, expected a function"},
};

static void expect_refused(mend_status status, const mend_error *error, const char *sentence) {
  cr_assert_eq(status, MEND_EINVAL);
  cr_assert_eq(error->status, MEND_EINVAL);
  cr_assert_not_null(strstr(error->message, sentence), "%s: %s", sentence, error->message);
}

Test(protocols, what_is_refused) {
  mend_error error = MEND_ERROR_INIT;
  mend_protocol *protocol = NULL;
  own self = {.destroyed = 0};
  expect_refused(mend_protocol_new(NULL, &self, NULL, &protocol, &error), &error, "mend_protocol_vtable: NULL");
  for (size_t i = 0; i < sizeof bad_vtables / sizeof bad_vtables[0]; i++) {
    expect_refused(mend_protocol_new(&bad_vtables[i].vtable, &self, NULL, &protocol, &error), &error,
                   bad_vtables[i].sentence);
  }
  mend_structured_options structured = MEND_STRUCTURED_OPTIONS_INIT;
  structured.uncertainty_field = "";
  expect_refused(mend_protocol_new_structured(&structured, &protocol, &error), &error,
                 "mend_structured_options.uncertainty_field: none, expected the name of a member");
  structured.boundary_field = structured.confidence_field = NULL;
  expect_refused(mend_protocol_new_structured(&structured, &protocol, &error), &error, "confidence_field: none");
  expect_refused(mend_protocol_new_self_rating(NULL, &protocol, &error), &error,
                 "mend_self_rating_options.ask: NULL, expected a function");
  mend_ensemble_options ensemble = MEND_ENSEMBLE_OPTIONS_INIT;
  ensemble.k = 1;
  expect_refused(mend_protocol_new_ensemble(&ensemble, &protocol, &error), &error,
                 "mend_ensemble_options.k: 1 is out of range, expected 2 to 100");
  ensemble.k = 101;
  expect_refused(mend_protocol_new_ensemble(&ensemble, &protocol, &error), &error, "k: 101 is out of range");
  cr_assert_null(protocol);

  mend_enriched enriched = MEND_ENRICHED_INIT;
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  expect_refused(mend_protocol_enrich(NULL, &input, NULL, &enriched, &error), &error, "protocol: NULL");
  cr_assert_eq(mend_protocol_new(&own_vtable, &self, NULL, &protocol, &error), MEND_OK);
  expect_refused(mend_protocol_enrich(protocol, NULL, NULL, &enriched, &error), &error, "mend_protocol_input: NULL");
  expect_refused(mend_protocol_enrich(protocol, &input, NULL, NULL, &error), &error, "MEND_ENRICHED_INIT");
  input.output = MEND_STR("{\"a\":\"\xff\"}");
  cr_assert_eq(mend_protocol_enrich(protocol, &input, NULL, &enriched, &error), MEND_ESYNTAX);
  input.size = 0;
  expect_refused(mend_protocol_enrich(protocol, &input, NULL, &enriched, &error), &error, "size is 0");
  mend_protocol_release(protocol);
}

/* ---- Torture: an output is enriched or it is not, and a protocol that lacks memory says so ---- */

static mend_status give_same(void *ctx, char **ret_output) {
  *ret_output = strdup(ctx);
  return MEND_OK;
}

static mend_status make(int which, model *self, const mend_allocator *allocator, mend_protocol **ret_protocol) {
  mend_structured_options structured = MEND_STRUCTURED_OPTIONS_INIT;
  mend_self_rating_options self_rating = MEND_SELF_RATING_OPTIONS_INIT;
  mend_ensemble_options ensemble = MEND_ENSEMBLE_OPTIONS_INIT;
  structured.allocator = self_rating.allocator = ensemble.allocator = allocator;
  self_rating.ask = ask;
  self_rating.ask_ctx = self;
  switch (which) {
  case 0: return mend_protocol_new_structured(&structured, ret_protocol, NULL);
  case 1: return mend_protocol_new_self_rating(&self_rating, ret_protocol, NULL);
  case 2: return mend_protocol_new_ensemble(&ensemble, ret_protocol, NULL);
  default: return mend_protocol_new_log_probabilities(allocator, ret_protocol, NULL);
  }
}

static mend_status enrich_and_read(mend_protocol *protocol, const mend_allocator *allocator) {
  static const double log_probs[] = {0, -1};
  static char output[] = "{\"self_confidence\":0.5,\"uncertain_about\":[\"a\"],\"outside_my_capability\":\"b\"}";
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.output = mend_str_from(output);
  input.log_probs = log_probs;
  input.log_prob_count = 2;
  input.again = give_same;
  input.again_ctx = output;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  char *json = NULL;
  size_t len = 0;
  mend_status status = mend_protocol_enrich(protocol, &input, allocator, &enriched, NULL);
  if (status == MEND_OK) {
    const char *metadata = enriched.metadata.len > 0 ? enriched.metadata.ptr : "";
    cr_assert_eq(isnan(enriched.confidence) != 0, strstr(metadata, "\"protocol_error\":") != NULL, "%s", metadata);
    status = mend_enriched_write(&enriched, allocator, &json, &len);
  }
  if (status == MEND_OK) status = mend_enriched_read((mend_str){json, len}, allocator, &enriched);
  mend_free(allocator, json);
  mend_enriched_clear(&enriched);
  return status;
}

static void torture(int which, bool fail_after) {
  mend_test_allocator memory;
  model self = {.reply = MEND_STR("\"{\\\"confidence\\\":0.5,\\\"uncertain_about\\\":[\\\"a\\\"]}\"")};
  mend_test_allocator_init(&memory);
  size_t fail_at = 1;
  for (bool failed = true; failed; fail_at++) {
    mend_protocol *protocol = NULL;
    mend_test_allocator_arm(&memory, fail_at, fail_after);
    mend_status status = make(which, &self, &memory.base, &protocol);
    if (status == MEND_OK) status = enrich_and_read(protocol, &memory.base);
    mend_protocol_release(protocol);
    failed = mend_test_allocator_failed(&memory);
    cr_assert(status == MEND_OK || (failed && status == MEND_ENOMEM), "protocol %d, allocation %zu", which, fail_at);
    cr_assert_eq(atomic_load(&memory.blocks), 0u, "protocol %d, allocation %zu", which, fail_at);
  }
  cr_assert(fail_at > 8, "protocol %d: %zu", which, fail_at);
}

Test(protocols, torture) {
  for (int which = 0; which < 4; which++) {
    torture(which, false);
    torture(which, true);
  }
}
