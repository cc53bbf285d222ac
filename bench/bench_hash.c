#include "bench/bench.h"
#include "bench/peers/peers.h"

#include "mend/json.h"

#include <stdlib.h>

static struct {
  char *text;
  size_t len;
  void *scratch;
} input;

static void make_arguments(const bench_row *row) {
  input.text = bench_arguments((size_t)row->argument, &input.len);
  input.scratch = malloc(MEND_HASH_SCRATCH);
  bench_need(input.scratch != NULL, "malloc");
}

static void free_arguments(const bench_row *row) {
  (void)row;
  free(input.text);
  free(input.scratch);
}

static void hash_exactly(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_json_hash_result result = mend_json_hash((mend_str){input.text, input.len}, input.scratch, MEND_HASH_SCRATCH);
    bench_need(!result.raw, "mend_json_hash");
    bench_use(result.hash.lo);
  }
}

static void hash_loosely(const bench_row *row, uint64_t count) {
  (void)row;
  for (uint64_t i = 0; i < count; i++) {
    mend_json_hash_result result =
        mend_json_hash_loose((mend_str){input.text, input.len}, NULL, input.scratch, MEND_HASH_SCRATCH);
    bench_need(!result.raw, "mend_json_hash_loose");
    bench_use(result.hash.lo);
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

#define EXACT(size) "exact hash of " size " of arguments"
#define LOOSE(size) "loose hash of " size " of arguments"
#define HASH_ROWS(size, bytes, goal, operations)                                                                       \
  {EXACT(size),       "mend",          make_arguments,        hash_exactly,         free_arguments,                    \
   .argument = bytes, .goal_ns = goal, .key = "hash-" #bytes, .counted = operations},                                  \
      {EXACT(size), "jansson, sorted", BENCH_PEER_FUNCTIONS(jansson), .argument = bytes},                              \
      {EXACT(size), "simdjson, reading", BENCH_PEER_FUNCTIONS(simdjson), .argument = bytes}, {                         \
    LOOSE(size), "mend", make_arguments, hash_loosely, free_arguments,                                                 \
        .argument = bytes, .versus = EXACT(size), .versus_who = "mend", .key = "hash-loose-" #bytes,                   \
        .counted = operations                                                                                          \
  }

static const bench_row rows[] = {
    HASH_ROWS("100 B", 100, 150, 20000),
    HASH_ROWS("1 KB", 1000, 2500, 2000),
    HASH_ROWS("100 KB", 100000, 500000, 20),
    {"scan 100 KB of arguments", "mend", make_arguments, scan_by_mend, free_arguments, .argument = 100000,
     .key = "scan-100000", .counted = 20},
    {"scan 100 KB of arguments", "simdjson, reading", BENCH_PEER_FUNCTIONS(simdjson), .argument = 100000},
};
const bench_rows bench_hash_rows = BENCH_ROWS(rows);
