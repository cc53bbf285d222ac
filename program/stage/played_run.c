#include "program/stage/stage_internal.h"

#include "core/memory.h"

/* ---- Pairs ------------------------------------------------------------------------------------------------- */

pair_key pair_of(const mend_tool_before_event *call) {
  return (pair_key){mend_hash_bytes(call->tool_name), call->args_hash};
}

pair_key pair_of_open(const open_call *call) { return (pair_key){mend_hash_bytes(call->tool), call->args_hash}; }

static mend_str key_text(const pair_key *key) { return (mend_str){(const char *)key, sizeof *key}; }

followed_pair *played_run_followed(const played_run *run, const mend_tool_before_event *call) {
  if (run->followed.count == 0) return NULL;
  const pair_key key = pair_of(call);
  return mend__strmap_get(&run->followed, key_text(&key));
}

mend_status played_run_follow(played_run *run, const mend_tool_before_event *call, uint64_t incident) {
  if (played_run_followed(run, call) != NULL) return MEND_OK;
  followed_pair *pair = mend__alloc(NULL, sizeof *pair);
  if (pair == NULL) return MEND_ENOMEM;
  *pair = (followed_pair){pair_of(call), incident};
  const mend_status status = mend__strmap_put(&run->followed, key_text(&pair->key), pair);
  if (status != MEND_OK) mend__free(NULL, pair);
  return status;
}

static void free_followed(played_run *run) {
  size_t position = 0;
  followed_pair *pair;
  while ((pair = mend__strmap_next(&run->followed, &position)) != NULL)
    mend__free(NULL, pair);
  mend__strmap_free(&run->followed);
}

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static void unlink_run(stage *on, played_run *run) {
  if (run->newer != NULL) {
    run->newer->older = run->older;
  } else {
    on->newest = run->older;
  }
  if (run->older != NULL) {
    run->older->newer = run->newer;
  } else {
    on->oldest = run->newer;
  }
}

static void link_newest(stage *on, played_run *run) {
  run->newer = NULL;
  run->older = on->newest;
  if (on->newest != NULL) {
    on->newest->newer = run;
  } else {
    on->oldest = run;
  }
  on->newest = run;
}

static void dispose(stage *on, played_run *run) {
  open_calls_free(&run->calls, &on->spare_calls);
  open_call_drop(&on->spare_calls, run->unnamed);
  run_record_free(&run->record);
  free_followed(run);
  answers_free(&run->answers);
  mend_run_release(run->run);
  mend__free(NULL, run);
}

void played_run_free(stage *on, played_run *run) {
  mend__strmap_remove(&on->runs, mend_run_id(run->run));
  unlink_run(on, run);
  dispose(on, run);
}

static bool has_too_many(const stage *on) {
  return on->runs.count > STAGE_RUNS_MAX || (on->memory.bytes > STAGE_BYTES_MAX && on->oldest != on->newest);
}

/* Never the newest. */
static mend_status forget_oldest(stage *on) {
  mend_status status = MEND_OK;
  while (status == MEND_OK && has_too_many(on)) {
    status = stage_tell_end(on, on->oldest);
    on->counts.runs_forgotten++;
    played_run_free(on, on->oldest);
  }
  return status;
}

static mend_status tell_begin(const stage *on, const played_run *run) {
  const replay_run begun = {.id = mend_run_id(run->run),
                            .parent_id = mend_run_parent_id(run->run),
                            .agent = mend_run_agent(run->run),
                            .first_row = run->record.first_row,
                            .start_ns = run->record.start_ns};
  return reports_run_began(on->settings->reports, &begun);
}

static mend_status make_run(stage *on, const mend_run_options *options, played_run **ret_run, mend_error *error) {
  played_run *run = mend__alloc_zero(NULL, sizeof *run);
  if (run == NULL) return MEND_ENOMEM;
  open_calls_init(&run->calls);
  mend__strmap_init(&run->followed, NULL);
  mend_status status = mend_run_new(on->bus, options, &run->run, error);
  if (status == MEND_OK) status = mend_run_watch(run->run, &run->watch);
  if (status == MEND_OK) status = mend__strmap_put(&on->runs, mend_run_id(run->run), run);
  if (status != MEND_OK) {
    dispose(on, run);
    return status;
  }
  run->record = (run_record){.first_row = on->row, .last_row = on->row, .start_ns = on->now_ns, .end_ns = on->now_ns};
  link_newest(on, run);
  on->counts.runs++;
  *ret_run = run;
  status = forget_oldest(on);
  return status == MEND_OK ? tell_begin(on, run) : status;
}

mend_status stage_run(stage *on, const mend_run_options *options, played_run **ret_run, mend_error *error) {
  mend_run_options wanted = *options;
  if (wanted.id.len == 0) wanted.id = mend_str_from(on->default_run);
  played_run *run = on->newest;
  if (run == NULL || !mend_str_equal(mend_run_id(run->run), wanted.id)) {
    run = mend__strmap_get(&on->runs, wanted.id);
    if (run == NULL) return make_run(on, &wanted, ret_run, error);
    unlink_run(on, run);
    link_newest(on, run);
  }
  *ret_run = run;
  return forget_oldest(on);
}
