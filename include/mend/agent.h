/**
 * mend/agent.h: a small agent: a model, tools behind a boundary, and a conversation.
 *
 *   mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
 *   options.model = model;
 *   options.boundary = mend_healing_boundary(runner); // the model is told of its tools that have a description
 *   mend_agent *agent;
 *   mend_agent_new(&options, &agent, &error);
 *
 *   mend_agent_report report = MEND_AGENT_REPORT_INIT;
 *   if (mend_agent_run(agent, MEND_STR("Find the cheapest flight"), &report, &error) == MEND_OK) puts(report.text.ptr);
 *   mend_agent_report_clear(&report);
 *
 * A turn is one request to the model. The tools it asks for run at once (mend_boundary_call_all), their results go
 * back to it, and the next turn begins, until it asks for none, a tool call becomes a question to a person, max_turns
 * is reached, no model answers, or the run is aborted or the call that it works within cancelled, which ends a request
 * under way as well as calls.
 *
 * Threads: an agent runs on one thread at a time, its caller's, which must not be that of the model's loop.
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
  const char *name;        /**< in agent.start and agent.end; default "agent" */
  mend_model *model;       /**< required; referenced */
  mend_boundary *boundary; /**< required; referenced; its run is the agent's */
  /** What the model is told; copied. NULL: all tools of the boundary that have a description when the agent is made, in
   * the order they were added, but for the one in whose call it works. A list is told instead: each name is that of a
   * tool of the boundary, and no two are the same; one with a tool_count of 0 is no tools. All names are what every
   * provider takes: 1 to 64 letters, digits, `_` and `-`, the first a letter or `_`. A schema is a JSON object. */
  const mend_tool_spec *tools;
  size_t tool_count;
  const char *instructions;          /**< the system message; NULL: none */
  uint32_t max_turns;                /**< of one mend_agent_run, 1..10,000; default 20 */
  const mend_model_request *request; /**< settings of every request (temperature, clocks, log_probs, ...); copied; its
                                        messages, tools, run, call_name and within are not looked at; NULL: the
                                        defaults */
  void (*delta)(void *ctx, const mend_delta *delta); /**< pieces of replies, on the loop's thread; NULL: nobody */
  void (*turn)(void *ctx, uint32_t turn,
               const mend_reply *reply); /**< each reply, from turn 1, before its tools run; NULL: nobody */
  void *ctx;
  /** The call in whose execution it works, as a sub-agent; referenced; NULL: none. Its own calls and requests are made
   * within that one (mend_call_options, mend_model_request), and what cancels that one ends the sub-agent at once: its
   * request under way, its calls. */
  mend_call *within;
} mend_agent_options;
#define MEND_AGENT_OPTIONS_INIT                                                                                        \
  { sizeof(mend_agent_options), "agent", NULL, NULL, NULL, 0, NULL, 20, NULL, NULL, NULL, NULL, NULL }

/** Errors: MEND_EINVAL (the sentence names the option; of a schema that is no JSON, line and column), MEND_ENOMEM. Its
 * memory is that of the run's bus. */
MEND_API mend_status mend_agent_new(const mend_agent_options *options, mend_agent **ret_agent, mend_error *error);
/** NULL is allowed. Not while it runs. */
MEND_API void mend_agent_free(mend_agent *agent);
/** The conversation so far; the agent's; may be added to between runs. Whatever ended a run, every tool call in it
 * has its result (but after MEND_ENOMEM), so it can be gone on with. */
MEND_API mend_messages *mend_agent_messages(mend_agent *agent);

