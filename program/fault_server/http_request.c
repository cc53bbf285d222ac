#include "program/fault_server/http_request.h"

#include "core/text.h"

#include <event2/buffer.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

enum { IN_HEAD, IN_BODY, AT_CHUNK, IN_CHUNK, BEHIND_CHUNK, IN_TRAILER, DONE };

void http_request_init(http_request *request) {
  *request = (http_request){.state = IN_HEAD};
  mend__buffer_init(&request->head, NULL);
  mend__buffer_init(&request->body, NULL);
}

void http_request_free(http_request *request) {
  mend__buffer_free(&request->head);
  mend__buffer_free(&request->body);
}

void http_request_clear(http_request *request) {
  const mend__buffer head = request->head, body = request->body;
  *request = (http_request){.state = IN_HEAD, .head = head, .body = body};
  mend__buffer_clear(&request->head);
  mend__buffer_clear(&request->body);
}

bool http_name_is(mend_str name, const char *other) {
  return strlen(other) == name.len && strncasecmp(name.ptr, other, name.len) == 0;
}

mend_str http_request_field(const http_request *request, const char *name) {
  for (size_t i = 0; i < request->field_count; i++) {
    if (http_name_is(request->fields[i].name, name)) return request->fields[i].value;
  }
  return (mend_str){NULL, 0};
}

void http_percent_decode(mend_str text, mend__buffer *to) {
  for (size_t i = 0; i < text.len; i++) {
    const bool escaped = text.ptr[i] == '%' && i + 2 < text.len && mend__hex_value(text.ptr[i + 1]) >= 0 &&
                         mend__hex_value(text.ptr[i + 2]) >= 0;
    if (!escaped) {
      mend__buffer_char(to, text.ptr[i]);
      continue;
    }
    mend__buffer_char(to, (char)(mend__hex_value(text.ptr[i + 1]) << 4 | mend__hex_value(text.ptr[i + 2])));
    i += 2;
  }
}

bool http_status_has_body(int status) { return status != 204 && status != 304; }

MEND_PRINTF(3, 4) static http_progress complain(http_request *request, int status, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(request->complaint, sizeof request->complaint, format, arguments);
  va_end(arguments);
  request->status = status;
  return HTTP_BAD;
}

/* ---- The head ---------------------------------------------------------------------------------------------- */

static mend_str trimmed(mend_str text) {
  while (text.len > 0 && (*text.ptr == ' ' || *text.ptr == '\t'))
    text = (mend_str){text.ptr + 1, text.len - 1};
  while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
    text.len--;
  return text;
}

/* Takes what is before the first `separator` from the front of `rest`, all of it when there is none. */
static mend_str take_until(mend_str *rest, char separator) {
  const char *found = rest->len > 0 ? memchr(rest->ptr, separator, rest->len) : NULL;
  const mend_str taken = {rest->ptr, found != NULL ? (size_t)(found - rest->ptr) : rest->len};
  const size_t gone = found != NULL ? taken.len + 1 : taken.len;
  *rest = (mend_str){rest->ptr + gone, rest->len - gone};
  return taken;
}

static bool parse_first_line(http_request *request, mend_str line) {
  request->method = take_until(&line, ' ');
  request->target = take_until(&line, ' ');
  request->old = mend_str_equal(line, MEND_STR("HTTP/1.0"));
  return request->method.len > 0 && request->target.len > 0 &&
         (request->old || mend_str_equal(line, MEND_STR("HTTP/1.1")));
}

/* What the names of headers consist of (RFC 9110, 5.6.2). */
static bool is_token(mend_str text) {
  static const char marks[] = "!#$%&'*+-.^_`|~";
  for (size_t i = 0; i < text.len; i++) {
    const char c = text.ptr[i];
    const bool is_letter = mend__lower(c) >= 'a' && mend__lower(c) <= 'z';
    if (!is_letter && !mend__is_digit(c) && memchr(marks, c, sizeof marks - 1) == NULL) return false;
  }
  return text.len > 0;
}

