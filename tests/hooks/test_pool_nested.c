/* Calls of pooled tools from the threads of a pool: nobody waits for ever, and what is promised of a call holds there too
 * (mend/tools.h, MEND_TOOL_POOLED). */
#include "kinds_world.h"

#include <stdlib.h>

/* ---- Deep ---- */

enum { DEPTH = 8 };

typedef struct nest {
  kinds_world *w;
  const char *flow;
  atomic_uint leaves;
} nest;

/* A call's only argument is how deep it is to go. */
static int depth_of(const mend_call *call) { return atoi(mend_call_args(call).ptr); }

static mend_status call_one(nest *self, mend_str args) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_call(self->w->boundary, MEND_STR("pooled"), args, NULL, &result);
  mend_result_clear(&result);
  return status;
}

static mend_status retry_one(nest *self, mend_str args) {
  mend_result result = MEND_RESULT_INIT;
  const mend_status status = mend_boundary_retry(self->w->boundary, MEND_STR("pooled"), args, NULL, &result);
  mend_result_clear(&result);
  return status;
}

static mend_status call_several(nest *self, mend_str args, const char *const *tools, size_t count) {
  mend_batch_call calls[3];
  for (size_t i = 0; i < count; i++) {
    calls[i] = (mend_batch_call)MEND_BATCH_CALL_INIT;
    calls[i].tool = mend_str_from(tools[i]);
    calls[i].args = args;
  }
  const mend_status status = mend_boundary_call_all(self->w->boundary, calls, count);
  for (size_t i = 0; i < count; i++)
    mend_result_clear(&calls[i].result);
  return status;
}

/* By turns: what one level does the next one does not. */
static mend_status go_deeper(nest *self, int depth) {
  static const char *const mixed[] = {"blocking", "pooled", "async"}, *const pooled[] = {"pooled", "pooled"};
  char args[16];
  snprintf(args, sizeof args, "%d", depth - 1);
  switch (self->flow[depth % (int)strlen(self->flow)]) {
  case 'c': return call_one(self, mend_str_from(args));
  case 'r': return retry_one(self, mend_str_from(args));
  case 'm': return call_several(self, mend_str_from(args), mixed, 3);
  default: return call_several(self, mend_str_from(args), pooled, 2);
  }
}

static mend_status nest_call(void *ctx, mend_call *call) {
  nest *self = ctx;
  const int depth = depth_of(call);
  if (depth == 0) atomic_fetch_add(&self->leaves, 1);
  const mend_status status = depth > 0 ? go_deeper(self, depth) : MEND_OK;
  return status == MEND_OK ? mend_call_succeed(call, mend_call_args(call)) : status;
}

/* c: a call, r: a retry, p: two pooled ones at once, m: a blocking, a pooled and an asynchronous one at once. */
Test(pool_nested, nobody_waits_for_ever) {
  static const struct {
    uint32_t threads;
    const char *flow;
    unsigned leaves;
  } rows[] = {{1, "c", 1},   {2, "c", 1},   {1, "r", 1},     {1, "p", 256},   {2, "p", 256},   {3, "p", 256},
              {1, "mc", 81}, {2, "mc", 81}, {1, "pmrc", 36}, {2, "pmrc", 36}, {5, "pmrc", 36}, {8, "p", 256}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    nest self = {.w = &w, .flow = rows[i].flow};
    cr_assert_eq(mend_tools_set_pool(w.tools, rows[i].threads, 1, NULL), MEND_OK);
    kinds_add(&w, "pooled", MEND_TOOL_POOLED, nest_call, &self);
    kinds_add(&w, "blocking", MEND_TOOL_BLOCKING, nest_call, &self);
    kinds_add(&w, "async", MEND_TOOL_ASYNC, nest_call, &self);
    char args[16];
    snprintf(args, sizeof args, "%d", DEPTH);
    cr_assert_eq(call_one(&self, mend_str_from(args)), MEND_OK, "%zu", i);
    cr_assert_eq(atomic_load(&self.leaves), rows[i].leaves, "%zu: %u", i, atomic_load(&self.leaves));
    kinds_close(&w);
  }
}

/* ---- Two registries, whose tools call one another ---- */

