#include "program/cli/replay_commands.h"

#include "core/reason.h"
#include "program/cli/arguments.h"
#include "program/replay/listen.h"
#include "program/replay/otlp_writer.h"
#include "program/stage/stage.h"

#include <errno.h>
#include <unistd.h>

/* What a recording becomes. */
typedef enum target { TARGET_NONE, TARGET_JOURNAL, TARGET_OTLP } target;

typedef struct arguments {
  bool help;
  target to;
  const char *output;
  const char *file;
} arguments;

static void help(FILE *out) {
  fputs("Usage: mend replay convert --to FORMAT [-o FILE] FILE\n"
        "\n"
        "Writes a recorded run in another format. What can be read is what mend replay\n"
        "reads.\n"
        "\n"
        "  mend replay convert --to journal session.jsonl > run.jsonl\n"
        "  mend replay convert --to otlp -o spans.jsonl session.jsonl\n"
        "\n"
        "Formats:\n"
        "  journal    mend's own: JSON, an event a line\n"
        "  otlp       OpenTelemetry spans: an OTLP JSON export a line, with the attributes\n"
        "             of the conventions for generative AI\n"
        "\n"
        "Options:\n"
        "  --to FORMAT     journal or otlp\n"
        "  -o, --output FILE\n"
        "                  where to; it must not exist yet. Else standard output\n"
        "  --help          this text\n"
        "\n"
        "Exit status: 0 written, 2 not or not all of it. Broken lines are told and left\n"
        "out. What mend itself once detected (healing.*) is not written.\n",
        out);
}

static int set_target(void *ctx, const char *text) {
  static const char *const names[] = {"journal", "otlp", NULL};
  arguments *to = ctx;
  if (strcmp(text, "journal") == 0) {
    to->to = TARGET_JOURNAL;
  } else if (strcmp(text, "otlp") == 0) {
    to->to = TARGET_OTLP;
  } else {
    return cli_unknown("format", text, names, "mend replay convert --help");
  }
  return CLI_FINE;
}

static int set_output(void *ctx, const char *text) {
  ((arguments *)ctx)->output = text;
  return CLI_FINE;
}

static const cli_option options[] = {{"--to", 0, set_target},
                                     {"--output", 0, set_output},
                                     {"-o", 0, set_output},
                                     {"--help", offsetof(arguments, help), NULL}};
static const cli_syntax syntax = {options, sizeof options / sizeof options[0], "mend replay convert --help"};

/* ---- Writing ----------------------------------------------------------------------------------------------- */

/* On its way from one recording to the other. */
typedef struct conversion {
  const arguments *given;
  FILE *out;
  otlp_writer *spans;
  mend_journal *journal;
  mend_error error;
} conversion;

static mend_status attach_journal(conversion *of, stage *on) {
  mend_journal_options journal = MEND_JOURNAL_OPTIONS_INIT;
  journal.fd = fileno(of->out);
  return mend_journal_open(on->bus, &journal, &of->journal, &of->error);
}

static mend_status attach(void *ctx, stage *on) {
  conversion *of = ctx;
  if (of->given->to == TARGET_JOURNAL) return attach_journal(of, on);
  mend_subscription *subscription; /* lives as long as the bus */
  return mend_bus_subscribe(on->bus, "*", otlp_writer_event, of->spans, NULL, &subscription);
}

static int tell_failure(const conversion *of, mend_status status, const mend__buffer *failure) {
  if (failure->len > 0) return cli_fail("%.*s", (int)failure->len, failure->data);
  if (of->error.message[0] != '\0') return cli_fail("%s", of->error.message);
  return status == MEND_ENOMEM ? cli_out_of_memory() : cli_fail("%s", mend_status_message(status));
}

/* The events that could not be written were counted by the bus. */
static mend_status finish(conversion *of) {
  mend_status status = MEND_OK;
  if (of->spans != NULL) status = otlp_writer_finish(of->spans);
  if (of->journal != NULL) {
    const mend_status closed = mend_journal_close(of->journal, &of->error);
    if (status == MEND_OK) status = closed;
  }
  if (status == MEND_OK && fflush(of->out) != 0) status = MEND_EIO;
  return status;
}

static int play(conversion *of) {
  const bool progress = isatty(STDERR_FILENO) == 1 && isatty(fileno(of->out)) == 0;
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  mend_status status = replay_listen(of->given->file, attach, of, progress, &failure);
  const mend_status finished = finish(of);
  if (status == MEND_OK) status = finished;
  const int result = status == MEND_OK ? CLI_FINE : tell_failure(of, status, &failure);
  mend__buffer_free(&failure);
  return result;
}

static int convert(const arguments *given) {
  conversion of = {.given = given, .out = stdout, .error = MEND_ERROR_INIT};
  if (given->output != NULL) of.out = fopen(given->output, "wxe");
  if (of.out == NULL) return cli_fail("%s: %s", given->output, mend__reason(errno));
  of.spans = given->to == TARGET_OTLP ? otlp_writer_new(of.out) : NULL;
  int result = given->to == TARGET_OTLP && of.spans == NULL ? cli_out_of_memory() : play(&of);
  otlp_writer_free(of.spans);
  if (given->output != NULL && fclose(of.out) != 0) result = cli_fail("%s: %s", given->output, mend__reason(errno));
  return result;
}

int cli_replay_convert(int argc, char **argv) {
  const char *files[64];
  size_t count = 0;
  arguments given = {.to = TARGET_NONE};
  if (argc > (int)(sizeof files / sizeof files[0])) return cli_fail("too many arguments, expected one file");
  if (cli_take_arguments(&syntax, argc, argv, &given, files, &count) != CLI_FINE) return CLI_FAILED;
  if (given.help) {
    help(stdout);
    return CLI_FINE;
  }
  if (given.to == TARGET_NONE) return cli_fail("--to is missing, expected --to journal or --to otlp");
  if (count != 1) return cli_fail("expected one file, %zu given; `mend replay convert --help` tells more", count);
  given.file = files[0];
  return convert(&given);
}