/* The first control character but tabs; NULL: there is none. */
static const char *find_control(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const unsigned char c = (unsigned char)text.ptr[i];
    if ((c < ' ' && c != '\t') || c == 0x7F) return text.ptr + i;
  }
  return NULL;
}

static http_progress parse_field(http_request *request, mend_str line) {
  enum { SHOWN = 60 };
  if (request->field_count == HTTP_FIELDS_MAX)
    return complain(request, 431, "there are more than %d headers", HTTP_FIELDS_MAX);
  http_field *field = &request->fields[request->field_count++];
  if (memchr(line.ptr, ':', line.len) == NULL)
    return complain(request, 400, "header %zu has no colon", request->field_count);
  field->name = take_until(&line, ':');
  field->value = trimmed(line);
  if (!is_token(field->name)) return complain(request, 400, "header %zu has no proper name", request->field_count);
  const char *control = find_control(field->value);
  if (control == NULL) return HTTP_COMPLETE;
  const int shown = field->name.len < SHOWN ? (int)field->name.len : SHOWN;
  return complain(request, 400, "header %.*s has a control character in it (0x%02x)", shown, field->name.ptr,
                  (unsigned)(unsigned char)*control);
}

/* Nothing but digits. What is beyond all limits stays so. */
static bool read_digits(mend_str text, int base, uint64_t *ret_value) {
  *ret_value = 0;
  for (size_t i = 0; i < text.len; i++) {
    const int digit = mend__hex_value(text.ptr[i]);
    if (digit < 0 || digit >= base) return false;
    if (*ret_value <= HTTP_BODY_MAX) *ret_value = *ret_value * (uint64_t)base + (uint64_t)digit;
  }
  return text.len > 0;
}

static bool comes_twice(const http_request *request, const char *name) {
  size_t count = 0;
  for (size_t i = 0; i < request->field_count; i++)
    count += http_name_is(request->fields[i].name, name);
  return count > 1;
}

static http_progress begin_body(http_request *request) {
  static const char *const names[] = {"content-length", "transfer-encoding"};
  for (size_t i = 0; i < 2; i++) {
    if (comes_twice(request, names[i])) return complain(request, 400, "%s comes twice", names[i]);
  }
  const mend_str encoding = http_request_field(request, "transfer-encoding");
  const mend_str length = http_request_field(request, "content-length");
  if (encoding.ptr != NULL && (length.ptr != NULL || !http_name_is(encoding, "chunked"))) {
    return complain(request, 400, "this transfer-encoding is not understood here");
  }
  if (encoding.ptr != NULL) {
    request->state = AT_CHUNK;
    return HTTP_COMPLETE;
  }
  if (length.ptr != NULL && !read_digits(length, 10, &request->left)) {
    return complain(request, 400, "content-length is no number");
  }
  if (request->left > HTTP_BODY_MAX) return complain(request, 413, "the body is larger than 64 MiB");
  request->state = request->left > 0 ? IN_BODY : DONE;
  return HTTP_COMPLETE;
}

static http_progress parse_head(http_request *request) {
  mend_str rest = {request->head.data, request->head.len};
  const mend_str first = take_until(&rest, '\n');
  if (!parse_first_line(request, first)) return complain(request, 400, "the first line is no HTTP/1.1 request");
  if (find_control(first) != NULL) return complain(request, 400, "the first line has a control character in it");
  while (rest.len > 0) {
    const http_progress progress = parse_field(request, take_until(&rest, '\n'));
    if (progress != HTTP_COMPLETE) return progress;
  }
  const mend_str connection = http_request_field(request, "connection");
  request->keep_alive = request->old ? http_name_is(connection, "keep-alive") : !http_name_is(connection, "close");
  request->expects = http_name_is(http_request_field(request, "expect"), "100-continue");
  return begin_body(request);
}

