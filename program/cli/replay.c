#include "program/replay/replay.h"

#include "core/lines.h"
#include "core/memory.h"
#include "core/reason.h"
#include "program/cli/cli.h"
#include "program/cli/replay_options.h"
#include "program/replay/interrupt.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* How much of arguments and results the reports keep, in bytes. */
enum { EXCERPT_BYTES = 120, CONTENT_BYTES = 4096 };
/* A file with options is read whole. */
static const size_t CONFIG_MAX = 1024 * 1024;

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

static int out_of_memory(void) { return cli_fail("%s", mend_status_message(MEND_ENOMEM)); }

static int set_option(arguments *to, const char *text) {
  const char *equals = strchr(text, '=');
  if (equals == NULL) return cli_fail("--set %s: expected NAME=VALUE, such as loop.k=5", text);
  mend_error error;
  const mend_str name = {text, (size_t)(equals - text)};
  const mend_status status = mend_option_tree_set(to->tree, name, mend_str_from(equals + 1), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--set %s: %s", text, error.message);
}

static int set_mode(arguments *to, const char *text) {
  mend_error error;
  const mend_status status = mend_option_tree_set(to->tree, MEND_STR("mode"), mend_str_from(text), &error);
  return status == MEND_OK ? CLI_FINE : cli_fail("--mode %s: %s", text, error.message);
}

static mend_status read_whole(int fd, mend__buffer *text) {
  for (;;) {
    if (text->len > CONFIG_MAX) return MEND_ELIMIT;
    if (!mend__buffer_reserve(text, 16 * 1024)) return MEND_ENOMEM;
    const ssize_t got = read(fd, text->data + text->len, 16 * 1024);
    if (got == 0) return MEND_OK;
    if (got < 0 && errno != EINTR) return MEND_EIO;
    if (got > 0) text->len += (size_t)got;
  }
}

static int load_config(arguments *to, const char *path) {
  mend_error error;
  int fd;
  if (mend__open_input(path, &fd, &error) != MEND_OK) return cli_fail("%s", error.message);
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  int result = CLI_FINE;
  mend_status status = read_whole(fd, &text);
  if (status != MEND_OK) {
    result = cli_fail("%s: %s", path, status == MEND_EIO ? mend__reason(errno) : mend_status_message(status));
  } else if (mend_option_tree_load(to->tree, mend__buffer_text(&text), &error) != MEND_OK) {
    result = error.line > 0 ? cli_fail("%s:%u:%u: %s", path, error.line, error.column, error.message)
                            : cli_fail("%s: %s", path, error.message);
  }
  mend__buffer_free(&text);
  close(fd);
  return result;
}

/* A flag has `flag`, an option with a value `set`. */
typedef struct option {
  const char *name;
  size_t flag; /* offset of a bool in arguments */
  int (*set)(arguments *to, const char *value);
} option;
#define FLAG(name)                                                                                                     \
  { "--" #name, offsetof(arguments, name), NULL }
static const option options[] = {FLAG(json),
                                 FLAG(content),
                                 FLAG(stats),
                                 FLAG(help),
                                 FLAG(version),
                                 {"--set", 0, set_option},
                                 {"--config", 0, load_config},
                                 {"--mode", 0, set_mode}};
enum { OPTION_COUNT = sizeof options / sizeof options[0] };

static const option *find_option(const char *text, size_t len) {
  for (size_t i = 0; i < OPTION_COUNT; i++) {
    if (strlen(options[i].name) == len && memcmp(options[i].name, text, len) == 0) return &options[i];
  }
  return NULL;
}

static int unknown_option(const char *text, size_t len) {
  const char *names[OPTION_COUNT + 1] = {NULL};
  char word[64];
  snprintf(word, sizeof word, "%.*s", len < sizeof word ? (int)len : (int)sizeof word - 1, text);
  for (size_t i = 0; i < OPTION_COUNT; i++)
    names[i] = options[i].name;
  return cli_unknown("option", word, names, "mend replay --help");
}

/* Takes the option at argv[*at]; its value may be the next argument. */
static int take_option(arguments *to, char **argv, int *at) {
  const char *text = argv[*at];
  const char *equals = strchr(text, '=');
  const size_t len = equals != NULL ? (size_t)(equals - text) : strlen(text);
  const option *found = find_option(text, len);
  if (found == NULL) return unknown_option(text, len);
  if (found->set == NULL) {
    if (equals != NULL) return cli_fail("%s takes no value", found->name);
    *(bool *)(void *)((char *)to + found->flag) = true;
    return CLI_FINE;
  }
  if (equals != NULL) return found->set(to, equals + 1);
  if (argv[*at + 1] == NULL) return cli_fail("%s needs a value", found->name);
  return found->set(to, argv[++*at]);
}

static int take_arguments(arguments *to, int argc, char **argv) {
  bool only_files = false;
  for (int i = 1; i < argc; i++) {
    const bool is_file = only_files || argv[i][0] != '-' || argv[i][1] == '\0';
    if (is_file) {
      to->files[to->file_count++] = argv[i];
    } else if (strcmp(argv[i], "--") == 0) {
      only_files = true;
    } else if (strcmp(argv[i], "-h") == 0) {
      to->help = true;
    } else if (take_option(to, argv, &i) != CLI_FINE) {
      return CLI_FAILED;
    }
  }
  return CLI_FINE;
}

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
  if (status == MEND_ENOMEM) return out_of_memory();
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
  if (settings.report == NULL) return out_of_memory();
  const int result = replay_files(of, &settings);
  settings.report->free(settings.report);
  return result;
}

static int run_replay(int argc, char **argv) {
  arguments given = {0};
  int result = CLI_FAILED;
  given.files = mend__alloc_zero(NULL, (size_t)argc * sizeof *given.files);
  if (given.files == NULL || mend_option_tree_new(NULL, &given.tree) != MEND_OK) {
    out_of_memory();
  } else if (take_arguments(&given, argc, argv) == CLI_FINE) {
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
