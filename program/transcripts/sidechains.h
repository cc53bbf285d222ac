/* Which subagent of a Claude Code session a row belongs to, where rows do not say, and the call that started it. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_SIDECHAINS_H
#define MEND_PROGRAM_TRANSCRIPTS_SIDECHAINS_H

#include "mend/core.h"

enum { SIDECHAINS_MAX = 16, SIDECHAIN_STEPS = 32, SIDECHAIN_CALL_MAX = 96 };

/* A call that started a subagent. */
typedef struct sidechain_start {
  mend_hash prompt;
  char call[SIDECHAIN_CALL_MAX];
} sidechain_start;

/* Rows that follow each other: each names the one before it. */
typedef struct sidechain {
  uint64_t number; /* from 1 */
  uint64_t steps[SIDECHAIN_STEPS];
  size_t next_step;
  char call[SIDECHAIN_CALL_MAX]; /* which started it; "" when nobody knows */
} sidechain;

/* As many as are under way at once; the one that began first is forgotten. Zeros at first. */
typedef struct sidechains {
  sidechain chains[SIDECHAINS_MAX];
  uint64_t begun;
  sidechain_start starts[SIDECHAINS_MAX];
  uint64_t started;
} sidechains;

/* A call with this id gave a subagent this prompt. */
void sidechains_start(sidechains *of, mend_str call, mend_str prompt);
/* The first call that gave a subagent this prompt and has not been asked for yet, "" when there is none. Valid until
 * the next one starts. */
const char *sidechains_starter(sidechains *of, mend_str prompt);
/* A row of a sidechain: its own id, the id of the row before it, absent for the first, and what the first one says.
 * NULL for a row that follows none that is known. */
const sidechain *sidechains_follow(sidechains *of, mend_str row, mend_str before, mend_str prompt);

#endif
