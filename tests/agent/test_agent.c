/* Agents: pieces as they come, runs that are aborted while a model or a tool works, answers that are enriched. */
#include "agent/world.h"

#include <math.h>
#include <stdio.h>

#define SECOND MEND_SECOND_NS

/* ---- On the loop's thread ---- */

typedef struct posted {
  world *w;
  mend_status status;
  pthread_mutex_t lock;
  pthread_cond_t done;
  bool is_done;
} posted;

static void run_on_loop(void *ctx) {
  posted *p = ctx;
  mend_status status = mend_agent_run(p->w->agent, MEND_STR("go"), NULL, NULL);
  pthread_mutex_lock(&p->lock);
  p->status = status;
  p->is_done = true;
  pthread_cond_signal(&p->done);
  pthread_mutex_unlock(&p->lock);
}

Test(agent, does_not_run_on_its_models_loop) {
  world w;
  posted p = {.w = &w, .lock = PTHREAD_MUTEX_INITIALIZER, .done = PTHREAD_COND_INITIALIZER};
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
  cr_assert_eq(mend_loop_post(w.loop, run_on_loop, &p), MEND_OK);
  pthread_mutex_lock(&p.lock);
  while (!p.is_done)
    pthread_cond_wait(&p.done, &p.lock);
  pthread_mutex_unlock(&p.lock);
  cr_assert_eq(p.status, MEND_EDEADLK);
  cr_assert_eq(mend_messages_count(mend_agent_messages(w.agent)), 0);
  world_close(&w);
}

/* ---- Pieces and turns ---- */

typedef struct told {
  world *w;
  char text[1024];
  uint32_t turns;
} told;

static void hear_delta(void *ctx, const mend_delta *delta) {
  told *t = ctx;
  cr_assert(mend_loop_is_here(t->w->loop));
  const size_t len = strlen(t->text);
  snprintf(t->text + len, sizeof t->text - len, "%s%.*s|", delta->kind == MEND_PART_CALL ? "@" : "",
           MEND_STR_ARG(delta->text));
}

static void hear_turn(void *ctx, uint32_t turn, const mend_reply *reply) {
  told *t = ctx;
  const size_t len = strlen(t->text);
  snprintf(t->text + len, sizeof t->text - len, "[%u:%s]", turn, mend_finish_name(reply->finish));
  t->turns = turn;
}

Test(agent, tells_pieces_and_turns) {
  world w;
  told t = {.w = &w};
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  options.delta = hear_delta;
  options.turn = hear_turn;
  options.ctx = &t;
  world_open_agent(&w, options);
  cr_assert_eq(mend_agent_run(w.agent, MEND_STR("Will it rain?"), NULL, NULL), MEND_OK);
  cr_assert_str_eq(t.text, "I look it up.|@{\"city\": \"Paris\"}|[1:tool_calls]Take an umbrella.|[2:stop]", "%s",
                   t.text);
  world_close(&w);
}

/* The scope is left before the tools of the first turn run. */
static void leave_scope(void *ctx, uint32_t turn, const mend_reply *reply) {
  (void)turn;
  (void)reply;
  mend_healing_exit(((world *)ctx)->runner, NULL);
}

Test(agent, ends_with_its_scope) {
  world w;
  mend_error error = MEND_ERROR_INIT;
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  world_open(&w, NULL);
  world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/stories/tools.json");
  options.turn = leave_scope;
  options.ctx = &w;
  world_open_agent(&w, options);
  cr_assert_eq(mend_agent_run(w.agent, MEND_STR("Will it rain?"), &report, &error), MEND_ECLOSED);
  cr_assert_eq(report.end, MEND_AGENT_FAILED);
  cr_assert_not_null(strstr(error.message, "scope of this run was left"), "%s", error.message);
  cr_assert_eq(report.turns, 1);
  mend_agent_report_clear(&report);
  world_close(&w);
}

/* ---- Aborted while something is under way: a second thread runs the agent, this one has the clock ---- */

typedef struct absent {
  world *w;
  pthread_t thread;
  mend_status status;
  mend_agent_report report;
} absent;

static void *run_agent(void *ctx) {
  absent *a = ctx;
  a->status = mend_agent_run(a->w->agent, MEND_STR("go"), &a->report, NULL);
  return NULL;
}

static void wait_for_event(world *w, mend_event_kind kind) {
  while (atomic_load(&w->of_kind[kind]) == 0)
    sched_yield();
}

typedef struct abort_case {
  const char *model;
  mend_event_kind until; /* it has happened */
  double advance_s;
  bool by_watchdog; /* not by this thread but by the stall watchdog, when the clock gets there */
  uint32_t turns;
  const char *reason;
} abort_case;

