/* The program mend-fault-server: a mock provider of models that fails on demand. */
#include "core/lines.h"
#include "core/memory.h"
#include "core/reason.h"
#include "program/cli/cli.h"
#include "program/fault_server/faults.h"
#include "program/fault_server/log.h"
#include "program/fault_server/script.h"

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <unistd.h>

enum { SCRIPT_MAX = 16 * 1024 * 1024 };

typedef struct arguments {
  unsigned port;
  const char *script, *log, *faults;
  bool until_stdin_closes, list, help, version;
} arguments;

/* ---- Help -------------------------------------------------------------------------------------------------------- */

static void help(FILE *out) {
  fputs("Usage: mend-fault-server [OPTION]...\n"
        "\n"
        "A mock provider of models on 127.0.0.1 that fails on demand. It speaks OpenAI Chat\n"
        "Completions and Responses, Anthropic Messages and Gemini, whole and streamed, and\n"
        "says the words of the last user message again. Its first line of output is where\n"
        "it listens. Any key will do.\n"
        "\n"
        "Options:\n"
        "  --port N        listen there; 0, the default, is any free port\n"
        "  --faults LIST   for every request: --faults status=503,retry_after=2\n"
        "  --script FILE   which requests get which faults and replies (below)\n"
        "  --log FILE      one JSON object a line for each request, appended; - is standard\n"
        "                  output\n"
        "  --stdin         end also when standard input is closed\n"
        "  --list          all faults, one line each\n"
        "  --help          this text\n"
        "  --version       the version\n"
        "\n"
        "A request says itself what goes wrong with it, in one of these ways or in several:\n"
        "\n"
        "  its path     http://127.0.0.1:PORT/fault/reset_after=5/v1/chat/completions\n"
        "               so a base URL of http://127.0.0.1:PORT/fault/overloaded/v1 does\n"
        "  its model    \"model\": \"fault:reset_after=5,delta_delay=0.1\"\n"
        "  a header     x-mend-fault: status=503,retry_after=2\n"
        "               x-mend-reply: {\"text\": \"Hello!\"}       what the model says\n"
        "\n"
        "In a list of faults %2C is a comma, %2F a slash.\n"
        "\n"
        "  URL=http://127.0.0.1:8081\n"
        "  BODY='{\"model\": \"m\", \"stream\": true, \"messages\": [{\"role\": \"user\", \"content\": \"Hi\"}]}'\n"
        "  curl $URL/v1/chat/completions -d \"$BODY\"\n"
        "  curl $URL/fault/rate_limit,retry_after=2/v1/chat/completions -d \"$BODY\"\n"
        "  curl $URL/v1/messages -H 'x-mend-fault: error_after=3,overloaded' -d \"$BODY\"\n"
        "  curl $URL/fault/context_overflow=vllm/v1/chat/completions -d \"$BODY\"\n"
        "\n"
        "A script: the first rule that matches is used. Here the first three requests fail,\n"
        "then one calls a tool, and then all is well:\n"
        "\n"
        "  {\"rules\": [\n"
        "    {\"match\": {\"nth\": [1, 3], \"model\": \"gpt-*\"}, \"faults\": \"status=503\"},\n"
        "    {\"match\": {\"nth\": 1, \"path\": \"*chat*\", \"key\": \"sk-1\"},\n"
        "     \"reply\": {\"tool_calls\": [{\"name\": \"search\", \"args\": {\"q\": \"rain\"}}]}},\n"
        "    {\"reply\": {\"texts\": [\"All\", \" is\", \" well.\"], \"thinking\": \"Hm.\"}}\n"
        "  ]}\n"
        "\n"
        "nth counts the requests for which the rest of the rule's match holds; [4, null] has\n"
        "no end. faults may also be an array, whose elements are taken as they are. A fault\n"
        "that does not exist is answered with status 418 and a sentence.\n"
        "\n"
        "It ends with SIGTERM or SIGINT. Exit status: 0 it was ended so; 2 it could not start,\n"
        "or not all requests could be logged.\n",
        out);
}

/* ---- Arguments --------------------------------------------------------------------------------------------------- */

