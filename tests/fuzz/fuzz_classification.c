/* Rows of a classification from JSON: refused with a place and a sentence, or a table that finds a row for everything,
 * in which the names, scopes and actions are ones that the rest of the library knows. The same bytes are looked at as a
 * provider's body, and as a table of what is known of models. */
#include "fuzz/fuzz.h"
#include "mend/fallback.h"

static void check_class(const mend_failure_class *class) {
  static const char *const scopes[] = {"provider", "model", "key", "key+model"};
  size_t scope = 0;
  MUST(class->name != NULL && class->name[0] != '\0');
  MUST(class->action <= MEND_ACTION_CANCEL && class->seed_action <= MEND_ACTION_CANCEL);
  MUST(class->seed_action != MEND_ACTION_RETRY);
  MUST(class->cool_down_s >= 0 && class->cool_down_s <= class->cool_down_max_s);
  while (scope < 4 && strcmp(scopes[scope], class->scope) != 0)
    scope++;
  MUST(scope < 4);
}

static void classify(const mend_classification *table, mend_str body) {
  static const uint32_t statuses[] = {0, 200, 400, 401, 404, 418, 429, 503};
  for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
    mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
    mend_failure_class class = MEND_FAILURE_CLASS_INIT;
    signal.provider = MEND_STR("openai");
    signal.http_status = statuses[i];
    signal.body = body;
    mend_classify(table, &signal, &class);
    check_class(&class);
  }
}

static void look_up(const mend_model_table *table, mend_str model) {
  const mend_usage usage = {1000, 100, 10, MEND_NONE};
  mend_model_facts facts = MEND_MODEL_FACTS_INIT;
  if (mend_model_table_find(table, model, &facts) != MEND_OK) return;
  const double usd = mend_model_cost_usd(&facts, &usage);
  MUST(usd != usd || (usd >= 0 && usd <= 1e9));
}

static void read_models(mend_str text) {
  mend_model_table *table = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend_model_table_new(text, NULL, &table, &error);
  MUST(status == MEND_OK || (error.status == status && error.message[0] != '\0' && error.line > 0));
  if (status != MEND_OK) return;
  look_up(table, MEND_STR("openai:vendor/gpt-4.1"));
  look_up(table, text);
  mend_model_table_release(table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static mend_classification *builtin;
  if (builtin == NULL) MUST(mend_classification_new(NULL, NULL, &builtin, NULL) == MEND_OK);
  classify(builtin, fuzz_text(data, size));
  read_models(fuzz_text(data, size));
  char *rows = malloc(size + 1);
  MUST(rows != NULL);
  if (size > 0) memcpy(rows, data, size);
  rows[size] = '\0';
  mend_classification *table = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = mend_classification_new(rows, NULL, &table, &error);
  MUST(status == MEND_OK || (error.status == status && error.message[0] != '\0' && error.line > 0));
  if (status == MEND_OK) classify(table, fuzz_text(data, size));
  mend_classification_release(table);
  free(rows);
  return 0;
}
