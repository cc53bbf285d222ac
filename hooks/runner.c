#include "core/options_size.h"
#include "core/seconds.h"
#include "core/text.h"
#include "hooks/hooks_internal.h"
#include "hooks/list.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

enum { NAME_SIZE = 64 };

/* Hooks are only ever added, so whoever asks them follows a list that grows at its end and needs no lock for it. */
typedef struct hook_entry {
  struct hook_entry *_Atomic next;
  mend_hook hook; /* its name is the one below */
  void *ctx;
  bool fail_closed;
  uint64_t limit_ns; /* MEND_NEVER: none */
  char name[NAME_SIZE];
} hook_entry;

struct mend_hooks {
  atomic_size_t references;
  const mend_allocator *allocator;
  hook_entry *_Atomic first;
  atomic_size_t count;  /* after the last one is in the list */
  pthread_mutex_t lock; /* covers what follows, and adding */
  bool used;            /* by a boundary */
  hook_entry *_Atomic *end;
};

/* ---- Life ---- */

mend_status mend_hooks_new(const mend_allocator *allocator, mend_hooks **ret_hooks) {
  mend_hooks *hooks = mend__alloc(allocator, sizeof *hooks);
  if (hooks == NULL) return MEND_ENOMEM;
  hooks->allocator = allocator;
  atomic_init(&hooks->references, 1);
  atomic_init(&hooks->first, NULL);
  atomic_init(&hooks->count, 0);
  hooks->used = false;
  hooks->end = &hooks->first;
  if (pthread_mutex_init(&hooks->lock, NULL) != 0) {
    mend__free(allocator, hooks);
    return MEND_ENOMEM;
  }
  *ret_hooks = hooks;
  return MEND_OK;
}

mend_hooks *mend_hooks_retain(mend_hooks *hooks) {
  atomic_fetch_add_explicit(&hooks->references, 1, memory_order_relaxed);
  return hooks;
}

static hook_entry *first_of(mend_hooks *hooks) { return atomic_load_explicit(&hooks->first, memory_order_acquire); }
static hook_entry *next_of(hook_entry *entry) { return atomic_load_explicit(&entry->next, memory_order_acquire); }

void mend_hooks_release(mend_hooks *hooks) {
  if (hooks == NULL || atomic_fetch_sub_explicit(&hooks->references, 1, memory_order_acq_rel) > 1) return;
  for (hook_entry *entry = first_of(hooks), *next; entry != NULL; entry = next) {
    next = next_of(entry);
    if (entry->hook.destroy != NULL) entry->hook.destroy(entry->ctx);
    mend__free(hooks->allocator, entry);
  }
  pthread_mutex_destroy(&hooks->lock);
  mend__free(hooks->allocator, hooks);
}

/* ---- Adding ---- */

static mend_status refuse_limit(const char *name, double limit_s, mend_error *error) {
  mend__buffer value;
  mend__buffer_init(&value, NULL);
  if (isfinite(limit_s)) {
    mend__buffer_f64(&value, limit_s);
  } else {
    mend__buffer_str(&value, MEND_STR("not finite"));
  }
  mend_error_set(error, MEND_EINVAL, "hook %s: time_limit_s is %.*s, expected seconds > 0, or 0 for none", name,
                 MEND_STR_ARG((mend__buffer_text(&value))));
  mend__buffer_free(&value);
  return MEND_EINVAL;
}

static mend_status check_hook(const mend_hook *hook, const mend_hook_options *options, mend_error *error) {
  const size_t len = hook->name != NULL ? strnlen(hook->name, NAME_SIZE) : 0;
  if (len == 0) {
    return mend_error_set(error, MEND_EINVAL, "mend_hook.name: none, expected 1 to %d bytes", NAME_SIZE - 1);
  }
  if (len == NAME_SIZE) {
    return mend_error_set(error, MEND_EINVAL, "mend_hook.name: \"%.40s...\", expected 1 to %d bytes", hook->name,
                          NAME_SIZE - 1);
  }
  if (!mend__is_printable((mend_str){hook->name, len})) {
    return mend_error_set(error, MEND_EINVAL, "mend_hook.name: expected UTF-8 without control characters");
  }
  if (!isfinite(options->time_limit_s) || options->time_limit_s < 0) {
    return refuse_limit(hook->name, options->time_limit_s, error);
  }
  return MEND_OK;
}

