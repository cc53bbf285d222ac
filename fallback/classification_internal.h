/* Private to fallback/: the classification table as it is in memory, and what loads it. */
#ifndef MEND_FALLBACK_CLASSIFICATION_INTERNAL_H
#define MEND_FALLBACK_CLASSIFICATION_INTERNAL_H

#include "core/text.h"
#include "fallback/breaker.h"
#include "mend/fallback.h"

#include <stdatomic.h>

/* fallback/classification.json, made a C text by CMake; ends with a NUL. */
extern const char mend__fallback_classification_json[];

enum { MEND__ROW_STATUSES = 24, MEND__ROW_PATHS = 4 };

/* Some of a table's texts. */
typedef struct mend__texts_range {
  size_t first, count;
} mend__texts_range;

/* Something in the body's JSON: names with dots between; an array stands for each of its elements. */
typedef struct mend__row_path {
  mend_str path;
  mend__texts_range values; /* any of them, "*" being any value but null */
} mend__row_path;

typedef struct mend__status_range {
  uint32_t from, to;
} mend__status_range;

typedef enum mend__wanted { MEND__WANTED_EITHER = 0, MEND__WANTED_TRUE, MEND__WANTED_FALSE } mend__wanted;

/* What a row asks for: all of it; of each list any element; an empty list asks for nothing. */
typedef struct mend__row {
  mend__texts_range transports, providers, content_types, bodies, body_starts;
  mend__status_range statuses[MEND__ROW_STATUSES];
  size_t status_count;
  mend__row_path paths[MEND__ROW_PATHS];
  size_t path_count;
  mend__wanted empty, streaming, after_content, reused, any_byte;
  mend_failure_class outcome;
} mend__row;

struct mend_classification {
  const mend_allocator *allocator;
  atomic_size_t references;
  mend__row *rows;
  size_t row_count, row_capacity;
  mend_str *texts; /* in lower case, in the arena, NUL-terminated */
  size_t text_count, text_capacity;
  char *arena; /* as long as all the JSON there is, so that no text of it can be too much */
  size_t arena_used;
};

/* Appends the rows of a JSON array. An error leaves some of them behind. */
mend_status mend__classification_load(mend_classification *table, mend_str rows, mend_error *error);

/* The class of this name, for failures that say nothing else; that of "unknown" when there is none. */
void mend__classify_name(const mend_classification *table, mend_str name, mend_failure_class *ret_class);

#endif
