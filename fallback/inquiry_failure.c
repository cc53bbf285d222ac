#include "core/memory.h"
#include "fallback/inquiry.h"
#include "fallback/json_fields.h"
#include "fallback/retry_after.h"

#include <stdio.h>

#define SENTENCE_MAX 512
#define CONTENT_TYPE_SHOWN 80

/* What the provider says of an error, in any of the places where they say it. */
static mend_str told_message(mend_str body) {
  const mend_str document = mend__json_first(body), error = mend__json_find(document, "error", NULL);
  const mend_str places[] = {mend__json_find(error, "message", NULL), error, mend__json_find(document, "message", NULL),
                             mend__json_find(document, "response", "error", "message", NULL)};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (mend__json_is_string(places[i])) return places[i];
  }
  return (mend_str){NULL, 0};
}

static void write_sentence(mend__inquiry *self, mend_str body, const char *happened) {
  mend__buffer *sentence = &self->sentence;
  mend__buffer_printf(sentence, "%s: ", self->provider->dialect->provider);
  if (self->status != 0 && !mend__inquiry_is_good(self)) {
    mend__buffer_printf(sentence, "HTTP status %u%s", (unsigned)self->status, happened != NULL ? ", " : "");
  }
  if (happened != NULL) mend__buffer_str(sentence, mend_str_from(happened));
  const mend_str message = told_message(body);
  if (message.len == 0) return;
  mend__buffer_str(sentence, MEND_STR(": "));
  mend__json_append(sentence, message);
  sentence->len = mend__utf8_cut(mend__buffer_text(sentence), SENTENCE_MAX);
}

static bool is_readable(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] < ' ' || text.ptr[i] > '~') return false;
  }
  return text.len > 0;
}

void mend__inquiry_fail(mend__inquiry *self, const char *transport, mend__buffer *body, const char *happened,
                        const mend__http_end *end) {
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  mend_failure failure = MEND_FAILURE_INIT;
  const mend__secrets *secrets = self->provider->secrets;
  if (body->len > MEND__ERROR_BODY_MAX) body->len = MEND__ERROR_BODY_MAX; /* of one that is too long */
  mend__secrets_cover(body, secrets);                                     /* a provider may tell the key it was sent */
  write_sentence(self, mend__buffer_text(body), happened);
  mend__secrets_cover(&self->sentence, secrets);
  mend__secrets_cover(&self->content_type, secrets);
  signal.transport = transport;
  signal.http_status = failure.http_status = self->status;
  signal.content_type = mend__buffer_text(&self->content_type);
  signal.body = failure.body = mend__buffer_text(body);
  signal.any_byte = self->status != 0 || (end != NULL && end->any_byte);
  signal.reused = end != NULL && end->reused;
  failure.message = mend__buffer_text(&self->sentence);
  failure.retry_after_s =
      self->retry_after_s == self->retry_after_s ? self->retry_after_s : mend__retry_after_of_body(signal.body);
  mend__inquiry_leave(self);
  mend__exchange_fail_by(self->exchange, &failure, &signal);
  mend__inquiry_free(self);
}

void mend__inquiry_fail_reading(mend__inquiry *self, const char *transport, const char *happened,
                                const mend__http_end *end) {
  char sentence[SENTENCE_MAX];
  const mend_str told = mend__buffer_text(&self->content_type);
  const mend_str type = is_readable(told) ? told : MEND_STR("no content type");
  snprintf(sentence, sizeof sentence, "%s (status %u, %.*s, %llu bytes; expected %s)", happened, (unsigned)self->status,
           (int)mend__utf8_cut(type, CONTENT_TYPE_SHOWN), type.ptr, (unsigned long long)self->received,
           self->form == MEND__FORM_STREAM ? "events up to one with the reason of the end" : "a JSON object");
  mend__inquiry_fail(self, transport, &self->decoder.fault, sentence, end);
}

void mend__inquiry_fail_of_memory(mend__inquiry *self) {
  mend_exchange *exchange = self->exchange;
  mend__inquiry_leave(self);
  mend__inquiry_free(self);
  mend__exchange_fail_of_memory(exchange);
}
