#include "program/doctor/visit.h"

#include "core/seconds.h"
#include "loop/room.h"

#include <pthread.h>
#include <stdio.h>

enum { BODY_MAX = 4 * 1024 * 1024 };

/* One that is under way. All but the lock and what it covers is only looked at on the loop's thread. */
typedef struct going {
  visit *found;
  mend_loop *loop;
  mend__http *http;
  const mend__http_request *request;
  uint64_t limit_ns, begun_ns;
  mend__http_transfer *transfer;
  mend_timer *timer;
  mend_status status; /* of beginning */
  mend_error error;

  pthread_mutex_t lock; /* covers is_over */
  pthread_cond_t changed;
  bool is_over;
} going;

/* ---- On the loop's thread ---- */

static uint64_t now_ns(const going *self) { return mend_clock_now(mend_loop_clock(self->loop)).mono_ns; }

static void end(going *self, const char *fault, const char *message) {
  self->found->fault = fault;
  self->found->ns = now_ns(self) - self->begun_ns;
  if (message != NULL) snprintf(self->found->message, sizeof self->found->message, "%s", message);
  pthread_mutex_lock(&self->lock);
  self->is_over = true;
  pthread_cond_signal(&self->changed);
  pthread_mutex_unlock(&self->lock);
}

static void hear_connected(void *ctx) { (void)ctx; }

/* HTTP's date: "Mon, 30 Nov 2026 17:03:31 GMT". */
static int64_t skew_from(mend_str date) {
  char text[64];
  struct tm parts = {0};
  if (date.len == 0 || date.len >= sizeof text) return 0;
  snprintf(text, sizeof text, "%.*s", MEND_STR_ARG(date));
  const char *rest = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (rest == NULL || *rest != '\0') return 0;
  return (int64_t)(mend_clock_now(mend_clock_real()).wall_ns / MEND_SECOND_NS) - (int64_t)timegm(&parts);
}

static void hear_head(void *ctx, const mend__http_head *head) {
  visit *found = ((going *)ctx)->found;
  found->status = head->status;
  found->skew_s = skew_from(mend__http_find(head, "date"));
}

static void hear_body(void *ctx, mend_str bytes) { mend__buffer_str(&((going *)ctx)->found->body, bytes); }

static void hear_end(void *ctx, const mend__http_end *told) { end(ctx, told->fault, told->message); }

static void run_out(void *ctx) {
  going *self = ctx;
  if (self->transfer == NULL || self->is_over) return;
  mend__http_cancel(&self->transfer);
  end(self, self->found->status == 0 ? "timeout" : "stalled", NULL);
}

static void begin(void *ctx) {
  static const mend__http_listener listener = {hear_connected, hear_head, hear_body, hear_end};
  going *self = ctx;
  self->begun_ns = now_ns(self);
  self->status = mend__http_send(self->http, self->request, &listener, self, &self->transfer, &self->error);
  if (self->status != MEND_OK) return;
  self->status = mend_loop_after(self->loop, self->limit_ns, run_out, self, &self->timer);
  if (self->status != MEND_OK) mend__http_cancel(&self->transfer);
}

static void clean_up(void *ctx) {
  going *self = ctx;
  mend_timer_cancel(&self->timer);
  mend__http_cancel(&self->transfer);
}

/* ---- On the caller's ---- */

static void wait_for(going *self) {
  pthread_mutex_lock(&self->lock);
  while (!self->is_over)
    pthread_cond_wait(&self->changed, &self->lock);
  pthread_mutex_unlock(&self->lock);
}

static mend_status go(going *self, mend_error *error) {
  mend__loop_call(self->loop, begin, self);
  if (self->status == MEND_OK) {
    wait_for(self);
    mend__loop_call(self->loop, clean_up, self);
  }
  if (self->status != MEND_OK) *error = self->error;
  pthread_cond_destroy(&self->changed);
  pthread_mutex_destroy(&self->lock);
  return self->status;
}

mend_status visit_url(mend_loop *loop, mend__http *http, const char *url, const mend__wire *wire, double limit_s,
                      visit *ret_visit, mend_error *error) {
  mend__http_header headers[MEND__WIRE_HEADERS];
  for (size_t i = 0; i < wire->header_count; i++) {
    const mend__wire_header *from = &wire->headers[i];
    headers[i] = (mend__http_header){mend_str_from(from->name), mend__buffer_text(&from->value)};
  }
  const mend__http_request request = {
      .method = "GET", .url = url, .headers = headers, .header_count = wire->header_count, .body_limit = BODY_MAX};
  going self = {.found = ret_visit,
                .loop = loop,
                .http = http,
                .request = &request,
                .limit_ns = mend__seconds_to_ns(limit_s),
                .error = MEND_ERROR_INIT,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .changed = PTHREAD_COND_INITIALIZER};
  *ret_visit = (visit){.fault = NULL};
  mend__buffer_init(&ret_visit->body, NULL);
  return go(&self, error);
}

void visit_free(visit *ended) { mend__buffer_free(&ended->body); }
