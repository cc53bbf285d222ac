#include "program/cli/replay_commands.h"

#include "core/reason.h"
#include "program/base/begun_file.h"
#include "program/cli/arguments.h"
#include "program/replay/journal_writer.h"
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
        "Exit status: 0 written, 2 not or not all of it; a FILE that was begun is then\n"
        "removed. Broken lines are told and left out. What mend itself once detected\n"
        "(healing.*) is not written.\n",
        out);
}

static int set_target(void *ctx, const char *text) {
  arguments *to = ctx;
  if (strcmp(text, "journal") == 0) {
    to->to = TARGET_JOURNAL;
  } else if (strcmp(text, "otlp") == 0) {
    to->to = TARGET_OTLP;
  } else {
    return cli_fail("unknown format \"%s\", expected --to journal or --to otlp", text);
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
  journal_writer journal;
  bool has_clock, tells_progress; /* of the recording */
  uint64_t end_ns;                /* likewise */
  int reason;                     /* errno, once the output cannot be written any more */
} conversion;

static mend_status note_reason(conversion *of, mend_status status) {
  if (status == MEND_ECLOSED) of->reason = errno;
  return status;
}

static mend_status begin(void *ctx, const stage *on) {
  conversion *of = ctx;
  of->has_clock = on->has_clock;
  of->tells_progress = on->tells_progress;
  if (of->spans == NULL) {
    return note_reason(of, journal_writer_begin(&of->journal, on->has_clock, on->tells_progress));
  }
  if (!on->has_clock) otlp_writer_make_up_times(of->spans);
  return MEND_OK;
}

static mend_status write_event(void *ctx, const mend_event *event) {
  conversion *of = ctx;
  return note_reason(of, of->spans != NULL ? otlp_writer_event(of->spans, event)
                                           : journal_writer_event(&of->journal, event));
}

static mend_status write_tick(void *ctx, const stage *on) {
  conversion *of = ctx;
  return of->spans == NULL ? note_reason(of, journal_writer_tick(&of->journal, on->now_ns)) : MEND_OK;
}

static void note_end(void *ctx, uint64_t end_ns) { ((conversion *)ctx)->end_ns = end_ns; }

/* What the target does not hold, in a line each. */
static void tell_changes(const conversion *of) {
  if (of->spans == NULL) {
    if (!of->has_clock) cli_remark("the recording has no clock, so the journal has no times");
    return;
  }
  if (!of->has_clock)
    cli_remark("the recording has no clock: its times are made up, a millisecond apart, and what "
               "depends on time may read otherwise");
  if (of->has_clock && of->tells_progress)
    cli_remark("spans do not tell what calls put out: a call that says nothing counts as hung after 10 min");
  if (of->has_clock && otlp_writer_unannounced(of->spans) > 0)
    cli_remark("the recording does not say when the agent was at work: as a span it was from first to last");
  const tally *lost = otlp_writer_lost(of->spans);
  if (lost->len == 0) return;
  mend__buffer names;
  mend__buffer_init(&names, NULL);
  tally_write(&names, lost);
  if (!names.failed) cli_remark("spans have no place for: %.*s", (int)names.len, names.data);
  mend__buffer_free(&names);
}

static int tell_failure(mend_status status, const mend__buffer *failure) {
  if (failure->len > 0) return cli_fail("%.*s", (int)failure->len, failure->data);
  return status == MEND_ENOMEM ? cli_out_of_memory() : cli_fail("%s", mend_status_message(status));
}

/* Of standard output it is told at the end of the program. */
static int tell_lost_output(const arguments *given, int reason) {
  return given->output != NULL ? cli_fail("%s: %s", given->output, mend__reason(reason)) : CLI_FAILED;
}

static mend_status finish(conversion *of) {
  if (of->spans != NULL) otlp_writer_until(of->spans, of->end_ns);
  mend_status status =
      of->spans != NULL ? otlp_writer_finish(of->spans) : journal_writer_finish(&of->journal, of->end_ns);
  if (status == MEND_OK && fflush(of->out) != 0) status = MEND_ECLOSED;
  return note_reason(of, status);
}

static int tell(const conversion *of, mend_status status, const mend__buffer *failure) {
  if (status == MEND_ECLOSED) return tell_lost_output(of->given, of->reason);
  if (status != MEND_OK) return tell_failure(status, failure);
  tell_changes(of);
  return CLI_FINE;
}

static int play(conversion *of) {
  const replay_listener listener = {
      .topics = "*", .begin = begin, .event = write_event, .tick = write_tick, .end = note_end, .ctx = of};
  const bool progress = isatty(STDERR_FILENO) == 1 && isatty(fileno(of->out)) == 0;
  mend__buffer failure;
  mend__buffer_init(&failure, NULL);
  mend_status status = replay_listen(of->given->file, &listener, progress, &failure);
  const mend_status finished = status != MEND_ECLOSED ? finish(of) : status;
  if (status == MEND_OK) status = finished;
  const int result = tell(of, status, &failure);
  mend__buffer_free(&failure);
  return result;
}

static int write_to(conversion *of) {
  journal_writer_init(&of->journal, of->out);
  of->spans = of->given->to == TARGET_OTLP ? otlp_writer_new(of->out) : NULL;
  const int result = of->given->to == TARGET_OTLP && of->spans == NULL ? cli_out_of_memory() : play(of);
  otlp_writer_free(of->spans);
  journal_writer_free(&of->journal);
  return result;
}

/* The file is new, and half a recording is none. */
static int write_file(conversion *of) {
  const char *path = of->given->output;
  of->out = begun_file_open(path);
  if (of->out == NULL) return cli_fail("%s: %s", path, mend__reason(errno));
  int result = write_to(of);
  if (fclose(of->out) != 0 && result == CLI_FINE) result = tell_lost_output(of->given, errno);
  if (result != CLI_FINE) unlink(path);
  begun_file_release();
  return result;
}

static int convert(const arguments *given) {
  conversion of = {.given = given, .out = stdout};
  if (given->output != NULL) return write_file(&of);
  const int result = write_to(&of);
  errno = of.reason; /* for cli_finish */
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
