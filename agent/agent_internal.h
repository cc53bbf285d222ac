/* Private to agent/. */
#ifndef MEND_AGENT_INTERNAL_H
#define MEND_AGENT_INTERNAL_H

#include "core/memory.h"
#include "core/texts.h"
#include "hooks/abort_watch.h"
#include "mend/agent.h"

struct mend_agent {
  const mend_allocator *allocator;
  mend_model *model;
  mend_boundary *boundary;
  mend_call *within; /* NULL: none */
  mend_messages *messages;
  mend_tool_spec *tools;      /* the request's */
  mend_model_request request; /* every turn's, but for the messages */
  mend_str name;
  void *texts; /* all of the above's */
  uint32_t max_turns;
  void (*delta)(void *ctx, const mend_delta *delta);
  void (*turn)(void *ctx, uint32_t turn, const mend_reply *reply);
  void *ctx;
};

/* ---- agent.c ---- */

/* Replaces a text that is borrowed by the agent's copy. MEND_ENOMEM. */
mend_status mend__agent_keep(mend_agent *agent, mend_str *text);

/* ---- specs.c ---- */

/* Sets the request's tools: those of the options' list, or the boundary's. MEND_EINVAL with a sentence, MEND_ENOMEM. */
mend_status mend__specs_keep(mend_agent *agent, const mend_agent_options *options, mend_error *error);

/* One task, from its beginning to its end. */
typedef struct mend__work {
  mend_agent *agent;
  mend_messages *messages;   /* the agent's, or a copy */
  mend_agent_report *report; /* texts that there was no memory for show in the status */
  mend_reply reply;          /* the last one */
  mend__abort_watch watch;   /* its token is also cancelled with the call that the agent works within */
  uint64_t within_id;
  bool is_over;
} mend__work;

/* ---- report.c ---- */

/* MEND_EINVAL for a report of another version. NULL is one that nobody asks for. */
mend_status mend__report_check(const mend_agent_report *report, mend_error *error);
mend_status mend__report_set(mend__work *work, mend_str *member, mend_str text);
void mend__usage_add(mend_usage *sum, const mend_usage *usage);
/* How many tools the reply asks for. */
size_t mend__count_calls(const mend_reply *reply);
/* Takes in what the last reply says. MEND_ENOMEM. */
mend_status mend__report_add_reply(mend__work *work);
/* The work is over. reason: absent, or why. MEND_ENOMEM. */
mend_status mend__report_end(mend__work *work, mend_agent_end end, mend_str reason);

/* ---- asking.c ---- */

/* Asks the model; work->reply is its, or what is known of a failure. The watch's token ends that: MEND_ECANCELLED.
 * Errors: those of mend_model_ask. */
mend_status mend__work_ask(mend__work *work, mend_error *error);

/* ---- calls.c ---- */

/* Runs the tools that the last reply asks for and adds their results to the conversation. MEND_ABORTED, MEND_ECLOSED
 * and MEND_ENOMEM end the work. */
mend_status mend__work_call(mend__work *work, mend_error *error);
/* Adds results that say why they were not run. MEND_ENOMEM. */
mend_status mend__work_refuse_calls(mend__work *work, mend_str why);

/* ---- work.c ---- */

/* Works until the end; the last reply stays for the caller to clear. says: as the user, or again, without a word.
 * The report is added to. */
mend_status mend__agent_work(mend__work *work, mend_str task, bool says, mend_error *error);

#endif