typedef enum mend_agent_end {
  MEND_AGENT_DONE = 0,  /**< it answered without asking for a tool */
  MEND_AGENT_TURNS,     /**< max_turns; its last reply still asked for tools, which were not run */
  MEND_AGENT_ESCALATED, /**< a call became a question to a person, whose answer is the next task */
  MEND_AGENT_ABORTED,   /**< the run was aborted */
  MEND_AGENT_FAILED,    /**< no model answered, one only said that it calls tools, or it could not go on */
  MEND_AGENT_CANCELLED  /**< the call that it works within was cancelled */
} mend_agent_end;
/** "done", "max_turns", "escalated", "aborted", "failed", "cancelled". Static. */
MEND_API const char *mend_agent_end_name(mend_agent_end end);

/** What an agent has come to. Start from MEND_AGENT_REPORT_INIT; texts are its own. */
typedef struct mend_agent_report {
  size_t size;
  mend_agent_end end;
  mend_str text;      /**< of the last reply; absent: there was none. This and the texts below end in a NUL */
  mend_finish finish; /**< of the last reply: an answer may be cut off (LENGTH) or refused (FILTER) */
  mend_str reason;    /**< of an abort, a cancel or a failure */
  mend_str question;  /**< of an escalation */
  uint32_t turns;     /**< requests that were made */
  uint64_t calls;     /**< tool calls that were asked for */
  mend_usage usage;   /**< of all turns; MEND_NONE: never told */
  mend_str target;    /**< of a chain: who answered last */
  mend_str attempts;  /**< JSON array: the attempts of the last request, as in mend_reply */
  void *memory;       /**< private */
} mend_agent_report;
#define MEND_AGENT_REPORT_INIT                                                                                         \
  {                                                                                                                    \
    sizeof(mend_agent_report), MEND_AGENT_DONE, MEND_ABSENT, MEND_FINISH_UNKNOWN, MEND_ABSENT, MEND_ABSENT, 0, 0,      \
        {MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE}, MEND_ABSENT, MEND_ABSENT, NULL                                   \
  }
/** NULL is allowed. */
MEND_API void mend_agent_report_clear(mend_agent_report *report);

/**
 * Says `task` as the user and works until the end. What goes back to the model of a call:
 *   its value (of a JSON string the text), also a stub or what another tool gave instead;
 *   as an error "<error_type>: <message>" of a failed one, of an unknown tool too, and "cancelled: <reason>" of a
 *     cancelled one;
 *   as an error what is wrong with arguments that are no JSON object: such a call is not made.
 * A call's name on the bus is the provider's id of it. On the boundary's run it publishes agent.start, user.message and
 * agent.end, and the model its model.* events.
 * \param ret_report  filled in once the work has begun, whatever comes of it; what it held is freed; NULL: nobody asks
 * Returns MEND_OK for done, max_turns and escalated; MEND_ABORTED; MEND_ECANCELLED; MEND_EFAILED when no model
 * answered (error has the sentence); MEND_ECLOSED when the healing scope was left; MEND_EINVAL for a request no model
 * takes, such as one with a temperature below 0; MEND_EDEADLK on the loop's thread; MEND_ENOMEM; MEND_ELIMIT when
 * publishes nest too deeply.
 */
MEND_API mend_status mend_agent_run(mend_agent *agent, mend_str task, mend_agent_report *ret_report, mend_error *error);
/**
 * The same for an agent that answers in JSON: the last reply's text is enriched by `protocol` with the reply's log
 * probabilities (where request.log_probs asks for them). Of a text that begins with a code block (```) it is the JSON
 * value in that, and what follows the block is left out. A text that is no JSON then is enriched as a JSON string.
 * For a protocol that runs the agent again, it works on a copy of the conversation as it was before the
 * task; turns, calls and tokens of that are in the report as well. (A run that is watched sees the same tool calls
 * again, then.)
 * \param ret_enriched  emptied when the end is not done
 */
MEND_API mend_status mend_agent_run_enriched(mend_agent *agent, mend_str task, mend_protocol *protocol,
                                             mend_enriched *ret_enriched, mend_agent_report *ret_report,
                                             mend_error *error);

#ifdef __cplusplus
}
#endif
#endif
