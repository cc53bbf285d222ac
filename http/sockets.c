/* The sockets that curl waits for. */
#include "core/memory.h"
#include "http/http_internal.h"

struct mend__http_socket {
  mend__http *http;
  curl_socket_t fd;
  mend__descriptor *descriptor;
  mend__http_transfer *owner; /* which is not connected yet; NULL: it is, and others may use it as well */
  mend__http_socket *next;    /* of the owner */
};

static void on_ready(void *ctx, int fd, bool can_read, bool can_write) {
  const mend__http_socket *socket = ctx;
  mend__http_drive(socket->http, fd, (can_read ? CURL_CSELECT_IN : 0) | (can_write ? CURL_CSELECT_OUT : 0));
}

/* ---- A transfer's, until it is connected ---- */

static void own(mend__http_transfer *transfer, mend__http_socket *socket) {
  socket->owner = transfer;
  socket->next = transfer->first_socket;
  transfer->first_socket = socket;
}

static void disown(mend__http_socket *socket) {
  mend__http_socket **link = &socket->owner->first_socket;
  while (*link != socket)
    link = &(*link)->next;
  *link = socket->next;
  socket->owner = NULL;
}

void mend__http_sockets_disown(mend__http_transfer *transfer) {
  while (transfer->first_socket != NULL)
    disown(transfer->first_socket);
}

/* ---- Watching ---- */

static void forget(mend__http_socket *socket) {
  if (socket->owner != NULL) disown(socket);
  mend__descriptor_unwatch(&socket->descriptor);
  mend__free(socket->http->allocator, socket);
}

void mend__http_sockets_forget(mend__http_transfer *transfer) {
  for (mend__http_socket *socket; (socket = transfer->first_socket) != NULL;) {
    curl_multi_assign(transfer->http->multi, socket->fd, NULL);
    forget(socket);
  }
}

/* If that was the last one of a transfer, it is looked at when curl is left. */
static void remove_socket(mend__http_socket *socket) {
  if (socket == NULL) return;
  if (socket->owner != NULL) mend__http_queue(socket->owner);
  forget(socket);
}

static mend_status add_socket(mend__http *http, mend__http_transfer *transfer, curl_socket_t fd, bool reads,
                              bool writes) {
  mend__http_socket *socket = mend__alloc(http->allocator, sizeof *socket);
  if (socket == NULL) return MEND_ENOMEM;
  *socket = (mend__http_socket){.http = http, .fd = fd};
  const mend_status status =
      mend__loop_watch(http->loop, fd, "HTTP", reads, writes, on_ready, socket, &socket->descriptor);
  if (status != MEND_OK) {
    mend__free(http->allocator, socket);
    return status;
  }
  if (transfer != NULL && !transfer->connected) own(transfer, socket);
  curl_multi_assign(http->multi, fd, socket);
  return MEND_OK;
}

/* An error of this function would be the end of all transfers for ever, so only the one fails. */
int mend__http_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *watched) {
  mend__http_socket *socket = watched;
  mend__http_transfer *transfer = NULL;
  const bool reads = (what & CURL_POLL_IN) != 0, writes = (what & CURL_POLL_OUT) != 0;
  mend_status status = MEND_OK;
  curl_easy_getinfo(easy, CURLINFO_PRIVATE, (char **)&transfer);
  if (what == CURL_POLL_REMOVE) {
    remove_socket(socket);
  } else if (socket != NULL) {
    status = mend__descriptor_want(socket->descriptor, reads, writes);
  } else {
    status = add_socket(ctx, transfer, fd, reads, writes);
  }
  if (status != MEND_OK && transfer != NULL) mend__http_fail(transfer, &mend__http_no_memory);
  return 0;
}
