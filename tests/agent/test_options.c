/* Agents: options and calls that cannot be, tools that no model takes. */
#include "agent/world.h"

/* ---- Options ---- */

typedef struct options_case {
  const char *what, *sentence;
  bool no_model, no_boundary, no_tools;
  uint32_t max_turns;
  const char *sizeless; /* "options", "request", "tool"; "": none of them */
} options_case;

static void want_refusal(const world *w, const options_case *each) {
  mend_tool_spec spec = {.size = sizeof spec, .name = MEND_STR("echo")};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  mend_agent *agent = NULL;
  if (strcmp(each->sizeless, "options") == 0) options.size = 0;
  if (strcmp(each->sizeless, "request") == 0) request.size = 0;
  if (strcmp(each->sizeless, "tool") == 0) spec.size = 0;
  options.request = &request;
  options.model = each->no_model ? NULL : w->model;
  options.boundary = each->no_boundary ? NULL : mend_healing_boundary(w->runner);
  options.tools = each->no_tools ? NULL : &spec;
  options.tool_count = 1;
  options.max_turns = each->max_turns;
  const mend_status status = mend_agent_new(&options, &agent, &error);
  cr_assert_eq(status, each->sentence != NULL ? MEND_EINVAL : MEND_OK, "%s: %s", each->what, error.message);
  if (each->sentence != NULL) cr_assert_not_null(strstr(error.message, each->sentence), "%s", error.message);
  mend_agent_free(agent);
}

Test(agent_options, options_that_cannot_be) {
  static const options_case rows[] = {
      {"fine", NULL, false, false, false, 1, ""},
      {"no model", "mend_agent_options.model", true, false, false, 1, ""},
      {"no boundary", "mend_agent_options.boundary", false, true, false, 1, ""},
      {"no tools", "tool_count (1)", false, false, true, 1, ""},
      {"no turns", "max_turns: 0 is out of range", false, false, false, 0, ""},
      {"too many turns", "max_turns: 10001 is out of range", false, false, false, 10001, ""},
      {"no size", "size is 0", false, false, false, 1, "options"},
      {"a bad request", "mend_model_request: size is 0", false, false, false, 1, "request"},
      {"a bad tool", "mend_tool_spec: size is 0", false, false, false, 1, "tool"},
  };
  world w;
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_refusal(&w, &rows[i]);
  mend_agent_free(NULL);
  mend_agent_report_clear(NULL);
  world_close(&w);
}

Test(agent_options, calls_that_cannot_be) {
  world w;
  mend_error error = MEND_ERROR_INIT;
  mend_agent_report small = MEND_AGENT_REPORT_INIT;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  small.size--;
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
  cr_assert_eq(mend_agent_run(NULL, MEND_STR("go"), NULL, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "the agent is NULL"));
  cr_assert_eq(mend_agent_run(w.agent, MEND_STR("go"), &small, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "its size is too small"));
  cr_assert_eq(mend_agent_run_enriched(w.agent, MEND_STR("go"), NULL, &enriched, NULL, &error), MEND_EINVAL);
  cr_assert_eq(mend_messages_count(mend_agent_messages(w.agent)), 0);
  cr_assert_eq(mend_agent_run(w.agent, MEND_STR("go"), NULL, NULL), MEND_OK); /* nobody asks */
  world_close(&w);
}

/* ---- What a model is told of tools ---- */

#define LETTERS "abcdefghijklmnopqrstuvwxyz_-ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789" /* 64 */
#define RULE "its name has to be 1 to 64 letters, digits, _ and -"

typedef struct spec_case {
  const char *name, *schema; /* NULL: absent */
  const char *sentence;      /* NULL: fine */
  unsigned line, column;
} spec_case;

static void want_spec(const world *w, const spec_case *each) {
  const mend_tool_spec specs[] = {
      {.size = sizeof specs[0], .name = MEND_STR("echo")},
      {.size = sizeof specs[0], .name = mend_str_from(each->name), .schema = mend_str_from(each->schema)},
  };
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  mend_agent *agent = NULL;
  options.model = w->model;
  options.boundary = mend_healing_boundary(w->runner);
  options.tools = specs;
  options.tool_count = 2;
  const mend_status status = mend_agent_new(&options, &agent, &error);
  cr_assert_eq(status, each->sentence != NULL ? MEND_EINVAL : MEND_OK, "%s: %s", each->name, error.message);
  if (each->sentence != NULL) cr_assert_not_null(strstr(error.message, each->sentence), "%s", error.message);
  cr_assert(error.line == each->line && error.column == each->column, "%u:%u", error.line, error.column);
  mend_agent_free(agent);
}

Test(agent_options, tools_that_no_model_takes) {
  static const spec_case rows[] = {
      {"a", NULL, NULL, 0, 0},
      {"_get-Weather2", " {\"type\": \"object\"} ", NULL, 0, 0},
      {LETTERS, NULL, NULL, 0, 0},
      {NULL, NULL, "mend_agent_options.tools: tool 2: " RULE, 0, 0},
      {"", NULL, "tool 2: " RULE, 0, 0},
      {"get weather", NULL, "tool 2 (get weather): " RULE, 0, 0},
      {LETTERS "x", NULL, "tool 2 (" LETTERS "x): " RULE, 0, 0},
      {LETTERS LETTERS, NULL, "...): " RULE, 0, 0},
      {"2nd", NULL, "tool 2 (2nd): " RULE, 0, 0},
      {"-a", NULL, "tool 2 (-a): " RULE, 0, 0},
      {"a.b", NULL, "tool 2 (a.b): " RULE, 0, 0},
      {"caf\xC3\xA9", NULL, "tool 2 (caf\xC3\xA9): " RULE, 0, 0},
      {"a\n", NULL, "tool 2: " RULE, 0, 0},
      {"echo", NULL, "tool 2 (echo): another one has this name", 0, 0},
      {"a", "{\"type\":\n\"object\",}", "tool 2 (a): its schema, line 2, column 10: ", 2, 10},
      {"a", "", "tool 2 (a): its schema, line 1, column 1: ", 1, 1},
      {"a", "[]", "tool 2 (a): its schema: expected a JSON object", 0, 0},
  };
  world w;
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_spec(&w, &rows[i]);
  world_close(&w);
}
