#include "torture/boundary.h"

static mend_status search(void *ctx, mend_call *call) {
  ((torture *)ctx)->events++;
  mend_call_progress(call, 10, MEND_STR("half of it"));
  return mend_call_succeed(call, FOUND);
}

static mend_status fail(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_fail(call, MEND_STR("unavailable"), MEND_STR("it is closed"));
}

static mend_status ask(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_escalate(call, MEND_STR("which one?"));
}

static mend_status find(void *ctx, mend_call *call) {
  ((torture *)ctx)->events++;
  return mend_call_succeed(call, FOUND);
}

static mend_status keep(void *ctx, mend_call *call) {
  ((torture *)ctx)->more = mend_call_retain(call);
  return MEND_OK;
}

static mend_status add_tools(torture *t, mend_tools *tools) {
  const mend_tool known[] = {
      {.size = sizeof(mend_tool), .name = "search", .execute = search},
      {.size = sizeof(mend_tool), .name = "search again", .execute = search},
      {.size = sizeof(mend_tool), .name = "fail", .execute = fail},
      {.size = sizeof(mend_tool), .name = "ask", .execute = ask},
      {.size = sizeof(mend_tool), .name = "early", .execute = find, .kind = MEND_TOOL_ASYNC},
      {.size = sizeof(mend_tool), .name = "later", .execute = keep, .kind = MEND_TOOL_ASYNC},
      {.size = sizeof(mend_tool), .name = "pooled", .execute = find, .kind = MEND_TOOL_POOLED},
  };
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const mend_status status = mend_tools_add(tools, &known[i], t, NULL);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

static mend_status add_hook(torture *t, mend_hooks *hooks, const mend_hook *hook) {
  mend_hook_options options = MEND_HOOK_OPTIONS_INIT;
  options.fail_closed = true;
  return mend_hooks_add(hooks, hook, t, &options, NULL);
}

mend_status boundary_make(torture *t, const mend_hook *hook) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_tools *tools = NULL;
  mend_hooks *hooks = NULL;
  mend_status status = mend_tools_new(t->allocator, &tools);
  if (status != MEND_OK) goto end;
  TRY(add_tools(t, tools));
  TRY(mend_hooks_new(t->allocator, &hooks));
  if (hook != NULL) TRY(add_hook(t, hooks, hook));
  options.run = t->run;
  options.tools = tools;
  options.hooks = hooks;
  mend_boundary *boundary;
  TRY(mend_boundary_new(&options, &boundary, NULL));
  t->own = boundary;
end:
  mend_tools_release(tools);
  mend_hooks_release(hooks);
  return status;
}

void boundary_open(torture *t, const mend_hook *hook) {
  torture_must(t, torture_open_bus(t) == MEND_OK, "a bus is made");
  torture_must(t, boundary_make(t, hook) == MEND_OK, "a boundary is made");
}

void boundary_open_plainly(torture *t) { boundary_open(t, NULL); }

void boundary_close(torture *t) {
  mend_boundary_release(t->own);
  t->own = NULL;
  torture_close_bus(t);
}

mend_status boundary_call(torture *t, const char *tool, mend_outcome outcome) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(t->own, mend_str_from(tool), ARGUMENTS, NULL, &result);
  torture_must(t, status != MEND_OK || result.outcome == outcome, "it ends as it should or with an error");
  torture_must(t, status != MEND_OK || mend_str_equal(result.value, FOUND), "its value is whole");
  mend_result_clear(&result);
  if (status == MEND_ABORTED) mend_run_reset(t->run, MEND_STR("once more"));
  return status;
}
