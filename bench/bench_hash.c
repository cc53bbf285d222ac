#include "bench.h"

#include "mend/json.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  char *text;
  size_t len;
  void *scratch;
} input;

/* Arguments as agents send them, about `bytes` long: {"command": ..., "limit": ..., "paths": [...]}. */
static void make_arguments(const bench_row *row) {
  const size_t bytes = (size_t)row->argument;
  input.text = malloc(bytes + 256);
  input.scratch = malloc(MEND_HASH_SCRATCH);
  bench_need(input.text != NULL && input.scratch != NULL, "malloc");
  int len = sprintf(input.text, "{\"command\":\"rg --files\",\"limit\":200,\"ratio\":0.25,\"paths\":[");
  for (int i = 0; (size_t)len + 24 < bytes; i++) {
    len += sprintf(input.text + len, "%s{\"path\":\"src/m%d.c\",\"line\":%d}", i > 0 ? "," : "", i % 1000, i);
  }
  len += sprintf(input.text + len, "]}");
  input.len = (size_t)len;
}

static void free_arguments(const bench_row *row) {
  (void)row;
  free(input.text);
  free(input.scratch);
}

static void hash_by_mend(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_json_hash_result result = mend_json_hash((mend_str){input.text, input.len}, input.scratch, MEND_HASH_SCRATCH);
    bench_need(!result.raw, "mend_json_hash");
    bench_use(result.hash.lo);
  }
}

static void hash_by_jansson(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    json_t *json = json_loadb(input.text, input.len, 0, NULL);
    bench_need(json != NULL, "json_loadb");
    char *dump = json_dumps(json, JSON_SORT_KEYS | JSON_COMPACT);
    bench_need(dump != NULL, "json_dumps");
    bench_use(mend_hash_bytes(mend_str_from(dump)).lo);
    free(dump);
    json_decref(json);
  }
}

static void scan_by_mend(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_json json;
    mend_json_init(&json, (mend_str){input.text, input.len}, MEND_JSON_DEPTH);
    while (mend_json_next(&json) > MEND_JSON_END)
      bench_use(json.slice.len);
    bench_need(json.token == MEND_JSON_END, "mend_json_next");
  }
}

#define HASH(size, bytes, goal)                                                                                        \
  {"exact canonical hash of " size " of arguments",                                                                    \
   "mend",                                                                                                             \
   make_arguments,                                                                                                     \
   hash_by_mend,                                                                                                       \
   free_arguments,                                                                                                     \
   bytes,                                                                                                              \
   1,                                                                                                                  \
   goal,                                                                                                               \
   0},                                                                                                                 \
  {                                                                                                                    \
    "exact canonical hash of " size " of arguments", "jansson, sorted", make_arguments, hash_by_jansson,               \
        free_arguments, bytes, 1, 0, 0                                                                                 \
  }

const bench_row bench_hash_rows[] = {
    HASH("100 B", 100, 150),
    HASH("1 KB", 1000, 2500),
    HASH("100 KB", 100000, 500000),
    {"scan 100 KB of arguments", "mend", make_arguments, scan_by_mend, free_arguments, 100000, 1, 0, 0},
};
const size_t bench_hash_row_count = sizeof bench_hash_rows / sizeof bench_hash_rows[0];
