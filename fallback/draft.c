#include "core/memory.h"
#include "core/texts.h"
#include "fallback/call_id.h"
#include "fallback/fallback_internal.h"

mend__draft *mend__draft_new(const mend_messages *messages, const mend_allocator *allocator) {
  mend__draft *draft = mend__alloc_zero(allocator, sizeof *draft);
  if (draft == NULL) return NULL;
  draft->messages = messages;
  draft->allocator = allocator;
  draft->usage = (mend_usage){MEND_NONE, MEND_NONE, MEND_NONE, MEND_NONE};
  mend__buffer *const buffers[] = {&draft->text,          &draft->thinking, &draft->raw,    &draft->log_probs,
                                   &draft->finish_reason, &draft->model,    &draft->target, &draft->attempts};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    mend__buffer_init(buffers[i], allocator);
  return draft;
}

static void free_part(mend__draft_part *part) {
  mend__buffer_free(&part->call_id);
  mend__buffer_free(&part->name);
  mend__buffer_free(&part->args);
  mend__buffer_free(&part->provider);
  mend__buffer_free(&part->signature);
}

void mend__draft_free(mend__draft *draft) {
  if (draft == NULL) return;
  for (size_t i = 0; i < draft->count; i++)
    free_part(&draft->drafts[i]);
  mend__free(draft->allocator, draft->drafts);
  mend__free(draft->allocator, draft->parts);
  mend__buffer *const buffers[] = {&draft->text,          &draft->thinking, &draft->raw,    &draft->log_probs,
                                   &draft->finish_reason, &draft->model,    &draft->target, &draft->attempts};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    mend__buffer_free(buffers[i]);
  mend__texts_free(&draft->texts);
  mend__free(draft->allocator, draft);
}

/* ---- Pieces ---- */

static mend__draft_part *new_part(mend__draft *draft, mend_part_kind kind) {
  if (draft->count == draft->capacity) {
    const size_t capacity = draft->capacity != 0 ? draft->capacity * 2 : 4;
    mend__draft_part *drafts = mend__realloc(draft->allocator, draft->drafts, capacity * sizeof *drafts);
    if (drafts == NULL) return NULL;
    draft->drafts = drafts;
    draft->capacity = capacity;
  }
  mend__draft_part *part = &draft->drafts[draft->count++];
  *part = (mend__draft_part){.kind = kind};
  mend__buffer *const buffers[] = {&part->call_id, &part->name, &part->args, &part->provider, &part->signature};
  for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
    mend__buffer_init(buffers[i], draft->allocator);
  return part;
}

/* What is said once: later ones say nothing new. */
static bool set_once(mend__buffer *buffer, mend_str text) {
  if (buffer->len == 0) mend__buffer_str(buffer, text);
  return !buffer->failed;
}

static bool sign(mend__draft_part *part, const mend_delta *delta) {
  part->is_signed = part->is_signed || delta->signature.len > 0;
  return set_once(&part->provider, delta->provider) && set_once(&part->signature, delta->signature);
}

/* The part that text goes on in: the last one, if it is of this kind and nobody has signed it. */
static mend__draft_part *open_part(mend__draft *draft, mend_part_kind kind) {
  mend__draft_part *last = draft->count > 0 ? &draft->drafts[draft->count - 1] : NULL;
  return last != NULL && last->kind == kind && !last->is_signed ? last : NULL;
}

static mend_status add_text(mend__draft *draft, const mend_delta *delta) {
  mend__buffer *all = delta->kind == MEND_PART_TEXT ? &draft->text : &draft->thinking;
  mend__draft_part *part = open_part(draft, delta->kind);
  if (part == NULL) {
    part = new_part(draft, delta->kind);
    if (part == NULL) return MEND_ENOMEM;
    part->start = all->len;
  }
  mend__buffer_str(all, delta->text);
  if (all->failed) return MEND_ENOMEM;
  part->len += delta->text.len;
  return sign(part, delta) ? MEND_OK : MEND_ENOMEM;
}

static bool is_call(const mend__draft *draft, size_t place, uint32_t index) {
  return place < draft->count && draft->drafts[place].kind == MEND_PART_CALL && draft->drafts[place].index == index;
}

/* Mostly it is the last one, or they count from 0 one behind the other; only what does neither is searched for. */
static mend__draft_part *find_call(mend__draft *draft, uint32_t index) {
  const mend__draft_calls *calls = &draft->calls;
  if (!calls->any || index > calls->highest) return NULL;
  if (is_call(draft, calls->last, index)) return &draft->drafts[calls->last];
  if (is_call(draft, calls->first + index, index)) return &draft->drafts[calls->first + index];
  for (size_t i = draft->count; i-- > 0;) {
    if (is_call(draft, i, index)) return &draft->drafts[i];
  }
  return NULL;
}

static mend__draft_part *new_call(mend__draft *draft, uint32_t index) {
  mend__draft_part *call = new_part(draft, MEND_PART_CALL);
  if (call == NULL) return NULL;
  mend__draft_calls *calls = &draft->calls;
  if (!calls->any) calls->first = draft->count - 1;
  if (index > calls->highest) calls->highest = index;
  calls->any = true;
  call->index = index;
  return call;
}

static uint64_t next_id(mend__draft *draft) {
  if (draft->next_id == 0) draft->next_id = mend__call_id_next(draft->messages);
  return draft->next_id++;
}

static bool name_call(mend__draft *draft, mend__draft_part *call, const mend_delta *delta) {
  if (delta->call_id.len > 0) {
    mend__buffer_str(&call->call_id, delta->call_id);
  } else {
    mend__buffer_printf(&call->call_id, MEND__CALL_ID_MADE "%llu", (unsigned long long)next_id(draft));
  }
  return !call->call_id.failed;
}

