#include "program/transcripts/held_rows.h"

#include "core/memory.h"

void held_rows_init(held_rows *rows) {
  *rows = (held_rows){0};
  mend__strmap_init(&rows->by_name, NULL);
}

/* One row is kept for use again: rows come and go one at a time once there are too many. */
static void recycle(held_rows *rows, held_row *row) {
  held_row *surplus = rows->spare;
  rows->spare = row;
  if (surplus == NULL) return;
  mend__buffer_free(&surplus->bytes);
  mend__free(NULL, surplus);
}

static held_row *take_spare(held_rows *rows) {
  held_row *row = rows->spare;
  rows->spare = NULL;
  if (row != NULL) return row;
  row = mend__alloc_zero(NULL, sizeof *row);
  if (row != NULL) mend__buffer_init(&row->bytes, NULL);
  return row;
}

static size_t bytes_of(const held_row *row) { return sizeof *row + row->bytes.capacity; }

static bool write_row(held_row *row, mend_str name, uint64_t number, mend_str text) {
  mend__buffer_clear(&row->bytes);
  mend__buffer_reserve(&row->bytes, name.len + text.len);
  mend__buffer_str(&row->bytes, name);
  mend__buffer_str(&row->bytes, text);
  if (row->bytes.failed) return false;
  row->name = (mend_str){row->bytes.data, name.len};
  row->text = (mend_str){row->bytes.data + name.len, text.len};
  row->number = number;
  return true;
}

/* NULL: as the newest. */
static void link_before(held_rows *rows, held_row *row, held_row *newer) {
  row->newer = newer;
  row->older = newer != NULL ? newer->older : rows->newest;
  if (row->older != NULL) {
    row->older->newer = row;
  } else {
    rows->oldest = row;
  }
  if (newer != NULL) {
    newer->older = row;
  } else {
    rows->newest = row;
  }
}

void held_rows_drop(held_rows *rows, held_row *row) {
  if (row->older != NULL) {
    row->older->newer = row->newer;
  } else {
    rows->oldest = row->newer;
  }
  if (row->newer != NULL) {
    row->newer->older = row->older;
  } else {
    rows->newest = row->older;
  }
  mend__strmap_remove(&rows->by_name, row->name);
  rows->bytes -= bytes_of(row);
  recycle(rows, row);
}

mend_status held_rows_put(held_rows *rows, mend_str name, uint64_t number, mend_str text) {
  held_row *row = take_spare(rows);
  if (row == NULL) return MEND_ENOMEM;
  if (!write_row(row, name, number, text)) {
    recycle(rows, row);
    return MEND_ENOMEM;
  }
  held_row *before = mend__strmap_get(&rows->by_name, name);
  held_row *newer = before != NULL ? before->newer : NULL;
  if (before != NULL) held_rows_drop(rows, before);
  if (mend__strmap_put(&rows->by_name, row->name, row) != MEND_OK) {
    recycle(rows, row);
    return MEND_ENOMEM;
  }
  link_before(rows, row, newer);
  rows->bytes += bytes_of(row);
  return MEND_OK;
}

held_row *held_rows_surplus(const held_rows *rows) { return rows->bytes > HELD_ROWS_BYTES ? rows->oldest : NULL; }

void held_rows_free(held_rows *rows) {
  while (rows->oldest != NULL)
    held_rows_drop(rows, rows->oldest);
  mend__strmap_free(&rows->by_name);
  if (rows->spare == NULL) return;
  mend__buffer_free(&rows->spare->bytes);
  mend__free(NULL, rows->spare);
}
