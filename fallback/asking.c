/* One request to a provider, from what is written for it to what its exchange is told of how it ended. */
#include "core/memory.h"
#include "fallback/json_fields.h"
#include "fallback/provider_internal.h"
#include "fallback/retry_after.h"
#include "fallback/secret.h"
#include "http/sse.h"

#include <stdio.h>
#include <strings.h>

#define ERROR_BODY_MAX (64 * 1024)
#define SENTENCE_MAX 512
#define CONTENT_TYPE_SHOWN 80
/* How long the end of a connection's reply is waited for when the provider has said that it ends: it usually is here
 * already, and the connection can be used again only then. */
#define LINGER_NS (MEND_SECOND_NS / 10)

typedef struct asking {
  mend__provider *provider;
  mend_exchange *exchange;
  mend__http_transfer *transfer;
  mend__decoder decoder;
  mend__sse sse;
  mend__buffer body; /* of a reply that is no stream, or of an error */
  mend__buffer content_type, sentence;
  mend_timer *linger;
  mend__reading reading;
  double retry_after_s;
  uint64_t received; /* bytes of the body, decompressed */
  uint32_t status;   /* 0: no head has come */
  bool is_stream;
} asking;

/* ---- Life ---- */

static void tell_delta(void *ctx, const mend_delta *delta) { mend_exchange_delta(((asking *)ctx)->exchange, delta); }

/* Running out of memory ends the exchange by itself. */
static void tell_note(void *ctx, const mend_reply *partial) { mend_exchange_note(((asking *)ctx)->exchange, partial); }

static void cover_raw(void *ctx, size_t at, size_t len) {
  mend__exchange_cover_raw(((asking *)ctx)->exchange, at, len);
}

static asking *asking_new(mend__provider *provider, mend_exchange *exchange) {
  const mend_allocator *allocator = provider->allocator;
  asking *self = mend__alloc_zero(allocator, sizeof *self);
  if (self == NULL) return NULL;
  const mend__decoder_listener listener = {.delta = tell_delta, .note = tell_note, .cover = cover_raw, .ctx = self};
  self->provider = provider;
  self->exchange = exchange;
  self->retry_after_s = MEND_NAN;
  mend__decoder_init(&self->decoder, provider->dialect, mend_exchange_request(exchange)->messages, &provider->key,
                     allocator, &listener);
  mend__sse_init(&self->sse, allocator, provider->reply_limit);
  mend__buffer_init(&self->body, allocator);
  mend__buffer_init(&self->content_type, allocator);
  mend__buffer_init(&self->sentence, allocator);
  return self;
}

static void asking_free(asking *self) {
  mend__http_cancel(&self->transfer);
  mend_timer_cancel(&self->linger);
  mend__decoder_free(&self->decoder);
  mend__sse_free(&self->sse);
  mend__buffer_free(&self->body);
  mend__buffer_free(&self->content_type);
  mend__buffer_free(&self->sentence);
  mend__free(self->provider->allocator, self);
}

void mend__asking_cancel(mend_exchange *exchange) {
  asking *self = mend_exchange_kept(exchange);
  if (self == NULL) return;
  mend_exchange_keep(exchange, NULL);
  asking_free(self);
}

/* The last thing that is done with it: the connection is let go of first, for whoever is told may ask again at once. */
static void leave(asking *self) {
  mend__http_cancel(&self->transfer);
  mend_exchange_keep(self->exchange, NULL);
}

/* ---- Failures ---- */

static mend_str view(const mend__buffer *buffer) { return (mend_str){buffer->data, buffer->len}; }

/* What the provider says of an error, in any of the places where they say it. */
static mend_str told_message(mend_str body) {
  const mend_str error = mend__json_find(body, "error", NULL);
  const mend_str places[] = {mend__json_find(error, "message", NULL), error, mend__json_find(body, "message", NULL),
                             mend__json_find(body, "response", "error", "message", NULL)};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
    if (mend__json_is_string(places[i])) return places[i];
  }
  return (mend_str){NULL, 0};
}

static void write_sentence(asking *self, mend_str body, const char *happened) {
  mend__buffer *sentence = &self->sentence;
  mend__buffer_printf(sentence, "%s: ", self->provider->dialect->provider);
  if (happened != NULL) mend__buffer_str(sentence, mend_str_from(happened));
  if (happened == NULL) mend__buffer_printf(sentence, "HTTP status %u", (unsigned)self->status);
  const mend_str message = told_message(body);
  if (message.len == 0) return;
  mend__buffer_str(sentence, MEND_STR(": "));
  mend__json_append(sentence, message);
  sentence->len = mend__utf8_cut(view(sentence), SENTENCE_MAX);
}

static bool is_readable(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    if (text.ptr[i] < ' ' || text.ptr[i] > '~') return false;
  }
  return text.len > 0;
}

