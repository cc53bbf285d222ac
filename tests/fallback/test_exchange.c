/* Exchanges: what a model tells becomes a reply, clocks run out, and done is told exactly once, whoever ends it and
 * whenever. */
#include "fallback/fallback_internal.h"
#include "fallback/world.h"

#include <stdlib.h>

/* A model that does what the steps of a case say, and its listener. Everything of it is on the loop's thread but the
 * steps. */
typedef struct puppet {
  world w;
  mend_model *model;
  mend_exchange *exchange; /* the test's reference */
  mend_exchange *asked;    /* the model's, until it is stopped */
  const char *in_begin;    /* the step it takes while it begins; NULL: none */
  bool cancels_at_delta, cancels_at_request, destroyed;
  unsigned done, streamed;
  mend__posted streaming;
  atomic_bool stream_is_over;
} puppet;

/* ---- The model ---- */

/* "a:b:c" one after the other. */
static mend_str take_field(const char **place) {
  const size_t len = strcspn(*place, ": ");
  const mend_str field = {*place, len};
  *place += len + ((*place)[len] == ':');
  return field;
}

static void tell_delta(mend_exchange *exchange, mend_part_kind kind, const char *place) {
  mend_delta delta = MEND_DELTA_INIT;
  delta.kind = kind;
  if (kind == MEND_PART_CALL) {
    delta.index = (uint32_t)strtoul(take_field(&place).ptr, NULL, 10);
    delta.call_id = take_field(&place);
    delta.name = take_field(&place);
  }
  delta.text = take_field(&place);
  delta.signature = take_field(&place);
  if (delta.signature.len > 0) delta.provider = MEND_STR("puppets");
  mend_exchange_delta(exchange, &delta);
}

static void tell_notes(mend_exchange *exchange) {
  const double log_probs[] = {-0.5, -0.25};
  mend_reply partial = MEND_REPLY_INIT;
  partial.model = MEND_STR("puppet-1");
  partial.finish = MEND_FINISH_STOP;
  partial.finish_reason = MEND_STR("end_turn");
  partial.usage.input = 3;
  partial.usage.output = 4;
  partial.raw = MEND_STR("[1]");
  partial.log_probs = log_probs;
  partial.log_prob_count = 2;
  mend_exchange_note(exchange, &partial);
}

static void fail(mend_exchange *exchange, const char *type) {
  mend_failure failure = MEND_FAILURE_INIT;
  failure.type = (mend_str){type, strcspn(type, " ")};
  failure.message = MEND_STR("it is broken");
  failure.http_status = 503;
  mend_exchange_fail(exchange, &failure);
}

/* One step on the loop's thread. */
static void tell(mend_exchange *exchange, const char *step) {
  switch (step[0]) {
  case '+': tell_delta(exchange, MEND_PART_TEXT, step + 1); break;
  case '~': tell_delta(exchange, MEND_PART_THINKING, step + 1); break;
  case '@': tell_delta(exchange, MEND_PART_CALL, step + 1); break;
  case '^': mend_exchange_connected(exchange); break;
  case '#': tell_notes(exchange); break;
  case '.': mend_exchange_finish(exchange); break;
  case '!': fail(exchange, step + 1); break;
  default: abort();
  }
}

static mend_status begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  puppet *p = ctx;
  note(&p->w, "begin");
  p->asked = exchange;
  mend_exchange_keep(exchange, p);
  if (p->in_begin == NULL) return MEND_OK;
  if (strcmp(p->in_begin, "refuse") == 0) return mend_error_set(error, MEND_ENOTSUP, "images are not for puppets");
  tell(exchange, p->in_begin);
  return MEND_OK;
}

static void stop(void *ctx, mend_exchange *exchange) {
  puppet *p = ctx;
  CLAIM(&p->w, mend_exchange_kept(exchange) == p);
  note(&p->w, "stop");
  tell(exchange, "+late");
  tell(exchange, "."); /* nothing of this counts */
  p->asked = NULL;
}

static void destroy(void *ctx) { ((puppet *)ctx)->destroyed = true; }

/* ---- The listener ---- */

static const char *kind_mark(mend_part_kind kind) {
  return kind == MEND_PART_CALL ? "@" : kind == MEND_PART_THINKING ? "~" : "+";
}

