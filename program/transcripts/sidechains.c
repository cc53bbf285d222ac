#include "program/transcripts/sidechains.h"

#include "mend/json.h"

#include <stdio.h>

static uint64_t fingerprint(mend_str text) { return mend_hash_bytes(text).lo | 1; }

void sidechains_start(sidechains *of, mend_str call, mend_str prompt) {
  if (call.len == 0 || call.len >= SIDECHAIN_CALL_MAX || prompt.len == 0) return;
  sidechain_start *start = &of->starts[of->started++ % SIDECHAINS_MAX];
  start->prompt = mend_hash_bytes(prompt);
  snprintf(start->call, sizeof start->call, "%.*s", MEND_STR_ARG(call));
}

const char *sidechains_starter(sidechains *of, mend_str prompt) {
  if (prompt.len == 0) return "";
  const mend_hash hash = mend_hash_bytes(prompt);
  for (uint64_t i = 0; i < SIDECHAINS_MAX; i++) {
    sidechain_start *start = &of->starts[(of->started + i) % SIDECHAINS_MAX]; /* the oldest comes first */
    if (!mend_hash_equal(start->prompt, hash)) continue;
    start->prompt = (mend_hash){0, 0};
    return start->call;
  }
  return "";
}

static sidechain *find(sidechains *of, uint64_t step) {
  for (size_t i = 0; i < SIDECHAINS_MAX; i++) {
    for (size_t j = 0; j < SIDECHAIN_STEPS; j++) {
      if (of->chains[i].steps[j] == step) return &of->chains[i];
    }
  }
  return NULL;
}

static sidechain *begin(sidechains *of, mend_str prompt) {
  sidechain *chain = &of->chains[of->begun++ % SIDECHAINS_MAX];
  *chain = (sidechain){.number = of->begun};
  snprintf(chain->call, sizeof chain->call, "%s", sidechains_starter(of, prompt));
  return chain;
}

const sidechain *sidechains_follow(sidechains *of, mend_str row, mend_str before, mend_str prompt) {
  if (row.len == 0) return NULL;
  sidechain *chain = before.len > 0 ? find(of, fingerprint(before)) : begin(of, prompt);
  if (chain != NULL) chain->steps[chain->next_step++ % SIDECHAIN_STEPS] = fingerprint(row);
  return chain;
}
