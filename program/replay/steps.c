#include "program/replay/steps.h"

#include "core/memory.h"
#include "program/base/plain.h"

mend_status step_list_init(step_list *list, bool exact) {
  *list = (step_list){.exact = exact};
  mend__strmap_init(&list->by_id, NULL);
  mend__buffer_init(&list->texts, NULL);
  list->hash_scratch = mend__alloc(NULL, MEND_HASH_SCRATCH);
  return list->hash_scratch != NULL ? MEND_OK : MEND_ENOMEM;
}

void step_list_free(step_list *list) {
  for (size_t i = 0; i < list->count; i++) {
    mend__free(NULL, list->runs[i]->id);
    mend__free(NULL, list->runs[i]->steps);
    mend__free(NULL, list->runs[i]);
  }
  mend__free(NULL, list->runs);
  mend__free(NULL, list->hash_scratch);
  mend__strmap_free(&list->by_id);
  mend__buffer_free(&list->texts);
}

const char *step_text(const step_list *list, size_t text) { return list->texts.data + text; }

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static step_run *add_run(step_list *list, mend_str id) {
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity == 0 ? 8 : 2 * list->capacity;
    step_run **runs = mend__realloc(NULL, list->runs, capacity * sizeof(step_run *));
    if (runs == NULL) return NULL;
    list->runs = runs;
    list->capacity = capacity;
  }
  step_run *run = mend__alloc_zero(NULL, sizeof *run);
  if (run == NULL) return NULL;
  run->id = mend__str_copy(NULL, id);
  if (run->id == NULL || mend__strmap_put(&list->by_id, mend_str_from(run->id), run) != MEND_OK) {
    mend__free(NULL, run->id);
    mend__free(NULL, run);
    return NULL;
  }
  list->runs[list->count++] = run;
  return run;
}

/* NULL with MEND_OK: of as many runs as are kept it is none. */
static mend_status find_run(step_list *list, const mend_event *event, step_run **ret_run) {
  const mend_str id = mend_run_id(event->run);
  *ret_run = mend__strmap_get(&list->by_id, id);
  if (*ret_run != NULL) return MEND_OK;
  if (list->count == STEP_RUNS_MAX) {
    list->dropped += event->kind == MEND_EVENT_TOOL_BEFORE;
    return MEND_OK;
  }
  *ret_run = add_run(list, id);
  return *ret_run != NULL ? MEND_OK : MEND_ENOMEM;
}

/* ---- Hashes and texts -------------------------------------------------------------------------------------- */

static step_hash recorded(const step_list *list, mend_hash exact, mend_hash loose) {
  return (step_hash){exact, list->exact ? exact : loose};
}

static step_hash hash_json(const step_list *list, mend_str json) {
  static const mend_hash of_nothing = {0, 1};
  if (json.ptr == NULL) return recorded(list, of_nothing, of_nothing);
  return recorded(list, mend_json_hash(json, list->hash_scratch, MEND_HASH_SCRATCH).hash,
                  mend_json_hash_loose(json, NULL, list->hash_scratch, MEND_HASH_SCRATCH).hash);
}

static mend_hash combine(mend_hash a, mend_hash b) {
  const mend_hash both[2] = {a, b};
  return mend_hash_bytes((mend_str){(const char *)both, sizeof both});
}

static step_hash behind(mend_hash first, step_hash second) {
  const mend_hash none = {0, 0};
  return (step_hash){combine(first, second.exact),
                     mend_hash_is_none(second.loose) ? none : combine(first, second.loose)};
}

bool step_hash_comparable(step_hash a, step_hash b) {
  return !mend_hash_is_none(a.loose) && !mend_hash_is_none(b.loose);
}

bool step_hash_equal(step_hash a, step_hash b) {
  return step_hash_comparable(a, b) ? mend_hash_equal(a.loose, b.loose) : mend_hash_equal(a.exact, b.exact);
}

/* An excerpt in plain text. */
static size_t keep_text(step_list *list, mend_str json) {
  const size_t begin = list->texts.len;
  plain_json(&list->texts, json, STEP_TEXT_MAX);
  mend__buffer_char(&list->texts, '\0');
  return begin;
}

/* ---- What was recorded of arguments and results -------------------------------------------------------------- */

/* A line that bears the loose hash has its arguments cut. */
static step_hash hash_args(const step_list *list, const mend_tool_before_event *before) {
  const bool is_hash_only = before->args.ptr == NULL && !mend_hash_is_none(before->args_hash);
  if (is_hash_only || !mend_hash_is_none(before->args_hash_loose)) {
    return recorded(list, before->args_hash, before->args_hash_loose);
  }
  return hash_json(list, before->args);
}

