#include "core/memory.h"
#include "http/http_internal.h"

#include <arpa/inet.h>

/* ---- The URL ---- */

typedef struct url_parts {
  char *scheme, *host, *user, *password;
} url_parts;

static void free_parts(url_parts *parts) {
  curl_free(parts->scheme);
  curl_free(parts->host);
  curl_free(parts->user);
  curl_free(parts->password);
}

static bool is_absent(CURLUcode code) {
  return code == CURLUE_NO_HOST || code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD;
}

static CURLUcode get_part(CURLU *url, CURLUPart part, char **ret_part) {
  const CURLUcode code = curl_url_get(url, part, ret_part, 0);
  return is_absent(code) ? CURLUE_OK : code;
}

static CURLUcode split(CURLU *url, const char *text, url_parts *parts) {
  CURLUcode code = curl_url_set(url, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME);
  if (code == CURLUE_OK) code = get_part(url, CURLUPART_SCHEME, &parts->scheme);
  if (code == CURLUE_OK) code = get_part(url, CURLUPART_HOST, &parts->host);
  if (code == CURLUE_OK) code = get_part(url, CURLUPART_USER, &parts->user);
  if (code == CURLUE_OK) code = get_part(url, CURLUPART_PASSWORD, &parts->password);
  return code;
}

static bool is_loopback_ipv6(const char *host) {
  struct in6_addr address;
  char text[INET6_ADDRSTRLEN];
  const size_t len = strlen(host);
  if (host[0] != '[' || len - 2 >= sizeof text) return false;
  memcpy(text, host + 1, len - 2);
  text[len - 2] = '\0';
  return inet_pton(AF_INET6, text, &address) == 1 &&
         (IN6_IS_ADDR_LOOPBACK(&address) || (IN6_IS_ADDR_V4MAPPED(&address) && address.s6_addr[12] == 127));
}

/* What certainly is this machine, whatever a resolver says: curl asks none for "localhost", but one for "localhost.".
 * It has written addresses like 127.1 in full. */
static bool is_loopback(const char *host) {
  struct in_addr address;
  if (curl_strequal(host, "localhost") || is_loopback_ipv6(host)) return true;
  return inet_pton(AF_INET, host, &address) == 1 && ntohl(address.s_addr) >> 24 == 127;
}

static mend_status check_parts(const url_parts *parts, bool allow_http, mend_error *error) {
  const bool is_http = strcmp(parts->scheme, "http") == 0;
  if (!is_http && strcmp(parts->scheme, "https") != 0)
    return mend_error_set(error, MEND_EINVAL, "the URL's scheme is %s, not https or http", parts->scheme);
  if (parts->user != NULL || parts->password != NULL)
    return mend_error_set(error, MEND_EINVAL, "the URL holds a user name or a password, which belong in headers");
  if (is_http && !allow_http && !is_loopback(parts->host))
    return mend_error_set(error, MEND_EINVAL, "plain http to %s, which is not this machine, was not allowed",
                          parts->host);
  return MEND_OK;
}

/* A URL may hold a key, so no sentence quotes one. */
mend_status mend__http_check_url(const char *url_text, bool allow_http, mend_error *error) {
  url_parts parts = {NULL, NULL, NULL, NULL};
  CURLU *url = curl_url();
  const CURLUcode code = url != NULL ? split(url, url_text, &parts) : CURLUE_OUT_OF_MEMORY;
  mend_status status;
  if (code == CURLUE_OK) {
    status = check_parts(&parts, allow_http, error);
  } else if (code == CURLUE_OUT_OF_MEMORY) {
    status = mend_error_set(error, MEND_ENOMEM, "an HTTP request: out of memory");
  } else {
    status = mend_error_set(error, MEND_EINVAL, "no URL: %s", curl_url_strerror(code));
  }
  free_parts(&parts);
  curl_url_cleanup(url);
  return status;
}

/* ---- Method and headers ---- */

static bool is_token(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const unsigned char c = (unsigned char)text.ptr[i];
    if (c <= ' ' || c >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", c) != NULL) return false;
  }
  return text.len > 0;
}

static bool is_one_line(mend_str text) {
  for (size_t i = 0; i < text.len; i++) {
    const unsigned char c = (unsigned char)text.ptr[i];
    if ((c < ' ' && c != '\t') || c == 0x7f) return false;
  }
  return true;
}

mend_status mend__http_check_request(const mend__http_request *request, mend_error *error) {
  if (!is_token(mend_str_from(request->method))) return mend_error_set(error, MEND_EINVAL, "the method is no word");
  for (size_t i = 0; i < request->header_count; i++) {
    const mend__http_header *header = &request->headers[i];
    if (!is_token(header->name)) return mend_error_set(error, MEND_EINVAL, "the name of header %zu is no word", i + 1);
    if (!is_one_line(header->value))
      return mend_error_set(error, MEND_EINVAL, "the header %.*s holds a line feed or another control character",
                            MEND_STR_ARG(header->name));
  }
  return MEND_OK;
}

