/* One request to a provider: what comes back. */
#include "core/memory.h"
#include "core/text.h"
#include "fallback/inquiry.h"
#include "fallback/json_fields.h"
#include "fallback/retry_after.h"

#include <stdio.h>

/* An error's status has come: for so long its body may take. */
#define ERROR_BODY_NS (5 * MEND_SECOND_NS)
/* The provider has said why the reply ends, and nothing is left but counts of tokens and "[DONE]", which some servers
 * forget: for so long there may be no event. */
#define LAST_EVENT_NS (2 * MEND_SECOND_NS)
/* It has said that the reply has ended: for so long the connection's own end may take, which usually is here already.
 * The connection can be used again only then. */
#define LINGER_NS (MEND_SECOND_NS / 10)
#define REASON_SHOWN 64

/* ---- How it ended ---- */

static void succeed(mend__inquiry *self) {
  mend_exchange *exchange = self->exchange;
  mend__inquiry_leave(self);
  mend__inquiry_free(self);
  mend_exchange_finish(exchange);
}

/* Nothing was said, and nothing was the reason for it. */
static bool is_empty(const mend__decoder *decoder) {
  return !decoder->any_content && decoder->finish != MEND_FINISH_LENGTH && decoder->finish != MEND_FINISH_FILTER;
}

/* A provider may have a word for why ("MALFORMED_FUNCTION_CALL"). */
static void fail_empty(mend__inquiry *self, const mend__http_end *end) {
  char happened[128];
  mend_str reason = mend__buffer_text(&self->exchange->draft->finish_reason);
  if (self->decoder.finish == MEND_FINISH_STOP || reason.len == 0) reason = MEND_STR("");
  snprintf(happened, sizeof happened, "the reply is empty%s%.*s", reason.len > 0 ? " and ends with " : "",
           (int)mend__utf8_cut(reason, REASON_SHOWN), reason.ptr);
  mend__inquiry_fail(self, "empty_reply", &self->body, happened, end);
}

#define NUMBER(macro) NUMBER_OF(macro)
#define NUMBER_OF(number) #number

static const char *what_is_malformed(const mend__decoder *decoder) {
  if (decoder->too_many_calls) return "the reply has more than " NUMBER(MEND__DECODER_CALLS_MAX) " tool calls";
  if (decoder->too_many_parts) return "the reply has more than " NUMBER(MEND__DECODER_PARTS_MAX) " parts";
  return "the reply is not well-formed";
}

/* Answers with what was read of a reply with a good status. */
static void answer(mend__inquiry *self, const mend__http_end *end) {
  mend__decoder *decoder = &self->decoder;
  if (self->reading == MEND__READING_MORE || self->reading == MEND__READING_COMPLETE) {
    self->reading = mend__decoder_end(decoder);
  }
  switch (self->reading) {
  case MEND__READING_COMPLETE:
    if (is_empty(decoder)) {
      fail_empty(self, end);
    } else {
      succeed(self);
    }
    break;
  case MEND__READING_MORE:
    mend__inquiry_fail_reading(self, "cut", "the reply ended without saying that it does", end);
    break;
  case MEND__READING_ERROR: mend__inquiry_fail(self, NULL, &decoder->fault, "an error with a good status", end); break;
  case MEND__READING_MALFORMED: mend__inquiry_fail_reading(self, "malformed", what_is_malformed(decoder), end); break;
  case MEND__READING_NO_MEMORY: mend__inquiry_fail_of_memory(self); break;
  }
}

void mend__inquiry_stop_waiting(void *ctx) {
  mend__inquiry *self = ctx;
  if (mend__inquiry_is_good(self)) {
    answer(self, NULL);
  } else {
    mend__inquiry_fail(self, NULL, &self->body, "and its body does not come", NULL);
  }
}

/* ---- Streams ---- */

static bool read_event(void *ctx, mend_str name, mend_str data) {
  mend__inquiry *self = ctx;
  self->reading = mend__decoder_event(&self->decoder, name, data);
  if (self->decoder.has_finish && self->provider->dialect->has_last_event) {
    mend__timer_set(self->patience, LAST_EVENT_NS);
  }
  return self->reading == MEND__READING_MORE;
}

static void read_stream(mend__inquiry *self, mend_str bytes) {
  switch (mend__sse_feed(&self->sse, bytes, read_event, self)) {
  case MEND_OK: return;
  case MEND_ELIMIT:
    mend__inquiry_fail(self, "too_long", &self->body, "an event is longer than reply_limit", NULL);
    return;
  case MEND_ECANCELLED: break;
  default: mend__inquiry_fail_of_memory(self); return;
  }
  if (self->reading == MEND__READING_COMPLETE) {
    mend__timer_set(self->patience, LINGER_NS);
  } else {
    answer(self, NULL);
  }
}

