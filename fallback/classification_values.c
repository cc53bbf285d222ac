#include "core/memory.h"
#include "core/nearest.h"
#include "core/text.h"
#include "fallback/classification_loader.h"

/* ---- Errors: row, member, place ---- */

mend_status mend__row_expected(const mend__row_loader *loader, const mend__row_member *what, const char *expectation) {
  return mend__refuse_token(
      &loader->json,
      mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: expected %s", loader->number, what->name, expectation),
      loader->error);
}

static mend_status unknown_value(const mend__row_loader *loader, const mend__row_member *what, mend_str value) {
  mend__nearest search = mend__nearest_to(value);
  for (const char *const *each = what->values; *each != NULL; each++)
    mend__nearest_consider(&search, mend_str_from(*each), *each);
  const mend_status status =
      search.answer != NULL
          ? mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: \"%.*s\" is not known; did you mean \"%s\"?",
                           loader->number, what->name, MEND_STR_ARG(value), search.answer)
          : mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: \"%.*s\" is not known", loader->number, what->name,
                           MEND_STR_ARG(value));
  return mend__refuse_token(&loader->json, status, loader->error);
}

/* ---- Texts ---- */

/* The arena has room for all texts of all rows: each is shorter than its JSON. */
mend_str mend__row_keep_text(mend__row_loader *loader) {
  mend_classification *table = loader->table;
  char *place = table->arena + table->arena_used;
  const size_t len = mend_json_unescape(loader->json.slice, place);
  for (size_t i = 0; i < len; i++)
    place[i] = mend__lower(place[i]);
  place[len] = '\0';
  table->arena_used += len + 1;
  return (mend_str){place, len};
}

static mend_status list_text(mend_classification *table, mend_str text, mend__texts_range *range) {
  if (table->text_count == table->text_capacity) {
    const size_t capacity = table->text_capacity == 0 ? 64 : 2 * table->text_capacity;
    mend_str *texts = mend__realloc(table->allocator, table->texts, capacity * sizeof *texts);
    if (texts == NULL) return MEND_ENOMEM;
    table->texts = texts;
    table->text_capacity = capacity;
  }
  if (range->count == 0) range->first = table->text_count;
  table->texts[table->text_count++] = text;
  range->count++;
  return MEND_OK;
}

static bool is_value_of(const mend__row_member *what, mend_str text) {
  if (what->values == NULL) return true;
  for (const char *const *each = what->values; *each != NULL; each++) {
    if (mend_str_equal(text, mend_str_from(*each))) return true;
  }
  return false;
}

static mend_status add_text(mend__row_loader *loader, const mend__row_member *what, mend__texts_range *range) {
  if (loader->json.token != MEND_JSON_STRING)
    return mend__row_expected(loader, what, "a string or an array of strings");
  if (loader->json.slice.len == 0) return mend__row_expected(loader, what, "a string that is not empty");
  const mend_str text = mend__row_keep_text(loader);
  if (!is_value_of(what, text)) return unknown_value(loader, what, text);
  return list_text(loader->table, text, range);
}

/* One value or an array of them, which is not empty. */
static mend_status load_list(mend__row_loader *loader, const mend__row_member *what, void *ctx,
                             mend_status (*add)(mend__row_loader *loader, const mend__row_member *what, void *ctx)) {
  if (mend_json_next(&loader->json) != MEND_JSON_ARRAY) return add(loader, what, ctx);
  size_t count = 0;
  for (; mend_json_next(&loader->json) != MEND_JSON_ARRAY_END; count++) {
    const mend_status status = add(loader, what, ctx);
    if (status != MEND_OK) return status;
  }
  return count > 0 ? MEND_OK : mend__row_expected(loader, what, "at least one element");
}

static mend_status add_listed_text(mend__row_loader *loader, const mend__row_member *what, void *ctx) {
  return add_text(loader, what, ctx);
}

mend_status mend__row_load_text_list(mend__row_loader *loader, const mend__row_member *what, mend__texts_range *range) {
  return load_list(loader, what, range, add_listed_text);
}

mend_status mend__row_load_texts(mend__row_loader *loader, const mend__row_member *what) {
  return mend__row_load_text_list(loader, what, mend__row_field(loader, what));
}

/* ---- Numbers ---- */

#define STATUS_EXPECTED "a status from 100 to 599, or a range such as \"500-599\""

static bool is_status(uint64_t number) { return number >= 100 && number <= 599; }

static bool read_status_range(mend_str text, mend__status_range *ret_range) {
  if (text.len != 7 || text.ptr[3] != '-') return false;
  uint64_t from, to;
  if (mend_json_uint64((mend_str){text.ptr, 3}, &from) != MEND_OK) return false;
  if (mend_json_uint64((mend_str){text.ptr + 4, 3}, &to) != MEND_OK) return false;
  *ret_range = (mend__status_range){(uint32_t)from, (uint32_t)to};
  return is_status(from) && is_status(to) && from <= to;
}