static void hear_delta(void *ctx, const mend_delta *delta) {
  puppet *p = ctx;
  if (delta->kind == MEND_PART_CALL) {
    note(&p->w, "@%u:%.*s:%.*s:%.*s", delta->index, MEND_STR_ARG(delta->call_id), MEND_STR_ARG(delta->name),
         MEND_STR_ARG(delta->text));
  } else {
    note(&p->w, "%s%.*s", kind_mark(delta->kind), MEND_STR_ARG(delta->text));
  }
  if (p->cancels_at_delta) mend_exchange_cancel(p->exchange);
}

static void hear_reply(puppet *p, const mend_reply *reply) {
  char parts[1024] = "";
  size_t len = 0;
  for (size_t i = 0; i < reply->part_count; i++) {
    const mend_part *part = &reply->parts[i];
    const char *mark = kind_mark(part->kind);
    len += (size_t)(part->kind == MEND_PART_CALL
                        ? snprintf(parts + len, sizeof parts - len, "%s%.*s:%.*s:%.*s", mark,
                                   MEND_STR_ARG(part->call_id), MEND_STR_ARG(part->name), MEND_STR_ARG(part->args))
                        : snprintf(parts + len, sizeof parts - len, "%s%.*s", mark, MEND_STR_ARG(part->text)));
    if (part->signature.len > 0) {
      len += (size_t)snprintf(parts + len, sizeof parts - len, "[%.*s by %.*s]", MEND_STR_ARG(part->signature),
                              MEND_STR_ARG(part->provider));
    }
  }
  note(&p->w, "OK(%s;%s;%s;%s;%g;%g)", reply->text.ptr, reply->thinking.ptr != NULL ? reply->thinking.ptr : "-", parts,
       mend_finish_name(reply->finish), reply->duration_ms, reply->first_content_ms);
  if (reply->model.len > 0) {
    note(&p->w, "{%s,%s,%llu,%llu,%s,%zu}", reply->model.ptr, reply->finish_reason.ptr,
         (unsigned long long)reply->usage.input, (unsigned long long)reply->usage.output, reply->raw.ptr,
         reply->log_prob_count);
  }
}

static void hear_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  puppet *p = ctx;
  p->done++;
  CLAIM(&p->w, (reply != NULL) == (failure == NULL) && (reply != NULL) == (status == MEND_OK));
  if (reply != NULL) {
    hear_reply(p, reply);
  } else {
    note(&p->w, "%s(%.*s;%.*s%s)", mend_status_name(status), MEND_STR_ARG(failure->type),
         MEND_STR_ARG(failure->message), failure->after_content ? ";after content" : "");
  }
}

static mend_status cancel_at_request(void *ctx, const mend_event *event) {
  (void)event;
  puppet *p = ctx;
  if (p->cancels_at_request) mend_exchange_cancel(p->exchange);
  return MEND_OK;
}

/* ---- Cases ---- */

static const mend_model_vtable puppet_vtable = {sizeof puppet_vtable, begin, stop, destroy};
static const mend_model_listener puppet_listener = {sizeof puppet_listener, hear_delta, hear_done, NULL};

static mend_status open_puppet(puppet *p) {
  mend_error error = MEND_ERROR_INIT;
  mend_model_listener listener = puppet_listener;
  listener.ctx = p;
  mend_status status =
      mend_model_new(p->w.loop, &p->w.memory.base, &puppet_vtable, p, "puppets", "puppet", &p->model, &error);
  if (status != MEND_OK) return status;
  mend_model_request request = world_request(&p->w);
  request.call_name = MEND_STR("m1");
  return mend_model_send(p->model, &request, &listener, &p->exchange, &error);
}

static void close_puppet(puppet *p) {
  mend_exchange_release(p->exchange);
  mend_model_release(p->model);
}

typedef struct order {
  puppet *p;
  const char *step;
} order;

static void run_order(void *ctx) {
  const order *given = ctx;
  if (strncmp(given->step, "cancel!", 7) == 0) {
    mend_exchange_cancel(given->p->exchange);
    CLAIM(&given->p->w, given->p->done == 1);
  } else {
    tell(given->p->asked != NULL ? given->p->asked : given->p->exchange, given->step);
  }
}

static bool is_step(const char *step, const char *name) { return strncmp(step, name, strlen(name)) == 0; }

