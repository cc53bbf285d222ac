/* Torture: every scenario again and again, with its allocation n failing, once and from n on, for every n there is.
 *
 * A scenario is a row of a table in torture_<room>.c, and its heart is `attempt`, which uses a room as a program does:
 *
 *   static mend_status subscribe(torture *t) {
 *     mend_status status = torture_open_bus(t);
 *     if (status != MEND_OK) goto end;
 *     TRY(mend_bus_subscribe(t->bus, "own.*", torture_count_event, t, NULL, NULL, NULL));
 *     TRY(mend_run_emit(t->run, "own.topic", "{}", NULL));
 *     torture_claim(t, t->events == 1, "the event was delivered");
 *   end:
 *     torture_close_bus(t);
 *     return status;
 *   }
 *
 * Afterwards an error was reported, or what was claimed is true; nothing is left of its memory; and without failures
 * the same attempt succeeds, on the same objects where `prepare` has made them. */
#ifndef MEND_TESTS_TORTURE_H
#define MEND_TESTS_TORTURE_H

#include "mend/bus.h"

#include <stdint.h>

typedef struct torture {
  const mend_allocator *allocator; /* the one that fails, also behind libevent */
  mend_clock *clock;               /* by torture_open_bus: virtual, and what stands on it */
  mend_bus *bus;
  mend_run *run;
  uint64_t events; /* for a scenario to count what it is called with; 0 at first, as `own` and `more` are NULL */
  void *own, *more;
  bool reported; /* an error was told by something else than attempt's status */
} torture;

typedef struct torture_scenario {
  const char *name;
  mend_status (*attempt)(torture *t);
  /* Around the attempts, without failures; NULL: nothing. An attempt that failed is repeated on what prepare has
   * made. */
  void (*prepare)(torture *t);
  void (*finish)(torture *t);
} torture_scenario;

typedef struct torture_room {
  const char *name;
  const torture_scenario *scenarios;
  size_t count;
} torture_room;

#define TORTURE_ROOM(name, scenarios)                                                                                  \
  { (name), (scenarios), sizeof(scenarios) / sizeof *(scenarios) }

/* Inside a function with a `status` and a label `end`. */
#define TRY(call)                                                                                                      \
  do {                                                                                                                 \
    status = (call);                                                                                                   \
    if (status != MEND_OK) goto end;                                                                                   \
  } while (0)

/* What holds whatever fails; what does not hold is a violation. */
void torture_must(torture *t, bool holds, const char *what);
/* What holds unless an error was reported. */
void torture_claim(torture *t, bool holds, const char *what);

/* A bus on a virtual clock with a run called "r"; its events bus.handler_failed and hook.failed are errors that
 * were reported. When it fails, torture_close_bus is still to be called. */
mend_status torture_open_bus(torture *t);
void torture_close_bus(torture *t);
/* A subscriber that counts. ctx: the torture. */
mend_status torture_count_event(void *ctx, const mend_event *event);

#endif
