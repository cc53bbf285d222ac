/* Budget: what a run spends is told before the call that would go beyond a limit, each limit once. */
#include "watchdogs/budget.h"

#include "core/options_size.h"
#include "core/seconds.h"
#include "mend/json.h"

#include <stdio.h>

/* So many tools with limits of their own are counted in a run. */
enum { TOOLS_MAX = 4096 };

typedef struct budget_watchdog {
  const mend_allocator *allocator;
  mend__counters counters;
  double limits[MEND__BUDGET_COUNT];
  mend__tool_rules tool_calls;
} budget_watchdog;

/* A tool with a limit of its own. */
typedef struct tool_spending {
  mend_hash tool;
  mend__spending calls;
  bool is_told;
} tool_spending;

typedef struct budget_state {
  budget_watchdog *watchdog;
  mend_run *run; /* not referenced: its watch has the state */
  double used[MEND__BUDGET_COUNT];
  bool is_told[MEND__BUDGET_COUNT];
  uint64_t started_ns;
  mend__table tools; /* of tool_spending */
} budget_state;

/* ---- Limits ---- */

static bool is_spent(const mend__spending *spending) {
  return spending->limit > 0 && spending->used >= spending->limit;
}

static mend_status check_limit(budget_state *state, mend__budget_limit what, const mend_event *event,
                               mend_emitter *emitter) {
  const mend__spending spending = {state->used[what], state->watchdog->limits[what]};
  if (state->is_told[what] || !is_spent(&spending)) return MEND_OK;
  const mend_status status =
      mend__budget_report(what, &spending, (mend_str){NULL, 0}, event, state->watchdog->allocator, emitter);
  state->is_told[what] = status == MEND_OK;
  return status;
}

/* Finds or makes what is counted of the tool; NULL with MEND_OK for one without a limit. */
static mend_status find_tool(budget_state *state, mend_str tool, tool_spending **ret_tool) {
  const mend__tool_rule *rule = mend__tool_rules_find(&state->watchdog->tool_calls, tool);
  *ret_tool = NULL;
  if (rule == NULL) return MEND_OK;
  const mend_hash key = mend_hash_bytes(tool);
  *ret_tool = mend__table_find(&state->tools, sizeof **ret_tool, key);
  if (*ret_tool != NULL) return MEND_OK;
  if (state->tools.count >= TOOLS_MAX) {
    mend__count(&state->watchdog->counters.unwatched);
    return MEND_OK;
  }
  const mend_status status = mend__table_reserve(&state->tools, sizeof **ret_tool, state->watchdog->allocator);
  if (status != MEND_OK) return status;
  *ret_tool = mend__table_add(&state->tools, sizeof **ret_tool, key);
  (*ret_tool)->calls.limit = rule->number;
  return MEND_OK;
}

static mend_status check_tool(budget_state *state, const mend_tool_before_event *before, mend_emitter *emitter) {
  tool_spending *tool;
  mend_status status = find_tool(state, before->tool_name, &tool);
  if (tool == NULL) return status;
  if (!tool->is_told && is_spent(&tool->calls)) {
    status = mend__budget_report(MEND__BUDGET_CALLS, &tool->calls, before->tool_name, &before->event,
                                 state->watchdog->allocator, emitter);
    tool->is_told = status == MEND_OK;
  }
  tool->calls.used++;
  return status;
}

/* ---- Events ---- */

static mend_status first_of(mend_status a, mend_status b) { return a != MEND_OK ? a : b; }

/* Before whatever spends more. */
static mend_status check_models(budget_state *state, const mend_event *event, mend_emitter *emitter) {
  const mend_status status = check_limit(state, MEND__BUDGET_TOKENS, event, emitter);
  return first_of(status, check_limit(state, MEND__BUDGET_COST, event, emitter));
}

static mend_status begin_call(budget_state *state, const mend_tool_before_event *before, mend_emitter *emitter) {
  mend_status status = check_models(state, &before->event, emitter);
  status = first_of(status, check_limit(state, MEND__BUDGET_CALLS, &before->event, emitter));
  status = first_of(status, check_tool(state, before, emitter));
  state->used[MEND__BUDGET_CALLS]++;
  return status;
}

static double known(uint64_t count) { return count != MEND_NONE ? (double)count : 0; }

/* Not below 0, and a number; the sum stays one that can be written. An unknown cost is NAN. */
static void add_cost(budget_state *state, double usd) {
  double *sum = &state->used[MEND__BUDGET_COST];
  if (usd < 0) mend__count(&state->watchdog->counters.ignored);
  if (usd > 0) *sum = usd < MEND__BUDGET_LARGEST - *sum ? *sum + usd : MEND__BUDGET_LARGEST;
}

static void add_usage(budget_state *state, const mend_model_usage_event *usage) {
  const bool has_total = usage->tokens != MEND_NONE;
  state->used[MEND__BUDGET_TOKENS] +=
      has_total ? (double)usage->tokens : known(usage->input_tokens) + known(usage->output_tokens);
  add_cost(state, usage->cost_usd);
}

