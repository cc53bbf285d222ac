/* mend doctor as people call it: without a network, and before the fault server. */
#include "program/shell.h"
#include "support/fault_server.h"

#define KEY "sk-doctor-0123456789"

typedef struct visit_case {
  const char *command; /* $URL is the fault server, $CLOSED a port where nobody listens */
  int status;
  const char *says[3]; /* parts of what it prints */
} visit_case;

#define OPENAI "OPENAI_API_KEY=" KEY " mend doctor --base-url openai=$URL/fault/"

static const visit_case cases[] = {
    /* What is looked at here */
    {"mend doctor --help", 0, {"Usage: mend doctor", "OPENAI_API_KEY", "Exit status: 0 there is no problem"}},
    {"mend help doctor", 0, {"Usage: mend doctor"}},
    {"mend doctor", 0, {"ok           libcurl: ", "ok           clock: 20", "not checked  models: none was named"}},
    {"mend doctor --journals /proc", 1, {"problem      journals: /proc: nothing can be written there"}},
    {"(trap '' XFSZ; ulimit -f 0; mend doctor --journals .) | cat",
     0,
     {"nothing can be written there: File too large Raise the limit of a file's size"}},
    {"mend doctor --journals /no/such", 1, {"problem      journals: /no/such: No such file or directory"}},
    {"mend doctor --journals /dev/null", 1, {"journals: /dev/null: it is no folder"}},
    {"mkdir -p open && chmod 777 open && mend doctor --journals open",
     0,
     {"warning      journals: open: everybody may"}},
    {"https_proxy=http://proxy:1 mend doctor", 0, {"warning      environment: https_proxy is set"}},
    /* Options */
    {"mend doctor --ofline", 2, {"did you mean --offline?"}},
    {"mend doctor --offline=1", 2, {"--offline takes no value"}},
    {"mend doctor --timeout 0", 2, {"--timeout 0: expected a number of seconds"}},
    {"mend doctor --timeout 1s", 2, {"--timeout 1s: expected a number of seconds"}},
    {"mend doctor --base-url http://x", 2, {"--base-url: expected PROVIDER=URL"}},
    {"mend doctor --base-url opneai=http://x", 2, {"--base-url: there is no provider \"opneai\""}},
    {"mend doctor --config nothing.json", 2, {"nothing.json: No such file or directory"}},
    {"mend dctor", 2, {"did you mean doctor?"}},
    /* Models, without asking anybody */
    {"mend doctor --offline openai:gpt-4.1", 1, {"there is no key for openai", "Set OPENAI_API_KEY.", "(--offline)"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --offline openai:gpt-4.1", 0, {"its key is in OPENAI_API_KEY"}},
    {"OPENAI_API_KEY='" KEY "\n' mend doctor --offline openai:gpt-4.1", 1, {"has blanks, line ends"}},
    {"GOOGLE_API_KEY=" KEY " mend doctor --offline google:gemini-2.5-pro", 0, {"its key is in GOOGLE_API_KEY"}},
    {"mend doctor --base-url google=$URL/v1beta google:",
     1,
     {"problem      google:: there is no model id in it Name a model", "1 problem, 0 warnings"}},
    {"GEMINI_API_KEY=" KEY " mend doctor google:", 1, {"there is no model id in it", "1 problem, 0 warnings"}},
    {"mend doctor --offline opneai:gpt-4.1", 1, {"did you mean openai?"}},
    {"mend doctor --offline gpt-4.1", 1, {"names no provider"}},
    {"mend doctor --offline compatible:llama", 1, {"it needs a base URL", "--base-url compatible=URL"}},
    {"mend doctor --offline --base-url compatible=http://me:" KEY "@h/v1 compatible:llama",
     1,
     {"with credentials in it"}},
    {"mend doctor --offline scripted:nothing.json", 1, {"nothing.json: No such file or directory"}},
    {"echo '{\"replies\":[{\"txet\":1}]}' > bad.json; mend doctor scripted:bad.json", 1, {"did you mean \"text\"?"}},
    {"echo '{\"replies\":[{\"text\":\"a\"}]}' > fine.json; mend doctor scripted:fine.json",
     0,
     {"its script can be played"}},
    {"echo '{\"fallback\":{\"models\":[\"scripted:fine.json\",\"openai:x\"]}}' > c.json; mend doctor --offline "
     "--config c.json",
     1,
     {"ok           scripted:fine.json", "problem      openai:x"}},
    /* Providers */
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=$URL/v1 openai:gpt-4.1",
     0,
     {"ok           openai: http://127.0.0.1:", ", and takes the key", "0 problems"}},
    {"mend doctor --base-url compatible=$URL/v1 compatible:llama", 0, {"it has no key", "answers within"}},
    {"mend doctor --base-url compatible=$URL/v1 compatible:no-such", 0, {"it is not in the provider's list of models"}},
    {"mend doctor --base-url openai=$URL/fault/bad_key/v1 openai:gpt-4.1", 1, {"ok           openai: http", "no key"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=$URL/fault/bad_key/v1 openai:gpt-4.1",
     1,
     {"refuses the key in OPENAI_API_KEY", "Make a new key"}},
    {"ANTHROPIC_API_KEY=" KEY " mend doctor --base-url anthropic=$URL/fault/bad_key/v1 anthropic:claude-sonnet-4-6",
     1,
     {"refuses the key in ANTHROPIC_API_KEY"}},
    {"GEMINI_API_KEY=" KEY " mend doctor --base-url google=$URL/fault/bad_key/v1beta google:gemini-2.5-pro",
     1,
     {"refuses the key in GEMINI_API_KEY"}},
    {"mend doctor --base-url compatible=$URL/fault/status=404,html/v1 compatible:llama", 0, {"has no list of models"}},
    {"mend doctor --base-url compatible=$URL/fault/overloaded/v1 compatible:llama", 0, {"has trouble (status 503)"}},
    /* 200, and no list of models: nobody looked at the key */
    {OPENAI "html,status=200/v1 openai:gpt-4.1",
     0,
     {"1 answers with an HTML page, not with a list", "0 problems, 1 warning"}},
    {OPENAI "body=%7B%7D,status=200/v1 openai:gpt-4.1",
     0,
     {"answers with JSON that is no list", "0 problems, 1 warning"}},
    {OPENAI "body=7,status=200/v1 openai:gpt-4.1", 0, {"answers with JSON that is no list", "0 problems, 1 warning"}},
    {OPENAI "empty_body/v1 openai:gpt-4.1", 0, {"answers with an empty body, not", "0 problems, 1 warning"}},
    {OPENAI "not_json/v1 openai:gpt-4.1", 0, {"answers with text that is no JSON, not", "0 problems, 1 warning"}},
    {OPENAI "overloaded,error_200/v1 openai:gpt-4.1", 0, {"answers with an error, not", "0 problems, 1 warning"}},
    {OPENAI "status=204/v1 openai:gpt-4.1", 0, {"has no list of models (status 204)", "0 problems, 1 warning"}},
    {OPENAI "body=[%22x%22],status=200/v1 openai:x", 0, {", and takes the key", "0 problems, 0 warnings"}},
    {OPENAI "body=%7B%22models%22:[%7B%22name%22:%22models%2Fx%22%7D]%7D,status=200/v1 openai:x",
     0,
     {", and takes the key", "0 problems, 0 warnings"}},
    {OPENAI "body=%7B%22data%22:[]%2C%22has_more%22:true%7D,status=200/v1 openai:x", 0, {"0 problems, 0 warnings"}},
    /* One cause, one problem */
    {"mend doctor --base-url openai=$URL/v1 openai:a openai:b",
     1,
     {"problem      openai:a: there is no key for openai", "not checked  openai:b: first what is said of openai:a",
      "1 problem, 0 warnings"}},
    {"OPENAI_API_KEY='" KEY "\n' mend doctor --base-url openai=$URL/v1 openai:a openai:b",
     1,
     {"problem      openai:a: the key in", "not checked  openai:b: ", "1 problem, 0 warnings"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=http://x.invalid/v1 openai:a openai:b",
     1,
     {"plain http to x.invalid, which is not this machine, was not allowed Correct --base-url.",
      "1 problem, 0 warnings"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=ftp://x openai:a openai:b",
     1,
     {"has to begin with http:// or https://", "1 problem, 0 warnings"}},
    {"mend doctor compatible:a compatible:b", 1, {"it needs a base URL", "1 problem, 0 warnings"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=$URL/fault/bad_key/v1 openai:a openai:b",
     1,
     {"refuses the key", "1 problem, 0 warnings"}},
    {"OPENAI_API_KEY=" KEY " mend doctor --base-url openai=http://127.0.0.1:1/v1 openai:a openai:b",
     1,
     {"nothing listens there", "1 problem, 0 warnings"}},
    {OPENAI "header=date:%20Mon%2C%2030%20Nov%202020%2017:03:31%20GMT/v1 --base-url "
            "compatible=$URL/fault/header=date:%20Mon%2C%2030%20Nov%202020%2017:03:31%20GMT/v1 openai:fault-1 "
            "compatible:fault-1",
     0,
     {"clock: it is", "0 problems, 1 warning"}},
    {"mend doctor --base-url compatible=$URL/fault/status=204/v1 --json compatible:a",
     0,
     {"\"state\":\"warning\",\"check\":\"compatible\",",
      "\"advice\":\"Check the base URL, which mostly ends in /v1.\"}"}},
    {"mend doctor --base-url compatible=$URL/fault/rate_limit/v1 compatible:llama", 0, {"takes no more requests"}},
    {"mend doctor --base-url compatible=$URL/fault/redirect=https:%2F%2Fx/v1 compatible:llama",
     1,
     {"redirects (status 302)"}},
    {"mend doctor --base-url compatible=$URL/fault/reset/v1 compatible:llama", 1, {"the connection broke off"}},
    {"mend doctor --timeout 0.2 --base-url compatible=$URL/fault/hang/v1 compatible:llama",
     1,
     {"does not answer in time"}},
    {"mend doctor --base-url compatible=http://127.0.0.1:1/v1 compatible:llama", 1, {"nothing listens there"}},
    {"mend doctor --base-url compatible=$URL/fault/big_body/v1 compatible:llama",
     1,
     {"its answer is too long for a list of models", "Check the base URL"}},
    {"mend doctor --base-url compatible=$URL/fault/endless_headers/v1 compatible:llama",
     1,
     {"what it answers is not understood (the head of the reply is too long)", "Is it a provider of models"}},
    {"mend doctor --base-url compatible=$URL/fault/malformed/v1 compatible:llama", 1, {"Is it a provider of models"}},
    {"mend doctor --base-url compatible=$URL/fault/status=400/v1 compatible:llama",
     0,
     {"does not understand what it is asked (status 400)", "is it this provider's"}},
    {"mend doctor --timeout 0.5 --base-url compatible=$URL/fault/trickle/v1 compatible:llama",
     1,
     {"it does not answer in time"}},
    {OPENAI "bad_key,short_body=10/v1 openai:gpt-4.1", 1, {"refuses the key in OPENAI_API_KEY", "Make a new key"}},
    {"mend doctor --proxy http://127.0.0.1:1 --base-url compatible=https://x.invalid/v1 compatible:llama",
     1,
     {"nothing listens at the proxy's address (the connection to the proxy was refused", "Check --proxy."}},
    {"mend doctor --base-url compatible=https://x.invalid/v1 compatible:llama",
     1,
     {"its name is not found", "online?"}},
    {"mend doctor --base-url compatible=http://x.invalid/v1 compatible:llama", 1, {"plain http", "was not allowed"}},
    {"mend doctor --base-url compatible=$URL/v1 compatible:a compatible:b", 0, {"compatible: http"}},
    /* For programs */
    {"mend doctor --json --offline openai:gpt-4.1",
     1,
     {"{\"state\":\"problem\",\"check\":\"openai:gpt-4.1\",\"message\":\"there is no key for openai\",\"advice\":\"Set "
      "OPENAI_API_KEY.\"}\n",
      "{\"state\":\"not checked\",\"check\":\"openai\",", "\"advice\":null}\n"}},
};

static void enter_new_folder(char *folder) {
  static const char *const variables[] = {"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY",
                                          "https_proxy",    "HTTPS_PROXY",       "all_proxy",      "ALL_PROXY"};
  cr_assert_not_null(mkdtemp(folder));
  shell_prepare(folder);
  setenv("COLUMNS", "120", 1);
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
}

static void leave_folder(const char *folder) {
  char command[256];
  cr_assert_eq(chdir("/"), 0);
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  shell_result result = shell_run(command);
  shell_free(&result);
}

/* Lines are broken wherever they are full: blanks and breaks count as one blank. */
static char *unfold(char *text) {
  char *to = text;
  for (const char *from = text; *from != '\0'; from++) {
    if (*from == '\n' && from[1] == ' ') {
      while (from[1] == ' ')
        from++;
      *to++ = ' ';
    } else {
      *to++ = *from;
    }
  }
  *to = '\0';
  return text;
}

static void want(const visit_case *each) {
  shell_result result = shell_run(each->command);
  char said[16384];
  if (strstr(each->command, "--help") == NULL) unfold(result.out);
  snprintf(said, sizeof said, "%s%s", result.out, result.err);
  cr_assert_eq(result.status, each->status, "%s: %d: %s", each->command, result.status, said);
  for (size_t i = 0; i < 3 && each->says[i] != NULL; i++)
    cr_assert_not_null(strstr(said, each->says[i]), "%s: no \"%s\" in: %s", each->command, each->says[i], said);
  cr_assert_null(strstr(said, KEY), "%s: %s", each->command, said);
  shell_free(&result);
}

Test(doctor, says_what_is_wrong_and_what_to_do) {
  char folder[] = "/tmp/mend-doctor-XXXXXX";
  mend_test_faults *server = mend_test_faults_start(NULL);
  enter_new_folder(folder);
  setenv("URL", mend_test_faults_url(server), 1);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    want(&cases[i]);
  mend_test_faults_stop(server);
  leave_folder(folder);
}

Test(doctor, asks_each_provider_once) {
  char folder[] = "/tmp/mend-doctor-XXXXXX";
  mend_test_faults *server = mend_test_faults_start(NULL);
  enter_new_folder(folder);
  setenv("URL", mend_test_faults_url(server), 1);
  shell_result result = shell_run("OPENAI_API_KEY=" KEY " mend doctor --base-url openai=$URL/v1 openai:a openai:b");
  cr_assert_eq(result.status, 0, "%s", result.out);
  shell_free(&result);
  cr_assert_eq(mend_test_faults_counts(server).requests, 1);
  const mend_test_request request = mend_test_faults_request(server, 0);
  cr_assert_str_eq(request.target, "/v1/models");
  cr_assert(mend_test_request_has(&request, "authorization: Bearer " KEY));
  mend_test_faults_stop(server);
  leave_folder(folder);
}
