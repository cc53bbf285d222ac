/* The steps of a plan that are to come. */
#include "core/json_kind.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "core/text.h"
#include "hooks/flows_internal.h"
#include "hooks/hooks_internal.h"

enum { NAME_MAX_LEN = 120, SHOWN_LEN = 40 };

static const char prefix[] = "meta:"; /* in front of a step's name it is the tool's */

/* ---- Life ---- */

void mend__plan_draft_init(mend_plan_draft *draft, const mend_allocator *allocator, uint32_t max_subtasks,
                           mend__strmap *taken) {
  *draft = (mend_plan_draft){.allocator = allocator, .taken = taken, .max_subtasks = max_subtasks};
  mend__strmap_init(&draft->by_name, allocator);
}

void mend__plan_draft_free(mend_plan_draft *draft) {
  for (mend__plan_step *step = draft->first, *next; step != NULL; step = next) {
    next = step->next;
    mend__free(draft->allocator, step);
  }
  mend__strmap_free(&draft->by_name);
}

/* ---- Checking ---- */

/* As deep as may be with the step's own object around it. */
static mend_status check_args(const mend_subtask *subtask, mend_error *error) {
  mend_error found = MEND_ERROR_INIT;
  const mend_status status = mend_json_check(subtask->args, MEND__VALUE_DEPTH - 1, &found);
  if (status != MEND_OK) {
    return mend_error_set(error, MEND_EINVAL, "subtask %.*s: args, line %u, column %u: %s", MEND_STR_ARG(subtask->name),
                          found.line, found.column, found.message);
  }
  if (mend__json_kind(subtask->args) == MEND_JSON_OBJECT) return MEND_OK;
  const mend_str beginning = {subtask->args.ptr, mend__utf8_cut(subtask->args, SHOWN_LEN)};
  return mend_error_set(error, MEND_EINVAL, "subtask %.*s: args: expected an object, found %.*s",
                        MEND_STR_ARG(subtask->name), MEND_STR_ARG(beginning));
}

static mend_status check_place(const mend_plan_draft *draft, mend_str name, mend_error *error) {
  if (mend__strmap_get(draft->taken, name) != NULL) {
    return mend_error_set(error, MEND_EEXIST, "subtask %.*s: one of this name has been carried out already",
                          MEND_STR_ARG(name));
  }
  if (mend__strmap_get(&draft->by_name, name) != NULL) {
    return mend_error_set(error, MEND_EEXIST, "subtask %.*s: one of this name is in the plan already",
                          MEND_STR_ARG(name));
  }
  if (draft->by_name.count < draft->max_subtasks) return MEND_OK;
  return mend_error_set(error, MEND_ELIMIT, "subtask %.*s: the plan has %u already, which is max_subtasks",
                        MEND_STR_ARG(name), draft->max_subtasks);
}

static mend_status take_subtask(const mend_plan_draft *draft, const mend_subtask *given, mend_subtask *ret_subtask,
                                mend_error *error) {
  *ret_subtask = (mend_subtask)MEND_SUBTASK_INIT;
  mend_status status = mend__options_require(ret_subtask, given, "mend_subtask", error);
  if (status == MEND_OK) status = mend__name_check("mend_subtask.name", ret_subtask->name, NAME_MAX_LEN, error);
  if (ret_subtask->args.ptr == NULL) ret_subtask->args = MEND_STR("{}");
  if (status == MEND_OK) status = check_args(ret_subtask, error);
  if (status == MEND_OK) status = check_place(draft, ret_subtask->name, error);
  return status;
}

/* ---- Adding ---- */

static mend__plan_step *new_step(const mend_subtask *subtask, const mend_allocator *allocator) {
  const size_t size = sizeof prefix - 1 + mend__room_for(subtask->name) + mend__room_for(subtask->tool) +
                      mend__room_for(subtask->args) + mend__room_for(subtask->prompt);
  mend__plan_step *step = mend__alloc(allocator, sizeof *step + size);
  if (step == NULL) return NULL;
  char *place = step->texts + sizeof prefix - 1;
  memcpy(step->texts, prefix, sizeof prefix - 1);
  step->next = NULL;
  step->tool = step->texts;
  step->subtask = (mend_subtask)MEND_SUBTASK_INIT;
  step->subtask.name = mend__keep_text(&place, subtask->name);
  step->subtask.tool = mend__keep_text(&place, subtask->tool);
  step->subtask.args = mend__keep_text(&place, subtask->args);
  step->subtask.prompt = mend__keep_text(&place, subtask->prompt);
  return step;
}

static mend_status append(mend_plan_draft *draft, const mend_subtask *subtask) {
  mend__plan_step *step = new_step(subtask, draft->allocator);
  if (step == NULL) return MEND_ENOMEM;
  const mend_status status = mend__strmap_put(&draft->by_name, step->subtask.name, step);
  if (status != MEND_OK) {
    mend__free(draft->allocator, step);
    return status;
  }
  *(draft->first != NULL ? &draft->last->next : &draft->first) = step;
  draft->last = step;
  return MEND_OK;
}

mend_status mend_plan_add(mend_plan_draft *draft, const mend_subtask *given, mend_error *error) {
  if (draft == NULL) return mend_error_set(error, MEND_EINVAL, "mend_plan_draft: NULL, expected one");
  mend_subtask subtask;
  mend_error refusal = MEND_ERROR_INIT;
  mend_status status = take_subtask(draft, given, &subtask, &refusal);
  if (status == MEND_OK) {
    status = append(draft, &subtask);
    if (status != MEND_OK) {
      mend_error_set(&refusal, status, "subtask %.*s: %s", MEND_STR_ARG(subtask.name), mend_status_message(status));
    }
  }
  if (status == MEND_OK) return MEND_OK;
  draft->refusal = refusal;
  if (error != NULL) *error = refusal;
  return status;
}

/* ---- Taking ---- */

mend_status mend__plan_draft_take(mend_plan_draft *draft, mend__plan_step **ret_step) {
  mend__plan_step *step = draft->first;
  if (step == NULL) return MEND_ENOENT;
  const mend_status status = mend__strmap_put(draft->taken, step->subtask.name, step);
  if (status != MEND_OK) return status;
  mend__strmap_remove(&draft->by_name, step->subtask.name);
  draft->first = step->next;
  *ret_step = step;
  return MEND_OK;
}
