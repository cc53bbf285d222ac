/* What docs/api/hooks.md quotes. */
#include <mend/boundary.h>

#include <stdio.h>

static mend_status guard_files(void *ctx, const mend_hook_call *call, mend_decision *decision) {
  (void)ctx;
  if (mend_str_equal(call->tool_name, MEND_STR("shell")))
    return mend_decision_abort(decision, MEND_STR("no shell here"));
  if (mend_str_equal(call->tool_name, MEND_STR("mail")))
    return mend_decision_skip_text(decision, MEND_STR("no mail today"), MEND_STR("mail is not sent, go on without"));
  if (!mend_str_equal(call->tool_name, MEND_STR("delete"))) return MEND_OK; /* Continue */
  return mend_decision_skip(decision, MEND_STR("files are kept"), MEND_STR("{\"deleted\": false}"));
}

int main(void) {
  static const mend_hook guard = {.size = sizeof(mend_hook), .name = "guard", .before = guard_files};
  mend_hook_options closed = MEND_HOOK_OPTIONS_INIT;
  closed.fail_closed = true; /* when it fails the run is aborted: without this the call would go on */

  mend_error error = MEND_ERROR_INIT;
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  mend_boundary *boundary = NULL;
  mend_status status = mend_hooks_new(NULL, &options.hooks);
  if (status == MEND_OK) status = mend_hooks_add(options.hooks, &guard, NULL, &closed, &error);
  if (status == MEND_OK) status = mend_boundary_new(&options, &boundary, &error);

  static const char *const tools[] = {"delete", "mail", "shell", "delete"};
  for (size_t i = 0; i < 4 && boundary != NULL; i++) {
    mend_result result = MEND_RESULT_INIT;
    status = mend_boundary_call(boundary, mend_str_from(tools[i]), MEND_STR("{}"), NULL, &result);
    printf("%s: %s, %s, because %.*s\n", tools[i], mend_status_name(status), mend_outcome_name(result.outcome),
           MEND_STR_ARG(result.reason));
    mend_result_clear(&result);
  }
  if (boundary == NULL) fprintf(stderr, "%s\n", mend_error_sentence(&error, status));
  mend_boundary_release(boundary);
  mend_hooks_release(options.hooks);
  return boundary != NULL ? 0 : 1;
}