/* A preview is the whole result when it hashes like it, as JSON or as the text of a string. */
static step_hash hash_preview(step_list *list, const mend_tool_after_event *after) {
  const mend_hash none = {0, 0};
  const step_hash as_json = hash_json(list, after->result_preview);
  if (mend_hash_equal(as_json.exact, after->result_hash)) return as_json;
  const size_t begin = list->texts.len;
  mend__buffer_json_string(&list->texts, after->result_preview);
  if (list->texts.failed) return recorded(list, after->result_hash, none);
  const step_hash as_text = hash_json(list, (mend_str){list->texts.data + begin, list->texts.len - begin});
  list->texts.len = begin;
  return mend_hash_equal(as_text.exact, after->result_hash) ? as_text : recorded(list, after->result_hash, none);
}

static step_hash hash_result(step_list *list, const mend_tool_after_event *after) {
  if (after->result.ptr != NULL || mend_hash_is_none(after->result_hash)) return hash_json(list, after->result);
  return hash_preview(list, after);
}

/* ---- Calls ------------------------------------------------------------------------------------------------- */

static step *add_step(step_run *run) {
  if (run->count == run->capacity) {
    const size_t capacity = run->capacity == 0 ? 4 : 2 * run->capacity;
    step *steps = mend__realloc(NULL, run->steps, capacity * sizeof *steps);
    if (steps == NULL) return NULL;
    run->steps = steps;
    run->capacity = capacity;
  }
  step *added = &run->steps[run->count++];
  *added = (step){.end = MEND_EVENT_CUSTOM};
  return added;
}

static mend_status begin_step(step_list *list, step_run *run, const mend_tool_before_event *before) {
  if (list->kept == STEPS_MAX) {
    list->dropped++;
    return MEND_OK;
  }
  step *begun = add_step(run);
  if (begun == NULL) return MEND_ENOMEM;
  list->kept++;
  begun->call = before->event.call;
  begun->key = behind(mend_hash_bytes(before->tool_name), hash_args(list, before));
  begun->row = list->row != NULL ? *list->row : 0;
  begun->tool = keep_text(list, before->tool_name);
  begun->args = keep_text(list, before->args);
  return list->texts.failed ? MEND_ENOMEM : MEND_OK;
}

/* So far back an answer finds its call. */
enum { LOOKED_BACK = 4096 };

/* The open step of a call; of several the last one. */
static step *find_open(step_run *run, uint64_t call) {
  while (run->first_open < run->count && run->steps[run->first_open].end != MEND_EVENT_CUSTOM)
    run->first_open++;
  const size_t end = run->count - run->first_open > LOOKED_BACK ? run->count - LOOKED_BACK : run->first_open;
  for (size_t i = run->count; i > end; i--) {
    step *open = &run->steps[i - 1];
    if (open->end == MEND_EVENT_CUSTOM && open->call == call) return open;
  }
  return NULL;
}

/* What a call came to: JSON, or plain text for what is none. */
static mend_str outcome_of(const mend_any_event *any) {
  switch (any->event.kind) {
  case MEND_EVENT_TOOL_AFTER:
    return any->tool_after.result.ptr != NULL ? any->tool_after.result : any->tool_after.result_preview;
  case MEND_EVENT_TOOL_ERROR: return any->tool_error.error_message;
  case MEND_EVENT_TOOL_SKIPPED: return any->tool_skipped.reason;
  case MEND_EVENT_TOOL_ABORTED: return any->tool_aborted.reason;
  case MEND_EVENT_TOOL_CANCELLED: return any->tool_cancelled.reason;
  default: return (mend_str){NULL, 0};
  }
}

static mend_status end_step(step_list *list, step_run *run, const mend_any_event *any) {
  step *ended = find_open(run, any->event.call);
  if (ended == NULL) return MEND_OK;
  const mend_str outcome = outcome_of(any);
  const mend_hash kind = {0, (uint64_t)any->event.kind};
  const bool has_result = any->event.kind == MEND_EVENT_TOOL_AFTER;
  ended->answer = behind(kind, has_result ? hash_result(list, &any->tool_after) : hash_json(list, outcome));
  ended->end = any->event.kind;
  ended->result = keep_text(list, outcome);
  return list->texts.failed ? MEND_ENOMEM : MEND_OK;
}

mend_status step_list_event(void *ctx, const mend_event *event) {
  step_list *list = ctx;
  step_run *run;
  const mend_status status = find_run(list, event, &run);
  if (run == NULL) return status;
  switch (event->kind) {
  case MEND_EVENT_TOOL_BEFORE: return begin_step(list, run, (const mend_tool_before_event *)event);
  case MEND_EVENT_TOOL_AFTER:
  case MEND_EVENT_TOOL_ERROR:
  case MEND_EVENT_TOOL_SKIPPED:
  case MEND_EVENT_TOOL_ABORTED:
  case MEND_EVENT_TOOL_CANCELLED: return end_step(list, run, (const mend_any_event *)event);
  default: return MEND_OK;
  }
}
