/* What a decoder tells, as lines of text. */
#ifndef MEND_TEST_TELLER_H
#define MEND_TEST_TELLER_H

#include "fallback/dialect.h"
#include "http/sse.h"

/* Texts are JSON strings, so that what is in them shows. */
typedef struct teller {
  mend__buffer lines, raw;
} teller;

static inline void teller_init(teller *self) {
  mend__buffer_init(&self->lines, NULL);
  mend__buffer_init(&self->raw, NULL);
}

static inline void teller_free(teller *self) {
  mend__buffer_free(&self->lines);
  mend__buffer_free(&self->raw);
}

static void tell_text(mend__buffer *lines, const char *before, mend_str text) {
  if (text.ptr == NULL) return;
  mend__buffer_printf(lines, "%s", before);
  mend__buffer_json_string(lines, text);
}

static void teller_delta(void *ctx, const mend_delta *delta) {
  mend__buffer *lines = &((teller *)ctx)->lines;
  static const char *const kinds[] = {
      [MEND_PART_TEXT] = "text", [MEND_PART_THINKING] = "thinking", [MEND_PART_CALL] = "call"};
  mend__buffer_printf(lines, "%s", kinds[delta->kind]);
  if (delta->kind == MEND_PART_CALL) mend__buffer_printf(lines, " %u", (unsigned)delta->index);
  tell_text(lines, " id ", delta->call_id);
  tell_text(lines, " name ", delta->name);
  tell_text(lines, " ", delta->text);
  tell_text(lines, " signed ", delta->signature);
  mend__buffer_char(lines, '\n');
}

static void tell_count(mend__buffer *lines, const char *name, uint64_t count) {
  if (count != MEND_NONE) mend__buffer_printf(lines, " %s %llu", name, (unsigned long long)count);
}

static bool any_usage(const mend_usage *usage) {
  return usage->input != MEND_NONE || usage->output != MEND_NONE || usage->cached_input != MEND_NONE ||
         usage->reasoning != MEND_NONE;
}

static void teller_note(void *ctx, const mend_reply *partial) {
  teller *self = ctx;
  mend__buffer *lines = &self->lines;
  mend__buffer_str(&self->raw, partial->raw);
  if (any_usage(&partial->usage)) {
    mend__buffer_printf(lines, "usage");
    tell_count(lines, "input", partial->usage.input);
    tell_count(lines, "output", partial->usage.output);
    tell_count(lines, "cached", partial->usage.cached_input);
    tell_count(lines, "reasoning", partial->usage.reasoning);
    mend__buffer_char(lines, '\n');
  }
  if (partial->finish_reason.ptr != NULL || partial->finish != MEND_FINISH_UNKNOWN) {
    mend__buffer_printf(lines, "finish %s", mend_finish_name(partial->finish));
    tell_text(lines, " ", partial->finish_reason);
    mend__buffer_char(lines, '\n');
  }
  if (partial->model.ptr != NULL) mend__buffer_printf(lines, "model %.*s\n", MEND_STR_ARG(partial->model));
  if (partial->log_prob_count == 0) return;
  mend__buffer_printf(lines, "log_probs");
  for (size_t i = 0; i < partial->log_prob_count; i++) {
    mend__buffer_char(lines, ' ');
    mend__buffer_f64(lines, partial->log_probs[i]);
  }
  mend__buffer_char(lines, '\n');
}

static void teller_cover(void *ctx, size_t at, size_t len) {
  mend__buffer *raw = &((teller *)ctx)->raw;
  cr_assert(!raw->failed && at <= raw->len && len <= raw->len - at);
  memset(raw->data + at, '*', len);
}

static inline mend__decoder_listener teller_listener(teller *self) {
  return (mend__decoder_listener){teller_delta, teller_note, teller_cover, self};
}

/* ---- Replies ---- */

typedef struct playing {
  mend__decoder *decoder;
  mend__reading reading;
} playing;

static bool play_event(void *ctx, mend_str name, mend_str data) {
  playing *self = ctx;
  self->reading = mend__decoder_event(self->decoder, name, data);
  return self->reading == MEND__READING_MORE;
}

/* A stream, or, when it begins with a brace or bracket, a whole reply; to its end. */
static inline mend__reading play(mend__decoder *decoder, mend_str reply) {
  playing self = {decoder, MEND__READING_MORE};
  mend__sse sse;
  if (reply.len > 0 && strchr("{[", reply.ptr[0]) != NULL) {
    self.reading = mend__decoder_whole(decoder, reply);
  } else {
    mend__sse_init(&sse, NULL, 1 << 20);
    mend__sse_feed(&sse, reply, play_event, &self);
    mend__sse_free(&sse);
  }
  if (self.reading != MEND__READING_MORE && self.reading != MEND__READING_COMPLETE) return self.reading;
  return mend__decoder_end(decoder);
}

#endif
