/* An agent with two tools, whose models fail: it is asked for the next tram, on a chain of three models. The first
 * one cannot be reached. The second one dies in the middle of a sentence, and when it is asked again before it has
 * said a word. The third one works.
 *
 * The models are scripts in examples/models/, so this needs neither keys nor a network. The same over HTTP, in the
 * words of OpenAI, Anthropic and Google:
 *
 *   mend-fault-server --port 8081 --script examples/models/server.json
 *   agent --base-url http://127.0.0.1:8081 */
#include <mend.h>

#include <stdio.h>
#include <stdlib.h>

#ifndef EXAMPLE_MODELS
#define EXAMPLE_MODELS "examples/models"
#endif

/* ---- Tools ---- */

static mend_status timetable(void *ctx, mend_call *call) {
  (void)ctx; /* mend_call_args(call) is {"line": 7} */
  return mend_call_succeed(call, MEND_STR("{\"line\":7,\"next\":\"17:42\"}"));
}

static mend_status weather(void *ctx, mend_call *call) {
  (void)ctx;
  return mend_call_succeed_text(call, MEND_STR("rain, 9 degrees"));
}

/* Pooled ones run at the same time when a model asks for several at once. */
static const mend_tool timetable_tool = {
    .size = sizeof(mend_tool),
    .name = "timetable",
    .execute = timetable,
    .kind = MEND_TOOL_POOLED,
    .description = "When the next tram of a line leaves.",
    .schema = "{\"type\":\"object\",\"properties\":{\"line\":{\"type\":\"integer\"}}}",
};
static const mend_tool weather_tool = {
    .size = sizeof(mend_tool),
    .name = "weather",
    .execute = weather,
    .kind = MEND_TOOL_POOLED,
    .description = "What the weather is like.",
    .schema = "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}}}",
};

static mend_status add_tools(mend_tools *registry, mend_error *error) {
  const mend_status status = mend_tools_add(registry, &timetable_tool, NULL, error);
  return status == MEND_OK ? mend_tools_add(registry, &weather_tool, NULL, error) : status;
}

/* ---- What happens, told as it happens ---- */

/* "second" of "scripted:DIRECTORY/second.json". */
static mend_str short_name(mend_str name) {
  for (const char *c = name.ptr; c < name.ptr + name.len; c++) {
    if (*c != '/') continue;
    name.len -= (size_t)(c + 1 - name.ptr);
    name.ptr = c + 1;
  }
  if (name.len > 5 && memcmp(name.ptr + name.len - 5, ".json", 5) == 0) name.len -= 5;
  return name;
}

/* Models, tools and the agent publish on threads of their own: a line is one printf, which has a lock. */
static mend_status tell_event(void *ctx, const mend_event *event) {
  (void)ctx;
  if (event->kind == MEND_EVENT_MODEL_ERROR) {
    const mend_model_error_event *failed = (const mend_model_error_event *)event;
    printf("\n    [%.*s fails: %.*s]", MEND_STR_ARG(short_name(failed->model)), MEND_STR_ARG(failed->error));
  } else if (event->kind == MEND_EVENT_MODEL_FALLBACK) {
    const mend_model_fallback_event *moved = (const mend_model_fallback_event *)event;
    printf("\n    [%.*s takes over]", MEND_STR_ARG(short_name(moved->to)));
  } else if (event->kind == MEND_EVENT_TOOL_BEFORE) {
    const mend_tool_before_event *before = (const mend_tool_before_event *)event;
    printf("\n    [tool %.*s %.*s]", MEND_STR_ARG(before->tool_name), MEND_STR_ARG(before->args));
  } else if (event->kind == MEND_EVENT_TOOL_AFTER) {
    const mend_tool_after_event *after = (const mend_tool_after_event *)event;
    printf("\n    [tool %.*s says %.*s]", MEND_STR_ARG(after->tool_name), MEND_STR_ARG(after->result));
  }
  return MEND_OK;
}

