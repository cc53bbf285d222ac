/* The classification table: every row by signals as they come, rows of one's own, what is wrong with them. */
#include "fallback/classification_internal.h"
#include "fallback/json_fields.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

static mend_classification *new_table(const char *rows) {
  mend_classification *table = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_classification_new(rows, NULL, &table, &error), MEND_OK, "%s", error.message);
  return table;
}

/* Which row a class came from: names are shared, their memory is not. */
static size_t row_of(const mend_classification *table, const mend_failure_class *class) {
  size_t i = 0;
  while (table->rows[i].outcome.name != class->name)
    i++;
  return i;
}

/* ---- Signals as they come ---- */

enum {
  ROW,
  ACTION,
  TRANSPORT,
  PROVIDER,
  STATUS,
  CONTENT_TYPE,
  BODY,
  REUSED,
  ANY_BYTE,
  STREAMING,
  AFTER_CONTENT,
  FIELDS
};

typedef struct signal_case {
  mend__json_member fields[FIELDS];
  char transport[64];
  mend__buffer body;
  mend_failure_signal signal;
} signal_case;

static void read_signal(signal_case *c, mend_str line) {
  static const char *const names[FIELDS] = {"row",  "action", "transport", "provider",  "status",       "content_type",
                                            "body", "reused", "any_byte",  "streaming", "after_content"};
  for (size_t i = 0; i < FIELDS; i++)
    c->fields[i].name = mend_str_from(names[i]);
  cr_assert(mend__json_fields_read(line, c->fields, FIELDS), "%.*s", MEND_STR_ARG(line));
  mend__buffer_init(&c->body, NULL);
  const mend_str transport = mend__json_inside(c->fields[TRANSPORT].value), body = c->fields[BODY].value;
  c->signal = (mend_failure_signal)MEND_FAILURE_SIGNAL_INIT;
  snprintf(c->transport, sizeof c->transport, "%.*s", MEND_STR_ARG(transport));
  c->signal.transport = transport.ptr != NULL ? c->transport : NULL;
  c->signal.provider = mend__json_inside(c->fields[PROVIDER].value);
  if (c->fields[STATUS].value.ptr != NULL) c->signal.http_status = (uint32_t)mend__json_count(c->fields[STATUS].value);
  c->signal.content_type = mend__json_inside(c->fields[CONTENT_TYPE].value);
  if (mend__json_is_string(body)) {
    mend__json_append(&c->body, body);
  } else {
    mend__buffer_str(&c->body, body);
  }
  c->signal.body = (mend_str){c->body.data, c->body.len};
  c->signal.reused = mend__json_is_true(c->fields[REUSED].value);
  c->signal.any_byte = mend__json_is_true(c->fields[ANY_BYTE].value);
  c->signal.streaming = mend__json_is_true(c->fields[STREAMING].value);
  c->signal.after_content = mend__json_is_true(c->fields[AFTER_CONTENT].value);
}

static size_t check_signal(const mend_classification *table, mend_str line) {
  signal_case c;
  read_signal(&c, line);
  mend_failure_class class = MEND_FAILURE_CLASS_INIT;
  mend_classify(table, &c.signal, &class);
  cr_assert(mend__json_says(c.fields[ROW].value, class.name), "%s for %.*s", class.name, MEND_STR_ARG(line));
  const char *action = mend_failure_action_name(class.action);
  cr_assert(mend__json_says(c.fields[ACTION].value, action), "%s for %.*s", action, MEND_STR_ARG(line));
  mend__buffer_free(&c.body);
  return row_of(table, &class);
}

Test(classification, every_row_is_found_by_a_signal) {
  mend_classification *table = new_table(NULL);
  char *text = mend_test_read("fallback/classification/signals.jsonl", NULL), *rest = text;
  bool *found = calloc(table->row_count, sizeof *found);
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    if (*line != '\0') found[check_signal(table, mend_str_from(line))] = true;
  }
  for (size_t i = 0; i < table->row_count; i++)
    cr_assert(found[i], "no signal for row %zu, %s", i + 1, table->rows[i].outcome.name);
  free(found);
  free(text);
  mend_classification_release(table);
}

