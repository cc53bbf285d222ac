/* An HTTP/1.1 request, read as it comes: bodies by content-length or in chunks, within limits. What a client should not
 * send is refused: it may be what a test is looking for. */
#ifndef MEND_PROGRAM_FAULT_SERVER_HTTP_REQUEST_H
#define MEND_PROGRAM_FAULT_SERVER_HTTP_REQUEST_H

#include "core/buffer.h"

struct evbuffer;

enum { HTTP_HEAD_MAX = 64 * 1024, HTTP_BODY_MAX = 64 * 1024 * 1024, HTTP_FIELDS_MAX = 100 };

typedef struct http_field {
  mend_str name, value;
} http_field;

typedef enum http_progress { HTTP_MORE, HTTP_COMPLETE, HTTP_BAD } http_progress;

typedef struct http_request {
  mend__buffer head; /* its lines, each ended by a line feed */
  mend__buffer body;
  /* Once the head is complete; texts lie in `head`. */
  mend_str method, target;
  http_field fields[HTTP_FIELDS_MAX];
  size_t field_count;
  bool old;        /* HTTP/1.0: no chunks */
  bool keep_alive; /* the client wants the connection kept */
  bool expects;    /* the client waits for "100 Continue"; whoever sends that clears it */
  /* After HTTP_BAD. */
  int status;
  char complaint[160];
  /* Private. */
  int state;
  uint64_t left; /* bytes of the body, or of the chunk, to come */
} http_request;

void http_request_init(http_request *request);
void http_request_free(http_request *request);
/* Ready for the next one; keeps the memory. */
void http_request_clear(http_request *request);
/* Takes what belongs to this request from the input. */
http_progress http_request_read(http_request *request, struct evbuffer *input);
/* The value of the header of this name (lower case); absent when there is none. */
mend_str http_request_field(const http_request *request, const char *name);

/* Whether a reply of this status has a body. */
bool http_status_has_body(int status);

/* Appends the text with %XX as bytes; what is no such escape stays. */
void http_percent_decode(mend_str text, mend__buffer *to);
/* Whether two names are equal but for the case of ASCII letters. */
bool http_name_is(mend_str name, const char *other);

#endif
