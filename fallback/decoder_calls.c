/* Tool calls as they come in pieces, and what servers get wrong about them. Told are calls that count from 0 without
 * gaps, each with id and name in its first piece and an object of arguments. */
#include "core/memory.h"
#include "fallback/call_id.h"
#include "fallback/decoder_internal.h"
#include "fallback/json_fields.h"

static bool has_id(const mend__decoder_call *call, mend_str id) {
  return id.len > 0 && mend_str_equal(mend__buffer_text(&call->id), id);
}

static mend__decoder_call *find_id(mend__decoder *decoder, mend_str id) {
  for (size_t i = decoder->call_count; i > 0; i--) {
    if (has_id(&decoder->calls[i - 1], id)) return &decoder->calls[i - 1];
  }
  return NULL;
}

/* That of this id if there is one, else the last: some servers give all calls one place. */
static mend__decoder_call *find_place(mend__decoder *decoder, int64_t place, mend_str id) {
  mend__decoder_call *last = NULL;
  for (size_t i = decoder->call_count; i > 0; i--) {
    mend__decoder_call *call = &decoder->calls[i - 1];
    if (call->place != place) continue;
    if (has_id(call, id)) return call;
    if (last == NULL) last = call;
  }
  return last == NULL || id.len == 0 || last->id.len == 0 ? last : NULL;
}

/* Calls without places are told apart by their ids, or begin each with its name; one that has its name already does not
 * begin again, it is another one with the same id. */
static mend__decoder_call *find_call(mend__decoder *decoder, int64_t place, mend_str id, bool named) {
  if (place >= 0) return find_place(decoder, place, id);
  mend__decoder_call *call = find_id(decoder, id);
  if (call != NULL) return named && call->name.len > 0 ? NULL : call;
  if (id.len > 0 || named || decoder->call_count == 0) return NULL;
  return &decoder->calls[decoder->call_count - 1];
}

static bool reserve_call(mend__decoder *decoder) {
  if (decoder->calls != NULL && decoder->call_count < decoder->call_capacity) return true;
  const size_t capacity = decoder->call_capacity > 0 ? 2 * decoder->call_capacity : 4;
  void *calls = mend__realloc(decoder->allocator, decoder->calls, capacity * sizeof *decoder->calls);
  decoder->no_memory |= calls == NULL;
  if (calls == NULL) return false;
  decoder->calls = calls;
  decoder->call_capacity = capacity;
  return true;
}

static mend__decoder_call *open_call(mend__decoder *decoder, int64_t place) {
  decoder->too_many_calls |= decoder->call_count == MEND__DECODER_CALLS_MAX;
  if (decoder->too_many_calls || !reserve_call(decoder)) return NULL;
  mend__decoder_call *call = &decoder->calls[decoder->call_count++];
  *call = (mend__decoder_call){.place = place};
  mend__buffer_init(&call->id, decoder->allocator);
  mend__buffer_init(&call->name, decoder->allocator);
  mend__buffer_init(&call->held, decoder->allocator);
  mend__series_init(&call->args, decoder, true);
  return call;
}

static void tell_piece(mend__decoder *decoder, const mend__decoder_call *call, mend_str text) {
  mend_delta delta = {.size = sizeof delta, .kind = MEND_PART_CALL, .text = text};
  delta.index = call->index;
  mend__decoder_tell(decoder, &delta);
}

static void tell_first(mend__decoder *decoder, mend__decoder_call *call) {
  mend_delta delta = {.size = sizeof delta, .kind = MEND_PART_CALL, .text = mend__buffer_text(&call->held)};
  delta.index = call->index = decoder->told_count++;
  if (call->id.len == 0)
    mend__buffer_printf(&call->id, MEND__CALL_ID_MADE "%llu", (unsigned long long)decoder->next_id++);
  decoder->no_memory |= call->id.failed || call->name.failed;
  call->told = true;
  delta.call_id = mend__buffer_text(&call->id);
  delta.name = call->name.len > 0 ? mend__buffer_text(&call->name) : MEND_STR("unknown");
  mend__decoder_tell(decoder, &delta);
  mend__buffer_free(&call->held);
}

mend__decoder_call *mend__decoder_call_at(mend__decoder *decoder, int64_t place, mend_str id, mend_str name) {
  const bool named = mend__json_inside(name).len > 0;
  mend__decoder_flush(decoder);
  mend_str said = mend__decoder_word(decoder, id);
  mend__decoder_call *call = find_call(decoder, place, said, named);
  if (call == NULL) {
    if (find_id(decoder, said) != NULL) said = (mend_str)MEND_ABSENT; /* it is to have one of its own */
    call = open_call(decoder, place);
  }
  if (call == NULL || call->told) return call;
  if (call->id.len == 0) mend__buffer_str(&call->id, said);
  if (call->name.len == 0) mend__json_append(&call->name, name);
  mend__secrets_cover_whole(&call->name, decoder->secrets);
  if (call->name.len > 0) tell_first(decoder, call);
  return call;
}

static void add_args(mend__decoder *decoder, mend__decoder_call *call, mend_str text) {
  if (text.len == 0) return;
  if (call->told) {
    tell_piece(decoder, call, text);
  } else {
    mend__buffer_str(&call->held, text);
    decoder->no_memory |= call->held.failed;
  }
}

void mend__decoder_call_piece(mend__decoder *decoder, mend__decoder_call *call, mend_str value) {
  if (call == NULL || call->complete) return;
  const mend_str text = mend__decoder_unescape(decoder, value);
  call->any_args |= text.len > 0;
  add_args(decoder, call, mend__series_take(decoder, &call->args, value, text));
}

void mend__decoder_call_args(mend__decoder *decoder, mend__decoder_call *call, mend_str args) {
  if (call == NULL || call->any_args) return;
  call->any_args = args.len > 0;
  add_args(decoder, call, mend__decoder_covered(decoder, args));
  call->complete = true;
}

void mend__decoder_call_sign(mend__decoder *decoder, mend__decoder_call *call, mend_str signature) {
  if (call == NULL || signature.len == 0) return;
  if (!call->told) tell_first(decoder, call);
  mend_delta delta = {.size = sizeof delta, .kind = MEND_PART_CALL};
  delta.signature = mend__decoder_covered(decoder, signature);
  delta.index = call->index;
  delta.provider = mend_str_from(decoder->dialect->provider);
  mend__decoder_tell(decoder, &delta);
}

void mend__decoder_calls_end(mend__decoder *decoder) {
  for (size_t i = 0; i < decoder->call_count; i++) {
    mend__decoder_call *call = &decoder->calls[i];
    if (!call->told) tell_first(decoder, call);
    add_args(decoder, call, call->any_args ? mend__series_flush(decoder, &call->args) : MEND_STR("{}"));
  }
}

void mend__decoder_calls_free(mend__decoder *decoder) {
  for (size_t i = 0; i < decoder->call_count; i++) {
    mend__buffer_free(&decoder->calls[i].id);
    mend__buffer_free(&decoder->calls[i].name);
    mend__buffer_free(&decoder->calls[i].held);
    mend__series_free(&decoder->calls[i].args);
  }
  mend__free(decoder->allocator, decoder->calls);
}
