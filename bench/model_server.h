/* A provider of models that has its answers ready: a process of its own, on 127.0.0.1, that speaks OpenAI's Chat
 * Completions to clients that keep their connections. A request whose path has "/stream/" in it gets a stream, any
 * other one a short reply. */
#ifndef MEND_BENCH_MODEL_SERVER_H
#define MEND_BENCH_MODEL_SERVER_H

#include <sys/types.h>

enum { BENCH_DELTAS = 2000 };

typedef struct bench_server {
  pid_t process;
  unsigned port;
} bench_server;

bench_server bench_server_start(void);
void bench_server_stop(const bench_server *server);

#endif