/* Whether the agent's words have begun. */
typedef struct screen {
  bool is_in_line;
} screen;

/* Its words as they come, on the loop's thread. */
static void print_delta(void *ctx, const mend_delta *delta) {
  screen *shown = ctx;
  if (delta->kind != MEND_PART_TEXT) return;
  printf("%s%.*s", shown->is_in_line ? "" : "\n  agent: ", MEND_STR_ARG(delta->text));
  shown->is_in_line = true;
  fflush(stdout);
}

/* A whole reply, before the tools run that it asks for. */
static void end_line(void *ctx, uint32_t turn, const mend_reply *reply) {
  screen *shown = ctx;
  (void)turn;
  shown->is_in_line = false;
  printf("\n    [answered by %.*s]", MEND_STR_ARG(short_name(reply->target)));
}

static mend_str without_quotes(mend_str text) {
  if (text.len < 2 || text.ptr[0] != '"') return text;
  return (mend_str){text.ptr + 1, text.len - 2};
}

/* {"target": "openai:gpt-4.1", "class": "overloaded", "action": "fail_over", "ms": 3.1, ...} */
static void print_attempt(mend_json *json) {
  enum { TARGET, CLASS, ACTION, MS, MEMBERS };
  static const char *const names[MEMBERS] = {"target", "class", "action", "ms"};
  mend_str values[MEMBERS] = {MEND_STR("?"), MEND_STR("?"), MEND_STR("answered"), MEND_STR("0")}, value;
  while (mend_json_next(json) == MEND_JSON_KEY) {
    size_t member = 0;
    while (member < MEMBERS && !mend_json_is(json, mend_str_from(names[member])))
      member++;
    if (mend_json_value(json, &value) != MEND_OK) return;
    if (member < MEMBERS) values[member] = without_quotes(value);
  }
  printf("     %.*s: %.*s, %.*s (%.1f ms)\n", MEND_STR_ARG(short_name(values[TARGET])), MEND_STR_ARG(values[CLASS]),
         MEND_STR_ARG(values[ACTION]), mend_json_double(values[MS]));
}

static void print_report(const mend_agent_report *report) {
  mend_json json;
  mend_json_init(&json, report->attempts, MEND_JSON_DEPTH);
  printf("\n  -> %s after %u request%s; attempts of the last one:\n", mend_agent_end_name(report->end),
         (unsigned)report->turns, report->turns == 1 ? "" : "s");
  for (mend_json_next(&json); mend_json_next(&json) == MEND_JSON_OBJECT;)
    print_attempt(&json);
}

/* ---- The agent ---- */

static mend_status make_agent(mend_healing_runner *runner, screen *shown, mend_agent **ret_agent, mend_error *error) {
  mend_agent_options options = MEND_AGENT_OPTIONS_INIT;
  options.name = "tram guide";
  options.model = mend_healing_model(runner);       /* the chain */
  options.boundary = mend_healing_boundary(runner); /* whose tools it may call, and where its calls are watched */
  options.instructions = "You help people in Basel to get around.";
  options.delta = print_delta;
  options.turn = end_line;
  options.ctx = shown;
  return mend_agent_new(&options, ret_agent, error);
}

static mend_status ask(mend_agent *agent, const char *task, screen *shown, mend_error *error) {
  mend_agent_report report = MEND_AGENT_REPORT_INIT;
  printf("\n  you: %s", task);
  shown->is_in_line = false; /* it may have broken off in one */
  const mend_status status = mend_agent_run(agent, mend_str_from(task), &report, error);
  print_report(&report);
  mend_agent_report_clear(&report);
  return status;
}

