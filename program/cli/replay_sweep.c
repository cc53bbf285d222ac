#include "program/cli/replay_commands.h"

#include "core/reason.h"
#include "program/base/plain.h"
#include "program/cli/cli.h"

#include <errno.h>

static void write_page(const sweep *of, const replay_plan *plan, bool json, mend__buffer *page) {
  if (json) {
    sweep_write_json(of, page);
  } else {
    sweep_write_tables(of, plan->watch, page);
  }
}

int cli_replay_sweep(sweep *of, const replay_plan *plan, bool json, replay_totals *ret_totals) {
  for (size_t i = 0; i < plan->paths->count; i++) {
    if (strcmp(plan->paths->each[i].text, "-") == 0) {
      return cli_fail("--sweep reads its files many times, which standard input does not allow");
    }
  }
  sweep_files files;
  mend__buffer page;
  sweep_files_init(&files);
  mend__buffer_init(&page, NULL);
  mend_status status = sweep_run(of, plan, &files, ret_totals);
  if (status == MEND_OK) {
    write_page(of, plan, json, &page);
    if (!json) sweep_files_write(&files, ret_totals, &page);
    status = plain_write(&page, stdout);
  }
  mend__buffer_free(&page);
  sweep_files_free(&files);
  if (status == MEND_EIO) return cli_fail("/dev/null: %s", mend__reason(errno));
  return status == MEND_OK ? CLI_FINE : status == MEND_ENOMEM ? cli_out_of_memory() : CLI_FAILED;
}
