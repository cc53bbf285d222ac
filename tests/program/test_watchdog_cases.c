/* Recorded runs and what is found in them, through the program: NAME.jsonl and NAME.expect.json in tests/data/watchdogs
 * or, to check others, in the folder that $MEND_CASES names; "seed" is what mode seed finds and "detections" what mode
 * evidence does. The options are those that the cases were made for. */
#include "mend/json.h"
#include "program/base/json_fields.h"
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

static void append_setting(char *command, size_t size, mend_str option, mend_str value) {
  const size_t at = strlen(command);
  snprintf(command + at, size - at, " --set '%.*s=%.*s'", MEND_STR_ARG(option), MEND_STR_ARG(value));
}

/* What is not in the table has its option's own name. */
static mend_str option_of(mend_str key) {
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
    if (mend_str_equal(settings[i].key, key)) return mend_str_from(settings[i].option);
  }
  return key;
}

static void make_command(char *command, size_t size, const char *mode, const char *events, mend_str config) {
  mend_json json;
  mend_str value;
  snprintf(command, size,
           "mend replay --json --mode %s --set stall.timeout_s=30 --set regression.enable=true"
           " --set regression.window_n=10",
           mode);
  mend_json_init(&json, config, MEND_JSON_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    const mend_str key = json.slice;
    cr_assert_eq(mend_json_value(&json, &value), MEND_OK);
    append_setting(command, size, option_of(key), value);
  }
  const size_t at = strlen(command);
  snprintf(command + at, size - at, " '%s'", events);
}

/* ---- What was found and what was expected ------------------------------------------------------------------ */

typedef struct incident {
  mend_str detector, reason, line, call;
  mend_str earliest, latest; /* expected lines; absent: `line` */
  bool matched;
} incident;

enum { INCIDENTS_MAX = 256 };

static incident read_incident(mend_str object, const char *detector, const char *line) {
  json_field fields[] = {{mend_str_from(detector), {NULL, 0}},
                         {mend_str_from(line), {NULL, 0}},
                         JSON_FIELD("call_id"),
                         JSON_FIELD("reason"),
                         JSON_FIELD("earliest_line"),
                         JSON_FIELD("latest_line")};
  mend_error error;
  cr_assert_eq(json_fields_read(object, fields, 6, &error), MEND_OK, "%.*s: %s", MEND_STR_ARG(object), error.message);
  return (incident){.detector = fields[0].value,
                    .line = fields[1].value,
                    .call = fields[2].value,
                    .reason = fields[3].value,
                    .earliest = fields[4].value,
                    .latest = fields[5].value};
}

static double line_number(mend_str text, mend_str otherwise) {
  return mend_json_double(text.len > 0 ? text : otherwise);
}

/* A repeat of period two is a cycle, too. */
static bool is_same_reason(mend_str got, mend_str want) {
  const bool is_cycle = got.len > 6 && memcmp(got.ptr, "\"cycle", 6) == 0;
  return want.len == 0 || mend_str_equal(got, want) || (is_cycle && mend_str_equal(want, MEND_STR("\"repeat\"")));
}

/* Where a range of lines is given, the readings of Regression may tell a little sooner or later, by either rule. */
static bool is_same(const incident *got, const incident *want) {
  const bool has_range = want->earliest.len > 0;
  const bool is_loose = has_range && mend_str_equal(want->detector, MEND_STR("\"regression\""));
  const double line = mend_json_double(got->line), slack = is_loose ? 3 : 0;
  return mend_str_equal(got->detector, want->detector) && (is_loose || is_same_reason(got->reason, want->reason)) &&
         line >= line_number(want->earliest, want->line) - slack &&
         line <= line_number(want->latest, want->line) + slack &&
         (has_range || want->call.len == 0 || mend_str_equal(got->call, want->call));
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

/* What a case says of a mode. */
typedef struct expectation {
  mend_str found, tolerated, config;
} expectation;

static size_t report_missed(const char *name, incident *got, size_t count, mend_str expected) {
  size_t missed = 0;
  mend__json_items elements = mend__json_items_of(expected);
  mend_str element;
  while (mend__json_items_next(&elements, &element)) {
    const incident want = read_incident(element, "kind", "at_line");
    if (take_match(got, count, &want)) continue;
    missed++;
    fprintf(stderr, "%s: missed %.*s at line %.*s\n", name, MEND_STR_ARG(want.detector), MEND_STR_ARG(want.line));
  }
  return missed;
}

static void take_tolerated(incident *got, size_t count, mend_str tolerated) {
  mend__json_items elements = mend__json_items_of(tolerated);
  mend_str element;
  while (tolerated.len > 0 && mend__json_items_next(&elements, &element)) {
    const incident may_be = read_incident(element, "kind", "at_line");
    take_match(got, count, &may_be);
  }
}

static bool agrees(const char *name, incident *got, size_t count, const expectation *expected) {
  size_t wrong = report_missed(name, got, count, expected->found);
  take_tolerated(got, count, expected->tolerated);
  for (size_t i = 0; i < count; i++) {
    if (got[i].matched) continue;
    wrong++;
    fprintf(stderr, "%s: found %.*s at line %.*s\n", name, MEND_STR_ARG(got[i].detector), MEND_STR_ARG(got[i].line));
  }
  return wrong == 0;
}

/* ---- The cases --------------------------------------------------------------------------------------------- */

typedef struct tally {
  size_t passed, failed;
} tally;

static void run_mode(tally *all, const char *mode, const char *events, const expectation *expected) {
  char command[16384];
  make_command(command, sizeof command, mode, events, expected->config);
  shell_result result = shell_run(command);
  incident got[INCIDENTS_MAX];
  const bool has_output = result.out[0] != '\0';
  const size_t count = read_output(result.out, got);
  bool passed = agrees(events, got, count, expected);
  if (result.status != has_output) {
    fprintf(stderr, "%s: exit status %d\n%s", events, result.status, result.err);
    passed = false;
  }
  if (!passed) fprintf(stderr, "%s: not as expected in mode %s\n", events, mode);
  all->passed += passed;
  all->failed += !passed;
  shell_free(&result);
}

/* A mode of which nothing is said is not asked. */
static void run_case(tally *all, const char *expect_path) {
  char events[4096], *expect = mend_test_read_path(expect_path, NULL);
  cr_assert_not_null(expect, "cannot read %s", expect_path);
  json_field fields[] = {JSON_FIELD("seed"), JSON_FIELD("detections"), JSON_FIELD("tolerated"), JSON_FIELD("config")};
  cr_assert_eq(json_fields_read(mend_str_from(expect), fields, 4, NULL), MEND_OK, "%s is not JSON", expect_path);
  const mend_str config = fields[3].value.len > 0 ? fields[3].value : MEND_STR("{}");
  const expectation seed = {.found = fields[0].value, .config = config};
  const expectation evidence = {.found = fields[1].value, .tolerated = fields[2].value, .config = config};
  snprintf(events, sizeof events, "%.*s.jsonl", (int)(strlen(expect_path) - strlen(".expect.json")), expect_path);
  if (seed.found.len > 0) run_mode(all, "seed", events, &seed);
  if (evidence.found.len > 0) run_mode(all, "evidence", events, &evidence);
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
