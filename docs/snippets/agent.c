/* What docs/api/agent.md quotes. */
#include <mend.h>

#include <stdio.h>

/* Yours. */
mend_status search_flights(void *index, mend_call *call);

mend_status add_search(mend_tools *tools, void *index, mend_error *error);
mend_status find_flight(mend_healing_runner *runner, mend_error *error);
mend_status research(void *ctx, mend_call *call);
mend_status be_sure(mend_agent *agent, mend_error *error);

mend_status add_search(mend_tools *tools, void *index, mend_error *error) {
  const mend_tool search = {
      .size = sizeof search,
      .name = "search",
      .execute = search_flights,
      .description = "Finds flights between two cities.",
      .schema = "{\"type\":\"object\",\"properties\":{\"from\":{\"type\":\"string\"},\"to\":{\"type\":\"string\"}},"
                "\"required\":[\"from\",\"to\"]}",
  };
  return mend_tools_add(tools, &search, index, error); /* the tools of the runner */
}

mend_status find_flight(mend_healing_runner *runner, mend_error *error) {
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  options.model = mend_healing_model(runner);
  options.boundary = mend_healing_boundary(runner);
  options.instructions = "You find flights.";
  mend_agent *agent;
  mend_status status = mend_agent_new(&options, &agent, error);
  if (status != MEND_OK) return status;

  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  status = mend_agent_run(agent, MEND_STR("The cheapest flight from Basel to Porto?"), &report, error);
  if (status == MEND_OK && report.end == MEND_AGENT_ESCALATED) {
    printf("%.*s\n", MEND_STR_ARG(report.question)); /* a person's answer is the next task */
    status = mend_agent_run(agent, MEND_STR("Take the one in the morning."), &report, error);
  }
  if (status == MEND_OK) printf("%.*s\n", MEND_STR_ARG(report.text));
  mend_agent_report_clear(&report);
  mend_agent_free(agent);
  return status;
}

/* A tool of another agent's: MEND_TOOL_POOLED, so that several of them run at once. */
mend_status research(void *ctx, mend_call *call) {
  mend_healing_runner *runner = ctx;
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  options.name = "researcher";
  options.model = mend_healing_model(runner);
  options.boundary = mend_healing_boundary(runner);
  options.within = call; /* whose cancelling ends the sub-agent */
  mend_agent *agent;
  mend_status status = mend_agent_new(&options, &agent, NULL);
  if (status != MEND_OK) return status;

  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  status = mend_agent_run(agent, mend_call_args(call), &report, NULL);
  if (status == MEND_OK) status = mend_call_succeed_text(call, report.text);
  mend_agent_report_clear(&report);
  mend_agent_free(agent);
  return status;
}

mend_status be_sure(mend_agent *agent, mend_error *error) {
  mend_protocol *protocol;
  mend_enriched answer = MEND_ENRICHED_INIT;
  mend_status status = mend_protocol_new_structured(NULL, &protocol, error);
  if (status != MEND_OK) return status;
  status =
      mend_agent_run_enriched(agent, MEND_STR("Answer as JSON, with self_confidence."), protocol, &answer, NULL, error);
  if (status == MEND_OK && !(answer.confidence >= 0.5)) puts("it is not sure, or did not say");
  mend_enriched_clear(&answer);
  mend_protocol_release(protocol);
  return status;
}
