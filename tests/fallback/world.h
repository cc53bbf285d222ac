/* What the tests of models share: a loop on a virtual clock, a bus with a run, counted memory, and a log that the
 * loop's thread writes. */
#ifndef MEND_TESTS_FALLBACK_WORLD_H
#define MEND_TESTS_FALLBACK_WORLD_H

#include "loop/room.h"
#include "mend/fallback.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

enum { LOG_SIZE = 1 << 15 };

typedef struct world {
  size_t files;
  mend_test_allocator memory;
  mend_clock *clock;
  mend_loop *loop;
  mend_bus *bus;
  mend_run *run;
  mend_messages *messages;
  pthread_mutex_t lock; /* of both logs */
  char log[LOG_SIZE], events[LOG_SIZE];
  size_t log_len, events_len;
} world;

static inline void write_to(world *w, char *log, size_t *len, const char *format, va_list arguments) {
  pthread_mutex_lock(&w->lock);
  if (*len > 0 && *len < LOG_SIZE - 1) log[(*len)++] = ' ';
  const int more = vsnprintf(log + *len, LOG_SIZE - *len, format, arguments);
  if (more > 0) *len = *len + (size_t)more < LOG_SIZE ? *len + (size_t)more : LOG_SIZE - 1;
  pthread_mutex_unlock(&w->lock);
}

MEND_PRINTF(2, 3) static inline void note(world *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_to(w, w->log, &w->log_len, format, arguments);
  va_end(arguments);
}

/* An assertion on the loop's thread, which the test makes of the log. */
#define CLAIM(w, holds) ((holds) ? (void)0 : note((w), "line %d: it is not true that %s", __LINE__, #holds))

MEND_PRINTF(2, 3) static inline void note_event(world *w, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  write_to(w, w->events, &w->events_len, format, arguments);
  va_end(arguments);
}

static inline mend_status log_event(void *ctx, const mend_event *event) {
  world *w = ctx;
  switch (event->kind) {
  case MEND_EVENT_MODEL_REQUEST: {
    const mend_model_request_event *request = (const mend_model_request_event *)event;
    char within[32] = "";
    if (request->within != MEND_NONE) snprintf(within, sizeof within, ",in %llu", (unsigned long long)request->within);
    note_event(w, "request(%.*s,%llu,%llu%s)", MEND_STR_ARG(request->model), (unsigned long long)request->messages,
               (unsigned long long)request->attempt, within);
    break;
  }
  case MEND_EVENT_MODEL_DELTA: {
    const mend_model_delta_event *delta = (const mend_model_delta_event *)event;
    note_event(w, "delta(%.*s,%.*s,%llu)", MEND_STR_ARG(delta->delta_kind), MEND_STR_ARG(delta->text),
               (unsigned long long)delta->bytes);
    break;
  }
  case MEND_EVENT_MODEL_USAGE: {
    const mend_model_usage_event *usage = (const mend_model_usage_event *)event;
    note_event(w, "usage(%llu,%llu)", (unsigned long long)usage->input_tokens,
               (unsigned long long)usage->output_tokens);
    break;
  }
  case MEND_EVENT_MODEL_RESPONSE: {
    const mend_model_response_event *response = (const mend_model_response_event *)event;
    note_event(w, "response(%.*s,%.*s,%gms)", MEND_STR_ARG(response->text), MEND_STR_ARG(response->finish_reason),
               response->duration_ms);
    break;
  }
  case MEND_EVENT_MODEL_ERROR: {
    const mend_model_error_event *failed = (const mend_model_error_event *)event;
    note_event(w, "error(%.*s,%lld,%gms)", MEND_STR_ARG(failed->error_type), (long long)failed->http_status,
               failed->duration_ms);
    break;
  }
  default: break;
  }
  return MEND_OK;
}

/* With memory that may fail: what could not be made is NULL. */
static inline mend_status world_try_open(world *w) {
  w->clock = NULL;
  w->loop = NULL;
  w->bus = NULL;
  w->run = NULL;
  w->messages = NULL;
  w->log_len = w->events_len = 0;
  w->log[0] = w->events[0] = '\0';
  pthread_mutex_init(&w->lock, NULL);
  const mend_time start = {1000 * MEND_SECOND_NS, UINT64_C(1700000000) * MEND_SECOND_NS};
  mend_loop_options loop = MEND_LOOP_OPTIONS_INIT;
  mend_bus_options bus = MEND_BUS_OPTIONS_INIT;
  mend_run_options run = MEND_RUN_OPTIONS_INIT;
  loop.allocator = bus.allocator = &w->memory.base;
  run.id = MEND_STR("r");
  mend_status status = mend_clock_new_virtual(&w->memory.base, start, &w->clock);
  loop.clock = bus.clock = w->clock;
  if (status == MEND_OK) status = mend_loop_new(&loop, &w->loop, NULL);
  if (status == MEND_OK) status = mend_bus_new(&bus, &w->bus, NULL);
  if (status == MEND_OK) status = mend_bus_subscribe(w->bus, "model.*", log_event, w, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_run_new(w->bus, &run, &w->run, NULL);
  if (status == MEND_OK) status = mend_messages_new(&w->memory.base, &w->messages);
  if (status == MEND_OK) status = mend_messages_add_user(w->messages, MEND_STR("hello"));
  return status;
}

static inline void world_open(world *w) {
  w->files = mend_test_open_files();
  mend_test_allocator_init(&w->memory);
  cr_assert_eq(world_try_open(w), MEND_OK);
}

static inline void world_free(world *w) {
  mend_messages_free(w->messages);
  mend_run_release(w->run);
  mend_bus_release(w->bus);
  mend_loop_release(w->loop);
  mend_clock_release(w->clock);
  pthread_mutex_destroy(&w->lock);
}

/* Nothing may be left. */
static inline void world_close(world *w) {
  world_free(w);
  cr_assert_eq(atomic_load(&w->memory.blocks), 0u, "%zu blocks are left", (size_t)atomic_load(&w->memory.blocks));
  cr_assert_eq(mend_test_open_files(), w->files);
}

static inline mend_model_request world_request(const world *w) {
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = w->messages;
  request.run = w->run;
  return request;
}

static inline void do_nothing(void *ctx) { (void)ctx; }

/* All that was posted has run, and what that has posted. */
static inline void settle(world *w) {
  for (int i = 0; i < 4; i++)
    mend__loop_call(w->loop, do_nothing, NULL);
}

#endif
