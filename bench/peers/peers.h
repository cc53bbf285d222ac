/* The peers. Each is in a file of its own that is built where the peer is
 * installed; where it is not, its functions are not there either: they are
 * weak, so that their addresses are NULL and rows that name them say so. */
#ifndef MEND_BENCH_PEERS_H
#define MEND_BENCH_PEERS_H

#include "bench/bench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BENCH_PEER __attribute__((weak))
#define BENCH_PEER_ROW(name)                                                                                           \
  BENCH_PEER void bench_##name##_open(const bench_row *row);                                                           \
  BENCH_PEER void bench_##name##_run(const bench_row *row, uint64_t count);                                            \
  BENCH_PEER void bench_##name##_close(const bench_row *row);

/* For a row's members prepare, run and finish. */
#define BENCH_PEER_FUNCTIONS(name) bench_##name##_open, bench_##name##_run, bench_##name##_close

BENCH_PEER_ROW(glib)              /* one GObject signal with `argument` handlers */
BENCH_PEER_ROW(glib_detail)       /* `argument` details of a signal, one handler for all */
BENCH_PEER_ROW(glib_detail_named) /* the same, by name */
BENCH_PEER_ROW(zeromq)            /* an XPUB and `argument` SUB sockets on inproc; each
                          reads every message */
BENCH_PEER_ROW(libevent)          /* the oldest of `argument` timers is deleted and added anew */
BENCH_PEER_ROW(jansson)           /* arguments of `argument` bytes: load, dump with sorted
                           keys, hash */
BENCH_PEER_ROW(simdjson)          /* the same arguments: every value is read */

/* Node's eventemitter3: `argument` listeners of one event, or one listener of a
 * thousand events, emitting to one. */
double bench_emitter_listeners(const bench_row *row);
double bench_emitter_topics(const bench_row *row);

/* OpenAI's SDK for Node: nanoseconds of a stream of the server at this base URL. NaN when it is not installed. */
double bench_openai_stream(const char *url);

/* Bytes of a handler; 0 when the peer is not there. */
BENCH_PEER size_t bench_glib_bytes_a_handler(void);
size_t bench_emitter_bytes_a_listener(void);

#ifdef __cplusplus
}
#endif
#endif
