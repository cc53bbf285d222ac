#include "program/cli/replay_outputs.h"

#include "core/memory.h"
#include "core/reason.h"
#include "program/reports/report_html.h"
#include "program/reports/report_kinds.h"

#include <errno.h>

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

/* A file of its own; the kind is taken over. */
static int add_file(replay_plan *plan, report_kind *kind, const char *path) {
  FILE *out = fopen(path, "we");
  const int reason = errno;
  if (out != NULL && add(plan, kind, out, path) == MEND_OK) return CLI_FINE;
  mend__free(NULL, kind);
  if (out == NULL) return cli_fail("%s: %s", path, mend__reason(reason));
  fclose(out);
  return cli_out_of_memory();
}

static int add_page(replay_plan *plan, const replay_arguments *given, const sweep *swept) {
  return add_file(plan, report_html_kind(plan->paths->count, swept, plan->watch), given->html);
}

int replay_outputs_open(replay_plan *plan, const replay_arguments *given) {
  if (add_main(plan, given) != MEND_OK) return cli_out_of_memory();
  int result = given->junit != NULL ? add_file(plan, report_junit_kind(), given->junit) : CLI_FINE;
  if (result == CLI_FINE && given->html != NULL) result = add_page(plan, given, NULL);
  return result;
}

int replay_outputs_open_swept(replay_plan *plan, const replay_arguments *given) {
  return given->html != NULL ? add_page(plan, given, &given->sweep) : CLI_FINE;
}

int replay_outputs_close(replay_plan *plan) {
  int result = CLI_FINE;
  for (size_t i = 0; i < plan->output_count; i++) {
    FILE *out = plan->outputs[i].out;
    const char *path = plan->outputs[i].path;
    mend__free(NULL, plan->outputs[i].kind);
    if (path == NULL) continue;
    const bool lost = ferror(out) != 0;
    if (fclose(out) != 0 || lost) result = cli_fail("%s: %s", path, mend__reason(errno));
  }
  return result;
}
