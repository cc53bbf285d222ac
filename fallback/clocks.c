#include "fallback/fallback_internal.h"

/* Room for a time that never comes; doubles are exact far beyond what a clock can be. */
static uint64_t limit_ns(double seconds) {
  const double ns = seconds * (double)MEND_SECOND_NS;
  return ns > 0 && ns < (double)INT64_MAX ? (uint64_t)ns : MEND_NEVER;
}

mend_status mend__clocks_init(mend__clocks *clocks, mend_loop *loop, void (*ring)(void *ctx), void *ctx) {
  *clocks = (mend__clocks){.set_to_ns = MEND_NEVER, .content_ns = MEND_NEVER};
  return mend__timer_new(loop, ring, ctx, &clocks->timer);
}

void mend__clocks_free(mend__clocks *clocks) { mend_timer_cancel(&clocks->timer); }

typedef struct due {
  const char *type;
  uint64_t at_ns; /* it is due later than this */
} due;

static uint64_t later(uint64_t time_ns, uint64_t limit_ns) {
  return limit_ns < MEND_NEVER - time_ns ? time_ns + limit_ns : MEND_NEVER;
}

static void consider(due *earliest, const char *type, uint64_t start_ns, uint64_t limit) {
  const uint64_t at_ns = later(start_ns, limit);
  if (at_ns < earliest->at_ns) *earliest = (due){type, at_ns};
}

/* The next one to run out. A first content ends the wait for a connection, too. */
static due earliest(const mend__clocks *clocks) {
  due found = {NULL, MEND_NEVER};
  if (clocks->content_ns != MEND_NEVER) {
    consider(&found, "idle_timeout", clocks->content_ns, clocks->idle_ns);
  } else {
    if (!clocks->connected) consider(&found, "connect_timeout", clocks->begun_ns, clocks->connect_ns);
    consider(&found, "first_content_timeout", clocks->begun_ns, clocks->first_content_ns);
  }
  consider(&found, "total_timeout", clocks->begun_ns, clocks->total_ns);
  return found;
}

static void set(mend__clocks *clocks, uint64_t at_ns, uint64_t now_ns) {
  clocks->set_to_ns = at_ns;
  if (at_ns != MEND_NEVER) mend__timer_set(clocks->timer, at_ns > now_ns ? at_ns - now_ns : 0);
}

void mend__clocks_start(mend__clocks *clocks, const mend_model_clocks *limits, uint64_t now_ns) {
  clocks->connect_ns = limit_ns(limits->connect_s);
  clocks->first_content_ns = limit_ns(limits->first_content_s);
  clocks->idle_ns = limit_ns(limits->idle_s);
  clocks->total_ns = limit_ns(limits->total_s);
  clocks->begun_ns = now_ns;
  set(clocks, earliest(clocks).at_ns, now_ns);
}

/* Only the first one can make something due earlier: afterwards the idle clock's time only moves away. */
void mend__clocks_content(mend__clocks *clocks, uint64_t now_ns) {
  const bool is_first = clocks->content_ns == MEND_NEVER;
  clocks->content_ns = now_ns;
  if (!is_first) return;
  const uint64_t at_ns = earliest(clocks).at_ns;
  if (at_ns < clocks->set_to_ns) set(clocks, at_ns, now_ns);
}

const char *mend__clocks_check(mend__clocks *clocks, uint64_t judged_ns, uint64_t now_ns) {
  const due next = earliest(clocks);
  if (next.at_ns < judged_ns) return next.type;
  set(clocks, next.at_ns, now_ns);
  return NULL;
}
