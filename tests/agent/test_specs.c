/* Which tools a model is told of: an agent's own list, or those of the boundary that have a description. */
#include "agent/world.h"

#include <stdio.h>

/* ---- A model that notes what it is told of tools ---- */

typedef struct told {
  char text[512];
} told;

static void note_spec(told *self, const mend_tool_spec *spec) {
  const size_t len = strlen(self->text);
  snprintf(self->text + len, sizeof self->text - len, "%.*s(%.*s;%.*s%s) ", MEND_STR_ARG(spec->name),
           MEND_STR_ARG(spec->description), MEND_STR_ARG(spec->schema), spec->strict ? ";strict" : "");
}

static mend_status note_specs(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  told *self = ctx;
  const mend_model_request *request = mend_exchange_request(exchange);
  mend_delta delta = MEND_DELTA_INIT;
  self->text[0] = '\0';
  for (size_t i = 0; i < request->tool_count; i++)
    note_spec(self, &request->tools[i]);
  delta.text = MEND_STR("ok");
  mend_exchange_delta(exchange, &delta);
  mend_exchange_finish(exchange);
  return MEND_OK;
}

static void open_model(world *w, told *self) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = note_specs};
  cr_assert_eq(mend_model_new(w->loop, &w->memory.base, &vtable, self, "test", "m", &w->model, NULL), MEND_OK);
}

/* ---- A registry of its own ---- */

typedef struct place {
  world w;
  told told;
  mend_tools *tools;
  mend_boundary *boundary;
} place;

static void add_tool(place *p, const char *name, const char *description, const char *schema, bool strict) {
  const mend_tool tool = {.size = sizeof tool,
                          .name = name,
                          .execute = echo,
                          .description = description,
                          .schema = schema,
                          .strict = strict};
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_tools_add(p->tools, &tool, p, &error), MEND_OK, "%s", error.message);
}

static void open_place(place *p) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  world_open(&p->w, NULL);
  open_model(&p->w, &p->told);
  cr_assert_eq(mend_tools_new(&p->w.memory.base, &p->tools), MEND_OK);
  add_tool(p, "zero", "z", NULL, false);
  add_tool(p, "hidden", NULL, NULL, false);
  add_tool(p, "moved", "then last", NULL, false);
  add_tool(p, "one", "", "{\"a\":1}", true);
  add_tool(p, "gone", "g", "{}", false);
  cr_assert_eq(mend_tools_remove(p->tools, MEND_STR("moved")), MEND_OK);
  cr_assert_eq(mend_tools_remove(p->tools, MEND_STR("gone")), MEND_OK);
  add_tool(p, "moved", "then last", NULL, false);
  options.run = mend_healing_current_run(p->w.runner);
  options.tools = p->tools;
  cr_assert_eq(mend_boundary_new(&options, &p->boundary, NULL), MEND_OK);
}

static void close_place(place *p) {
  mend_boundary_release(p->boundary);
  mend_tools_release(p->tools);
  world_close(&p->w);
}

static void want_told(place *p, mend_agent_options options, const char *what, const char *want) {
  mend_error error = MEND_ERROR_INIT;
  mend_agent *agent = NULL;
  options.model = p->w.model;
  options.boundary = p->boundary;
  cr_assert_eq(mend_agent_new(&options, &agent, &error), MEND_OK, "%s: %s", what, error.message);
  cr_assert_eq(mend_agent_run(agent, MEND_STR("go"), NULL, NULL), MEND_OK, "%s", what);
  cr_assert_str_eq(p->told.text, want, "%s: %s", what, p->told.text);
  mend_agent_free(agent);
}

#define ALL "zero(z;) one(;{\"a\":1};strict) moved(then last;) "

Test(agent_specs, what_a_model_is_told) {
  const mend_tool_spec hidden = {.size = sizeof hidden, .name = MEND_STR("hidden"), .schema = MEND_STR("{}")};
  const struct {
    const char *what;
    const mend_tool_spec *tools;
    size_t count;
    const char *told;
  } rows[] = {
      {"nothing was said", NULL, 0, ALL},
      {"a list", &hidden, 1, "hidden(;{}) "},
      {"an empty list", &hidden, 0, ""},
  };
  place p;
  open_place(&p);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
    options.tools = rows[i].tools;
    options.tool_count = rows[i].count;
    want_told(&p, options, rows[i].what, rows[i].told);
  }
  for (size_t i = 0; i < 20; i++) { /* more than there is room for at first */
    char name[16];
    snprintf(name, sizeof name, "more%zu", i);
    add_tool(&p, name, "more", NULL, false);
  }
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_agent *agent = NULL;
  options.model = p.w.model;
  options.boundary = p.boundary;
  cr_assert_eq(mend_agent_new(&options, &agent, NULL), MEND_OK);
  cr_assert_eq(mend_tools_remove(p.tools, MEND_STR("more19")), MEND_OK); /* it was told of when the agent was made */
  cr_assert_eq(mend_agent_run(agent, MEND_STR("go"), NULL, NULL), MEND_OK);
  cr_assert_eq(memcmp(p.told.text, ALL, strlen(ALL)), 0, "%s", p.told.text);
  cr_assert_not_null(strstr(p.told.text, "more19"), "%s", p.told.text);
  mend_agent_free(agent);
  close_place(&p);
}

/* ---- In a call ---- */

static mend_status work_in_call(void *ctx, mend_call *call) {
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  options.within = call;
  want_told(ctx, options, "in a call", ALL);
  return MEND_OK;
}

Test(agent_specs, not_of_the_tool_that_it_works_in) {
  const mend_tool tool = {
      .size = sizeof tool, .name = "research", .execute = work_in_call, .description = "asks another agent"};
  place p;
  open_place(&p);
  cr_assert_eq(mend_tools_add(p.tools, &tool, &p, NULL), MEND_OK);
  want_told(&p, (mend_agent_options)MEND_AGENT_OPTIONS_INIT, "outside", ALL "research(asks another agent;) ");
  mend_result result = MEND_RESULT_INIT;
  cr_assert_eq(mend_boundary_call(p.boundary, MEND_STR("research"), MEND_STR("{}"), NULL, &result), MEND_OK);
  cr_assert_eq(result.outcome, MEND_OUTCOME_OK);
  mend_result_clear(&result);
  close_place(&p);
}

/* ---- Names that no model takes ---- */

Test(agent_specs, a_name_that_no_model_takes) {
  place p;
  open_place(&p);
  add_tool(&p, "get weather", "the weather", NULL, false);
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  mend_agent *agent = NULL;
  options.model = p.w.model;
  options.boundary = p.boundary;
  cr_assert_eq(mend_agent_new(&options, &agent, &error), MEND_EINVAL);
  cr_assert_not_null(strstr(error.message, "the boundary's tools: tool 4 (get weather): its name has to be"), "%s",
                     error.message);
  close_place(&p);
}
