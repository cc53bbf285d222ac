/* A chain of models that do as they are told: each request to one is a letter of its part, the last of which goes on
 * for ever. */
#ifndef MEND_TESTS_FALLBACK_TROUPE_H
#define MEND_TESTS_FALLBACK_TROUPE_H

#include "fallback/chain_internal.h"
#include "fallback/world.h"

#include <math.h>

typedef struct act {
  char letter;
  const char *deltas; /* that are told first; NULL: none */
  bool fails;
  const char *transport;
  uint32_t status;
  const char *body;
  double retry_after_s;
  bool reused, hangs;
} act;

#define FAULT(letter, transport)                                                                                       \
  { letter, NULL, true, transport, 0, NULL, MEND_NAN, false, false }
#define ANSWER(letter, status, body)                                                                                   \
  { letter, NULL, true, NULL, status, body, MEND_NAN, false, false }
static const act acts[] = {
    {'o', "hello", false, NULL, 0, NULL, MEND_NAN, false, false},
    {'e', NULL, false, NULL, 0, NULL, MEND_NAN, false, false}, /* empty */
    {'h', NULL, false, NULL, 0, NULL, MEND_NAN, false, true},  /* hangs */
    {'H', "hel", false, NULL, 0, NULL, MEND_NAN, false, true},
    {'c', "hel", true, "cut", 0, NULL, MEND_NAN, false, false}, /* dies after content */
    {'N', "hel", true, "no_memory", 0, NULL, MEND_NAN, false, false},
    {'v', "hel", true, NULL, 200, "{\"error\": {\"type\": \"overloaded_error\"}}", MEND_NAN, false, false},
    {'s', NULL, true, "reset", 0, NULL, MEND_NAN, true, false}, /* a stale connection */
    {'w', NULL, true, NULL, 429, NULL, 1.5, false, false},
    {'W', NULL, true, NULL, 429, NULL, 30, false, false},
    {'%', NULL, true, NULL, 429, NULL, 1.5, false, false}, /* and has cost something */
    {'V', NULL, true, NULL, 429, NULL, -1, false, false},  /* a wait that is none */
    {'I', NULL, true, NULL, 429, NULL, HUGE_VAL, false, false},
    FAULT('r', "refused"),
    FAULT('d', "dns"),
    FAULT('z', "certificate"),
    FAULT('R', "reset"),
    FAULT('t', "first_content_timeout"),
    FAULT('i', "idle_timeout"),
    FAULT('u', "cut"),
    FAULT('m', "malformed"),
    FAULT('n', "not_supported"),
    FAULT('B', "begin"), /* refuses in the same call */
    FAULT('M', "no_memory"),
    ANSWER('9', 429, NULL),
    ANSWER('5', 503, NULL),
    ANSWER('$', 503, NULL), /* and has cost something */
    ANSWER('2', 500, NULL),
    ANSWER('3', 502, NULL),
    ANSWER('7', 501, NULL),
    ANSWER('8', 408, NULL),
    ANSWER('4', 400, NULL),
    ANSWER('y', 422, NULL),
    ANSWER('1', 401, "{\"error\": {\"message\": \"the key sk-secret is wrong\"}}"),
    ANSWER('f', 404, "{\"error\": {\"message\": \"no such model\"}}"),
    ANSWER('p', 404, "404 page not found"),
    ANSWER('q', 429, "{\"error\": {\"code\": \"insufficient_quota\"}}"),
    ANSWER('b', 402, NULL),
    ANSWER('D', 429, "requests per day"),
    ANSWER('x', 400, "{\"error\": {\"code\": \"context_length_exceeded\"}}"),
    ANSWER('P', 400, "{\"error\": {\"code\": \"unsupported_parameter\", \"param\": \"temperature\"}}"),
    ANSWER('Q', 400, "{\"error\": {\"code\": \"unsupported_parameter\", \"param\": \"top_k\"}}"),
    ANSWER('F', 400, "{\"error\": {\"code\": \"content_filter\"}}"),
    ANSWER('j', 200, "{\"error\": {\"message\": \"oops\"}}"),
    ANSWER('l', 503, "<html>sorry</html>"),
    ANSWER('L', 403, "<html>go away</html>"),
    ANSWER('C', 409, NULL),
    ANSWER('T', 418, NULL),
    ANSWER('k', 499, NULL),
};
#undef FAULT
#undef ANSWER

typedef struct actor {
  world *w;
  const char *part;
  char name[32];
  mend_model *model;
  unsigned asked;
  double temperature;  /* it was asked with last */
  mend_exchange *held; /* that hangs */
} actor;

static inline const act *act_of(char letter) {
  for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
    if (acts[i].letter == letter) return &acts[i];
  }
  return NULL;
}

