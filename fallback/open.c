#include "core/memory.h"
#include "core/nearest.h"
#include "core/options_size.h"
#include "fallback/chain_internal.h"
#include "fallback/provider.h"
#include "fallback/scripted.h"

#include <stdlib.h>

#define PROVIDERS_KNOWN "openai, openai-responses, anthropic, google, compatible, scripted"

/* Models that are being opened, and what they share. */
typedef struct opening {
  mend_fallback_options options;
  mend__tables tables;
  mend__http *http; /* made when the first model needs one */
  mend__link *links;
  size_t count, capacity;
  mend__buffer left_out; /* JSON array without its closing bracket */
  mend_error *error;
} opening;

/* provider:model_id */
typedef struct model_name {
  const char *whole;
  mend_str provider;
  const char *id;
} model_name;

static mend_status no_memory(mend_error *error) { return mend_error_set(error, MEND_ENOMEM, "models: out of memory"); }

/* ---- Names ---- */

static mend_status refuse_provider(mend_str provider, mend_error *error) {
  static const char *const known[] = {"openai", "openai-responses", "anthropic", "google", "compatible", "scripted"};
  mend__nearest search = mend__nearest_to(provider);
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    mend__nearest_consider(&search, mend_str_from(known[i]), known[i]);
  if (search.answer != NULL) {
    return mend_error_set(error, MEND_EINVAL, "unknown provider \"%.*s\"; did you mean %s? Known are " PROVIDERS_KNOWN,
                          MEND_STR_ARG(provider), search.answer);
  }
  return mend_error_set(error, MEND_EINVAL, "unknown provider \"%.*s\"; known are " PROVIDERS_KNOWN,
                        MEND_STR_ARG(provider));
}

static bool is_scripted(mend_str provider) { return mend_str_equal(provider, MEND_STR("scripted")); }

static mend_status split_name(const char *whole, model_name *ret_name, mend_error *error) {
  if (whole == NULL) return mend_error_set(error, MEND_EINVAL, "a model's name is NULL, expected provider:model_id");
  const char *colon = strchr(whole, ':');
  if (colon == NULL) {
    return mend_error_set(error, MEND_EINVAL,
                          "\"%s\" names no provider, expected provider:model_id with one of " PROVIDERS_KNOWN, whole);
  }
  const mend_str provider = {whole, (size_t)(colon - whole)};
  if (!is_scripted(provider) && mend__dialect_find(provider) == NULL) return refuse_provider(provider, error);
  if (colon[1] == '\0')
    return mend_error_set(error, MEND_EINVAL, "\"%s\" names no model, expected provider:model_id", whole);
  *ret_name = (model_name){whole, provider, colon + 1};
  return MEND_OK;
}

/* ---- Keys and endpoints ---- */

static bool is_for(const char *named, const mend__dialect *dialect) {
  return named != NULL && strcmp(named, dialect->provider) == 0;
}

/* The index-th of the provider's own keys; when it has none, of those for any. NULL beyond the last. */
static const char *given_key(const mend_fallback_options *options, const mend__dialect *dialect, bool for_any,
                             size_t index) {
  for (size_t i = 0; i < options->key_count; i++) {
    const mend_key *key = &options->keys[i];
    const bool fits = for_any ? key->provider == NULL : is_for(key->provider, dialect);
    if (fits && key->secret != NULL && key->secret[0] != '\0' && index-- == 0) return key->secret;
  }
  return NULL;
}

/* Only when the caller asked for it. */
static const char *key_of_environment(const mend_fallback_options *options, const mend__dialect *dialect) {
  if (!options->keys_from_environment) return NULL;
  for (const char *const *each = dialect->variables; *each != NULL; each++) {
    const char *secret = getenv(*each);
    if (secret != NULL && secret[0] != '\0') return secret;
  }
  return NULL;
}

static const char *find_key(const mend_fallback_options *options, const mend__dialect *dialect, size_t index) {
  const char *own = given_key(options, dialect, false, index);
  if (own != NULL || given_key(options, dialect, false, 0) != NULL) return own;
  const char *any = given_key(options, dialect, true, index);
  if (any != NULL || given_key(options, dialect, true, 0) != NULL) return any;
  return index == 0 ? key_of_environment(options, dialect) : NULL;
}

static const char *find_endpoint(const mend_fallback_options *options, const mend__dialect *dialect) {
  for (size_t i = 0; i < options->endpoint_count; i++) {
    if (is_for(options->endpoints[i].provider, dialect)) return options->endpoints[i].base_url;
  }
  return NULL;
}

/* ---- Models ---- */

static mend_status need_http(opening *o) {
  if (o->http != NULL) return MEND_OK;
  const mend__http_options options = {.allocator = o->options.allocator,
                                      .loop = o->options.loop,
                                      .proxy = o->options.proxy,
                                      .ca_file = o->options.ca_file,
                                      .allow_http = o->options.allow_http};
  return mend__http_new(&options, &o->http, o->error);
}

static void tell_facts(const opening *o, const model_name *name, mend_model *model) {
  model->facts = mend__tables_facts(&o->tables, mend_str_from(name->whole), &model->facts);
}

/* With one key, or none: `secret` is NULL. */
static mend_status open_provider(opening *o, const mend__dialect *dialect, const model_name *name, const char *secret,
                                 mend_model **ret_model) {
  mend_status status = need_http(o);
  if (status != MEND_OK) return status;
  const mend__provider_options options = {.allocator = o->options.allocator,
                                          .loop = o->options.loop,
                                          .dialect = dialect,
                                          .model_id = name->id,
                                          .base_url = find_endpoint(&o->options, dialect),
                                          .key = secret,
                                          .http = o->http,
                                          .reply_limit = o->options.reply_limit};
  status = mend__provider_new(&options, ret_model, o->error);
  if (status != MEND_OK) return status;
  mend__model_classify_by(*ret_model, o->tables.rows);
  tell_facts(o, name, *ret_model);
  return MEND_OK;
}

