#include "fallback/tables.h"

/* The sentence of a mistake in an option says which one, and where in it. */
static mend_status place_in(const char *option, mend_status status, const mend_error *found, mend_error *error) {
  if (status == MEND_OK) return MEND_OK;
  if (found->line == 0) return mend_error_set(error, status, "%s: %s", option, found->message);
  return mend_error_set_at(error, status, found->line, found->column, "%s:%u:%u: %s", option, found->line,
                           found->column, found->message);
}

static mend_status load_rows(const mend_fallback_options *options, mend_classification **ret_rows, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  const mend_status status = mend_classification_new(options->classification, options->allocator, ret_rows, &found);
  return place_in("classification", status, &found, error);
}

static mend_status load_models(const mend_fallback_options *options, mend_model_table **ret_models, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  if (options->models == NULL) return MEND_OK;
  const mend_status status =
      mend_model_table_new(mend_str_from(options->models), options->allocator, ret_models, &found);
  return place_in("models", status, &found, error);
}

mend_status mend__tables_load(const mend_fallback_options *options, mend__tables *ret_tables, mend_error *error) {
  mend__tables tables = {NULL, NULL};
  mend_status status = load_rows(options, &tables.rows, error);
  if (status == MEND_OK) status = load_models(options, &tables.models, error);
  if (status == MEND_OK) {
    *ret_tables = tables;
  } else {
    mend__tables_release(&tables);
  }
  return status;
}

void mend__tables_release(mend__tables *tables) {
  mend_classification_release(tables->rows);
  mend_model_table_release(tables->models);
}

mend_model_facts mend__tables_facts(const mend__tables *tables, mend_str name, const mend_model_facts *known) {
  mend_model_facts facts = *known;
  if (tables->models != NULL) mend_model_table_find(tables->models, name, &facts);
  return facts;
}
