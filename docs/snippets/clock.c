/* What docs/api/clock.md quotes. */
#include <mend/clock.h>

#include <inttypes.h>
#include <stdio.h>

/* A request that is given up on when it takes too long. The deadline comes first, so that one is the other. */
typedef struct request {
  mend_deadline deadline;
  const char *name;
} request;

typedef struct client {
  mend_clock *clock;
  mend_deadlines *deadlines;
} client;

static uint64_t next_deadline(void *ctx) { return mend_deadlines_wait(((client *)ctx)->deadlines); }

static void give_up(void *ctx, uint64_t now_ns) {
  request *late;
  while ((late = (request *)mend_deadlines_expire(((client *)ctx)->deadlines, now_ns)) != NULL)
    printf("%s is given up at %" PRIu64 " ns\n", late->name, now_ns);
}

int main(void) {
  client ours = {NULL, NULL};
  request first = {.name = "the first"}, second = {.name = "the second"};
  const mend_clock_driver driver = {sizeof driver, next_deadline, give_up, &ours};
  mend_status status = mend_clock_new_virtual(NULL, (mend_time){0, 0}, &ours.clock);
  if (status == MEND_OK) status = mend_deadlines_new(NULL, (mend_waker){NULL, NULL}, &ours.deadlines);
  if (status == MEND_OK) status = mend_clock_add_driver(ours.clock, &driver);
  if (status == MEND_OK) {
    const uint64_t now = mend_clock_now(ours.clock).mono_ns;
    mend_deadlines_arm(ours.deadlines, &first.deadline, now, 60 * MEND_SECOND_NS);
    mend_deadlines_arm(ours.deadlines, &second.deadline, now, 60 * MEND_SECOND_NS);
    mend_deadlines_disarm(ours.deadlines, &first.deadline); /* it was answered */
    status = mend_clock_advance(ours.clock, 3600 * MEND_SECOND_NS);
    mend_clock_remove_driver(ours.clock, &ours);
  }
  if (status != MEND_OK) fprintf(stderr, "%s\n", mend_status_message(status));
  mend_deadlines_free(ours.deadlines);
  mend_clock_release(ours.clock);
  return status == MEND_OK ? 0 : 1;
}

/* ---- What is armed ---- */

void print_armed(const mend_deadlines *deadlines);

void print_armed(const mend_deadlines *deadlines) {
  char *text;
  if (mend_deadlines_dump(deadlines, NULL, &text) != MEND_OK) return;
  fputs(text, stderr);
  mend_free(NULL, text);
}
