#include "http/http_internal.h"

#include <errno.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <unistd.h>

const mend__http_fault mend__http_reset = {"reset", "the connection was reset"};
const mend__http_fault mend__http_no_memory = {"no_memory", "out of memory"};
const mend__http_fault mend__http_no_descriptors = {
    "no_descriptors",
    "too many files are open, in this program or on this machine: there is none left for a connection"};
const mend__http_fault mend__http_bad_head = {"malformed", "the reply is no HTTP"};
const mend__http_fault mend__http_long_head = {"malformed", "the head of the reply is too long"};
const mend__http_fault mend__http_too_large = {"too_large", "the reply is larger than allowed"};

static const mend__http_fault no_name = {"dns", "the host's name could not be resolved"};
static const mend__http_fault no_proxy_name = {"dns", "the proxy's name could not be resolved"};
static const mend__http_fault refused = {"refused", "the connection was refused"};
static const mend__http_fault proxy_refused = {"refused", "the connection to the proxy was refused"};
static const mend__http_fault no_proxy = {"connect_failed", "no connection to the proxy could be made"};
static const mend__http_fault no_tunnel = {"connect_failed", "the proxy makes no connection to the host"};
static const mend__http_fault no_connection = {"connect_failed", "no connection could be made"};
static const mend__http_fault no_tls = {"connect_failed", "no secure connection could be made"};
static const mend__http_fault certificate = {"certificate", "the server's certificate could not be verified"};
static const mend__http_fault closed = {"closed", "the connection was closed before the reply was complete"};
static const mend__http_fault bad_length = {"malformed", "the content-length of the reply is no length"};
static const mend__http_fault bad_chunk = {"malformed", "the body of the reply is not in chunks, as its head says"};
static const mend__http_fault bad_coding = {"malformed", "the body of the reply could not be decompressed"};
static const mend__http_fault bad_stream = {"malformed", "the reply is no HTTP/2"};
static const mend__http_fault other = {"other", "the request failed"};

/* The first row that fits counts. */
static const struct {
  CURLcode code;
  int os_error;                             /* 0: any */
  const char *detail;                       /* is in what curl says; NULL: any */
  const mend__http_fault *fault, *by_proxy; /* by_proxy: where there is one; NULL: the same */
} rows[] = {
    {CURLE_COULDNT_RESOLVE_HOST, 0, NULL, &no_name, NULL},
    {CURLE_COULDNT_RESOLVE_PROXY, 0, NULL, &no_proxy_name, NULL},
    {CURLE_COULDNT_CONNECT, ECONNREFUSED, NULL, &refused, &proxy_refused},
    {CURLE_COULDNT_CONNECT, 0, NULL, &no_connection, &no_proxy},
    {CURLE_OPERATION_TIMEDOUT, 0, NULL, &no_connection, &no_proxy},
    {CURLE_PROXY, 0, NULL, &no_connection, &no_proxy},
    {CURLE_SSL_CONNECT_ERROR, 0, NULL, &no_tls, NULL},
    {CURLE_PEER_FAILED_VERIFICATION, 0, NULL, &certificate, NULL},
    {CURLE_SSL_CACERT_BADFILE, 0, NULL, &certificate, NULL},
    {CURLE_SSL_ISSUER_ERROR, 0, NULL, &certificate, NULL},
    {CURLE_SSL_INVALIDCERTSTATUS, 0, NULL, &certificate, NULL},
    {CURLE_RECV_ERROR, 0, "CONNECT tunnel failed", &no_tunnel, NULL},
    {CURLE_SEND_ERROR, 0, NULL, &mend__http_reset, NULL},
    {CURLE_RECV_ERROR, 0, "chunk", &bad_chunk, NULL},
    {CURLE_RECV_ERROR, 0, NULL, &mend__http_reset, NULL},
    {CURLE_HTTP2_STREAM, 0, NULL, &mend__http_reset, NULL},
    {CURLE_HTTP2, 0, NULL, &bad_stream, NULL},
    {CURLE_GOT_NOTHING, 0, NULL, &closed, NULL},
    {CURLE_PARTIAL_FILE, 0, NULL, &closed, NULL},
    {CURLE_WEIRD_SERVER_REPLY, 0, "Content-Length", &bad_length, NULL},
    {CURLE_WEIRD_SERVER_REPLY, 0, NULL, &mend__http_bad_head, NULL},
    {CURLE_UNSUPPORTED_PROTOCOL, 0, NULL, &mend__http_bad_head, NULL},
    {CURLE_BAD_CONTENT_ENCODING, 0, NULL, &bad_coding, NULL},
    {CURLE_OUT_OF_MEMORY, 0, NULL, &mend__http_no_memory, NULL},
};

