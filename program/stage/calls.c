#include "program/stage/calls.h"

#include "core/memory.h"

#include <inttypes.h>
#include <stdio.h>

void open_calls_init(open_calls *calls) {
  *calls = (open_calls){0};
  mend__strmap_init(&calls->by_id, NULL);
}

void open_calls_free(open_calls *calls, open_call **spare) {
  while (calls->first != NULL)
    open_calls_remove(calls, spare, calls->first);
  mend__strmap_free(&calls->by_id);
}

size_t open_calls_count(const open_calls *calls) { return calls->by_id.count; }

open_call *open_calls_find(const open_calls *calls, mend_str id) { return mend__strmap_get(&calls->by_id, id); }

static open_call *take_spare(open_call **spare) {
  open_call *call = *spare;
  if (call != NULL) {
    *spare = call->next;
    return call;
  }
  call = mend__alloc_zero(NULL, sizeof *call);
  if (call != NULL) mend__buffer_init(&call->text, NULL);
  return call;
}

static void give_spare(open_call **spare, open_call *call) {
  call->next = *spare;
  *spare = call;
}

/* How much of a JSON string that was cut can be unescaped: all but an escape at its end that is not whole. */
static size_t whole_escapes(mend_str text) {
  size_t at = 0;
  for (const char *escape; (escape = memchr(text.ptr + at, '\\', text.len - at)) != NULL;) {
    const size_t place = (size_t)(escape - text.ptr);
    const size_t len = place + 1 < text.len && escape[1] == 'u' ? 6 : 2;
    if (len > text.len - place) return place;
    at = place + len;
  }
  return text.len;
}

bool append_excerpt(mend__buffer *buffer, mend_str value, size_t max) {
  const bool cut = value.len > max;
  if (cut) value.len = mend__utf8_cut(value, max);
  if (cut && value.len > 0 && value.ptr[0] == '"') value.len = whole_escapes(value);
  mend__buffer_str(buffer, value);
  if (cut) mend__buffer_str(buffer, MEND_STR("..."));
  return cut;
}

static bool write_call(open_call *call, const mend_tool_before_event *event, mend_str id, size_t args_max) {
  mend__buffer_clear(&call->text);
  mend__buffer_reserve(&call->text, id.len + event->tool_name.len + 1);
  mend__buffer_str(&call->text, id);
  mend__buffer_str(&call->text, event->tool_name);
  append_excerpt(&call->text, event->args, args_max);
  if (call->text.failed) return false;
  call->id = (mend_str){call->text.data, id.len};
  call->tool = (mend_str){call->id.ptr + id.len, event->tool_name.len};
  call->args = (mend_str){call->tool.ptr + call->tool.len, call->text.len - id.len - call->tool.len};
  call->args_hash = event->args_hash;
  return true;
}

open_call *open_call_new(open_call **spare, const mend_tool_before_event *event, mend_str id, size_t args_max) {
  open_call *call = take_spare(spare);
  if (call == NULL) return NULL;
  call->incident = 0;
  if (write_call(call, event, id, args_max)) return call;
  give_spare(spare, call);
  return NULL;
}

void open_call_drop(open_call **spare, open_call *call) {
  if (call != NULL) give_spare(spare, call);
}

static void link_last(open_calls *calls, open_call *call) {
  call->previous = calls->last;
  call->next = NULL;
  if (calls->last != NULL) {
    calls->last->next = call;
  } else {
    calls->first = call;
  }
  calls->last = call;
}

static void unlink_call(open_calls *calls, open_call *call) {
  if (call->previous != NULL) {
    call->previous->next = call->next;
  } else {
    calls->first = call->next;
  }
  if (call->next != NULL) {
    call->next->previous = call->previous;
  } else {
    calls->last = call->previous;
  }
}

mend_status open_calls_add(open_calls *calls, open_call **spare, const mend_tool_before_event *event, mend_str id,
                           size_t args_max, open_call **ret_call) {
  open_call *again = open_calls_find(calls, id);
  const uint64_t incident = again != NULL ? again->incident : 0;
  if (again != NULL) open_calls_remove(calls, spare, again);
  if (open_calls_count(calls) == OPEN_CALLS_MAX) return MEND_ELIMIT;
  open_call *call = open_call_new(spare, event, id, args_max);
  if (call == NULL) return MEND_ENOMEM;
  if (mend__strmap_put(&calls->by_id, call->id, call) != MEND_OK) {
    give_spare(spare, call);
    return MEND_ENOMEM;
  }
  link_last(calls, call);
  call->incident = incident;
  *ret_call = call;
  return MEND_OK;
}

void open_calls_remove(open_calls *calls, open_call **spare, open_call *call) {
  mend__strmap_remove(&calls->by_id, call->id);
  unlink_call(calls, call);
  give_spare(spare, call);
}

void spare_calls_free(open_call **spare) {
  while (*spare != NULL) {
    open_call *call = *spare;
    *spare = call->next;
    mend__buffer_free(&call->text);
    mend__free(NULL, call);
  }
}

mend_str call_id_of(const mend_event *event, char buffer[CALL_ID_SIZE]) {
  if (event->call_name.len > 0) return event->call_name;
  if (event->call == 0) return (mend_str){NULL, 0};
  snprintf(buffer, CALL_ID_SIZE, "%" PRIu64, event->call);
  return mend_str_from(buffer);
}

open_call *open_calls_of(const open_calls *calls, const mend_event *event) {
  char buffer[CALL_ID_SIZE];
  const mend_str id = call_id_of(event, buffer);
  return id.len > 0 ? open_calls_find(calls, id) : NULL;
}
