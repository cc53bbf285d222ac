/* Private to hooks/: hooks and what they decide. */
#ifndef MEND_HOOKS_HOOKS_INTERNAL_H
#define MEND_HOOKS_HOOKS_INTERNAL_H

#include "bus/room.h"
#include "core/buffer.h"
#include "core/memory.h"
#include "hooks/list.h"
#include "mend/json.h"

#include <pthread.h>
#include <stdatomic.h>

/* How deep arguments and results may nest: one less than a reader of journals takes, where an object is around them. */
enum { MEND__VALUE_DEPTH = MEND_JSON_DEPTH_MAX - 1 };

/* A hook's name and its NUL. */
enum { MEND__HOOK_NAME_SIZE = 64 };

/* ---- name.c: names that events and sentences show ---- */

/* MEND_EINVAL with a sentence for one that is not 1 to len_max bytes of UTF-8 without control characters. what: whose
 * name it is. */
mend_status mend__name_check(const char *what, mend_str name, size_t len_max, mend_error *error);
/* NULL is none. */
mend_status mend__name_check_c(const char *what, const char *name, size_t len_max, mend_error *error);

/* ---- decision.c ---- */

struct mend_decision {
  const mend_allocator *allocator;
  mend_error *refusal; /* what the setter called last refused; its status is MEND_OK after one that did not. Or NULL */
  mend_decision_kind kind;
  mend_str reason, stub, tool, args; /* NUL-terminated pieces of `memory` */
  mend_str question;                 /* likewise; of a Skip that is an escalation, whose stub holds it too */
  char *memory;
};

void mend__decision_init(mend_decision *decision, const mend_allocator *allocator);
void mend__decision_clear(mend_decision *decision); /* frees what it holds; Continue again */
/* What an escalation says beside its question: why, and what stands for the result. */
#define MEND__ESCALATION_REASON MEND_STR("escalation requested")
void mend__escalation_write_stub(mend__buffer *json, mend_str question);
/* Where there was no memory for the question. */
#define MEND__QUESTION_LOST "an answer is needed, out of memory for the question"
/* Abort, also when there is no memory for the reason, which then is one of the library's own. */
void mend__decision_force_abort(mend_decision *decision, mend_str reason);
/* Moves: `to` is cleared first, `from` says Continue afterwards; each keeps its refusal. Both have the same
 * allocator. */
void mend__decision_move(mend_decision *to, mend_decision *from);

/* ---- list.c: the hooks, in the order they were added ---- */

/* They are only ever added, so whoever asks them follows a list that grows at its end and needs no lock for it. */
typedef struct mend__hook_entry {
  struct mend__hook_entry *_Atomic next;
  mend_hook hook; /* its name is the one below */
  void *ctx;
  bool fail_closed;
  uint64_t limit_ns; /* MEND_NEVER: none */
  char name[MEND__HOOK_NAME_SIZE];
} mend__hook_entry;

struct mend_hooks {
  atomic_size_t references;
  const mend_allocator *allocator;
  mend__hook_entry *_Atomic first;
  atomic_size_t count;  /* after the last one is in the list */
  pthread_mutex_t lock; /* covers what follows, and adding */
  bool used;            /* by a boundary */
  mend__hook_entry *_Atomic *end;
};

static inline mend__hook_entry *mend__hooks_first(mend_hooks *hooks) {
  return atomic_load_explicit(&hooks->first, memory_order_acquire);
}
static inline mend__hook_entry *mend__hooks_next(mend__hook_entry *entry) {
  return atomic_load_explicit(&entry->next, memory_order_acquire);
}
/* How many there are now: whoever goes through them stops there, at none that is added meanwhile. */
static inline size_t mend__hooks_count(mend_hooks *hooks) {
  return atomic_load_explicit(&hooks->count, memory_order_acquire);
}

/* Whether mend_hooks_add_publishing was used. */
bool mend__hooks_publish(mend_hooks *hooks);
/* For a boundary, which publishes by itself: false when they do, and from here on they cannot be made to. */
bool mend__hooks_use(mend_hooks *hooks);
/* Tells those that want to know of the run; the first that refuses it undoes it. *ret_count: how many there were to
 * tell. */
mend_status mend__hooks_attach(mend_hooks *hooks, mend_run *run, size_t *ret_count, mend_error *error);
/* The first `count`. */
void mend__hooks_detach(mend_hooks *hooks, mend_run *run, size_t count);

/* ---- runner.c: asking them ---- */

typedef enum mend__phase { MEND__PHASE_BEFORE, MEND__PHASE_AFTER, MEND__PHASE_ON_ERROR } mend__phase;

/* How they are asked: flags. An ignored Redirect counts as Continue and is published like a Skip after the fact, so
 * that a later hook's decision counts. */
enum { MEND__ASK_ALL = 0, MEND__ASK_FAIL_CLOSED_ONLY = 1, MEND__ASK_IGNORE_REDIRECTS = 2 };

/* Asks the hooks. `decision` may hold an earlier decision that counts (a watchdog hook's, made by *ret_hook): it then
 * is the active one. *ret_hook is not NULL and lives as long as the hooks. Publishes hook.shadowed and hook.failed on
 * call->run. MEND_OK, or MEND_ABORTED for an Abort: there is no other way to fail. */
mend_status mend__hooks_ask(mend_hooks *hooks, mend__phase phase, const mend_hook_call *call, unsigned how,
                            mend_decision *decision, mend_str *ret_hook);

/* ---- publishing.c ---- */

extern const mend_hook mend__publishing_hook; /* by its functions mend__hooks_publish knows it */

/* ---- merge.c ---- */

/* Writes the object `args` with the members of the object `more` put over its own: shallow, like Python's {**args,
 * **more}. Both are valid JSON. Errors: MEND_EINVAL with a sentence for what is no object, MEND_ENOMEM. */
mend_status mend__merge_args(mend_str args, mend_str more, mend__buffer *merged, mend_error *error);

#endif
