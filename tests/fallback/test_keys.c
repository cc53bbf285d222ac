/* No key, and no piece of one, is in anything that a request leaves behind, whatever the provider says of it. */
#include "fallback/secret.h"
#include "mend/fallback.h"
#include "mend/journal.h"
#include "support/fault_server.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FIRST "Zq7xW2mP/kV9tLr4sJd8f+Gh3cNb6yQa1uEo5iTz0w"
#define SECOND "hT5-nU8_bX1vKc3eRg6wYp9mSj2dLf4aQz7oBi0tVx"

/* ---- What the providers say: of the key they were sent, and of another one of the chain ---- */

typedef struct saying {
  const char *faults; /* JSON array, as in a script; @ is the key, < its beginning, > its end */
  bool tells;         /* what the caller is told has it, covered; not of a refused key, of which nothing is told */
} saying;

static const saying sayings[] = {
    {"[]", true}, /* it is in the reply */
    {"[\"bad_key\"]", false},
    {"[\"bad_key\", \"error_200\"]", false},
    {"[\"bad_key\", \"error_first\"]", false},
    {"[\"bad_key\", \"error_after=0\"]", false},
    {"[\"bad_key\", \"error_after=1\"]", false},
    {"[\"forbidden\"]", false},
    {"[\"status=400\", \"body={\\\"error\\\": {\\\"message\\\": \\\"not @\\\"}}\"]", true},
    {"[\"status=500\", \"body=@@\"]", true},
    {"[\"status=500\", \"body=is <...> a key?\"]", true},
    {"[\"finish=@\"]", true},
    {"[\"reset_after=1\"]", true},
    {"[\"header=x-key:@\", \"status=503\"]", false},
    {"[\"content_type=@\", \"status=503\"]", false},
    {"[\"redirect=http://@.invalid/\"]", false},
    {"[\"reset\"]", false},
    {"[\"malformed\"]", false},
    {"[\"bad_json\"]", false},
};
enum { SAYINGS = sizeof sayings / sizeof *sayings };

static void add_faults(mend__buffer *script, const char *list, const char *key) {
  const size_t len = strlen(key);
  for (; *list != '\0'; list++) {
    switch (*list) {
    case '@': mend__buffer_bytes(script, key, len); break;
    case '<': mend__buffer_bytes(script, key, len / 2); break;
    case '>': mend__buffer_bytes(script, key + len / 2, len / 2); break;
    default: mend__buffer_char(script, *list);
    }
  }
}

/* The provider has seen the other key, too. */
static void add_rule(mend__buffer *script, size_t index, const char *key, const char *other) {
  mend__buffer_printf(script, "{\"match\":{\"path\":\"/%zu/*\",\"key\":\"%s\"},\"faults\":", index, key);
  add_faults(script, sayings[index].faults, key);
  mend__buffer_printf(script, ",\"reply\":{\"texts\":[\"it is \",\"%s\"],\"thinking\":\"%s\"}},", key, other);
}

/* The end of what is kept of a body is in the middle of the key. */
static void add_long_rule(mend__buffer *script) {
  mend__buffer_str(script, MEND_STR("{\"match\":{\"path\":\"/long/*\"},\"faults\":[\"status=500\",\"body="));
  for (int i = 0; i < 64 * 1024 - 20; i++)
    mend__buffer_char(script, '.');
  mend__buffer_str(script, MEND_STR(FIRST "\"]}"));
}

static mend_test_faults *start_server(void) {
  mend__buffer script;
  mend__buffer_init(&script, NULL);
  mend__buffer_str(&script, MEND_STR("{\"rules\":["));
  for (size_t i = 0; i < SAYINGS; i++) {
    add_rule(&script, i, FIRST, SECOND);
    add_rule(&script, i, SECOND, FIRST);
  }
  add_long_rule(&script);
  mend__buffer_str(&script, MEND_STR("]}"));
  mend__buffer_char(&script, '\0');
  mend_test_faults *server = mend_test_faults_start(script.data);
  mend__buffer_free(&script);
  return server;
}

/* ---- Everything that is said of a request ---- */

typedef struct hearing {
  mend__buffer all; /* written by one thread at a time */
  mend_bus *bus;
  mend_run *run;
  mend_journal *journal;
  int journal_fd;
  sem_t over;
} hearing;

static void hear(hearing *h, mend_str text) {
  mend__buffer_str(&h->all, text);
  mend__buffer_char(&h->all, '\n');
}

static mend_status hear_event(void *ctx, const mend_event *event) {
  char *json = NULL;
  size_t len;
  if (mend_event_to_json(event, NULL, NULL, &json, &len) != MEND_OK) return MEND_ENOMEM;
  hear(ctx, (mend_str){json, len});
  mend_free(NULL, json);
  return MEND_OK;
}

