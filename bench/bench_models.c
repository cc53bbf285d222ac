/* Requests to models: what a chain adds to one over libcurl, and what reading a long stream takes, beside OpenAI's SDK
 * for Node. All ask the same server, over connections that are kept. */
#include "bench/bench.h"
#include "bench/model_server.h"
#include "bench/peers/peers.h"
#include "mend/fallback.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <stdio.h>
#include <stdlib.h>

enum { PAIRS = 500, STREAMS = 20 };

/* ---- A chain, in a base that this thread dispatches ---- */

typedef struct chain_client {
  struct event_base *base;
  mend_loop *loop;
  mend_bus *bus;
  mend_run *run;
  mend_model *model;
  mend_messages *messages;
  uint64_t deltas, events;
  bool done;
} chain_client;

static mend_status count_event(void *ctx, const mend_event *event) {
  (void)event;
  ((chain_client *)ctx)->events++;
  return MEND_OK;
}

static void open_chain(chain_client *client, const char *url) {
  static const char *const models[] = {"openai:gpt-4.1", "compatible:gpt-4.1"};
  const mend_key key = {NULL, "key"};
  const mend_endpoint endpoints[] = {{"openai", url}, {"compatible", url}};
  mend_fallback_options options = MEND_FALLBACK_OPTIONS_INIT;
  options.loop = client->loop;
  options.keys = &key;
  options.key_count = 1;
  options.endpoints = endpoints;
  options.endpoint_count = 2;
  options.profile = MEND_FALLBACK_RESILIENT;
  bench_need(mend_fallback_new(models, 2, &options, &client->model, NULL) == MEND_OK, "mend_fallback_new");
}

static void open_client(chain_client *client, const char *url) {
  mend_loop_options options = MEND_LOOP_OPTIONS_INIT;
  *client = (chain_client){.base = event_base_new(), .bus = bench_bus(NULL, NULL)};
  options.base = client->base;
  bench_need(client->base != NULL && mend_loop_new(&options, &client->loop, NULL) == MEND_OK, "mend_loop_new");
  bench_need(mend_bus_subscribe(client->bus, "model.*", count_event, client, NULL, NULL, NULL) == MEND_OK &&
                 mend_run_new(client->bus, NULL, &client->run, NULL) == MEND_OK,
             "mend_run_new");
  bench_need(mend_messages_new(NULL, &client->messages) == MEND_OK &&
                 mend_messages_add_user(client->messages, MEND_STR("What is the capital of France?")) == MEND_OK,
             "mend_messages_new");
  open_chain(client, url);
}

static void close_client(chain_client *client) {
  mend_model_release(client->model);
  mend_messages_free(client->messages);
  mend_run_release(client->run);
  mend_bus_release(client->bus);
  mend_loop_release(client->loop);
  event_base_free(client->base);
}

static void count_delta(void *ctx, const mend_delta *delta) {
  (void)delta;
  ((chain_client *)ctx)->deltas++;
}

static void note_end(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  (void)reply, (void)failure;
  bench_need(status == MEND_OK, "a request through a chain");
  ((chain_client *)ctx)->done = true;
}

static void ask_chain(chain_client *client, bool stream) {
  const mend_model_listener listener = {sizeof listener, count_delta, note_end, client};
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = client->messages;
  request.stream = stream;
  request.run = client->run;
  client->done = false;
  bench_need(mend_model_send(client->model, &request, &listener, NULL, NULL) == MEND_OK, "mend_model_send");
  while (!client->done)
    event_base_loop(client->base, EVLOOP_ONCE);
}

/* ---- libcurl, which reads and does no more ---- */

typedef struct curl_client {
  CURL *easy;
  struct curl_slist *headers;
} curl_client;

static size_t count_bytes(char *bytes, size_t size, size_t count, void *ctx) {
  (void)bytes, (void)ctx;
  return size * count;
}