static void want_abort(const abort_case *each) {
  world w;
  mend_clock *clock;
  char name[512];
  cr_assert_eq(mend_clock_new_virtual(NULL, (mend_time){SECOND, SECOND}, &clock), MEND_OK);
  world_open(&w, clock);
  snprintf(name, sizeof name, "scripted:%s/agent/%s", MEND_TEST_DATA, each->model);
  world_open_model(&w, name);
  world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
  absent a = {.w = &w, .report = MEND_AGENT_REPORT_INIT};
  pthread_create(&a.thread, NULL, run_agent, &a);
  wait_for_event(&w, each->until);
  mend_clock_advance(clock, (uint64_t)(each->advance_s * 1e9));
  if (!each->by_watchdog)
    cr_assert_eq(mend_run_abort(mend_boundary_run(mend_healing_boundary(w.runner)), MEND_STR("enough"), MEND_STR("me")),
                 MEND_OK);
  pthread_join(a.thread, NULL);
  cr_assert_eq(a.status, MEND_ABORTED, "%s: %s", each->model, mend_status_name(a.status));
  cr_assert_eq(a.report.end, MEND_AGENT_ABORTED);
  cr_assert_eq(a.report.turns, each->turns, "%s: %u", each->model, a.report.turns);
  cr_assert_not_null(strstr(a.report.reason.ptr, each->reason), "%s: %s", each->model, a.report.reason.ptr);
  cr_assert_eq(w.of_kind[MEND_EVENT_AGENT_END], 1);
  mend_agent_report_clear(&a.report);
  world_close(&w);
  mend_clock_release(clock);
}

