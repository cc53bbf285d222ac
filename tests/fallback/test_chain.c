/* Chains of models: who is asked, in both profiles; what callers, events and ledgers are told; out of memory. */
#include "fallback/json_fields.h"
#include "fallback/troupe.h"

#include <stdlib.h>

/* ---- Stories: tests/data/fallback/chain/stories.jsonl ---- */

static void note_answer(troupe *t, const answer *a) {
  if (!a->over) {
    note(&t->w, "=open");
  } else if (a->status == MEND_OK) {
    note(&t->w, "=%.*s", MEND_STR_ARG(a->reply.target));
  } else {
    note(&t->w, "=%s", a->type);
    if (a->http_status != 0) note(&t->w, "%u", (unsigned)a->http_status);
    if (a->after_content) note(&t->w, "cut");
    if (a->status != MEND_EFAILED) note(&t->w, "%s", mend_status_name(a->status));
  }
}

static void take_step(troupe *t, mend_model_request *request, mend_str step) {
  if (!mend__json_is_string(step)) {
    advance(t, mend_json_double(step));
    return;
  }
  answer a;
  if (mend__json_says(step, "temperature")) request->temperature = 0.5;
  if (mend__json_says(step, "attempts")) request->max_attempts = 2;
  if (mend__json_says(step, "once")) request->max_attempts = 1;
  if (mend__json_says(step, "cent")) request->max_cost_usd = 0.01;
  if (mend__json_says(step, "any cost")) request->max_cost_usd = 0;
  if (mend__json_says(step, "short")) request->max_tokens = 100;
  if (mend__json_says(step, "impatient")) request->clocks.total_s = 1;
  if (!mend__json_says(step, "ask") && !mend__json_says(step, "wait")) return;
  mend_exchange *exchange = send_to(t, request, &a);
  if (mend__json_says(step, "wait")) {
    for (int i = 0; i < 400 && !a.over; i++)
      advance(t, 0.5);
  }
  note_answer(t, &a);
  if (!a.over) mend_exchange_cancel(exchange);
  for (int i = 0; i < 4; i++)
    settle(&t->w);
  mend_reply_clear(&a.reply);
  mend_exchange_release(exchange);
}

/* Strings of a JSON array, each with a NUL behind, in `room`. */
static size_t read_texts(mend_str array, char room[ACTORS][64], const char *texts[ACTORS + 1]) {
  mend__json_items elements = mend__json_items_of(array);
  mend_str element;
  size_t count = 0;
  for (; mend__json_items_next(&elements, &element); count++) {
    snprintf(room[count], sizeof room[count], "%.*s", MEND_STR_ARG(mend__json_inside(element)));
    texts[count] = room[count];
  }
  texts[count] = NULL;
  return count;
}

static void play_story(mend_str line) {
  mend__json_member fields[] = {{.name = MEND_STR("profile")}, {.name = MEND_STR("models")},
                                {.name = MEND_STR("do")},      {.name = MEND_STR("log")},
                                {.name = MEND_STR("names")},   {.name = MEND_STR("provider")},
                                {.name = MEND_STR("rows")},    {.name = MEND_STR("known")}};
  cr_assert(mend__json_fields_read(line, fields, 8), "%.*s", MEND_STR_ARG(line));
  char part_room[ACTORS][64], name_room[ACTORS][64];
  const char *parts[ACTORS + 1], *names[ACTORS + 1] = {"a", "b", "c", "d"};
  read_texts(fields[1].value, part_room, parts);
  if (fields[4].value.ptr != NULL) read_texts(fields[4].value, name_room, names);
  troupe t;
  const bool is_seed = mend__json_says(fields[0].value, "seed");
  const char *provider = fields[5].value.ptr != NULL ? "one" : NULL;
  char rows[256], known[512];
  snprintf(rows, sizeof rows, "%.*s", MEND_STR_ARG(fields[6].value));
  snprintf(known, sizeof known, "%.*s", MEND_STR_ARG(fields[7].value));
  open_with_tables(&t, is_seed ? MEND_FALLBACK_SEED : MEND_FALLBACK_RESILIENT, provider, names, parts, rows, known);
  mend_model_request request = world_request(&t.w);
  mend__json_items steps = mend__json_items_of(fields[2].value);
  mend_str step;
  while (mend__json_items_next(&steps, &step))
    take_step(&t, &request, step);
  cr_assert(mend__json_says(fields[3].value, t.w.log), "%.*s\n got %s", MEND_STR_ARG(line), t.w.log);
  troupe_close(&t);
}

