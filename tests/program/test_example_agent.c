/* examples/agent: its story on scripted models, and the same over HTTP in the words of three providers. */
#include "program/shell.h"
#include "support/fault_server.h"

#define SERVER_SCRIPT MEND_TEST_DATA "/../../examples/models/server.json"

/* In this order. */
static void want_in_order(const char *out, const char *const *parts) {
  const char *from = out;
  for (; *parts != NULL; parts++) {
    const char *found = strstr(from, *parts);
    cr_assert_not_null(found, "no \"%s\" (or not in its place) in:\n%s", *parts, out);
    from = found + strlen(*parts);
  }
}

static void want_story(const char *command, const char *const *parts) {
  shell_result result = shell_run(command);
  cr_assert_eq(result.status, 0, "%s: %d: %s%s", command, result.status, result.out, result.err);
  want_in_order(result.out, parts);
  shell_free(&result);
}

Test(example_agent, on_scripts) {
  static const char *const parts[] = {"[primary fails: ",
                                      "[second takes over]",
                                      "Let me see. The next tr",
                                      "[second fails: ",
                                      "-> failed",
                                      "primary: unreachable, fail_over",
                                      "second: after_content",
                                      "you: Please try again.",
                                      "[second fails: ",
                                      "[third takes over]",
                                      "[tool timetable",
                                      "take an umbrella",
                                      "-> done",
                                      "third: ok, answered",
                                      NULL};
  shell_prepare("/");
  want_story("$EXAMPLES/agent", parts);
}

Test(example_agent, on_providers) {
  static const char *const parts[] = {"[gpt-4.1 fails: ",
                                      "[anthropic:claude-sonnet-4-6 takes over]",
                                      "Let me see. The next tr",
                                      "[claude-sonnet-4-6 fails: ",
                                      "-> failed",
                                      "openai:gpt-4.1: overloaded, fail_over",
                                      "you: Please try again.",
                                      "[google:gemini-2.5-pro takes over]",
                                      "[tool timetable",
                                      "take an umbrella",
                                      "-> done",
                                      "google:gemini-2.5-pro: ok, answered",
                                      NULL};
  char *script = mend_test_read_path(SERVER_SCRIPT, NULL);
  cr_assert_not_null(script);
  mend_test_faults *server = mend_test_faults_start(script);
  shell_prepare("/");
  setenv("URL", mend_test_faults_url(server), 1);
  want_story("$EXAMPLES/agent --base-url $URL", parts);
  mend_test_faults_stop(server);
  free(script);
}

Test(example_agent, wrong_options) {
  shell_prepare("/");
  shell_result result = shell_run("$EXAMPLES/agent --base-url");
  cr_assert_eq(result.status, 2);
  cr_assert_not_null(strstr(result.err, "usage: agent"));
  shell_free(&result);
}
