#include "program/reports/page_sweep.h"

#include "program/reports/page_record.h"

static const size_t NAME_BYTES = 200;

static void write_axis(mend__buffer *record, const sweep_axis *axis) {
  mend__buffer_str(record, MEND_STR("{\"values\":["));
  for (size_t i = 0; i < axis->count; i++) {
    if (i > 0) mend__buffer_char(record, ',');
    page_text(record, axis->values[i], NAME_BYTES);
  }
  mend__buffer_char(record, ']');
  page_add_text(record, "name", axis->name, NAME_BYTES);
  mend__buffer_char(record, '}');
}

/* [incidents, files, "loop repeat 2, stall tool_idle 1"], or null. */
static void write_cell(mend__buffer *record, const sweep_cell *cell) {
  if (cell->left_out) {
    mend__buffer_str(record, MEND_STR("null"));
    return;
  }
  mend__buffer reasons;
  mend__buffer_init(&reasons, NULL);
  tally_write(&reasons, &cell->reasons);
  mend__buffer_printf(record, "[%llu,%llu,", (unsigned long long)cell->incidents, (unsigned long long)cell->files);
  page_plain(record, &reasons);
  mend__buffer_char(record, ']');
  mend__buffer_free(&reasons);
}

void page_sweep_write(mend__buffer *record, const sweep *of, const mend_options *watch) {
  page_record_begin(record);
  mend__buffer_str(record, MEND_STR("{\"t\":\"sweep\",\"axes\":["));
  for (size_t i = 0; i < of->axis_count; i++) {
    if (i > 0) mend__buffer_char(record, ',');
    write_axis(record, &of->axes[i]);
  }
  mend__buffer_str(record, MEND_STR("],\"cells\":["));
  for (size_t i = 0; i < of->cell_count; i++) {
    if (i > 0) mend__buffer_char(record, ',');
    write_cell(record, &of->cells[i]);
  }
  mend__buffer_char(record, ']');
  const size_t current = sweep_find(of, watch);
  if (current < of->cell_count) page_add_count(record, "current", current);
  mend__buffer_char(record, '}');
}
