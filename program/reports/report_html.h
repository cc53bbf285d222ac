/* One page that shows everything, in a browser and without a network: docs/replay.md tells what is on it. */
#ifndef MEND_PROGRAM_REPORTS_REPORT_HTML_H
#define MEND_PROGRAM_REPORTS_REPORT_HTML_H

#include "program/reports/report.h"
#include "program/reports/sweep.h"

/* `files`: how many there are, of which each has its share of the page. `swept` may be NULL; a heat map of it stands on
 * the page, in which the setting is marked that is the same as `watch`. Both must live as long as the kind. */
report_kind *report_html_kind(size_t files, const sweep *swept, const mend_options *watch);

#endif
