/* A boundary's run as text. */
#include "hooks/passage_internal.h"

#include <inttypes.h>

static void dump_abort(const mend__abort_frame *frame, mend__buffer *text) {
  const mend_str source = mend__abort_source(frame->abort);
  mend__buffer_str(text, MEND_STR(": "));
  mend__buffer_quoted(text, mend__abort_reason(frame->abort));
  if (source.ptr == NULL) return;
  mend__buffer_str(text, MEND_STR(" by "));
  mend__buffer_quoted(text, source);
}

static void dump_frames(const mend__run_state *state, mend__buffer *text) {
  for (const mend__abort_frame *frame = state->innermost; frame != NULL; frame = frame->outer) {
    if (frame->outer != NULL) {
      mend__buffer_printf(text, "step %" PRIu32, frame->depth);
    } else {
      mend__buffer_str(text, MEND_STR("the run"));
    }
    mend__buffer_printf(text, ": %s", frame->marked ? "aborted" : "not aborted");
    if (frame->marked) dump_abort(frame, text);
    mend__buffer_char(text, '\n');
  }
}

static const char *kind_name(mend_tool_kind kind) {
  switch (kind) {
  case MEND_TOOL_POOLED: return "pooled";
  case MEND_TOOL_ASYNC: return "asynchronous";
  case MEND_TOOL_BLOCKING: break;
  }
  return "blocking";
}

static void dump_call(uint64_t number, mend_str name, mend_str tool, const mend_call *call, mend__buffer *text) {
  mend__buffer_printf(text, "  %" PRIu64, number);
  if (name.len > 0) {
    mend__buffer_char(text, ' ');
    mend__buffer_quoted(text, name);
  }
  mend__buffer_char(text, ' ');
  mend__buffer_quoted(text, tool);
  mend__buffer_printf(text, ", attempt %" PRIu32 ", %s", call->attempt, kind_name(call->kind));
  if (mend__call_is_cancelled(call)) mend__buffer_str(text, MEND_STR(", cancelled"));
}

static void dump_open(const mend__open_calls *open, uint64_t now_ns, mend__buffer *text) {
  mend__buffer_printf(text, "open calls: %zu\n", open->count);
  const mend__open_link *link = &open->ends;
  for (mend__passage *each; (each = mend__open_calls_next(open, link)) != NULL; link = &each->open) {
    const uint64_t started_ns = atomic_load_explicit(&each->started_ns, memory_order_relaxed);
    dump_call(each->number, each->name, each->asked.tool, each->call, text);
    if (started_ns != 0) mend__buffer_printf(text, ", for %" PRIu64 " ms", (now_ns - started_ns) / 1000000);
    mend__buffer_char(text, '\n');
  }
}

/* What they say is a copy of theirs. */
static void dump_running_on(const mend_boundary *boundary, mend__buffer *text) {
  bool any = false;
  for (const mend_call *each = boundary->running; each != NULL; each = each->next) {
    if (!mend__call_has_landed(each)) continue;
    if (!any) mend__buffer_str(text, MEND_STR("tools that run on after their calls:\n"));
    any = true;
    const mend__call_texts *texts = atomic_load_explicit(&((mend_call *)each)->texts, memory_order_acquire);
    dump_call(each->number, texts->name, texts->tool, each, text);
    mend__buffer_char(text, '\n');
  }
}

static void dump_pool(const mend_boundary *boundary, mend__buffer *text) {
  mend__pool *pool = mend__tools_pool_find(boundary->tools);
  if (pool == NULL) return;
  const mend__pool_counts counts = mend__pool_count(pool);
  mend__buffer_printf(text, "pool: %" PRIu32 " threads, %" PRIu32 " busy, %zu calls waiting\n", counts.threads,
                      counts.busy, counts.waiting);
}

mend_status mend_boundary_dump(mend_boundary *boundary, const mend_allocator *allocator, char **ret_text) {
  if (boundary == NULL) return MEND_EINVAL;
  mend__buffer text;
  mend__buffer_init(&text, allocator);
  mend__buffer_str(&text, MEND_STR("run "));
  mend__buffer_quoted(&text, mend_run_id(boundary->run));
  mend__buffer_char(&text, '\n');
  const uint64_t now_ns = mend_clock_now(mend_bus_clock(mend_run_bus(boundary->run))).mono_ns;
  mend__run_lock(boundary->run);
  dump_frames(boundary->run_state, &text);
  dump_open(&boundary->run_state->open, now_ns, &text);
  dump_running_on(boundary, &text);
  mend__run_unlock(boundary->run);
  mend__deciders_dump(boundary->run_state, &text);
  dump_pool(boundary, &text);
  return mend__buffer_take(&text, ret_text, NULL);
}
