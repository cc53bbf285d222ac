/* One request to a provider: what is written for it, and its life. */
#include "fallback/inquiry.h"

#include "core/memory.h"

/* ---- Life ---- */

static void tell_delta(void *ctx, const mend_delta *delta) {
  mend_exchange_delta(((mend__inquiry *)ctx)->exchange, delta);
}

/* Running out of memory ends the exchange by itself. */
static void tell_note(void *ctx, const mend_reply *partial) {
  mend_exchange_note(((mend__inquiry *)ctx)->exchange, partial);
}

static void cover_raw(void *ctx, size_t at, size_t len) {
  mend__exchange_cover_raw(((mend__inquiry *)ctx)->exchange, at, len);
}

static mend__inquiry *inquiry_new(mend__provider *provider, mend_exchange *exchange) {
  const mend_allocator *allocator = provider->allocator;
  mend__inquiry *self = mend__alloc_zero(allocator, sizeof *self);
  if (self == NULL) return NULL;
  if (mend__timer_new(provider->loop, mend__inquiry_stop_waiting, self, &self->patience) != MEND_OK) {
    mend__free(allocator, self);
    return NULL;
  }
  const mend__decoder_listener listener = {.delta = tell_delta, .note = tell_note, .cover = cover_raw, .ctx = self};
  self->provider = provider;
  self->exchange = exchange;
  self->retry_after_s = MEND_NAN;
  mend__decoder_init(&self->decoder, provider->dialect, mend_exchange_request(exchange)->messages, provider->secrets,
                     allocator, &listener);
  mend__sse_init(&self->sse, allocator, provider->reply_limit);
  mend__buffer_init(&self->body, allocator);
  mend__buffer_init(&self->content_type, allocator);
  mend__buffer_init(&self->sentence, allocator);
  return self;
}

void mend__inquiry_free(mend__inquiry *self) {
  mend__http_cancel(&self->transfer);
  mend_timer_cancel(&self->patience);
  mend__decoder_free(&self->decoder);
  mend__sse_free(&self->sse);
  mend__buffer_free(&self->body);
  mend__buffer_free(&self->content_type);
  mend__buffer_free(&self->sentence);
  mend__free(self->provider->allocator, self);
}

void mend__inquiry_cancel(mend_exchange *exchange) {
  mend__inquiry *self = mend_exchange_kept(exchange);
  if (self == NULL) return;
  mend_exchange_keep(exchange, NULL);
  mend__inquiry_free(self);
}

void mend__inquiry_leave(mend__inquiry *self) {
  mend__http_cancel(&self->transfer);
  mend_exchange_keep(self->exchange, NULL);
}

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
    headers[count++] = header(wire->headers[i].name, mend__buffer_text(&wire->headers[i].value));
  return count;
}

static mend_status send_to(mend__inquiry *self, const char *url, const mend__wire *wire, bool stream,
                           mend_error *error) {
  mend__provider *provider = self->provider;
  mend__http_header headers[HEADERS_MAX];
  const mend__http_request request = {.method = "POST",
                                      .url = url,
                                      .headers = headers,
                                      .header_count = fill_headers(wire, stream, headers),
                                      .body = mend__buffer_text(&wire->body),
                                      .fresh = provider->is_stale,
                                      .body_limit = provider->reply_limit};
  provider->is_stale = false;
  return mend__http_send(provider->http, &request, &mend__inquiry_listener, self, &self->transfer, error);
}

static mend_status send_wire(mend__inquiry *self, const mend__wire *wire, bool stream, mend_error *error) {
  mend__buffer url;
  mend__buffer_init(&url, self->provider->allocator);
  mend__buffer_str(&url, mend_str_from(self->provider->base_url));
  mend__buffer_str(&url, mend__buffer_text(&wire->path));
  mend__buffer_char(&url, '\0');
  const mend_status status = url.failed ? MEND_ENOMEM : send_to(self, url.data, wire, stream, error);
  mend__buffer_free(&url);
  return status;
}

static mend_status write_and_send(mend__inquiry *self, mend_error *error) {
  const mend__provider *provider = self->provider;
  const mend_model_request *request = mend_exchange_request(self->exchange);
  mend__wire wire;
  mend__wire_init(&wire, provider->allocator);
  mend_status status =
      mend__dialect_write(provider->dialect, request, mend_str_from(provider->model_id), provider->key, &wire, error);
  if (status == MEND_OK) status = send_wire(self, &wire, request->stream, error);
  mend__wire_free(&wire);
  return status;
}

mend_status mend__inquiry_begin(mend__provider *provider, mend_exchange *exchange, mend_error *error) {
  mend__inquiry *self = inquiry_new(provider, exchange);
  if (self == NULL) return MEND_ENOMEM;
  mend_exchange_keep(exchange, self);
  const mend_status status = write_and_send(self, error);
  if (status == MEND_ENOTSUP || status == MEND_EINVAL) {
    mend__inquiry_fail(self, "not_supported", &self->body, mend_error_sentence(error, status), NULL);
    return MEND_OK;
  }
  if (status != MEND_OK) mend__inquiry_cancel(exchange);
  return status;
}
