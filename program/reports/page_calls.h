/* The calls of a run as its page draws them: one by one, and those beyond a limit several of a tool as one block. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_CALLS_H
#define MEND_PROGRAM_REPORTS_PAGE_CALLS_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* So many tools have blocks of their own; those of others are together. */
enum { PAGE_BLOCK_TOOLS = 32 };

typedef enum page_outcome {
  PAGE_OK,
  PAGE_ERROR,
  PAGE_SKIPPED,
  PAGE_ABORTED,
  PAGE_CANCELLED,
  PAGE_UNFINISHED,
  PAGE_OUTCOMES
} page_outcome;

typedef struct page_block {
  char tool[64]; /* "" for those of other tools */
  uint64_t calls, outcomes[PAGE_OUTCOMES];
  uint64_t row, end_row, start_ns, end_ns;
} page_block;

typedef struct page_blocks {
  page_block each[PAGE_BLOCK_TOOLS + 1];
  size_t count;
} page_blocks;

/* Where records of calls are appended, and what they have in common. */
typedef struct page_calls_target {
  mend__buffer *records;
  uint64_t run;     /* its number */
  uint64_t base_ns; /* times count from here */
} page_calls_target;

/* Arguments and answer are cut at content_bytes. */
void page_calls_write(const page_calls_target *to, const replay_call *call, size_t content_bytes);
/* Adds the call to its tool's block, which is written when it holds `size` calls. */
void page_blocks_add(page_blocks *of, const page_calls_target *to, const replay_call *call, uint64_t size);
/* Writes those that hold calls. */
void page_blocks_finish(page_blocks *of, const page_calls_target *to);

#endif
