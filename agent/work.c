/* A task: turns, until one of them ends it. */
#include "agent/agent_internal.h"

#include <stdio.h>

/* ---- Ends ---- */

static mend_status end_aborted(mend__work *work) {
  char reason[1024];
  mend_run *run = mend_boundary_run(work->agent->boundary);
  mend_str why = mend_token_reason(work->watch.token); /* where the run was reset meanwhile */
  if (mend_run_abort_reason(run, reason, sizeof reason, NULL, 0) == MEND_OK) why = mend_str_from(reason);
  return mend__report_end(work, MEND_AGENT_ABORTED, why) == MEND_OK ? MEND_ABORTED : MEND_ENOMEM;
}

static bool is_cancelled(const mend__work *work) {
  const mend_agent *agent = work->agent;
  return agent->within != NULL && mend_token_is_cancelled(mend_call_token(agent->within)) &&
         !mend_run_is_aborted(agent->request.run);
}

static mend_status end_cancelled(mend__work *work) {
  const mend_str why = mend_token_reason(mend_call_token(work->agent->within));
  return mend__report_end(work, MEND_AGENT_CANCELLED, why) == MEND_OK ? MEND_ECANCELLED : MEND_ENOMEM;
}

static mend_status end_failed(mend__work *work, mend_status status, mend_error *error) {
  const mend_str reason = mend_str_from(mend_error_sentence(error, status));
  return mend__report_end(work, MEND_AGENT_FAILED, reason) == MEND_OK ? status : MEND_ENOMEM;
}

/* ---- Turns ---- */

static mend_status end_turns(mend__work *work) {
  char why[96];
  snprintf(why, sizeof why, "not run: this was the last of %u turns", work->agent->max_turns);
  const mend_status status = mend__work_refuse_calls(work, mend_str_from(why));
  return status == MEND_OK ? mend__report_end(work, MEND_AGENT_TURNS, (mend_str)MEND_ABSENT) : status;
}

/* A model that ends to call tools and calls none has not answered, unless it has said something. */
static mend_status end_answered(mend__work *work, mend_error *error) {
  const mend_reply *reply = &work->reply;
  if (reply->finish == MEND_FINISH_CALLS && reply->text.len == 0) {
    return mend_error_set(error, MEND_EFAILED, "the reply ends to call tools and calls none, and says nothing");
  }
  return mend__report_end(work, MEND_AGENT_DONE, (mend_str)MEND_ABSENT);
}

static mend_status use_reply(mend__work *work, uint32_t turn, mend_error *error) {
  const mend_agent *agent = work->agent;
  mend_status status = mend__report_add_reply(work);
  if (status == MEND_OK) status = mend_messages_add_reply(work->messages, &work->reply);
  if (status != MEND_OK) return status;
  if (agent->turn != NULL) agent->turn(agent->ctx, turn, &work->reply);
  if (mend__count_calls(&work->reply) == 0) return end_answered(work, error);
  return turn < agent->max_turns ? mend__work_call(work, error) : end_turns(work);
}

/* What it has cost, and who was tried. */
static mend_status use_failure(mend__work *work, mend_status status) {
  mend__usage_add(&work->report->usage, &work->reply.usage);
  return mend__report_set(work, &work->report->attempts, work->reply.attempts) == MEND_OK ? status : MEND_ENOMEM;
}

static mend_status take_turns(mend__work *work, mend_error *error) {
  mend_status status = MEND_OK;
  for (uint32_t turn = 1; status == MEND_OK && !work->is_over; turn++) {
    if (mend_token_is_cancelled(work->watch.token)) return MEND_ABORTED;
    mend_reply_clear(&work->reply);
    work->report->turns++;
    status = mend__work_ask(work, error);
    status = status == MEND_OK ? use_reply(work, turn, error) : use_failure(work, status);
  }
  return status;
}

/* ---- The task ---- */

static mend_status say_start(const mend__work *work, mend_str task) {
  mend_agent_start_event event = MEND_AGENT_START_EVENT_INIT;
  event.name = work->agent->name;
  event.task = task;
  return mend_run_publish(work->agent->request.run, &event.event);
}

static mend_status say_task(const mend__work *work, mend_str task) {
  mend_user_message_event event = MEND_USER_MESSAGE_EVENT_INIT;
  event.text = task;
  return mend_run_publish(work->agent->request.run, &event.event);
}

static void say_end(const mend__work *work) {
  mend_agent_end_event event = MEND_AGENT_END_EVENT_INIT;
  event.name = work->agent->name;
  event.status = mend_str_from(mend_agent_end_name(work->report->end));
  mend_run_publish(work->agent->request.run, &event.event);
}

static mend_status begin(const mend__work *work, mend_str task, bool says) {
  mend_status status = say_start(work, task);
  if (status == MEND_OK && says) status = say_task(work, task);
  return status == MEND_OK ? mend_messages_add_user(work->messages, task) : status;
}

static mend_status work_watched(mend__work *work, mend_str task, bool says, mend_error *error) {
  mend_error sentence = MEND_ERROR_INIT;
  mend_status status = begin(work, task, says);
  if (status == MEND_OK) status = take_turns(work, &sentence);
  if (status == MEND_ECANCELLED || status == MEND_ABORTED) {
    status = is_cancelled(work) ? end_cancelled(work) : end_aborted(work);
    mend_error_set(&sentence, status, "%s: %.*s", mend_agent_end_name(work->report->end),
                   MEND_STR_ARG(work->report->reason));
  } else if (status != MEND_OK) {
    status = end_failed(work, status, &sentence);
  }
  say_end(work);
  if (status != MEND_OK) mend_error_set(error, status, "%s", mend_error_sentence(&sentence, status));
  return status;
}

/* The call that it works within was cancelled. */
static void pass_on(void *ctx) {
  const mend__work *work = ctx;
  mend_token_cancel(work->watch.token, mend_token_reason(mend_call_token(work->agent->within)));
}

static mend_status work_within(mend__work *work, mend_str task, bool says, mend_error *error) {
  mend_call *within = work->agent->within;
  if (within == NULL) return work_watched(work, task, says, error);
  mend_status status = mend_token_on_cancel(mend_call_token(within), pass_on, work, &work->within_id);
  if (status != MEND_OK) return mend_error_set(error, status, "an agent's task: out of memory");
  status = work_watched(work, task, says, error);
  mend_token_forget(mend_call_token(within), work->within_id);
  return status;
}

mend_status mend__agent_work(mend__work *work, mend_str task, bool says, mend_error *error) {
  mend_status status = mend__abort_watch_begin(&work->watch, work->agent->request.run);
  if (status != MEND_OK) return mend_error_set(error, status, "an agent's task: out of memory");
  status = work_within(work, task, says, error);
  mend__abort_watch_end(&work->watch);
  return status;
}