static void open_curl(curl_client *client, const char *url) {
  char path[128];
  snprintf(path, sizeof path, "%s/chat/completions", url);
  client->easy = curl_easy_init();
  client->headers = curl_slist_append(NULL, "content-type: application/json");
  client->headers = curl_slist_append(client->headers, "authorization: Bearer key");
  bench_need(client->easy != NULL && client->headers != NULL, "curl_easy_init");
  curl_easy_setopt(client->easy, CURLOPT_URL, path);
  curl_easy_setopt(client->easy, CURLOPT_HTTPHEADER, client->headers);
  curl_easy_setopt(client->easy, CURLOPT_WRITEFUNCTION, count_bytes);
  curl_easy_setopt(client->easy, CURLOPT_POSTFIELDS,
                   "{\"model\":\"gpt-4.1\",\"messages\":[{\"role\":\"user\",\"content\":\"What is the capital of "
                   "France?\"}]}");
}

static void close_curl(const curl_client *client) {
  curl_easy_cleanup(client->easy);
  curl_slist_free_all(client->headers);
}

static void ask_curl(const curl_client *client) {
  bench_need(curl_easy_perform(client->easy) == CURLE_OK, "a request of curl's");
}

/* ---- A request: of each the median of many, in turn ---- */

enum { OF_CHAIN, OF_CURL, ADDED };

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *ns) {
  qsort(ns, PAIRS, sizeof *ns, compare);
  return ns[PAIRS / 2];
}

static double time_requests(const bench_row *row) {
  static double chain_ns[PAIRS], curl_ns[PAIRS];
  const bench_server server = bench_server_start();
  chain_client chain;
  curl_client curl;
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%u/v1", server.port);
  open_client(&chain, url);
  open_curl(&curl, url);
  for (int i = -PAIRS / 10; i < PAIRS; i++) { /* the first ones make connections, and fill caches */
    const uint64_t start = bench_now();
    ask_chain(&chain, false);
    const uint64_t middle = bench_now();
    ask_curl(&curl);
    if (i >= 0) chain_ns[i] = (double)(middle - start);
    if (i >= 0) curl_ns[i] = (double)(bench_now() - middle);
  }
  close_curl(&curl);
  close_client(&chain);
  bench_server_stop(&server);
  const double of_chain = median(chain_ns), of_curl = median(curl_ns);
  return row->argument == ADDED ? of_chain - of_curl : row->argument == OF_CHAIN ? of_chain : of_curl;
}

/* ---- A stream, by the delta ---- */

static double read_streams(const bench_row *row) {
  const bench_server server = bench_server_start();
  chain_client chain;
  curl_client curl;
  char url[64];
  snprintf(url, sizeof url, "http://127.0.0.1:%u/stream/v1", server.port);
  open_client(&chain, url);
  open_curl(&curl, url);
  ask_chain(&chain, true);
  ask_curl(&curl);
  bench_need(chain.deltas == BENCH_DELTAS && chain.events >= BENCH_DELTAS, "reading every delta");
  const uint64_t start = bench_now();
  for (int i = 0; i < STREAMS; i++) {
    if (row->argument == OF_CHAIN) ask_chain(&chain, true);
    if (row->argument == OF_CURL) ask_curl(&curl);
  }
  const double ns = (double)(bench_now() - start);
  close_curl(&curl);
  close_client(&chain);
  bench_server_stop(&server);
  return ns / STREAMS / BENCH_DELTAS;
}

static double read_by_sdk(const bench_row *row) {
  (void)row;
  char url[64];
  const bench_server server = bench_server_start();
  snprintf(url, sizeof url, "http://127.0.0.1:%u/stream/v1", server.port);
  const double ns = bench_openai_stream(url);
  bench_server_stop(&server);
  return ns / BENCH_DELTAS;
}

#define REQUEST "a short request over loopback, p50"
#define STREAM "a delta of a stream of 2,000"

static const bench_row rows[] = {
    {REQUEST, "mend, a chain", .measure = time_requests, .argument = OF_CHAIN},
    {REQUEST, "libcurl", .measure = time_requests, .argument = OF_CURL, .note = "it reads the reply and does no more"},
    {"what a chain adds to it, p50", "mend", .measure = time_requests, .argument = ADDED, .goal_ns = 30e3},
    {STREAM, "mend", .measure = read_streams, .argument = OF_CHAIN, .note = "an event and a callback each"},
    {STREAM, "libcurl", .measure = read_streams, .argument = OF_CURL, .note = "it reads the bytes and does no more"},
    {STREAM, "openai, Node.js", .measure = read_by_sdk},
};
const bench_rows bench_model_rows = BENCH_ROWS(rows);