/* For a reply that is none: what came, and what was expected. */
static void describe(const asking *self, const char *happened, char ret_text[SENTENCE_MAX]) {
  const mend_str type =
      is_readable(view(&self->content_type)) ? view(&self->content_type) : MEND_STR("no content type");
  snprintf(ret_text, SENTENCE_MAX, "%s (status %u, %.*s, %llu bytes; expected %s)", happened, (unsigned)self->status,
           (int)mend__utf8_cut(type, CONTENT_TYPE_SHOWN), type.ptr, (unsigned long long)self->received,
           self->is_stream ? "events up to one with the reason of the end" : "a JSON object");
}

/* `transport`: as of mend_failure_signal. */
static void fail(asking *self, const char *transport, mend__buffer *body, const char *happened,
                 const mend__http_end *end) {
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  mend_failure failure = MEND_FAILURE_INIT;
  if (body->len > ERROR_BODY_MAX) body->len = ERROR_BODY_MAX; /* of one that is too long */
  const mend__secret *key = &self->provider->key;
  mend__secret_cover(body, key); /* a provider may tell the key it was sent */
  write_sentence(self, view(body), happened);
  mend__secret_cover(&self->sentence, key);
  mend__secret_cover(&self->content_type, key);
  signal.transport = transport;
  signal.http_status = failure.http_status = self->status;
  signal.content_type = view(&self->content_type);
  signal.body = failure.body = view(body);
  signal.any_byte = self->status != 0 || (end != NULL && end->any_byte);
  signal.reused = end != NULL && end->reused;
  failure.message = view(&self->sentence);
  failure.retry_after_s =
      self->retry_after_s == self->retry_after_s ? self->retry_after_s : mend__retry_after_of_body(view(body));
  leave(self);
  mend__exchange_fail_by(self->exchange, &failure, &signal);
  asking_free(self);
}

static void fail_of_memory(asking *self) {
  mend_exchange *exchange = self->exchange;
  leave(self);
  asking_free(self);
  mend__exchange_fail_of_memory(exchange);
}

/* ---- Replies ---- */

/* Nothing was said, and nothing was the reason for it. */
static bool is_empty(const mend__decoder *decoder) {
  return !decoder->any_content && (decoder->finish == MEND_FINISH_STOP || decoder->finish == MEND_FINISH_UNKNOWN);
}

static void succeed(asking *self) {
  mend_exchange *exchange = self->exchange;
  leave(self);
  asking_free(self);
  mend_exchange_finish(exchange);
}

/* Answers with what was read of a reply with a good status. */
static void answer(asking *self, const mend__http_end *end) {
  mend__decoder *decoder = &self->decoder;
  char happened[SENTENCE_MAX];
  if (self->reading == MEND__READING_MORE || self->reading == MEND__READING_COMPLETE) {
    self->reading = mend__decoder_end(decoder);
  }
  switch (self->reading) {
  case MEND__READING_COMPLETE:
    if (is_empty(decoder)) {
      fail(self, "empty_reply", &self->body, "the reply is empty", end);
    } else {
      succeed(self);
    }
    break;
  case MEND__READING_MORE:
    describe(self, "the reply ended without saying that it does", happened);
    fail(self, "cut", &decoder->fault, happened, end);
    break;
  case MEND__READING_ERROR: fail(self, NULL, &decoder->fault, "an error with a good status", end); break;
  case MEND__READING_MALFORMED:
    describe(self, "the reply is not well-formed", happened);
    fail(self, "malformed", &decoder->fault, happened, end);
    break;
  case MEND__READING_NO_MEMORY: fail_of_memory(self); break;
  }
}

static void stop_lingering(void *ctx) { answer(ctx, NULL); }

static bool read_event(void *ctx, mend_str name, mend_str data) {
  asking *self = ctx;
  self->reading = mend__decoder_event(&self->decoder, name, data);
  return self->reading == MEND__READING_MORE;
}

static void read_stream(asking *self, mend_str bytes) {
  switch (mend__sse_feed(&self->sse, bytes, read_event, self)) {
  case MEND_OK: return;
  case MEND_ELIMIT: fail(self, "too_long", &self->body, "an event is longer than reply_limit", NULL); return;
  case MEND_ECANCELLED: break;
  default: fail_of_memory(self); return;
  }
  if (self->reading != MEND__READING_COMPLETE) {
    answer(self, NULL);
  } else if (mend_loop_after(self->provider->loop, LINGER_NS, stop_lingering, self, &self->linger) != MEND_OK) {
    answer(self, NULL);
  }
}

static bool is_good(const asking *self) { return self->status >= 200 && self->status < 300; }

static void gather(asking *self, mend_str bytes) {
  size_t len = bytes.len;
  if (!is_good(self) && len > ERROR_BODY_MAX - self->body.len) len = ERROR_BODY_MAX - self->body.len;
  mend__buffer_bytes(&self->body, bytes.ptr, len);
  if (self->body.failed) fail_of_memory(self);
}

/* ---- What the HTTP client tells ---- */

static void on_connected(void *ctx) { mend_exchange_connected(((asking *)ctx)->exchange); }

/* Some servers that stream as asked do not say that they do. */
static bool is_stream(const asking *self, mend_str content_type) {
  static const char stream[] = "text/event-stream";
  if (content_type.len == 0) return mend_exchange_request(self->exchange)->stream;
  return content_type.len >= sizeof stream - 1 && strncasecmp(content_type.ptr, stream, sizeof stream - 1) == 0;
}

