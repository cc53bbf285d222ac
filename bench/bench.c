#include "bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

uint64_t bench_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void bench_use(uint64_t value) { __asm__ volatile("" : : "r"(value) : "memory"); }

void bench_need(bool ok, const char *what) {
  if (ok) return;
  fprintf(stderr, "mend-bench: %s failed\n", what);
  exit(2);
}

mend_bus *bench_bus(const mend_allocator *allocator, mend_clock *clock) {
  mend_bus_options options = MEND_BUS_OPTIONS_INIT;
  options.allocator = allocator;
  options.clock = clock;
  options.id_seed = 1;
  mend_bus *bus;
  bench_need(mend_bus_new(&options, &bus, NULL) == MEND_OK, "mend_bus_new");
  return bus;
}

mend_boundary *bench_guard(mend_run *run) {
  mend_boundary_options options = MEND_BOUNDARY_OPTIONS_INIT;
  options.run = run;
  mend_boundary *boundary;
  bench_need(mend_boundary_new(&options, &boundary, NULL) == MEND_OK, "mend_boundary_new");
  bench_need(mend_boundary_add_watchdog_hook(boundary, NULL, NULL, NULL, NULL) == MEND_OK,
             "mend_boundary_add_watchdog_hook");
  return boundary;
}

/* {"command": ..., "limit": ..., "paths": [...]} */
char *bench_arguments(size_t bytes, size_t *ret_len) {
  char *text = malloc(bytes + 256);
  bench_need(text != NULL, "malloc");
  int len = sprintf(text, "{\"command\":\"rg --files\",\"limit\":200,\"ratio\":0.25,\"paths\":[");
  for (int i = 0; (size_t)len + 24 < bytes; i++) {
    len += sprintf(text + len, "%s{\"path\":\"src/m%d.c\",\"line\":%d}", i > 0 ? "," : "", i % 1000, i);
  }
  len += sprintf(text + len, "]}");
  *ret_len = (size_t)len;
  return text;
}