static const mend__http_fault *find_row(const mend__http_transfer *transfer, CURLcode code) {
  long os_error = 0;
  curl_easy_getinfo(transfer->easy, CURLINFO_OS_ERRNO, &os_error);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    if (rows[i].code != code || (rows[i].os_error != 0 && rows[i].os_error != os_error)) continue;
    if (rows[i].detail != NULL && strstr(transfer->detail, rows[i].detail) == NULL) continue;
    const bool by_proxy = rows[i].by_proxy != NULL && transfer->http->proxy != NULL;
    return by_proxy ? rows[i].by_proxy : rows[i].fault;
  }
  return &other;
}

/* What curl calls a name that is not found or a certificate that is not trusted may be a file that could not be
 * opened. */
static bool are_descriptors_gone(void) {
  const int fd = eventfd(0, EFD_CLOEXEC);
  const bool are_gone = fd < 0 && mend__http_is_shortage(errno);
  if (fd >= 0) close(fd);
  return are_gone;
}

bool mend__http_is_shortage(int os_error) { return os_error == EMFILE || os_error == ENFILE; }

/* Curl is content with half a head, and says of a line that is too long that it ran out of memory. */
const mend__http_fault *mend__http_find_fault(const mend__http_transfer *transfer, CURLcode code) {
  if (transfer->fault != NULL) return transfer->fault;
  if (code == CURLE_OK) return transfer->has_head ? NULL : &closed;
  if (!transfer->connected && are_descriptors_gone()) return &mend__http_no_descriptors;
  const bool reads_head = transfer->connected && !transfer->has_head;
  return code == CURLE_OUT_OF_MEMORY && reads_head ? &mend__http_long_head : find_row(transfer, code);
}

/* How much of a reply has come that is not complete. */
static void write_progress(const mend__http_transfer *transfer, char *text, size_t size) {
  curl_off_t come = 0, announced = -1;
  curl_easy_getinfo(transfer->easy, CURLINFO_SIZE_DOWNLOAD_T, &come);
  curl_easy_getinfo(transfer->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &announced);
  if (announced < 0) {
    snprintf(text, size, ": %" CURL_FORMAT_CURL_OFF_T " bytes of its body had come", come);
  } else {
    snprintf(text, size, ": %" CURL_FORMAT_CURL_OFF_T " of %" CURL_FORMAT_CURL_OFF_T " bytes of its body had come",
             come, announced);
  }
}

/* What curl says of a connection that was not made holds nothing of the request. */
void mend__http_explain(const mend__http_transfer *transfer, const mend__http_fault *fault,
                        char ret_message[MEND__HTTP_MESSAGE_MAX]) {
  char more[MEND__HTTP_MESSAGE_MAX] = "";
  if (fault == &closed && transfer->has_head) {
    write_progress(transfer, more, sizeof more);
  } else if (!transfer->connected && transfer->fault == NULL && transfer->detail[0] != '\0') {
    snprintf(more, sizeof more, ": %s", transfer->detail);
  }
  snprintf(ret_message, MEND__HTTP_MESSAGE_MAX, "%s%s", fault->sentence, more);
}
