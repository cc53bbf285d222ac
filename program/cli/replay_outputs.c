#include "program/cli/replay_outputs.h"

#include "core/memory.h"
#include "core/reason.h"
#include "program/reports/report_html.h"
#include "program/reports/report_kinds.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static mend_status add(replay_plan *plan, report_kind *kind, FILE *out, const char *path) {
  if (kind == NULL) return MEND_ENOMEM;
  plan->outputs[plan->output_count].kind = kind;
  plan->outputs[plan->output_count].path = path;
  plan->outputs[plan->output_count++].out = out;
  return MEND_OK;
}

static mend_status add_main(replay_plan *plan, const replay_arguments *given) {
  if (given->quiet) return add(plan, report_quiet_kind(), stdout, NULL);
  if (!given->json) {
    const bool several = plan->paths->count > 1;
    return add(plan, report_text_kind(cli_wants_colour(stdout), cli_width(stdout), several), stdout, NULL);
  }
  mend_status status = add(plan, report_json_kind(), stdout, NULL);
  if (status == MEND_OK) status = add(plan, report_notes_kind(), stderr, NULL);
  if (status == MEND_OK && given->stats) status = add(plan, report_stats_kind(), stderr, NULL);
  return status;
}

/* ---- Files of their own ------------------------------------------------------------------------------------ */

static bool is_same_file(const struct stat *file, const char *path) {
  struct stat other;
  return stat(path, &other) == 0 && other.st_dev == file->st_dev && other.st_ino == file->st_ino;
}

static bool begins_with(const char *path, mend_str beginning) {
  char text[32];
  FILE *file = fopen(path, "re");
  const size_t got = file != NULL ? fread(text, 1, sizeof text, file) : 0;
  if (file != NULL) fclose(file);
  return got >= beginning.len && memcmp(text, beginning.ptr, beginning.len) == 0;
}

/* A slip of the hand must not cost a recording: what is there is written over only when it is what is written there. */
static int check_target(const replay_plan *plan, const char *path, mend_str beginning) {
  struct stat there;
  if (stat(path, &there) != 0 || !S_ISREG(there.st_mode)) return CLI_FINE;
  for (size_t i = 0; i < plan->paths->count; i++) {
    if (is_same_file(&there, plan->paths->each[i].text))
      return cli_fail("%s: it is to be read, not written over", path);
  }
  for (size_t i = 0; i < plan->output_count; i++) {
    const char *other = plan->outputs[i].path;
    if (other != NULL && is_same_file(&there, other)) return cli_fail("%s: two reports cannot be one file", path);
  }
  if (there.st_size == 0 || begins_with(path, beginning)) return CLI_FINE;
  return cli_fail("%s: it is there and no such report; choose another name, or delete it", path);
}

/* The kind is taken over; `beginning` is how each of its reports begins. */
static int add_file(replay_plan *plan, report_kind *kind, const char *path, mend_str beginning) {
  if (check_target(plan, path, beginning) != CLI_FINE) {
    mend__free(NULL, kind);
    return CLI_FAILED;
  }
  FILE *out = fopen(path, "we");
  const int reason = errno;
  if (out != NULL && add(plan, kind, out, path) == MEND_OK) return CLI_FINE;
  mend__free(NULL, kind);
  if (out == NULL) return cli_fail("%s: %s", path, mend__reason(reason));
  fclose(out);
  return cli_out_of_memory();
}

static int add_page(replay_plan *plan, const replay_arguments *given, const sweep *swept) {
  return add_file(plan, report_html_kind(plan->paths->count, swept, plan->watch), given->html,
                  MEND_STR("<!doctype html>"));
}

int replay_outputs_open(replay_plan *plan, const replay_arguments *given) {
  if (add_main(plan, given) != MEND_OK) return cli_out_of_memory();
  int result = CLI_FINE;
  if (given->junit != NULL) result = add_file(plan, report_junit_kind(), given->junit, MEND_STR("<?xml"));
  if (result == CLI_FINE && given->html != NULL) result = add_page(plan, given, NULL);
  return result;
}

int replay_outputs_open_swept(replay_plan *plan, const replay_arguments *given) {
  return given->html != NULL ? add_page(plan, given, &given->sweep) : CLI_FINE;
}

/* Half a report would be taken for a whole one. */
static int close_file(FILE *out, const char *path) {
  const int reason = errno;
  const bool lost = ferror(out) != 0;
  struct stat about;
  const bool removable = fstat(fileno(out), &about) == 0 && S_ISREG(about.st_mode);
  const bool closed = fclose(out) == 0;
  if (closed && !lost) return CLI_FINE;
  const int result = cli_fail("%s: %s", path, mend__reason(lost ? reason : errno));
  if (removable) unlink(path);
  return result;
}

int replay_outputs_close(replay_plan *plan) {
  int result = CLI_FINE;
  for (size_t i = 0; i < plan->output_count; i++) {
    const char *path = plan->outputs[i].path;
    mend__free(NULL, plan->outputs[i].kind);
    if (path != NULL && close_file(plan->outputs[i].out, path) != CLI_FINE) result = CLI_FAILED;
  }
  return result;
}
