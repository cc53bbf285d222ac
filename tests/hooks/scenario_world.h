/* Where a scenario plays: a boundary on a virtual clock and counted memory, and what was seen of it. */
#ifndef MEND_TESTS_HOOKS_SCENARIO_WORLD_H
#define MEND_TESTS_HOOKS_SCENARIO_WORLD_H

#include "gate.h"
#include "hooks/boundary_internal.h"
#include "mend/flows.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOG_SIZE = 8192, PARTS_MAX = 16, CALLS_MAX = 512, KEPT_MAX = 8 };

typedef struct log_text {
  char text[LOG_SIZE];
  size_t len;
} log_text;

/* A hook or a tool whose behaviour is written down: for each time it is asked one item, the last one from then on. */
typedef struct scripted {
  struct scenario *scenario;
  char name[64];
  char scripts[3][256]; /* before, after, on_error; of a tool the first */
  unsigned asked[3];
} scripted;

typedef struct scenario {
  mend_test_allocator memory;
  mend_clock *clock;
  mend_bus *bus;
  mend_run *run;
  mend_tools *tools;
  mend_hooks *hooks;
  mend_boundary *boundary;
  scripted parts[PARTS_MAX];
  size_t part_count;
  mend__abort_frame frames[4];
  size_t frame_count;
  mend_token *token;         /* of the latest call that a tool was given */
  mend_call *kept[KEPT_MAX]; /* by tools that answer later, the oldest first */
  size_t kept_count;
  unsigned started, done;
  size_t threads;               /* before there was a pool; 0: there is none */
  gate lingers, may_end, ended; /* of tools that linger */
  log_text events, ran, result;
  log_text said;     /* warnings in the bus's log */
  const char *place; /* file and line, for messages */
  bool expects;      /* false: what is expected is not looked at (torture) */
  size_t differences;

  /* Every before must get one terminal event, and no two attempts of a call are open at once. */
  unsigned befores[CALLS_MAX], ends[CALLS_MAX];
} scenario;

/* ---- Logs ---- */

__attribute__((format(printf, 2, 3))) static inline void note(log_text *log, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int len = vsnprintf(log->text + log->len, LOG_SIZE - log->len, format, arguments);
  va_end(arguments);
  cr_assert(len >= 0 && log->len + (size_t)len < LOG_SIZE);
  log->len += (size_t)len;
}

static inline void note_word(log_text *log, const char *word) { note(log, "%s%s", log->len > 0 ? " " : "", word); }

static inline void clear_log(log_text *log) {
  log->len = 0;
  log->text[0] = '\0';
}

#endif