static void on_head(void *ctx, const mend__http_head *head) {
  asking *self = ctx;
  const mend_time now = mend_clock_now(mend_loop_clock(self->provider->loop));
  self->status = head->status;
  self->retry_after_s = mend__retry_after_of_head(head, now.wall_ns);
  mend__buffer_str(&self->content_type, head->content_type);
  self->is_stream = is_good(self) && is_stream(self, head->content_type);
}

static void on_body(void *ctx, mend_str bytes) {
  asking *self = ctx;
  self->received += bytes.len;
  if (!self->is_stream) {
    gather(self, bytes);
  } else if (self->reading == MEND__READING_MORE) {
    read_stream(self, bytes);
  }
}

static const char *transport_of(const char *fault) {
  if (strcmp(fault, "connect_failed") == 0) return "refused";
  if (strcmp(fault, "too_large") == 0) return "too_long";
  return strcmp(fault, "other") == 0 ? "closed" : fault;
}

static void on_fault(asking *self, const mend__http_end *end) {
  const char *transport = transport_of(end->fault);
  if (strcmp(end->fault, "no_memory") == 0) {
    fail_of_memory(self);
    return;
  }
  if (end->reused && !end->any_byte) self->provider->is_stale = true;
  fail(self, transport, &self->body, end->message != NULL ? end->message : transport, end);
}

static void on_end(void *ctx, const mend__http_end *end) {
  asking *self = ctx;
  if (self->status != 0 && !is_good(self)) {
    fail(self, NULL, &self->body, NULL, end);
  } else if (end->fault != NULL && !self->decoder.has_finish) {
    on_fault(self, end);
  } else {
    if (!self->is_stream) self->reading = mend__decoder_whole(&self->decoder, view(&self->body));
    answer(self, end);
  }
}

static const mend__http_listener listener = {on_connected, on_head, on_body, on_end};

/* ---- Sending ---- */

enum { HEADERS_MAX = 3 + MEND__WIRE_HEADERS };

static mend__http_header header(const char *name, mend_str value) {
  return (mend__http_header){mend_str_from(name), value};
}

/* What is the same for all providers, and behind it what this one wants. Returns how many there are. */
static size_t fill_headers(const mend__wire *wire, bool stream, mend__http_header headers[HEADERS_MAX]) {
  size_t count = 0;
  headers[count++] = header("content-type", MEND_STR("application/json"));
  headers[count++] = header("accept", stream ? MEND_STR("text/event-stream") : MEND_STR("application/json"));
  headers[count++] = header("user-agent", MEND_STR("mend/" MEND_VERSION));
  for (size_t i = 0; i < wire->header_count; i++)
    headers[count++] = header(wire->headers[i].name, view(&wire->headers[i].value));
  return count;
}

static mend_status send_to(asking *self, const char *url, const mend__wire *wire, bool stream, mend_error *error) {
  mend__provider *provider = self->provider;
  mend__http_header headers[HEADERS_MAX];
  const mend__http_request request = {.method = "POST",
                                      .url = url,
                                      .headers = headers,
                                      .header_count = fill_headers(wire, stream, headers),
                                      .body = view(&wire->body),
                                      .fresh = provider->is_stale,
                                      .body_limit = provider->reply_limit};
  provider->is_stale = false;
  return mend__http_send(provider->http, &request, &listener, self, &self->transfer, error);
}

static mend_status send_wire(asking *self, const mend__wire *wire, bool stream, mend_error *error) {
  mend__buffer url;
  mend__buffer_init(&url, self->provider->allocator);
  mend__buffer_str(&url, mend_str_from(self->provider->base_url));
  mend__buffer_str(&url, view(&wire->path));
  mend__buffer_char(&url, '\0');
  const mend_status status = url.failed ? MEND_ENOMEM : send_to(self, url.data, wire, stream, error);
  mend__buffer_free(&url);
  return status;
}

static mend_status write_and_send(asking *self, mend_error *error) {
  const mend__provider *provider = self->provider;
  const mend_model_request *request = mend_exchange_request(self->exchange);
  mend__wire wire;
  mend__wire_init(&wire, provider->allocator);
  mend_status status = mend__dialect_write(provider->dialect, request, mend_str_from(provider->model_id),
                                           provider->key.text, &wire, error);
  if (status == MEND_OK) status = send_wire(self, &wire, request->stream, error);
  mend__wire_free(&wire);
  return status;
}

mend_status mend__asking_begin(mend__provider *provider, mend_exchange *exchange, mend_error *error) {
  asking *self = asking_new(provider, exchange);
  if (self == NULL) return MEND_ENOMEM;
  mend_exchange_keep(exchange, self);
  const mend_status status = write_and_send(self, error);
  if (status == MEND_ENOTSUP || status == MEND_EINVAL) {
    fail(self, "not_supported", &self->body, mend_error_sentence(error, status), NULL);
    return MEND_OK;
  }
  if (status != MEND_OK) mend__asking_cancel(exchange);
  return status;
}
