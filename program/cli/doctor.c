#include "program/doctor/machine.h"
#include "program/doctor/models.h"

#include "core/memory.h"
#include "core/option_names.h"
#include "fallback/dialect.h"
#include "program/cli/arguments.h"

enum { ENDPOINTS_MAX = 16 };

typedef struct arguments {
  bool json, offline, help, version;
  mend_option_tree *tree;
  const char *journals, *proxy, *ca_file;
  double limit_s;
  mend_endpoint endpoints[ENDPOINTS_MAX]; /* their providers are copies */
  size_t endpoint_count;
} arguments;

/* ---- Help -------------------------------------------------------------------------------------------------- */

static void help(FILE *out) {
  fputs("Usage: mend doctor [OPTION]... [MODEL]...\n"
        "\n"
        "Looks whether mend can work here: libraries, clock, the folder of journals, and\n"
        "for each MODEL its name, its key, and whether its provider answers and takes\n"
        "the key. Each line says what was found and what to do about it.\n"
        "\n"
        "  mend doctor                                  this machine\n"
        "  mend doctor openai:gpt-4.1 anthropic:claude-sonnet-4-6\n"
        "  mend doctor --config mend.json               the models of fallback.models\n"
        "  mend doctor --base-url compatible=http://127.0.0.1:8080/v1 compatible:llama\n"
        "\n"
        "MODEL is provider:model_id. Keys are in the environment, and are never shown:\n"
        "  openai, openai-responses   OPENAI_API_KEY\n"
        "  anthropic                  ANTHROPIC_API_KEY\n"
        "  google                     GEMINI_API_KEY or GOOGLE_API_KEY\n"
        "  compatible                 none; needs --base-url\n"
        "  scripted                   none: scripted:FILE\n"
        "\n"
        "A provider is asked for its list of models, which costs nothing.\n"
        "\n"
        "Options:\n"
        "  --offline                  ask nobody\n"
        "  --config FILE              options as JSON: {\"fallback\": {\"models\": [...]}}\n"
        "  --base-url PROVIDER=URL    where it is reached; may be repeated\n"
        "  --proxy URL                ask through a proxy\n"
        "  --ca-file FILE             trust these certificates (PEM), not the system's\n"
        "  --timeout SECONDS          how long a provider may take (10)\n"
        "  --journals FOLDER          where journals are to be written (.)\n"
        "  --json                     a JSON object a line: state (ok, warning, problem,\n"
        "                             not checked), check, message, advice\n"
        "  --help                     this text\n"
        "  --version                  the version\n"
        "\n"
        "Exit status: 0 there is no problem (there may be warnings), 1 there is one,\n"
        "2 an option was wrong.\n",
        out);
}

/* ---- Arguments --------------------------------------------------------------------------------------------- */

static int load_config(void *to, const char *path) { return cli_load_config(((arguments *)to)->tree, path); }

static int set_journals(void *to, const char *value) {
  ((arguments *)to)->journals = value;
  return CLI_FINE;
}

static int set_proxy(void *to, const char *value) {
  ((arguments *)to)->proxy = value;
  return CLI_FINE;
}

static int set_ca_file(void *to, const char *value) {
  ((arguments *)to)->ca_file = value;
  return CLI_FINE;
}

static int set_timeout(void *to, const char *value) {
  mend_json json;
  mend_json_init(&json, mend_str_from(value), 1);
  const bool is_number = mend_json_next(&json) == MEND_JSON_NUMBER;
  const double seconds = is_number ? mend_json_double(json.slice) : 0;
  if (!(seconds > 0 && seconds <= 3600) || mend_json_next(&json) != MEND_JSON_END) {
    return cli_fail("--timeout %s: expected a number of seconds from above 0 to 3600", value);
  }
  ((arguments *)to)->limit_s = seconds;
  return CLI_FINE;
}