static inline void actor_fails(mend_exchange *exchange, const act *told) {
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  failure.http_status = told->status;
  failure.body = mend_str_from(told->body);
  failure.retry_after_s = told->retry_after_s;
  const char sentence[] = {'s', 'a', 'y', 's', ' ', told->letter, '\0'};
  failure.message = told->letter == '1' ? failure.body : mend_str_from(sentence);
  signal.transport = told->transport;
  signal.reused = told->reused;
  signal.any_byte = told->status != 0;
  signal.http_status = told->status;
  signal.body = failure.body;
  mend__exchange_fail_by(exchange, &failure, &signal);
}

static inline void actor_answers(mend_exchange *exchange, const act *told) {
  if (told->deltas != NULL) {
    mend_delta delta = MEND_DELTA_INIT;
    delta.kind = MEND_PART_TEXT;
    delta.text = mend_str_from(told->deltas);
    mend_exchange_delta(exchange, &delta);
  }
  if (told->hangs) return;
  if (told->letter == '$' || told->letter == '%') {
    mend_reply used = MEND_REPLY_INIT;
    used.usage.input = 4000;
    used.usage.output = 500;
    mend_exchange_note(exchange, &used);
  }
  if (told->fails) {
    actor_fails(exchange, told);
    return;
  }
  mend_reply known = MEND_REPLY_INIT;
  known.finish = MEND_FINISH_STOP;
  known.model = mend_model_name(exchange->model);
  mend_exchange_note(exchange, &known);
  mend_exchange_finish(exchange);
}

static inline mend_status actor_begin(void *ctx, mend_exchange *exchange, mend_error *error) {
  actor *self = ctx;
  const size_t last = strlen(self->part) - 1;
  const char letter = self->part[self->asked < last ? self->asked : last];
  self->asked++;
  self->temperature = mend_exchange_request(exchange)->temperature;
  if (act_of(letter)->hangs) self->held = exchange;
  note(self->w, "%s%c", self->name, letter);
  if (letter == 'B') return mend_error_set(error, MEND_EINVAL, "says B");
  actor_answers(exchange, act_of(letter));
  return MEND_OK;
}

static inline void actor_cancel(void *ctx, mend_exchange *exchange) {
  (void)exchange;
  actor *self = ctx;
  note(self->w, "%s-", self->name);
}

static inline mend_status actor_open(actor *self, world *w, const char *provider, const char *name, const char *part) {
  static const mend_model_vtable vtable = {.size = sizeof vtable, .begin = actor_begin, .cancel = actor_cancel};
  *self = (actor){.w = w, .part = part};
  snprintf(self->name, sizeof self->name, "%s", name);
  return mend_model_new(w->loop, &w->memory.base, &vtable, self, provider, name, &self->model, NULL);
}

/* ---- The chain ---- */

enum { ACTORS = 4 };

typedef struct troupe {
  world w;
  actor actors[ACTORS];
  mend_model *chain;
  mend_subscription *subscription;
  const char *rows;                 /* of its classification; NULL: the built-in ones */
  const char *models;               /* what is known of them; NULL: nothing */
  char alerts[1024], healing[4096]; /* written by the loop's thread while the test waits for it */
} troupe;

static inline void on_alert(void *ctx, mend_log_level level, const char *message) {
  troupe *t = ctx;
  const size_t len = strlen(t->alerts);
  snprintf(t->alerts + len, sizeof t->alerts - len, "%d %s\n", (int)level, message);
}

MEND_PRINTF(2, 3) static inline void note_healing(troupe *t, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  pthread_mutex_lock(&t->w.lock);
  const size_t len = strlen(t->healing);
  vsnprintf(t->healing + len, sizeof t->healing - len, format, arguments);
  pthread_mutex_unlock(&t->w.lock);
  va_end(arguments);
}

static inline mend_status log_healing(void *ctx, const mend_event *event) {
  troupe *t = ctx;
  if (event->kind == MEND_EVENT_MODEL_FALLBACK) {
    const mend_model_fallback_event *moved = (const mend_model_fallback_event *)event;
    note_healing(t, "fallback(%.*s,%.*s,%.*s) ", MEND_STR_ARG(moved->from), MEND_STR_ARG(moved->to),
                 MEND_STR_ARG(moved->error_type));
  } else if (event->kind == MEND_EVENT_MODEL_CHAIN_EXHAUSTED) {
    const mend_model_chain_exhausted_event *over = (const mend_model_chain_exhausted_event *)event;
    note_healing(t, "exhausted(%.*s,%.*s) ", MEND_STR_ARG(over->models_tried), MEND_STR_ARG(over->last_error_type));
  } else if (event->kind == MEND_EVENT_MODEL_RECOVERED) {
    note_healing(t, "recovered(%.*s) ", MEND_STR_ARG(((const mend_model_recovered_event *)event)->model));
  } else if (event->kind == MEND_EVENT_MODEL_RETRY) {
    const mend_model_retry_event *again = (const mend_model_retry_event *)event;
    note_healing(t, "retry(%.*s,%.*s,%u,%g) ", MEND_STR_ARG(again->model), MEND_STR_ARG(again->error_type),
                 (unsigned)again->attempt, again->delay_ms);
  }
  return MEND_OK;
}