static mend_status add_call(mend__draft *draft, mend_delta *delta) {
  mend__draft_part *call = find_call(draft, delta->index);
  if (call == NULL) {
    call = new_call(draft, delta->index);
    if (call == NULL) return MEND_ENOMEM;
    if (!name_call(draft, call, delta)) return MEND_ENOMEM;
    delta->call_id = (mend_str){call->call_id.data, call->call_id.len};
  }
  draft->calls.last = (size_t)(call - draft->drafts);
  mend__buffer_str(&call->args, delta->text);
  if (call->args.failed || !set_once(&call->name, delta->name)) return MEND_ENOMEM;
  return sign(call, delta) ? MEND_OK : MEND_ENOMEM;
}

mend_status mend__draft_add(mend__draft *draft, mend_delta *delta, bool *ret_is_content) {
  const bool is_call = delta->kind == MEND_PART_CALL;
  *ret_is_content = is_call || delta->text.len > 0 || delta->signature.len > 0;
  if (!*ret_is_content) return MEND_OK;
  return is_call ? add_call(draft, delta) : add_text(draft, delta);
}

/* ---- Notes ---- */

static bool replace(mend__buffer *buffer, mend_str text) {
  if (text.ptr == NULL) return true;
  mend__buffer_clear(buffer);
  mend__buffer_str(buffer, text);
  return !buffer->failed;
}

static void note_count(uint64_t *known, uint64_t told) {
  if (told != MEND_NONE) *known = told;
}

mend_status mend__draft_note(mend__draft *draft, const mend_reply *partial) {
  if (partial->finish != MEND_FINISH_UNKNOWN) draft->finish = partial->finish;
  note_count(&draft->usage.input, partial->usage.input);
  note_count(&draft->usage.output, partial->usage.output);
  note_count(&draft->usage.cached_input, partial->usage.cached_input);
  note_count(&draft->usage.reasoning, partial->usage.reasoning);
  mend__buffer_str(&draft->raw, partial->raw);
  mend__buffer_bytes(&draft->log_probs, (const char *)partial->log_probs,
                     partial->log_prob_count * sizeof *partial->log_probs);
  const bool replaced = replace(&draft->finish_reason, partial->finish_reason) &&
                        replace(&draft->model, partial->model) && replace(&draft->target, partial->target) &&
                        replace(&draft->attempts, partial->attempts);
  return replaced && !draft->raw.failed && !draft->log_probs.failed ? MEND_OK : MEND_ENOMEM;
}

void mend__draft_cover_raw(mend__draft *draft, size_t at, size_t len) {
  if (at <= draft->raw.len && len <= draft->raw.len - at) memset(draft->raw.data + at, '*', len);
}

/* ---- The end ---- */

/* What a buffer holds, with a NUL behind; absent when nothing was ever written. False: no memory. */
static bool text_of(mend__buffer *buffer, mend_str *ret_text) {
  if (buffer->data == NULL) return true;
  if (!mend__buffer_reserve(buffer, 1)) return false;
  buffer->data[buffer->len] = '\0';
  *ret_text = (mend_str){buffer->data, buffer->len};
  return true;
}

static bool finish_call(mend__draft_part *call, mend_part *part) {
  part->args = MEND_STR("{}");
  return text_of(&call->call_id, &part->call_id) && text_of(&call->name, &part->name) &&
         text_of(&call->args, &part->args);
}

static bool finish_part(const mend__draft *draft, mend__draft_part *from, mend_part *part) {
  *part = (mend_part)MEND_PART_INIT;
  part->kind = from->kind;
  if (!text_of(&from->provider, &part->provider) || !text_of(&from->signature, &part->signature)) return false;
  if (from->kind == MEND_PART_CALL) return finish_call(from, part);
  const mend__buffer *all = from->kind == MEND_PART_TEXT ? &draft->text : &draft->thinking;
  part->text = from->len > 0 ? (mend_str){all->data + from->start, from->len} : MEND_STR("");
  return true;
}

static mend_status finish_parts(mend__draft *draft, mend_reply *reply) {
  if (draft->count == 0) return MEND_OK;
  draft->parts = mend__alloc(draft->allocator, draft->count * sizeof *draft->parts);
  if (draft->parts == NULL) return MEND_ENOMEM;
  for (size_t i = 0; i < draft->count; i++) {
    if (!finish_part(draft, &draft->drafts[i], &draft->parts[i])) return MEND_ENOMEM;
  }
  reply->parts = draft->parts;
  reply->part_count = draft->count;
  return MEND_OK;
}

mend_status mend__draft_finish(mend__draft *draft, mend_reply *ret_reply) {
  mend_reply reply = MEND_REPLY_INIT;
  reply.text = MEND_STR("");
  const bool texts = text_of(&draft->text, &reply.text) && text_of(&draft->thinking, &reply.thinking) &&
                     text_of(&draft->raw, &reply.raw) && text_of(&draft->finish_reason, &reply.finish_reason) &&
                     text_of(&draft->model, &reply.model) && text_of(&draft->target, &reply.target) &&
                     text_of(&draft->attempts, &reply.attempts);
  if (!texts || finish_parts(draft, &reply) != MEND_OK) return MEND_ENOMEM;
  reply.finish = draft->finish;
  reply.usage = draft->usage;
  reply.log_probs = (const double *)(const void *)draft->log_probs.data;
  reply.log_prob_count = draft->log_probs.len / sizeof(double);
  reply.memory = draft;
  *ret_reply = reply;
  return MEND_OK;
}
