/* What a chain stands on: a model that forwards what others say. One request is one call with several attempts, a
 * reply is moved and not copied, and clocks and cancels reach the attempt. */
#include "fallback/fallback_internal.h"
#include "fallback/scripted.h"
#include "fallback/world.h"

#include <stdlib.h>

/* A forwarding model over two that are given: it asks the first, and the second when the first fails without
 * content. */
typedef struct relay {
  world w;
  mend_model *inner[2], *model;
  mend_exchange *outer, *attempt;
  uint32_t number;
  const char *text_before; /* of the inner reply, before it was moved */
  unsigned done, gone;
  uint64_t call; /* of all events */
} relay;

static mend_status ask_next(relay *r);

static void pass_connected(void *ctx) { note(&((relay *)ctx)->w, "^"); }
static void pass_delta(void *ctx, const mend_delta *delta) { mend__exchange_forward(((relay *)ctx)->outer, delta); }

static void pass_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure,
                      const mend_failure_signal *signal) {
  relay *r = ctx;
  mend_reply ledger = MEND_REPLY_INIT;
  if (reply != NULL) {
    r->text_before = reply->text.ptr;
    mend__exchange_finish_with(r->outer, reply);
    return;
  }
  note(&r->w, "inner(%s;%.*s;%s;%u%s)", mend_status_name(status), MEND_STR_ARG(failure->type),
       signal->transport != NULL ? signal->transport : "-", signal->http_status, signal->after_content ? ";after" : "");
  ledger.attempts = MEND_STR("[{}]");
  mend_exchange_note(r->outer, &ledger);
  if (status == MEND_ECANCELLED) return;
  if (failure->after_content || r->number == 2) {
    mend__exchange_fail_by(r->outer, failure, signal);
  } else {
    mend_exchange_release(r->attempt);
    CLAIM(&r->w, ask_next(r) == MEND_OK);
  }
}

static void count_gone(void *ctx) { ((relay *)ctx)->gone++; }

static mend_status ask_next(relay *r) {
  const mend__listener listener = {pass_connected, pass_delta, pass_done, count_gone, r};
  mend__attempt attempt = {.of = r->outer, .asked = r->outer->asked, .number = ++r->number, .listener = listener};
  attempt.asked.clocks = (mend_model_clocks){.connect_s = 1, .first_content_s = 2, .idle_s = 3};
  return mend__attempt_send(r->inner[r->number - 1], &attempt, &r->attempt);
}

static mend_status begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  (void)error;
  relay *r = ctx;
  r->outer = exchange;
  return ask_next(r);
}

static void cancel(void *ctx, mend_exchange *exchange) {
  (void)exchange;
  mend_exchange_cancel(((relay *)ctx)->attempt);
}

/* ---- The listener of the user, and a subscriber ---- */

static mend_status check_call(void *ctx, const mend_event *event) {
  relay *r = ctx;
  if (r->call == 0) r->call = event->call;
  CLAIM(&r->w, event->call != 0 && event->call == r->call);
  return MEND_OK;
}

static void hear_delta(void *ctx, const mend_delta *delta) {
  note(&((relay *)ctx)->w, "+%.*s", MEND_STR_ARG(delta->text));
}

static void hear_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  relay *r = ctx;
  r->done++;
  if (reply != NULL) {
    CLAIM(&r->w, reply->text.ptr == r->text_before);
    note(&r->w, "OK(%s;%g;%g)", reply->text.ptr, reply->duration_ms, reply->first_content_ms);
  } else {
    note(&r->w, "%s(%.*s;%.*s%s)", mend_status_name(status), MEND_STR_ARG(failure->type),
         MEND_STR_ARG(failure->attempts), failure->after_content ? ";after content" : "");
  }
}

/* ---- Cases: what both files reply; when the user cancels ---- */

