/**
 * mend/agent.h: a small agent: a model, tools through the boundary, and a conversation.
 *
 *   mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
 *   options.model = model;
 *   options.boundary = mend_healing_boundary(runner);
 *   options.tools = specs;                 // what the model is told of the tools
 *   options.tool_count = 2;
 *   mend_agent *agent;
 *   mend_agent_new(&options, &agent, &error);
 *
 *   mend_agent_report report = MEND_AGENT_REPORT_INIT;
 *   mend_agent_run(agent, MEND_STR("Find the cheapest flight"), &report, &error);
 *   puts(report.text.ptr);
 *   mend_agent_report_clear(&report);
 *
 * A turn is one model request; the tools it asks for run at once (mend_boundary_call_all), their results go back, until it asks
 * for none, the limit on turns is reached, or the run is aborted.
 *
 * Threads: an agent runs on one thread at a time: the caller's, which must not be the loop's own.
 */
#ifndef MEND_AGENT_H
#define MEND_AGENT_H

#include "mend/metacognition.h"
#include "mend/model.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mend_agent mend_agent;

typedef struct mend_agent_options {
  size_t size;
  const char *name;             /**< in agent.start and agent.end; default "agent" */
  mend_model *model;            /**< required; referenced */
  mend_boundary *boundary;      /**< required; referenced */
  const mend_tool_spec *tools;  /**< what the model is told; copied; each name is a tool of the boundary */
  size_t tool_count;
  const char *instructions;     /**< the system message; NULL: none */
  uint32_t max_turns;           /**< 1..10,000; default 20 */
  const mend_model_request *request; /**< settings (temperature, clocks, ...) of every request; messages, tools, run are the
                                          agent's; NULL: the defaults */
  void (*delta)(void *ctx, const mend_delta *delta); /**< pieces of replies, on the loop's thread; NULL: nobody */
  void (*turn)(void *ctx, uint32_t turn, const mend_reply *reply); /**< each reply, before its tools run; NULL: nobody */
  void *ctx;
} mend_agent_options;
#define MEND_AGENT_OPTIONS_INIT                                                                                        \
  { sizeof(mend_agent_options), "agent", NULL, NULL, NULL, 0, NULL, 20, NULL, NULL, NULL, NULL }

/** Errors: MEND_EINVAL (the sentence names the option), MEND_ENOMEM. */
MEND_API mend_status mend_agent_new(const mend_agent_options *options, mend_agent **ret_agent, mend_error *error);
/** NULL is allowed. Not while it runs. */
MEND_API void mend_agent_free(mend_agent *agent);
/** The conversation so far; borrowed; may be added to between runs. */
MEND_API mend_messages *mend_agent_messages(mend_agent *agent);

typedef enum mend_agent_end {
  MEND_AGENT_DONE = 0,  /**< it answered without asking for a tool */
  MEND_AGENT_TURNS,     /**< max_turns; its last reply still asked for tools */
  MEND_AGENT_ABORTED,   /**< the run was aborted */
  MEND_AGENT_FAILED,    /**< no model answered */
  MEND_AGENT_ESCALATED  /**< a call became a question to a person */
} mend_agent_end;
/** "done", "max_turns", "aborted", "failed", "escalated". Static. */
MEND_API const char *mend_agent_end_name(mend_agent_end end);

typedef struct mend_agent_report {
  size_t size;
  mend_agent_end end;
  mend_str text;     /**< the last reply's */
  mend_str reason;   /**< of an abort or a failure */
  mend_str question; /**< of an escalation */
  uint32_t turns;
  uint64_t calls;    /**< of tools */
  mend_usage usage;  /**< of all turns */
  mend_str target;   /**< that answered last */
  void *memory;      /**< private */
} mend_agent_report;
#define MEND_AGENT_REPORT_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(mend_agent_report), MEND_AGENT_DONE, MEND_ABSENT, MEND_ABSENT, MEND_ABSENT, 0, 0,                           \
        {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}, MEND_ABSENT, NULL                                                \
  }
/** NULL is allowed. */
MEND_API void mend_agent_report_clear(mend_agent_report *report);

/** Says `task` as the user and works until the end. MEND_OK for done, max_turns and escalated; MEND_ABORTED; MEND_EFAILED (error has
 * the sentence); MEND_EDEADLK on the loop's thread; MEND_ENOMEM. Publishes user.message, agent.start, agent.end. */
MEND_API mend_status mend_agent_run(mend_agent *agent, mend_str task, mend_agent_report *ret_report, mend_error *error);
/** The same for an agent that answers in JSON: the last reply's text (code fences stripped), enriched by `protocol`, log
 * probabilities included. A text that is no JSON is enriched as a JSON string. */
MEND_API mend_status mend_agent_run_enriched(mend_agent *agent, mend_str task, mend_protocol *protocol,
                                             mend_enriched *ret_enriched, mend_agent_report *ret_report,
                                             mend_error *error);

#ifdef __cplusplus
}
#endif
#endif