/* A hook is known by its functions. */
static bool is_same(const mend_hook *a, const mend_hook *b) {
  return a->before == b->before && a->after == b->after && a->on_error == b->on_error;
}

static bool publishes(const mend_hook *hook) { return is_same(hook, &mend__publishing_hook); }

/* False for one that publishes where a boundary does. */
static bool append(mend_hooks *hooks, hook_entry *entry) {
  pthread_mutex_lock(&hooks->lock);
  const bool fits = !hooks->used || !publishes(&entry->hook);
  if (fits) {
    atomic_store_explicit(hooks->end, entry, memory_order_release);
    hooks->end = &entry->next;
    atomic_fetch_add_explicit(&hooks->count, 1, memory_order_release);
  }
  pthread_mutex_unlock(&hooks->lock);
  return fits;
}

mend_status mend_hooks_add(mend_hooks *hooks, const mend_hook *hook, void *ctx, const mend_hook_options *options,
                           mend_error *error) {
  mend_hook taken = {.size = sizeof taken};
  mend_hook_options how = MEND_HOOK_OPTIONS_INIT;
  mend_status status = mend__options_take(&taken, hook, "mend_hook", error);
  if (status == MEND_OK) status = mend__options_take(&how, options, "mend_hook_options", error);
  if (status == MEND_OK) status = check_hook(&taken, &how, error);
  if (status != MEND_OK) return status;
  hook_entry *entry = mend__alloc(hooks->allocator, sizeof *entry);
  if (entry == NULL) return mend_error_set(error, MEND_ENOMEM, "hook %s: out of memory", taken.name);
  *entry = (hook_entry){.hook = taken, .ctx = ctx, .fail_closed = how.fail_closed};
  entry->limit_ns = how.time_limit_s > 0 ? mend__seconds_to_ns(how.time_limit_s) : MEND_NEVER;
  memcpy(entry->name, taken.name, strlen(taken.name) + 1);
  entry->hook.name = entry->name;
  if (append(hooks, entry)) return MEND_OK;
  mend__free(hooks->allocator, entry);
  return mend_error_set(error, MEND_EINVAL,
                        "hook %s: a boundary uses these hooks and publishes by itself, every event would come twice",
                        taken.name);
}

bool mend__hooks_contain(mend_hooks *hooks, const mend_hook *hook) {
  hook_entry *entry = first_of(hooks);
  while (entry != NULL && !is_same(&entry->hook, hook))
    entry = next_of(entry);
  return entry != NULL;
}

const mend_allocator *mend__hooks_allocator(const mend_hooks *hooks) { return hooks->allocator; }

bool mend__hooks_publish(mend_hooks *hooks) { return mend__hooks_contain(hooks, &mend__publishing_hook); }

bool mend__hooks_use(mend_hooks *hooks) {
  pthread_mutex_lock(&hooks->lock);
  const bool fits = !mend__hooks_publish(hooks);
  if (fits) hooks->used = true;
  pthread_mutex_unlock(&hooks->lock);
  return fits;
}

/* ---- Attaching ---- */

static mend_status attach(const hook_entry *entry, mend_run *run, mend_error *error) {
  mend_error own = MEND_ERROR_INIT;
  const mend_status status = entry->hook.attach != NULL ? entry->hook.attach(entry->ctx, run, &own) : MEND_OK;
  if (status == MEND_OK) return MEND_OK;
  return mend_error_set(error, status, "hook %s: %s", entry->hook.name, mend_error_sentence(&own, status));
}

mend_status mend__hooks_attach(mend_hooks *hooks, mend_run *run, size_t *ret_count, mend_error *error) {
  const size_t count = atomic_load_explicit(&hooks->count, memory_order_acquire);
  hook_entry *entry = first_of(hooks);
  for (size_t done = 0; done < count; done++, entry = next_of(entry)) {
    const mend_status status = attach(entry, run, error);
    if (status == MEND_OK) continue;
    mend__hooks_detach(hooks, run, done);
    return status;
  }
  *ret_count = count;
  return MEND_OK;
}

void mend__hooks_detach(mend_hooks *hooks, mend_run *run, size_t count) {
  hook_entry *entry = first_of(hooks);
  for (; count > 0; count--, entry = next_of(entry)) {
    if (entry->hook.detach != NULL) entry->hook.detach(entry->ctx, run);
  }
}

/* ---- Asking ---- */

typedef mend_status (*hook_function)(void *ctx, const mend_hook_call *call, mend_decision *decision);

