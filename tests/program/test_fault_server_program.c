/* mend-fault-server as people start it. */
#include "program/shell.h"

#include <limits.h>

static void enter_new_folder(void) {
  char folder[] = "/tmp/mend-fault-server-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  shell_prepare(folder);
}

static void leave_folder(void) {
  char folder[PATH_MAX];
  cr_assert_not_null(getcwd(folder, sizeof folder));
  cr_assert_eq(chdir("/"), 0);
  char command[PATH_MAX + 16];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  shell_result result = shell_run(command);
  cr_assert_eq(result.status, 0);
  shell_free(&result);
}

static bool has(const char *text, const char *part) { return strstr(text, part) != NULL; }

typedef struct command_case {
  const char *command;
  int status;
  const char *out, *err; /* parts */
} command_case;

static const command_case commands[] = {
    {"mend-fault-server --help", 0, "Usage: mend-fault-server [OPTION]...\n", ""},
    {"mend-fault-server --version", 0, "mend-fault-server 0.", ""},
    {"mend-fault-server --list", 0, "\nreset_after=N              reset the connection after N deltas\n", ""},
    {"mend-fault-server --list", 0, "context_overflow[=WHO]     the prompt is too long for the model; WHO: openai ",
     ""},
    {"mend-fault-server --prot 1", 2, "", "mend-fault-server: unknown option \"--prot\"; did you mean --port?\n"},
    {"mend-fault-server --port", 2, "", "mend-fault-server: --port needs a value\n"},
    {"mend-fault-server --port=x", 2, "", "mend-fault-server: --port x: expected a number from 0 to 65535\n"},
    {"mend-fault-server --port 65536", 2, "", "expected a number from 0 to 65535\n"},
    {"mend-fault-server --list=x", 2, "", "mend-fault-server: --list takes no value\n"},
    {"mend-fault-server x", 2, "", "mend-fault-server: \"x\" is no option; mend-fault-server takes nothing else\n"},
    {"mend-fault-server --faults hnag", 2, "", "mend-fault-server: unknown fault \"hnag\"; did you mean hang?\n"},
    {"mend-fault-server --script nothing.json", 2, "", "nothing.json"},
    {"mend-fault-server --log nothing/log", 2, "", "mend-fault-server: nothing/log: No such file or directory\n"},
    {"printf '{\"rules\":\\n[1 2]}' > bad.json; mend-fault-server --script bad.json", 2, "", "bad.json:2:4: "},
    {"printf '{\"rules\":[{\"fault\":1}]}' > bad.json; mend-fault-server --script bad.json", 2, "",
     "bad.json:1:13: rule 1: unknown member \"fault\"\n"},
    {"printf '{\"rules\":[{\"reply\":\\n{\"tool_calls\":[{}]}}]}' > bad.json; mend-fault-server --script bad.json", 2,
     "", "bad.json:2:16: rule 1: reply: tool_calls: a call needs a \"name\""},
    {"mend-fault-server --list > /dev/full", 2, "", "mend-fault-server: standard output: No space left on device\n"},
};

Test(fault_server_program, says_what_is_wrong) {
  enter_new_folder();
  for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
    const command_case *each = &commands[i];
    shell_result result = shell_run(each->command);
    cr_assert_eq(result.status, each->status, "%s: %d: %s", each->command, result.status, result.err);
    cr_assert(has(result.out, each->out), "%s said %s", each->command, result.out);
    cr_assert(has(result.err, each->err), "%s said %s", each->command, result.err);
    shell_free(&result);
  }
  leave_folder();
}

Test(fault_server_program, lists_what_its_page_lists) {
  enter_new_folder();
  shell_result result = shell_run("mend-fault-server --list | sed 's/^/    /'");
  char *page = mend_test_read("../../docs/fault-server.md", NULL);
  cr_assert(has(page, result.out), "docs/fault-server.md should have\n%s", result.out);
  free(page);
  shell_free(&result);
  leave_folder();
}

/* Starts the server with --stdin and more, waits for its first line, runs commands with $url, lets go of its standard
 * input or does something else that ends it, and prints its exit status. */
#define WITH_SERVER(options, commands, end)                                                                            \
  "mkfifo in out && { mend-fault-server --stdin " options " <in >out & exec 3>in 4<out; "                              \
  "read -r line <&4; url=${line##* }; "                                                                                \
  "case $line in 'listening on http://127.0.0.1:'*) ;; *) echo \"first line: $line\" ;; esac; " commands "; " end      \
  "; wait $!; echo \"status $?\"; }"

Test(fault_server_program, ends_when_it_is_told_to) {
  static const char *const ends[] = {WITH_SERVER("", ":", "exec 3>&-"), WITH_SERVER("", ":", "kill -TERM $!"),
                                     WITH_SERVER("", ":", "kill -INT $!")};
  for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
    enter_new_folder();
    shell_result result = shell_run(ends[i]);
    cr_assert_str_eq(result.out, "status 0\n", "%s", result.err);
    shell_free(&result);
    leave_folder();
  }
}

