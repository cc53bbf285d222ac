#include "agent/agent_internal.h"
#include "core/options_size.h"

enum { TURNS_MAX = 10000 };

/* ---- What is asked for ---- */

static mend_status check(const mend_agent_options *options, mend_error *error) {
  if (options->model == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_agent_options.model: NULL, expected one");
  }
  if (options->boundary == NULL) {
    return mend_error_set(error, MEND_EINVAL, "mend_agent_options.boundary: NULL, expected one");
  }
  if (options->tools == NULL && options->tool_count > 0) {
    return mend_error_set(error, MEND_EINVAL, "mend_agent_options.tools: NULL, expected tool_count (%zu) of them",
                          options->tool_count);
  }
  if (options->max_turns < 1 || options->max_turns > TURNS_MAX) {
    return mend_error_set(error, MEND_EINVAL, "mend_agent_options.max_turns: %u is out of range, expected 1 to %d",
                          options->max_turns, TURNS_MAX);
  }
  return MEND_OK;
}

/* ---- Copies ---- */

mend_status mend__agent_keep(mend_agent *agent, mend_str *text) {
  const mend_str borrowed = *text;
  *text = (mend_str)MEND_ABSENT;
  return mend__texts_set(&agent->texts, agent->allocator, text, borrowed);
}

/* Of the call that its requests are made in; a call of another run is none of its run's. */
static uint64_t number_within(const mend_agent *agent) {
  if (agent->within == NULL || mend_call_run(agent->within) != mend_boundary_run(agent->boundary)) return 0;
  return mend_call_number(agent->within);
}

static mend_status keep_request(mend_agent *agent, const mend_agent_options *options, mend_error *error) {
  mend_model_request *request = &agent->request;
  *request = (mend_model_request)MEND_MODEL_REQUEST_INIT;
  mend_status status = mend__options_take(request, options->request, "mend_model_request", error);
  if (status == MEND_OK) status = mend__agent_keep(agent, &request->tool_choice);
  if (status == MEND_OK) status = mend__agent_keep(agent, &request->stop);
  if (status == MEND_OK) status = mend__agent_keep(agent, &request->extra);
  if (status == MEND_OK) status = mend__specs_keep(agent, options, error);
  request->run = mend_boundary_run(agent->boundary);
  request->call_name = (mend_str)MEND_ABSENT;
  request->within = number_within(agent);
  return status;
}

static mend_status furnish(mend_agent *agent, const mend_agent_options *options, mend_error *error) {
  agent->name = mend_str_from(options->name);
  mend_status status = mend__agent_keep(agent, &agent->name);
  if (status == MEND_OK) status = keep_request(agent, options, error);
  if (status == MEND_OK) status = mend_messages_new(agent->allocator, &agent->messages);
  if (status == MEND_OK && options->instructions != NULL) {
    status = mend_messages_add_system(agent->messages, mend_str_from(options->instructions));
  }
  if (status == MEND_ENOMEM) mend_error_set(error, status, "an agent: out of memory");
  return status;
}

/* ---- Life ---- */

static mend_agent *agent_alloc(const mend_agent_options *options) {
  const mend_allocator *allocator = mend_bus_allocator(mend_run_bus(mend_boundary_run(options->boundary)));
  mend_agent *agent = mend__alloc_zero(allocator, sizeof *agent);
  if (agent == NULL) return NULL;
  agent->allocator = allocator;
  agent->model = mend_model_retain(options->model);
  agent->boundary = mend_boundary_retain(options->boundary);
  if (options->within != NULL) agent->within = mend_call_retain(options->within);
  agent->max_turns = options->max_turns;
  agent->delta = options->delta;
  agent->turn = options->turn;
  agent->ctx = options->ctx;
  return agent;
}

mend_status mend_agent_new(const mend_agent_options *given, mend_agent **ret_agent, mend_error *error) {
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  mend_status status = mend__options_take(&options, given, "mend_agent_options", error);
  if (status == MEND_OK) status = check(&options, error);
  if (status != MEND_OK) return status;
  mend_agent *agent = agent_alloc(&options);
  if (agent == NULL) return mend_error_set(error, MEND_ENOMEM, "an agent: out of memory");
  status = furnish(agent, &options, error);
  if (status != MEND_OK) {
    mend_agent_free(agent);
    return status;
  }
  *ret_agent = agent;
  return MEND_OK;
}

void mend_agent_free(mend_agent *agent) {
  if (agent == NULL) return;
  mend_messages_free(agent->messages);
  mend__free(agent->allocator, agent->tools);
  mend__texts_free(&agent->texts);
  mend_model_release(agent->model);
  mend_call_release(agent->within);
  mend_boundary *boundary = agent->boundary;
  mend__free(agent->allocator, agent);
  mend_boundary_release(boundary); /* last: the allocator may live in its bus */
}

mend_messages *mend_agent_messages(mend_agent *agent) { return agent->messages; }
