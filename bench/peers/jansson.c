#include "bench/peers/peers.h"

#include "mend/json.h"

#include <jansson.h>
#include <stdlib.h>

static struct {
  char *text;
  size_t len;
} input;

void bench_jansson_open(const bench_row *row) { input.text = bench_arguments((size_t)row->argument, &input.len); }

void bench_jansson_run(const bench_row *row, uint64_t count) {
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

void bench_jansson_close(const bench_row *row) {
  (void)row;
  free(input.text);
}
