/* Private to the tracer: spans.c keeps the spans, tracer.c makes them of events, trace_draw.c draws them.
 *
 * Everything here is under the tracer's lock, but for copies that a caller has taken. */
#ifndef MEND_TRACER_INTERNAL_H
#define MEND_TRACER_INTERNAL_H

#include "core/strmap.h"
#include "mend/workbench.h"

/* A place in a ring of places; one that is its own neighbour is an empty list, or in none. */
typedef struct mend__link {
  struct mend__link *previous, *next;
} mend__link;

typedef struct mend__span mend__span;

/* A run that was heard of. Not the mend_run, which the tracer must not keep alive. */
typedef struct mend__traced_run {
  size_t references; /* one while it is known, one a span */
  uint8_t trace_id[16];
  uint8_t span_id[8];
  mend__span *span; /* its own, open or kept; NULL when that is gone */
  mend__link by_age;
  mend__link open_spans; /* list */
  size_t id_len;
  char id[];
} mend__traced_run;

enum { MEND__SPAN_NAME_MAX = 128, MEND__SPAN_STATUS_MAX = 32 };

typedef struct mend__span_time {
  uint64_t mono_ns, wall_ns;
} mend__span_time;

struct mend__span {
  mend__traced_run *run; /* referenced */
  const char *kind;      /* as of mend_span */
  uint64_t call;
  uint64_t order; /* of all spans, in the order they began */
  uint8_t span_id[8], parent_id[8];
  bool is_open;
  mend__span_time start, end;
  uint32_t attempts, detections;
  uint8_t name_len, status_len;
  char name[MEND__SPAN_NAME_MAX];
  char status[MEND__SPAN_STATUS_MAX];
  mend__link in_list; /* open or finished */
  mend__link in_run;  /* its open ones */
};

typedef struct mend__spans {
  const mend_allocator *allocator;
  size_t open_limit, finished_limit;
  mend__strmap runs, calls; /* by span id; calls: open or kept */
  mend__link known;         /* list of runs, the one heard of longest ago first */
  mend__link open, finished;
  size_t open_count, finished_count;
  mend__link unused; /* records of spans, by in_list */
  uint64_t begun, ended;
  uint64_t forgotten; /* open ones that made room */
} mend__spans;

void mend__spans_init(mend__spans *spans, const mend_tracer_options *options, const mend_allocator *allocator);
void mend__spans_free(mend__spans *spans);

/* The event's run, which is the latest heard of from now on; its span begins when it was not known. NULL when out of
 * memory. */
mend__traced_run *mend__spans_hear(mend__spans *spans, const mend_event *event);
/* The span of a call, open or kept; NULL when there is none. */
mend__span *mend__spans_find(const mend__spans *spans, const mend_run *run, uint64_t call);
/* Begins the event's call. NULL when out of memory, or when all open spans are of this run. */
mend__span *mend__spans_begin(mend__spans *spans, mend__traced_run *run, const mend_event *event, const char *kind,
                              const uint8_t parent_id[8]);
/* Opens a span that had ended. False for want of room. */
bool mend__spans_reopen(mend__spans *spans, mend__traced_run *run, mend__span *span);
/* It stays in place until the next call of mend__spans_trim, also where none are kept. */
void mend__spans_end(mend__spans *spans, mend__span *span, const mend_event *event, mend_str status);
/* Lets go of the oldest finished ones beyond the limit. */
void mend__spans_trim(mend__spans *spans);

/* Those that are kept: the finished ones, then the open ones. `span` NULL: the first; NULL after the last. */
mend__span *mend__spans_next(const mend__spans *spans, const mend__span *span);
/* A copy that keeps its run's record, to be let go of under the lock. */
mend__span mend__span_copy(const mend__span *span);
void mend__span_copy_release(mend__spans *spans, mend__span *copy);

/* From its beginning to its end, or to `now_ns` while it is open. */
uint64_t mend__span_duration_ns(const mend__span *span, uint64_t now_ns);
/* Texts that are too long are cut; an absent one changes nothing. */
void mend__span_set_name(mend__span *span, mend_str name);
static inline mend_str mend__span_name(const mend__span *span) {
  return span->name_len > 0 ? (mend_str){span->name, span->name_len} : (mend_str){NULL, 0};
}
static inline mend_str mend__span_status(const mend__span *span) {
  return span->status_len > 0 ? (mend_str){span->status, span->status_len} : (mend_str){NULL, 0};
}
static inline mend_str mend__span_run_id(const mend__span *span) {
  return (mend_str){span->run->id, span->run->id_len};
}

/* ---- trace_draw.c ---- */

/* The picture of `count` copies, which it sorts; open ones last until `now_ns`. Errors: MEND_ENOMEM. */
mend_status mend__trace_draw(mend__span *copies, size_t count, uint64_t now_ns, const mend_allocator *allocator,
                             char **ret_text);

#endif
