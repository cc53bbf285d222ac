/* Every event of an agent's run leads to a span: of models in a chain, of tools of every kind, of a sub-agent. */
#include "agent/world.h"
#include "mend/workbench.h"

#include <stdio.h>
#include <stdlib.h>

#define MODEL(file) "scripted:" MEND_TEST_DATA "/agent/traces/" file

/* ---- What is stamped on events ---- */

typedef struct stamps {
  atomic_uint events, wrong, without_call;
} stamps;

static bool is_of_a_call(mend_event_kind kind) {
  return (kind >= MEND_EVENT_TOOL_BEFORE && kind <= MEND_EVENT_TOOL_REFUSED) ||
         (kind >= MEND_EVENT_MODEL_REQUEST && kind <= MEND_EVENT_MODEL_RETRY);
}

static mend_status check_stamps(void *ctx, const mend_event *event) {
  stamps *self = ctx;
  uint8_t trace_id[16], span_id[8];
  mend_run_trace_id(event->run, trace_id);
  mend_run_span_id(event->run, event->call, span_id);
  atomic_fetch_add(&self->events, 1);
  if (memcmp(trace_id, event->trace_id, sizeof trace_id) != 0) atomic_fetch_add(&self->wrong, 1);
  if (memcmp(span_id, event->span_id, sizeof span_id) != 0) atomic_fetch_add(&self->wrong, 1);
  if (is_of_a_call(event->kind) && event->call == 0) atomic_fetch_add(&self->without_call, 1);
  return MEND_OK;
}

/* ---- A tool in which another agent works ---- */

typedef struct delegate {
  world *w;
  mend_model *model;
} delegate;

static mend_status work_within(void *ctx, mend_call *call) {
  const delegate *self = ctx;
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_agent *agent = NULL;
  options.name = "inner";
  options.model = self->model;
  options.boundary = mend_healing_boundary(self->w->runner);
  options.within = call;
  cr_assert_eq(mend_agent_new(&options, &agent, NULL), MEND_OK);
  cr_assert_eq(mend_agent_run(agent, mend_call_args(call), NULL, NULL), MEND_OK);
  mend_agent_free(agent);
  return mend_call_succeed_text(call, MEND_STR("looked"));
}

/* ---- Spans as words: "<kind> <name> in <name of its parent>: <status>" ---- */

enum { SPANS_MAX = 32, LINE_SIZE = 128 };

typedef struct spans {
  mend_span spans[SPANS_MAX]; /* for their ids */
  char names[SPANS_MAX][64];
  char status[SPANS_MAX][32];
  size_t count;
} spans;

/* A model's name is the path of its file. */
static void keep_name(char name[64], const mend_span *span) {
  mend_str text = span->name.len > 0 ? span->name : mend_str_from(span->kind);
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] == '/') {
      text = (mend_str){text.ptr + i + 1, text.len - i - 1};
      i = (size_t)-1;
    }
  }
  snprintf(name, 64, "%.*s", MEND_STR_ARG(text));
}

static bool keep_span(void *ctx, const mend_span *span) {
  spans *all = ctx;
  all->spans[all->count] = *span;
  keep_name(all->names[all->count], span);
  snprintf(all->status[all->count], 32, "%.*s", MEND_STR_ARG(span->status));
  return ++all->count < SPANS_MAX;
}

static const char *parent_of(const spans *all, const mend_span *span) {
  for (size_t i = 0; i < all->count; i++) {
    if (memcmp(all->spans[i].span_id, span->parent_span_id, 8) == 0) return all->names[i];
  }
  return "nothing";
}

static int compare_lines(const void *a, const void *b) { return strcmp(a, b); }

/* In the order of the alphabet, for they end in any. */
static void describe(const spans *all, char *text, size_t size) {
  char lines[SPANS_MAX][LINE_SIZE];
  for (size_t i = 0; i < all->count; i++) {
    snprintf(lines[i], LINE_SIZE, "%s %s in %s: %s\n", all->spans[i].kind, all->names[i],
             parent_of(all, &all->spans[i]), all->status[i][0] != '\0' ? all->status[i] : "open");
  }
  qsort(lines, all->count, sizeof lines[0], compare_lines);
  for (size_t i = 0, len = 0; i < all->count; i++)
    len += (size_t)snprintf(text + len, size - len, "%s", lines[i]);
}

/* ---- The run ---- */

/* Of a model that refuses and one that answers. */
static mend_model *open_chain(world *w, const char *answering) {
  const char *names[] = {MODEL("refusing.json"), answering};
  mend_model *chain = NULL;
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  mend_error error = MEND_ERROR_INIT;
  options.allocator = &w->memory.base;
  options.loop = w->loop;
  cr_assert_eq(mend_fallback_new(names, 2, &options, &chain, &error), MEND_OK, "%s", error.message);
  return chain;
}

Test(agent_traces, every_event_leads_to_a_span) {
  world w;
  world_open(&w, NULL);
  w.model = open_chain(&w, MODEL("outer.json"));
  delegate self = {&w, open_chain(&w, MODEL("inner.json"))};
  const mend_tool tool = {.size = sizeof tool, .name = "delegate", .execute = work_within, .kind = MEND_TOOL_POOLED};
  cr_assert_eq(mend_tools_add(w.tools, &tool, &self, NULL), MEND_OK);
  stamps stamped = {0};
  cr_assert_eq(mend_bus_subscribe(w.bus, "*", check_stamps, &stamped, NULL, NULL, NULL), MEND_OK);
  mend_tracer *tracer;
  cr_assert_eq(mend_tracer_new(w.bus, NULL, &tracer, NULL), MEND_OK);
  world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
  cr_assert_eq(mend_agent_run(w.agent, MEND_STR("Look."), NULL, NULL), MEND_OK);

  spans all = {.count = 0};
  char text[SPANS_MAX * LINE_SIZE];
  mend_tracer_stats stats = {.size = sizeof stats};
  mend_tracer_each(tracer, keep_span, &all);
  describe(&all, text, sizeof text);
  cr_assert_str_eq(text,
                   "model inner.json in delegate: response\n"
                   "model inner.json in delegate: response\n"
                   "model outer.json in run: response\n"
                   "model outer.json in run: response\n"
                   "run run in nothing: open\n"
                   "tool delegate in run: after\n"
                   "tool later in delegate: after\n"
                   "tool later in run: after\n"
                   "tool pooled in delegate: after\n"
                   "tool pooled in run: after\n",
                   "%s", text);
  mend_tracer_get_stats(tracer, &stats);
  cr_assert_eq(stats.untraced, 0u);
  cr_assert(stamped.events > 20, "%u", stamped.events);
  cr_assert_eq(stamped.wrong, 0u);
  cr_assert_eq(stamped.without_call, 0u);
  mend_tracer_free(tracer);
  mend_model_release(self.model);
  world_close(&w);
}
