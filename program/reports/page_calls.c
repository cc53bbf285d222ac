#include "program/reports/page_calls.h"

#include "program/base/plain.h"
#include "program/reports/page_record.h"

enum { NAME_BYTES = 200 };

static page_outcome outcome_of(const replay_call *call) {
  if (!call->finished) return PAGE_UNFINISHED;
  switch (call->how) {
  case MEND_EVENT_TOOL_ERROR: return PAGE_ERROR;
  case MEND_EVENT_TOOL_SKIPPED: return PAGE_SKIPPED;
  case MEND_EVENT_TOOL_ABORTED: return PAGE_ABORTED;
  case MEND_EVENT_TOOL_CANCELLED: return PAGE_CANCELLED;
  default: return PAGE_OK;
  }
}

/* ["c", run, start, end, row, end row: so begin calls and blocks. */
static void begin(const page_calls_target *to, char kind, uint64_t row, uint64_t end_row, uint64_t start_ns,
                  uint64_t end_ns) {
  mend__buffer *record = to->records;
  page_record_begin(record);
  mend__buffer_printf(record, "[\"%c\",%llu,", kind, (unsigned long long)to->run);
  mend__buffer_seconds(record, start_ns > to->base_ns ? start_ns - to->base_ns : 0);
  mend__buffer_char(record, ',');
  mend__buffer_seconds(record, end_ns > to->base_ns ? end_ns - to->base_ns : 0);
  mend__buffer_printf(record, ",%llu,%llu,", (unsigned long long)row, (unsigned long long)end_row);
}

void page_calls_write(const page_calls_target *to, const replay_call *call, size_t content_bytes) {
  mend__buffer *record = to->records;
  begin(to, 'c', call->row, call->end_row, call->start_ns, call->end_ns);
  page_text(record, call->tool, NAME_BYTES);
  mend__buffer_printf(record, ",%d,", outcome_of(call));
  page_text(record, call->id, NAME_BYTES);
  mend__buffer_char(record, ',');
  page_text(record, call->args, content_bytes);
  mend__buffer_char(record, ',');
  (call->answer.is_json ? page_json : page_text)(record, call->answer.value, content_bytes);
  mend__buffer_char(record, ']');
}

/* ---- Blocks ------------------------------------------------------------------------------------------------ */

static void write_block(const page_calls_target *to, page_block *block) {
  mend__buffer *record = to->records;
  begin(to, 'b', block->row, block->end_row, block->start_ns, block->end_ns);
  page_text(record, mend_str_from(block->tool), NAME_BYTES);
  for (int i = 0; i < PAGE_OUTCOMES; i++)
    mend__buffer_printf(record, "%s%llu", i > 0 ? "," : ",[", (unsigned long long)block->outcomes[i]);
  mend__buffer_str(record, MEND_STR("]]"));
  block->calls = 0;
  memset(block->outcomes, 0, sizeof block->outcomes);
}

/* The tool's, or a new one; the last is that of all other tools. */
static page_block *block_of(page_blocks *of, mend_str tool) {
  char name[sizeof of->each[0].tool];
  plain_keep(name, sizeof name, tool);
  for (size_t i = 0; i < of->count; i++) {
    if (strcmp(of->each[i].tool, name) == 0) return &of->each[i];
  }
  if (of->count >= PAGE_BLOCK_TOOLS) return &of->each[PAGE_BLOCK_TOOLS];
  page_block *new = &of->each[of->count++];
  memcpy(new->tool, name, sizeof new->tool);
  return new;
}

void page_blocks_add(page_blocks *of, const page_calls_target *to, const replay_call *call, uint64_t size) {
  page_block *block = block_of(of, call->tool);
  if (block->calls == 0) {
    block->row = call->row;
    block->start_ns = call->start_ns;
    block->end_row = block->end_ns = 0;
  }
  block->calls++;
  block->outcomes[outcome_of(call)]++;
  if (call->row < block->row) block->row = call->row; /* they come in the order of their ends */
  if (call->start_ns < block->start_ns) block->start_ns = call->start_ns;
  if (call->end_row > block->end_row) block->end_row = call->end_row;
  if (call->end_ns > block->end_ns) block->end_ns = call->end_ns;
  if (block->calls >= size) write_block(to, block);
}

void page_blocks_finish(page_blocks *of, const page_calls_target *to) {
  for (size_t i = 0; i <= PAGE_BLOCK_TOOLS; i++) {
    if (of->each[i].calls > 0) write_block(to, &of->each[i]);
  }
}