typedef struct neighbour {
  kinds_world *other;
  atomic_uint calls;
} neighbour;

static mend_status call_neighbour(void *ctx, mend_call *call) {
  neighbour *self = ctx;
  mend_status status = MEND_OK;
  if (atomic_fetch_add(&self->calls, 1) < 3) status = kinds_call(self->other, "visit", NULL);
  return status == MEND_OK ? mend_call_succeed(call, MEND_STR("1")) : status;
}

Test(pool_nested, two_pools) {
  kinds_world here, there;
  kinds_open(&here);
  kinds_open(&there);
  here.threads = there.threads;
  neighbour one = {.other = &there}, other = {.other = &here};
  cr_assert_eq(mend_tools_set_pool(here.tools, 1, 1, NULL), MEND_OK);
  cr_assert_eq(mend_tools_set_pool(there.tools, 1, 1, NULL), MEND_OK);
  kinds_add(&here, "visit", MEND_TOOL_POOLED, call_neighbour, &one);
  kinds_add(&there, "visit", MEND_TOOL_POOLED, call_neighbour, &other);
  cr_assert_eq(kinds_call(&here, "visit", NULL), MEND_OK);
  cr_assert_eq(atomic_load(&here.succeeded) + atomic_load(&there.succeeded), 7u);
  kinds_release(&there);
  kinds_close(&here);
  kinds_check(&there);
}

/* ---- Begun, not waited for ---- */

typedef struct opening {
  kinds_world *w;
  gate open, begun, ended;
  size_t calls; /* 0: one, and not by mend_boundary_call_all */
  mend_status status;
} opening;
#define OPENING_INIT(world)                                                                                            \
  { .w = (world), .open = GATE_INIT, .begun = GATE_INIT, .ended = GATE_INIT }