typedef struct option {
  const char *name;
  size_t flag; /* offset of a bool in arguments */
  size_t text; /* offset of a text, for one with a value */
  bool has_value;
} option;
static const option options[] = {{"--port", 0, 0, true},
                                 {"--faults", 0, offsetof(arguments, faults), true},
                                 {"--script", 0, offsetof(arguments, script), true},
                                 {"--log", 0, offsetof(arguments, log), true},
                                 {"--stdin", offsetof(arguments, until_stdin_closes), 0, false},
                                 {"--list", offsetof(arguments, list), 0, false},
                                 {"--help", offsetof(arguments, help), 0, false},
                                 {"--version", offsetof(arguments, version), 0, false}};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static int set_port(arguments *to, const char *text) {
  uint64_t port;
  if (mend_json_uint64(mend_str_from(text), &port) != MEND_OK || port > UINT16_MAX)
    return cli_fail("--port %s: expected a number from 0 to 65535", text);
  to->port = (unsigned)port;
  return CLI_FINE;
}

static const option *find_option(const char *text, size_t len) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    if (strlen(options[i].name) == len && memcmp(options[i].name, text, len) == 0) return &options[i];
  }
  return NULL;
}

static int unknown_option(const char *text) {
  const char *names[OPTION_COUNT + 1] = {NULL};
  for (size_t i = 0; i < OPTION_COUNT; i++)
    names[i] = options[i].name;
  if (text[0] != '-') return cli_fail("\"%s\" is no option; mend-fault-server takes nothing else", text);
  return cli_unknown("option", text, names, "mend-fault-server --help");
}

/* Takes the option at argv[*at]; its value may be the next argument. */
static int take_option(arguments *to, char **argv, int *at) {
  const char *text = argv[*at];
  const char *equals = strchr(text, '=');
  const option *found = find_option(text, equals != NULL ? (size_t)(equals - text) : strlen(text));
  if (found == NULL) return unknown_option(text);
  if (!found->has_value) {
    if (equals != NULL) return cli_fail("%s takes no value", found->name);
    *(bool *)(void *)((char *)to + found->flag) = true;
    return CLI_FINE;
  }
  const char *value = equals != NULL ? equals + 1 : argv[++*at];
  if (value == NULL) return cli_fail("%s needs a value", found->name);
  if (found->text == 0) return set_port(to, value);
  *(const char **)(void *)((char *)to + found->text) = value;
  return CLI_FINE;
}

static int take_arguments(arguments *to, int argc, char **argv) {
  int result = CLI_FINE;
  for (int at = 1; at < argc && result == CLI_FINE; at++)
    result = take_option(to, argv, &at);
  return result;
}

/* ---- Running ----------------------------------------------------------------------------------------------------- */

static int read_script(const char *path, mend__buffer *text) {
  mend_error error;
  int fd;
  if (mend__open_input(path, &fd, &error) != MEND_OK) return cli_fail("%s", error.message);
  ssize_t got = 1;
  while (got > 0 && text->len <= SCRIPT_MAX && mend__buffer_reserve(text, 64 * 1024)) {
    got = read(fd, text->data + text->len, 64 * 1024);
    if (got > 0) text->len += (size_t)got;
  }
  const int reason = errno;
  close(fd);
  if (got < 0) return cli_fail("%s: %s", path, mend__reason(reason));
  return got == 0 ? CLI_FINE : cli_fail("%s: %s", path, mend_status_message(text->failed ? MEND_ENOMEM : MEND_ELIMIT));
}

/* Before the server is made, so that a sentence can name the file. */
static int check_script(const char *path, mend_str text) {
  script *made = NULL;
  mend_error error = MEND_ERROR_INIT;
  const mend_status status = script_new(text, &made, &error);
  script_free(made);
  if (status == MEND_OK) return CLI_FINE;
  if (error.line > 0) return cli_fail("%s:%u:%u: %s", path, error.line, error.column, error.message);
  return cli_fail("%s: %s", path, mend_error_sentence(&error, status));
}

typedef struct request_log {
  const char *path;
  FILE *file;
  bool has_failed; /* nothing more is written: what was lost would not show */
} request_log;

static void on_ended(void *ctx, const fault_exchange *exchange) {
  request_log *log = ctx;
  if (log->has_failed || fault_log_write(log->file, exchange)) return;
  log->has_failed = true;
  cli_fail("%s: %s; from here on nothing is logged", log->path, mend__reason(errno));
}

