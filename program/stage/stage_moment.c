#include "program/stage/stage_moment.h"

void stage_moment_texts(stage_moment *moment, mend_str *ret_texts[STAGE_MOMENT_TEXTS]) {
  mend_run_options *run = &moment->run;
  mend_str *const texts[STAGE_MOMENT_TEXTS] = {&run->id,         &run->parent_id,      &run->parent_call, &run->agent,
                                               &run->session_id, &run->project_id,     &moment->id,       &moment->tool,
                                               &moment->text,    &moment->tokens.model};
  memcpy(ret_texts, texts, sizeof texts);
}

/* ---- Playing ----------------------------------------------------------------------------------------------- */

static mend_status play_agent(stage *on, played_run *run, const stage_moment *moment) {
  if (moment->kind == STAGE_AGENT_STARTS) {
    mend_agent_start_event start = MEND_AGENT_START_EVENT_INIT;
    start.name = moment->text;
    return stage_publish(on, run, &start.event);
  }
  mend_agent_end_event end = MEND_AGENT_END_EVENT_INIT;
  end.name = moment->text;
  return stage_publish(on, run, &end.event);
}

/* Calls of which nothing but the tool is known are no repetition of each other. */
static mend_status play_call(stage *on, played_run *run, const stage_moment *moment) {
  if (moment->text.ptr != NULL) return stage_call(on, run, moment->id, moment->tool, moment->text);
  mend_tool_before_event before = MEND_TOOL_BEFORE_EVENT_INIT;
  before.event.call_name = moment->id;
  before.event.call = mend_call_from_name(moment->id);
  before.tool_name = moment->tool;
  before.args_hash = moment->has_args_hash ? moment->args_hash : mend_hash_bytes(moment->id);
  return stage_publish(on, run, &before.event);
}

static mend_status play_request(stage *on, played_run *run, const stage_moment *moment) {
  mend_model_request_event request = MEND_MODEL_REQUEST_EVENT_INIT;
  request.model = moment->tokens.model;
  return stage_publish(on, run, &request.event);
}

/* Also one of which nobody knows what it was: the model has answered. */
static mend_status play_reply(stage *on, played_run *run, const stage_moment *moment) {
  mend_model_response_event response = MEND_MODEL_RESPONSE_EVENT_INIT;
  response.model = moment->tokens.model;
  response.text = moment->text;
  return stage_publish(on, run, &response.event);
}

static mend_status publish(stage *on, played_run *run, const stage_moment *moment) {
  static const mend_str no_type = {NULL, 0};
  const mend_str model = moment->tokens.model;
  switch (moment->kind) {
  case STAGE_AGENT_STARTS:
  case STAGE_AGENT_ENDS: return play_agent(on, run, moment);
  case STAGE_CALL: return play_call(on, run, moment);
  case STAGE_RESULT: return stage_result(on, run, moment->id, moment->text);
  case STAGE_ERROR: return stage_error(on, run, moment->id, moment->text);
  case STAGE_CANCELLED: return stage_cancelled(on, run, moment->id, moment->text);
  case STAGE_SKIPPED: return stage_skipped(on, run, moment->id, moment->text);
  case STAGE_ABORTED: return stage_aborted(on, run, moment->id, moment->text);
  case STAGE_MODEL_REQUEST: return play_request(on, run, moment);
  case STAGE_MODEL_REPLY: return play_reply(on, run, moment);
  case STAGE_MODEL_ERROR: return stage_model_error(on, run, model, no_type, moment->text, 0);
  case STAGE_USAGE: return stage_usage(on, run, &moment->tokens);
  case STAGE_USER_MESSAGE: return stage_user_message(on, run, moment->text);
  case STAGE_TIME_PASSES: return MEND_OK;
  }
  return MEND_OK;
}

mend_status stage_moment_play(stage *on, const stage_moment *moment, mend_error *error) {
  played_run *run;
  const mend_status status = stage_run(on, &moment->run, &run, error);
  return status == MEND_OK ? publish(on, run, moment) : status;
}
