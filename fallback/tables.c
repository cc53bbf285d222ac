#include "fallback/tables.h"

mend_status mend__tables_load(const mend_fallback_options *options, mend__tables *ret_tables, mend_error *error) {
  mend__tables tables = {NULL, NULL};
  mend_status status = mend_classification_new(options->classification, options->allocator, &tables.rows, error);
  if (status == MEND_OK && options->models != NULL) {
    status = mend_model_table_new(mend_str_from(options->models), options->allocator, &tables.models, error);
  }
  if (status == MEND_OK) {
    *ret_tables = tables;
  } else {
    mend__tables_release(&tables);
  }
  return status;
}

void mend__tables_release(mend__tables *tables) {
  if (tables->rows != NULL) mend_classification_release(tables->rows);
  mend_model_table_release(tables->models);
}

mend_model_facts mend__tables_facts(const mend__tables *tables, mend_str name, const mend_model_facts *known) {
  mend_model_facts facts = *known;
  if (tables->models != NULL) mend_model_table_find(tables->models, name, &facts);
  return facts;
}
