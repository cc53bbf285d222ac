/* Rows of the classification table as cases: a chain of two models is asked, what each attempt ended with and what the
 * caller was told is compared with a line of JSON. */
#ifndef MEND_TESTS_FALLBACK_ROWS_H
#define MEND_TESTS_FALLBACK_ROWS_H

#include "fallback/json_fields.h"
#include "fallback/world.h"
#include "support/fault_server.h"

#include <stdlib.h>
#include <time.h>

enum { TOLD, FAULTS, PROVIDER, MODEL, BACKUP, URL, FIRST_CONTENT, IDLE, ASKS, FIELDS };

#define SECRET_1 "sk-first-secret"
#define SECRET_2 "sk-second-secret"

typedef struct row_case {
  mend_str line;
  mend__json_member fields[FIELDS];
  char provider[32], base_url[256], good_url[256], names[2][64];
  size_t model_count, key_count;
  const char *ca_file; /* NULL: the system's */
  mend_log_fn log;     /* NULL: nobody's */
  void *log_ctx;
} row_case;

/* What a member says, or else the default. */
static inline void read_text(const row_case *c, int field, const char *otherwise, char *room, size_t size) {
  const mend_str value = mend__json_inside(c->fields[field].value);
  snprintf(room, size, "%.*s", MEND_STR_ARG(value.ptr != NULL ? value : mend_str_from(otherwise)));
}

static inline void read_case(row_case *c, mend_str line, const char *server) {
  static const char *const names[FIELDS] = {"told", "faults",          "provider", "model", "backup",
                                            "url",  "first_content_s", "idle_s",   "asks"};
  char faults[128], model[32], backup[32];
  *c = (row_case){.line = line};
  for (int i = 0; i < FIELDS; i++)
    c->fields[i].name = mend_str_from(names[i]);
  cr_assert(mend__json_fields_read(line, c->fields, FIELDS), "%.*s", MEND_STR_ARG(line));
  read_text(c, FAULTS, "", faults, sizeof faults);
  read_text(c, PROVIDER, "openai", c->provider, sizeof c->provider);
  read_text(c, MODEL, "gpt-4", model, sizeof model);
  read_text(c, BACKUP, "gpt-4.1", backup, sizeof backup);
  const char *version = strcmp(c->provider, "google") == 0 ? "v1beta" : "v1";
  char faulty[256];
  snprintf(faulty, sizeof faulty, faults[0] != '\0' ? "%s/fault/%s/%s" : "%s%s/%s", server, faults, version);
  read_text(c, URL, faulty, c->base_url, sizeof c->base_url);
  snprintf(c->good_url, sizeof c->good_url, "%s/v1", server);
  snprintf(c->names[0], sizeof c->names[0], "%s:%s", c->provider, model);
  snprintf(c->names[1], sizeof c->names[1], "compatible:%s", backup);
  c->model_count = backup[0] != '\0' ? 2 : 1;
  c->key_count = 2;
}

static inline mend_model *open_chain(const row_case *c, mend_loop *loop) {
  const mend_key keys[] = {{c->provider, SECRET_1}, {c->provider, SECRET_2}};
  const mend_endpoint endpoints[] = {{c->provider, c->base_url}, {"compatible", c->good_url}};
  const char *const models[] = {c->names[0], c->names[1]};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = loop;
  options.keys = keys;
  options.key_count = c->key_count;
  options.endpoints = endpoints;
  options.endpoint_count = 2;
  options.profile = MEND_FALLBACK_RESILIENT;
  options.ca_file = c->ca_file;
  options.log = c->log;
  options.log_ctx = c->log_ctx;
  mend_model *chain = NULL;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_fallback_new(models, c->model_count, &options, &chain, &error), MEND_OK, "%s", error.message);
  return chain;
}

/* ---- The end of a request: told on the loop's thread, waited for on the test's ---- */

typedef struct latch {
  pthread_mutex_t lock;
  pthread_cond_t opened;
  bool is_open;
} latch;

#define LATCH_INIT                                                                                                     \
  { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, false }

static inline void open_latch(latch *l) {
  pthread_mutex_lock(&l->lock);
  l->is_open = true;
  pthread_cond_signal(&l->opened);
  pthread_mutex_unlock(&l->lock);
}

/* Closes it again. */
static inline void await(latch *l, const row_case *c) {
  struct timespec limit;
  int status = 0;
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  pthread_mutex_lock(&l->lock);
  while (!l->is_open && status == 0)
    status = pthread_cond_timedwait(&l->opened, &l->lock, &limit);
  l->is_open = false;
  pthread_mutex_unlock(&l->lock);
  cr_assert_eq(status, 0, "no end: %.*s", MEND_STR_ARG(c->line));
}

