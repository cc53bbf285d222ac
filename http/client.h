/* House header: HTTP requests on a loop.
 *
 * TLS is verified, redirects are not followed, connections are kept alive and reused, HTTP/2 is used where the server
 * has it, bodies are decompressed as they come. Neither the environment nor files in somebody's home have a say. There
 * are no timeouts here: whoever has a deadline cancels (mend deadlines, so that virtual time works).
 *
 * Threads: a client may be made, retained and released on any thread; all else happens on the loop's. */
#ifndef MEND_HTTP_CLIENT_H
#define MEND_HTTP_CLIENT_H

#include "mend/loop.h"

typedef struct mend__http mend__http; /* a pool of connections; reference-counted */

typedef struct mend__http_options {
  const mend_allocator *allocator; /* curl has its own memory */
  mend_loop *loop;                 /* referenced */
  const char *proxy;               /* URL; NULL: none */
  const char *ca_file;             /* PEM, in place of the system's; NULL: that */
  bool allow_http;                 /* plain http to others than loopback */
} mend__http_options;
/* Errors: MEND_EINVAL (the proxy is no URL), MEND_ENOENT and MEND_EIO (the file), MEND_ENOMEM. */
mend_status mend__http_new(const mend__http_options *options, mend__http **ret_http, mend_error *error);
mend__http *mend__http_retain(mend__http *http);
/* With the last one, which is also no transfer's, idle connections are closed in the loop's next turn, at the latest in
 * its last. */
void mend__http_release(mend__http *http);

/* Whether requests to this URL can be sent: a scheme, host and port that are, and no plain http beyond loopback unless
 * that is allowed. MEND_EINVAL with a sentence. */
mend_status mend__http_check(const mend__http *http, const char *url, mend_error *error);

typedef struct mend__http_header {
  mend_str name, value;
} mend__http_header;

typedef struct mend__http_head {
  uint32_t status;
  mend_str content_type;
  bool reused; /* on a connection that was used before */
  const mend__http_header *headers;
  size_t header_count;
} mend__http_head;
/* A header's value, by its name in any case; absent when there is none. */
mend_str mend__http_find(const mend__http_head *head, const char *name);

/* How it ended. fault: NULL when the reply is complete, else "dns", "refused", "connect_failed", "certificate",
 * "reset", "closed" (before the reply was complete), "malformed", "too_large", "no_memory", "no_descriptors" (too many
 * files are open here: nobody else's fault) or "other"; message: NULL, or a sentence without secrets. */
typedef struct mend__http_end {
  const char *fault;
  const char *message;
  bool reused;   /* on a connection that was used before; a dead one is told as a reset, nothing is sent twice */
  bool any_byte; /* a line of a reply has come */
} mend__http_end;

/* All are there. They are called on the loop's thread, never inside mend__http_send; `end` once and last, and not after
 * a cancel. They may send, cancel and release, and must not advance a virtual clock. What they are given is borrowed
 * for the call. */
typedef struct mend__http_listener {
  void (*connected)(void *ctx);
  void (*head)(void *ctx, const mend__http_head *head);
  void (*body)(void *ctx, mend_str bytes);
  void (*end)(void *ctx, const mend__http_end *end);
} mend__http_listener;

typedef struct mend__http_request {
  const char *method; /* "POST" */
  const char *url;
  const mend__http_header *headers;
  size_t header_count;
  mend_str body;
  bool fresh;          /* not on a connection that was used before */
  uint64_t body_limit; /* bytes of the decompressed reply; beyond: "too_large" */
} mend__http_request;

typedef struct mend__http_transfer mend__http_transfer;
/* Everything is copied. Errors: MEND_EINVAL with a sentence (a URL with credentials, no http or https, plain http that
 * is not allowed, a header that is more than a line), MEND_ENOMEM. */
mend_status mend__http_send(mend__http *http, const mend__http_request *request, const mend__http_listener *listener,
                            void *ctx, mend__http_transfer **ret_transfer, mend_error *error);
/* Closes the connection at once (in HTTP/2 the stream); nothing more is told. Inside a listener's call that is when it
 * has returned. Sets the pointer to NULL; NULL is allowed. To be called also after `end` (it frees the transfer), in
 * `end` at the earliest. */
void mend__http_cancel(mend__http_transfer **given);

#endif