/* What the rows say beside their action. */
Test(classification, what_follows_from_a_row) {
  static const struct {
    const char *name;
    mend_failure_action seed;
    mend_failure_remedy remedy;
    bool counts, parks, alerts, hides_body;
    double first_s, max_s;
    const char *scope;
    uint32_t report_status;
  } cases[] = {
      {"cancelled", MEND_ACTION_CANCEL, MEND_REMEDY_NONE, false, false, false, false, 0, 0, "model", 0},
      {"total_timeout", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, false, false, false, false, 0, 0, "model", 504},
      {"after_content", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, true, false, false, false, 2, 30, "model", 0},
      {"unreachable", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, true, false, false, false, 5, 60, "provider", 0},
      {"certificate", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, true, true, true, false, 600, 3600, "provider", 0},
      {"stale_connection", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, false, false, false, false, 0, 0, "model", 0},
      {"wrong_path", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, true, false, true, true, 60, 3600, "provider", 502},
      {"html_page", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, true, false, false, true, 2, 60, "provider", 0},
      {"context_overflow", MEND_ACTION_PROPAGATE, MEND_REMEDY_LARGER_WINDOW, false, false, false, false, 0, 0, "model",
       0},
      {"quota", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, true, true, false, false, 600, 3600, "key", 0},
      {"unsupported_parameter", MEND_ACTION_PROPAGATE, MEND_REMEDY_DROP_PARAMETER, false, false, false, false, 0, 0,
       "model", 0},
      {"model_not_found", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, true, true, true, false, 600, 3600, "model", 0},
      {"auth", MEND_ACTION_PROPAGATE, MEND_REMEDY_NEXT_KEY, true, true, true, true, 600, 3600, "key", 502},
      {"daily_quota", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, true, false, false, false, 3600, 3600, "key+model", 0},
      {"rate_limit", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, true, false, false, false, 2, 60, "key+model", 0},
      {"server_error", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, true, false, false, false, 2, 30, "model", 0},
      {"not_implemented", MEND_ACTION_FAIL_OVER, MEND_REMEDY_NONE, false, false, false, false, 0, 0, "model", 0},
      {"no such row", MEND_ACTION_PROPAGATE, MEND_REMEDY_NONE, false, false, false, false, 0, 0, "model", 0},
  };
  mend_classification *table = new_table(NULL);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_failure_class class = MEND_FAILURE_CLASS_INIT;
    mend__classify_name(table, mend_str_from(cases[i].name), &class);
    cr_assert(class.seed_action == cases[i].seed && class.remedy == cases[i].remedy, "%s", cases[i].name);
    cr_assert(class.counts == cases[i].counts && class.parks == cases[i].parks, "%s", cases[i].name);
    cr_assert(class.alerts == cases[i].alerts && class.hides_body == cases[i].hides_body, "%s", cases[i].name);
    cr_assert_float_eq(class.cool_down_s, cases[i].first_s, 0, "%s", cases[i].name);
    cr_assert_float_eq(class.cool_down_max_s, cases[i].max_s, 0, "%s", cases[i].name);
    cr_assert_str_eq(class.scope, cases[i].scope, "%s", cases[i].name);
    cr_assert_eq(class.report_status, cases[i].report_status, "%s", cases[i].name);
  }
  mend_classification_release(table);
}

/* ---- Rows of one's own ---- */

static const char *name_of(const mend_classification *table, uint32_t status, mend_str body) {
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  signal.http_status = status;
  signal.body = body;
  mend_failure_class class = MEND_FAILURE_CLASS_INIT;
  mend_classify(table, &signal, &class);
  return class.name;
}

