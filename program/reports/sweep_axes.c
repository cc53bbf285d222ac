/* What --sweep is given, as axes with their values. */
#include "program/reports/sweep.h"

#include "core/memory.h"
#include "core/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const char EXPECTED[] = "expected NAME=LOW..HIGH, NAME=LOW..HIGH:STEP or NAME=VALUE/VALUE, such as loop.k=2..6";

/* Cuts the text before `end` off the front of *rest, all of it when there is no `end`. */
static mend_str cut(mend_str *rest, const char *end) {
  const size_t end_len = strlen(end);
  for (size_t at = 0; at + end_len <= rest->len; at++) {
    if (memcmp(rest->ptr + at, end, end_len) != 0) continue;
    const mend_str part = {rest->ptr, at};
    *rest = (mend_str){rest->ptr + at + end_len, rest->len - at - end_len};
    return part;
  }
  const mend_str part = *rest;
  *rest = (mend_str){NULL, 0};
  return part;
}

static mend_status refuse(mend_str part, const char *why, mend_error *error) {
  return mend_error_set(error, MEND_EINVAL, "%.*s: %s; %s", MEND_STR_ARG(part), why, EXPECTED);
}

/* ---- Values ---- */

static mend_status add_value(sweep *of, sweep_axis *axis, mend_str value) {
  if (axis->count == SWEEP_VALUES_MAX) return MEND_ELIMIT;
  mend_str *values = mend__realloc(NULL, axis->values, (axis->count + 1) * sizeof *values);
  if (values == NULL) return MEND_ENOMEM;
  axis->values = values;
  /* Of the texts only the place is known while they may still move. */
  values[axis->count++] = (mend_str){(const char *)(uintptr_t)of->texts.len, value.len};
  mend__buffer_str(&of->texts, value);
  return of->texts.failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status add_list(sweep *of, sweep_axis *axis, mend_str part, mend_str values, mend_error *error) {
  while (values.ptr != NULL) {
    const mend_str value = cut(&values, "/");
    if (value.len == 0) return refuse(part, "a value is empty", error);
    const mend_status status = add_value(of, axis, value);
    if (status == MEND_ELIMIT) return refuse(part, "too many values", error);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

/* A number all of the text; NaN for what is none. */
static double number_of(mend_str text) {
  mend_json json;
  mend_json_init(&json, text, 1);
  if (mend_json_next(&json) != MEND_JSON_NUMBER || json.slice.len != text.len) return NAN;
  return mend_json_double(json.slice);
}

static mend_status add_range(sweep *of, sweep_axis *axis, mend_str part, mend_str range, mend_error *error) {
  mend_str rest = range;
  const double low = number_of(cut(&rest, ".."));
  const double high = number_of(cut(&rest, ":"));
  const double step = rest.ptr != NULL ? number_of(rest) : 1;
  if (!isfinite(low) || !isfinite(high)) return refuse(part, "a bound is no number", error);
  if (!isfinite(step) || step <= 0) return refuse(part, "the step is no number above 0", error);
  if (high < low) return refuse(part, "the range runs backwards", error);
  const double steps = floor((high - low) / step + 1e-9);
  if (steps >= SWEEP_VALUES_MAX) return refuse(part, "too many values", error);
  for (int i = 0; i <= (int)steps; i++) {
    char value[32];
    snprintf(value, sizeof value, "%.12g", low + i * step);
    const mend_status status = add_value(of, axis, mend_str_from(value));
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

static bool is_range(mend_str values) {
  mend_str rest = values;
  return isfinite(number_of(cut(&rest, ".."))) && rest.ptr != NULL;
}

/* ---- Axes ---- */

/* Each value must be one of the option's, by itself. */
static mend_status check_values(const sweep_axis *axis, mend_error *error) {
  mend_option_tree *tree;
  mend_status status = mend_option_tree_new(NULL, &tree);
  if (status != MEND_OK) return status;
  for (size_t i = 0; i < axis->count && status == MEND_OK; i++)
    status = mend_option_tree_set(tree, axis->name, axis->values[i], error);
  mend_option_tree_free(tree);
  return status;
}

static mend_status add_axis(sweep *of, mend_str part, mend_error *error) {
  mend_str values = part;
  const mend_str name = mend__trim(cut(&values, "="));
  if (values.ptr == NULL || values.len == 0) return refuse(part, "no values are given", error);
  if (name.len == 0) return refuse(part, "no option is given", error);
  if (of->axis_count == SWEEP_AXES_MAX) return refuse(part, "more than four options", error);
  sweep_axis *axis = &of->axes[of->axis_count++];
  axis->name = (mend_str){(const char *)(uintptr_t)of->texts.len, name.len};
  mend__buffer_str(&of->texts, name);
  values = mend__trim(values);
  return is_range(values) ? add_range(of, axis, part, values, error) : add_list(of, axis, part, values, error);
}

static void find_text(const sweep *of, mend_str *place) {
  *place = (mend_str){of->texts.data + (uintptr_t)place->ptr, place->len};
}

static mend_status check_axes(sweep *of, mend_error *error) {
  of->cell_count = 1;
  for (size_t i = 0; i < of->axis_count; i++) {
    sweep_axis *axis = &of->axes[i];
    find_text(of, &axis->name);
    for (size_t j = 0; j < axis->count; j++)
      find_text(of, &axis->values[j]);
    for (size_t j = 0; j < i; j++) {
      if (mend_str_equal(of->axes[j].name, axis->name)) return refuse(axis->name, "it is given twice", error);
    }
    of->cell_count *= axis->count;
    const mend_status status = check_values(axis, error);
    if (status != MEND_OK) return status;
    if (of->cell_count > SWEEP_SETTINGS_MAX) {
      return mend_error_set(error, MEND_ELIMIT, "more than %d settings; a larger step makes fewer",
                            (int)SWEEP_SETTINGS_MAX);
    }
  }
  return MEND_OK;
}

mend_status sweep_parse(sweep *of, const char *text, mend_error *error) {
  *of = (sweep){.axis_count = 0};
  mend__buffer_init(&of->texts, NULL);
  mend_str rest = mend_str_from(text);
  if (rest.len == 0) return refuse(MEND_STR("\"\""), "nothing is given", error);
  mend_status status = MEND_OK;
  while (rest.ptr != NULL && status == MEND_OK)
    status = add_axis(of, cut(&rest, ","), error);
  if (status == MEND_OK && of->texts.failed) status = MEND_ENOMEM;
  if (status == MEND_OK) status = check_axes(of, error);
  if (status == MEND_OK) {
    of->cells = mend__alloc_zero(NULL, of->cell_count * sizeof *of->cells);
    if (of->cells == NULL) status = MEND_ENOMEM;
  }
  return status == MEND_ENOMEM ? mend_error_set(error, MEND_ENOMEM, "out of memory") : status;
}

void sweep_free(sweep *of) {
  for (size_t i = 0; i < of->axis_count; i++)
    mend__free(NULL, of->axes[i].values);
  mend__free(NULL, of->cells);
  mend__buffer_free(&of->texts);
  *of = (sweep){.axis_count = 0};
}