/* ---- What is told ---- */

typedef struct answer {
  mend__buffer told; /* the class of each attempt that failed, and the end */
  mend__buffer all;  /* every text there is, for secrets */
  latch end;
} answer;

static inline void tell_attempts(answer *a, mend_str attempts) {
  mend__json_items elements = mend__json_items_of(attempts);
  mend_str element;
  while (mend__json_items_next(&elements, &element)) {
    const mend_str class = mend__json_inside(mend__json_find(element, "class", NULL));
    if (mend_str_equal(class, MEND_STR("ok"))) continue;
    mend__buffer_str(&a->told, class);
    mend__buffer_char(&a->told, ' ');
  }
  mend__buffer_str(&a->all, attempts);
}

static inline void tell_failure(answer *a, const mend_failure *failure) {
  tell_attempts(a, failure->attempts);
  mend__buffer_char(&a->told, '=');
  mend__buffer_str(&a->told, failure->type);
  if (failure->http_status != 0) mend__buffer_printf(&a->told, "%u", (unsigned)failure->http_status);
  if (failure->after_content) mend__buffer_str(&a->told, MEND_STR("cut"));
  mend__buffer_str(&a->all, failure->message);
  mend__buffer_str(&a->all, failure->body);
}

static inline void take_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)status;
  answer *a = ctx;
  if (reply != NULL) {
    const char *colon = memchr(reply->target.ptr, ':', reply->target.len);
    tell_attempts(a, reply->attempts);
    mend__buffer_char(&a->told, '=');
    mend__buffer_bytes(&a->told, reply->target.ptr, (size_t)(colon - reply->target.ptr));
  } else {
    tell_failure(a, failure);
  }
  open_latch(&a->end);
}

static inline mend_status gather_event(void *ctx, const mend_event *event) {
  char *json = NULL;
  size_t len;
  if (mend_event_to_json(event, NULL, NULL, &json, &len) != MEND_OK) return MEND_ENOMEM;
  mend__buffer_bytes(&((answer *)ctx)->all, json, len);
  mend_free(NULL, json);
  return MEND_OK;
}

/* ---- Asking: in real time ---- */

static inline double number_of(const row_case *c, int field, double otherwise) {
  return c->fields[field].value.ptr != NULL ? mend_json_double(c->fields[field].value) : otherwise;
}

static inline void ask(mend_model *chain, const row_case *c, mend_run *run, answer *a) {
  mend_messages *messages;
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("one two three")), MEND_OK);
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = messages;
  request.run = run;
  request.clocks.first_content_s = number_of(c, FIRST_CONTENT, 20);
  request.clocks.idle_s = number_of(c, IDLE, 20);
  const mend_model_listener listener = {.size = sizeof listener, .done = take_end, .ctx = a};
  mend_exchange *exchange;
  cr_assert_eq(mend_model_send(chain, &request, &listener, &exchange, NULL), MEND_OK);
  mend_messages_free(messages);
  await(&a->end, c);
  mend_exchange_release(exchange);
}

static inline void check_row(const row_case *c, mend_loop *loop) {
  answer a = {.end = LATCH_INIT};
  mend__buffer_init(&a.told, NULL);
  mend__buffer_init(&a.all, NULL);
  mend_bus *bus;
  mend_run *run;
  mend_run_options run_options = MEND_RUN_OPTIONS_INIT;
  run_options.id = MEND_STR("r");
  cr_assert_eq(mend_bus_new(NULL, &bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(bus, "*", gather_event, &a, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(bus, &run_options, &run, NULL), MEND_OK);
  mend_model *chain = open_chain(c, loop);
  const int asks = (int)number_of(c, ASKS, 1);
  for (int i = 0; i < asks; i++) {
    if (i > 0) mend__buffer_str(&a.told, MEND_STR(" | "));
    ask(chain, c, run, &a);
  }
  mend_model_release(chain);
  mend_run_release(run);
  mend_bus_release(bus);
  mend__buffer_char(&a.told, '\0');
  mend__buffer_char(&a.all, '\0');
  cr_assert(mend__json_says(c->fields[TOLD].value, a.told.data), "%.*s\n got %s", MEND_STR_ARG(c->line), a.told.data);
  cr_assert(strstr(a.all.data, SECRET_1) == NULL && strstr(a.all.data, SECRET_2) == NULL, "a key is told: %s",
            a.all.data);
  mend__buffer_free(&a.told);
  mend__buffer_free(&a.all);
}

#endif
