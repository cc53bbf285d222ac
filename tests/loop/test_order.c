/* Descriptors before deadlines: what came in time counts, however long something else took meanwhile; and neither waits
 * for the other for ever. In real time. */
#include "loop/room.h"
#include "loop/world.h"

#include <sys/socket.h>
#include <unistd.h>

static const world_kind kinds[] = {OWN_THREAD, DISPATCHED};
enum { KINDS = sizeof kinds / sizeof *kinds };

typedef struct line { /* a connection with oneself */
  int near, far;
  mend__descriptor *descriptor;
} line;

static void open_line(line *l) {
  int ends[2];
  cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  *l = (line){.near = ends[0], .far = ends[1]};
}

static void close_line(line *l) {
  cr_assert_null(l->descriptor);
  close(l->near);
  close(l->far);
}

static void say(const line *l) { cr_assert_eq(write(l->far, "x", 1), 1); }

/* ---- An answer that is waited for no longer than a timer lets it ---- */

typedef struct asking {
  world w;
  line question, answer;
  mend_timer *deadline;
  atomic_uint answered, late;
} asking;

static void on_late(void *ctx) { ((asking *)ctx)->late++; }

static void on_answer(void *ctx, int fd, bool can_read, bool can_write) {
  (void)fd, (void)can_read, (void)can_write;
  asking *a = ctx;
  mend_timer_cancel(&a->deadline);
  mend__descriptor_unwatch(&a->answer.descriptor);
  a->answered++;
}

static void pass_real_time(uint64_t ns) {
  const uint64_t end_ns = mend_clock_now(mend_clock_real()).mono_ns + ns;
  while (mend_clock_now(mend_clock_real()).mono_ns < end_ns)
    sched_yield();
}

/* The answer comes while this takes far longer than the deadline leaves. */
static void on_question(void *ctx, int fd, bool can_read, bool can_write) {
  (void)fd, (void)can_read, (void)can_write;
  asking *a = ctx;
  mend__descriptor_unwatch(&a->question.descriptor);
  cr_assert_eq(mend_loop_after(a->w.loop, MEND_SECOND_NS / 1000, on_late, a, &a->deadline), MEND_OK);
  say(&a->answer);
  pass_real_time(MEND_SECOND_NS / 100);
}

static void watch_both(void *ctx) {
  asking *a = ctx;
  line *question = &a->question, *answer = &a->answer;
  mend__loop_watch(a->w.loop, answer->near, "answer", true, false, on_answer, a, &answer->descriptor);
  mend__loop_watch(a->w.loop, question->near, "question", true, false, on_question, a, &question->descriptor);
}

Test(loop_order, what_came_in_time_counts) {
  for (size_t i = 0; i < KINDS; i++) {
    asking a = {.late = 0};
    open_world(&a.w, kinds[i]);
    open_line(&a.question);
    open_line(&a.answer);
    mend__loop_call(a.w.loop, watch_both, &a);
    say(&a.question);
    while (atomic_load(&a.answered) + atomic_load(&a.late) == 0)
      sched_yield();
    flush(a.w.loop);
    cr_assert_eq(atomic_load(&a.late), 0u, "kind %d", (int)kinds[i]);
    cr_assert_eq(atomic_load(&a.answered), 1u);
    close_line(&a.question);
    close_line(&a.answer);
    close_world(&a.w);
  }
}

/* ---- A descriptor that is always ready, and a timer that is always due ---- */

typedef struct rush {
  world w;
  line line;
  mend_timer *timer;
  atomic_uint written, rung;
} rush;

static void on_writable(void *ctx, int fd, bool can_read, bool can_write) {
  (void)fd, (void)can_read, (void)can_write;
  ((rush *)ctx)->written++;
}

static void ring_again(void *ctx) {
  rush *r = ctx;
  r->rung++;
  mend__timer_set(r->timer, 0);
}

static void begin_rush(void *ctx) {
  rush *r = ctx;
  mend__loop_watch(r->w.loop, r->line.near, "rush", false, true, on_writable, r, &r->line.descriptor);
  if (mend__timer_new(r->w.loop, ring_again, r, &r->timer) == MEND_OK) mend__timer_set(r->timer, 0);
}

static void end_rush(void *ctx) {
  rush *r = ctx;
  mend_timer_cancel(&r->timer);
  mend__descriptor_unwatch(&r->line.descriptor);
}

Test(loop_order, neither_waits_for_ever) {
  for (size_t i = 0; i < KINDS; i++) {
    rush r = {.rung = 0};
    open_world(&r.w, kinds[i]);
    open_line(&r.line);
    mend__loop_call(r.w.loop, begin_rush, &r);
    while (atomic_load(&r.written) < 1000 || atomic_load(&r.rung) < 1000)
      sched_yield();
    mend__loop_call(r.w.loop, end_rush, &r);
    close_line(&r.line);
    close_world(&r.w);
  }
}