/* Looks at nothing. */
static mend_status wait_until_open(void *ctx, mend_call *call) {
  opening *self = ctx;
  gate_add(&self->begun);
  gate_await(&self->open, 1);
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status open_gate(void *ctx, mend_call *call) {
  gate_add(&((opening *)ctx)->open);
  return mend_call_succeed(call, MEND_STR("1"));
}

static mend_status start_and_open(void *ctx, mend_call *call) {
  opening *self = ctx;
  kinds_start(self->w, "wait");
  return open_gate(ctx, call);
}

/* The asynchronous one stands behind those that wait for it. */
static mend_status call_all_and_open(void *ctx, mend_call *call) {
  static const char *const tools[] = {"wait", "wait", "open"};
  opening *self = ctx;
  nest as_nest = {.w = self->w};
  self->status = call_several(&as_nest, MEND_STR("1"), tools, 3);
  return mend_call_succeed(call, MEND_STR("1"));
}

Test(pool_nested, begins_at_once) {
  static const struct {
    mend_status (*execute)(void *ctx, mend_call *call);
    uint32_t threads;
    unsigned succeeded;
  } rows[] = {{start_and_open, 1, 2}, {start_and_open, 2, 2}, {call_all_and_open, 1, 4}, {call_all_and_open, 2, 4}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    opening self = OPENING_INIT(&w);
    cr_assert_eq(mend_tools_set_pool(w.tools, rows[i].threads, 1, NULL), MEND_OK);
    kinds_add(&w, "outer", MEND_TOOL_POOLED, rows[i].execute, &self);
    kinds_add(&w, "wait", MEND_TOOL_POOLED, wait_until_open, &self);
    kinds_add(&w, "open", MEND_TOOL_ASYNC, open_gate, &self);
    cr_assert_eq(kinds_call(&w, "outer", NULL), MEND_OK);
    cr_assert_eq(self.status, MEND_OK);
    kinds_close(&w);
    cr_assert_eq(atomic_load(&w.succeeded), rows[i].succeeded, "%zu", i);
  }
}

/* ---- Cancelled ---- */

/* The last one is called "last". */
static mend_status call_with_name(opening *self) {
  mend_batch_call calls[2] = {MEND_BATCH_CALL_INIT, MEND_BATCH_CALL_INIT};
  mend_call_options options = MEND_CALL_OPTIONS_INIT;
  mend_result result = MEND_RESULT_INIT;
  options.call_name = MEND_STR("last");
  mend_status status;
  if (self->calls == 0) {
    status = mend_boundary_call(self->w->boundary, MEND_STR("wait"), (mend_str)MEND_ABSENT, &options, &result);
  } else {
    for (size_t i = 0; i < self->calls; i++)
      calls[i].tool = MEND_STR("wait");
    calls[self->calls - 1].options = &options;
    status = mend_boundary_call_all(self->w->boundary, calls, self->calls);
  }
  mend_result_clear(&result);
  mend_result_clear(&calls[0].result);
  mend_result_clear(&calls[1].result);
  return status;
}

static mend_status call_and_tell(void *ctx, mend_call *call) {
  opening *self = ctx;
  self->status = call_with_name(self);
  gate_add(&self->ended);
  return mend_call_succeed(call, MEND_STR("1"));
}

/* A call ends at once, but for one whose tool runs on the thread that waits for it, as no other was free. */
Test(pool_nested, cancelled) {
  static const struct {
    uint32_t threads;
    size_t calls;
    unsigned cancelled; /* before the tool returns */
    bool returns;       /* the flow, before that */
    unsigned ran;
  } rows[] = {{2, 0, 1, true, 1}, {1, 0, 0, false, 1}, {2, 1, 1, true, 1}, {1, 1, 1, false, 1}, {1, 2, 1, false, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    kinds_world w;
    kinds_open(&w);
    opening self = OPENING_INIT(&w);
    self.calls = rows[i].calls;
    cr_assert_eq(mend_tools_set_pool(w.tools, rows[i].threads, 1, NULL), MEND_OK);
    kinds_add(&w, "outer", MEND_TOOL_POOLED, call_and_tell, &self);
    kinds_add(&w, "wait", MEND_TOOL_POOLED, wait_until_open, &self);
    kinds_start(&w, "outer");
    gate_await(&self.begun, 1);
    cr_assert_eq(mend_run_cancel_call(w.run, mend_call_from_name(MEND_STR("last")), MEND_STR("enough")), MEND_OK);
    if (rows[i].returns) gate_await(&self.ended, 1);
    cr_assert_eq(atomic_load(&w.cancelled), rows[i].cancelled, "%zu", i);
    gate_add(&self.open);
    gate_await(&self.ended, 1);
    cr_assert_eq(self.status, MEND_ECANCELLED, "%zu", i);
    cr_assert_eq(atomic_load(&w.cancelled), 1u, "%zu", i);
    kinds_close(&w);
    cr_assert_eq(self.begun.count, rows[i].ran, "%zu", i);
  }
}

/* ---- One after the other ---- */

enum { CHAIN = 2000 };

typedef struct chain {
  kinds_world *w;
  gate over;
  unsigned calls;
  bool failed, nested;
} chain;

static _Thread_local unsigned inside; /* start_next, on this thread */

static mend_status answer_one(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed(call, MEND_STR("1"));
}

static void start_next(void *ctx, mend_status status, const mend_result *result) {
  chain *self = ctx;
  (void)result;
  if (status != MEND_OK) self->failed = true;
  if (inside++ > 0) self->nested = true;
  if (++self->calls < CHAIN) {
    mend_boundary_start(self->w->boundary, MEND_STR("one"), (mend_str)MEND_ABSENT, NULL, start_next, ctx, NULL);
  } else {
    gate_add(&self->over);
  }
  inside--;
}

/* Each is begun by the end of the one before, which does not lie below it on its thread's stack. */
Test(pool_nested, chain) {
  for (uint32_t threads = 1; threads <= 2; threads++) {
    kinds_world w;
    kinds_open(&w);
    chain self = {.w = &w, .over = GATE_INIT};
    cr_assert_eq(mend_tools_set_pool(w.tools, threads, 1, NULL), MEND_OK);
    kinds_add(&w, "one", MEND_TOOL_POOLED, answer_one, NULL);
    cr_assert_eq(mend_boundary_start(w.boundary, MEND_STR("one"), (mend_str)MEND_ABSENT, NULL, start_next, &self, NULL),
                 MEND_OK);
    gate_await(&self.over, 1);
    kinds_close(&w);
    cr_assert(!self.failed && !self.nested);
  }
}
