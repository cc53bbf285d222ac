/* Detections and how they went on, as records of a page. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_FINDING_H
#define MEND_PROGRAM_REPORTS_PAGE_FINDING_H

#include "core/buffer.h"
#include "program/reports/facts.h"

/* Where a detection was made. */
typedef struct page_place {
  const replay_file *file;
  uint64_t run;     /* its number */
  uint64_t base_ns; /* times count from here */
} page_place;

/* Of an incident that was told of before, only when it came again. */
void page_finding_write(mend__buffer *records, const page_place *at, const replay_detection *found);
void page_ending_write(mend__buffer *records, uint64_t incident, const replay_ending *ending);

/* What came of an incident. */
typedef struct page_aftermath {
  uint64_t again, last_row;
  uint64_t repeated, last_repeated; /* equal calls after a loop */
} page_aftermath;
void page_aftermath_write(mend__buffer *records, uint64_t incident, const page_aftermath *after);

#endif