static mend_status open_scripted(opening *o, const model_name *name, mend_model **ret_model) {
  const mend_status status =
      mend__scripted_open(name->id, o->options.loop, o->options.allocator, o->tables.rows, ret_model, o->error);
  if (status == MEND_OK) tell_facts(o, name, *ret_model);
  return status;
}

/* ---- Chains ---- */

/* Takes over the model. */
static mend_status add_link(opening *o, mend_model *model, size_t key) {
  if (o->count == o->capacity) {
    const size_t capacity = o->capacity == 0 ? 8 : 2 * o->capacity;
    mend__link *links = mend__realloc(o->options.allocator, o->links, capacity * sizeof *links);
    if (links == NULL) {
      mend_model_release(model);
      return no_memory(o->error);
    }
    o->links = links;
    o->capacity = capacity;
  }
  o->links[o->count++] = (mend__link){.model = model, .key = key, .is_next_key = key > 0};
  return MEND_OK;
}

static mend_status leave_out(opening *o, const model_name *name, const mend__dialect *dialect) {
  mend__buffer *json = &o->left_out;
  mend__buffer_char(json, json->len == 0 ? '[' : ',');
  mend__buffer_str(json, MEND_STR("{\"model\":"));
  mend__buffer_json_string(json, mend_str_from(name->whole));
  mend__buffer_printf(json, ",\"reason\":\"no key for %s\"}", dialect->provider);
  return json->failed ? no_memory(o->error) : MEND_OK;
}

/* A link for each of the provider's keys. */
static mend_status link_provider(opening *o, const model_name *name) {
  const mend__dialect *dialect = mend__dialect_find(name->provider);
  const char *secret = find_key(&o->options, dialect, 0);
  if (secret == NULL && dialect->needs_key) return leave_out(o, name, dialect);
  mend_status status;
  size_t key = 0;
  do {
    mend_model *model;
    status = open_provider(o, dialect, name, secret, &model);
    if (status == MEND_OK) status = add_link(o, model, key);
    secret = find_key(&o->options, dialect, ++key);
  } while (status == MEND_OK && secret != NULL);
  return status;
}

static mend_status link_model(opening *o, const char *whole) {
  model_name name = {0};
  mend_model *model;
  mend_status status = split_name(whole, &name, o->error);
  if (status != MEND_OK) return status;
  if (!is_scripted(name.provider)) return link_provider(o, &name);
  status = open_scripted(o, &name, &model);
  return status == MEND_OK ? add_link(o, model, 0) : status;
}

static mend_status opening_init(opening *o, const mend_fallback_options *given, mend_error *error) {
  *o = (opening){.options = MEND_FALLBACK_OPTIONS_INIT, .error = error};
  const mend_status status = mend__options_take(&o->options, given, "mend_fallback_options", error);
  if (status != MEND_OK) return status;
  mend__buffer_init(&o->left_out, o->options.allocator);
  if (o->options.loop == NULL) return mend_error_set(error, MEND_EINVAL, "loop is NULL, expected one");
  return mend__tables_load(&o->options, &o->tables, error);
}

static void opening_free(opening *o) {
  for (size_t i = 0; i < o->count; i++)
    mend_model_release(o->links[i].model);
  mend__free(o->options.allocator, o->links);
  mend__buffer_free(&o->left_out);
  mend__http_release(o->http);
  mend__tables_release(&o->tables);
}

static mend_status make_chain(opening *o, mend_model **ret_model) {
  if (o->left_out.len > 0) mend__buffer_char(&o->left_out, ']');
  if (o->left_out.failed) return no_memory(o->error);
  if (o->count == 0) {
    return mend_error_set(o->error, MEND_EINVAL, "no model is left of the chain: %.*s",
                          MEND_STR_ARG(((mend_str){o->left_out.data, o->left_out.len})));
  }
  return mend__chain_new(o->links, o->count, &o->options, &o->tables, &o->left_out, ret_model, o->error);
}

mend_status mend_fallback_new(const char *const *models, size_t count, const mend_fallback_options *options,
                              mend_model **ret_model, mend_error *error) {
  opening o;
  mend_status status = opening_init(&o, options, error);
  if (status == MEND_OK && count == 0) status = mend_error_set(error, MEND_EINVAL, "a chain needs at least one model");
  for (size_t i = 0; status == MEND_OK && i < count; i++)
    status = link_model(&o, models[i]);
  if (status == MEND_OK) status = make_chain(&o, ret_model);
  opening_free(&o);
  return status;
}

static mend_status open_model(opening *o, const model_name *name, mend_model **ret_model) {
  if (is_scripted(name->provider)) return open_scripted(o, name, ret_model);
  const mend__dialect *dialect = mend__dialect_find(name->provider);
  const char *secret = find_key(&o->options, dialect, 0);
  if (secret == NULL && dialect->needs_key) {
    return mend_error_set(o->error, MEND_EINVAL, "%s: no key for %s", name->whole, dialect->provider);
  }
  return open_provider(o, dialect, name, secret, ret_model);
}

mend_status mend_model_open(const char *whole, const mend_fallback_options *options, mend_model **ret_model,
                            mend_error *error) {
  opening o;
  model_name name = {0};
  mend_status status = opening_init(&o, options, error);
  if (status == MEND_OK) status = split_name(whole, &name, error);
  if (status == MEND_OK) status = open_model(&o, &name, ret_model);
  opening_free(&o);
  return status;
}