Test(chain, stories) {
  char *text = mend_test_read("fallback/chain/stories.jsonl", NULL), *rest = text;
  for (char *line = strsep(&rest, "\n"); line != NULL; line = strsep(&rest, "\n")) {
    if (*line == '{') play_story(mend_str_from(line));
  }
  free(text);
}

/* ---- What is told ---- */

static const char *const names[] = {"a", "b", "c", NULL};

typedef struct telling {
  mend_fallback_profile profile;
  const char *parts[ACTORS + 1];
  const char *attempts, *message; /* of the last request; ms are 0 in virtual time */
} telling;

Test(chain, attempts_are_listed) {
  static const telling tellings[] = {
      {MEND_FALLBACK_SEED, {"o"}, "[{\"target\":\"t1:a\",\"class\":\"ok\",\"ms\":0}]", ""},
      {MEND_FALLBACK_SEED,
       {"5", "o"},
       "[{\"target\":\"t1:a\",\"class\":\"overloaded\",\"action\":\"fail_over\",\"http_status\":503,\"error\":\"says "
       "5\",\"ms\":0},{\"target\":\"t2:b\",\"class\":\"ok\",\"ms\":0}]",
       ""},
      {MEND_FALLBACK_RESILIENT,
       {"2", "4"},
       "[{\"target\":\"t1:a\",\"class\":\"server_error\",\"action\":\"retry\",\"http_status\":500,\"error\":\"says "
       "2\",\"ms\":0},{\"target\":\"t1:a\",\"class\":\"server_error\",\"action\":\"fail_over\",\"http_status\":500,"
       "\"error\":\"says "
       "2\",\"ms\":0},{\"target\":\"t2:b\",\"class\":\"invalid_request\",\"action\":\"propagate\",\"http_status\":400,"
       "\"error\":\"says 4\",\"ms\":0}]",
       "says 4"},
      {MEND_FALLBACK_RESILIENT,
       {"1"},
       "[{\"target\":\"t1:a\",\"class\":\"auth\",\"action\":\"fail_over\",\"http_status\":401,\"error\":\"auth (HTTP "
       "status 401)\",\"ms\":0}]",
       "auth (HTTP status 401)"},
      {MEND_FALLBACK_SEED,
       {"1"},
       "[{\"target\":\"t1:a\",\"class\":\"auth\",\"action\":\"propagate\",\"http_status\":401,\"error\":\"auth (HTTP "
       "status 401)\",\"ms\":0}]",
       "auth (HTTP status 401)"},
      {MEND_FALLBACK_RESILIENT,
       {"r", "r"},
       "[{\"target\":\"t1:a\",\"class\":\"unreachable\",\"action\":\"fail_over\",\"error\":\"says "
       "r\",\"ms\":0},{\"target\":\"t2:b\",\"class\":\"unreachable\",\"action\":\"fail_over\",\"error\":\"says "
       "r\",\"ms\":0}]",
       "no model answered (t1:a: unreachable, t2:b: unreachable); the last: says r"},
  };
  for (size_t i = 0; i < sizeof tellings / sizeof *tellings; i++) {
    troupe t;
    answer a;
    troupe_open(&t, tellings[i].profile, NULL, names, tellings[i].parts);
    const mend_model_request request = world_request(&t.w);
    mend_exchange_release(send_to(&t, &request, &a));
    cr_assert_str_eq(a.attempts, tellings[i].attempts, "%zu: %s", i, a.attempts);
    cr_assert_str_eq(a.message, tellings[i].message, "%zu: %s", i, a.message);
    cr_assert_eq(a.ends, 1u);
    cr_assert(strstr(t.w.events, "sk-secret") == NULL && !a.has_body, "%zu", i);
    mend_reply_clear(&a.reply);
    troupe_close(&t);
  }
}

