#include "program/cli/replay_arguments.h"

#include "core/memory.h"
#include "program/cli/arguments.h"

static int set_option(void *ctx, const char *text) {
  const replay_arguments *to = ctx;
  const char *equals = strchr(text, '=');
  if (equals == NULL) return cli_fail("--set %s: expected NAME=VALUE, such as loop.k=5", text);
  mend_error error;
  const mend_str name = {text, (size_t)(equals - text)};
  const mend_status status = mend_option_tree_set(to->tree, name, mend_str_from(equals + 1), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--set %s: %s", text, error.message);
}

static int set_mode(void *ctx, const char *text) {
  const replay_arguments *to = ctx;
  mend_error error;
  const mend_status status = mend_option_tree_set(to->tree, MEND_STR("mode"), mend_str_from(text), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--mode %s: %s", text, error.message);
}

static int load_config(void *to, const char *path) { return cli_load_config(((replay_arguments *)to)->tree, path); }

static int load_prices(void *ctx, const char *path) {
  replay_arguments *to = ctx;
  mend_model_table_release(to->models);
  to->models = NULL;
  return cli_load_models(path, &to->models);
}

static int set_fail_on(void *to, const char *names) {
  mend_error error;
  const mend_status status = fail_on_set(&((replay_arguments *)to)->fails, names, &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--fail-on %s: %s", names, error.message);
}

static int set_sweep(void *ctx, const char *text) {
  replay_arguments *to = ctx;
  mend_error error;
  sweep_free(&to->sweep);
  const mend_status status = sweep_parse(&to->sweep, text, &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--sweep %s: %s", text, error.message);
}

static int set_html(void *to, const char *path) {
  ((replay_arguments *)to)->html = path;
  return CLI_FINE;
}

static int set_junit(void *to, const char *path) {
  ((replay_arguments *)to)->junit = path;
  return CLI_FINE;
}

static int set_jobs(void *to, const char *text) {
  mend_json json;
  int64_t jobs = 0;
  mend_json_init(&json, mend_str_from(text), 1);
  const bool is_integer = mend_json_next(&json) == MEND_JSON_NUMBER && mend_json_int64(json.slice, &jobs) == MEND_OK;
  if (!is_integer || jobs < 1 || jobs > REPLAY_JOBS_MAX || mend_json_next(&json) != MEND_JSON_END) {
    return cli_fail("--jobs %s: expected an integer from 1 to %d", text, REPLAY_JOBS_MAX);
  }
  ((replay_arguments *)to)->jobs = (uint32_t)jobs;
  return CLI_FINE;
}

#define FLAG(name)                                                                                                     \
  { "--" #name, offsetof(replay_arguments, name), NULL }
static const cli_option options[] = {FLAG(json),
                                     FLAG(quiet),
                                     FLAG(content),
                                     FLAG(stats),
                                     FLAG(help),
                                     FLAG(version),
                                     {"--sweep", 0, set_sweep},
                                     {"--html", 0, set_html},
                                     {"--junit", 0, set_junit},
                                     {"--fail-on", 0, set_fail_on},
                                     {"--jobs", 0, set_jobs},
                                     {"--prices", 0, load_prices},
                                     {"--set", 0, set_option},
                                     {"--config", 0, load_config},
                                     {"--mode", 0, set_mode}};
const cli_syntax replay_syntax = {options, sizeof options / sizeof options[0], "mend replay --help"};

/* The library's default is seed, whose firings are known to who ports; people want what is true. */
static mend_status make_tree(mend_option_tree **ret_tree) {
  mend_error error;
  const mend_status status = mend_option_tree_new(NULL, ret_tree);
  return status != MEND_OK ? status : mend_option_tree_set(*ret_tree, MEND_STR("mode"), MEND_STR("evidence"), &error);
}

int replay_arguments_take(replay_arguments *to, int argc, char **argv) {
  *to = (replay_arguments){.json = false};
  to->files = mend__alloc_zero(NULL, (size_t)argc * sizeof *to->files);
  if (to->files == NULL || make_tree(&to->tree) != MEND_OK) return cli_out_of_memory();
  return cli_take_arguments(&replay_syntax, argc, argv, to, to->files, &to->file_count);
}

void replay_arguments_free(replay_arguments *of) {
  sweep_free(&of->sweep);
  mend_model_table_release(of->models);
  mend_option_tree_free(of->tree);
  mend__free(NULL, of->files);
}

int replay_arguments_check(const replay_arguments *of) {
  mend_error error;
  if (mend_option_tree_check(of->tree, &error) != MEND_OK) return cli_fail("%s", error.message);
  if (of->stats && !of->json) return cli_fail("--stats goes with --json; the report has the counts anyway");
  if (of->sweep.axis_count > 0 && (of->quiet || of->stats || of->junit != NULL)) {
    return cli_fail("--sweep prints a table of settings; of the other outputs only --json and --html go with it");
  }
  if (of->quiet && of->json) return cli_fail("--quiet and --json are two answers to one question");
  if (of->file_count == 0) return cli_fail("no FILE was given; `mend replay --help` tells more");
  return CLI_FINE;
}
