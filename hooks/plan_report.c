/* What a plan has done so far, written down as it happens, and its value. */
#include "hooks/boundary_internal.h"
#include "hooks/flows_internal.h"

void mend__plan_report_init(mend__plan_report *report, const mend_allocator *allocator) {
  *report = (mend__plan_report){.escalation = MEND_RESULT_INIT};
  mend__buffer_init(&report->outputs, allocator);
  mend__buffer_init(&report->subtasks, allocator);
  mend__buffer_init(&report->failure, allocator);
  mend__buffer_init(&report->planner_error, allocator);
}

void mend__plan_report_free(mend__plan_report *report) {
  mend__buffer_free(&report->outputs);
  mend__buffer_free(&report->subtasks);
  mend__buffer_free(&report->failure);
  mend__buffer_free(&report->planner_error);
  mend_result_clear(&report->escalation);
}

/* ---- One step ---- */

typedef struct step_error {
  mend_str type, message;
} step_error;

/* What stopped a step is told like a failure. */
static step_error error_of(const mend_result *result) {
  switch (result->outcome) {
  case MEND_OUTCOME_FAILED: return (step_error){result->error_type, result->error_message};
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED: return (step_error){mend_str_from(mend_outcome_name(result->outcome)), result->reason};
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_SKIPPED:
  case MEND_OUTCOME_ESCALATED:
  case MEND_OUTCOME_REDIRECTED: break;
  }
  return (step_error){MEND_ABSENT, MEND_ABSENT};
}

static void write_member(mend__buffer *json, const char *key, mend_str text) {
  mend__buffer_printf(json, ",\"%s\":", key);
  mend__buffer_json_text(json, text);
}

/* A step that was refused had no call. */
static void write_call_id(mend__buffer *json, uint64_t call) {
  if (call != 0) {
    mend__buffer_printf(json, "\"%llu\"", (unsigned long long)call);
  } else {
    mend__buffer_str(json, MEND_STR("null"));
  }
}

static void add_subtask(mend__buffer *json, const mend_subtask *subtask, const mend_result *result,
                        const step_error *error, double confidence) {
  mend__buffer_str(json, json->len > 0 ? MEND_STR(",{\"name\":") : MEND_STR("{\"name\":"));
  mend__buffer_json_string(json, subtask->name);
  write_member(json, "tool", subtask->tool);
  write_member(json, "outcome", mend_str_from(mend_outcome_name(result->outcome)));
  mend__buffer_str(json, MEND_STR(",\"call_id\":"));
  write_call_id(json, result->call);
  mend__buffer_str(json, MEND_STR(",\"duration_ms\":"));
  mend__buffer_f64(json, result->duration_ms);
  mend__buffer_str(json, MEND_STR(",\"confidence\":"));
  mend__buffer_f64(json, confidence);
  write_member(json, "question", result->question);
  write_member(json, "error_type", error->type);
  write_member(json, "error_message", error->message);
  mend__buffer_char(json, '}');
}

static void add_output(mend__buffer *json, mend_str name, mend_str value) {
  if (json->len > 0) mend__buffer_char(json, ',');
  mend__buffer_json_string(json, name);
  mend__buffer_char(json, ':');
  mend__buffer_str(json, value);
}

static void add_failure(mend__plan_report *report, mend_str name, const step_error *error) {
  if (report->failures++ > 0) return;
  mend__buffer_str(&report->failure, name);
  mend__buffer_str(&report->failure, MEND_STR(": "));
  mend__buffer_str(&report->failure, error->type);
  mend__buffer_str(&report->failure, MEND_STR(": "));
  mend__buffer_str(&report->failure, error->message);
}

mend_status mend__plan_report_add(mend__plan_report *report, const mend_subtask *subtask, mend_result *result,
                                  double confidence) {
  const step_error error = error_of(result);
  report->steps++;
  add_subtask(&report->subtasks, subtask, result, &error, confidence);
  if (mend__outcome_is_success(result->outcome)) {
    add_output(&report->outputs, subtask->name, result->value);
  } else if (result->outcome != MEND_OUTCOME_ESCALATED) {
    add_failure(report, subtask->name, &error);
  } else if (report->escalation.outcome != MEND_OUTCOME_ESCALATED) {
    mend__result_move(&report->escalation, result);
  }
  return report->subtasks.failed || report->outputs.failed || report->failure.failed ? MEND_ENOMEM : MEND_OK;
}

/* ---- All of them ---- */

/* What misses something is not written. */
static void write_part(mend__buffer *json, const mend__buffer *part) {
  if (part->failed) json->failed = true;
  mend__buffer_bytes(json, part->data, part->len);
}

void mend__plan_report_write_outputs(const mend__plan_report *report, mend__buffer *json) {
  mend__buffer_char(json, '{');
  write_part(json, &report->outputs);
  mend__buffer_char(json, '}');
}

void mend__plan_report_write_subtasks(const mend__plan_report *report, mend__buffer *json) {
  mend__buffer_char(json, '[');
  write_part(json, &report->subtasks);
  mend__buffer_char(json, ']');
}

void mend__plan_report_write(const mend__plan_report *report, bool success, mend__buffer *json) {
  mend__buffer_printf(json, "{\"success\":%s,\"outputs\":", success ? "true" : "false");
  mend__plan_report_write_outputs(report, json);
  mend__buffer_str(json, MEND_STR(",\"subtasks\":"));
  mend__plan_report_write_subtasks(report, json);
  mend__buffer_printf(json, ",\"redecompositions\":%u,\"planner_error\":", report->redecompositions);
  mend__buffer_json_text(json, mend__text_or_absent(&report->planner_error));
  if (report->planner_error.failed) json->failed = true;
  mend__buffer_char(json, '}');
}
