#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/access.h"
#include "fallback/chain_internal.h"
#include "fallback/provider.h"
#include "fallback/scripted.h"

/* Models that are being opened, and what they share. */
typedef struct opening {
  mend_fallback_options options;
  mend__tables tables;
  mend__secrets *secrets;
  mend__http *http; /* made when the first model needs one */
  mend__link *links;
  size_t count, capacity;
  mend__buffer left_out; /* JSON array without its closing bracket */
  mend_error *error;
} opening;

static mend_status no_memory(mend_error *error) { return mend_error_set(error, MEND_ENOMEM, "models: out of memory"); }

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

static void tell_facts(const opening *o, const mend__model_name *name, mend_model *model) {
  model->facts = mend__tables_facts(&o->tables, mend_str_from(name->whole), &model->facts);
}

/* With one key, or none: `secret` is NULL. */
static mend_status open_provider(opening *o, const mend__dialect *dialect, const mend__model_name *name,
                                 const char *secret, mend_model **ret_model) {
  mend_status status = need_http(o);
  if (status != MEND_OK) return status;
  const mend__provider_options options = {.allocator = o->options.allocator,
                                          .loop = o->options.loop,
                                          .dialect = dialect,
                                          .model_id = name->id,
                                          .base_url = mend__access_base_url(&o->options, name),
                                          .key = secret,
                                          .secrets = o->secrets,
                                          .http = o->http,
                                          .reply_limit = o->options.reply_limit};
  status = mend__provider_new(&options, ret_model, o->error);
  if (status != MEND_OK) return status;
  mend__model_classify_by(*ret_model, o->tables.rows);
  tell_facts(o, name, *ret_model);
  return MEND_OK;
}

static mend_status open_scripted(opening *o, const mend__model_name *name, mend_model **ret_model) {
  const mend_status status =
      mend__scripted_open(name->id, o->options.loop, o->options.allocator, o->tables.rows, ret_model, o->error);
  if (status == MEND_OK) tell_facts(o, name, *ret_model);
  return status;
}

/* ---- Chains ---- */

/* Takes over its model. */
static mend_status add_link(opening *o, const mend__link *link) {
  if (o->count == o->capacity) {
    const size_t capacity = o->capacity == 0 ? 8 : 2 * o->capacity;
    mend__link *links = mend__realloc(o->options.allocator, o->links, capacity * sizeof *links);
    if (links == NULL) {
      mend_model_release(link->model);
      return no_memory(o->error);
    }
    o->links = links;
    o->capacity = capacity;
  }
  o->links[o->count++] = *link;
  return MEND_OK;
}

static mend_status leave_out(opening *o, const mend__model_name *name, const mend__dialect *dialect) {
  mend__buffer *json = &o->left_out;
  mend__buffer_char(json, json->len == 0 ? '[' : ',');
  mend__buffer_str(json, MEND_STR("{\"model\":"));
  mend__buffer_json_string(json, mend_str_from(name->whole));
  mend__buffer_printf(json, ",\"reason\":\"no key for %s\"}", dialect->provider);
  return json->failed ? no_memory(o->error) : MEND_OK;
}

/* A link for each of its keys. */
static mend_status link_provider(opening *o, const mend__model_name *name) {
  const mend__dialect *dialect = mend__dialect_find(name->provider);
  mend__access_key key = mend__access_key_of(&o->options, name, dialect, 0);
  if (key.secret == NULL && dialect->needs_key) return leave_out(o, name, dialect);
  mend_status status;
  size_t index = 0;
  do {
    mend_model *model;
    status = open_provider(o, dialect, name, key.secret, &model);
    if (status == MEND_OK) {
      status = add_link(o, &(mend__link){.model = model, .key = key.number, .is_next_key = index > 0});
    }
    key = mend__access_key_of(&o->options, name, dialect, ++index);
  } while (status == MEND_OK && key.secret != NULL);
  return status;
}

static mend_status link_model(opening *o, const char *whole) {
  mend__model_name name = {0};
  mend_model *model;
  mend_status status = mend__model_name_split(whole, &name, o->error);
  if (status != MEND_OK) return status;
  if (!mend__is_scripted(name.provider)) return link_provider(o, &name);
  status = open_scripted(o, &name, &model);
  return status == MEND_OK ? add_link(o, &(mend__link){.model = model}) : status;
}

static mend_status opening_init(opening *o, const mend_fallback_options *given, mend_error *error) {
  *o = (opening){.options = MEND_FALLBACK_OPTIONS_INIT, .error = error};
  mend_status status = mend__options_take(&o->options, given, "mend_fallback_options", error);
  if (status != MEND_OK) return status;
  mend__buffer_init(&o->left_out, o->options.allocator);
  if (o->options.loop == NULL) return mend_error_set(error, MEND_EINVAL, "loop is NULL, expected one");
  status = mend__access_check(&o->options, error);
  if (status != MEND_OK) return status;
  if (mend__access_secrets(&o->options, &o->secrets) != MEND_OK) return no_memory(error);
  return mend__tables_load(&o->options, &o->tables, error);
}

static void opening_free(opening *o) {
  for (size_t i = 0; i < o->count; i++)
    mend_model_release(o->links[i].model);
  mend__free(o->options.allocator, o->links);
  mend__buffer_free(&o->left_out);
  mend__http_release(o->http);
  mend__secrets_release(o->secrets);
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

static mend_status open_model(opening *o, const mend__model_name *name, mend_model **ret_model) {
  if (mend__is_scripted(name->provider)) return open_scripted(o, name, ret_model);
  const mend__dialect *dialect = mend__dialect_find(name->provider);
  const char *secret = mend__access_key_of(&o->options, name, dialect, 0).secret;
  if (secret == NULL && dialect->needs_key) {
    return mend_error_set(o->error, MEND_EINVAL, "%s: no key for %s", name->whole, dialect->provider);
  }
  return open_provider(o, dialect, name, secret, ret_model);
}

mend_status mend_model_open(const char *whole, const mend_fallback_options *options, mend_model **ret_model,
                            mend_error *error) {
  opening o;
  mend__model_name name = {0};
  mend_status status = opening_init(&o, options, error);
  if (status == MEND_OK) status = mend__model_name_split(whole, &name, error);
  if (status == MEND_OK) status = open_model(&o, &name, ret_model);
  opening_free(&o);
  return status;
}
