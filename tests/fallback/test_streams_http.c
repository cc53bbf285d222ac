/* Storms of streams (stream_storm.h): what each was told is held against what the server has seen. */
#include "fallback/json_fields.h"
#include "fallback/stream_storm.h"
#include "program/fault_server/fault_table.h"
#include "program/fault_server/wordings.h"

#include <stdlib.h>
#include <sys/resource.h>

/* ---- What the server has seen ---- */

static int target_of(const char *path) {
  for (int i = 0; i < TARGETS; i++) {
    if (strncmp(path + 1, folders[i], strlen(folders[i])) == 0) return i;
  }
  return -1;
}

static void read_log(storm *s) {
  const mend_test_fault_counts counts = mend_test_faults_counts(s->server);
  s->log_len = counts.requests;
  s->log = calloc(counts.requests + 1, sizeof *s->log);
  for (size_t i = 0; i < counts.requests; i++) {
    const mend_test_request request = mend_test_faults_request(s->server, i);
    const char *number = strstr(request.body, "request ");
    cr_assert(number != NULL, "%s", request.body);
    s->log[i] = (asked){strtoul(number + strlen("request "), NULL, 10), target_of(request.target), request.status};
  }
}

static bool server_has(const storm *s, size_t number, int target, int status) {
  for (size_t i = 0; i < s->log_len; i++) {
    const asked *request = &s->log[i];
    if (request->number == number && request->target == target && request->status == status) return true;
  }
  return false;
}

/* The place behind the next request of this stream; that of the end when there is none. */
static size_t next_asked(const storm *s, size_t number, size_t from) {
  while (from < s->log_len && s->log[from].number != number)
    from++;
  return from;
}

/* ---- Checking ---- */

/* The server was asked by no attempt but those in the ledger, in their order; what they tell of it is so. */
static void check_attempts(const storm *s, const stream *of) {
  mend__json_items elements = mend__json_items_of(mend__buffer_text(&of->attempts));
  mend_str attempt;
  size_t place = next_asked(s, of->number, 0), answers = 0;
  while (mend__json_items_next(&elements, &attempt)) {
    const mend_str target = mend__json_inside(mend__json_find(attempt, "target", NULL));
    const mend_str status = mend__json_find(attempt, "http_status", NULL);
    const bool is_ok = mend__json_says(mend__json_find(attempt, "class", NULL), "ok");
    const int index = target.ptr[target.len - 1] - 'A';
    if (place < s->log_len && s->log[place].target == index) place = next_asked(s, of->number, place + 1);
    if (is_ok) cr_assert(server_has(s, of->number, index, 200) && index == of->target - 'A', "%zu", of->number);
    if (status.ptr != NULL) {
      cr_assert(server_has(s, of->number, index, (int)mend__json_count(status)), "%zu: %.*s", of->number,
                MEND_STR_ARG(attempt));
    }
    answers += is_ok;
  }
  cr_assert_eq(place, s->log_len, "%zu (%d, left %d): not in %.*s", of->number, (int)of->status, (int)of->leaving,
               MEND_STR_ARG(mend__buffer_text(&of->attempts)));
  cr_assert_eq(answers, of->status == MEND_OK ? 1u : 0u, "%zu", of->number);
}

/* It ended once, with what one target has said, and as it says. */
static void check_end(const stream *of) {
  const mend_str letters = mend__buffer_text(&of->letters);
  cr_assert_eq(of->ends, 1u, "%zu: %u ends", of->number, of->ends);
  for (size_t i = 0; i < letters.len; i++)
    cr_assert_eq(letters.ptr[i], letters.ptr[0], "%zu: %.*s", of->number, MEND_STR_ARG(letters));
  if (of->status == MEND_OK) {
    cr_assert(letters.len == 0 || letters.ptr[0] == of->target, "%zu: %.*s", of->number, MEND_STR_ARG(letters));
  } else {
    cr_assert(of->status == MEND_EFAILED || (of->status == MEND_ECANCELLED && of->leaving != STAYS), "%zu: %d",
              of->number, (int)of->status);
    cr_assert_eq(of->after_content, of->has_content, "%zu", of->number);
  }
}

static void count_end(tally *total, const stream *of) {
  if (of->status == MEND_OK) {
    total->replies[of->target - 'A']++;
  } else if (of->status == MEND_ECANCELLED) {
    total->cancelled++;
  } else if (of->after_content) {
    total->after_content++;
  } else {
    total->before_content++;
  }
}

static void check_streams(storm *s, tally *total) {
  read_log(s);
  for (size_t i = 0; i < s->count; i++) {
    stream *of = &s->streams[i];
    check_end(of);
    check_attempts(s, of);
    count_end(total, of);
    mend_exchange_release(of->exchange);
    mend__buffer_free(&of->text);
    mend__buffer_free(&of->letters);
    mend__buffer_free(&of->attempts);
  }
  cr_assert_str_eq(s->w.log, "");
  free(s->log);
  free(s->streams);
}

