#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"
#include "fallback/packing.h"
#include "fallback/room.h"

static mend_status check(const mend_loop *loop, const mend_model_vtable *vtable, const char *provider, const char *name,
                         mend_error *error) {
  if (loop == NULL) return mend_error_set(error, MEND_EINVAL, "a model: loop is NULL, expected one");
  if (vtable->begin == NULL) return mend_error_set(error, MEND_EINVAL, "a model: its vtable has no begin");
  if (provider == NULL || provider[0] == '\0') return mend_error_set(error, MEND_EINVAL, "a model: provider is empty");
  if (name == NULL || name[0] == '\0') return mend_error_set(error, MEND_EINVAL, "a model: name is empty");
  return MEND_OK;
}

static size_t pack(mend_model *model, char *block) {
  mend__packing packing = mend__packing_into(block);
  mend__pack(&packing, &model->provider);
  mend__pack(&packing, &model->name);
  return packing.len;
}

mend_status mend__model_new(mend_loop *loop, const mend_allocator *allocator, mend__model_sort sort,
                            const mend_model_vtable *vtable, void *ctx, const char *provider, const char *name,
                            mend_model **ret_model, mend_error *error) {
  mend_model made = {.allocator = allocator,
                     .sort = sort,
                     .vtable = {.size = sizeof made.vtable},
                     .ctx = ctx,
                     .facts = MEND_MODEL_FACTS_INIT};
  mend_status status = mend__options_take(&made.vtable, vtable, "mend_model_vtable", error);
  if (status == MEND_OK) status = check(loop, &made.vtable, provider, name, error);
  if (status != MEND_OK) return status;
  made.provider = mend_str_from(provider);
  made.name = mend_str_from(name);
  mend_model *model = mend__alloc(allocator, sizeof *model + pack(&made, NULL));
  if (model == NULL) return mend_error_set(error, MEND_ENOMEM, "a model: out of memory");
  *model = made;
  pack(model, (char *)(model + 1));
  model->loop = mend_loop_retain(loop);
  atomic_init(&model->references, 1);
  *ret_model = model;
  return MEND_OK;
}

mend_status mend_model_new(mend_loop *loop, const mend_allocator *allocator, const mend_model_vtable *vtable, void *ctx,
                           const char *provider, const char *name, mend_model **ret_model, mend_error *error) {
  return mend__model_new(loop, allocator, MEND__MODEL_ANSWERS, vtable, ctx, provider, name, ret_model, error);
}

mend_model *mend_model_retain(mend_model *model) {
  atomic_fetch_add_explicit(&model->references, 1, memory_order_relaxed);
  return model;
}

static void destroy(void *ctx) {
  mend_model *model = ctx;
  if (model->vtable.destroy != NULL) model->vtable.destroy(model->ctx);
  mend_classification_release(model->table);
  mend__free(model->allocator, model);
}

void mend_model_release(mend_model *model) {
  if (model == NULL || atomic_fetch_sub_explicit(&model->references, 1, memory_order_acq_rel) != 1) return;
  mend_loop *loop = model->loop;
  mend__loop_call(loop, destroy, model);
  mend_loop_release(loop);
}

mend_str mend_model_name(const mend_model *model) { return model->name; }
mend_str mend_model_provider(const mend_model *model) { return model->provider; }
mend_loop *mend__model_loop(const mend_model *model) { return model->loop; }

void mend__model_classify_by(mend_model *model, mend_classification *table) {
  if (table != NULL) model->table = mend__classification_retain(table);
}

void *mend__model_ctx(const mend_model *model,
                      mend_status (*begin)(void *ctx, mend_exchange *exchange, mend_error *error)) {
  return model->vtable.begin == begin ? model->ctx : NULL;
}