Test(agent, an_abort_ends_it_at_once) {
  static const abort_case rows[] = {
      {"hanging_model.json", MEND_EVENT_MODEL_REQUEST, 0, false, 1, "enough"},
      {"slow_model.json", MEND_EVENT_MODEL_REQUEST, 2.5, false, 1, "enough"},
      {"hanging_tool.json", MEND_EVENT_TOOL_BEFORE, 0, false, 1, "enough"},
      {"hanging_tool.json", MEND_EVENT_TOOL_BEFORE, 61, true, 1, "stall"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_abort(&rows[i]);
}

/* Aborted again and again at any moment: it always ends, and ends once. */
Test(agent, an_abort_at_any_moment) {
  for (unsigned round = 1; round <= 40; round++) {
    world w;
    world_open(&w, NULL);
    world_open_model(&w, "scripted:" MEND_TEST_DATA "/agent/endless.json");
    world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
    absent a = {.w = &w, .report = MEND_AGENT_REPORT_INIT};
    pthread_create(&a.thread, NULL, run_agent, &a);
    world_wait_for_events(&w, round);
    mend_run_abort(mend_boundary_run(mend_healing_boundary(w.runner)), MEND_STR("enough"), MEND_STR("me"));
    pthread_join(a.thread, NULL);
    cr_assert(a.status == MEND_ABORTED || (a.status == MEND_OK && a.report.end == MEND_AGENT_TURNS), "%s",
              mend_status_name(a.status));
    cr_assert_eq(w.of_kind[MEND_EVENT_AGENT_END], 1);
    mend_agent_report_clear(&a.report);
    world_close(&w);
  }
}

/* ---- Answers that are enriched ---- */

typedef enum protocol_kind { STRUCTURED, LOG_PROBABILITIES, ENSEMBLE } protocol_kind;

typedef struct enriched_case {
  const char *model;
  protocol_kind protocol;
  mend_agent_end end;
  const char *output; /* NULL: the enriched one is empty */
  double confidence;
  uint32_t turns;
  size_t messages;
} enriched_case;

static mend_protocol *new_protocol(const world *w, protocol_kind kind) {
  mend_protocol *protocol = NULL;
  mend_structured_options structured = MEND_STRUCTURED_OPTIONS_INIT;
  mend_ensemble_options ensemble = MEND_ENSEMBLE_OPTIONS_INIT;
  structured.allocator = ensemble.allocator = &w->memory.base;
  mend_status status = MEND_OK;
  switch (kind) {
  case STRUCTURED: status = mend_protocol_new_structured(&structured, &protocol, NULL); break;
  case LOG_PROBABILITIES: status = mend_protocol_new_log_probabilities(&w->memory.base, &protocol, NULL); break;
  case ENSEMBLE: status = mend_protocol_new_ensemble(&ensemble, &protocol, NULL); break;
  }
  cr_assert_eq(status, MEND_OK);
  return protocol;
}

static void want_enriched(const enriched_case *each) {
  world w;
  char name[512];
  mend_error error = MEND_ERROR_INIT;
  mend_enriched enriched = MEND_ENRICHED_INIT;
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  world_open(&w, NULL);
  snprintf(name, sizeof name, "scripted:%s/agent/enriched/%s.json", MEND_TEST_DATA, each->model);
  world_open_model(&w, name);
  request.log_probs = true;
  options.request = &request;
  options.max_turns = 2;
  world_open_agent(&w, options);
  mend_protocol *protocol = new_protocol(&w, each->protocol);
  const mend_status status =
      mend_agent_run_enriched(w.agent, MEND_STR("How far is it?"), protocol, &enriched, &report, &error);
  cr_assert_eq(status, MEND_OK, "%s: %s", each->model, error.message);
  cr_assert_eq(report.end, each->end, "%s: %s", each->model, mend_agent_end_name(report.end));
  cr_assert_eq(report.turns, each->turns, "%s: %u", each->model, report.turns);
  cr_assert_eq(mend_messages_count(mend_agent_messages(w.agent)), each->messages, "%s", each->model);
  if (each->output != NULL) {
    cr_assert(mend_str_equal(enriched.output, mend_str_from(each->output)), "%s: %.*s", each->model,
              MEND_STR_ARG(enriched.output));
  } else {
    cr_assert_null(enriched.output.ptr);
  }
  cr_assert(isnan(each->confidence) ? isnan(enriched.confidence) : fabs(enriched.confidence - each->confidence) < 1e-9,
            "%s: %g", each->model, enriched.confidence);
  mend_enriched_clear(&enriched);
  mend_agent_report_clear(&report);
  mend_protocol_release(protocol);
  world_close(&w);
}

Test(agent, answers_are_enriched) {
  static const enriched_case rows[] = {
      {"fenced", STRUCTURED, MEND_AGENT_DONE, "{\"km\": 7, \"self_confidence\": 0.8}", 0.8, 1, 2},
      {"plain", STRUCTURED, MEND_AGENT_DONE, "\"About 7 km.\"", (double)NAN, 1, 2},
      {"probable", LOG_PROBABILITIES, MEND_AGENT_DONE, "7", 0.75, 1, 2},
      {"plain", LOG_PROBABILITIES, MEND_AGENT_DONE, "\"About 7 km.\"", (double)NAN, 1, 2},
      {"several", ENSEMBLE, MEND_AGENT_DONE, "{\"km\": 7}", 1.0 / 3, 3, 2},
      {"tools", ENSEMBLE, MEND_AGENT_DONE, "7", 1.0, 6, 4},
      {"asking", STRUCTURED, MEND_AGENT_TURNS, NULL, (double)NAN, 2, 5},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
    want_enriched(&rows[i]);
}

/* ---- Replies without calls ---- */

/* Says a text and why it ends. */
typedef struct speaker {
  const char *text; /* NULL: nothing */
  mend_finish finish;
  mend_agent_end end;
  mend_status status;
} speaker;

static const speaker speakers[] = {
    {"Hello.", MEND_FINISH_STOP, MEND_AGENT_DONE, MEND_OK},
    {"Let me see.", MEND_FINISH_CALLS, MEND_AGENT_DONE, MEND_OK},
    {NULL, MEND_FINISH_CALLS, MEND_AGENT_FAILED, MEND_EFAILED},
    {NULL, MEND_FINISH_FILTER, MEND_AGENT_DONE, MEND_OK},
};

static mend_status speak(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  const speaker *self = ctx;
  mend_delta delta = MEND_DELTA_INIT;
  mend_reply known = MEND_REPLY_INIT;
  delta.text = mend_str_from(self->text);
  known.finish = self->finish;
  mend_exchange_delta(exchange, &delta);
  mend_exchange_note(exchange, &known);
  mend_exchange_finish(exchange);
  return MEND_OK;
}

Test(agent, is_not_done_when_calls_are_missing) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = speak};
  for (size_t i = 0; i < sizeof speakers / sizeof speakers[0]; i++) {
    world w;
    mend_error error = MEND_ERROR_INIT;
    mend_agent_report report = MEND_AGENT_REPORT_INIT;
    world_open(&w, NULL);
    cr_assert_eq(mend_model_new(w.loop, &w.memory.base, &vtable, (void *)&speakers[i], "test", "m", &w.model, NULL),
                 MEND_OK);
    world_open_agent(&w, (mend_agent_options)MEND_AGENT_OPTIONS_INIT);
    cr_assert_eq(mend_agent_run(w.agent, MEND_STR("go"), &report, &error), speakers[i].status, "row %zu", i);
    cr_assert_eq(report.end, speakers[i].end, "row %zu: %s", i, mend_agent_end_name(report.end));
    cr_assert_eq(report.finish, speakers[i].finish, "row %zu", i);
    if (speakers[i].status != MEND_OK) cr_assert_not_null(strstr(error.message, "calls none"), "%s", error.message);
    mend_agent_report_clear(&report);
    world_close(&w);
  }
}