static const struct {
  const char *scripts[2];
  double total_s, cancel_s; /* cancel_s 0: not */
  const char *log, *events;
} cases[] = {
    {{"{\"text\": \"hi\", \"delay_ms\": 500}", "{}"},
     900,
     0,
     "^ +hi OK(hi;500;500)",
     "request(first,1,1) delta(text,hi,2) response(hi,stop,500ms)"},
    {{"{\"fault\": \"refused\", \"delay_ms\": 500}", "{\"text\": [\"h\", \"i\"], \"every_ms\": 1000}"},
     900,
     0,
     "inner(MEND_EFAILED;refused;refused;0) ^ +h +i OK(hi;2500;500)",
     "request(first,1,1) error(refused,-1,500ms) request(second,1,2) delta(text,h,1) delta(text,i,1) "
     "response(hi,stop,2000ms)"},
    {{"{\"fault\": \"hang\"}", "{\"fault\": \"silence\"}"},
     900,
     0,
     "inner(MEND_EFAILED;connect_timeout;connect_timeout;0) ^ "
     "inner(MEND_EFAILED;first_content_timeout;first_content_timeout;0) MEND_EFAILED(first_content_timeout;[{}])",
     NULL},
    {{"{\"status\": 503}", "{\"text\": \"hi\", \"after\": 1, \"fault\": \"cut\"}"},
     900,
     0,
     "^ inner(MEND_EFAILED;http_error;-;503) ^ +hi inner(MEND_EFAILED;cut;cut;0;after) MEND_EFAILED(cut;[{}];after "
     "content)",
     "request(first,1,1) error(http_error,503,0ms) request(second,1,2) delta(text,hi,2) error(cut,-1,0ms)"},
    {{"{\"text\": [\"h\", \"i\"], \"every_ms\": 2500}", "{}"},
     1.5,
     0,
     "^ +h inner(MEND_ECANCELLED;cancelled;cancelled;0;after) MEND_EFAILED(total_timeout;[{}];after content)",
     "request(first,1,1) delta(text,h,1) error(cancelled,-1,1500ms)"},
    {{"{\"text\": \"hi\", \"delay_ms\": 1500}", "{}"},
     900,
     1,
     "^ inner(MEND_ECANCELLED;cancelled;cancelled;0) MEND_ECANCELLED(cancelled;[{}])",
     "request(first,1,1) error(cancelled,-1,1000ms)"},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static mend_status open_relay(relay *r, size_t index) {
  static const mend_model_vtable vtable = {sizeof vtable, begin, cancel, NULL};
  static const char *const names[] = {"first", "second"};
  mend_status status = MEND_OK;
  for (size_t i = 0; i < 2 && status == MEND_OK; i++) {
    char text[512];
    snprintf(text, sizeof text, "{\"replies\": [%s]}", cases[index].scripts[i]);
    status = mend__scripted_new(names[i], mend_str_from(text), r->w.loop, &r->w.memory.base, NULL, &r->inner[i], NULL);
  }
  if (status != MEND_OK) return status;
  return mend__model_new(r->w.loop, &r->w.memory.base, MEND__MODEL_FORWARDS, &vtable, r, "relay", "relay", &r->model,
                         NULL);
}

static void close_relay(relay *r) {
  mend_exchange_release(r->attempt);
  mend_model_release(r->model);
  mend_model_release(r->inner[0]);
  mend_model_release(r->inner[1]);
}

static void advance_s(relay *r, double seconds) {
  cr_assert_eq(mend_clock_advance(r->w.clock, (uint64_t)(seconds * 1e9)), MEND_OK);
}

static void run_case(size_t index) {
  relay *r = calloc(1, sizeof *r);
  const mend_model_listener listener = {sizeof listener, hear_delta, hear_done, r};
  mend_exchange *exchange;
  world_open(&r->w);
  cr_assert_eq(mend_bus_subscribe(r->w.bus, "model.*", check_call, r, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(open_relay(r, index), MEND_OK);
  mend_model_request request = world_request(&r->w);
  request.clocks.total_s = cases[index].total_s;
  request.clocks.connect_s = request.clocks.first_content_s = 0.001; /* not the outer one's */
  cr_assert_eq(mend_model_send(r->model, &request, &listener, &exchange, NULL), MEND_OK);
  if (cases[index].cancel_s > 0) {
    advance_s(r, cases[index].cancel_s);
    mend_exchange_cancel(exchange);
  }
  advance_s(r, 1000);
  cr_assert_str_eq(r->w.log, cases[index].log, "case %zu: %s", index, r->w.log);
  if (cases[index].events != NULL)
    cr_assert_str_eq(r->w.events, cases[index].events, "case %zu: %s", index, r->w.events);
  cr_assert_eq(r->done, 1u);
  cr_assert_eq(r->gone, r->number);
  mend_exchange_release(exchange);
  close_relay(r);
  world_close(&r->w);
  free(r);
}

Test(attempts, are_one_request) {
  for (size_t i = 0; i < CASES; i++)
    run_case(i);
}
