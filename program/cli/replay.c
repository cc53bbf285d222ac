#include "program/replay/replay.h"

#include "core/memory.h"
#include "core/reason.h"
#include "program/cli/arguments.h"
#include "program/cli/replay_options.h"
#include "program/replay/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* How much of arguments and results the reports keep, in bytes. */
enum { EXCERPT_BYTES = 120, CONTENT_BYTES = 4096 };

typedef struct arguments {
  bool json, content, stats, help, version;
  mend_option_tree *tree;
  const char **files; /* borrowed */
  size_t file_count;
} arguments;

/* ---- Help -------------------------------------------------------------------------------------------------- */

static void help(FILE *out) {
  fputs("Usage: mend replay [OPTION]... FILE...\n"
        "\n"
        "Plays a recorded agent run again, on a clock of its own, and tells what went\n"
        "wrong in it: calls that hung, calls that were repeated, confidence that fell.\n"
        "FILE is a recording; - is standard input.\n"
        "\n"
        "  mend replay run.jsonl                      a report\n"
        "  mend replay --set loop.k=5 run.jsonl       loops only from the sixth call on\n"
        "  mend replay --json runs/*.jsonl | jq .     one JSON object a detection\n"
        "  tail -f run.jsonl | mend replay --json -   while it is being written\n"
        "\n"
        "Recordings (mend sees by itself which one it is):\n"
        "  mend's own journal     JSON, an event a line\n"
        "  OpenAI Chat messages   a JSON array of messages, or an object whose member\n"
        "                         \"messages\" is one; or one message or object a line\n"
        "  Claude Code session    JSON, a row a line; subagents are runs of their own\n"
        "\n"
        "Options:\n"
        "  --json             one JSON object a line for each detection, as it is found\n"
        "  --stats            with --json: the counts of each file, as JSON on standard\n"
        "                     error\n"
        "  --content          show up to 4,096 bytes of arguments and results, not 120\n"
        "  --set NAME=VALUE   set an option of the watchdogs (below); may be repeated\n"
        "  --config FILE      set them from a JSON object: {\"loop\": {\"k\": 5}}\n"
        "  --mode MODE        the same as --set mode=MODE\n"
        "  --help             this text\n"
        "  --version          the version\n"
        "\n"
        "Exit status: 1 something was detected; else 2 when a file could not be read;\n"
        "else 0. Also 2: an option was wrong, or the report could not be written.\n"
        "\n",
        out);
  replay_options_help(out);
}

/* ---- Arguments --------------------------------------------------------------------------------------------- */

static int set_option(void *ctx, const char *text) {
  const arguments *to = ctx;
  const char *equals = strchr(text, '=');
  if (equals == NULL) return cli_fail("--set %s: expected NAME=VALUE, such as loop.k=5", text);
  mend_error error;
  const mend_str name = {text, (size_t)(equals - text)};
  const mend_status status = mend_option_tree_set(to->tree, name, mend_str_from(equals + 1), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--set %s: %s", text, error.message);
}

static int set_mode(void *ctx, const char *text) {
  const arguments *to = ctx;
  mend_error error;
  const mend_status status = mend_option_tree_set(to->tree, MEND_STR("mode"), mend_str_from(text), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--mode %s: %s", text, error.message);
}

static int load_config(void *to, const char *path) { return cli_load_config(((arguments *)to)->tree, path); }

#define FLAG(name)                                                                                                     \
  { "--" #name, offsetof(arguments, name), NULL }
static const cli_option options[] = {FLAG(json),
                                     FLAG(content),
                                     FLAG(stats),
                                     FLAG(help),
                                     FLAG(version),
                                     {"--set", 0, set_option},
                                     {"--config", 0, load_config},
                                     {"--mode", 0, set_mode}};
static const cli_syntax syntax = {options, sizeof options / sizeof options[0], "mend replay --help"};

static int check_arguments(const arguments *of) {
  mend_error error;
  if (mend_option_tree_check(of->tree, &error) != MEND_OK) return cli_fail("%s", error.message);
  if (mend_option_tree_get(of->tree)->mode == MEND_WATCH_MODE_EVIDENCE) {
    return cli_fail("mode evidence does not exist yet; use --mode seed, the default");
  }
  if (of->stats && !of->json) return cli_fail("--stats goes with --json; the report has the counts anyway");
  if (of->file_count == 0) return cli_fail("no FILE was given; `mend replay --help` tells more");
  return CLI_FINE;
}

/* ---- Replaying --------------------------------------------------------------------------------------------- */

/* Each file that cannot be read is told of; the others count. An interrupt ends the file being read and leaves out
 * those that follow. */
static int replay_files(const arguments *of, const replay_settings *settings) {
  replay_totals totals = {0};
  uint64_t detections = 0;
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  mend_status status = replay_options_tell(settings->watch, settings->report);
  while (status != MEND_ECLOSED && totals.files < of->file_count && !interrupt_came()) {
    uint64_t found;
    mend__buffer_clear(&failure);
    status = replay_play(of->files[totals.files++], settings, &found, &failure);
    detections += found;
    totals.unreadable += status != MEND_OK;
    if (failure.len > 0) cli_fail("%.*s", (int)failure.len, failure.data);
  }
  mend__buffer_free(&failure);
  if (status != MEND_ECLOSED) status = settings->report->finish(settings->report, &totals);
  if (status == MEND_ENOMEM) return cli_out_of_memory();
  if (detections > 0) return CLI_FOUND;
  return totals.unreadable > 0 ? CLI_FAILED : CLI_FINE;
}

/* Who watches a run as it is written ends that with Ctrl-C, and still wants the report. */
static int catch_interrupt(const arguments *of) {
  bool watches = false;
  for (size_t i = 0; i < of->file_count && !of->json; i++)
    watches |= strcmp(of->files[i], "-") == 0;
  return !watches || interrupt_catch() == MEND_OK ? CLI_FINE : cli_fail("SIGINT: %s", mend__reason(errno));
}

static int replay(const arguments *of) {
  replay_settings settings = {.watch = mend_option_tree_get(of->tree),
                              .content_bytes = of->content ? CONTENT_BYTES : EXCERPT_BYTES,
                              .progress = isatty(STDERR_FILENO) == 1};
  if (catch_interrupt(of) != CLI_FINE) return CLI_FAILED;
  settings.report = of->json ? report_json_new(stdout, stderr, of->stats)
                             : report_text_new(stdout, cli_wants_colour(stdout), cli_width(stdout), of->file_count > 1);
  if (settings.report == NULL) return cli_out_of_memory();
  const int result = replay_files(of, &settings);
  settings.report->free(settings.report);
  return result;
}

static int run_replay(int argc, char **argv) {
  arguments given = {0};
  int result = CLI_FAILED;
  given.files = mend__alloc_zero(NULL, (size_t)argc * sizeof *given.files);
  if (given.files == NULL || mend_option_tree_new(NULL, &given.tree) != MEND_OK) {
    cli_out_of_memory();
  } else if (cli_take_arguments(&syntax, argc, argv, &given, given.files, &given.file_count) == CLI_FINE) {
    if (given.help) {
      help(stdout);
      result = CLI_FINE;
    } else if (given.version) {
      result = cli_show_version();
    } else if (check_arguments(&given) == CLI_FINE) {
      result = replay(&given);
    }
  }
  mend_option_tree_free(given.tree);
  mend__free(NULL, given.files);
  return result;
}

const cli_command cli_replay = {"replay", "tell what went wrong in a recorded run", run_replay, help};
