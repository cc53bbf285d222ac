/* Recorded runs and what seed mode finds in them, through the program: NAME.jsonl and NAME.expect.json in
 * tests/data/watchdogs or, to check others, in the folder that $MEND_CASES names. The options are those that the cases
 * were made for. */
#include "mend/json.h"
#include "program/replay/json_fields.h"
#include "shell.h"

#include <dirent.h>

/* ---- The command ------------------------------------------------------------------------------------------- */

/* One option from the case's configuration. */
static const struct {
  mend_str key;
  const char *option;
} settings[] = {
    {{"reg_n", 5}, "regression.window_n"},
    {{"poll_tools", 10}, "loop.poll_tools"},
    {{"poll_k", 6}, "loop.poll_k"},
    {{"volatile_keys", 13}, "loop.volatile_keys"},
    {{"tool_timeout", 12}, "stall.tool_timeout_s"},
};

static void append_setting(char *command, size_t size, const char *option, mend_str value) {
  const size_t at = strlen(command);
  snprintf(command + at, size - at, " --set '%s=%.*s'", option, MEND_STR_ARG(value));
}

static void make_command(char *command, size_t size, const char *events, mend_str config) {
  snprintf(command, size,
           "mend replay --json --mode seed --set stall.timeout_s=30 --set regression.enable=true"
           " --set regression.window_n=10");
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    json_field field = {settings[i].key, {NULL, 0}};
    if (config.len > 0) cr_assert_eq(json_fields_read(config, &field, 1, NULL), MEND_OK);
    if (field.value.len > 0) append_setting(command, size, settings[i].option, field.value);
  }
  const size_t at = strlen(command);
  snprintf(command + at, size - at, " '%s'", events);
}

/* ---- What was found and what was expected ------------------------------------------------------------------ */

typedef struct incident {
  mend_str detector, line, call;
  bool matched;
} incident;

enum { INCIDENTS_MAX = 256 };

static incident read_incident(mend_str object, const char *detector, const char *line) {
  json_field fields[] = {{mend_str_from(detector), {NULL, 0}}, {mend_str_from(line), {NULL, 0}}, JSON_FIELD("call_id")};
  mend_error error;
  cr_assert_eq(json_fields_read(object, fields, 3, &error), MEND_OK, "%.*s: %s", MEND_STR_ARG(object), error.message);
  return (incident){fields[0].value, fields[1].value, fields[2].value, false};
}

static bool is_same(const incident *got, const incident *want) {
  return mend_str_equal(got->detector, want->detector) && mend_str_equal(got->line, want->line) &&
         (want->call.len == 0 || mend_str_equal(got->call, want->call));
}

static bool take_match(incident *got, size_t count, const incident *want) {
  for (size_t i = 0; i < count; i++) {
    if (got[i].matched || !is_same(&got[i], want)) continue;
    got[i].matched = true;
    return true;
  }
  return false;
}

static size_t read_output(char *output, incident got[INCIDENTS_MAX]) {
  size_t count = 0;
  for (char *line = strtok(output, "\n"); line != NULL; line = strtok(NULL, "\n")) {
    cr_assert(count < INCIDENTS_MAX);
    got[count++] = read_incident(mend_str_from(line), "detector", "line");
  }
  return count;
}

static bool agrees(const char *name, incident *got, size_t count, mend_str seed) {
  size_t expected = 0, missed = 0;
  json_elements elements = json_elements_of(seed);
  mend_str element;
  while (json_elements_next(&elements, &element)) {
    const incident want = read_incident(element, "kind", "at_line");
    expected++;
    if (take_match(got, count, &want)) continue;
    missed++;
    fprintf(stderr, "%s: missed %.*s at line %.*s\n", name, MEND_STR_ARG(want.detector), MEND_STR_ARG(want.line));
  }
  for (size_t i = 0; i < count; i++) {
    if (got[i].matched) continue;
    fprintf(stderr, "%s: found %.*s at line %.*s\n", name, MEND_STR_ARG(got[i].detector), MEND_STR_ARG(got[i].line));
  }
  return missed == 0 && count == expected;
}

/* ---- The cases --------------------------------------------------------------------------------------------- */

typedef struct tally {
  size_t passed, failed;
} tally;

static void run_case(tally *all, const char *expect_path) {
  char *expect = mend_test_read_path(expect_path, NULL);
  cr_assert_not_null(expect, "cannot read %s", expect_path);
  json_field fields[] = {JSON_FIELD("seed"), JSON_FIELD("config")};
  cr_assert_eq(json_fields_read(mend_str_from(expect), fields, 2, NULL), MEND_OK, "%s is not JSON", expect_path);

  char events[4096], command[16384];
  snprintf(events, sizeof events, "%.*s.jsonl", (int)(strlen(expect_path) - strlen(".expect.json")), expect_path);
  make_command(command, sizeof command, events, fields[1].value);
  shell_result result = shell_run(command);
  incident got[INCIDENTS_MAX];
  const bool has_output = result.out[0] != '\0';
  const size_t count = read_output(result.out, got);
  bool passed = agrees(events, got, count, fields[0].value);
  if (result.status != has_output) {
    fprintf(stderr, "%s: exit status %d\n%s", events, result.status, result.err);
    passed = false;
  }
  all->passed += passed;
  all->failed += !passed;
  shell_free(&result);
  free(expect);
}

static int is_expectation(const struct dirent *entry) {
  const char *suffix = strstr(entry->d_name, ".expect.json");
  return suffix != NULL && strcmp(suffix, ".expect.json") == 0;
}

Test(program, watchdog_cases) {
  const char *given = getenv("MEND_CASES");
  const char *folder = given != NULL ? given : MEND_TEST_DATA "/watchdogs";
  shell_prepare(folder);
  struct dirent **entries;
  const int count = scandir(".", &entries, is_expectation, alphasort);
  tally all = {0, 0};
  cr_assert(count > 0, "no cases in %s", folder);
  for (int i = 0; i < count; i++) {
    run_case(&all, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  cr_assert_eq(all.failed, 0, "%zu passed, %zu failed", all.passed, all.failed);
}