static inline mend_fallback_options options_of(troupe *t, mend_fallback_profile profile) {
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = t->w.loop;
  options.allocator = &t->w.memory.base;
  options.profile = profile;
  options.seed = 1;
  options.log = on_alert;
  options.log_ctx = t;
  options.classification = t->rows;
  options.models = t->models;
  return options;
}

/* `parts` are of models called `names`; both end with NULL. Each is of a provider of its own (t1, t2, ...) unless
 * there is one. */
static inline mend_status troupe_try_open(troupe *t, mend_fallback_profile profile, const char *provider,
                                          const char *const *names, const char *const *parts) {
  static const char *const providers[ACTORS] = {"t1", "t2", "t3", "t4"};
  mend_model *models[ACTORS];
  size_t count = 0;
  mend_fallback_options options = options_of(t, profile);
  mend_status status = mend_bus_subscribe(t->w.bus, "*", log_healing, t, NULL, &t->subscription, NULL);
  for (; status == MEND_OK && parts[count] != NULL; count++) {
    status = actor_open(&t->actors[count], &t->w, provider != NULL ? provider : providers[count], names[count],
                        parts[count]);
    models[count] = t->actors[count].model;
  }
  if (status == MEND_OK) status = mend_fallback_of(models, count, &options, &t->chain, NULL);
  return status;
}

static inline const char *text_or_none(const char *text) { return text[0] != '\0' ? text : NULL; }

static inline void open_with_tables(troupe *t, mend_fallback_profile profile, const char *provider,
                                    const char *const *names, const char *const *parts, const char *rows,
                                    const char *models) {
  *t = (troupe){.rows = text_or_none(rows), .models = text_or_none(models)};
  world_open(&t->w);
  cr_assert_eq(troupe_try_open(t, profile, provider, names, parts), MEND_OK);
}

static inline void troupe_open(troupe *t, mend_fallback_profile profile, const char *provider, const char *const *names,
                               const char *const *parts) {
  open_with_tables(t, profile, provider, names, parts, "", "");
}

static inline void troupe_free(troupe *t) {
  mend_model_release(t->chain);
  for (size_t i = 0; i < ACTORS; i++)
    mend_model_release(t->actors[i].model);
  mend_subscription_close(&t->subscription);
}

static inline void troupe_close(troupe *t) {
  troupe_free(t);
  world_close(&t->w);
}

static inline void advance(troupe *t, double seconds) {
  cr_assert_eq(mend_clock_advance(t->w.clock, (uint64_t)(seconds * 1e9)), MEND_OK);
}

/* ---- Asking it ---- */

typedef struct answer {
  mend_status status;
  mend_reply reply;
  char type[64], message[256], attempts[2048];
  uint32_t http_status;
  bool has_body, after_content, over;
  unsigned ends;
  char text[256];
} answer;

static inline void take_delta(void *ctx, const mend_delta *delta) {
  answer *a = ctx;
  const size_t len = strlen(a->text);
  snprintf(a->text + len, sizeof a->text - len, "%.*s", MEND_STR_ARG(delta->text));
}

static inline void take_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  answer *a = ctx;
  a->status = status;
  a->ends++;
  if (reply != NULL) {
    snprintf(a->attempts, sizeof a->attempts, "%.*s", MEND_STR_ARG(reply->attempts));
    mend_reply_move(&a->reply, reply);
  } else {
    snprintf(a->type, sizeof a->type, "%.*s", MEND_STR_ARG(failure->type));
    snprintf(a->message, sizeof a->message, "%.*s", MEND_STR_ARG(failure->message));
    snprintf(a->attempts, sizeof a->attempts, "%.*s", MEND_STR_ARG(failure->attempts));
    a->http_status = failure->http_status;
    a->has_body = failure->body.len > 0;
    a->after_content = failure->after_content;
  }
  a->over = true;
}

static inline mend_exchange *send_to(troupe *t, const mend_model_request *request, answer *a) {
  const mend_model_listener listener = {.size = sizeof listener, .delta = take_delta, .done = take_end, .ctx = a};
  mend_exchange *exchange = NULL;
  mend_error error = MEND_ERROR_INIT;
  *a = (answer){.reply = MEND_REPLY_INIT};
  cr_assert_eq(mend_model_send(t->chain, request, &listener, &exchange, &error), MEND_OK, "%s", error.message);
  for (int i = 0; i < 12; i++)
    settle(&t->w);
  return exchange;
}

#endif
