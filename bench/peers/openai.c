/* Runs openai.js with node; npm puts the module beside it. */
#include "bench/peers/peers.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

double bench_openai_stream(const char *url) {
  char command[1024], answer[64];
  snprintf(command, sizeof command, "node '%s/openai.js' '%s' 2>/dev/null", BENCH_PEERS, url);
  FILE *node = popen(command, "r");
  if (node == NULL) return NAN;
  const bool answered = fgets(answer, sizeof answer, node) != NULL;
  return pclose(node) == 0 && answered ? strtod(answer, NULL) : NAN;
}
