#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/chain_internal.h"
#include "fallback/classification_internal.h"
#include "fallback/model_name.h"
#include "fallback/provider.h"

/* ---- Memory ---- */

static void chain_free(mend__chain *chain) {
  for (size_t i = 0; chain->lanes != NULL && i < chain->lane_count; i++)
    mend_model_release(chain->lanes[i].model);
  mend_classification_release(chain->table);
  mend__buffer_free(&chain->names);
  mend__buffer_free(&chain->left_out);
  mend__free(chain->allocator, chain->targets);
  mend__free(chain->allocator, chain->lanes);
  mend__free(chain->allocator, chain->breakers);
  pthread_mutex_destroy(&chain->lock);
  mend__free(chain->allocator, chain);
}

static void destroy(void *ctx) { chain_free(ctx); }

static uint64_t seed_of(const mend_fallback_options *options) {
  if (options->seed != 0) return options->seed;
  const mend_time now = mend_clock_now(mend_loop_clock(options->loop));
  return now.wall_ns ^ now.mono_ns;
}

static mend__chain *chain_alloc(size_t count, const mend_fallback_options *options) {
  const mend_allocator *allocator = options->allocator;
  mend__chain *chain = mend__alloc_zero(allocator, sizeof *chain);
  if (chain == NULL) return NULL;
  if (pthread_mutex_init(&chain->lock, NULL) != 0) {
    mend__free(allocator, chain);
    return NULL;
  }
  chain->allocator = allocator;
  chain->loop = options->loop;
  chain->profile = options->profile;
  chain->log = options->log;
  chain->log_ctx = options->log_ctx;
  chain->judge = options->judge;
  chain->judge_ctx = options->judge_ctx;
  chain->random = seed_of(options);
  mend__buffer_init(&chain->names, allocator);
  mend__buffer_init(&chain->left_out, allocator);
  chain->targets = mend__alloc_zero(allocator, count * sizeof *chain->targets);
  chain->lanes = mend__alloc_zero(allocator, count * sizeof *chain->lanes);
  chain->breakers = mend__alloc_zero(allocator, count * MEND__SCOPES * sizeof *chain->breakers);
  if (chain->targets != NULL && chain->lanes != NULL && chain->breakers != NULL) return chain;
  chain_free(chain);
  return NULL;
}

/* ---- Targets and lanes ---- */

/* The names lie in one buffer, which has grown to its size before anybody points into it. */
static bool write_names(mend__chain *chain) {
  for (size_t i = 0; i < chain->target_count; i++) {
    const mend_model *model = chain->lanes[chain->targets[i].first_lane].model;
    mend__buffer_str(&chain->names, mend_model_provider(model));
    mend__buffer_char(&chain->names, ':');
    mend__buffer_str(&chain->names, mend_model_name(model));
    mend__buffer_char(&chain->names, '\0');
  }
  return !chain->names.failed;
}

static void know_targets(mend__chain *chain, const mend__tables *tables) {
  const char *name = chain->names.data;
  for (size_t i = 0; i < chain->target_count; i++) {
    mend__target *target = &chain->targets[i];
    const mend_model *model = chain->lanes[target->first_lane].model;
    target->name = mend_str_from(name);
    target->facts = mend__tables_facts(tables, target->name, &model->facts);
    if (target->facts.context_tokens == 0) target->facts.context_tokens = mend__window_of(mend_model_name(model));
    name += target->name.len + 1;
  }
}

static void add_lanes(mend__chain *chain, const mend__link *links, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (!links[i].is_next_key) chain->targets[chain->target_count++] = (mend__target){.first_lane = i};
    chain->targets[chain->target_count - 1].lane_count++;
    chain->lanes[i] = (mend__lane){
        .model = mend_model_retain(links[i].model), .target = chain->target_count - 1, .key = links[i].key};
    chain->lane_count++;
  }
}

/* What stands for the server of a model, beside the provider's name: chains and scripts are servers of their own, of
 * models of others nothing is known. */
static mend_str server_of(const mend_model *model) {
  const char *base_url = mend__provider_base_url(model);
  if (base_url != NULL) return mend_str_from(base_url);
  const bool is_ours = mend__chain_of(model) != NULL || mend__is_scripted(mend_model_provider(model));
  return is_ours ? mend_model_name(model) : MEND_STR("");
}

static bool same_server(const mend_model *a, const mend_model *b) {
  return mend_str_equal(mend_model_provider(a), mend_model_provider(b)) && mend_str_equal(server_of(a), server_of(b));
}

/* Whether what the scope is about is the same for both. */
static bool share(const mend__lane *a, const mend__lane *b, mend__scope scope) {
  const bool same_provider = same_server(a->model, b->model);
  const bool same_model = same_provider && mend_str_equal(mend_model_name(a->model), mend_model_name(b->model));
  switch (scope) {
  case MEND__SCOPE_PROVIDER: return same_provider;
  case MEND__SCOPE_MODEL: return same_model;
  case MEND__SCOPE_KEY: return same_provider && a->key == b->key;
  default: return same_model && a->key == b->key;
  }
}

