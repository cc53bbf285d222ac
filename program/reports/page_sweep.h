/* What a sweep has found, as a record of a page. */
#ifndef MEND_PROGRAM_REPORTS_PAGE_SWEEP_H
#define MEND_PROGRAM_REPORTS_PAGE_SWEEP_H

#include "program/reports/sweep.h"

/* The setting is marked that has the same options as `watch`, if there is one. */
void page_sweep_write(mend__buffer *record, const sweep *of, const mend_options *watch);

#endif