static void on_signal(evutil_socket_t number, short what, void *ctx) {
  (void)number;
  (void)what;
  event_base_loopbreak(ctx);
}

static void on_stdin(evutil_socket_t fd, short what, void *ctx) {
  char unused[4096];
  (void)what;
  const ssize_t got = read(fd, unused, sizeof unused);
  if (got == 0 || (got < 0 && errno != EINTR && errno != EAGAIN)) event_base_loopbreak(ctx);
}

/* What ends the server. */
typedef struct stoppers {
  struct event *events[3];
} stoppers;

static int add_stoppers(stoppers *to, struct event_base *base, bool until_stdin_closes) {
  to->events[0] = evsignal_new(base, SIGTERM, on_signal, base);
  to->events[1] = evsignal_new(base, SIGINT, on_signal, base);
  to->events[2] = until_stdin_closes ? event_new(base, STDIN_FILENO, EV_READ | EV_PERSIST, on_stdin, base) : NULL;
  for (size_t i = 0; i < 2; i++) {
    if (to->events[i] == NULL || event_add(to->events[i], NULL) != 0) return cli_fail("signals cannot be caught");
  }
  if (to->events[2] != NULL && event_add(to->events[2], NULL) != 0)
    return cli_fail("--stdin: standard input is no pipe or terminal");
  return CLI_FINE;
}

static void remove_stoppers(stoppers *of) {
  for (size_t i = 0; i < sizeof of->events / sizeof of->events[0]; i++) {
    if (of->events[i] != NULL) event_free(of->events[i]);
  }
}

static int serve(const arguments *of, struct event_base *base, mend_str rules, request_log *log) {
  stoppers stops = {{NULL}};
  fault_server *server;
  mend_error error = MEND_ERROR_INIT;
  const fault_server_options given = {.port = of->port,
                                      .script = rules,
                                      .faults = mend_str_from(of->faults),
                                      .observer = {.ctx = log, .ended = log->file != NULL ? on_ended : NULL}};
  const mend_status status = fault_server_new(base, &given, &server, &error);
  if (status != MEND_OK) return cli_fail("%s", mend_error_sentence(&error, status));
  int result = add_stoppers(&stops, base, of->until_stdin_closes);
  if (result == CLI_FINE) {
    printf("listening on http://127.0.0.1:%u\n", fault_server_port(server));
    fflush(stdout);
    event_base_dispatch(base);
  }
  fault_server_free(server);
  remove_stoppers(&stops);
  return result;
}

static int open_log(request_log *log) {
  if (log->path == NULL) return CLI_FINE;
  log->file = strcmp(log->path, "-") == 0 ? stdout : fopen(log->path, "a");
  return log->file != NULL ? CLI_FINE : cli_fail("%s: %s", log->path, mend__reason(errno));
}

static int close_log(const request_log *log) {
  if (log->file != NULL && log->file != stdout) fclose(log->file);
  return log->has_failed ? CLI_FAILED : CLI_FINE;
}

static int run_with_log(const arguments *of, mend_str rules) {
  request_log log = {.path = of->log};
  int result = open_log(&log);
  if (result != CLI_FINE) return result;
  struct event_base *base = event_base_new();
  result = base != NULL ? serve(of, base, rules, &log) : cli_fail("%s", mend_status_message(MEND_ENOMEM));
  if (base != NULL) event_base_free(base);
  const int logged = close_log(&log);
  return result == CLI_FINE ? logged : result;
}

static int run(const arguments *of) {
  const mend_str absent = {NULL, 0};
  if (of->script == NULL) return run_with_log(of, absent);
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  int result = read_script(of->script, &text);
  if (result == CLI_FINE) result = check_script(of->script, text_of(&text));
  if (result == CLI_FINE) result = run_with_log(of, text_of(&text));
  mend__buffer_free(&text);
  return result;
}

int main(int argc, char **argv) {
  arguments given = {0};
  cli_program = "mend-fault-server";
  cli_prepare_streams();
  if (take_arguments(&given, argc, argv) != CLI_FINE) return CLI_FAILED;
  if (given.help) {
    help(stdout);
  } else if (given.list) {
    fault_list(stdout);
  } else if (given.version) {
    cli_show_version();
  } else {
    return cli_finish(run(&given));
  }
  return cli_finish(CLI_FINE);
}
