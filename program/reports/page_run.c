#include "program/reports/page_run.h"

#include "core/memory.h"
#include "program/reports/headline.h"
#include "program/reports/page_record.h"

enum { NAME_BYTES = 200, TEXT_BYTES = 4096 };

/* ---- Who there is ------------------------------------------------------------------------------------------ */

void page_runs_init(page_runs *of) {
  *of = (page_runs){.count = 0};
  mend__strmap_init(&of->by_id, NULL);
}

void page_run_free(page_run *run) {
  if (run == NULL) return;
  mend__free(NULL, run->blocks);
  mend__free(NULL, run);
}

void page_runs_free(page_runs *of) {
  size_t position = 0;
  page_run *run;
  while ((run = mend__strmap_next(&of->by_id, &position)) != NULL)
    page_run_free(run);
  mend__strmap_free(&of->by_id);
}

page_run *page_runs_add(page_runs *of, mend_str id) {
  page_run *run = mend__alloc_zero(NULL, sizeof *run + id.len);
  if (run == NULL) return NULL;
  memcpy(run->id, id.ptr, id.len);
  if (mend__strmap_put(&of->by_id, (mend_str){run->id, id.len}, run) != MEND_OK) {
    page_run_free(run);
    return NULL;
  }
  run->number = of->count++;
  return run;
}

page_run *page_runs_find(const page_runs *of, mend_str id) { return mend__strmap_get(&of->by_id, id); }

page_run *page_runs_take(page_runs *of, mend_str id) { return mend__strmap_remove(&of->by_id, id); }

/* ---- What is told of them ---------------------------------------------------------------------------------- */

void page_run_show(page_runs *of, page_run *run, mend__buffer *record) {
  run->shown = true;
  of->shown++;
  page_record_begin(record);
  mend__buffer_printf(record, "{\"t\":\"run\",\"n\":%llu}", (unsigned long long)run->number);
}

static uint64_t since(uint64_t base_ns, uint64_t ns) { return ns > base_ns ? ns - base_ns : 0; }

static void add_stop(mend__buffer *record, const replay_run *run, uint64_t base_ns) {
  if (run->stop.row == 0) return;
  mend__buffer_printf(record, ",\"stop\":{\"row\":%llu", (unsigned long long)run->stop.row);
  page_add_seconds(record, "at", since(base_ns, run->stop.at_ns));
  mend__buffer_char(record, '}');
}

void page_run_write_end(const page_run *of, const replay_run *run, uint64_t base_ns, mend__buffer *record) {
  mend__buffer headline;
  mend__buffer_init(&headline, NULL);
  headline_write(&headline, run);
  page_record_begin(record);
  mend__buffer_str(record, MEND_STR("{\"t\":\"ended\""));
  page_add_count(record, "n", of->number);
  page_add_text(record, "id", run->id, TEXT_BYTES);
  page_add_text(record, "parent", run->parent_id, TEXT_BYTES);
  page_add_text(record, "agent", run->agent, NAME_BYTES);
  page_add_plain(record, "headline", &headline);
  page_add_count(record, "row", run->first_row);
  page_add_count(record, "endRow", run->last_row);
  page_add_seconds(record, "start", since(base_ns, run->start_ns));
  page_add_seconds(record, "end", since(base_ns, run->end_ns));
  page_add_count(record, "results", run->results);
  page_add_count(record, "unfinished", run->unfinished);
  page_add_count(record, "detections", run->detections);
  page_add_count(record, "incidents", run->incidents);
  page_add_use(record, "used", &run->used);
  page_add_use(record, "saved", &run->saved);
  add_stop(record, run, base_ns);
  mend__buffer_char(record, '}');
  mend__buffer_free(&headline);
}