static void take_step(puppet *p, const char *step) {
  if (is_step(step, "wait:")) {
    cr_assert_eq(mend_clock_advance(p->w.clock, (uint64_t)(strtod(step + 5, NULL) * 1e9)), MEND_OK);
  } else if (is_step(step, "tick")) {
    cr_assert_eq(mend_clock_advance(p->w.clock, 1), MEND_OK);
  } else if (is_step(step, "release")) {
    mend_exchange_release(p->exchange);
    p->exchange = NULL;
  } else if (is_step(step, "unmodel")) {
    mend_model_release(p->model);
    p->model = NULL;
  } else if (is_step(step, "cancels-at-delta")) {
    p->cancels_at_delta = true;
  } else if (is_step(step, "cancel") && step[6] != '!') {
    mend_exchange_cancel(p->exchange);
    settle(&p->w);
  } else {
    order given = {p, step};
    mend__loop_call(p->w.loop, run_order, &given);
  }
}

static void take_steps(puppet *p, const char *steps) {
  while (*steps != '\0') {
    take_step(p, steps);
    steps += strcspn(steps, " ");
    steps += strspn(steps, " ");
  }
}

typedef struct exchange_case {
  const char *steps, *log, *events;
  const char *in_begin;
  bool cancels_at_request;
} exchange_case;

