/* What docs/api/tools.md quotes. */
#include <mend/boundary.h>
#include <mend/loop.h>

#include <stdio.h>
#include <stdlib.h>

/* Blocking: on the caller's thread. */
static mend_status greet(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed_text(call, MEND_STR("hello"));
}

/* Pooled: on a worker's thread, so it may take its time; it looks at its token meanwhile. */
static mend_status rest(void *ctx, mend_call *call) {
  const uint64_t *length_ns = ctx;
  if (mend_token_wait(mend_call_token(call), *length_ns) == MEND_ECANCELLED) {
    return mend_call_fail(call, MEND_STR("interrupted"), MEND_STR("it was cancelled"));
  }
  return mend_call_succeed_text(call, MEND_STR("rested"));
}

/* Asynchronous: keeps the call and returns; a timer of the loop answers. */
typedef struct alarm_clock {
  mend_call *call;
  mend_timer *timer;
} alarm_clock;

static void ring(void *ctx) {
  alarm_clock *set = ctx;
  mend_call_succeed_text(set->call, MEND_STR("ding")); /* refused, and that is fine, when it was cancelled meanwhile */
  mend_call_release(set->call);
  mend_timer_cancel(&set->timer);
  free(set);
}

static mend_status set_alarm(void *ctx, mend_call *call) {
  alarm_clock *set = calloc(1, sizeof *set);
  if (set == NULL) return MEND_ENOMEM; /* the call fails with this */
  set->call = mend_call_retain(call);
  const mend_status status = mend_loop_after(ctx, MEND_SECOND_NS / 100, ring, set, &set->timer);
  if (status == MEND_OK) return MEND_OK;
  mend_call_release(call);
  free(set);
  return status;
}

static const mend_tool greet_tool = {.size = sizeof(mend_tool), .name = "greet", .execute = greet};
static const mend_tool rest_tool = {
    .size = sizeof(mend_tool), .name = "rest", .execute = rest, .kind = MEND_TOOL_POOLED};
static const mend_tool alarm_tool = {
    .size = sizeof(mend_tool), .name = "set_alarm", .execute = set_alarm, .kind = MEND_TOOL_ASYNC};

int main(void) {
  static uint64_t length_ns = MEND_SECOND_NS / 100;
  mend_error error = MEND_ERROR_INIT;
  mend_loop *loop = NULL;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_boundary *boundary = NULL;
  mend_status status = mend_loop_new(NULL, &loop, &error);
  if (status == MEND_OK) status = mend_tools_new(NULL, &options.tools);
  if (status == MEND_OK) status = mend_tools_add(options.tools, &greet_tool, NULL, &error);
  if (status == MEND_OK) status = mend_tools_add(options.tools, &rest_tool, &length_ns, &error);
  if (status == MEND_OK) status = mend_tools_add(options.tools, &alarm_tool, loop, &error);
  if (status == MEND_OK) status = mend_boundary_new(&options, &boundary, &error);

  static const char *const names[] = {"greet", "rest", "set_alarm"};
  for (size_t i = 0; i < 3 && status == MEND_OK; i++) { /* who calls them need not know which is which */
    mend_result result = MEND_RESULT_INIT;
    status = mend_boundary_call(boundary, mend_str_from(names[i]), MEND_STR("{}"), NULL, &result);
    printf("%s: %.*s\n", names[i], MEND_STR_ARG(result.value));
    mend_result_clear(&result);
  }
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  mend_boundary_release(boundary);
  mend_tools_release(options.tools);
  mend_loop_release(loop);
  return status == MEND_OK ? 0 : 1;
}