static void share_breakers(mend__chain *chain) {
  for (size_t i = 0; i < chain->lane_count; i++) {
    for (size_t scope = 0; scope < MEND__SCOPES; scope++) {
      size_t first = 0;
      while (!share(&chain->lanes[first], &chain->lanes[i], (mend__scope)scope))
        first++;
      chain->lanes[i].breakers[scope] = &chain->breakers[first * MEND__SCOPES + scope];
    }
  }
}

/* ---- Making one ---- */

static bool write_name(const mend__chain *chain, mend__buffer *name) {
  mend__buffer_str(name, MEND_STR("fallback("));
  for (size_t i = 0; i < chain->target_count; i++) {
    if (i > 0) mend__buffer_char(name, ',');
    mend__buffer_str(name, mend_model_name(chain->lanes[chain->targets[i].first_lane].model));
  }
  mend__buffer_bytes(name, ")", 2);
  return !name->failed;
}

static mend_status make_model(mend__chain *chain, mend_model **ret_model, mend_error *error) {
  static const mend_model_vtable vtable = {
      .size = sizeof vtable, .begin = mend__chain_begin, .cancel = mend__chain_cancel, .destroy = destroy};
  mend__buffer name;
  mend__buffer_init(&name, chain->allocator);
  mend_status status = mend_error_set(error, MEND_ENOMEM, "a chain of models: out of memory");
  if (write_name(chain, &name)) {
    status = mend__model_new(chain->loop, chain->allocator, MEND__MODEL_FORWARDS, &vtable, chain, "fallback", name.data,
                             ret_model, error);
  }
  mend__buffer_free(&name);
  return status;
}

mend_status mend__chain_new(const mend__link *links, size_t count, const mend_fallback_options *options,
                            const mend__tables *tables, mend__buffer *left_out, mend_model **ret_model,
                            mend_error *error) {
  mend__chain *chain = chain_alloc(count, options);
  if (chain == NULL) return mend_error_set(error, MEND_ENOMEM, "a chain of models: out of memory");
  add_lanes(chain, links, count);
  share_breakers(chain);
  chain->table = mend__classification_retain(tables->rows);
  mend_status status = mend_error_set(error, MEND_ENOMEM, "a chain of models: out of memory");
  if (write_names(chain)) {
    know_targets(chain, tables);
    status = make_model(chain, ret_model, error);
  }
  if (status != MEND_OK) {
    chain_free(chain);
    return status;
  }
  chain->left_out = *left_out;
  mend__buffer_init(left_out, options->allocator);
  return MEND_OK;
}

mend__chain *mend__chain_of(const mend_model *model) { return mend__model_ctx(model, mend__chain_begin); }

static mend_status check_models(mend_model *const *models, size_t count, const mend_fallback_options *options,
                                mend_error *error) {
  if (options->loop == NULL) return mend_error_set(error, MEND_EINVAL, "loop is NULL, expected one");
  if (count == 0) return mend_error_set(error, MEND_EINVAL, "a chain needs at least one model");
  for (size_t i = 0; i < count; i++) {
    if (models[i]->loop == options->loop) continue;
    return mend_error_set(error, MEND_EINVAL, "%.*s is on another loop than the chain",
                          MEND_STR_ARG(mend_model_name(models[i])));
  }
  return MEND_OK;
}

/* Nobody knows their keys: each has its own. */
static mend_status link_all(mend_model *const *models, size_t count, const mend_fallback_options *options,
                            const mend__tables *tables, mend_model **ret_model, mend_error *error) {
  mend__link *links = mend__alloc_zero(options->allocator, count * sizeof *links);
  if (links == NULL) return mend_error_set(error, MEND_ENOMEM, "a chain of models: out of memory");
  for (size_t i = 0; i < count; i++)
    links[i] = (mend__link){.model = models[i], .key = i};
  mend__buffer left_out;
  mend__buffer_init(&left_out, options->allocator);
  const mend_status status = mend__chain_new(links, count, options, tables, &left_out, ret_model, error);
  mend__free(options->allocator, links);
  return status;
}

mend_status mend_fallback_of(mend_model *const *models, size_t count, const mend_fallback_options *given,
                             mend_model **ret_model, mend_error *error) {
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_fallback_options", error);
  if (status == MEND_OK) status = check_models(models, count, &options, error);
  if (status != MEND_OK) return status;
  mend__tables tables;
  status = mend__tables_load(&options, &tables, error);
  if (status != MEND_OK) return status;
  status = link_all(models, count, &options, &tables, ret_model, error);
  mend__tables_release(&tables);
  return status;
}

/* ---- Looking at one ---- */

mend_str mend_fallback_left_out(const mend_model *model) {
  const mend__chain *chain = mend__chain_of(model);
  if (chain == NULL || chain->left_out.len == 0) return MEND_STR("[]");
  return (mend_str){chain->left_out.data, chain->left_out.len};
}

mend_status mend_fallback_state(mend_model *model, size_t index, mend_target_state *ret_state) {
  if (model == NULL || ret_state == NULL) return MEND_EINVAL;
  mend__chain *chain = mend__chain_of(model);
  if (chain == NULL || index >= chain->target_count) return MEND_ENOENT;
  mend__chain_state(chain, index, ret_state);
  return MEND_OK;
}
