#include "bench/peers/peers.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <stdlib.h>

static struct {
  struct event_base *base;
  struct event *timers;
  uint64_t oldest;
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
  with.timers = calloc(count, sizeof *with.timers);
  bench_need(with.base != NULL && with.timers != NULL, "event_base_new");
  with.oldest = 0;
  for (size_t i = 0; i < count; i++) {
    evtimer_assign(&with.timers[i], with.base, never, NULL);
    add(&with.timers[i]);
  }
}

void bench_libevent_run(const bench_row *row, uint64_t count) {
  for (uint64_t i = 0; i < count; i++) {
    struct event *timer = &with.timers[with.oldest++ % (uint64_t)row->argument];
    evtimer_del(timer);
    add(timer);
  }
}

void bench_libevent_close(const bench_row *row) {
  for (int64_t i = 0; i < row->argument; i++)
    evtimer_del(&with.timers[i]);
  event_base_free(with.base);
  free(with.timers);
}