static void run_case(const exchange_case *given) {
  puppet *p = calloc(1, sizeof *p);
  world_open(&p->w);
  p->in_begin = given->in_begin;
  p->cancels_at_request = given->cancels_at_request;
  cr_assert_eq(mend_bus_subscribe(p->w.bus, "model.request", cancel_at_request, p, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(open_puppet(p), MEND_OK);
  settle(&p->w);
  take_steps(p, given->steps);
  settle(&p->w);
  cr_assert_str_eq(p->w.log, given->log, "%s: %s", given->steps, p->w.log);
  if (given->events != NULL) cr_assert_str_eq(p->w.events, given->events, "%s: %s", given->steps, p->w.events);
  cr_assert_eq(p->done, 1u, "%s: done was told %u times", given->steps, p->done);
  close_puppet(p);
  settle(&p->w);
  cr_assert(p->destroyed);
  world_close(&p->w);
  free(p);
}

static void run_cases(const exchange_case *cases, size_t count) {
  for (size_t i = 0; i < count; i++)
    run_case(&cases[i]);
}
#define RUN(cases) run_cases(cases, sizeof(cases) / sizeof *(cases))

Test(exchange, gathers_a_reply) {
  static const exchange_case cases[] = {
      {.steps = ".", .log = "begin OK(;-;;unknown;0;nan)", .events = "request(puppet,1,1) response(,unknown,0ms)"},
      {.steps = "+Hel wait:1 +lo wait:1 # .",
       .log = "begin +Hel +lo OK(Hello;-;+Hello;stop;2000;0) {puppet-1,end_turn,3,4,[1],2}",
       .events = "request(puppet,1,1) delta(text,Hel,3) delta(text,lo,2) usage(3,4) response(Hello,stop,2000ms)"},
      /* parts in order; a signature ends its part; an empty piece says nothing */
      {.steps = "~hm ~, ~: ~:s1 ~more + +yes ~:s2 +no .",
       .log = "begin ~hm ~, ~ ~more +yes ~ +no OK(yesno;hm,more;~hm,[s1 by puppets]~more+yes~[s2 by "
              "puppets]+no;unknown;0;0)"},
      /* calls by index, whose pieces may alternate; ids and arguments that are missing */
      {.steps = "@0:a:f:{\"x\" @1::g: @0:::} @1::: @7:b:h:{} .",
       .log = "begin @0:a:f:{\"x\" @1:call_1:g: @0:::} @1::: @7:b:h:{} "
              "OK(;-;@a:f:{\"x\"}@call_1:g:{}@b:h:{};unknown;0;0)"},
      {.steps = "+ok @0:a:f:{} @0::::s3 # # .",
       .log = "begin +ok @0:a:f:{} @0::: OK(ok;-;+ok@a:f:{}[s3 by puppets];stop;0;0) "
              "{puppet-1,end_turn,3,4,[1][1],4}"},
  };
  RUN(cases);
}

Test(exchange, ends_once) {
  static const exchange_case cases[] = {
      {.steps = "+a . . +b !broken cancel cancel!", .log = "begin +a OK(a;-;+a;unknown;0;0)"},
      {.steps = "!broken . !again",
       .log = "begin MEND_EFAILED(broken;it is broken)",
       .events = "request(puppet,1,1) error(broken,503,0ms)"},
      {.steps = "# +a !broken",
       .log = "begin +a MEND_EFAILED(broken;it is broken;after content)",
       .events = "request(puppet,1,1) delta(text,a,1) usage(3,4) error(broken,503,0ms)"},
      {.steps = "+a cancel . cancel",
       .log = "begin +a stop MEND_ECANCELLED(cancelled;the request was cancelled;after content)",
       .events = "request(puppet,1,1) delta(text,a,1) error(cancelled,-1,0ms)"},
      {.steps = "cancel! cancel!", .log = "begin stop MEND_ECANCELLED(cancelled;the request was cancelled)"},
      /* inside of the model's own delta it is stopped later, unless it answers first */
      {.steps = "cancels-at-delta +a +b",
       .log = "begin +a MEND_ECANCELLED(cancelled;the request was cancelled;after content) stop"},
      /* while it begins */
      {.in_begin = "refuse",
       .log = "begin MEND_EFAILED(not_supported;images are not for puppets)",
       .events = "request(puppet,1,1) error(not_supported,-1,0ms)",
       .steps = ". cancel"},
      {.in_begin = "+a", .log = "begin +a OK(a;-;+a;unknown;0;0)", .steps = "."},
      {.in_begin = ".", .log = "begin OK(;-;;unknown;0;nan)", .steps = "cancel"},
      {.in_begin = "!broken", .log = "begin MEND_EFAILED(broken;it is broken)", .steps = "cancel"},
      {.cancels_at_request = true,
       .log = "MEND_ECANCELLED(cancelled;the request was cancelled)",
       .events = "error(cancelled,-1,0ms) request(puppet,1,1)", /* told inside of being told */
       .steps = ""},
      /* who asked does not wait for it, and has let go of the model, too */
      {.steps = "release unmodel +a .", .log = "begin +a OK(a;-;+a;unknown;0;0)"},
      {.steps = "release unmodel wait:10 tick",
       .log = "begin stop MEND_EFAILED(connect_timeout;no connection within connect_s)"},
  };
  RUN(cases);
}

/* The defaults: 10 s to connect, 120 s to the first content, 60 s between contents, 900 s in all. */
Test(exchange, watches_four_clocks) {
  static const exchange_case cases[] = {
      {.steps = "wait:10 ^ .", .log = "begin OK(;-;;unknown;10000;nan)"},
      {.steps = "wait:10 tick . +a",
       .log = "begin stop MEND_EFAILED(connect_timeout;no connection within connect_s)",
       .events = "request(puppet,1,1) error(connect_timeout,-1,10000ms)"},
      {.steps = "^ wait:120 +a .", .log = "begin +a OK(a;-;+a;unknown;120000;120000)"},
      {.steps = "^ wait:120 tick",
       .log = "begin stop MEND_EFAILED(first_content_timeout;no content within first_content_s)"},
      {.steps = "^ wait:100 # + wait:20 tick",
       .log = "begin stop MEND_EFAILED(first_content_timeout;no content within first_content_s)"},
      {.steps = "+a wait:60 +b wait:60 +c wait:60 .", .log = "begin +a +b +c OK(abc;-;+abc;unknown;180000;0)"},
      {.steps = "+a wait:60 +b wait:30 # + wait:30 tick",
       .log = "begin +a +b stop MEND_EFAILED(idle_timeout;no content for idle_s;after content)"},
      {.steps = "wait:9 +a wait:60 tick",
       .log = "begin +a stop MEND_EFAILED(idle_timeout;no content for idle_s;after content)"},
      {.steps = "+a wait:59 +b wait:59 +c wait:59 +d wait:59 +e wait:59 +f wait:59 +g wait:59 +h wait:59 +i wait:59 +j "
                "wait:59 +k wait:59 +l wait:59 +m wait:59 +n wait:59 +o wait:59 +p wait:15 tick",
       .log = "begin +a +b +c +d +e +f +g +h +i +j +k +l +m +n +o +p stop "
              "MEND_EFAILED(total_timeout;not complete within total_s;after content)"},
  };
  RUN(cases);
}

/* ---- Threads ---- */

enum { CANCELLERS = 3, DELTAS = 50 };

typedef struct racer {
  puppet *p;
  pthread_barrier_t *start;
} racer;

static void *cancel_from_thread(void *ctx) {
  const racer *own = ctx;
  mend_exchange *exchange = mend_exchange_retain(own->p->exchange);
  pthread_barrier_wait(own->start);
  mend_exchange_cancel(exchange);
  mend_exchange_release(exchange);
  return NULL;
}

/* A delta a turn of the loop, so that whatever is posted comes between. */
static void stream(void *ctx) {
  puppet *p = ctx;
  if (p->asked != NULL) tell(p->asked, ++p->streamed <= DELTAS ? "+x" : ".");
  if (p->done == 0) {
    mend__loop_post_own(p->w.loop, &p->streaming);
  } else {
    atomic_store(&p->stream_is_over, true);
  }
}

static void race(puppet *p) {
  pthread_barrier_t start;
  pthread_t threads[CANCELLERS];
  racer racers[CANCELLERS];
  p->streaming = (mend__posted){.function = stream, .ctx = p};
  pthread_barrier_init(&start, NULL, CANCELLERS + 1);
  for (size_t i = 0; i < CANCELLERS; i++) {
    racers[i] = (racer){p, &start};
    cr_assert_eq(pthread_create(&threads[i], NULL, cancel_from_thread, &racers[i]), 0);
  }
  pthread_barrier_wait(&start);
  mend__loop_post_own(p->w.loop, &p->streaming);
  mend_exchange_release(p->exchange);
  mend_model_release(p->model);
  for (size_t i = 0; i < CANCELLERS; i++)
    pthread_join(threads[i], NULL);
  pthread_barrier_destroy(&start);
  while (!atomic_load(&p->stream_is_over))
    settle(&p->w);
}

Test(exchange, is_cancelled_by_any_thread) {
  puppet *p = calloc(1, sizeof *p);
  for (int round = 0; round < 20; round++) {
    *p = (puppet){.model = NULL};
    world_open(&p->w);
    cr_assert_eq(open_puppet(p), MEND_OK);
    settle(&p->w);
    race(p);
    settle(&p->w);
    cr_assert_eq(p->done, 1u);
    cr_assert(p->destroyed);
    world_close(&p->w);
  }
  free(p);
}

/* ---- Without memory ---- */

static void stream_once(void *ctx) {
  puppet *p = ctx;
  if (p->asked == NULL) return;
  static const char *const steps[] = {"~hm", "~:s", "+Hello", "@0::f:{", "@0:::}", "#", "."};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0] && p->done == 0; i++) {
    if (steps[i][0] == '#') {
      mend_reply partial = MEND_REPLY_INIT;
      partial.raw = MEND_STR("[]");
      mend_exchange_note(p->asked, &partial);
    } else {
      tell(p->asked, steps[i]);
    }
  }
}

