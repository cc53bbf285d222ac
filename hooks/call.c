/* A call as its tool sees it: what it tells, and how long. */
#include "hooks/call_internal.h"

/* ---- What it tells ---- */

static const mend__call_texts *texts_of(const mend_call *call) {
  return atomic_load_explicit(&((mend_call *)call)->texts, memory_order_acquire);
}

mend_run *mend_call_run(const mend_call *call) { return call->boundary->run; }
uint64_t mend_call_number(const mend_call *call) { return call->number; }
mend_str mend_call_tool(const mend_call *call) { return texts_of(call)->tool; }
mend_str mend_call_args(const mend_call *call) { return texts_of(call)->args; }
mend_str mend_call_note(const mend_call *call) { return texts_of(call)->note; }
uint32_t mend_call_attempt(const mend_call *call) { return call->attempt; }
mend_token *mend_call_token(const mend_call *call) { return call->token; }
void *mend_call_state(const mend_call *call) { return call->boundary->state; }

mend_status mend_call_progress(mend_call *call, uint64_t bytes, mend_str note) {
  if (call == NULL) return MEND_EINVAL;
  if (mend__call_has_landed(call)) return MEND_ECLOSED;
  const mend__call_texts *texts = texts_of(call);
  mend_tool_progress_event event = MEND_TOOL_PROGRESS_EVENT_INIT;
  event.event.call = call->number;
  event.event.call_name = texts->name;
  event.tool_name = texts->asked;
  event.bytes = bytes;
  event.note = note;
  return mend_run_publish(call->boundary->run, &event.event);
}

/* ---- Keeping its texts ---- */

static const mend__call_texts no_texts;

static mend__call_texts *copy_texts(const mend__call_texts *texts, const mend_allocator *allocator) {
  const mend_str all[] = {texts->name, texts->asked, texts->tool, texts->args, texts->note};
  size_t size = sizeof *texts;
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    if (all[i].len >= SIZE_MAX - size) return NULL;
    size += all[i].len + 1;
  }
  mend__call_texts *copy = mend__alloc(allocator, size);
  if (copy == NULL) return NULL;
  char *place = (char *)(copy + 1);
  *copy = (mend__call_texts){mend__keep_text(&place, texts->name), mend__keep_text(&place, texts->asked),
                             mend__keep_text(&place, texts->tool), mend__keep_text(&place, texts->args),
                             mend__keep_text(&place, texts->note)};
  return copy;
}

mend_status mend__call_keep_texts(mend_call *call) {
  const mend__call_texts *borrowed = &call->borrowed;
  if (texts_of(call) != borrowed) return MEND_OK;
  mend__call_texts *copy = copy_texts(borrowed, call->boundary->allocator);
  const mend__call_texts *kept = copy != NULL ? copy : &no_texts;
  if (!atomic_compare_exchange_strong(&call->texts, &borrowed, kept)) mend__free(call->boundary->allocator, copy);
  return copy != NULL ? MEND_OK : MEND_ENOMEM;
}

static void free_texts(mend_call *call) {
  const mend__call_texts *texts = texts_of(call);
  if (texts != &call->borrowed && texts != &no_texts) mend__free(call->boundary->allocator, (void *)texts);
}

/* ---- Life ---- */

/* What is set when its tool begins to run is left out. */
static void init(mend_call *call, mend_boundary *boundary, mend_token *token, uint64_t number, uint32_t attempt) {
  atomic_init(&call->references, 1);
  call->boundary = mend_boundary_retain(boundary);
  call->token = token;
  call->is_first = false;
  call->number = number;
  call->attempt = attempt;
  atomic_init(&call->texts, &call->borrowed);
  atomic_init(&call->answer, NULL);
  atomic_init(&call->lost, false);
  atomic_init(&call->aborted, false);
  atomic_init(&call->landed, false);
  call->ran = false;
  call->kind = MEND_TOOL_BLOCKING;
  call->is_running = false;
}

mend_status mend__call_new(mend_boundary *boundary, mend_call **ret_call) {
  mend_token *token;
  const mend_status status =
      mend__token_new_with(boundary->allocator, mend_bus_clock(mend_run_bus(boundary->run)), sizeof(mend_call), &token);
  if (status != MEND_OK) return status;
  mend_call *call = mend__token_more(token);
  init(call, boundary, token, 0, 1);
  call->is_first = true;
  *ret_call = call;
  return MEND_OK;
}

mend_status mend__call_new_again(const mend_call *previous, mend_call **ret_call) {
  mend_call *call = mend__alloc(previous->boundary->allocator, sizeof *call);
  if (call == NULL) return MEND_ENOMEM;
  init(call, previous->boundary, mend_token_retain(previous->token), previous->number, previous->attempt + 1);
  *ret_call = call;
  return MEND_OK;
}

void mend__call_drop(mend_call *call) {
  const bool is_alone = atomic_load_explicit(&call->references, memory_order_acquire) == 1;
  if (!is_alone && atomic_fetch_sub_explicit(&call->references, 1, memory_order_acq_rel) > 1) return;
  mend_boundary *boundary = call->boundary;
  mend_token *token = call->token;
  free_texts(call);
  mend__answer_free(mend__call_take_answer(call));
  if (!call->is_first) mend__free(boundary->allocator, call);
  mend_token_release(token);
  mend_boundary_release(boundary);
}

/* ---- Its tool's references ---- */

void mend__call_begin_run(mend_call *call, mend__tool_entry *entry) {
  call->entry = entry;
  atomic_store_explicit(&call->holders, 1, memory_order_relaxed);
}

/* There is no code of the tool any more that could do anything with the call. */
static void finish_tool(mend_call *call) {
  if (call->kind != MEND_TOOL_BLOCKING) mend__boundary_delist(call);
  mend__tool_entry_release(call->entry);
  if (call->kind == MEND_TOOL_ASYNC) mend__call_answer_absence(call);
}

void mend__call_end_run(mend_call *call) {
  if (atomic_load_explicit(&call->holders, memory_order_acquire) == 1) {
    finish_tool(call);
  } else {
    atomic_fetch_add_explicit(&call->references, 1, memory_order_relaxed); /* of those who hold it from here on */
    mend_call_release(call);
  }
}

mend_call *mend_call_retain(mend_call *call) {
  mend__call_keep_texts(call);
  atomic_fetch_add_explicit(&call->holders, 1, memory_order_relaxed);
  return call;
}

void mend_call_release(mend_call *call) {
  if (call == NULL || atomic_fetch_sub_explicit(&call->holders, 1, memory_order_acq_rel) > 1) return;
  finish_tool(call);
  mend__call_drop(call);
}
