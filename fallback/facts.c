/* What is known of models: the facts that fit a name, and what tokens cost. facts_load.c makes the table. */
#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/facts_internal.h"

void mend_model_table_release(mend_model_table *table) {
  if (table != NULL) mend__free(table->allocator, table);
}

/* ---- Patterns ---- */

/* What a star has taken so far grows when what follows it does not fit: only the last one has to be tried again. */
static bool fits(mend_str pattern, mend_str name) {
  size_t at = 0, i = 0, behind_star = SIZE_MAX, taken_to = 0;
  while (i < name.len) {
    if (at < pattern.len && pattern.ptr[at] == '*') {
      behind_star = ++at;
      taken_to = i;
    } else if (at < pattern.len && pattern.ptr[at] == name.ptr[i]) {
      at++;
      i++;
    } else if (behind_star != SIZE_MAX) {
      at = behind_star;
      i = ++taken_to;
    } else {
      return false;
    }
  }
  while (at < pattern.len && pattern.ptr[at] == '*')
    at++;
  return at == pattern.len;
}

static mend_str behind(mend_str name, const char *place) {
  if (place == NULL) return name;
  return (mend_str){place + 1, name.len - (size_t)(place + 1 - name.ptr)};
}

/* A name is its id as well, and the id without the vendor that routers put before it. */
static bool fits_model(mend_str pattern, mend_str model) {
  const mend_str id = behind(model, memchr(model.ptr, ':', model.len));
  return fits(pattern, model) || fits(pattern, id) || fits(pattern, mend__bare_model_id(id));
}

mend_str mend__bare_model_id(mend_str id) { return id.len > 0 ? behind(id, memrchr(id.ptr, '/', id.len)) : id; }

mend_status mend_model_table_find(const mend_model_table *table, mend_str model, mend_model_facts *ret_facts) {
  if (table == NULL) return MEND_EINVAL;
  const mend__model_entry *found = NULL;
  for (size_t i = 0; model.len > 0 && i < table->count; i++) {
    const mend__model_entry *entry = &table->entries[i];
    if (found != NULL && entry->pattern.len <= found->pattern.len) continue;
    if (fits_model(entry->pattern, model)) found = entry;
  }
  if (found == NULL) return MEND_ENOENT;
  mend__options_give(ret_facts, &found->facts);
  return MEND_OK;
}

/* ---- Cost ---- */

static uint64_t told(uint64_t count) { return count != MEND_NONE ? count : 0; }

/* Nothing costs nothing, whatever its price. */
static double cost_of(uint64_t tokens, double usd_per_mtok) {
  return tokens > 0 ? (double)tokens * usd_per_mtok / 1e6 : 0;
}

double mend_model_cost_usd(const mend_model_facts *given, const mend_usage *usage) {
  mend_model_facts facts = MEND_MODEL_FACTS_INIT;
  const bool is_told = usage->input != MEND_NONE || usage->output != MEND_NONE;
  if (!is_told || mend__options_take(&facts, given, "mend_model_facts", NULL) != MEND_OK) return MEND_NAN;
  const double cached_price = facts.cached_input_usd_per_mtok == facts.cached_input_usd_per_mtok
                                  ? facts.cached_input_usd_per_mtok
                                  : facts.input_usd_per_mtok;
  const uint64_t input = told(usage->input);
  const uint64_t cached = told(usage->cached_input) < input ? told(usage->cached_input) : input;
  return cost_of(input - cached, facts.input_usd_per_mtok) + cost_of(cached, cached_price) +
         cost_of(told(usage->output), facts.output_usd_per_mtok);
}
