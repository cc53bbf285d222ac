/* Runs of LangSmith: JSONL, an array, or an object with `runs`; children may be nested in `child_runs`. What LangSmith
 * calls a trace is a run here, what it calls a run is a call, or an answer of a model. Exports come in any order,
 * usually the newest first, so they are played by stage_later. */
#include "program/base/json_fields.h"
#include "program/stage/stage_later.h"
#include "program/transcripts/format.h"
#include "program/transcripts/iso_time.h"
#include "program/transcripts/python_text.h"

#define RUN_FIELDS(F)                                                                                                  \
  F(ID, "id"), F(TRACE, "trace_id"), F(PARENT, "parent_run_id"), F(PROJECT, "session_id"), F(TYPE, "run_type"),        \
      F(NAME, "name"), F(START, "start_time"), F(END, "end_time"), F(INPUTS, "inputs"), F(OUTPUTS, "outputs"),         \
      F(FAILURE, "error"), F(EXTRA, "extra"), F(INPUT_TOKENS, "prompt_tokens"), F(OUTPUT_TOKENS, "completion_tokens"), \
      F(COST, "total_cost"), F(CHILDREN, "child_runs")
enum { RUN_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

/* Deeper children are left out. */
enum { DEPTH_MAX = 64 };

static bool read_time(mend_str value, uint64_t *ret_ns) { return iso_time_read(mend__json_inside(value), ret_ns); }

static format_view look(mend_str row) {
  json_field fields[FIELD_COUNT] = {RUN_FIELDS(JSON_FIELD_ENTRY)};
  if (json_fields_read(row, fields, FIELD_COUNT, NULL) != MEND_OK) return (format_view){.reason = "not JSON objects"};
  if (!mend__json_is_string(fields[TYPE].value)) return (format_view){.reason = "no \"run_type\""};
  format_view view = {.reason = "no \"trace_id\" or \"start_time\""};
  view.has_ts = read_time(fields[START].value, &view.ts_ns);
  if (view.has_ts || mend__json_is_string(fields[TRACE].value)) view.fit = FIT_YES;
  return view;
}

/* ---- Values ------------------------------------------------------------------------------------------------ */

/* A member of a member of a member; names are ended by NULL. In an array it is looked for in the first element. */
static mend_str member_at(mend_str value, const char *const *names) {
  for (; *names != NULL; names++) {
    while (mend__json_is_array(value)) {
      mend__json_items elements = mend__json_items_of(value);
      if (!mend__json_items_next(&elements, &value)) return (mend_str){NULL, 0};
    }
    value = json_member(value, mend_str_from(*names));
  }
  return value;
}

/* The first of several places that holds something else than null. */
enum { PLACE_DEPTH = 5 };
static mend_str first_at(mend_str value, const char *const (*places)[PLACE_DEPTH], size_t count) {
  for (size_t i = 0; i < count; i++) {
    const mend_str found = member_at(value, places[i]);
    if (found.ptr != NULL && found.ptr[0] != 'n') return found;
  }
  return (mend_str){NULL, 0};
}
#define FIRST_AT(value, places) first_at(value, places, sizeof(places) / sizeof(places)[0])

static const char *const said_at[][PLACE_DEPTH] = {
    {"generations", "text"},
    {"generations", "message", "kwargs", "content"},
    {"choices", "message", "content"},
};
static const char *const input_tokens_at[][PLACE_DEPTH] = {
    {"usage_metadata", "input_tokens"},
    {"llm_output", "token_usage", "prompt_tokens"},
    {"usage", "prompt_tokens"},
    {"usage", "input_tokens"},
};
static const char *const output_tokens_at[][PLACE_DEPTH] = {
    {"usage_metadata", "output_tokens"},
    {"llm_output", "token_usage", "completion_tokens"},
    {"usage", "completion_tokens"},
    {"usage", "output_tokens"},
};
static const char *const model_at[][PLACE_DEPTH] = {
    {"metadata", "ls_model_name"},
    {"invocation_params", "model"},
    {"invocation_params", "model_name"},
};
static const char *const session_at[][PLACE_DEPTH] = {
    {"metadata", "session_id"},
    {"metadata", "thread_id"},
    {"metadata", "conversation_id"},
};
/* A tool's message has its id in it, by which equal answers would differ. */
static const char *const answer_at[][PLACE_DEPTH] = {
    {"output", "kwargs", "content"},
    {"output", "content"},
    {"output"},
};
static const char *const answer_status_at[][PLACE_DEPTH] = {
    {"output", "kwargs", "status"},
    {"output", "status"},
};

/* ---- Runs -------------------------------------------------------------------------------------------------- */

/* A run of LangSmith's being played. */
typedef struct node {
  const json_field *fields;
  uint64_t start_ns, end_ns; /* end 0: it had not ended */
  stage_moment moment;       /* what all its moments have in common */
} node;

static void read_times(stage *on, node *of) {
  of->start_ns = of->end_ns = 0;
  read_time(of->fields[END].value, &of->end_ns);
  if (!read_time(of->fields[START].value, &of->start_ns)) of->start_ns = of->end_ns != 0 ? of->end_ns : on->now_ns;
  if (of->end_ns != 0 && of->end_ns < of->start_ns) of->end_ns = of->start_ns;
}

/* Whether it ended; exports without times say so by what came out of it. */
static bool has_ended(const stage *on, const node *of) {
  if (on->has_clock) return of->end_ns != 0;
  return mend__json_is_object(of->fields[OUTPUTS].value) || mend__json_is_string(of->fields[FAILURE].value);
}

static mend_status tell(stage *on, node *of, stage_moment_kind kind, uint64_t wall_ns, mend_str text,
                        mend_error *error) {
  of->moment.kind = kind;
  of->moment.wall_ns = wall_ns;
  of->moment.text = text;
  return stage_later(on, &of->moment, error);
}

static mend_status tell_answer(stage *on, node *of, mend_error *error) {
  const mend_str outputs = of->fields[OUTPUTS].value;
  const mend_str found = FIRST_AT(outputs, answer_at);
  const mend_str answer = found.ptr != NULL || !mend__json_is_object(outputs) ? found : outputs;
  if (!json_string_is(FIRST_AT(outputs, answer_status_at), MEND_STR("error"))) {
    return tell(on, of, STAGE_RESULT, of->end_ns, answer, error);
  }
  const mend_str text = stage_content_text(on, answer);
  return tell(on, of, STAGE_ERROR, of->end_ns, text.ptr != NULL ? text : answer, error);
}

/* A call's arguments. Where they came as a text, that is in `input`: JSON, or what Python prints of a dictionary. */
static mend_str arguments_of(stage *on, mend_str inputs) {
  const mend_str given = json_member(inputs, MEND_STR("input"));
  if (!mend__json_is_string(given)) return inputs;
  const mend_str text = stage_text(on, given);
  if (text.len > 0 && text.ptr[0] == '{' && mend_json_check(text, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK) return text;
  mend__buffer_clear(&on->scratch);
  return python_text_to_json(text, &on->scratch) ? mend__buffer_text(&on->scratch) : inputs;
}

static mend_status play_tool(stage *on, node *of, mend_error *error) {
  of->moment.id = stage_text(on, of->fields[ID].value);
  of->moment.tool = stage_text(on, of->fields[NAME].value);
  const mend_status status = tell(on, of, STAGE_CALL, of->start_ns, arguments_of(on, of->fields[INPUTS].value), error);
  if (status != MEND_OK || !has_ended(on, of)) return status;
  const mend_str failure = stage_text(on, of->fields[FAILURE].value);
  return failure.len > 0 ? tell(on, of, STAGE_ERROR, of->end_ns, failure, error) : tell_answer(on, of, error);
}

static uint64_t tokens_of(mend_str own, mend_str in_outputs) {
  const uint64_t count = json_count(own);
  return count != 0 ? count : json_count(in_outputs);
}

/* Decimals are strings in some exports. */
static double cost_of(mend_str value) {
  const mend_str inside = mend__json_is_string(value) ? mend__json_inside(value) : value;
  return mend_json_check(inside, 1, NULL) == MEND_OK ? json_amount(inside) : 0;
}

static mend_status play_model(stage *on, node *of, mend_error *error) {
  const json_field *fields = of->fields;
  const mend_str outputs = fields[OUTPUTS].value;
  stage_tokens *tokens = &of->moment.tokens;
  if (!has_ended(on, of)) return MEND_OK;
  tokens->model = stage_text(on, FIRST_AT(fields[EXTRA].value, model_at));
  if (tokens->model.len == 0) tokens->model = stage_text(on, fields[NAME].value);
  const mend_str failure = stage_text(on, fields[FAILURE].value);
  if (failure.len > 0) return tell(on, of, STAGE_MODEL_ERROR, of->end_ns, failure, error);
  const mend_str said = stage_content_text(on, FIRST_AT(outputs, said_at));
  const mend_status status = tell(on, of, STAGE_MODEL_REPLY, of->end_ns, said, error);
  tokens->input = tokens_of(fields[INPUT_TOKENS].value, FIRST_AT(outputs, input_tokens_at));
  tokens->output = tokens_of(fields[OUTPUT_TOKENS].value, FIRST_AT(outputs, output_tokens_at));
  tokens->cost_usd = cost_of(fields[COST].value);
  return status == MEND_OK ? tell(on, of, STAGE_USAGE, of->end_ns, (mend_str){NULL, 0}, error) : status;
}

static mend_status play_agent(stage *on, node *of, mend_error *error) {
  const mend_str name = stage_text(on, of->fields[NAME].value);
  const mend_status status = tell(on, of, STAGE_AGENT_STARTS, of->start_ns, name, error);
  return status == MEND_OK && has_ended(on, of) ? tell(on, of, STAGE_AGENT_ENDS, of->end_ns, name, error) : status;
}

static mend_status play_node(stage *on, node *of, bool is_root, mend_error *error) {
  const mend_str type = of->fields[TYPE].value;
  read_times(on, of);
  if (json_string_is(type, MEND_STR("tool"))) return play_tool(on, of, error);
  if (json_string_is(type, MEND_STR("llm"))) return play_model(on, of, error);
  return is_root ? play_agent(on, of, error) : MEND_OK;
}

/* `trace`: that of the run it is nested in, absent for none. */
static mend_status play_tree(stage *on, const json_field fields[FIELD_COUNT], mend_str trace, int depth,
                             mend_error *error) {
  node of = {.fields = fields, .moment = {.run = MEND_RUN_OPTIONS_INIT}};
  mend_run_options *run = &of.moment.run;
  const bool is_root = trace.len == 0 && !mend__json_is_string(fields[PARENT].value);
  if (trace.len == 0) trace = stage_text(on, fields[mend__json_is_string(fields[TRACE].value) ? TRACE : ID].value);
  run->id = trace;
  run->project_id = stage_text(on, fields[PROJECT].value);
  run->session_id = stage_text(on, FIRST_AT(fields[EXTRA].value, session_at));
  mend_status status = play_node(on, &of, is_root, error);
  mend__json_items children = mend__json_items_of(fields[CHILDREN].value);
  mend_str child;
  while (status == MEND_OK && depth < DEPTH_MAX && mend__json_items_next(&children, &child)) {
    json_field inside[FIELD_COUNT] = {RUN_FIELDS(JSON_FIELD_ENTRY)};
    if (!mend__json_is_object(child)) continue;
    json_fields_read(child, inside, FIELD_COUNT, NULL);
    status = play_tree(on, inside, trace, depth + 1, error);
  }
  return status;
}

static mend_status play(stage *on, const input_row *row, mend_error *error) {
  json_field fields[FIELD_COUNT] = {RUN_FIELDS(JSON_FIELD_ENTRY)};
  const mend_status status = json_fields_read(row->text, fields, FIELD_COUNT, error);
  if (status != MEND_OK) return status;
  if (!mend__json_is_string(fields[TYPE].value)) {
    return mend_error_set(error, MEND_EINVAL, "not a run: a run has a string \"run_type\"");
  }
  return play_tree(on, fields, (mend_str){NULL, 0}, 0, error);
}

static const char *const containers[] = {"runs", NULL};
const format langsmith_format = {.name = "langsmith",
                                 .title = "LangSmith runs",
                                 .containers = containers,
                                 .has_clock = true,
                                 .any_order = true,
                                 .look = look,
                                 .play = play};
