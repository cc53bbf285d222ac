#include "core/memory.h"
#include "http/http_internal.h"

#include <errno.h>

/* ---- What curl tells ---- */

/* Whether curl is to go on with it. */
static bool goes_on(const mend__http_transfer *transfer) { return !transfer->abandoned && transfer->fault == NULL; }

/* Curl sends a request again by itself when a connection that it used before turns out to be dead. That is the caller's
 * to decide, who is told of a reset. */
static bool is_second_try(mend__http_transfer *transfer) {
  if (transfer->connected) transfer->fault = &mend__http_reset;
  return transfer->connected;
}

static curl_socket_t open_socket(void *ctx, curlsocktype purpose, struct curl_sockaddr *address) {
  (void)purpose;
  mend__http_transfer *transfer = ctx;
  if (is_second_try(transfer)) return CURL_SOCKET_BAD;
  const int fd = socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
  if (fd < 0 && mend__http_is_shortage(errno)) transfer->fault = &mend__http_no_descriptors;
  return fd; /* -1 is CURL_SOCKET_BAD */
}

/* NOLINTNEXTLINE(readability-non-const-parameter): curl's type */
static int on_connected(void *ctx, char *remote_ip, char *local_ip, int remote_port, int local_port) {
  (void)remote_ip, (void)local_ip, (void)remote_port, (void)local_port;
  mend__http_transfer *transfer = ctx;
  long connections = 0;
  if (is_second_try(transfer)) return CURL_PREREQFUNC_ABORT;
  curl_easy_getinfo(transfer->easy, CURLINFO_NUM_CONNECTS, &connections);
  transfer->connected = true;
  mend__http_sockets_disown(transfer);
  transfer->reused = connections == 0;
  if (goes_on(transfer)) transfer->listener.connected(transfer->ctx);
  return goes_on(transfer) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT;
}

static void tell_head(mend__http_transfer *transfer, uint32_t status) {
  mend__http_head head = {.status = status, .reused = transfer->reused};
  mend__http_header *headers = mend__http_lines_headers(&transfer->lines, &head.header_count);
  if (headers == NULL) {
    transfer->fault = &mend__http_no_memory;
    return;
  }
  head.headers = headers;
  head.content_type = mend__http_find(&head, "content-type");
  transfer->has_head = true;
  transfer->listener.head(transfer->ctx, &head);
  mend__free(transfer->http->allocator, headers);
  mend__http_lines_free(&transfer->lines);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): curl's type */
static size_t on_head_line(char *bytes, size_t size, size_t count, void *ctx) {
  mend__http_transfer *transfer = ctx;
  const mend_str line = {bytes, size * count};
  bool complete = false;
  long status = 0;
  transfer->any_byte = true;
  if (goes_on(transfer)) transfer->fault = mend__http_lines_add(&transfer->lines, line, &complete);
  if (complete) curl_easy_getinfo(transfer->easy, CURLINFO_RESPONSE_CODE, &status);
  if (status >= 200 && !transfer->has_head) tell_head(transfer, (uint32_t)status);
  return goes_on(transfer) ? line.len : CURL_WRITEFUNC_ERROR;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): curl's type */
static size_t on_body(char *bytes, size_t size, size_t count, void *ctx) {
  mend__http_transfer *transfer = ctx;
  const mend_str piece = {bytes, size * count};
  if (piece.len > transfer->body_left) {
    transfer->fault = &mend__http_too_large;
  } else if (goes_on(transfer)) {
    transfer->body_left -= piece.len;
    transfer->listener.body(transfer->ctx, piece);
  }
  return goes_on(transfer) ? piece.len : CURL_WRITEFUNC_ERROR;
}

/* ---- Life ---- */

static void take_from_curl(mend__http_transfer *transfer) {
  mend__http_sockets_forget(transfer);
  if (transfer->added) curl_multi_remove_handle(transfer->http->multi, transfer->easy);
  transfer->added = false;
  curl_easy_cleanup(transfer->easy);
  transfer->easy = NULL;
}

static void destroy(mend__http_transfer *transfer) {
  mend__http *http = transfer->http;
  take_from_curl(transfer);
  mend__http_free_lines(http->allocator, &transfer->request_lines);
  mend__http_lines_free(&transfer->lines);
  mend__free(http->allocator, transfer->body);
  mend__free(http->allocator, transfer);
  mend__http_release(http);
}

static bool copy_body(mend__http_transfer *transfer, mend_str body) {
  if (body.len == 0) return true;
  transfer->body = mend__str_copy(transfer->http->allocator, body);
  return transfer->body != NULL && curl_easy_setopt(transfer->easy, CURLOPT_POSTFIELDS, transfer->body) == CURLE_OK;
}