static mend_status budget_event(void *ctx, const mend_event *event, mend_emitter *emitter) {
  budget_state *state = ctx;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_call(state, (const mend_tool_before_event *)event, emitter);
  case MEND_EVENT_MODEL_REQUEST: return check_models(state, event, emitter);
  default: add_usage(state, (const mend_model_usage_event *)event); return MEND_OK;
  }
}

/* ---- Time ---- */

static uint64_t budget_deadline(void *ctx) {
  const budget_state *state = ctx;
  const uint64_t limit_ns = mend__seconds_to_ns(state->watchdog->limits[MEND__BUDGET_TIME]);
  if (limit_ns == 0 || state->is_told[MEND__BUDGET_TIME]) return MEND_NEVER;
  return limit_ns < MEND_NEVER - state->started_ns - 1 ? state->started_ns + limit_ns + 1 : MEND_NEVER;
}

static mend_status budget_expire(void *ctx, uint64_t now_ns, mend_emitter *emitter) {
  budget_state *state = ctx;
  if (budget_deadline(state) > now_ns) return MEND_OK;
  state->used[MEND__BUDGET_TIME] = (double)(now_ns - state->started_ns) / (double)MEND_SECOND_NS;
  return check_limit(state, MEND__BUDGET_TIME, NULL, emitter);
}

/* ---- States ---- */

static void start(budget_state *state, budget_watchdog *watchdog, mend_run *run) {
  *state = (budget_state){.watchdog = watchdog, .run = run};
  state->started_ns = mend_clock_now(mend_bus_clock(mend_run_bus(run))).mono_ns;
}

static mend_status budget_open(void *ctx, mend_run *run, void **ret_state) {
  budget_watchdog *watchdog = ctx;
  budget_state *state = mend__alloc(watchdog->allocator, sizeof *state);
  if (state == NULL) return MEND_ENOMEM;
  start(state, watchdog, run);
  *ret_state = state;
  return MEND_OK;
}

static void budget_reset(void *ctx) {
  budget_state *state = ctx;
  mend__free(state->watchdog->allocator, state->tools.items);
  start(state, state->watchdog, state->run);
}

static void budget_close(void *ctx) {
  budget_state *state = ctx;
  mend__free(state->watchdog->allocator, state->tools.items);
  mend__free(state->watchdog->allocator, state);
}

static void budget_destroy(void *ctx) {
  budget_watchdog *watchdog = ctx;
  mend__tool_rules_free(&watchdog->tool_calls, watchdog->allocator);
  mend__free(watchdog->allocator, watchdog);
}

static void budget_describe(void *ctx, char *text, size_t size) {
  const budget_state *state = ctx;
  snprintf(text, size, "calls %.0f, tokens %.0f, US cents %.0f, tools with limits %zu", state->used[MEND__BUDGET_CALLS],
           state->used[MEND__BUDGET_TOKENS], 100 * state->used[MEND__BUDGET_COST], state->tools.count);
}

static const mend_watchdog_vtable budget_vtable = {
    .size = sizeof budget_vtable,
    .name = "budget",
    .topics = "tool.before model.request model.usage",
    .open = budget_open,
    .event = budget_event,
    .deadline = budget_deadline,
    .expire = budget_expire,
    .reset = budget_reset,
    .close = budget_close,
    .destroy = budget_destroy,
    .describe = budget_describe,
};

static mend_status take_options(budget_watchdog *watchdog, const mend_budget_watchdog_options *options) {
  watchdog->limits[MEND__BUDGET_CALLS] = (double)options->calls;
  watchdog->limits[MEND__BUDGET_TOKENS] = (double)options->tokens;
  watchdog->limits[MEND__BUDGET_COST] = options->cost_usd;
  watchdog->limits[MEND__BUDGET_TIME] = options->time_s;
  return mend__tool_rules_init(&watchdog->tool_calls, options->tool_calls, false, watchdog->allocator);
}

mend_status mend_budget_watchdog_new(const mend_budget_watchdog_options *given, const mend_allocator *allocator,
                                     mend_watchdog **ret_watchdog, mend_error *error) {
  mend_options options = MEND_OPTIONS_INIT;
  mend_status status = mend__options_take(&options.budget, given, "mend_budget_watchdog_options", error);
  if (status == MEND_OK) status = mend_options_check(&options, error);
  if (status != MEND_OK) return status;
  budget_watchdog *watchdog = mend__alloc_zero(allocator, sizeof *watchdog);
  if (watchdog == NULL) return mend_error_set(error, MEND_ENOMEM, "watchdog budget: out of memory");
  watchdog->allocator = allocator;
  status = take_options(watchdog, &options.budget);
  if (status != MEND_OK) {
    mend_error_set(error, status, "watchdog budget: out of memory");
  } else {
    status = mend__watchdog_new_counting(&budget_vtable, watchdog, &watchdog->counters, allocator, ret_watchdog, error);
  }
  if (status != MEND_OK) budget_destroy(watchdog);
  return status;
}