Test(classification, rows_of_ones_own_come_first) {
  static const struct {
    uint32_t status;
    const char *body;
    const char *name;
  } cases[] = {
      {418, "a TEAPOT", "mine"},
      {425, "my kettle", "mine"},
      {425, "my cup", "server_error"},
      {431, "teapot", "invalid_request"},
      {418, "{\"a\": {\"b\": \"x\"}, \"c\": \"anything\"}", "both"},
      {418, "[0, {\"A\": [{\"b\": 1}, {\"B\": \"X\"}], \"c\": [null, {\"d\": 1}, 7]}]", "both"},
      {418, "{\"a\": {\"b\": \"x\"}, \"c\": null}", "unknown"},
      {418, "{\"a\": {\"b\": {\"b\": \"x\"}}, \"c\": 1}", "unknown"},
      {418, "{\"a\": \"x\", \"c\": 1}", "unknown"},
      {418, "{\"a.b\": \"x\", \"c\": 1}", "unknown"},
      {418, "{\"c\": 1, \"a\": {\"b\": \"x\"}", "both"}, /* cut, but what is looked for has come */
      {418, "{\"c\": 1, \"a\": {\"b", "unknown"},
  };
  mend_classification *table =
      new_table("[{\"name\": \"mine\", \"status\": [418, \"420-430\"], \"body\": [\"TeaPot\", \"kettle\"], \"action\": "
                "\"retry\"},"
                " {\"name\": \"both\", \"json\": {\"a.b\": \"X\", \"c\": \"*\"}, \"action\": \"fail_over\"}]");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    cr_assert_str_eq(name_of(table, cases[i].status, mend_str_from(cases[i].body)), cases[i].name, "%s", cases[i].body);
  mend_classification_release(table);
}

Test(classification, only_the_beginning_of_a_body_counts) {
  mend_classification *table = new_table(NULL);
  enum { LIMIT = 65536 };
  char *body = malloc(LIMIT + 64);
  memset(body, 'x', LIMIT + 64);
  memcpy(body + LIMIT - 17, "prompt is too lon", 17);
  cr_assert_str_eq(name_of(table, 400, (mend_str){body, LIMIT + 64}), "invalid_request");
  memcpy(body + LIMIT - 18, "prompt is too long", 18);
  cr_assert_str_eq(name_of(table, 400, (mend_str){body, LIMIT + 64}), "context_overflow");
  free(body);
  mend_classification_release(table);
}

/* Programs built against an older header get the members they know. */
Test(classification, structs_of_other_sizes) {
  mend_classification *table = new_table(NULL);
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  signal.size = offsetof(mend_failure_signal, http_status);
  signal.http_status = 401;
  mend_failure_class class = MEND_FAILURE_CLASS_INIT;
  class.size = offsetof(mend_failure_class, seed_action);
  class.scope = "untouched";
  mend_classify(table, &signal, &class);
  cr_assert_str_eq(class.name, "unknown");
  cr_assert_str_eq(class.scope, "untouched");
  mend_classification_release(table);
}

/* ---- What is wrong with rows ---- */

static void check_load(void *ctx, const char *name) {
  (void)ctx;
  char expected_name[256], got[320];
  snprintf(expected_name, sizeof expected_name, "%.*sexpected", (int)(strlen(name) - 4), name);
  char *rows = mend_test_read(name, NULL), *expected = mend_test_read(expected_name, NULL);
  mend_error error = MEND_ERROR_INIT;
  mend_classification *table = NULL;
  const mend_status status = mend_classification_new(rows, NULL, &table, &error);
  cr_assert_eq(table != NULL, status == MEND_OK, "%s", name);
  snprintf(got, sizeof got, "%u:%u: %s\n", error.line, error.column, error.message);
  cr_assert_str_eq(status == MEND_OK ? "ok\n" : got, expected, "%s: %s", name, got);
  mend_classification_release(table);
  free(rows);
  free(expected);
}

Test(classification, errors_have_a_place_and_a_sentence) {
  cr_assert(mend_test_each("fallback/classification/load", ".json", check_load, NULL) >= 30u);
}

static bool load_with(mend_test_allocator *allocator) {
  mend_classification *table = NULL;
  const mend_status status =
      mend_classification_new("[{\"name\": \"x\", \"action\": \"retry\"}]", &allocator->base, &table, NULL);
  cr_assert(status == MEND_OK || (status == MEND_ENOMEM && mend_test_allocator_failed(allocator)));
  mend_classification_release(table);
  cr_assert_eq(atomic_load(&allocator->blocks), 0u);
  return mend_test_allocator_failed(allocator);
}

Test(classification, out_of_memory) {
  mend_test_allocator allocator;
  mend_test_allocator_init(&allocator);
  for (int after = 0; after < 2; after++) {
    size_t n = 1;
    for (bool failed = true; failed; n++) {
      mend_test_allocator_arm(&allocator, n, after != 0);
      failed = load_with(&allocator);
    }
    cr_assert(n > 4u);
  }
}