/* ---- Documents and errors ---- */

static void gather(mend__inquiry *self, mend_str bytes) {
  mend__buffer_str(&self->body, bytes);
  if (self->body.failed) mend__inquiry_fail_of_memory(self);
}

/* What goes on for ever is not waited for. */
static void gather_error(mend__inquiry *self, mend_str bytes) {
  const size_t room = MEND__ERROR_BODY_MAX - self->body.len;
  mend__buffer_bytes(&self->body, bytes.ptr, bytes.len < room ? bytes.len : room);
  if (self->body.failed) {
    mend__inquiry_fail_of_memory(self);
  } else if (self->body.len == MEND__ERROR_BODY_MAX) {
    mend__inquiry_fail(self, NULL, &self->body, NULL, NULL);
  }
}

/* ---- Which of them it is ---- */

/* Some servers that stream as asked do not say that they do. */
static mend__reply_form form_by_head(const mend__inquiry *self, mend_str content_type) {
  if (mend__begins_in_any_case(content_type, MEND_STR("text/event-stream"))) return MEND__FORM_STREAM;
  if (!mend_exchange_request(self->exchange)->stream) return MEND__FORM_DOCUMENT;
  return content_type.len == 0 || mend__begins_in_any_case(content_type, MEND_STR("text/plain")) ? MEND__FORM_OPEN
                                                                                                 : MEND__FORM_DOCUMENT;
}

/* An event begins with the name of a field, a colon, or U+FEFF; empty lines before say nothing. */
static mend__reply_form form_by_beginning(mend_str bytes) {
  const mend_str text = mend__skip_blanks(bytes);
  if (text.len == 0) return MEND__FORM_OPEN;
  return memchr("dei:r\xef", text.ptr[0], 6) != NULL ? MEND__FORM_STREAM : MEND__FORM_DOCUMENT;
}

/* ---- What the HTTP client tells ---- */

static void on_connected(void *ctx) { mend_exchange_connected(((mend__inquiry *)ctx)->exchange); }

static void on_head(void *ctx, const mend__http_head *head) {
  mend__inquiry *self = ctx;
  const mend_time now = mend_clock_now(mend_loop_clock(self->provider->loop));
  self->status = head->status;
  self->retry_after_s = mend__retry_after_of_head(head, now.wall_ns);
  mend__buffer_str(&self->content_type, head->content_type);
  if (mend__inquiry_is_good(self)) {
    self->form = form_by_head(self, head->content_type);
  } else {
    mend__exchange_refused(self->exchange);
    mend__timer_set(self->patience, ERROR_BODY_NS);
  }
}

static void on_body(void *ctx, mend_str bytes) {
  mend__inquiry *self = ctx;
  self->received += bytes.len;
  if (!mend__inquiry_is_good(self)) {
    gather_error(self, bytes);
    return;
  }
  if (self->form == MEND__FORM_OPEN) self->form = form_by_beginning(bytes);
  if (self->form == MEND__FORM_DOCUMENT) {
    gather(self, bytes);
  } else if (self->form == MEND__FORM_STREAM && self->reading == MEND__READING_MORE) {
    read_stream(self, bytes);
  }
}

static const char *transport_of(const char *fault) {
  if (strcmp(fault, "connect_failed") == 0) return "refused";
  if (strcmp(fault, "too_large") == 0) return "too_long";
  return strcmp(fault, "other") == 0 ? "closed" : fault;
}

static void on_fault(mend__inquiry *self, const mend__http_end *end) {
  const char *transport = transport_of(end->fault);
  if (strcmp(end->fault, "no_memory") == 0) {
    mend__inquiry_fail_of_memory(self);
    return;
  }
  if (end->reused && !end->any_byte) self->provider->is_stale = true;
  mend__inquiry_fail(self, transport, &self->body, end->message != NULL ? end->message : transport, end);
}

static void on_end(void *ctx, const mend__http_end *end) {
  mend__inquiry *self = ctx;
  if (self->form == MEND__FORM_OPEN) self->form = MEND__FORM_STREAM; /* of nothing: one was asked for */
  if (self->status != 0 && !mend__inquiry_is_good(self)) {
    mend__inquiry_fail(self, NULL, &self->body, NULL, end);
  } else if (end->fault != NULL && !self->decoder.has_finish) {
    on_fault(self, end);
  } else {
    if (self->form == MEND__FORM_DOCUMENT) {
      self->reading = mend__decoder_whole(&self->decoder, mend__buffer_text(&self->body));
    }
    answer(self, end);
  }
}

const mend__http_listener mend__inquiry_listener = {on_connected, on_head, on_body, on_end};
