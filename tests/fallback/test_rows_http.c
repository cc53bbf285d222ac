/* The rows of the classification table over real HTTP: what a chain is told by the fault server, and what it does
 * about it. */
#include "fallback/rows.h"

Test(rows_http, every_row) {
  mend_test_faults *server = mend_test_faults_start(NULL);
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  char *text = mend_test_read("fallback/chain/rows_http.jsonl", NULL), *rest = text;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    row_case c;
    if (*line != '{') continue;
    read_case(&c, mend_str_from(line), mend_test_faults_url(server));
    check_row(&c, loop);
  }
  free(text);
  mend_loop_release(loop);
  mend_test_faults_stop(server);
}

/* A key that is refused is not used again, and the next one takes its place. */
Test(rows_http, the_next_key) {
  static const char script[] = "{\"rules\": [{\"match\": {\"key\": \"" SECRET_1 "\"}, \"faults\": \"bad_key\"}]}";
  static const char *const lines[] = {
      "{\"told\": \"auth =openai | =openai\", \"asks\": 2}",
      "{\"told\": \"auth =anthropic | =anthropic\", \"asks\": 2, \"provider\": \"anthropic\", \"backup\": \"\"}",
      "{\"told\": \"auth =google | =google\", \"asks\": 2, \"provider\": \"google\"}"};
  mend_test_faults *server = mend_test_faults_start(script);
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    row_case c;
    read_case(&c, mend_str_from(lines[i]), mend_test_faults_url(server));
    check_row(&c, loop);
  }
  mend_loop_release(loop);
  mend_test_faults_stop(server);
}

static void ignore_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)status, (void)reply, (void)failure;
  open_latch(ctx);
}

static double cool_down_after(const row_case *c, mend_loop *loop) {
  mend_messages *messages;
  latch end = LATCH_INIT;
  mend_target_state state = {.size = sizeof state};
  mend_model *chain = open_chain(c, loop);
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("one")), MEND_OK);
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = messages;
  const mend_model_listener listener = {.size = sizeof listener, .done = ignore_end, .ctx = &end};
  cr_assert_eq(mend_model_send(chain, &request, &listener, NULL, NULL), MEND_OK);
  await(&end, c);
  cr_assert_eq(mend_fallback_state(chain, 0, &state), MEND_OK);
  mend_messages_free(messages);
  mend_model_release(chain);
  return state.cool_down_s;
}

Test(rows_http, retry_after_in_all_its_forms) {
  static const char *const lines[] = {
      "{\"faults\": \"rate_limit,retry_after=30\"}",
      "{\"faults\": \"rate_limit,retry_after_ms=30000\"}",
      "{\"faults\": \"rate_limit,retry_after_date=31\"}",
      "{\"faults\": \"rate_limit,ratelimit_reset=30s\"}",
      "{\"faults\": \"rate_limit,anthropic_reset=31\", \"provider\": \"anthropic\"}",
      "{\"faults\": \"rate_limit,retry_info=30s\", \"provider\": \"google\"}",
      "{\"faults\": \"overloaded,retry_after=30\"}",
  };
  mend_test_faults *server = mend_test_faults_start(NULL);
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    row_case c;
    read_case(&c, mend_str_from(lines[i]), mend_test_faults_url(server));
    c.key_count = 1;
    const double seconds = cool_down_after(&c, loop);
    cr_assert(seconds > 25 && seconds < 35, "%s: %g", lines[i], seconds);
  }
  mend_loop_release(loop);
  mend_test_faults_stop(server);
}
