/* A table of facts about models, from its JSON. */
#include "core/memory.h"
#include "core/nearest.h"
#include "fallback/facts_internal.h"
#include "fallback/loading.h"

#include <stddef.h>

enum { DEPTH = 2, TOKENS_MAX = 1000000000 };
#define PRICE_MAX 1e9 /* a million tokens; what is beyond it is a mistake */

typedef struct facts_loader {
  mend_json json;
  mend_model_table *table;
  char *texts;    /* room for what is left of the patterns */
  unsigned given; /* bits of the members of a model that were there */
  mend_error *error;
} facts_loader;

static mend__model_entry *entry_of(facts_loader *loader) { return &loader->table->entries[loader->table->count]; }

/* ---- Errors: pattern, member, place ---- */

static mend_status refuse(const facts_loader *loader, mend_status status) {
  return mend__refuse_token(&loader->json, status, loader->error);
}

static mend_status expected(facts_loader *loader, const char *member, const char *expectation) {
  return refuse(loader, mend_error_set(loader->error, MEND_EINVAL, "%.*s, %s: expected %s",
                                       MEND_STR_ARG(entry_of(loader)->pattern), member, expectation));
}

/* ---- Members ---- */

typedef struct member {
  const char *name;
  size_t offset;
  mend_status (*load)(facts_loader *loader, const struct member *what);
} member;

static void *field_of(facts_loader *loader, const member *what) {
  return (char *)&entry_of(loader)->facts + what->offset;
}

static mend_status load_tokens(facts_loader *loader, const member *what) {
  uint64_t tokens;
  if (mend_json_next(&loader->json) != MEND_JSON_NUMBER || mend_json_uint64(loader->json.slice, &tokens) != MEND_OK ||
      tokens == 0 || tokens > TOKENS_MAX) {
    return expected(loader, what->name, "a whole number from 1 to 1000000000");
  }
  *(uint64_t *)field_of(loader, what) = tokens;
  return MEND_OK;
}

static mend_status load_price(facts_loader *loader, const member *what) {
  const double price =
      mend_json_next(&loader->json) == MEND_JSON_NUMBER ? mend_json_double(loader->json.slice) : MEND_NAN;
  if (!(price >= 0 && price <= PRICE_MAX)) return expected(loader, what->name, "US dollars from 0 to 1000000000");
  *(double *)field_of(loader, what) = price;
  return MEND_OK;
}

static const member members[] = {
    {"context_tokens", offsetof(mend_model_facts, context_tokens), load_tokens},
    {"input_usd_per_mtok", offsetof(mend_model_facts, input_usd_per_mtok), load_price},
    {"output_usd_per_mtok", offsetof(mend_model_facts, output_usd_per_mtok), load_price},
    {"cached_input_usd_per_mtok", offsetof(mend_model_facts, cached_input_usd_per_mtok), load_price},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static mend_status unknown_member(facts_loader *loader) {
  const mend_str name = loader->json.slice, pattern = entry_of(loader)->pattern;
  mend__nearest search = mend__nearest_to(name);
  for (size_t i = 0; i < MEMBER_COUNT; i++)
    mend__nearest_consider(&search, mend_str_from(members[i].name), members[i].name);
  const mend_status status =
      search.answer != NULL
          ? mend_error_set(loader->error, MEND_EINVAL, "%.*s: unknown member \"%.*s\"; did you mean %s?",
                           MEND_STR_ARG(pattern), MEND_STR_ARG(name), search.answer)
          : mend_error_set(loader->error, MEND_EINVAL,
                           "%.*s: unknown member \"%.*s\"; known are context_tokens, input_usd_per_mtok, "
                           "output_usd_per_mtok, cached_input_usd_per_mtok",
                           MEND_STR_ARG(pattern), MEND_STR_ARG(name));
  return refuse(loader, status);
}

static mend_status load_member(facts_loader *loader) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    if (!mend_json_is(&loader->json, mend_str_from(members[i].name))) continue;
    if ((loader->given >> i & 1) != 0) return expected(loader, members[i].name, "it to be given once");
    loader->given |= 1u << i;
    return members[i].load(loader, &members[i]);
  }
  return unknown_member(loader);
}

/* ---- Models ---- */

static mend_status load_model(facts_loader *loader) {
  mend__model_entry *entry = entry_of(loader);
  const size_t len = mend_json_unescape(loader->json.slice, loader->texts);
  *entry = (mend__model_entry){.pattern = {loader->texts, len}, .facts = MEND_MODEL_FACTS_INIT};
  loader->texts += len;
  loader->given = 0;
  if (len == 0) return refuse(loader, mend_error_set(loader->error, MEND_EINVAL, "a pattern is empty"));
  if (mend_json_next(&loader->json) != MEND_JSON_OBJECT) return expected(loader, "its facts", "an object");
  while (mend_json_next(&loader->json) == MEND_JSON_KEY) {
    const mend_status status = load_member(loader);
    if (status != MEND_OK) return status;
  }
  loader->table->count++;
  return MEND_OK;
}

static mend_status load(facts_loader *loader) {
  mend_status status = MEND_OK;
  mend_json_next(&loader->json);
  while (status == MEND_OK && mend_json_next(&loader->json) == MEND_JSON_KEY)
    status = load_model(loader);
  return status;
}

/* How many members an object has, which is well-formed. */
static mend_status count_models(mend_str json, size_t *ret_count, mend_error *error) {
  mend_json members_of;
  mend_str value;
  *ret_count = 0;
  mend_status status = mend_json_check(json, DEPTH, error);
  if (status != MEND_OK) return status;
  mend_json_init(&members_of, json, DEPTH);
  if (mend_json_next(&members_of) != MEND_JSON_OBJECT) {
    return mend__refuse_at(&members_of, json.ptr,
                           mend_error_set(error, MEND_EINVAL, "expected an object of facts by model"), error);
  }
  while (mend_json_next(&members_of) == MEND_JSON_KEY) {
    mend_json_value(&members_of, &value);
    ++*ret_count;
  }
  return MEND_OK;
}

mend_status mend_model_table_new(mend_str json, const mend_allocator *allocator, mend_model_table **ret_table,
                                 mend_error *error) {
  size_t count;
  mend_status status = count_models(json, &count, error);
  if (status != MEND_OK) return status;
  const size_t entries_size = count * sizeof(mend__model_entry);
  mend_model_table *table = mend__alloc(allocator, sizeof *table + entries_size + json.len);
  if (table == NULL) return mend_error_set(error, MEND_ENOMEM, "a table of models: out of memory");
  table->allocator = allocator;
  table->count = 0;
  facts_loader loader = {.table = table, .texts = (char *)table->entries + entries_size, .error = error};
  mend_json_init(&loader.json, json, DEPTH);
  status = load(&loader);
  if (status != MEND_OK) {
    mend_model_table_release(table);
    return status;
  }
  *ret_table = table;
  return MEND_OK;
}