static void hear_log(void *ctx, mend_log_level level, const char *message) {
  (void)level;
  hear(ctx, mend_str_from(message));
}

static void hear_delta(void *ctx, const mend_delta *delta) {
  hear(ctx, delta->text);
  hear(ctx, delta->signature);
}

static void hear_parts(hearing *h, const mend_reply *reply) {
  for (size_t i = 0; i < reply->part_count; i++) {
    const mend_part *part = &reply->parts[i];
    const mend_str texts[] = {part->text, part->call_id, part->name, part->args, part->signature};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
      hear(h, texts[k]);
  }
}

static void hear_reply(hearing *h, const mend_reply *reply) {
  const mend_str texts[] = {reply->text,   reply->thinking, reply->finish_reason, reply->model,
                            reply->target, reply->raw,      reply->attempts};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
    hear(h, texts[i]);
  hear_parts(h, reply);
}

static void hear_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)status;
  hearing *h = ctx;
  if (reply != NULL) {
    hear_reply(h, reply);
  } else {
    const mend_str texts[] = {failure->type, failure->message, failure->body, failure->attempts};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
      hear(h, texts[i]);
  }
  sem_post(&h->over);
}

static void open_hearing(hearing *h) {
  mend_journal_options options = MEND_JOURNAL_OPTIONS_INIT;
  mend__buffer_init(&h->all, NULL);
  sem_init(&h->over, 0, 0);
  options.fd = h->journal_fd = memfd_create("journal", MFD_CLOEXEC);
  cr_assert_eq(mend_bus_new(NULL, &h->bus, NULL), MEND_OK);
  cr_assert_eq(mend_bus_subscribe(h->bus, "*", hear_event, h, NULL, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_journal_open(h->bus, &options, &h->journal, NULL), MEND_OK);
  cr_assert_eq(mend_run_new(h->bus, NULL, &h->run, NULL), MEND_OK);
}

static void hear_journal(hearing *h) {
  char piece[4096];
  const size_t before = h->all.len;
  cr_assert_eq(mend_journal_close(h->journal, NULL), MEND_OK);
  cr_assert_eq(lseek(h->journal_fd, 0, SEEK_SET), 0);
  for (ssize_t len; (len = read(h->journal_fd, piece, sizeof piece)) > 0;)
    mend__buffer_bytes(&h->all, piece, (size_t)len);
  cr_assert(h->all.len > before, "the journal has something in it");
  close(h->journal_fd);
}

static void hear_dumps(hearing *h, mend_loop *loop) {
  char *text;
  cr_assert_eq(mend_bus_dump(h->bus, NULL, &text), MEND_OK);
  hear(h, mend_str_from(text));
  mend_free(NULL, text);
  cr_assert_eq(mend_loop_dump(loop, NULL, &text), MEND_OK);
  hear(h, mend_str_from(text));
  mend_free(NULL, text);
}

static void close_hearing(hearing *h) {
  mend_run_release(h->run);
  mend_bus_release(h->bus);
  mend__buffer_free(&h->all);
  sem_destroy(&h->over);
}

static void check_hearing(const hearing *h, const char *key, const char *url, const char *provider) {
  cr_assert(!h->all.failed);
  for (size_t i = 0; i + MEND__SECRET_PIECE <= strlen(key); i++) {
    const char *place = memmem(h->all.data, h->all.len, key + i, MEND__SECRET_PIECE);
    cr_assert(place == NULL, "%s at %s: %.200s", provider, url, place);
  }
}

/* ---- Asking ---- */

static void ask(hearing *h, mend_model *model, bool stream) {
  const mend_model_listener listener = {sizeof listener, hear_delta, hear_end, h};
  struct timespec limit;
  mend_messages *messages;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend_reply reply = MEND_REPLY_INIT;
  mend_error error = MEND_ERROR_INIT;
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("what is my key?")), MEND_OK);
  request.messages = messages;
  request.run = h->run;
  request.stream = stream;
  cr_assert_eq(mend_model_send(model, &request, &listener, NULL, NULL), MEND_OK);
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 20;
  cr_assert_eq(sem_timedwait(&h->over, &limit), 0);
  mend_model_ask(model, &request, &reply, &error);
  hear_reply(h, &reply);
  hear(h, mend_str_from(error.message));
  mend_reply_clear(&reply);
  mend_messages_free(messages);
}

