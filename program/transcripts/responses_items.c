#include "program/transcripts/responses_items.h"

#include "program/base/json_fields.h"

#include <stdio.h>

#define ITEM_FIELDS(F)                                                                                                 \
  F(TYPE, "type"), F(ID, "id"), F(CALL_ID, "call_id"), F(NAME, "name"), F(ARGUMENTS, "arguments"), F(INPUT, "input"),  \
      F(ACTION, "action"), F(OPERATION, "operation"), F(QUERIES, "queries"), F(CODE, "code"), F(OUTPUT, "output"),     \
      F(OUTPUTS, "outputs"), F(RESULTS, "results"), F(ERROR, "error"), F(STATUS, "status"), F(ROLE, "role"),           \
      F(CONTENT, "content")
enum { ITEM_FIELDS(JSON_FIELD_INDEX), FIELD_COUNT };

/* Items that are calls. Those that ran on OpenAI's side have their result in them; the others are answered by an item
 * whose type ends in "_output". */
typedef struct call_kind {
  const char *type;
  const char *tool; /* NULL: its "name" */
  int arguments;
  int result; /* FIELD_COUNT: answered elsewhere */
} call_kind;

static const call_kind call_kinds[] = {
    {"function_call", NULL, ARGUMENTS, FIELD_COUNT},
    {"custom_tool_call", NULL, INPUT, FIELD_COUNT},
    {"local_shell_call", "local_shell", ACTION, FIELD_COUNT},
    {"shell_call", "shell", ACTION, FIELD_COUNT},
    {"apply_patch_call", "apply_patch", OPERATION, FIELD_COUNT},
    {"computer_call", "computer", ACTION, FIELD_COUNT},
    {"mcp_call", NULL, ARGUMENTS, OUTPUT},
    {"web_search_call", "web_search", ACTION, RESULTS},
    {"file_search_call", "file_search", QUERIES, RESULTS},
    {"code_interpreter_call", "code_interpreter", CODE, OUTPUTS},
};

static const call_kind *call_kind_of(mend_str type) {
  for (size_t i = 0; i < sizeof call_kinds / sizeof call_kinds[0]; i++) {
    if (json_string_is(type, mend_str_from(call_kinds[i].type))) return &call_kinds[i];
  }
  return NULL;
}

static bool is_output(mend_str type) { return json_string_ends_with(type, MEND_STR("_call_output")); }

bool responses_is_item(mend_str type) {
  return call_kind_of(type) != NULL || is_output(type) || json_string_is(type, MEND_STR("reasoning"));
}

/* ---- Playing them ------------------------------------------------------------------------------------------ */

/* The row's own id is for calls that nobody answers. */
static mend_str id_of(stage *on, const json_field fields[FIELD_COUNT]) {
  return stage_text(on, fields[fields[CALL_ID].value.ptr != NULL ? CALL_ID : ID].value);
}

/* A call that ran on OpenAI's side: an error is null, a text, or an object with a message. */
static mend_status play_own_result(stage *on, played_run *run, mend_str id, const json_field fields[FIELD_COUNT],
                                   mend_str result) {
  const mend_str error = fields[ERROR].value;
  const mend_str message = mend__json_is_object(error) ? json_member(error, MEND_STR("message")) : error;
  const bool failed = json_string_is(fields[STATUS].value, MEND_STR("failed"));
  if (failed || mend__json_is_string(message)) return stage_error(on, run, id, stage_text(on, message));
  return stage_result(on, run, id, result);
}

static mend_status play_call(stage *on, played_run *run, const call_kind *kind, const json_field fields[FIELD_COUNT]) {
  char own_id[48];
  mend_str id = id_of(on, fields);
  if (id.len == 0 && kind->result != FIELD_COUNT) { /* it ends before another one begins */
    snprintf(own_id, sizeof own_id, "%s %llu", kind->type, (unsigned long long)on->row);
    id = mend_str_from(own_id);
  }
  const mend_str tool = kind->tool != NULL ? mend_str_from(kind->tool) : stage_text(on, fields[NAME].value);
  mend_str arguments = fields[kind->arguments].value;
  if (kind->arguments == ARGUMENTS) arguments = stage_nested_json(on, arguments);
  const mend_status status = stage_call(on, run, id, tool, arguments);
  if (status != MEND_OK || kind->result == FIELD_COUNT) return status;
  return play_own_result(on, run, id, fields, fields[kind->result].value);
}

static mend_status play_output(stage *on, played_run *run, const json_field fields[FIELD_COUNT],
                               const responses_rules *rules) {
  const mend_str id = id_of(on, fields);
  responses_output output = {.value = fields[OUTPUT].value};
  if (rules->read_output != NULL) output = rules->read_output(on, output.value, stage_arguments(run, id));
  if (output.cancelled) return stage_cancelled(on, run, id, stage_content_text(on, output.value));
  if (!output.failed) return stage_result(on, run, id, output.value);
  return stage_error(on, run, id, stage_content_text(on, output.value));
}

static mend_status play_message(stage *on, played_run *run, const json_field fields[FIELD_COUNT],
                                const responses_rules *rules) {
  const mend_str text = stage_content_text(on, fields[CONTENT].value);
  if (json_string_is(fields[ROLE].value, MEND_STR("assistant"))) return stage_model_text(on, run, rules->model, text);
  if (rules->leaves_users || !json_string_is(fields[ROLE].value, MEND_STR("user"))) return MEND_OK;
  return stage_user_message(on, run, text);
}

mend_status responses_play_item(stage *on, played_run *run, mend_str item, const responses_rules *rules) {
  json_field fields[FIELD_COUNT] = {ITEM_FIELDS(JSON_FIELD_ENTRY)};
  if (!mend__json_is_object(item)) return MEND_OK;
  json_fields_read(item, fields, FIELD_COUNT, NULL);
  const call_kind *kind = call_kind_of(fields[TYPE].value);
  if (kind != NULL) return play_call(on, run, kind, fields);
  if (is_output(fields[TYPE].value)) return play_output(on, run, fields, rules);
  return mend__json_is_string(fields[ROLE].value) ? play_message(on, run, fields, rules) : MEND_OK;
}