/* Of the run's events the chain's own, in order. */
Test(chain, events_and_alerts) {
  static const struct {
    mend_fallback_profile profile;
    const char *parts[ACTORS + 1];
    double pause_s; /* between two requests */
    const char *healing, *alerts;
  } cases[] = {
      {MEND_FALLBACK_SEED, {"5", "o"}, 0, "fallback(t1:a,t2:b,overloaded) ", ""},
      {MEND_FALLBACK_SEED, {"1"}, 0, "", "1 t1:a: auth: auth (HTTP status 401)\n"},
      {MEND_FALLBACK_SEED,
       {"5o", "r"},
       6,
       "fallback(t1:a,t2:b,overloaded) exhausted([\"t1:a\",\"t2:b\"],unreachable) recovered(t1:a) ",
       ""},
      {MEND_FALLBACK_RESILIENT, {"5o", "o"}, 6, "fallback(t1:a,t2:b,overloaded) recovered(t1:a) ", ""},
      {MEND_FALLBACK_RESILIENT, {"54", "o"}, 6, "fallback(t1:a,t2:b,overloaded) recovered(t1:a) ", ""},
      {MEND_FALLBACK_RESILIENT, {"2o"}, 0, "retry(t1:a,server_error,2,0) ", ""},
      {MEND_FALLBACK_RESILIENT,
       {"1", "f"},
       0,
       "fallback(t1:a,t2:b,auth) exhausted([\"t1:a\",\"t2:b\"],model_not_found) "
       "exhausted([\"t2:b\"],model_not_found) ",
       "1 t1:a: auth: auth (HTTP status 401)\n1 t2:b: model_not_found: says f\n1 t2:b: model_not_found: says f\n"},
      {MEND_FALLBACK_RESILIENT, {"4"}, 0, "", ""},
      {MEND_FALLBACK_RESILIENT, {"x", "o"}, 0, "", ""},
      {MEND_FALLBACK_RESILIENT, {"c", "o"}, 0, "", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    troupe t;
    answer a;
    troupe_open(&t, cases[i].profile, NULL, names, cases[i].parts);
    const mend_model_request request = world_request(&t.w);
    for (int n = 0; n < (cases[i].pause_s > 0 || i == 6 ? 2 : 1); n++) {
      mend_exchange_release(send_to(&t, &request, &a));
      mend_reply_clear(&a.reply);
      advance(&t, cases[i].pause_s);
    }
    cr_assert_str_eq(t.healing, cases[i].healing, "%zu: %s", i, t.healing);
    cr_assert_str_eq(t.alerts, cases[i].alerts, "%zu: %s", i, t.alerts);
    troupe_close(&t);
  }
}

/* Every request is the same call, and of each target there is a model.request and an end. */
Test(chain, events_of_attempts) {
  static const char *const parts[] = {"5", "o", NULL};
  troupe t;
  answer a;
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts);
  const mend_model_request request = world_request(&t.w);
  mend_exchange_release(send_to(&t, &request, &a));
  cr_assert_str_eq(t.w.events, "request(a,1,1) error(http_error,503,0ms) request(b,1,2) delta(text,hello,5) "
                               "response(hello,stop,0ms)");
  cr_assert_str_eq(a.text, "hello");
  cr_assert(mend_str_equal(a.reply.text, MEND_STR("hello")) && mend_str_equal(a.reply.model, MEND_STR("b")));
  mend_reply_clear(&a.reply);
  troupe_close(&t);
}

/* The caller's own word: what it calls transient fails over, whatever the table says. What it writes is bounded. */
static void judge_teapots(void *ctx, const mend_failure_signal *signal, mend_failure_class *row) {
  ++*(unsigned *)ctx;
  if (signal->http_status != 418) return;
  row->action = row->seed_action = MEND_ACTION_FAIL_OVER;
  row->counts = true;
  row->name = NULL;
  row->scope = NULL;
  row->cool_down_s = -1;
  row->cool_down_max_s = 1e300;
}

