#include "support/fault_server.h"

#include "support/mend_test.h"

#include <event2/event.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

enum { PATIENCE_S = 10 };

typedef struct record {
  char *head, *target, *body;
  mend_test_request told;
} record;

struct mend_test_faults {
  struct event_base *base;
  fault_server *server;
  struct event *stop;
  int stop_pipe[2];
  pthread_t thread;
  char url[64];
  /* What follows is under the mutex. */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  mend_test_fault_counts counts;
  record *records;
  size_t capacity;
  char faults[512];
};

/* ---- On the server's thread ---------------------------------------------------------------------------------- */

static void begin_change(mend_test_faults *of) { pthread_mutex_lock(&of->mutex); }

static void end_change(mend_test_faults *of) {
  pthread_cond_broadcast(&of->changed);
  pthread_mutex_unlock(&of->mutex);
}

static void on_connected(void *ctx) {
  mend_test_faults *of = ctx;
  begin_change(of);
  of->counts.connections++;
  of->counts.open++;
  end_change(of);
}

static void on_disconnected(void *ctx) {
  mend_test_faults *of = ctx;
  begin_change(of);
  of->counts.open--;
  end_change(of);
}

static void on_faults(void *ctx, const fault_exchange *exchange, mend__buffer *ret_list) {
  mend_test_faults *of = ctx;
  (void)exchange;
  pthread_mutex_lock(&of->mutex);
  mend__buffer_str(ret_list, mend_str_from(of->faults));
  pthread_mutex_unlock(&of->mutex);
}

/* There is no test to fail on this thread. */
static void *must_have(void *memory) {
  if (memory == NULL) abort();
  return memory;
}

static char *copy_text(mend_str text) {
  char *copy = must_have(malloc(text.len + 1));
  if (text.len > 0) memcpy(copy, text.ptr, text.len);
  copy[text.len] = '\0';
  return copy;
}

static void on_asked(void *ctx, const fault_exchange *exchange) {
  mend_test_faults *of = ctx;
  const http_request *request = exchange->request;
  record added = {.head = copy_text((mend_str){request->head.data, request->head.len}),
                  .target = copy_text(request->target),
                  .body = copy_text((mend_str){request->body.data, request->body.len})};
  added.told = (mend_test_request){.head = added.head,
                                   .target = added.target,
                                   .body = added.body,
                                   .body_len = request->body.len,
                                   .connection = exchange->connection,
                                   .nth = exchange->nth};
  begin_change(of);
  if (of->counts.requests == of->capacity) {
    of->capacity = of->capacity > 0 ? of->capacity * 2 : 16;
    of->records = must_have(realloc(of->records, of->capacity * sizeof *of->records));
  }
  of->records[of->counts.requests++] = added;
  of->counts.under_way++;
  end_change(of);
}

static void on_ended(void *ctx, const fault_exchange *exchange) {
  mend_test_faults *of = ctx;
  begin_change(of);
  mend_test_request *told = &of->records[exchange->number - 1].told;
  told->status = exchange->status;
  told->bytes = exchange->bytes;
  told->end = exchange->end;
  of->counts.ended[exchange->end]++;
  of->counts.under_way--;
  end_change(of);
}

static void on_stop(evutil_socket_t fd, short what, void *ctx) {
  (void)fd;
  (void)what;
  event_base_loopbreak(ctx);
}

