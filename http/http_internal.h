/* Private to http/. How the parts work together is in docs/internals/http.md. */
#ifndef MEND_HTTP_HTTP_INTERNAL_H
#define MEND_HTTP_HTTP_INTERNAL_H

#include "core/buffer.h"
#include "http/client.h"
#include "loop/room.h"

#include <curl/curl.h>
#include <stdatomic.h>

struct mend__http {
  const mend_allocator *allocator;
  char *proxy, *ca_file; /* NULL: none; the system's */
  bool allow_http;
  atomic_size_t references; /* transfers have one each */

  /* Only for the loop's thread, but for posting `soon`. */
  mend_loop *loop;
  CURLM *multi;
  mend_timer *timer; /* when curl wants to be called */
  mend__posted soon; /* at the loop's next turn: what is queued, what curl wants at once, the end */
  atomic_bool asked; /* `soon` is posted */
  bool inside_curl;  /* it may not be told of other transfers now */
  mend__http_transfer *first_queued, *last_queued;
};

/* How a transfer failed, told apart as client.h does. */
typedef struct mend__http_fault {
  const char *name, *sentence;
} mend__http_fault;

enum { MEND__HTTP_MESSAGE_MAX = 320 };

/* The lines of a reply's head, as they come; freed when the head was told. */
typedef struct mend__http_lines {
  mend__buffer text; /* without the first and the last */
  size_t count;
  size_t total; /* bytes, of interim heads and trailers too */
} mend__http_lines;

/* The lines of a request's head, in one block. They may hold keys: it is wiped when it is freed. */
typedef struct mend__http_request_lines {
  struct curl_slist *first;
  size_t size;
} mend__http_request_lines;

typedef struct mend__http_socket mend__http_socket;

struct mend__http_transfer {
  mend__http *http;
  mend__http_listener listener;
  void *ctx;
  CURL *easy;
  mend__http_request_lines request_lines;
  char *body;
  uint64_t body_left; /* bytes of the reply that may still come */
  mend__http_lines lines;
  mend__http_socket *first_socket; /* that is watched for it alone: until it is connected */
  char detail[CURL_ERROR_SIZE];    /* what curl says of a failure */

  const mend__http_fault *fault; /* found here, not by curl */
  bool added;                    /* to the multi handle */
  bool connected, reused, any_byte, has_head;
  bool ended;
  bool abandoned; /* cancelled: nothing more is told */
  bool queued;
  mend__http_transfer *next;
};

/* ---- transfer.c ---- */

/* Makes an end of one that is cancelled or failed, begins one that is waiting, goes on with one that lost its socket.
 * Not inside curl. */
void mend__http_serve(mend__http_transfer *transfer);
/* Curl is through with it. It may be gone afterwards. */
void mend__http_finish(mend__http_transfer *transfer, CURLcode code);
/* It ends with this fault as soon as curl is left. */
void mend__http_fail(mend__http_transfer *transfer, const mend__http_fault *fault);

/* ---- client.c ---- */

/* For mend__http_serve, when curl is not at work: at the latest in the loop's next turn. */
void mend__http_queue(mend__http_transfer *transfer);
/* Lets curl work: a socket is ready, or CURL_SOCKET_TIMEOUT. */
void mend__http_drive(mend__http *http, curl_socket_t fd, int events);
/* Lets curl look at every transfer. */
void mend__http_look_at_all(mend__http *http);

/* ---- sockets.c ---- */

/* For CURLMOPT_SOCKETFUNCTION. */
int mend__http_watch(CURL *easy, curl_socket_t fd, int what, void *ctx, void *watched);
/* It is connected: whoever is on the connection may wait for its socket. */
void mend__http_sockets_disown(mend__http_transfer *transfer);
/* Its own are about to be closed: curl closes one that is not connected before it says so. */
void mend__http_sockets_forget(mend__http_transfer *transfer);

/* ---- request.c ---- */

mend_status mend__http_check_url(const char *url_text, bool allow_http, mend_error *error);
mend_status mend__http_check_request(const mend__http_request *request, mend_error *error);
/* MEND_ENOMEM. */
mend_status mend__http_write_lines(const mend_allocator *allocator, const mend__http_request *request,
                                   mend__http_request_lines *ret_lines);
void mend__http_free_lines(const mend_allocator *allocator, mend__http_request_lines *lines);
/* All that is the same for every request, and what this one says. False when out of memory. */
bool mend__http_set_options(CURL *easy, const mend__http *http, const mend__http_request *request);

/* ---- head.c ---- */

void mend__http_lines_init(mend__http_lines *lines, const mend_allocator *allocator);
void mend__http_lines_free(mend__http_lines *lines);
/* One line with its end. Returns NULL or what is wrong with it. ret_complete: it was the last one of a head. */
const mend__http_fault *mend__http_lines_add(mend__http_lines *lines, mend_str line, bool *ret_complete);
/* The headers of the lines; they point into them. NULL when out of memory. */
mend__http_header *mend__http_lines_headers(const mend__http_lines *lines, size_t *ret_count);

/* ---- faults.c ---- */

extern const mend__http_fault mend__http_reset, mend__http_no_memory, mend__http_no_descriptors, mend__http_bad_head,
    mend__http_long_head, mend__http_too_large;

/* Whether this error of the system says that no descriptor is left. */
bool mend__http_is_shortage(int os_error);

/* What curl's code means for a transfer, in what it was doing. */
const mend__http_fault *mend__http_find_fault(const mend__http_transfer *transfer, CURLcode code);
/* A sentence for people, without secrets. */
void mend__http_explain(const mend__http_transfer *transfer, const mend__http_fault *fault,
                        char ret_message[MEND__HTTP_MESSAGE_MAX]);

#endif