/* One round: all hooks are asked about one thing. */
typedef struct asking {
  mend__phase phase;
  const mend_hook_call *call;
  unsigned how;
  mend_decision *active; /* what counts, by the hook of this name */
  mend_str *active_hook;
} asking;

static hook_function function_of(const hook_entry *entry, mend__phase phase) {
  switch (phase) {
  case MEND__PHASE_AFTER: return entry->hook.after;
  case MEND__PHASE_ON_ERROR: return entry->hook.on_error;
  case MEND__PHASE_BEFORE: break;
  }
  return entry->hook.before;
}

static mend_str phase_name(mend__phase phase) {
  switch (phase) {
  case MEND__PHASE_AFTER: return MEND_STR("after");
  case MEND__PHASE_ON_ERROR: return MEND_STR("on_error");
  case MEND__PHASE_BEFORE: break;
  }
  return MEND_STR("before");
}

static void publish(const mend_hook_call *call, mend_event *event) {
  if (call->run == NULL) return;
  event->call = call->call;
  event->call_name = call->call_name;
  mend_run_publish(call->run, event); /* a refusal is counted and reported by the bus */
}

static void publish_shadowed(const asking *round, mend_str hook, mend_decision_kind kind, mend_str active_hook) {
  mend_hook_shadowed_event event = MEND_HOOK_SHADOWED_EVENT_INIT;
  event.hook = hook;
  event.decision = mend_str_from(mend_decision_kind_name(kind));
  event.active_hook = active_hook;
  event.tool_name = round->call->tool_name;
  publish(round->call, &event.event);
}

static void publish_failed(const asking *round, const hook_entry *entry, const char *failure) {
  mend_hook_failed_event event = MEND_HOOK_FAILED_EVENT_INIT;
  event.hook = mend_str_from(entry->hook.name);
  event.phase = phase_name(round->phase);
  event.error = mend_str_from(failure);
  event.fail_closed = entry->fail_closed;
  event.tool_name = round->call->tool_name;
  publish(round->call, &event.event);
}

static mend_clock *clock_of(const mend_hook_call *call) {
  return call->run != NULL ? mend_bus_clock(mend_run_bus(call->run)) : mend_clock_real();
}

/* Calls the hook. False when it failed, which `failure` then tells. */
static bool call_hook(const asking *round, const hook_entry *entry, mend_decision *decision, char *failure,
                      size_t failure_size) {
  const bool limited = entry->limit_ns != MEND_NEVER;
  mend_clock *clock = limited ? clock_of(round->call) : NULL;
  const uint64_t start_ns = limited ? mend_clock_now(clock).mono_ns : 0;
  const mend_status status = function_of(entry, round->phase)(entry->ctx, round->call, decision);
  if (status != MEND_OK) {
    snprintf(failure, failure_size, "%s: %s", mend_status_name(status), mend_status_message(status));
    return false;
  }
  const uint64_t took_ns = limited ? mend_clock_now(clock).mono_ns - start_ns : 0;
  if (took_ns > entry->limit_ns) {
    snprintf(failure, failure_size, "returned after %" PRIu64 " us, its time limit is %" PRIu64 " us", took_ns / 1000,
             entry->limit_ns / 1000);
    return false;
  }
  return true;
}

static void fail(const asking *round, const hook_entry *entry, const char *failure, mend_decision *decision) {
  publish_failed(round, entry, failure);
  mend_decision_continue(decision);
  if (!entry->fail_closed) return;
  char reason[256];
  snprintf(reason, sizeof reason, "hook %s failed: %s", entry->hook.name, failure);
  mend__decision_force_abort(decision, mend_str_from(reason));
}

/* Whether a decision means nothing here and therefore counts as Continue. */
static bool is_ignored(const asking *round, mend_decision_kind kind) {
  if (kind == MEND_DECISION_SKIP) return round->phase != MEND__PHASE_BEFORE;
  return kind == MEND_DECISION_REDIRECT && (round->how & MEND__ASK_IGNORE_REDIRECTS) != 0;
}

/* Of equally strong ones the first counts. */
static int strength_of(const mend_decision *decision) {
  switch (decision->kind) {
  case MEND_DECISION_ABORT: return 3;
  case MEND_DECISION_SKIP: return decision->question.ptr != NULL ? 2 : 1;
  case MEND_DECISION_REDIRECT: return 1;
  case MEND_DECISION_CONTINUE: break;
  }
  return 0;
}