Test(chain, a_judge) {
  static const char *const parts[] = {"T4", "o", NULL};
  for (int profile = MEND_FALLBACK_SEED; profile <= MEND_FALLBACK_RESILIENT; profile++) {
    troupe t;
    answer a;
    unsigned failures = 0;
    troupe_open(&t, (mend_fallback_profile)profile, NULL, names, parts);
    mend_model_release(t.chain);
    mend_model *const models[] = {t.actors[0].model, t.actors[1].model};
    mend_fallback_options options = options_of(&t, (mend_fallback_profile)profile);
    options.judge = judge_teapots;
    options.judge_ctx = &failures;
    cr_assert_eq(mend_fallback_of(models, 2, &options, &t.chain, NULL), MEND_OK);
    const mend_model_request request = world_request(&t.w);
    mend_exchange_release(send_to(&t, &request, &a));
    cr_assert_str_eq(t.w.log, "aT bo");
    cr_assert(strstr(a.attempts, "\"class\":\"unknown\",\"action\":\"fail_over\"") != NULL, "%s", a.attempts);
    cr_assert_eq(failures, 1u);
    mend_reply_clear(&a.reply);
    troupe_close(&t);
  }
}

/* ---- The chain itself ---- */

Test(chain, names_and_states) {
  static const char *const parts[] = {"5", "fo", "o", NULL};
  troupe t;
  answer a;
  mend_target_state state = {.size = sizeof state};
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts);
  cr_assert(mend_str_equal(mend_model_name(t.chain), MEND_STR("fallback(a,b,c)")));
  cr_assert(mend_str_equal(mend_model_provider(t.chain), MEND_STR("fallback")));
  cr_assert(mend_str_equal(mend_fallback_left_out(t.chain), MEND_STR("[]")));
  cr_assert(mend_str_equal(mend_fallback_left_out(t.actors[0].model), MEND_STR("[]")));
  const mend_model_request request = world_request(&t.w);
  mend_exchange_release(send_to(&t, &request, &a));
  mend_reply_clear(&a.reply);
  advance(&t, 1);
  static const struct {
    const char *model;
    mend_breaker breaker;
    double at_least_s, at_most_s;
    bool parked, current;
    uint64_t requests, failures;
  } expected[] = {{"t1:a", MEND_BREAKER_OPEN, 3.5, 4, false, false, 1, 1},
                  {"t2:b", MEND_BREAKER_OPEN, 539, 599, true, false, 1, 1},
                  {"t3:c", MEND_BREAKER_CLOSED, 0, 0, false, true, 1, 0}};
  for (size_t i = 0; i < 3; i++) {
    cr_assert_eq(mend_fallback_state(t.chain, i, &state), MEND_OK);
    cr_assert(mend_str_equal(state.model, mend_str_from(expected[i].model)), "%zu", i);
    cr_assert(state.breaker == expected[i].breaker && state.parked == expected[i].parked, "%zu", i);
    cr_assert(state.cool_down_s >= expected[i].at_least_s && state.cool_down_s <= expected[i].at_most_s, "%zu: %f", i,
              state.cool_down_s);
    cr_assert_eq(state.current, expected[i].current, "%zu", i);
    cr_assert(state.requests == expected[i].requests && state.failures == expected[i].failures, "%zu", i);
  }
  cr_assert_eq(mend_fallback_state(t.chain, 3, &state), MEND_ENOENT);
  cr_assert_eq(mend_fallback_state(t.actors[0].model, 0, &state), MEND_ENOENT);
  troupe_close(&t);
}