/* ---- Steps: each returns HTTP_COMPLETE when the next one can go on ------------------------------------------ */

/* The next line without its end, to be freed; NULL when it is not complete. */
static char *take_line(http_request *request, struct evbuffer *input, size_t *ret_len, http_progress *ret_progress) {
  char *line = evbuffer_readln(input, ret_len, EVBUFFER_EOL_CRLF);
  *ret_progress = HTTP_MORE;
  const size_t pending = line != NULL ? *ret_len : evbuffer_get_length(input);
  if (request->head.len + pending > HTTP_HEAD_MAX) {
    *ret_progress = complain(request, 431, "the head is larger than 64 KiB");
    free(line);
    return NULL;
  }
  return line;
}

static http_progress read_head(http_request *request, struct evbuffer *input) {
  size_t len;
  http_progress progress;
  char *line;
  while ((line = take_line(request, input, &len, &progress)) != NULL) {
    const bool ends = len == 0 && request->head.len > 0;
    if (len > 0) {
      mend__buffer_bytes(&request->head, line, len);
      mend__buffer_char(&request->head, '\n');
    }
    free(line);
    if (ends) return request->head.failed ? complain(request, 503, "out of memory") : parse_head(request);
  }
  return progress;
}

/* Moves what has come of `left` bytes into the body. */
static http_progress read_bytes(http_request *request, struct evbuffer *input, int next) {
  const size_t available = evbuffer_get_length(input);
  const size_t len = available < request->left ? available : (size_t)request->left;
  if (len > 0 && !mend__buffer_reserve(&request->body, len)) return complain(request, 503, "out of memory");
  evbuffer_remove(input, request->body.data + request->body.len, len);
  request->body.len += len;
  request->left -= len;
  if (request->left > 0) return HTTP_MORE;
  request->state = next;
  return HTTP_COMPLETE;
}

static http_progress read_chunk_size(http_request *request, struct evbuffer *input) {
  size_t len;
  http_progress progress;
  char *line = take_line(request, input, &len, &progress);
  if (line == NULL) return progress;
  mend_str text = {line, len};
  const bool fine = read_digits(trimmed(take_until(&text, ';')), 16, &request->left);
  free(line);
  if (!fine) return complain(request, 400, "the size of a chunk is no number");
  if (request->left > HTTP_BODY_MAX - request->body.len)
    return complain(request, 413, "the body is larger than 64 MiB");
  request->state = request->left > 0 ? IN_CHUNK : IN_TRAILER;
  return HTTP_COMPLETE;
}

static http_progress read_chunk_end(http_request *request, struct evbuffer *input) {
  size_t len;
  http_progress progress;
  char *line = take_line(request, input, &len, &progress);
  if (line == NULL) return progress;
  free(line);
  if (len > 0) return complain(request, 400, "a chunk is longer than it says");
  request->state = AT_CHUNK;
  return HTTP_COMPLETE;
}

static http_progress read_trailer(http_request *request, struct evbuffer *input) {
  size_t len;
  http_progress progress;
  char *line;
  while ((line = take_line(request, input, &len, &progress)) != NULL) {
    free(line);
    if (len > 0) continue;
    request->state = DONE;
    return HTTP_COMPLETE;
  }
  return progress;
}

http_progress http_request_read(http_request *request, struct evbuffer *input) {
  http_progress progress = HTTP_COMPLETE;
  while (progress == HTTP_COMPLETE && request->state != DONE) {
    switch (request->state) {
    case IN_HEAD: progress = read_head(request, input); break;
    case IN_BODY: progress = read_bytes(request, input, DONE); break;
    case AT_CHUNK: progress = read_chunk_size(request, input); break;
    case IN_CHUNK: progress = read_bytes(request, input, BEHIND_CHUNK); break;
    case BEHIND_CHUNK: progress = read_chunk_end(request, input); break;
    default: progress = read_trailer(request, input);
    }
  }
  return progress;
}
