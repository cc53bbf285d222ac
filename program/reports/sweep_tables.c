/* What a sweep has found, as tables and as JSON. */
#include "program/reports/sweep.h"

#include "core/options_json.h"
#include "program/base/plain.h"

#include <stdio.h>

bool sweep_varies(const sweep *of, mend_str name) {
  bool found = false;
  for (size_t i = 0; i < of->axis_count; i++)
    found |= mend_str_equal(of->axes[i].name, name);
  return found;
}

size_t sweep_index(const sweep *of, size_t setting, size_t axis) {
  for (size_t i = of->axis_count - 1; i > axis; i--)
    setting /= of->axes[i].count;
  return setting % of->axes[axis].count;
}

mend_status sweep_options(const sweep *of, size_t setting, const mend_options *base, mend_option_tree **ret_tree,
                          mend_error *error) {
  mend_option_tree *tree = NULL;
  mend__buffer json;
  mend__buffer_init(&json, NULL);
  mend__options_write(&json, base);
  mend_status status = json.failed ? MEND_ENOMEM : mend_option_tree_new(NULL, &tree);
  if (status == MEND_OK) status = mend_option_tree_load(tree, mend__buffer_text(&json), error);
  for (size_t i = 0; i < of->axis_count && status == MEND_OK; i++) {
    const sweep_axis *axis = &of->axes[i];
    status = mend_option_tree_set(tree, axis->name, axis->values[sweep_index(of, setting, i)], error);
  }
  if (status == MEND_OK) status = mend_option_tree_check(tree, error);
  mend__buffer_free(&json);
  if (status == MEND_OK) {
    *ret_tree = tree;
  } else {
    mend_option_tree_free(tree);
  }
  return status;
}

static bool same_options(const mend_options *a, const mend_options *b) {
  mend__buffer a_text, b_text;
  mend__buffer_init(&a_text, NULL);
  mend__buffer_init(&b_text, NULL);
  mend__options_write(&a_text, a);
  mend__options_write(&b_text, b);
  const bool same = !a_text.failed && mend_str_equal(mend__buffer_text(&a_text), mend__buffer_text(&b_text));
  mend__buffer_free(&a_text);
  mend__buffer_free(&b_text);
  return same;
}

size_t sweep_find(const sweep *of, const mend_options *watch) {
  for (size_t i = 0; i < of->cell_count; i++) {
    mend_option_tree *tree = NULL;
    if (of->cells[i].left_out || sweep_options(of, i, watch, &tree, NULL) != MEND_OK) continue;
    const bool same = same_options(mend_option_tree_get(tree), watch);
    mend_option_tree_free(tree);
    if (same) return i;
  }
  return of->cell_count;
}

/* ---- Tables ---- */

static size_t widest(const sweep_axis *axis) {
  size_t width = 0;
  for (size_t i = 0; i < axis->count; i++)
    width = axis->values[i].len > width ? axis->values[i].len : width;
  return width;
}

static void write_cell(mend__buffer *page, const sweep_cell *cell, bool in_use, size_t width) {
  char text[24] = "-";
  if (!cell->left_out) snprintf(text, sizeof text, "%s%llu", in_use ? "*" : "", (unsigned long long)cell->incidents);
  mend__buffer_printf(page, " %*s", (int)width + 1, text);
}

static const char ONLY_COLUMN[] = "incidents";

static size_t cell_width(const sweep *of, const sweep_axis *columns) {
  size_t width = columns != NULL ? widest(columns) : strlen(ONLY_COLUMN);
  for (size_t i = 0; i < of->cell_count; i++) {
    const size_t len = (size_t)snprintf(NULL, 0, "%llu", (unsigned long long)of->cells[i].incidents);
    width = len > width ? len : width;
  }
  return width;
}

/* "loop.k\loop.n", or the one axis. */
static size_t write_corner(mend__buffer *page, const sweep_axis *rows, const sweep_axis *columns) {
  const size_t begin = page->len;
  mend__buffer_str(page, rows->name);
  if (columns != NULL) mend__buffer_printf(page, " \\ %.*s", MEND_STR_ARG(columns->name));
  const size_t len = page->len - begin, width = widest(rows);
  if (len < width) mend__buffer_printf(page, "%*s", (int)(width - len), "");
  return len < width ? width : len;
}

