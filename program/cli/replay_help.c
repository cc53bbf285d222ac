#include "program/base/plain.h"
#include "program/cli/replay_arguments.h"
#include "program/cli/replay_options.h"
#include "program/transcripts/format.h"

/* The names of the formats, as a paragraph. */
static void help_formats(FILE *out) {
  mend__buffer names, text;
  mend__buffer_init(&names, NULL);
  mend__buffer_init(&text, NULL);
  for (const format *const *each = formats; *each != NULL; each++) {
    if (each != formats) mend__buffer_str(&names, each[1] != NULL ? MEND_STR(", ") : MEND_STR(" and "));
    mend__buffer_str(&names, mend_str_from((*each)->title));
  }
  mend__buffer_char(&names, '.');
  plain_wrap(&text, mend__buffer_text(&names), PLAIN_WIDTH, 0, 0);
  if (!names.failed && !text.failed) fwrite(text.data, 1, text.len, out);
  mend__buffer_free(&names);
  mend__buffer_free(&text);
}

void replay_help(FILE *out) {
  fputs("Usage: mend replay [OPTION]... FILE...\n"
        "       mend replay diff|convert ...\n"
        "\n"
        "Plays recorded agent runs again, on a clock of their own, and tells what went\n"
        "wrong in them: calls that hung, calls that went round in a circle, confidence\n"
        "that fell, budgets that were spent; and what ending the run there would have\n"
        "saved. Nothing is run and nothing is changed.\n"
        "\n"
        "  mend replay session.jsonl                  a report\n"
        "  mend replay ~/.claude/projects             all transcripts in a folder\n"
        "  mend replay --set loop.k=5 session.jsonl   loops only from the sixth call on\n"
        "  mend replay --json runs/*.jsonl | jq .     one JSON object a detection\n"
        "  mend replay --junit out.xml --fail-on loop,stall runs    in CI\n"
        "  mend replay --html out.html runs           a page for a browser\n"
        "  tail -f run.jsonl | mend replay --json -   while it is being written\n"
        "  mend replay diff good.jsonl bad.jsonl      where two runs part\n"
        "  mend replay convert --help                 into other formats\n"
        "\n"
        "FILE is a transcript, a folder (all of it but hidden files; those that end in\n"
        ".json, .jsonl, .ndjson, .traj or .log), a pattern in quotes, or - for standard\n"
        "input. Which kind of transcript a file is, is seen in its first rows:\n",
        out);
  help_formats(out);
  fputs("\n"
        "What is printed:\n"
        "  --json             one JSON object a line for each detection, as it is found\n"
        "  --stats            with --json: the counts of each file, and what would have\n"
        "                     been saved, as JSON on standard error\n"
        "  --quiet            a line for each file with detections, no more\n"
        "  --junit FILE       write JUnit's XML, too: a testcase a run\n"
        "  --html FILE        write a page that shows it all, too: timelines, incidents, with\n"
        "                     --sweep a heat map; it needs no network\n"
        "  --content          show up to 4,096 bytes of arguments and results, not 120\n"
        "\n"
        "How:\n"
        "  --fail-on NAMES    which detections make the exit status 1: loop, stall,\n"
        "                     regression, budget, reasons such as repeat, separated by\n"
        "                     commas; or none. Without it: all\n"
        "  --prices FILE      what models cost, for transcripts that tell tokens only:\n"
        "                     {\"gpt-4.1*\": {\"input_usd_per_mtok\": 2,\n"
        "                     \"output_usd_per_mtok\": 8}}\n"
        "  --sweep SETTINGS   how many incidents other settings would have reported, as a\n"
        "                     table: loop.k=2..6,loop.n=6..20 or stall.timeout_s=30..90:30\n"
        "                     or mode=seed/evidence; up to four options\n"
        "  --jobs N           files that are read at a time (the number of processors)\n"
        "  --mode MODE        evidence weighs what calls answered; seed is Orqest's rules\n"
        "                     to the letter: the same as --set mode=MODE\n"
        "  --set NAME=VALUE   set an option of the watchdogs (below); may be repeated\n"
        "  --config FILE      set them from a JSON object: {\"loop\": {\"k\": 5}}\n"
        "  --help             this text\n"
        "  --version          the version\n"
        "\n"
        "Exit status: 1 something was detected that --fail-on names; 2 nothing could be\n"
        "read, an option was wrong, or the report could not be written; else 0.\n"
        "\n",
        out);
  replay_options_help(out);
}
