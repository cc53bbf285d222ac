#include "bench/peers/peers.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

static struct {
  struct event_base *base;
  struct event *waiting;
  struct event timer;
} with;

static void never(evutil_socket_t fd, short what, void *ctx) {
  (void)fd;
  (void)what;
  (void)ctx;
}

static void add(struct event *timer) {
  const struct timeval minute = {.tv_sec = 60};
  bench_need(evtimer_add(timer, &minute) == 0, "evtimer_add");
}

void bench_libevent_open(const bench_row *row) {
  const size_t count = (size_t)row->argument;
  with.base = event_base_new();
  with.waiting = calloc(count + 1, sizeof *with.waiting);
  bench_need(with.base != NULL && with.waiting != NULL, "event_base_new");
  for (size_t i = 0; i < count; i++) {
    evtimer_assign(&with.waiting[i], with.base, never, NULL);
    add(&with.waiting[i]);
  }
  evtimer_assign(&with.timer, with.base, never, NULL);
}

void bench_libevent_run(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    add(&with.timer);
    evtimer_del(&with.timer);
  }
}

void bench_libevent_close(const bench_row *row) {
  for (int64_t i = row->argument; i > 0; i--)
    evtimer_del(&with.waiting[i - 1]);
  event_base_free(with.base);
  free(with.waiting);
}
