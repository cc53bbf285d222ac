/* The tools that a reply asks for, and what the model is told of them. */
#include "agent/agent_internal.h"
#include "core/buffer.h"
#include "core/json_kind.h"
#include "core/json_members.h"
#include "core/text.h"
#include "hooks/until.h"
#include "mend/json.h"

/* One of them. */
typedef struct tool_call {
  const mend_part *asked;
  const mend_batch_call *made; /* NULL: it is not made */
  mend__buffer content;        /* of its result */
  bool is_error;
} tool_call;

/* Those of one reply. Arrays of `count`. */
typedef struct tool_calls {
  const mend_allocator *allocator;
  tool_call *calls;
  size_t count;
  mend_batch_call *batch; /* those that are made, in the same order */
  mend_call_options *options;
  size_t batch_count;
  mend_part *results;
  const mend_call *within; /* the agent's; NULL: none */
} tool_calls;

/* ---- Life ---- */

static void calls_free(tool_calls *all) {
  for (size_t i = 0; i < all->batch_count; i++)
    mend_result_clear(&all->batch[i].result);
  for (size_t i = 0; all->calls != NULL && i < all->count; i++)
    mend__buffer_free(&all->calls[i].content);
  mend__free(all->allocator, all->calls);
  mend__free(all->allocator, all->batch);
  mend__free(all->allocator, all->options);
  mend__free(all->allocator, all->results);
}

static void find_calls(tool_calls *all, const mend_reply *reply) {
  tool_call *next = all->calls;
  for (size_t i = 0; i < reply->part_count; i++) {
    if (reply->parts[i].kind != MEND_PART_CALL) continue;
    *next = (tool_call){.asked = &reply->parts[i]};
    mend__buffer_init(&next->content, all->allocator);
    next++;
  }
}

static mend_status calls_init(tool_calls *all, const mend__work *work) {
  const mend_allocator *allocator = work->agent->allocator;
  const size_t count = mend__count_calls(&work->reply);
  *all = (tool_calls){.allocator = allocator, .count = count, .within = work->agent->within};
  if (count > SIZE_MAX / sizeof *all->batch) return MEND_ENOMEM;
  all->calls = mend__alloc_zero(allocator, count * sizeof *all->calls);
  all->batch = mend__alloc(allocator, count * sizeof *all->batch);
  all->options = mend__alloc(allocator, count * sizeof *all->options);
  all->results = mend__alloc(allocator, count * sizeof *all->results);
  if (all->calls == NULL || all->batch == NULL || all->options == NULL || all->results == NULL) return MEND_ENOMEM;
  find_calls(all, &work->reply);
  return MEND_OK;
}

/* ---- What is called ---- */

static void refuse(tool_call *call, mend_str why) {
  call->is_error = true;
  mend__buffer_str(&call->content, why);
}

static bool has_object(tool_call *call, mend_str args) {
  mend_error error = MEND_ERROR_INIT;
  const bool is_json = mend_json_check(args, MEND_JSON_DEPTH_MAX, &error) == MEND_OK;
  if (is_json && mend__json_kind(args) == MEND_JSON_OBJECT) return true;
  refuse(call, MEND_STR("the arguments have to be a JSON object"));
  if (!is_json) mend__buffer_printf(&call->content, ": %s", error.message);
  return false;
}

static void add_to_batch(tool_calls *all, tool_call *call) {
  const mend_str args = call->asked->args.len > 0 ? call->asked->args : MEND_STR("{}");
  if (!has_object(call, args)) return;
  mend_call_options *options = &all->options[all->batch_count];
  mend_batch_call *made = &all->batch[all->batch_count++];
  *options = (mend_call_options)MEND_CALL_OPTIONS_INIT;
  options->call_name = call->asked->call_id;
  options->within = all->within;
  *made = (mend_batch_call)MEND_BATCH_CALL_INIT;
  made->tool = call->asked->name;
  made->args = args;
  made->options = options;
  call->made = made;
}

/* ---- What is told ---- */

/* JSON; a string as its text. */
static void write_value(mend__buffer *content, mend_str value) {
  const mend_str bare = mend__trim(value);
  if (mend__json_is_string(bare)) {
    mend__json_append(content, bare);
  } else {
    mend__buffer_str(content, value);
  }
}

