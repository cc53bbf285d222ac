/* A task, and one whose answer is enriched. */
#include "agent/agent_internal.h"
#include "core/buffer.h"
#include "fallback/room.h"
#include "mend/json.h"
#include "metacognition/room.h"

/* ---- A task ---- */

static mend_status check(const mend_agent *agent, const mend_agent_report *report, mend_error *error) {
  if (agent == NULL) return mend_error_set(error, MEND_EINVAL, "the agent is NULL, expected one from mend_agent_new");
  const mend_status status = mend__report_check(report, error);
  if (status != MEND_OK || !mend_loop_is_here(mend__model_loop(agent->model))) return status;
  return mend_error_set(error, MEND_EDEADLK, "an agent would wait for its model's loop on that loop's thread");
}

/* The last reply stays, for the caller to clear. */
static mend_status run(mend__work *work, mend_agent *agent, mend_str task, mend_agent_report *report,
                       mend_error *error) {
  mend_agent_report_clear(report);
  *work = (mend__work){.agent = agent, .messages = agent->messages, .report = report, .reply = MEND_REPLY_INIT};
  return mend__agent_work(work, task, true, error);
}

mend_status mend_agent_run(mend_agent *agent, mend_str task, mend_agent_report *ret_report, mend_error *error) {
  mend_agent_report own = MEND_AGENT_REPORT_INIT;
  mend__work work;
  mend_status status = check(agent, ret_report, error);
  if (status != MEND_OK) return status;
  status = run(&work, agent, task, ret_report != NULL ? ret_report : &own, error);
  mend_reply_clear(&work.reply);
  mend_agent_report_clear(&own);
  return status;
}

/* ---- One whose answer is enriched ---- */

typedef struct enriching {
  mend__work work;
  mend_str task;
  mend_messages *before; /* the conversation before the task */
} enriching;

static void write_output(mend__buffer *output, mend_str text) {
  const mend_str bare = mend__without_fences(text);
  if (mend_json_check(bare, MEND_JSON_DEPTH_MAX - 1, NULL) == MEND_OK) {
    mend__buffer_str(output, bare);
  } else {
    mend__buffer_json_string(output, text);
  }
}

/* Its report is added to the first one's, whose texts stay. */
static void add_report(mend_agent_report *sum, const mend_agent_report *more) {
  sum->turns += more->turns;
  sum->calls += more->calls;
  mend__usage_add(&sum->usage, &more->usage);
}

static mend_status work_again(const enriching *self, mend_messages *messages, mend__buffer *output) {
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  mend__work work = {.agent = self->work.agent, .messages = messages, .report = &report, .reply = MEND_REPLY_INIT};
  mend_status status = mend__agent_work(&work, self->task, false, NULL);
  if (status == MEND_OK && report.end != MEND_AGENT_DONE) status = MEND_EFAILED;
  if (status == MEND_OK) write_output(output, work.reply.text);
  add_report(self->work.report, &report);
  mend_reply_clear(&work.reply);
  mend_agent_report_clear(&report);
  return status;
}

/* For protocols. */
static mend_status again(void *ctx, char **ret_output) {
  const enriching *self = ctx;
  mend_messages *messages;
  mend__buffer output;
  mend_status status = mend_messages_copy(self->before, self->work.agent->allocator, &messages);
  if (status != MEND_OK) return status;
  mend__buffer_init(&output, NULL);
  status = work_again(self, messages, &output);
  if (status == MEND_OK) status = mend__buffer_take(&output, ret_output, NULL);
  mend__buffer_free(&output);
  mend_messages_free(messages);
  return status;
}

static mend_status enrich(enriching *self, mend_protocol *protocol, mend_enriched *ret_enriched, mend_error *error) {
  const mend_allocator *allocator = self->work.agent->allocator;
  const mend_reply *reply = &self->work.reply;
  mend__buffer output;
  mend__buffer_init(&output, allocator);
  write_output(&output, reply->text);
  mend_protocol_input input = MEND_PROTOCOL_INPUT_INIT;
  input.prompt = self->task;
  input.output = mend__buffer_text(&output);
  input.log_probs = reply->log_probs;
  input.log_prob_count = reply->log_prob_count;
  input.again = again;
  input.again_ctx = self;
  const mend_status status = output.failed ? mend_error_set(error, MEND_ENOMEM, "an enriched answer: out of memory")
                                           : mend_protocol_enrich(protocol, &input, allocator, ret_enriched, error);
  mend__buffer_free(&output);
  return status;
}

static mend_status run_enriched(enriching *self, mend_agent *agent, mend_protocol *protocol,
                                mend_enriched *ret_enriched, mend_agent_report *report, mend_error *error) {
  mend_status status = mend_messages_copy(agent->messages, agent->allocator, &self->before);
  if (status != MEND_OK) return mend_error_set(error, status, "an agent's task: out of memory");
  status = run(&self->work, agent, self->task, report, error);
  if (status == MEND_OK && report->end == MEND_AGENT_DONE) {
    status = enrich(self, protocol, ret_enriched, error);
  } else if (status == MEND_OK) {
    mend_enriched_clear(ret_enriched);
  }
  mend_reply_clear(&self->work.reply);
  mend_messages_free(self->before);
  return status;
}

mend_status mend_agent_run_enriched(mend_agent *agent, mend_str task, mend_protocol *protocol,
                                    mend_enriched *ret_enriched, mend_agent_report *ret_report, mend_error *error) {
  mend_agent_report own = MEND_AGENT_REPORT_INIT;
  enriching self = {.task = task};
  mend_status status = check(agent, ret_report, error);
  if (status != MEND_OK) return status;
  if (protocol == NULL || ret_enriched == NULL || ret_enriched->size < sizeof *ret_enriched) {
    return mend_error_set(error, MEND_EINVAL,
                          "mend_agent_run_enriched: it needs a protocol and an enriched that starts from "
                          "MEND_ENRICHED_INIT");
  }
  status = run_enriched(&self, agent, protocol, ret_enriched, ret_report != NULL ? ret_report : &own, error);
  mend_agent_report_clear(&own);
  return status;
}
