/* What the watchdog "loop" of mode evidence makes of texts: which are equal, and what they say. */
#include "support/mend_test.h"
#include "watchdogs/evidence_loop_outcome.h"

static mend_str text_of(const char *text) { return mend_str_from(text); }

/* ---- Volatile values ---- */

Test(evidence_loop_text, what_is_masked) {
  static const struct {
    const char *first, *second;
    bool same;
  } rows[] = {
      /* times */
      {"at 2026-06-17T10:00:11Z", "at 2026-06-18T11:41:59Z", true},
      {"at 2026-06-17 10:00:11.123 +0200", "at 2026-06-17 10:00:12.9 +0200", true},
      {"[10:00:11] starting", "[10:00:12] starting", true},
      {"20260617T100011Z done", "20260617T100012Z done", true},
      {"\\n10:00:11 line", "\\n10:07:11 line", true}, /* the escape is not of the word */
      {"on 2026-06-17", "on 2026-06-18", false},      /* a date alone is what one pages through */
      {"main.c:10:20 unused", "main.c:10:21 unused", false},
      /* durations */
      {"in 12ms", "in 7ms", true},
      {"in 1.25 seconds", "in 3 seconds", true},
      {"in 0.31s.", "in 12.07s.", true},
      {"up 1h2m3s", "up 14m", true},
      {"took 5 s", "took 7 s", true},
      {"ok  \\tpkg\\t0.012s", "ok  \\tpkg\\t0.3s", true},
      {"passed (12 ms)", "passed (7 ms)", true},
      {"real 0m1.2s", "real 0m3.4s", true},
      {"Passed    0.02 sec", "Passed    0.04 sec", true},
      {"started 3 minutes ago", "started 4 minutes ago", true},
      {"59 ms", "95 ms", false}, /* durations that are what it is about */
      {"p95: 59 ms", "p95: 95 ms", false},
      {"latency 1.5s", "latency 2.5s", false},
      {"900 ns/op", "450 ns/op", false},
      {"5 files", "7 files", false},
      {"10MB", "12MB", false},
      {"3 more", "4 more", false},
      {"12 message", "13 message", false},
      /* ids */
      {"id 7f0c2a1e-0000-4000-8000-000000000001", "id 7F0C2A1E-0000-4000-8000-00000000abcd", true},
      {"id abcdefab-0000-4000-8000-000000000001", "id fedcbaab-0000-4000-8000-000000000002", true},
      {"commit 8c1b2f3a4d5e6f70", "commit 0011223344556677aa", true},
      {"at 0x7ffd1234", "at 0x55aa00ff11", true},
      {"head 8c1b2f3", "head 8c1b2f4", false}, /* short: told apart by people */
      {"total 1234567890123456", "total 1234567890123457", false},
      {"0x10", "0x20", false},
      /* announced numbers */
      {"pid 4000: killed", "pid 4001: killed", true},
      {"Attempt #3 of 5", "attempt #4 of 5", false}, /* case counts outside of names */
      {"attempt #3 of 5", "attempt #4 of 5", true},
      {"retry=3", "retry=14", true},
      {"\"pid\": 77,", "\"pid\": 1,", true},
      {"elapsed: 12.5", "elapsed: 3", true},
      {"retry later 3", "retry later 4", false},
      {"rapid 3", "rapid 4", false},
      {"line 3", "line 4", false},
      /* all the other digits */
      {"compiled 17 crates", "compiled 34 crates", false},
      {"rows 0..99", "rows 100..199", false},
      {"v1.2.3", "v1.2.4", false},
      {"", "", true},
      {"1", "2", false},
      {"\\u0031", "\\u0032", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend_hash first = mend__masked_text_hash(text_of(rows[i].first));
    const mend_hash second = mend__masked_text_hash(text_of(rows[i].second));
    cr_assert_eq(mend_hash_equal(first, second), rows[i].same, "%s | %s", rows[i].first, rows[i].second);
  }
}

Test(evidence_loop_text, results_are_json) {
  static const struct {
    const char *first, *second;
    bool same;
  } rows[] = {
      {"{\"a\":1,\"b\":2}", "{ \"b\": 2.0, \"a\": 1 }", true},
      {"{\"took_ms\":12,\"rows\":3}", "{\"rows\":3,\"took_ms\":7}", true},
      {"{\"at\":\"2026-06-17T10:00:11Z\",\"rows\":3}", "{\"at\":\"2026-06-17T10:07:11Z\",\"rows\":3}", true},
      {"{\"rows\":3}", "{\"rows\":4}", false},
      {"{\"bytes\":1700000001}", "{\"bytes\":1700000002}", false},  /* a counter may have the size of an epoch */
      {"\"{\\\"a\\\":1,\\\"b\\\":2}\"", "{\"b\":2,\"a\":1}", true}, /* in a string, too */
      {"\"done at 10:00:11\"", "\"done at 10:00:12\"", true},
      {"[1,2]", "[2,1]", false},
      {"[1,2", "[1,2 ", true}, /* no JSON: its bytes, without the blanks around them */
      {"[1,2", "[1,3", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend_hash first = mend__masked_json_hash(text_of(rows[i].first));
    const mend_hash second = mend__masked_json_hash(text_of(rows[i].second));
    cr_assert_eq(mend_hash_equal(first, second), rows[i].same, "%s | %s", rows[i].first, rows[i].second);
  }
}

/* Masked at the beginning; what is behind counts as it is. */
Test(evidence_loop_text, long_texts) {
  static char first[20000], second[20000];
  memset(first, 'x', sizeof first - 1);
  memset(second, 'x', sizeof second - 1);
  memcpy(first + 100, " pid 11 ", 8);
  memcpy(second + 100, " pid 22 ", 8);
  cr_assert(mend_hash_equal(mend__masked_text_hash(text_of(first)), mend__masked_text_hash(text_of(second))));
  second[sizeof second - 2] = 'y';
  cr_assert(!mend_hash_equal(mend__masked_text_hash(text_of(first)), mend__masked_text_hash(text_of(second))));
}

/* ---- Names of tools ---- */

Test(evidence_loop_text, what_tool_names_say) {
  static const struct {
    const char *name;
    bool changes, looks, waits, is_shell;
  } rows[] = {
      {"read_file", false, true, false, false},
      {"readFile", false, true, false, false},
      {"edit", true, false, false, false},
      {"str_replace_editor", true, false, false, false},
      {"get_or_create", true, false, false, false},
      {"mcp__disk__list-dir", false, true, false, false},
      {"wait_for_job", false, false, true, false},
      {"bash", false, false, false, true},
      {"execute_command", false, false, false, true},
      {"thread", false, false, false, false},
      {"settings", false, false, false, false},
      {"TodoWrite", true, false, false, false},
      {"", false, false, false, false},
      {"42", false, false, false, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend__tool_words words = mend__tool_words_of(text_of(rows[i].name));
    cr_assert_eq(words.changes, rows[i].changes, "%s", rows[i].name);
    cr_assert_eq(words.looks, rows[i].looks, "%s", rows[i].name);
    cr_assert_eq(words.waits, rows[i].waits, "%s", rows[i].name);
    cr_assert_eq(words.is_shell, rows[i].is_shell, "%s", rows[i].name);
  }
  cr_assert(mend__says_sleep(MEND_STR("{\"cmd\":\"sleep 30; tail log\"}")));
  cr_assert(!mend__says_sleep(MEND_STR("{\"cmd\":\"asleep now\"}")));
  cr_assert(mend__says_change(MEND_STR("{\"cmd\":\"sed -i s/a/b/ x.c\"}")));
  cr_assert(mend__says_change(MEND_STR("{\"cmd\":\"cat > x.c\"}")));
  cr_assert(!mend__says_change(MEND_STR("{\"cmd\":\"grep alarm x.c\"}")));
  cr_assert(mend__says_change(MEND_STR("{\"cmd\":\"cd x && git -C y stash pop\"}")));
  cr_assert(mend__says_change(MEND_STR("{\"cmd\":\"npx prettier src --write\"}")));
  cr_assert(mend__says_change(MEND_STR("{\"cmd\":\"a\\ncp x y\"}")));
  cr_assert(!mend__says_change(MEND_STR("{\"cmd\":\"git log; echo commit\"}")));
  cr_assert(!mend__says_change(MEND_STR("{\"cmd\":\"git\"}")));
  cr_assert(mend__says_search(MEND_STR("{\"cmd\":\"cd x && grep -rn y .\"}")));
  cr_assert(!mend__says_search(MEND_STR("{\"cmd\":\"make\"}")));
  cr_assert(mend__says_view(MEND_STR("{\"path\":\"x.c\",\"command\":\"view\"}")));
  cr_assert(!mend__says_view(MEND_STR("{\"command\":\"str_replace\",\"path\":\"view\"}")));
  cr_assert(!mend__says_view((mend_str){NULL, 0}));
}

/* ---- Outcomes ---- */

typedef struct ending {
  const char *tool, *result, *error; /* a result, or an error */
  mend__outcome_kind kind;
  bool is_failing;
} ending;

static mend__outcome outcome_of(const ending *row) {
  const mend__outcome_hints hints = {.words = mend__tool_words_of(text_of(row->tool)), .is_repeated = true};
  if (row->error != NULL) {
    mend_tool_error_event error = MEND_TOOL_ERROR_EVENT_INIT;
    error.tool_name = text_of(row->tool);
    error.error_message = text_of(row->error);
    return mend__outcome_of(&error.event, &hints);
  }
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  after.tool_name = text_of(row->tool);
  if (row->result != NULL) after.result = text_of(row->result);
  return mend__outcome_of(&after.event, &hints);
}

Test(evidence_loop_text, how_calls_end) {
  static const ending rows[] = {
      {"t", "\"fine\"", NULL, MEND__OUTCOME_OK, false},
      {"t", NULL, NULL, MEND__OUTCOME_UNKNOWN, true},
      /* nothing found */
      {"t", "[]", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "\"[]\"", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "{\"hits\":[],\"total\":0,\"ok\":true}", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "{\"hits\":[],\"next\":\"p2\"}", NULL, MEND__OUTCOME_OK, false},
      {"t", "{\"hits\":[0,1]}", NULL, MEND__OUTCOME_OK, false},
      {"t", "\" No matches found.\"", NULL, MEND__OUTCOME_EMPTY, false},
      {"search", "\"\"", NULL, MEND__OUTCOME_EMPTY, false},
      {"search", "null", NULL, MEND__OUTCOME_EMPTY, false},
      {"move", "\"\"", NULL, MEND__OUTCOME_OK, false}, /* it has nothing to say */
      {"bash", "\"\"", NULL, MEND__OUTCOME_OK, false},
      {"notify", "null", NULL, MEND__OUTCOME_OK, false},
      {"notify", "{}", NULL, MEND__OUTCOME_OK, false},
      {"t", "\"{\\\"results\\\": [], \\\"total\\\": 0}\"", NULL, MEND__OUTCOME_EMPTY, false},
      {"search", "{\"query\":\"x\",\"results\":null}", NULL, MEND__OUTCOME_EMPTY, false},
      {"search", "{\"results\":[],\"next\":\"p2\"}", NULL, MEND__OUTCOME_OK, false},
      {"t", "\"No matches found\\n\"", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "\"none\\u0000none none none\"", NULL, MEND__OUTCOME_OK, false},
      /* texts in blocks */
      {"t", "[{\"type\":\"text\",\"text\":\"No matches found\"}]", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "{\"content\":[{\"text\":\"HTTP 503\",\"type\":\"text\"}],\"isError\":true}", NULL, MEND__OUTCOME_TRY_LATER,
       true},
      {"t", "[{\"type\":\"image\"},{\"type\":\"output_text\",\"text\":\"Error: no\"}]", NULL, MEND__OUTCOME_ERROR,
       true},
      {"find", "[{\"type\":\"text\",\"text\":\"Error: unknown tool find\"}]", NULL, MEND__OUTCOME_UNKNOWN_TOOL, true},
      {"search", "[{\"type\":\"text\",\"text\":\"\"}]", NULL, MEND__OUTCOME_EMPTY, false},
      {"move", "[{\"type\":\"text\",\"text\":\"\"}]", NULL, MEND__OUTCOME_OK, false},
      {"t", "{\"content\":[]}", NULL, MEND__OUTCOME_EMPTY, false},
      {"t", "[{\"text\":\"Error: no block\"}]", NULL, MEND__OUTCOME_OK, true},
      /* behind it where the shell is */
      {"t", "\"No matches found\\n(Open file: /a/b.c)\\n(Current directory: /a)\\nbash-$\"", NULL, MEND__OUTCOME_EMPTY,
       false},
      {"search", "\"(Open file: n/a)\\n(Current directory: /a)\\nbash-$\"", NULL, MEND__OUTCOME_EMPTY, false},
      /* failures that are results */
      {"t", "\"1 failed, 3 passed\"", NULL, MEND__OUTCOME_OK, true},
      {"t", "\"4 passed, 0 failed, no errors\"", NULL, MEND__OUTCOME_OK, false},
      {"t", "{\"passed\":4,\"failed\":0,\"errors\":[]}", NULL, MEND__OUTCOME_OK, false},
      {"t", "{\"passed\":4,\"failed\":2}", NULL, MEND__OUTCOME_OK, true},
      {"t", "\"failures=0, errors = 0\"", NULL, MEND__OUTCOME_OK, false},
      {"t", "\"failures=0, errors = 0.5\"", NULL, MEND__OUTCOME_OK, true},
      {"t", "\"Error: no such table\"", NULL, MEND__OUTCOME_ERROR, true},
      {"t", "\"<tool_use_error>no such file</tool_use_error>\"", NULL, MEND__OUTCOME_ERROR, true},
      {"t", "\"Traceback (most recent call last)\"", NULL, MEND__OUTCOME_ERROR, true},
      {"find", "\"Error: unknown tool find\"", NULL, MEND__OUTCOME_UNKNOWN_TOOL, true},
      {"t", "{\"error\":\"no such table\"}", NULL, MEND__OUTCOME_ERROR, true},
      {"t", "{\"rows\":[1],\"error\":null}", NULL, MEND__OUTCOME_OK, false},
      {"t", "{\"content\":[{\"text\":\"no\"}],\"isError\":true}", NULL, MEND__OUTCOME_ERROR, true},
      {"t", "{\"success\":false,\"why\":\"locked\"}", NULL, MEND__OUTCOME_ERROR, true},
      {"t", "{\"inner\":{\"error\":\"x\"}}", NULL, MEND__OUTCOME_OK, true}, /* not what it is about */
      {"t", "{\"error\":\"HTTP 429\"}", NULL, MEND__OUTCOME_TRY_LATER, true},
      /* errors */
      {"t", NULL, "permission denied", MEND__OUTCOME_ERROR, true},
      {"find", NULL, "there is no tool called \"find\"", MEND__OUTCOME_UNKNOWN_TOOL, true},
      {"find", NULL, "Tool 'find' not found.", MEND__OUTCOME_UNKNOWN_TOOL, true},
      {"bash", NULL, "bash: tool: command not found", MEND__OUTCOME_ERROR, true},
      {"build", NULL, "compiler not found", MEND__OUTCOME_ERROR, true},
      {"t", NULL, "HTTP 503", MEND__OUTCOME_TRY_LATER, true},
      {"t", NULL, "429", MEND__OUTCOME_TRY_LATER, true},
      {"t", NULL, "status code: 529", MEND__OUTCOME_TRY_LATER, true},
      {"t", NULL, "Rate limit reached", MEND__OUTCOME_TRY_LATER, true},
      {"t", NULL, "read: connection reset by peer", MEND__OUTCOME_TRY_LATER, true},
      {"t", NULL, "line 503: syntax", MEND__OUTCOME_ERROR, true},
      {"t", NULL, "HTTP 404", MEND__OUTCOME_ERROR, true},
      {"t", NULL, "HTTP 5031", MEND__OUTCOME_ERROR, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend__outcome outcome = outcome_of(&rows[i]);
    const char *said = rows[i].error != NULL ? rows[i].error : rows[i].result;
    cr_assert_eq(outcome.kind, rows[i].kind, "row %zu, %s: %s", i, said != NULL ? said : "nothing",
                 mend__outcome_word(outcome.kind).ptr);
    if (outcome.kind != MEND__OUTCOME_UNKNOWN) cr_assert_eq(outcome.is_failing, rows[i].is_failing, "row %zu", i);
  }
}

/* What a hook answers counts, what a watchdog or a person decides does not. */
Test(evidence_loop_text, calls_that_did_not_run) {
  static const struct {
    mend_event_kind kind;
    const char *hook;
    bool is_told;
    mend__outcome_kind outcome;
  } rows[] = {
      {MEND_EVENT_TOOL_SKIPPED, "guard", false, MEND__OUTCOME_SKIPPED},
      {MEND_EVENT_TOOL_SKIPPED, "guard", true, MEND__OUTCOME_VETOED},
      {MEND_EVENT_TOOL_SKIPPED, "watchdog", false, MEND__OUTCOME_VETOED},
      {MEND_EVENT_TOOL_SKIPPED, NULL, false, MEND__OUTCOME_VETOED},
      {MEND_EVENT_TOOL_ABORTED, "guard", false, MEND__OUTCOME_VETOED},
      {MEND_EVENT_TOOL_CANCELLED, NULL, false, MEND__OUTCOME_VETOED},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_any_event event;
    mend_event_init(&event, rows[i].kind);
    if (rows[i].hook != NULL) event.tool_skipped.hook = text_of(rows[i].hook);
    const mend__outcome_hints hints = {.is_told = rows[i].is_told};
    cr_assert_eq(mend__outcome_of(&event.event, &hints).kind, rows[i].outcome, "row %zu", i);
  }
}

Test(evidence_loop_text, excerpts) {
  char excerpt[MEND__EXCERPT_MAX];
  static char long_result[400];
  mend_tool_after_event after = MEND_TOOL_AFTER_EVENT_INIT;
  after.result = MEND_STR("\"a\\tb \\\"c\\\" \\u00e4\"");
  cr_assert_eq(mend__outcome_excerpt(&after.event, excerpt), 10u);
  cr_assert_eq(memcmp(excerpt, "a\tb \"c\" \xC3\xA4", 10), 0);
  after.result = MEND_STR("{\"a\":[1,2]}");
  cr_assert_eq(mend__outcome_excerpt(&after.event, excerpt), 11u);

  memset(long_result, 'x', sizeof long_result - 1);
  long_result[0] = long_result[sizeof long_result - 2] = '"';
  memcpy(long_result + 118, "\\u00e4", 6); /* from the 118th byte of the text on: would be cut in two */
  after.result = mend_str_from(long_result);
  cr_assert_eq(mend__outcome_excerpt(&after.event, excerpt), 117u);
  memcpy(long_result + 118, "xx\xE2\x82\xACx", 6); /* so would this character */
  cr_assert_eq(mend__outcome_excerpt(&after.event, excerpt), 119u);
  after.result = (mend_str){NULL, 0};
  after.result_preview = MEND_STR("the beginning...");
  cr_assert_eq(mend__outcome_excerpt(&after.event, excerpt), 16u);
}