/* `first` is the first setting of the table; its rows follow each other. */
static void write_table(const sweep *of, mend__buffer *page, size_t first, size_t in_use) {
  const bool is_list = of->axis_count == 1;
  const sweep_axis *rows = &of->axes[of->axis_count - (is_list ? 1 : 2)];
  const sweep_axis *columns = is_list ? NULL : rows + 1;
  const size_t column_count = is_list ? 1 : columns->count, width = cell_width(of, columns);
  const size_t corner = write_corner(page, rows, columns);
  for (size_t j = 0; j < column_count; j++) {
    const mend_str title = is_list ? mend_str_from(ONLY_COLUMN) : columns->values[j];
    mend__buffer_printf(page, "  %*.*s", (int)width, MEND_STR_ARG(title));
  }
  mend__buffer_char(page, '\n');
  for (size_t i = 0; i < rows->count; i++) {
    mend__buffer_printf(page, "%-*.*s", (int)corner, MEND_STR_ARG(rows->values[i]));
    for (size_t j = 0; j < column_count; j++)
      write_cell(page, &of->cells[first + i * column_count + j], first + i * column_count + j == in_use, width);
    mend__buffer_char(page, '\n');
  }
}

static void write_others(const sweep *of, mend__buffer *page, size_t first) {
  for (size_t i = 0; i + 2 < of->axis_count; i++) {
    const sweep_axis *axis = &of->axes[i];
    mend__buffer_printf(page, "%s%.*s=%.*s", i > 0 ? " " : "", MEND_STR_ARG(axis->name),
                        MEND_STR_ARG(axis->values[sweep_index(of, first, i)]));
  }
  if (of->axis_count > 2) mend__buffer_char(page, '\n');
}

/* "The setting in use: loop.k=3, loop.n=6 (4 incidents in 2 files)" */
static void write_setting_in_use(const sweep *of, mend__buffer *page, size_t in_use) {
  if (in_use == of->cell_count) {
    mend__buffer_str(page, MEND_STR("\nThe setting in use is none of these.\n"));
    return;
  }
  mend__buffer_str(page, MEND_STR("\nThe setting in use: "));
  for (size_t i = 0; i < of->axis_count; i++) {
    const sweep_axis *axis = &of->axes[i];
    mend__buffer_printf(page, "%s%.*s=%.*s", i > 0 ? ", " : "", MEND_STR_ARG(axis->name),
                        MEND_STR_ARG(axis->values[sweep_index(of, in_use, i)]));
  }
  mend__buffer_str(page, MEND_STR(" ("));
  plain_count(page, of->cells[in_use].incidents, "incident");
  mend__buffer_str(page, MEND_STR(" in "));
  plain_count(page, of->cells[in_use].files, "file");
  mend__buffer_str(page, MEND_STR(")\n"));
}

void sweep_write_tables(const sweep *of, const mend_options *watch, mend__buffer *page) {
  const size_t in_use = sweep_find(of, watch);
  size_t settings = of->axes[of->axis_count - 1].count;
  if (of->axis_count > 1) settings *= of->axes[of->axis_count - 2].count;
  mend__buffer_printf(page, "Incidents by setting (-: the options contradict each other%s)\n",
                      in_use < of->cell_count ? "; *: in use" : "");
  for (size_t first = 0; first < of->cell_count; first += settings) {
    mend__buffer_char(page, '\n');
    write_others(of, page, first);
    write_table(of, page, first, in_use);
  }
  write_setting_in_use(of, page, in_use);
}

/* ---- JSON ---- */

static void write_setting(const sweep *of, mend__buffer *page, size_t setting) {
  mend__buffer_str(page, MEND_STR("{\"set\":{"));
  for (size_t i = 0; i < of->axis_count; i++) {
    const mend_str value = of->axes[i].values[sweep_index(of, setting, i)];
    if (i > 0) mend__buffer_char(page, ',');
    mend__buffer_json_string(page, of->axes[i].name);
    mend__buffer_char(page, ':');
    if (mend_json_check(value, MEND_JSON_DEPTH, NULL) == MEND_OK) {
      mend__buffer_str(page, value);
    } else {
      mend__buffer_json_string(page, value);
    }
  }
  mend__buffer_char(page, '}');
}

static void write_reasons(mend__buffer *page, const tally *of) {
  mend__buffer_str(page, MEND_STR(",\"reasons\":{"));
  for (size_t i = 0; i < of->len; i++) {
    if (i > 0) mend__buffer_char(page, ',');
    mend__buffer_json_string(page, mend_str_from(of->names[i].name));
    mend__buffer_printf(page, ":%llu", (unsigned long long)of->names[i].count);
  }
  mend__buffer_char(page, '}');
}

void sweep_write_json(const sweep *of, mend__buffer *page) {
  for (size_t i = 0; i < of->cell_count; i++) {
    const sweep_cell *cell = &of->cells[i];
    write_setting(of, page, i);
    if (cell->left_out) {
      mend__buffer_str(page, MEND_STR(",\"incidents\":null"));
    } else {
      mend__buffer_printf(page, ",\"incidents\":%llu,\"files\":%llu", (unsigned long long)cell->incidents,
                          (unsigned long long)cell->files);
      write_reasons(page, &cell->reasons);
    }
    mend__buffer_str(page, MEND_STR("}\n"));
  }
}
