#include "core/lines.h"
#include "core/memory.h"
#include "http/http_internal.h"

#include <pthread.h>
#include <unistd.h>

enum { IDLE_CONNECTIONS = 100 };

/* ---- What is done when curl is not at work ---- */

static void ask_soon(mend__http *http) {
  if (!atomic_exchange(&http->asked, true)) mend__loop_post_own(http->loop, &http->soon);
}

void mend__http_queue(mend__http_transfer *transfer) {
  mend__http *http = transfer->http;
  if (transfer->queued) return;
  transfer->queued = true;
  transfer->next = NULL;
  *(http->first_queued != NULL ? &http->last_queued->next : &http->first_queued) = transfer;
  http->last_queued = transfer;
  ask_soon(http);
}

/* What is queued meanwhile waits for the next time. */
static void serve_queue(mend__http *http) {
  mend__http_transfer *transfer = http->first_queued;
  http->first_queued = http->last_queued = NULL;
  while (transfer != NULL) {
    mend__http_transfer *next = transfer->next;
    transfer->queued = false;
    mend__http_serve(transfer);
    transfer = next;
  }
}

static void finish_completed(mend__http *http) {
  int left;
  for (CURLMsg *message; (message = curl_multi_info_read(http->multi, &left)) != NULL;) {
    mend__http_transfer *transfer = NULL;
    if (message->msg != CURLMSG_DONE) continue;
    const CURLcode code = message->data.result;
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&transfer);
    mend__http_finish(transfer, code);
  }
}

/* Ends come first: a transfer that curl is through with needs no serving. */
void mend__http_drive(mend__http *http, curl_socket_t fd, int events) {
  int running;
  http->inside_curl = true;
  curl_multi_socket_action(http->multi, fd, events, &running);
  http->inside_curl = false;
  finish_completed(http);
  serve_queue(http);
}

/* The function is called obsolete because it costs a look at each. */
void mend__http_look_at_all(mend__http *http) {
  int running;
  http->inside_curl = true;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
  curl_multi_socket_all(http->multi, &running);
#pragma GCC diagnostic pop
  http->inside_curl = false;
}

/* ---- When curl wants to be called ---- */

static void on_timer(void *ctx) { mend__http_drive(ctx, CURL_SOCKET_TIMEOUT, 0); }

/* Real time for curl, the loop's for the rest: under a virtual clock curl comes too early and asks again. */
static int set_timer(CURLM *multi, long delay_ms, void *ctx) {
  (void)multi;
  mend__http *http = ctx;
  if (delay_ms > 0) {
    mend__timer_set(http->timer, (uint64_t)delay_ms * 1000000);
    return 0;
  }
  mend__timer_clear(http->timer);
  if (delay_ms == 0) ask_soon(http);
  return 0;
}

/* ---- Life ---- */

/* Closing idle connections must not ask for another turn. */
static void destroy(mend__http *http) {
  mend_timer_cancel(&http->timer);
  if (http->multi != NULL) {
    curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, NULL);
    curl_multi_cleanup(http->multi);
  }
  if (http->proxy != NULL) explicit_bzero(http->proxy, strlen(http->proxy)); /* it may hold a password */
  mend__free(http->allocator, http->proxy);
  mend__free(http->allocator, http->ca_file);
  mend__free(http->allocator, http);
}

static void do_soon(void *ctx) {
  mend__http *http = ctx;
  atomic_store(&http->asked, false);
  if (atomic_load(&http->references) == 0) {
    destroy(http);
    return;
  }
  serve_queue(http);
  mend__http_drive(http, CURL_SOCKET_TIMEOUT, 0);
}

/* For the whole process, once; curl counts how often it is called, and nobody undoes it. */
static bool begin_curl(void) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  static bool has_begun;
  pthread_mutex_lock(&lock);
  if (!has_begun) has_begun = curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
  const bool ok = has_begun;
  pthread_mutex_unlock(&lock);
  return ok;
}

static bool open_multi(mend__http *http) {
  if (!begin_curl()) return false;
  http->multi = curl_multi_init();
  return http->multi != NULL && curl_multi_setopt(http->multi, CURLMOPT_SOCKETFUNCTION, mend__http_watch) == CURLM_OK &&
         curl_multi_setopt(http->multi, CURLMOPT_SOCKETDATA, http) == CURLM_OK &&
         curl_multi_setopt(http->multi, CURLMOPT_TIMERFUNCTION, set_timer) == CURLM_OK &&
         curl_multi_setopt(http->multi, CURLMOPT_TIMERDATA, http) == CURLM_OK &&
         curl_multi_setopt(http->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS) == CURLM_OK;
}

static bool copy_text(const mend_allocator *allocator, const char *text, char **ret_copy) {
  if (text == NULL) return true;
  *ret_copy = mend__str_copy(allocator, mend_str_from(text));
  return *ret_copy != NULL;
}

static bool open_parts(mend__http *http, const mend__http_options *options) {
  return copy_text(http->allocator, options->proxy, &http->proxy) &&
         copy_text(http->allocator, options->ca_file, &http->ca_file) &&
         mend__timer_new(options->loop, on_timer, http, &http->timer) == MEND_OK && open_multi(http);
}

static mend_status check_proxy(const char *proxy, mend_error *error) {
  CURLU *url = curl_url();
  if (url == NULL) return mend_error_set(error, MEND_ENOMEM, "an HTTP client: out of memory");
  const CURLUcode code = curl_url_set(url, CURLUPART_URL, proxy, CURLU_DEFAULT_SCHEME | CURLU_NON_SUPPORT_SCHEME);
  curl_url_cleanup(url);
  return code == CURLUE_OK ? MEND_OK : mend_error_set(error, MEND_EINVAL, "the proxy is no URL");
}

static mend_status check_ca_file(const char *path, mend_error *error) {
  int fd;
  const mend_status status = mend__open_input(path, &fd, error);
  if (status == MEND_OK) close(fd);
  return status;
}

static mend_status check_options(const mend__http_options *options, mend_error *error) {
  mend_status status = MEND_OK;
  if (options->proxy != NULL) status = check_proxy(options->proxy, error);
  if (status == MEND_OK && options->ca_file != NULL) status = check_ca_file(options->ca_file, error);
  return status;
}

mend_status mend__http_new(const mend__http_options *options, mend__http **ret_http, mend_error *error) {
  const mend_status status = check_options(options, error);
  if (status != MEND_OK) return status;
  mend__http *http = mend__alloc_zero(options->allocator, sizeof *http);
  if (http != NULL) {
    http->allocator = options->allocator;
    http->allow_http = options->allow_http;
    http->soon = (mend__posted){.function = do_soon, .ctx = http};
    atomic_init(&http->references, 1);
  }
  if (http == NULL || !open_parts(http, options)) {
    if (http != NULL) destroy(http);
    return mend_error_set(error, MEND_ENOMEM, "an HTTP client: out of memory");
  }
  http->loop = mend_loop_retain(options->loop);
  *ret_http = http;
  return MEND_OK;
}

mend__http *mend__http_retain(mend__http *http) {
  atomic_fetch_add_explicit(&http->references, 1, memory_order_relaxed);
  return http;
}

/* It goes in the loop's next turn: what is posted runs, even when this is the loop's last reference. */
void mend__http_release(mend__http *http) {
  if (http == NULL || atomic_fetch_sub(&http->references, 1) != 1) return;
  mend_loop *loop = http->loop;
  ask_soon(http);
  mend_loop_release(loop);
}

mend_status mend__http_check(const mend__http *http, const char *url, mend_error *error) {
  return mend__http_check_url(url, http->allow_http, error);
}