static bool read_status(const mend_json *json, mend__status_range *ret_range) {
  if (json->token == MEND_JSON_STRING) return read_status_range(json->slice, ret_range);
  uint64_t number;
  if (json->token != MEND_JSON_NUMBER || mend_json_uint64(json->slice, &number) != MEND_OK) return false;
  *ret_range = (mend__status_range){(uint32_t)number, (uint32_t)number};
  return is_status(number);
}

static mend_status add_status(mend__row_loader *loader, const mend__row_member *what, void *ctx) {
  (void)ctx;
  mend__row *row = &loader->row;
  if (row->status_count == MEND__ROW_STATUSES) return mend__row_expected(loader, what, "at most 24 statuses");
  if (!read_status(&loader->json, &row->statuses[row->status_count]))
    return mend__row_expected(loader, what, STATUS_EXPECTED);
  row->status_count++;
  return MEND_OK;
}

mend_status mend__row_load_statuses(mend__row_loader *loader, const mend__row_member *what) {
  return load_list(loader, what, NULL, add_status);
}

mend_status mend__row_load_report_status(mend__row_loader *loader, const mend__row_member *what) {
  mend__status_range status = {0, 0};
  if (mend_json_next(&loader->json) != MEND_JSON_NUMBER || !read_status(&loader->json, &status)) {
    return mend__row_expected(loader, what, "a status from 100 to 599");
  }
  loader->row.outcome.report_status = status.from;
  return MEND_OK;
}

/* The token read last. */
static mend_status read_seconds(mend__row_loader *loader, const mend__row_member *what, double *ret_seconds) {
  const double seconds = loader->json.token == MEND_JSON_NUMBER ? mend_json_double(loader->json.slice) : -1;
  if (!(seconds >= 0 && seconds <= MEND__COOL_DOWN_MAX_S))
    return mend__row_expected(loader, what, "seconds from 0 to 604800");
  *ret_seconds = seconds;
  return MEND_OK;
}

mend_status mend__row_load_seconds(mend__row_loader *loader, const mend__row_member *what) {
  mend_json_next(&loader->json);
  return read_seconds(loader, what, mend__row_field(loader, what));
}

/* [first, longest], or one number for both. */
mend_status mend__row_load_cool_down(mend__row_loader *loader, const mend__row_member *what) {
  mend_failure_class *outcome = &loader->row.outcome;
  const bool both = mend_json_next(&loader->json) == MEND_JSON_ARRAY;
  if (both) mend_json_next(&loader->json);
  mend_status status = read_seconds(loader, what, &outcome->cool_down_s);
  outcome->cool_down_max_s = outcome->cool_down_s;
  if (status != MEND_OK || !both) return status;
  mend_json_next(&loader->json);
  status = read_seconds(loader, what, &outcome->cool_down_max_s);
  if (status != MEND_OK) return status;
  if (outcome->cool_down_max_s < outcome->cool_down_s)
    return mend__row_expected(loader, what, "no less than the first");
  return mend_json_next(&loader->json) == MEND_JSON_ARRAY_END ? MEND_OK
                                                              : mend__row_expected(loader, what, "two numbers");
}

/* ---- Flags and choices ---- */

static mend_status read_bool(mend__row_loader *loader, const mend__row_member *what, bool *ret_value) {
  const mend_json_token token = mend_json_next(&loader->json);
  if (token != MEND_JSON_TRUE && token != MEND_JSON_FALSE) return mend__row_expected(loader, what, "true or false");
  *ret_value = token == MEND_JSON_TRUE;
  return MEND_OK;
}

mend_status mend__row_load_wanted(mend__row_loader *loader, const mend__row_member *what) {
  bool value = false;
  const mend_status status = read_bool(loader, what, &value);
  if (status == MEND_OK)
    *(mend__wanted *)mend__row_field(loader, what) = value ? MEND__WANTED_TRUE : MEND__WANTED_FALSE;
  return status;
}

mend_status mend__row_load_flag(mend__row_loader *loader, const mend__row_member *what) {
  return read_bool(loader, what, mend__row_field(loader, what));
}

/* Which of the member's values it is. */
mend_status mend__row_read_choice(mend__row_loader *loader, const mend__row_member *what, size_t *ret_choice) {
  if (mend_json_next(&loader->json) != MEND_JSON_STRING) return mend__row_expected(loader, what, "a string");
  for (size_t i = 0; what->values[i] != NULL; i++) {
    if (!mend_json_is(&loader->json, mend_str_from(what->values[i]))) continue;
    *ret_choice = i;
    return MEND_OK;
  }
  return unknown_value(loader, what, loader->json.slice);
}
