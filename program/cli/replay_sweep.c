#include "program/cli/replay_commands.h"

#include "program/base/plain.h"
#include "program/cli/cli.h"

int cli_replay_sweep(sweep *of, const replay_plan *plan, bool json, replay_totals *ret_totals) {
  for (size_t i = 0; i < plan->paths->count; i++) {
    if (strcmp(plan->paths->each[i].text, "-") == 0) {
      return cli_fail("--sweep reads its files many times, which standard input does not allow");
    }
  }
  const mend_status status = sweep_run(of, plan, ret_totals);
  if (status != MEND_OK) return status == MEND_ENOMEM ? cli_out_of_memory() : CLI_FAILED;
  mend__buffer page;
  mend__buffer_init(&page, NULL);
  if (json) {
    sweep_write_json(of, &page);
  } else {
    sweep_write_tables(of, plan->watch, &page);
  }
  const mend_status written = plain_write(&page, stdout);
  mend__buffer_free(&page);
  return written == MEND_OK ? CLI_FINE : written == MEND_ENOMEM ? cli_out_of_memory() : CLI_FAILED;
}