/* An earlier decision does not count any more; beside an Abort nobody asks for it. */
static void take_over(const asking *round, mend_str hook, mend_decision *decision) {
  const mend_decision_kind earlier = round->active->kind;
  const mend_str earlier_hook = *round->active_hook;
  mend__decision_move(round->active, decision);
  *round->active_hook = hook;
  if (earlier != MEND_DECISION_CONTINUE && round->active->kind != MEND_DECISION_ABORT) {
    publish_shadowed(round, earlier_hook, earlier, hook);
  }
}

/* What a hook decided becomes the active decision, or is published as one that does not count. */
static void weigh(const asking *round, const hook_entry *entry, mend_decision *decision) {
  const mend_decision_kind kind = decision->kind;
  const mend_str hook = mend_str_from(entry->hook.name);
  if (kind == MEND_DECISION_CONTINUE) return;
  if (is_ignored(round, kind)) {
    publish_shadowed(round, hook, kind, (mend_str)MEND_ABSENT);
  } else if (strength_of(decision) > strength_of(round->active)) {
    take_over(round, hook, decision);
  } else {
    publish_shadowed(round, hook, kind, *round->active_hook);
  }
}

static void ask_hook(const asking *round, const hook_entry *entry) {
  mend_decision decision;
  char failure[160];
  mend__decision_init(&decision, round->active->allocator);
  if (!call_hook(round, entry, &decision, failure, sizeof failure)) fail(round, entry, failure, &decision);
  weigh(round, entry, &decision);
  mend__decision_clear(&decision);
}

static bool is_asked(const asking *round, const hook_entry *entry) {
  if ((round->how & MEND__ASK_FAIL_CLOSED_ONLY) != 0 && !entry->fail_closed) return false;
  return function_of(entry, round->phase) != NULL;
}

static bool is_aborted(const asking *round) { return round->active->kind == MEND_DECISION_ABORT; }

mend_status mend__hooks_ask(mend_hooks *hooks, mend__phase phase, const mend_hook_call *call, unsigned how,
                            mend_decision *decision, mend_str *ret_hook) {
  const asking round = {phase, call, how, decision, ret_hook};
  /* Those that are added meanwhile are not asked. */
  size_t left = atomic_load_explicit(&hooks->count, memory_order_acquire);
  mend_hooks_retain(hooks); /* a hook may drop what was the last reference */
  for (hook_entry *entry = first_of(hooks); left > 0 && !is_aborted(&round); left--, entry = next_of(entry)) {
    if (is_asked(&round, entry)) ask_hook(&round, entry);
  }
  mend_hooks_release(hooks);
  return is_aborted(&round) ? MEND_ABORTED : MEND_OK;
}

/* ---- Foreign runners ---- */

/* Completes what a runner that counts neither calls nor attempts left out. */
static mend_status take_call(mend_hook_call *call, const mend_hook_call *given) {
  if (given == NULL) return MEND_EINVAL;
  const mend_status status = mend__options_take(call, given, "mend_hook_call", NULL);
  if (status != MEND_OK) return status;
  if (call->call == 0) call->call = mend_call_from_name(call->call_name);
  if (call->attempt == 0) call->attempt = 1;
  if (call->within == 0) call->within = MEND_NONE;
  return MEND_OK;
}

static mend_status ask_from_outside(mend_hooks *hooks, mend__phase phase, const mend_hook_call *given,
                                    mend_decision *decision, mend_str *ret_hook) {
  mend_hook_call call = {.size = sizeof call};
  mend_str hook = MEND_ABSENT;
  mend_status status = take_call(&call, given);
  if (status != MEND_OK) return status;
  mend_decision_continue(decision);
  status = mend__hooks_ask(hooks, phase, &call, MEND__ASK_ALL, decision, &hook);
  if (ret_hook != NULL) *ret_hook = hook;
  return status;
}

mend_status mend_hooks_before(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                              mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_BEFORE, call, decision, ret_hook);
}

mend_status mend_hooks_after(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                             mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_AFTER, call, decision, ret_hook);
}

mend_status mend_hooks_on_error(mend_hooks *hooks, const mend_hook_call *call, mend_decision *decision,
                                mend_str *ret_hook) {
  return ask_from_outside(hooks, MEND__PHASE_ON_ERROR, call, decision, ret_hook);
}