/* ---- Tests ---- */

static void run_storm(uint64_t seed, mend_fallback_profile profile, size_t count, tally *total) {
  static storm s;
  s = (storm){.random = seed * UINT64_C(0x9e3779b97f4a7c15),
              .count = count,
              .lock = PTHREAD_MUTEX_INITIALIZER,
              .changed = PTHREAD_COND_INITIALIZER};
  world_open(&s.w);
  start_server(&s);
  open_chain(&s, profile);
  s.streams = calloc(count, sizeof *s.streams);
  for (size_t i = 0; i < count; i++) {
    s.streams[i].number = i;
    send_stream(&s, &s.streams[i]);
  }
  await_ends(&s);
  cr_assert(mend_test_faults_wait_idle(s.server), "a connection that nobody wants any more is still open");
  check_streams(&s, total);
  mend_model_release(s.chain);
  cr_assert(mend_test_faults_wait_open(s.server, 0));
  mend_test_faults_stop(s.server);
  world_close(&s.w);
}

/* Both ends of every connection are in this process. */
static void allow_descriptors(void) {
  struct rlimit limit;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
  limit.rlim_cur = limit.rlim_max;
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void run_storms(mend_fallback_profile profile) {
  const bool all = getenv("MEND_TEST_ALL") != NULL;
  const size_t count = all ? 1000 : 100;
  tally total = {.cancelled = 0};
  allow_descriptors();
  for (uint64_t seed = 1; seed <= 4; seed++)
    run_storm(seed, profile, count, &total);
  for (int i = 0; i < TARGETS; i++)
    cr_assert(total.replies[i] > 0, "%s has never answered", names[i]);
  cr_assert(total.before_content > 0 && total.after_content > 0 && total.cancelled > 0, "%u, %u, %u",
            total.before_content, total.after_content, total.cancelled);
}

Test(streams_http, seed_profile) { run_storms(MEND_FALLBACK_SEED); }
Test(streams_http, resilient_profile) { run_storms(MEND_FALLBACK_RESILIENT); }

/* ---- Memory of a long stream ---- */

static mend_status count_event(void *ctx, const mend_event *event) {
  (void)event;
  ++*(size_t *)ctx;
  return MEND_OK;
}

/* How many allocations a stream of so many deltas takes, each of which is an event. */
static size_t allocations_of(storm *s, size_t deltas) {
  char list[32];
  size_t events = 0;
  mend_subscription *subscription;
  mend_reply reply = MEND_REPLY_INIT;
  const mend_model_request request = world_request(&s->w);
  cr_assert_eq(mend_bus_subscribe(s->w.bus, "model.delta", count_event, &events, NULL, &subscription, NULL), MEND_OK);
  snprintf(list, sizeof list, "deltas=%zu", deltas);
  mend_test_faults_set(s->server, list);
  const size_t before = atomic_load(&s->w.memory.calls);
  cr_assert_eq(mend_model_ask(s->chain, &request, &reply, NULL), MEND_OK);
  const size_t calls = atomic_load(&s->w.memory.calls) - before;
  mend_reply_clear(&reply);
  mend_subscription_close(&subscription);
  cr_assert(events >= deltas, "%zu", events);
  return calls;
}

/* What grows with the stream is the text and the events that are kept of it, to twice the size each time. Apart from
 * that it depends on where the kernel cuts the bytes: a line that comes in two pieces is put together in memory that is
 * made, and made longer, when it first happens. */
Test(streams_http, deltas_allocate_nothing) {
  storm s = {.count = 0};
  world_open(&s.w);
  start_server(&s);
  open_chain(&s, MEND_FALLBACK_RESILIENT);
  const size_t few = allocations_of(&s, 500), many = allocations_of(&s, 4000);
  cr_assert(many <= few + (4000 - 500) / 100, "%zu allocations of 500 deltas, %zu of 4000", few, many);
  mend_model_release(s.chain);
  mend_test_faults_stop(s.server);
  world_close(&s.w);
}

static bool is_listed(const char *name) {
  const size_t len = strlen(name);
  for (size_t i = 0; i < FAULTS; i++) {
    for (const char *place = faults[i]; place != NULL; place = strchr(place, ',')) {
      place += *place == ',';
      if (strncmp(place, name, len) == 0 && (place[len] == '\0' || place[len] == '=' || place[len] == ',')) return true;
    }
  }
  return false;
}

Test(streams_http, every_fault_has_its_turn) {
  for (size_t i = 0; i < fault_count; i++)
    cr_assert(is_listed(fault_table[i].name), "%s", fault_table[i].name);
  for (size_t i = 0; wording_kinds[i].name != NULL; i++)
    cr_assert(is_listed(wording_kinds[i].name), "%s", wording_kinds[i].name);
}
