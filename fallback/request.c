#include "core/double_text.h"
#include "core/json_kind.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"
#include "fallback/packing.h"
#include "mend/json.h"

#include <math.h>

/* ---- Checks ---- */

static mend_status check_stop(mend_str stop, mend_error *error) {
  if (stop.ptr == NULL) return MEND_OK;
  mend_json json;
  mend_json_init(&json, stop, 1);
  mend_json_next(&json);
  while (json.token == MEND_JSON_ARRAY || json.token == MEND_JSON_STRING) {
    mend_json_next(&json);
  }
  if (json.token == MEND_JSON_ARRAY_END && mend_json_next(&json) == MEND_JSON_END) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "request: stop: expected a JSON array of strings");
}

static bool is_limit(double seconds) { return isfinite(seconds) && seconds >= 0; }

static mend_status check_numbers(const mend_model_request *request, mend_error *error) {
  const struct {
    const char *name;
    double value;
    bool may_be_absent; /* NaN */
  } numbers[] = {
      {"temperature", request->temperature, true},
      {"top_p", request->top_p, true},
      {"max_cost_usd", request->max_cost_usd, false},
      {"clocks.connect_s", request->clocks.connect_s, false},
      {"clocks.first_content_s", request->clocks.first_content_s, false},
      {"clocks.idle_s", request->clocks.idle_s, false},
      {"clocks.total_s", request->clocks.total_s, false},
  };
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
    if (is_limit(numbers[i].value) || (numbers[i].may_be_absent && isnan(numbers[i].value))) continue;
    char shown[MEND__DOUBLE_TEXT_SIZE];
    mend__double_text(numbers[i].value, shown);
    return mend_error_set(error, MEND_EINVAL, "request: %s is %s, expected a number from 0", numbers[i].name, shown);
  }
  return MEND_OK;
}

static mend_status check_tool(const mend_tool_spec *tool, mend_error *error) {
  if (tool->name.len == 0) return mend_error_set(error, MEND_EINVAL, "request: a tool has no name");
  if (tool->schema.ptr == NULL) return MEND_OK;
  mend_error found = MEND_ERROR_INIT;
  if (mend__json_check_object(tool->schema, "schema", &found) == MEND_OK) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "request: tool %.*s: %s", MEND_STR_ARG(tool->name), found.message);
}

static mend_status check_choice(const mend__request *request, mend_error *error) {
  static const char *const words[] = {"auto", "none", "required"};
  const mend_str choice = request->given.tool_choice;
  if (choice.ptr == NULL) return MEND_OK;
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (mend_str_equal(choice, mend_str_from(words[i]))) return MEND_OK;
  }
  for (size_t i = 0; i < request->given.tool_count; i++) {
    if (mend_str_equal(choice, request->tools[i].name)) return MEND_OK;
  }
  return mend_error_set(
      error, MEND_EINVAL,
      "request: tool_choice is \"%.*s\", expected auto, none, required or the name of one of its tools",
      MEND_STR_ARG(choice));
}

static mend_status check(const mend__request *request, mend_error *error) {
  const mend_model_request *given = &request->given;
  mend_status status = check_numbers(given, error);
  if (status == MEND_OK) status = check_stop(given->stop, error);
  if (status == MEND_OK && given->extra.ptr != NULL)
    status = mend__json_check_object(given->extra, "request: extra", error);
  for (size_t i = 0; i < given->tool_count && status == MEND_OK; i++)
    status = check_tool(&request->tools[i], error);
  return status == MEND_OK ? check_choice(request, error) : status;
}

/* ---- Copying ---- */

/* The elements may be of another version of mend_tool_spec. */
static mend_status take_tools(mend__request *request, const mend_model_request *given, mend_error *error) {
  const mend_tool_spec defaults = MEND_TOOL_SPEC_INIT;
  if (given->tool_count == 0) return MEND_OK;
  if (given->tools == NULL) {
    return mend_error_set(error, MEND_EINVAL, "request: tools is NULL, expected as many as tool_count says: %zu",
                          given->tool_count);
  }
  if (given->tool_count > SIZE_MAX / sizeof *request->tools) return MEND_ENOMEM;
  request->tools = mend__alloc_zero(request->allocator, given->tool_count * sizeof *request->tools);
  if (request->tools == NULL) return MEND_ENOMEM;
  return mend__options_take_list(request->tools, &defaults, given->tools, given->tool_count, "mend_tool_spec", error);
}

static size_t pack(mend__request *request, char *block) {
  mend__packing packing = mend__packing_into(block);
  mend_model_request *given = &request->given;
  mend_str *const texts[] = {&given->tool_choice, &given->stop, &given->extra, &given->call_name};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    mend__pack(&packing, texts[i]);
  for (size_t i = 0; i < given->tool_count; i++) {
    mend__pack(&packing, &request->tools[i].name);
    mend__pack(&packing, &request->tools[i].description);
    mend__pack(&packing, &request->tools[i].schema);
  }
  return packing.len;
}

static mend_status copy_texts(mend__request *request) {
  const size_t len = pack(request, NULL);
  if (len == 0) return MEND_OK;
  request->texts = len == SIZE_MAX ? NULL : mend__alloc(request->allocator, len);
  if (request->texts == NULL) return MEND_ENOMEM;
  pack(request, request->texts);
  return MEND_OK;
}

static mend_status fill(mend__request *request, const mend_model_request *given, mend_error *error) {
  mend_status status = take_tools(request, given, error);
  if (status == MEND_OK) status = check(request, error);
  if (status == MEND_OK) status = copy_texts(request);
  if (status == MEND_OK) status = mend_messages_copy(given->messages, request->allocator, &request->messages);
  if (status == MEND_ENOMEM) mend_error_set(error, status, "a request: out of memory");
  if (status != MEND_OK) return status;
  request->given.messages = request->messages;
  request->given.tools = request->tools;
  if (given->run == NULL) return MEND_OK;
  request->given.run = mend_run_retain(given->run);
  if (given->call_name.len == 0) request->call = mend_run_next_call(given->run);
  return MEND_OK;
}

mend_status mend__request_new(const mend_model_request *given, const mend_allocator *allocator,
                              mend__request **ret_request, mend_error *error) {
  mend_model_request taken = MEND_MODEL_REQUEST_INIT;
  mend_status status = mend__options_take(&taken, given, "mend_model_request", error);
  if (status != MEND_OK) return status;
  if (taken.messages == NULL || mend_messages_count(taken.messages) == 0) {
    return mend_error_set(error, MEND_EINVAL, "request: messages: expected at least one");
  }
  mend__request *request = mend__alloc_zero(allocator, sizeof *request);
  if (request == NULL) return mend_error_set(error, MEND_ENOMEM, "a request: out of memory");
  request->allocator = allocator;
  request->given = taken;
  request->given.run = NULL; /* until it is referenced */
  atomic_init(&request->references, 1);
  status = fill(request, &taken, error);
  if (status != MEND_OK) {
    mend__request_release(request);
    return status;
  }
  *ret_request = request;
  return MEND_OK;
}

mend__request *mend__request_retain(mend__request *request) {
  atomic_fetch_add_explicit(&request->references, 1, memory_order_relaxed);
  return request;
}

void mend__request_release(mend__request *request) {
  if (atomic_fetch_sub_explicit(&request->references, 1, memory_order_acq_rel) != 1) return;
  mend_messages_free(request->messages);
  mend__free(request->allocator, request->tools);
  mend__free(request->allocator, request->texts);
  mend_run_release(request->given.run);
  mend__free(request->allocator, request);
}