/* An error of sending, or done once: with the whole reply or without memory. */
static bool exchange_without_memory(size_t n, bool onwards) {
  puppet *p = calloc(1, sizeof *p);
  world_open(&p->w);
  mend_test_allocator_arm(&p->w.memory, n, onwards);
  const mend_status status = open_puppet(p);
  settle(&p->w);
  mend__loop_call(p->w.loop, stream_once, p);
  settle(&p->w);
  const bool failed = mend_test_allocator_failed(&p->w.memory);
  if (status == MEND_OK) {
    const bool whole = strstr(p->w.log, "OK(Hello;hm;~hm[s by puppets]+Hello@call_1:f:{};unknown;0;0)") != NULL;
    cr_assert(whole || strstr(p->w.log, "MEND_ENOMEM(no_memory;out of memory") != NULL, "%zu: %s", n, p->w.log);
    cr_assert_eq(p->done, 1u);
  } else {
    cr_assert_eq((int)status, (int)MEND_ENOMEM);
    cr_assert_eq(p->done, 0u);
  }
  cr_assert(failed || status == MEND_OK);
  close_puppet(p);
  settle(&p->w);
  world_close(&p->w);
  free(p);
  return failed;
}

Test(exchange, survives_without_memory) {
  for (int onwards = 0; onwards < 2; onwards++) {
    for (size_t n = 1; exchange_without_memory(n, onwards != 0); n++) {
    }
  }
}
