/* Runs eventemitter3.js with node; Debian puts node's modules where only its
 * own node looks by itself. */
#include "bench/peers/peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double ask_node(const char *what, int64_t number) {
  char command[1024], answer[64];
  snprintf(command, sizeof command,
           "NODE_PATH=/usr/share/nodejs node --expose-gc '%s/eventemitter3.js' "
           "%s %lld 2>/dev/null",
           BENCH_PEERS, what, (long long)number);
  FILE *node = popen(command, "r");
  if (node == NULL) return NAN;
  const bool answered = fgets(answer, sizeof answer, node) != NULL;
  return pclose(node) == 0 && answered ? strtod(answer, NULL) : NAN;
}

double bench_emitter_listeners(const bench_row *row) { return ask_node("listeners", row->argument); }
double bench_emitter_topics(const bench_row *row) { return ask_node("topics", row->argument); }

size_t bench_emitter_bytes_a_listener(void) {
  const double bytes = ask_node("memory", 0);
  return isnan(bytes) ? 0 : (size_t)bytes;
}