Test(chain, what_no_chain_is_made_of) {
  static const char *const parts[] = {"o", NULL};
  troupe t;
  mend_model *chain = NULL;
  mend_loop *other;
  troupe_open(&t, MEND_FALLBACK_SEED, NULL, names, parts);
  cr_assert_eq(mend_loop_new(NULL, &other, NULL), MEND_OK);
  const struct {
    mend_loop *loop;
    size_t count, size;
    const char *classification;
    mend_status status;
    const char *sentence;
  } cases[] = {
      {NULL, 1, sizeof(mend_fallback_options), NULL, MEND_EINVAL, "loop is NULL, expected one"},
      {t.w.loop, 0, sizeof(mend_fallback_options), NULL, MEND_EINVAL, "a chain needs at least one model"},
      {other, 1, sizeof(mend_fallback_options), NULL, MEND_EINVAL, "a is on another loop than the chain"},
      {t.w.loop, 1, sizeof(mend_fallback_options), "[{]", MEND_ESYNTAX,
       "classification:1:3: expected a key or }, found ']'"},
      {t.w.loop, 1, 0, NULL, MEND_EINVAL,
       "mend_fallback_options: size is 0, start from the type's _INIT or set size to sizeof(mend_fallback_options)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend_fallback_options options = options_of(&t, MEND_FALLBACK_SEED);
    mend_error error = MEND_ERROR_INIT;
    options.size = cases[i].size;
    options.loop = cases[i].loop;
    options.classification = cases[i].classification;
    cr_assert_eq(mend_fallback_of(&t.actors[0].model, cases[i].count, &options, &chain, &error), cases[i].status);
    cr_assert_str_eq(error.message, cases[i].sentence);
    cr_assert_null(chain);
  }
  mend_loop_release(other);
  troupe_close(&t);
}

/* A chain in a chain is a model like any other. */
Test(chain, chain_of_chains) {
  static const char *const parts[] = {"5", "5", "o", NULL};
  troupe t;
  answer a;
  troupe_open(&t, MEND_FALLBACK_RESILIENT, NULL, names, parts);
  mend_model *inner = NULL, *outer = NULL, *const all = t.chain;
  mend_model *const first_two[] = {t.actors[0].model, t.actors[1].model};
  const mend_fallback_options options = options_of(&t, MEND_FALLBACK_RESILIENT);
  cr_assert_eq(mend_fallback_of(first_two, 2, &options, &inner, NULL), MEND_OK);
  mend_model *const both[] = {inner, t.actors[2].model};
  cr_assert_eq(mend_fallback_of(both, 2, &options, &outer, NULL), MEND_OK);
  t.chain = outer;
  const mend_model_request request = world_request(&t.w);
  mend_exchange_release(send_to(&t, &request, &a));
  cr_assert_str_eq(t.w.log, "a5 b5 co");
  cr_assert(mend_str_equal(a.reply.target, MEND_STR("t3:c")));
  cr_assert(strstr(a.attempts, "\"target\":\"fallback:fallback(a,b)\",\"class\":\"overloaded\"") != NULL, "%s",
            a.attempts);
  mend_reply_clear(&a.reply);
  mend_model_release(inner);
  mend_model_release(all);
  troupe_close(&t);
}

/* ---- Out of memory ---- */

static void ask_without_memory(troupe *t) {
  answer a = {.reply = MEND_REPLY_INIT};
  const mend_model_listener listener = {.size = sizeof listener, .delta = take_delta, .done = take_end, .ctx = &a};
  mend_model_request request = world_request(&t->w);
  if (mend_model_send(t->chain, &request, &listener, NULL, NULL) != MEND_OK) return;
  for (int i = 0; i < 12; i++)
    settle(&t->w);
  cr_assert_eq(a.ends, 1u);
  mend_reply_clear(&a.reply);
}

static bool play_without_memory(size_t n, bool after) {
  static const char *const parts[] = {"2", "5", "o", NULL};
  troupe *t = calloc(1, sizeof *t);
  mend_test_allocator_init(&t->w.memory);
  mend_test_allocator_arm(&t->w.memory, n, after);
  if (world_try_open(&t->w) == MEND_OK && troupe_try_open(t, MEND_FALLBACK_RESILIENT, NULL, names, parts) == MEND_OK) {
    ask_without_memory(t);
  }
  troupe_free(t);
  world_free(&t->w);
  cr_assert_eq(atomic_load(&t->w.memory.blocks), 0u, "allocation %zu", n);
  const bool failed = mend_test_allocator_failed(&t->w.memory);
  free(t);
  return failed;
}

Test(chain, out_of_memory) {
  for (int after = 0; after < 2; after++) {
    size_t n = 1;
    while (play_without_memory(n, after != 0))
      n++;
    cr_assert(n > 60u, "%zu", n);
  }
}
