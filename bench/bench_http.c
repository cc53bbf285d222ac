/* The parser of event streams, fed as curl feeds it, beside what finding the ends of its lines takes. */
#include "bench/bench.h"

#include "http/sse.h"

#include <stdio.h>
#include <stdlib.h>

enum { STREAM = 1000000, PIECE = 16384 };

static struct {
  char *text;
  size_t len;
} stream;

/* Deltas as models send them. */
static void make_stream(const bench_row *row) {
  (void)row;
  stream.text = malloc(STREAM + 512);
  bench_need(stream.text != NULL, "malloc");
  for (stream.len = 0; stream.len < STREAM;) {
    stream.len += (size_t)sprintf(stream.text + stream.len,
                                  "data: {\"id\":\"chatcmpl-123\",\"object\":\"chat.completion.chunk\",\"created\":"
                                  "1694268190,\"model\":\"gpt-4.1\",\"choices\":[{\"index\":0,\"delta\":{\"content\":"
                                  "\" token %zu\"},\"logprobs\":null,\"finish_reason\":null}]}\n\n",
                                  stream.len);
  }
  stream.len = STREAM;
}

static void free_stream(const bench_row *row) {
  (void)row;
  free(stream.text);
}

static bool use_event(void *ctx, mend_str name, mend_str data) {
  (void)name;
  *(uint64_t *)ctx += data.len;
  return true;
}

static void parse_by_mend(const bench_row *row, uint64_t count) {
  (void)row;
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < count; i++) {
    mend__sse sse;
    mend__sse_init(&sse, NULL, STREAM);
    for (size_t fed = 0; fed < stream.len; fed += PIECE) {
      const size_t len = stream.len - fed < PIECE ? stream.len - fed : PIECE;
      bench_need(mend__sse_feed(&sse, (mend_str){stream.text + fed, len}, use_event, &bytes) == MEND_OK,
                 "an event stream");
    }
    mend__sse_free(&sse);
  }
  bench_use(bytes);
}

static void find_line_ends(const bench_row *row, uint64_t count) {
  (void)row;
  const char *const end = stream.text + stream.len;
  for (uint64_t i = 0; i < count; i++) {
    for (const char *place = stream.text; place != NULL; place = memchr(place, '\n', (size_t)(end - place)))
      bench_use((uint64_t)*place++);
  }
}

#define PARSE "a megabyte of an event stream"

static const bench_row rows[] = {
    {PARSE, "mend", make_stream, parse_by_mend, free_stream, .goal_ns = 2e6, .key = "sse-megabyte", .counted = 2},
    {PARSE, "memchr only", make_stream, find_line_ends, free_stream, .note = "what no parser can be faster than"},
};
const bench_rows bench_http_rows = BENCH_ROWS(rows);