static void write_error(mend__buffer *content, mend_str type, mend_str message) {
  mend__buffer_str(content, type);
  if (message.len == 0) return;
  mend__buffer_str(content, MEND_STR(": "));
  mend__buffer_str(content, message);
}

static void describe(tool_call *call) {
  if (call->made == NULL) return;
  const mend_result *result = &call->made->result;
  switch (result->outcome) {
  case MEND_OUTCOME_OK:
  case MEND_OUTCOME_SKIPPED:
  case MEND_OUTCOME_ESCALATED:
  case MEND_OUTCOME_REDIRECTED: write_value(&call->content, result->value); return;
  case MEND_OUTCOME_FAILED: write_error(&call->content, result->error_type, result->error_message); break;
  case MEND_OUTCOME_ABORTED:
  case MEND_OUTCOME_CANCELLED:
    write_error(&call->content, mend_str_from(mend_outcome_name(result->outcome)), result->reason);
    break;
  }
  call->is_error = true;
}

/* One message: they were asked for at once. */
static mend_status add_results(const mend__work *work, tool_calls *all) {
  for (size_t i = 0; i < all->count; i++) {
    const tool_call *call = &all->calls[i];
    if (call->content.failed) return MEND_ENOMEM;
    mend_part *part = &all->results[i];
    *part = (mend_part)MEND_PART_INIT;
    part->kind = MEND_PART_RESULT;
    part->call_id = call->asked->call_id;
    part->name = call->asked->name;
    part->text = call->content.len > 0 ? mend__buffer_text(&call->content) : MEND_STR("");
    part->is_error = call->is_error;
  }
  return mend_messages_add(work->messages, MEND_ROLE_TOOL, all->results, all->count, NULL);
}

/* ---- What it means for the work ---- */

static const mend_batch_call *find_status(const tool_calls *all, mend_status status) {
  for (size_t i = 0; i < all->batch_count; i++) {
    if (all->batch[i].status == status) return &all->batch[i];
  }
  return NULL;
}

static const mend_batch_call *find_question(const tool_calls *all) {
  for (size_t i = 0; i < all->batch_count; i++) {
    if (all->batch[i].result.outcome == MEND_OUTCOME_ESCALATED) return &all->batch[i];
  }
  return NULL;
}

static mend_status conclude(mend__work *work, const tool_calls *all, mend_error *error) {
  if (find_status(all, MEND_ABORTED) != NULL) return MEND_ABORTED;
  const mend_batch_call *closed = find_status(all, MEND_ECLOSED);
  if (closed != NULL) {
    return mend_error_set(error, MEND_ECLOSED, "%.*s", MEND_STR_ARG(closed->result.error_message));
  }
  if (find_status(all, MEND_ENOMEM) != NULL) return MEND_ENOMEM;
  const mend_batch_call *asking = find_question(all);
  if (asking == NULL) return MEND_OK;
  const mend_status status = mend__report_set(work, &work->report->question, asking->result.question);
  return status == MEND_OK ? mend__report_end(work, MEND_AGENT_ESCALATED, (mend_str)MEND_ABSENT) : status;
}

mend_status mend__work_call(mend__work *work, mend_error *error) {
  tool_calls all;
  mend_status status = calls_init(&all, work);
  if (status == MEND_OK) {
    for (size_t i = 0; i < all.count; i++)
      add_to_batch(&all, &all.calls[i]);
    mend_token *until = all.within != NULL ? mend_call_token(all.within) : NULL;
    mend__boundary_call_all_until(work->agent->boundary, all.batch, all.batch_count, until); /* each has its status */
    for (size_t i = 0; i < all.count; i++)
      describe(&all.calls[i]);
    status = add_results(work, &all);
  }
  if (status == MEND_OK) status = conclude(work, &all, error);
  calls_free(&all);
  return status;
}

mend_status mend__work_refuse_calls(mend__work *work, mend_str why) {
  tool_calls all;
  mend_status status = calls_init(&all, work);
  if (status == MEND_OK) {
    for (size_t i = 0; i < all.count; i++)
      refuse(&all.calls[i], why);
    status = add_results(work, &all);
  }
  calls_free(&all);
  return status;
}
