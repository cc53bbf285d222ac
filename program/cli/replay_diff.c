#include "program/cli/replay_commands.h"

#include "program/base/plain.h"
#include "program/cli/arguments.h"
#include "program/replay/diff.h"
#include "program/replay/listen.h"

#include <unistd.h>

/* Lines of a pair of runs that are shown unless all are asked for. */
enum { LINES_SHOWN = 40 };

typedef struct arguments {
  bool json, exact, all, quiet, help;
  const char **files; /* borrowed */
  size_t file_count;
} arguments;

static void help(FILE *out) {
  fputs("Usage: mend replay diff [OPTION]... LEFT RIGHT\n"
        "\n"
        "Compares two recorded runs call by call: how long they did the same, where they\n"
        "part, and side by side what each did then. The formats are those of mend replay,\n"
        "and may differ.\n"
        "\n"
        "  mend replay diff good.jsonl bad.jsonl\n"
        "\n"
        "Each line is a call with what came of it; in front of it:\n"
        "  ~  the same call came to something else     <  only the left run made it\n"
        "  |  different calls at the same place        >  only the right run made it\n"
        "  ?  the same call, but of an answer only a hash was recorded, and the hashes differ:\n"
        "     times or ids may be all that is different\n"
        "\n"
        "Times and ids in arguments and results do not count, nor does the order of\n"
        "members. Runs are paired by their ids, the others in their order.\n"
        "\n"
        "Options:\n"
        "  --exact   times and ids count\n"
        "  --all     all lines, not the first 40 of each pair of runs\n"
        "  --json    one JSON object a pair of runs\n"
        "  --quiet   nothing but the exit status\n"
        "  --help    this text\n"
        "\n"
        "Exit status: 0 the same calls and answers, 1 they differ, 2 a file could not be\n"
        "read or an option was wrong.\n",
        out);
}

#define FLAG(name)                                                                                                     \
  { "--" #name, offsetof(arguments, name), NULL }
static const cli_option options[] = {FLAG(json), FLAG(exact), FLAG(all), FLAG(quiet), FLAG(help)};
static const cli_syntax syntax = {options, sizeof options / sizeof options[0], "mend replay diff --help"};

static mend_status begin(void *ctx, const stage *on) {
  ((step_list *)ctx)->row = &on->row;
  return MEND_OK;
}

static int read_steps(const char *path, bool exact, step_list *list) {
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  const replay_listener listener = {.topics = "tool.*", .begin = begin, .event = step_list_event, .ctx = list};
  mend_status status = step_list_init(list, exact);
  if (status == MEND_OK) status = replay_listen(path, &listener, false, &failure);
  const int result = status == MEND_OK ? CLI_FINE
                     : failure.len > 0 ? cli_fail("%.*s", (int)failure.len, failure.data)
                                       : cli_out_of_memory();
  mend__buffer_free(&failure);
  if (list->dropped > 0) {
    cli_fail("%s: only its first %d calls are compared, not the last %llu", path, (int)STEPS_MAX,
             (unsigned long long)list->dropped);
  }
  return result;
}

static int show(const arguments *of, const step_list *left, const step_list *right) {
  diff found;
  if (diff_make(&found, left, right) != MEND_OK) return cli_out_of_memory();
  mend__buffer page;
  mend__buffer_init(&page, NULL);
  if (of->json) {
    diff_write_json(&found, &page);
  } else if (!of->quiet) {
    diff_write_text(&found, of->files[0], of->files[1], cli_width(stdout), of->all ? 0 : LINES_SHOWN, &page);
  }
  int result = found.differs ? CLI_FOUND : CLI_FINE;
  const mend_status status = plain_write(&page, stdout);
  if (status == MEND_ENOMEM) result = cli_out_of_memory();
  if (status == MEND_ECLOSED) result = CLI_FAILED;
  mend__buffer_free(&page);
  diff_free(&found);
  return result;
}

static int compare(const arguments *of) {
  if (of->file_count != 2)
    return cli_fail("expected two files, %zu given; `mend replay diff --help` tells more", of->file_count);
  if (strcmp(of->files[0], "-") == 0 && strcmp(of->files[1], "-") == 0) {
    return cli_fail("standard input can be one of the two only");
  }
  step_list left, right = {.count = 0};
  int result = read_steps(of->files[0], of->exact, &left);
  if (result == CLI_FINE) {
    result = read_steps(of->files[1], of->exact, &right);
    if (result == CLI_FINE) result = show(of, &left, &right);
    step_list_free(&right);
  }
  step_list_free(&left);
  return result;
}

int cli_replay_diff(int argc, char **argv) {
  const char *files[64];
  arguments given = {.files = files};
  if (argc > (int)(sizeof files / sizeof files[0])) return cli_fail("too many arguments, expected two files");
  if (cli_take_arguments(&syntax, argc, argv, &given, files, &given.file_count) != CLI_FINE) return CLI_FAILED;
  if (given.help) {
    help(stdout);
    return CLI_FINE;
  }
  return compare(&given);
}
