/* What docs/api/boundary.md quotes. */
#include <mend/boundary.h>

#include <stdio.h>

static mend_status search(void *ctx, mend_call *call) {
  (void)ctx;
  if (mend_token_is_cancelled(mend_call_token(call))) return MEND_ECANCELLED;
  return mend_call_succeed(call, MEND_STR("{\"found\": 0}"));
}

static void tell(mend_status status, const mend_result *result) {
  switch (result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_REDIRECTED:
  case MEND_OUTCOME_SKIPPED: printf("%.*s\n", MEND_STR_ARG(result->value)); break;
  case MEND_OUTCOME_ESCALATED: printf("to ask: %.*s\n", MEND_STR_ARG(result->question)); break;
  case MEND_OUTCOME_FAILED: printf("failed: %.*s\n", MEND_STR_ARG(result->error_message)); break;
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: printf("%s: %.*s\n", mend_status_name(status), MEND_STR_ARG(result->reason)); break;
  }
}

int main(void) {
  static const mend_tool search_tool = {.size = sizeof(mend_tool), .name = "search", .execute = search};
  mend_error error = MEND_ERROR_INIT;
  mend_bus *bus = NULL;
  mend_boundary *boundary = NULL;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_status status = mend_bus_new(NULL, &bus, &error);
  if (status == MEND_OK) status = mend_bus_watch(bus, NULL, &error);
  if (status == MEND_OK) status = mend_run_new(bus, NULL, &options.run, NULL);
  if (status == MEND_OK) status = mend_tools_new(NULL, &options.tools);
  if (status == MEND_OK) status = mend_tools_add(options.tools, &search_tool, NULL, &error);
  if (status == MEND_OK) status = mend_boundary_new(&options, &boundary, &error);
  if (status == MEND_OK) status = mend_boundary_add_watchdog_hook(boundary, NULL, NULL, NULL, &error);
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));

  mend_result result = MEND_RESULT_INIT;
  while (status == MEND_OK) { /* an agent that never stops asking */
    status = mend_boundary_call(boundary, MEND_STR("search"), MEND_STR("{\"q\": \"rain\"}"), NULL, &result);
    tell(status, &result);
  }
  mend_result_clear(&result);
  mend_boundary_release(boundary);
  mend_tools_release(options.tools);
  mend_run_release(options.run);
  mend_bus_release(bus);
  return status == MEND_ABORTED ? 0 : 1;
}

/* ---- Several at once --------------------------------------------------------------------------------------- */

mend_status search_three(mend_boundary *boundary);

mend_status search_three(mend_boundary *boundary) {
  static const char *const names[] = {"toolu_01", "toolu_02", "toolu_03"};
  static const char *const queries[] = {"{\"q\": \"rain\"}", "{\"q\": \"snow\"}", "{\"q\": \"hail\"}"};
  mend_call_options options[3];
  mend_batch_call calls[3];
  for (size_t i = 0; i < 3; i++) {
    options[i] = (mend_call_options)MEND_CALL_OPTIONS_INIT;
    options[i].call_name = mend_str_from(names[i]);
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = MEND_STR("search");
    calls[i].args = mend_str_from(queries[i]);
    calls[i].options = &options[i];
  }
  const mend_status status = mend_boundary_call_all(boundary, calls, 3); /* waits for all of them */
  for (size_t i = 0; i < 3; i++) {
    tell(calls[i].status, &calls[i].result);
    mend_result_clear(&calls[i].result);
  }
  return status;
}

/* From another thread. */
mend_status drop_second_search(mend_boundary *boundary);

mend_status drop_second_search(mend_boundary *boundary) {
  return mend_run_cancel_call(mend_boundary_run(boundary), mend_call_from_name(MEND_STR("toolu_02")),
                              MEND_STR("not needed any more"));
}

/* ---- Without waiting --------------------------------------------------------------------------------------- */

static void print_when_done(void *ctx, mend_status status, const mend_result *result) {
  (void)ctx;
  tell(status, result); /* borrowed: copy what is to be kept */
}

mend_status begin_search(mend_boundary *boundary, uint64_t *ret_call);

mend_status begin_search(mend_boundary *boundary, uint64_t *ret_call) {
  return mend_boundary_start(boundary, MEND_STR("search"), MEND_STR("{\"q\": \"rain\"}"), NULL, print_when_done, NULL,
                             ret_call);
}