static bool set_callbacks(mend__http_transfer *transfer) {
  CURL *easy = transfer->easy;
  return curl_easy_setopt(easy, CURLOPT_PRIVATE, transfer) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, transfer->detail) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, open_socket) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, transfer) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_connected) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PREREQDATA, transfer) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_head_line) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_HEADERDATA, transfer) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_WRITEDATA, transfer) == CURLE_OK;
}

static bool open_easy(mend__http_transfer *transfer, const mend__http_request *request) {
  const mend_allocator *allocator = transfer->http->allocator;
  transfer->easy = curl_easy_init();
  return transfer->easy != NULL && mend__http_set_options(transfer->easy, transfer->http, request) &&
         set_callbacks(transfer) && mend__http_write_lines(allocator, request, &transfer->request_lines) == MEND_OK &&
         curl_easy_setopt(transfer->easy, CURLOPT_HTTPHEADER, transfer->request_lines.first) == CURLE_OK &&
         copy_body(transfer, request->body);
}

static mend__http_transfer *transfer_new(mend__http *http, const mend__http_request *request,
                                         const mend__http_listener *listener, void *ctx) {
  mend__http_transfer *transfer = mend__alloc_zero(http->allocator, sizeof *transfer);
  if (transfer == NULL) return NULL;
  transfer->http = mend__http_retain(http);
  transfer->listener = *listener;
  transfer->ctx = ctx;
  transfer->body_left = request->body_limit;
  mend__http_lines_init(&transfer->lines, http->allocator);
  if (open_easy(transfer, request)) return transfer;
  destroy(transfer);
  return NULL;
}

mend_status mend__http_send(mend__http *http, const mend__http_request *request, const mend__http_listener *listener,
                            void *ctx, mend__http_transfer **ret_transfer, mend_error *error) {
  mend_status status = mend__http_check_url(request->url, http->allow_http, error);
  if (status == MEND_OK) status = mend__http_check_request(request, error);
  if (status != MEND_OK) return status;
  mend__http_transfer *transfer = transfer_new(http, request, listener, ctx);
  if (transfer == NULL) return mend_error_set(error, MEND_ENOMEM, "an HTTP request: out of memory");
  mend__http_queue(transfer);
  *ret_transfer = transfer;
  return MEND_OK;
}

/* The listener may cancel, which frees the transfer: it is told last, of copies. */
static void end(mend__http_transfer *transfer, const mend__http_fault *fault) {
  char message[MEND__HTTP_MESSAGE_MAX];
  mend__http_end told = {.reused = transfer->reused, .any_byte = transfer->any_byte};
  if (fault != NULL) {
    mend__http_explain(transfer, fault, message);
    told.fault = fault->name;
    told.message = message;
  }
  take_from_curl(transfer);
  transfer->ended = true;
  transfer->listener.end(transfer->ctx, &told);
}

void mend__http_fail(mend__http_transfer *transfer, const mend__http_fault *fault) {
  if (transfer->fault == NULL) transfer->fault = fault;
  mend__http_queue(transfer);
}

/* One that was cancelled inside curl is in the queue. */
void mend__http_finish(mend__http_transfer *transfer, CURLcode code) {
  if (!transfer->abandoned) end(transfer, mend__http_find_fault(transfer, code));
}

/* An address has refused, and curl 7.88 forgets to say that it wants to be called to try the host's next one. */
static bool is_stranded(const mend__http_transfer *transfer) {
  return !transfer->connected && transfer->first_socket == NULL;
}

void mend__http_serve(mend__http_transfer *transfer) {
  if (transfer->abandoned) {
    destroy(transfer);
  } else if (transfer->ended) {
    return;
  } else if (transfer->fault != NULL) {
    end(transfer, transfer->fault);
  } else if (transfer->added) {
    if (is_stranded(transfer)) mend__http_look_at_all(transfer->http);
  } else if (curl_multi_add_handle(transfer->http->multi, transfer->easy) == CURLM_OK) {
    transfer->added = true;
  } else {
    end(transfer, &mend__http_no_memory);
  }
}

void mend__http_cancel(mend__http_transfer **given) {
  mend__http_transfer *transfer = *given;
  if (transfer == NULL) return;
  *given = NULL;
  transfer->abandoned = true;
  if (transfer->queued || transfer->http->inside_curl) {
    mend__http_queue(transfer);
  } else {
    destroy(transfer);
  }
}