Test(fault_server_program, takes_a_port_once) {
  enter_new_folder();
  shell_result result = shell_run(WITH_SERVER("", "mend-fault-server --port ${url##*:}", "exec 3>&-"));
  cr_assert(has(result.err, ": Address already in use\n"), "%s", result.err);
  shell_free(&result);
  leave_folder();
}

static bool has_curl(void) {
  shell_result found = shell_run("command -v curl");
  const bool has_it = found.status == 0;
  shell_free(&found);
  return has_it;
}

#define ASK "curl -sS --max-time 5 -H 'authorization: Bearer sk-secret' -d '{\"stream\":true,\"input\":\"one two\"}' "

/* A client that many people have agrees that the server speaks HTTP, and gzip. */
static const struct {
  const char *curl;
  int status;
  const char *out, *err;
} with_curl[] = {
    {ASK "$url/v1/responses", 0, "event: response.completed\n", ""},
    {ASK "--compressed $url/fault/gzip/v1/responses", 0, "event: response.completed\n", ""},
    {ASK "--compressed -H 'x-mend-fault: gzip,body=plain,status=400' $url/v1/responses", 0, "plain", ""},
    {ASK "--compressed $url/fault/gzip_bomb=3/v1/responses | wc -c", 0, "3143992\n", ""},
    {ASK "$url/fault/big_body=3/v1/responses | wc -c", 0, "3145730\n", ""},
    {ASK "-H 'x-mend-reply: {\"text\": \"Oh dear\"}' $url/v1/responses", 0, "\"text\":\"Oh dear\"", ""},
    {ASK "$url/fault/reset_after=1/v1/responses", 56, "\"delta\":\"one\"", "curl: (56) "},
    {ASK "$url/fault/close_after=1/v1/responses", 18, "\"delta\":\"one\"", "curl: (18) "},
    {ASK "$url/fault/empty/v1/responses", 52, "", "curl: (52) "},
    {ASK "--http1.0 $url/v1/responses", 0, "event: response.completed\n", ""},
    {ASK "$url/fault/malformed/v1/responses", 1, "", "curl: (1) "},
};

Test(fault_server_program, is_understood_by_curl) {
  char command[2048];
  if (!has_curl()) return;
  for (size_t i = 0; i < sizeof with_curl / sizeof with_curl[0]; i++) {
    enter_new_folder();
    snprintf(command, sizeof command, WITH_SERVER("", "%s; asked=$?", "exec 3>&-") "; exit $asked", with_curl[i].curl);
    shell_result result = shell_run(command);
    cr_assert_eq(result.status, with_curl[i].status, "%s: %d: %s", with_curl[i].curl, result.status, result.err);
    cr_assert(has(result.out, with_curl[i].out), "%s said %s", with_curl[i].curl, result.out);
    cr_assert(has(result.err, with_curl[i].err), "%s said %s", with_curl[i].curl, result.err);
    shell_free(&result);
    leave_folder();
  }
}

/* All is answered, and what is lost of the log is told once. */
Test(fault_server_program, says_that_its_log_is_full) {
  if (!has_curl()) return;
  enter_new_folder();
  shell_result result =
      shell_run(WITH_SERVER("--log /dev/full", ASK "$url/v1/responses && " ASK "$url/v1/responses", "exec 3>&-"));
  cr_assert(has(result.out, "event: response.completed\n"), "%s", result.out);
  cr_assert(has(result.out, "status 2\n"), "%s", result.out);
  cr_assert_str_eq(result.err, "mend-fault-server: /dev/full: No space left on device; from here on nothing is "
                               "logged\n");
  shell_free(&result);
  leave_folder();
}

Test(fault_server_program, logs_without_secrets) {
  if (!has_curl()) return;
  enter_new_folder();
  shell_result result = shell_run(WITH_SERVER("--log log",
                                              ASK "\"$url/fault/bad_key/v1/responses?key=sk-secret\" -H "
                                                  "'x-api-key: sk-secret' -H 'x-goog-api-key: sk-secret'",
                                              "exec 3>&-") "; cat log >&2");
  static const char *const parts[] = {"{\"time\":", "\"method\":\"POST\",\"path\":\"/fault/bad_key/v1/responses\",",
                                      "\"x-api-key\":\"(hidden)\"", "\"fault\":\"bad_key\",\"status\":401,",
                                      "\"end\":\"complete\",\"ms\":"};
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    cr_assert(has(result.err, parts[i]), "no %s in %s", parts[i], result.err);
  cr_assert(!has(result.err, "sk-secret"), "%s", result.err);
  cr_assert(has(result.out, "sk-secret"), "the error repeats the key, as some providers do: %s", result.out);
  shell_free(&result);
  leave_folder();
}
