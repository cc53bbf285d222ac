#include "bench/model_server.h"

#include "bench/bench.h"

#include <arpa/inet.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- What it says ---- */

typedef struct answer {
  char *bytes;
  size_t len;
} answer;

static struct { answer reply, stream; } answers;

#define CHUNK                                                                                                          \
  "data: {\"id\":\"chatcmpl-123\",\"object\":\"chat.completion.chunk\",\"created\":1694268190,\"model\":\"gpt-4.1\","  \
  "\"choices\":[{\"index\":0,\"delta\":{%s},\"logprobs\":null,\"finish_reason\":%s}]}\n\n"

static void write_head(FILE *to, const char *type, size_t len) {
  fprintf(to, "HTTP/1.1 200 OK\r\ncontent-type: %s\r\ncontent-length: %zu\r\n\r\n", type, len);
}

static answer with_head(const char *type, answer body) {
  answer whole;
  FILE *to = open_memstream(&whole.bytes, &whole.len);
  bench_need(to != NULL, "open_memstream");
  write_head(to, type, body.len);
  fwrite(body.bytes, 1, body.len, to);
  bench_need(fclose(to) == 0, "writing an answer");
  free(body.bytes);
  return whole;
}

static answer make_reply(void) {
  answer body;
  FILE *to = open_memstream(&body.bytes, &body.len);
  bench_need(to != NULL, "open_memstream");
  fputs("{\"id\":\"chatcmpl-123\",\"object\":\"chat.completion\",\"created\":1694268190,\"model\":\"gpt-4.1\","
        "\"choices\":"
        "[{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"The capital of France is "
        "Paris.\",\"refusal\":null},"
        "\"logprobs\":null,\"finish_reason\":\"stop\"}],\"usage\":{\"prompt_tokens\":14,\"completion_tokens\":7,"
        "\"total_tokens\":21}}",
        to);
  bench_need(fclose(to) == 0, "writing an answer");
  return with_head("application/json", body);
}

static answer make_stream(void) {
  answer body;
  FILE *to = open_memstream(&body.bytes, &body.len);
  bench_need(to != NULL, "open_memstream");
  for (int i = 0; i < BENCH_DELTAS; i++) {
    char delta[64];
    snprintf(delta, sizeof delta, "\"content\":\" token %d\"", i);
    fprintf(to, CHUNK, delta, "null");
  }
  fprintf(to, CHUNK "data: [DONE]\n\n", "", "\"stop\"");
  bench_need(fclose(to) == 0, "writing an answer");
  return with_head("text/event-stream", body);
}

/* ---- Serving ---- */

/* How long the first request in the input is; 0: it is not complete. */
static size_t request_length(const char *input, size_t len) {
  static const char length[] = "content-length:";
  const char *end = memmem(input, len, "\r\n\r\n", 4);
  if (end == NULL) return 0;
  const size_t head = (size_t)(end - input) + 4;
  size_t body = 0;
  for (const char *line = input; line < end;
       line = (const char *)memchr(line, '\n', len - (size_t)(line - input)) + 1) {
    if (strncasecmp(line, length, sizeof length - 1) == 0) body = strtoul(line + sizeof length - 1, NULL, 10);
  }
  return head + body <= len ? head + body : 0;
}

static void on_input(struct bufferevent *stream, void *ctx) {
  (void)ctx;
  struct evbuffer *input = bufferevent_get_input(stream);
  const size_t available = evbuffer_get_length(input);
  const char *bytes = (const char *)evbuffer_pullup(input, -1);
  const size_t len = request_length(bytes, available);
  if (len == 0) return;
  const char *line_end = memchr(bytes, '\n', len);
  const bool streams = memmem(bytes, (size_t)(line_end - bytes), "/stream/", 8) != NULL;
  const answer *said = streams ? &answers.stream : &answers.reply;
  evbuffer_drain(input, len);
  evbuffer_add_reference(bufferevent_get_output(stream), said->bytes, said->len, NULL, NULL);
}

static void on_event(struct bufferevent *stream, short what, void *ctx) {
  (void)ctx;
  if ((what & (BEV_EVENT_EOF | BEV_EVENT_ERROR)) != 0) bufferevent_free(stream);
}

static void on_connection(evutil_socket_t listening, short what, void *ctx) {
  (void)what;
  const int fd = accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC), on = 1;
  if (fd < 0) return;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  struct bufferevent *stream = bufferevent_socket_new(ctx, fd, BEV_OPT_CLOSE_ON_FREE);
  bench_need(stream != NULL, "bufferevent_socket_new");
  bufferevent_setcb(stream, on_input, NULL, on_event, NULL);
  bufferevent_enable(stream, EV_READ | EV_WRITE);
}

/* Ends with the process that wanted it. */
static void serve(int listening) {
  signal(SIGPIPE, SIG_IGN);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  answers.reply = make_reply();
  answers.stream = make_stream();
  struct event_base *base = event_base_new();
  struct event *event = event_new(base, listening, EV_READ | EV_PERSIST, on_connection, base);
  bench_need(event != NULL && event_add(event, NULL) == 0, "event_add");
  event_base_dispatch(base);
  _exit(2);
}

bench_server bench_server_start(void) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  socklen_t size = sizeof address;
  const int listening = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  bench_need(listening >= 0 && bind(listening, (struct sockaddr *)&address, size) == 0 && listen(listening, 16) == 0 &&
                 getsockname(listening, (struct sockaddr *)&address, &size) == 0,
             "listening on 127.0.0.1");
  const pid_t process = fork();
  bench_need(process >= 0, "fork");
  if (process == 0) serve(listening);
  close(listening);
  return (bench_server){process, ntohs(address.sin_port)};
}

void bench_server_stop(const bench_server *server) {
  kill(server->process, SIGKILL);
  waitpid(server->process, NULL, 0);
}