static mend_model *open_chain(hearing *h, mend_loop *loop, const char *url, const char *provider,
                              mend_fallback_profile profile) {
  char name[64];
  const char *const models[] = {name, "compatible:backup"};
  const mend_key keys[] = {{provider, FIRST}, {provider, SECOND}, {"compatible", FIRST}};
  const mend_endpoint endpoints[] = {{provider, url}, {"compatible", url}};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  mend_model *model;
  mend_error error = MEND_ERROR_INIT;
  snprintf(name, sizeof name, "%s:model", provider);
  options.loop = loop;
  options.keys = keys;
  options.key_count = 3;
  options.endpoints = endpoints;
  options.endpoint_count = 2;
  options.profile = profile;
  options.log = hear_log;
  options.log_ctx = h;
  cr_assert_eq(mend_fallback_new(models, 2, &options, &model, &error), MEND_OK, "%s", error.message);
  hear(h, mend_fallback_left_out(model));
  hear(h, mend_model_name(model));
  return model;
}

/* In both profiles, streamed and whole. */
static void check_saying(mend_loop *loop, const char *url, const char *provider, bool tells) {
  for (int way = 0; way < 4; way++) {
    hearing h;
    open_hearing(&h);
    mend_model *model =
        open_chain(&h, loop, url, provider, (way & 1) != 0 ? MEND_FALLBACK_RESILIENT : MEND_FALLBACK_SEED);
    ask(&h, model, (way & 2) != 0);
    hear_dumps(&h, loop);
    hear_journal(&h);
    mend_model_release(model);
    check_hearing(&h, FIRST, url, provider);
    check_hearing(&h, SECOND, url, provider);
    if (tells) cr_assert(memmem(h.all.data, h.all.len, "********", 8) != NULL, "%s at %s", provider, url);
    close_hearing(&h);
  }
}

/* ---- Tests ---- */

Test(keys, nothing_tells_them) {
  static const char *const providers[] = {"openai", "openai-responses", "anthropic", "google", "compatible"};
  const size_t files = mend_test_open_files();
  mend_test_faults *server = start_server();
  mend_loop *loop;
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  for (size_t provider = 0; provider < sizeof providers / sizeof *providers; provider++) {
    char url[128];
    for (size_t i = 0; i < SAYINGS; i++) {
      snprintf(url, sizeof url, "%s/%zu/v1", mend_test_faults_url(server), i);
      check_saying(loop, url, providers[provider], sayings[i].tells);
    }
    snprintf(url, sizeof url, "%s/long/v1", mend_test_faults_url(server));
    check_saying(loop, url, providers[provider], true);
  }
  mend_loop_release(loop);
  mend_test_faults_stop(server);
  cr_assert_eq(mend_test_open_files(), files);
}

Test(keys, covering) {
  static const struct {
    const char *text, *key, *covered;
  } cases[] = {
      {"the key abcdefghij is wrong", "abcdefghij", "the key ********** is wrong"},
      {"abcdefghijabcdefghij", "abcdefghij", "********************"},
      {"abcdefgh", "abcdefghij", "********"},
      {"cdefghij", "abcdefghij", "********"},
      {"abcdefg and bcdefghi", "abcdefghij", "abcdefg and ********"},
      {"12345678", "1234567812345679", "********"},
      {"1234567812345679", "1234567812345679", "****************"},
      {"abcdefgh\\/ijklmnop", "abcdefgh/ijklmnop", "******************"},
      {"\\u0061bcdefghij", "abcdefghij", "***************"},
      {"\\u0041bcdefghij", "abcdefghij", "\\u0041*********"},
      {"abc\\u006", "abc\\u006", "********"},
      {"it is ab\\cd/e\"f.", "ab\\cd/e\"f", "it is *********."},
      {"it is ab\\\\cd\\/e\\\"f.", "ab\\cd/e\"f", "it is ************."},
      {"\\nine-of-it\\n", "nine-of-it", "\\n*********\\n"},
      {"[\"\\nine-of-it\"]", "nine-of-it", "[\"\\n*********\"]"},
      {"C:\\abcdefghij\\", "abcdefghij", "C:\\**********\\"},
      {"\\nabcdefghij", "abcdefghij", "\\n**********"},
      {"EMPTY is the key", "EMPTY", "EMPTY is the key"},
      {"no key", NULL, "no key"},
      {"", "abcdefghij", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    mend__buffer text;
    mend__secrets *secrets;
    mend__buffer_init(&text, NULL);
    mend__buffer_str(&text, mend_str_from(cases[i].text));
    cr_assert_eq(mend__secrets_new(NULL, &(const char *){cases[i].key}, 1, &secrets), MEND_OK);
    mend__secrets_cover(&text, secrets);
    mend__buffer_char(&text, '\0');
    cr_assert_str_eq(text.data, cases[i].covered);
    mend__secrets_release(secrets);
    mend__buffer_free(&text);
  }
}