/* A client that has gone is an error of writing here, not the end of the process. */
static void ignore_broken_pipes(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static void *run(void *ctx) {
  mend_test_faults *of = ctx;
  ignore_broken_pipes();
  event_base_dispatch(of->base);
  fault_server_free(of->server);
  return NULL;
}

/* ---- Starting and stopping ----------------------------------------------------------------------------------- */

mend_test_faults *mend_test_faults_start(const char *script) {
  mend_test_faults *of = calloc(1, sizeof *of);
  mend_error error = MEND_ERROR_INIT;
  cr_assert_not_null(of);
  pthread_mutex_init(&of->mutex, NULL);
  pthread_cond_init(&of->changed, NULL);
  of->base = event_base_new();
  cr_assert_not_null(of->base);
  const fault_server_options options = {.script = mend_str_from(script),
                                        .observer = {of, on_connected, on_disconnected, on_faults, on_asked, on_ended}};
  const mend_status status = fault_server_new(of->base, &options, &of->server, &error);
  cr_assert_eq(status, MEND_OK, "the fault server: %s", mend_error_sentence(&error, status));
  snprintf(of->url, sizeof of->url, "http://127.0.0.1:%u", fault_server_port(of->server));
  cr_assert_eq(pipe(of->stop_pipe), 0);
  of->stop = event_new(of->base, of->stop_pipe[0], EV_READ, on_stop, of->base);
  cr_assert(of->stop != NULL && event_add(of->stop, NULL) == 0);
  cr_assert_eq(pthread_create(&of->thread, NULL, run, of), 0);
  return of;
}

void mend_test_faults_stop(mend_test_faults *of) {
  close(of->stop_pipe[1]);
  pthread_join(of->thread, NULL);
  event_free(of->stop);
  close(of->stop_pipe[0]);
  event_base_free(of->base);
  for (size_t i = 0; i < of->counts.requests; i++) {
    free(of->records[i].head);
    free(of->records[i].target);
    free(of->records[i].body);
  }
  free(of->records);
  pthread_cond_destroy(&of->changed);
  pthread_mutex_destroy(&of->mutex);
  free(of);
}

const char *mend_test_faults_url(const mend_test_faults *of) { return of->url; }
unsigned mend_test_faults_port(const mend_test_faults *of) { return fault_server_port(of->server); }

void mend_test_faults_set(mend_test_faults *of, const char *list) {
  pthread_mutex_lock(&of->mutex);
  snprintf(of->faults, sizeof of->faults, "%s", list);
  pthread_mutex_unlock(&of->mutex);
}

/* ---- Looking ------------------------------------------------------------------------------------------------- */

mend_test_fault_counts mend_test_faults_counts(mend_test_faults *of) {
  pthread_mutex_lock(&of->mutex);
  const mend_test_fault_counts counts = of->counts;
  pthread_mutex_unlock(&of->mutex);
  return counts;
}

static bool has_requests(const mend_test_fault_counts *counts, size_t wanted) { return counts->requests >= wanted; }
static bool has_open(const mend_test_fault_counts *counts, size_t wanted) { return counts->open == wanted; }
static bool is_idle(const mend_test_fault_counts *counts, size_t wanted) { return counts->under_way == wanted; }

static bool wait_until(mend_test_faults *of, bool (*so)(const mend_test_fault_counts *counts, size_t wanted),
                       size_t wanted) {
  struct timespec limit;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += PATIENCE_S;
  pthread_mutex_lock(&of->mutex);
  int result = 0;
  while (result == 0 && !so(&of->counts, wanted))
    result = pthread_cond_timedwait(&of->changed, &of->mutex, &limit);
  const bool is_so = so(&of->counts, wanted);
  pthread_mutex_unlock(&of->mutex);
  return is_so;
}

bool mend_test_faults_wait_requests(mend_test_faults *of, size_t at_least) {
  return wait_until(of, has_requests, at_least);
}
bool mend_test_faults_wait_open(mend_test_faults *of, size_t connections) {
  return wait_until(of, has_open, connections);
}
bool mend_test_faults_wait_idle(mend_test_faults *of) { return wait_until(of, is_idle, 0); }

mend_test_request mend_test_faults_request(mend_test_faults *of, size_t index) {
  mend_test_request told = {0};
  pthread_mutex_lock(&of->mutex);
  const size_t count = of->counts.requests;
  if (index < count) told = of->records[index].told;
  pthread_mutex_unlock(&of->mutex);
  cr_assert(index < count, "request %zu of %zu", index, count);
  return told;
}

bool mend_test_request_has(const mend_test_request *request, const char *line) {
  const size_t len = strlen(line);
  for (const char *place = request->head; place != NULL && *place != '\0';) {
    const char *end = strchr(place, '\n');
    if ((size_t)(end - place) == len && strncasecmp(place, line, len) == 0) return true;
    place = end + 1;
  }
  return false;
}