static int add_base_url(void *ctx, const char *value) {
  arguments *to = ctx;
  const char *equals = strchr(value, '=');
  if (equals == NULL || equals == value) {
    return cli_fail("--base-url: expected PROVIDER=URL, such as compatible=http://127.0.0.1:8080/v1");
  }
  const mend_str name = {value, (size_t)(equals - value)};
  if (mend__dialect_find(name) == NULL)
    return cli_fail("--base-url: there is no provider \"%.*s\"", MEND_STR_ARG(name));
  if (to->endpoint_count == ENDPOINTS_MAX) return cli_fail("--base-url: more than %d of them", ENDPOINTS_MAX);
  char *provider = mend__str_copy(NULL, name);
  if (provider == NULL) return cli_out_of_memory();
  to->endpoints[to->endpoint_count++] = (mend_endpoint){provider, equals + 1};
  return CLI_FINE;
}

#define FLAG(name)                                                                                                     \
  { "--" #name, offsetof(arguments, name), NULL }
static const cli_option options[] = {FLAG(json),
                                     FLAG(offline),
                                     FLAG(help),
                                     FLAG(version),
                                     {"--config", 0, load_config},
                                     {"--journals", 0, set_journals},
                                     {"--proxy", 0, set_proxy},
                                     {"--ca-file", 0, set_ca_file},
                                     {"--timeout", 0, set_timeout},
                                     {"--base-url", 0, add_base_url}};
static const cli_syntax syntax = {options, sizeof options / sizeof options[0], "mend doctor --help"};

/* ---- The visit --------------------------------------------------------------------------------------------- */

static void check_all(const arguments *given, const doctor_models *models, doctor_sheet *sheet, mend_error *error) {
  doctor_check_libraries(sheet);
  doctor_check_clock(sheet);
  doctor_check_environment(sheet);
  doctor_check_journals(sheet, given->journals);
  if (doctor_check_models(sheet, models, error) != MEND_OK)
    doctor_say(sheet, DOCTOR_PROBLEM, "models", NULL, "they could not be looked at: %s", error->message);
  doctor_sum_up(sheet);
}

/* Models that are named here count, else those of the configuration. */
static int examine(const arguments *given, const char *const *named, size_t count) {
  const char **configured = NULL;
  size_t configured_count = 0;
  mend_error error = MEND_ERROR_INIT;
  const mend_str chain = mend_option_tree_get(given->tree)->fallback.models;
  if (mend__option_names(chain, NULL, &configured, &configured_count) != MEND_OK) return cli_out_of_memory();
  const doctor_models models = {.names = count > 0 ? named : configured,
                                .count = count > 0 ? count : configured_count,
                                .endpoints = given->endpoints,
                                .endpoint_count = given->endpoint_count,
                                .proxy = given->proxy,
                                .ca_file = given->ca_file,
                                .limit_s = given->limit_s,
                                .offline = given->offline};
  doctor_sheet sheet = {
      .out = stdout, .json = given->json, .colour = cli_wants_colour(stdout), .width = cli_width(stdout)};
  check_all(given, &models, &sheet, &error);
  mend__free(NULL, configured);
  return sheet.counts[DOCTOR_PROBLEM] > 0 ? CLI_FOUND : CLI_FINE;
}

static void arguments_free(arguments *given) {
  for (size_t i = 0; i < given->endpoint_count; i++)
    mend__free(NULL, (char *)given->endpoints[i].provider);
  mend_option_tree_free(given->tree);
}

static int run_doctor(int argc, char **argv) {
  arguments given = {.journals = ".", .limit_s = 10};
  size_t count;
  int result = CLI_FAILED;
  const char **models = mend__alloc_zero(NULL, (size_t)argc * sizeof *models);
  if (models == NULL || mend_option_tree_new(NULL, &given.tree) != MEND_OK) {
    cli_out_of_memory();
  } else if (cli_take_arguments(&syntax, argc, argv, &given, models, &count) == CLI_FINE) {
    if (given.help) {
      help(stdout);
      result = CLI_FINE;
    } else {
      result = given.version ? cli_show_version() : examine(&given, models, count);
    }
  }
  arguments_free(&given);
  mend__free(NULL, models);
  return result;
}

const cli_command cli_doctor = {"doctor", "look whether keys, providers and this machine are fit", run_doctor, help,
                                &syntax};