/* ---- The lines ---- */

/* Curl would wait for an answer to "Expect: 100-continue", and call a body without a type a form. */
static const char *const taken_back[] = {"Expect:", "Content-Type:"};
enum { TAKEN_BACK = sizeof taken_back / sizeof *taken_back };

static bool is_named(mend_str line, mend_str name) {
  return curl_strnequal(line.ptr, name.ptr, name.len) && line.ptr[name.len] == ':';
}

static bool is_given(const mend__http_request *request, const char *line) {
  for (size_t i = 0; i < request->header_count; i++) {
    if (is_named(mend_str_from(line), request->headers[i].name)) return true;
  }
  return false;
}

static size_t line_size(const mend__http_header *header) { return header->name.len + header->value.len + 3; }

static size_t text_size(const mend__http_request *request) {
  size_t size = 0;
  for (size_t i = 0; i < request->header_count; i++)
    size += line_size(&request->headers[i]);
  return size;
}

/* "name: value", and "name;" for curl when there is no value. Returns where the next one goes. */
static char *write_line(char *text, const mend__http_header *header) {
  memcpy(text, header->name.ptr, header->name.len);
  text += header->name.len;
  if (header->value.len == 0) {
    memcpy(text, ";", 2);
    return text + 2;
  }
  memcpy(text, ": ", 2);
  memcpy(text + 2, header->value.ptr, header->value.len);
  text[2 + header->value.len] = '\0';
  return text + 2 + header->value.len + 1;
}

static void append(struct curl_slist *nodes, size_t *count, const char *line) {
  nodes[*count] = (struct curl_slist){.data = (char *)line}; /* curl only reads it */
  if (*count > 0) nodes[*count - 1].next = &nodes[*count];
  ++*count;
}

mend_status mend__http_write_lines(const mend_allocator *allocator, const mend__http_request *request,
                                   mend__http_request_lines *ret_lines) {
  const size_t nodes_size = (request->header_count + TAKEN_BACK) * sizeof(struct curl_slist);
  const size_t size = nodes_size + text_size(request);
  struct curl_slist *nodes = mend__alloc(allocator, size);
  if (nodes == NULL) return MEND_ENOMEM;
  char *text = (char *)nodes + nodes_size;
  size_t count = 0;
  for (size_t i = 0; i < TAKEN_BACK; i++) {
    if (!is_given(request, taken_back[i])) append(nodes, &count, taken_back[i]);
  }
  for (size_t i = 0; i < request->header_count; i++) {
    append(nodes, &count, text);
    text = write_line(text, &request->headers[i]);
  }
  *ret_lines = (mend__http_request_lines){nodes, size};
  return MEND_OK;
}

void mend__http_free_lines(const mend_allocator *allocator, mend__http_request_lines *lines) {
  if (lines->first == NULL) return;
  explicit_bzero(lines->first, lines->size);
  mend__free(allocator, lines->first);
  lines->first = NULL;
}

/* ---- For curl ---- */

/* Debian's curl trusts a folder beside the file. */
static bool set_trust(CURL *easy, const char *ca_file) {
  return ca_file == NULL || (curl_easy_setopt(easy, CURLOPT_CAINFO, ca_file) == CURLE_OK &&
                             curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

/* Neither the environment nor files in somebody's home have a say. */
static bool set_connection(CURL *easy, const mend__http *http, bool fresh) {
  return curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PROXY, http->proxy != NULL ? http->proxy : "") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_NOPROXY, "") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK && set_trust(easy, http->ca_file) &&
         curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, fresh ? 1L : 0L) == CURLE_OK;
}

/* No signals; and a name that is being looked up does not keep a transfer from being cancelled. */
static bool set_manners(CURL *easy) {
  return curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_ACCEPT_ENCODING, "gzip, deflate") == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_USERAGENT, "mend/" MEND_VERSION) == CURLE_OK;
}

static bool set_method(CURL *easy, const mend__http_request *request) {
  if (strcmp(request->method, "HEAD") == 0) return curl_easy_setopt(easy, CURLOPT_NOBODY, 1L) == CURLE_OK;
  if (strcmp(request->method, "GET") == 0 && request->body.len == 0) return true;
  const bool is_post = strcmp(request->method, "POST") == 0;
  if (is_post || request->body.len > 0) {
    if (curl_easy_setopt(easy, CURLOPT_POST, 1L) != CURLE_OK) return false;
    if (curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len) != CURLE_OK) return false;
  }
  return is_post || curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, request->method) == CURLE_OK;
}

bool mend__http_set_options(CURL *easy, const mend__http *http, const mend__http_request *request) {
  return curl_easy_setopt(easy, CURLOPT_URL, request->url) == CURLE_OK &&
         curl_easy_setopt(easy, CURLOPT_PATH_AS_IS, 1L) == CURLE_OK && set_connection(easy, http, request->fresh) &&
         set_manners(easy) && set_method(easy, request);
}
