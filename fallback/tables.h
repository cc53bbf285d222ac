/* Private to fallback/: the tables of a chain's options, read. */
#ifndef MEND_FALLBACK_TABLES_H
#define MEND_FALLBACK_TABLES_H

#include "fallback/facts_internal.h"
#include "mend/fallback.h"

typedef struct mend__tables {
  mend_classification *rows;
  mend_model_table *models; /* NULL: none were given */
} mend__tables;

/* Errors, after which there is nothing to release: as of mend_fallback_new. */
mend_status mend__tables_load(const mend_fallback_options *options, mend__tables *ret_tables, mend_error *error);
/* Of zeroed ones, too. */
void mend__tables_release(mend__tables *tables);
/* What is known of a model called provider:model_id; else `known`. */
mend_model_facts mend__tables_facts(const mend__tables *tables, mend_str name, const mend_model_facts *known);

#endif