static mend_status converse(mend_healing_runner *runner, mend_error *error) {
  screen shown = {.is_in_line = false};
  mend_agent *agent;
  mend_status status = make_agent(runner, &shown, &agent, error);
  if (status != MEND_OK) return status;
  status = ask(agent, "When does the next tram 7 leave, and do I need an umbrella?", &shown, error);
  if (status == MEND_EFAILED) {
    printf("\n  Half a sentence is out: another model would begin anew in the middle of it, so nobody takes over by\n"
           "  itself once something was said. The conversation is as it was, and you ask again.\n");
    status = ask(agent, "Please try again.", &shown, error);
  }
  mend_agent_free(agent);
  return status;
}

/* ---- The scope ---- */

static const char scripted_models[] =
    "[\"scripted:" EXAMPLE_MODELS "/primary.json\", \"scripted:" EXAMPLE_MODELS "/second.json\", "
    "\"scripted:" EXAMPLE_MODELS "/third.json\"]";
static const char served_models[] = "[\"openai:gpt-4.1\", \"anthropic:claude-sonnet-4-6\", \"google:gemini-2.5-pro\"]";

static mend_status heal(mend_bus *bus, mend_tools *registry, const char *base_url, mend_error *error) {
  const mend_endpoint endpoints[] = {{"openai", base_url}, {"anthropic", base_url}, {"google", base_url}};
  const mend_key any_key = {NULL, "not-a-secret"};
  mend_options config = MEND_OPTIONS_INIT;
  mend_fallback_options models = MEND_FALLBACK_OPTIONS_INIT;
  mend_healing_options options = MEND_HEALING_OPTIONS_INIT;
  config.fallback.models = mend_str_from(base_url != NULL ? served_models : scripted_models);
  if (base_url != NULL) {
    models.endpoints = endpoints;
    models.endpoint_count = 3;
    models.keys = &any_key;
    models.key_count = 1;
  }
  options.bus = bus;
  options.config = &config;
  options.tools = registry;
  options.models = &models;
  mend_healing_runner *runner;
  mend_status status = mend_healing_runner_new(&options, &runner, error);
  if (status != MEND_OK) return status;

  mend_healing_report report = MEND_HEALING_REPORT_INIT;
  mend_scope_options scope = MEND_SCOPE_OPTIONS_INIT;
  scope.ret_report = &report;
  MEND_HEALING_SCOPE(runner, &scope) { status = converse(runner, error); }
  mend_healing_runner_release(runner);
  if (report.status != MEND_OK && status == MEND_OK) {
    *error = report.error;
    status = report.status;
  }
  return status;
}

static mend_status tell_story(const char *base_url, mend_error *error) {
  mend_bus *bus = NULL;
  mend_tools *registry = NULL;
  mend_status status = mend_bus_new(NULL, &bus, error);
  if (status == MEND_OK) status = mend_bus_subscribe(bus, "*", tell_event, NULL, NULL, NULL, NULL);
  if (status == MEND_OK) status = mend_tools_new(NULL, &registry);
  if (status == MEND_OK) status = add_tools(registry, error);
  if (status == MEND_OK) status = heal(bus, registry, base_url, error);
  mend_tools_release(registry);
  mend_bus_release(bus);
  return status;
}

int main(int argc, char **argv) {
  const bool has_url = argc == 3 && strcmp(argv[1], "--base-url") == 0;
  mend_error error = MEND_ERROR_INIT;
  if (argc != 1 && !has_url) {
    fprintf(stderr, "usage: agent [--base-url http://127.0.0.1:PORT]\n");
    return 2;
  }
  printf("\n  A chain of three models: the first is not there, the second breaks off, the third works.\n");
  const mend_status status = tell_story(has_url ? argv[2] : NULL, &error);
  if (status != MEND_OK) fprintf(stderr, "agent: %s\n", mend_error_sentence(&error, status));
  if (status == MEND_ENOENT) {
    fprintf(stderr,
            "agent: its models are the folder examples/models of mend's source: run it where that is, or build\n"
            "it with -DEXAMPLE_MODELS='\"FOLDER\"'\n");
  }
  return status == MEND_OK ? EXIT_SUCCESS : EXIT_FAILURE;
}
