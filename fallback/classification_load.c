#include "core/memory.h"
#include "core/nearest.h"
#include "core/text.h"
#include "fallback/classification_internal.h"
#include "mend/json.h"

typedef struct row_loader {
  mend_classification *table;
  mend_json json;
  mend__row row;
  unsigned number; /* of the row, from 1 */
  uint32_t given;  /* bits of the members that were there */
  bool counts_given;
  mend_error *error;
} row_loader;

typedef struct member member;
struct member {
  const char *name;
  mend_status (*load)(row_loader *loader, const member *what);
  size_t offset;             /* of what it sets in a row */
  const char *const *values; /* it may have, ends with NULL; NULL: any */
};

/* ---- Errors: row, member, place ---- */

static mend_status place_error(const row_loader *loader, const char *place, mend_status status) {
  const char *text = loader->json.text.ptr;
  mend__error_place(loader->error, (mend_str){text, (size_t)(place - text)});
  return status;
}

/* Where the token begins that was read last. */
static const char *token_place(const row_loader *loader) {
  const mend_json *json = &loader->json;
  const bool quoted = json->token == MEND_JSON_STRING || json->token == MEND_JSON_KEY;
  return json->slice.ptr != NULL ? json->slice.ptr - quoted : json->text.ptr;
}

static mend_status expected(const row_loader *loader, const member *what, const char *expectation) {
  return place_error(
      loader, token_place(loader),
      mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: expected %s", loader->number, what->name, expectation));
}

static mend_status unknown_value(const row_loader *loader, const member *what, mend_str value) {
  mend__nearest search = mend__nearest_to(value);
  for (const char *const *each = what->values; *each != NULL; each++)
    mend__nearest_consider(&search, mend_str_from(*each), *each);
  const mend_status status =
      search.answer != NULL
          ? mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: \"%.*s\" is not known; did you mean \"%s\"?",
                           loader->number, what->name, MEND_STR_ARG(value), search.answer)
          : mend_error_set(loader->error, MEND_EINVAL, "row %u, %s: \"%.*s\" is not known", loader->number, what->name,
                           MEND_STR_ARG(value));
  return place_error(loader, token_place(loader), status);
}

/* ---- Texts ---- */

/* The arena has room for all texts of all rows: each is shorter than its JSON. */
static mend_str keep_text(row_loader *loader) {
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

static bool is_value_of(const member *what, mend_str text) {
  if (what->values == NULL) return true;
  for (const char *const *each = what->values; *each != NULL; each++) {
    if (mend_str_equal(text, mend_str_from(*each))) return true;
  }
  return false;
}

static mend_status add_text(row_loader *loader, const member *what, mend__texts_range *range) {
  if (loader->json.token != MEND_JSON_STRING) return expected(loader, what, "a string or an array of strings");
  if (loader->json.slice.len == 0) return expected(loader, what, "a string that is not empty");
  const mend_str text = keep_text(loader);
  if (!is_value_of(what, text)) return unknown_value(loader, what, text);
  return list_text(loader->table, text, range);
}

/* One value or an array of them, which is not empty. */
static mend_status load_list(row_loader *loader, const member *what, void *ctx,
                             mend_status (*add)(row_loader *loader, const member *what, void *ctx)) {
  if (mend_json_next(&loader->json) != MEND_JSON_ARRAY) return add(loader, what, ctx);
  size_t count = 0;
  for (; mend_json_next(&loader->json) != MEND_JSON_ARRAY_END; count++) {
    const mend_status status = add(loader, what, ctx);
    if (status != MEND_OK) return status;
  }
  return count > 0 ? MEND_OK : expected(loader, what, "at least one element");
}

static mend_status add_listed_text(row_loader *loader, const member *what, void *ctx) {
  return add_text(loader, what, ctx);
}

static void *field_of(row_loader *loader, const member *what) { return (char *)&loader->row + what->offset; }

static mend_status load_texts(row_loader *loader, const member *what) {
  return load_list(loader, what, field_of(loader, what), add_listed_text);
}

static mend_status load_name(row_loader *loader, const member *what) {
  if (mend_json_next(&loader->json) != MEND_JSON_STRING) return expected(loader, what, "a string");
  const mend_str name = keep_text(loader);
  bool plain = name.len > 0 && name.len <= 64;
  for (size_t i = 0; i < name.len && plain; i++)
    plain = (name.ptr[i] >= 'a' && name.ptr[i] <= 'z') || mend__is_digit(name.ptr[i]) || name.ptr[i] == '_';
  if (!plain) return expected(loader, what, "1 to 64 letters, digits and underscores");
  loader->row.outcome.name = name.ptr;
  return MEND_OK;
}

/* ---- The body's JSON ---- */

static mend_status load_path(row_loader *loader, const member *what) {
  mend__row *row = &loader->row;
  if (row->path_count == MEND__ROW_PATHS) return expected(loader, what, "at most 4 paths");
  if (loader->json.slice.len == 0) return expected(loader, what, "a path such as \"error.code\"");
  mend__row_path *path = &row->paths[row->path_count++];
  path->path = keep_text(loader);
  return load_list(loader, what, &path->values, add_listed_text);
}

static mend_status load_paths(row_loader *loader, const member *what) {
  if (mend_json_next(&loader->json) != MEND_JSON_OBJECT) return expected(loader, what, "an object of values by path");
  while (mend_json_next(&loader->json) == MEND_JSON_KEY) {
    const mend_status status = load_path(loader, what);
    if (status != MEND_OK) return status;
  }
  return loader->row.path_count > 0 ? MEND_OK : expected(loader, what, "at least one path");
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

static mend_status add_status(row_loader *loader, const member *what, void *ctx) {
  (void)ctx;
  mend__row *row = &loader->row;
  if (row->status_count == MEND__ROW_STATUSES) return expected(loader, what, "at most 24 statuses");
  if (!read_status(&loader->json, &row->statuses[row->status_count])) return expected(loader, what, STATUS_EXPECTED);
  row->status_count++;
  return MEND_OK;
}

static mend_status load_statuses(row_loader *loader, const member *what) {
  return load_list(loader, what, NULL, add_status);
}

static mend_status load_report_status(row_loader *loader, const member *what) {
  mend__status_range status = {0, 0};
  if (mend_json_next(&loader->json) != MEND_JSON_NUMBER || !read_status(&loader->json, &status)) {
    return expected(loader, what, "a status from 100 to 599");
  }
  loader->row.outcome.report_status = status.from;
  return MEND_OK;
}

/* The token read last. */
static mend_status read_seconds(row_loader *loader, const member *what, double *ret_seconds) {
  const double seconds = loader->json.token == MEND_JSON_NUMBER ? mend_json_double(loader->json.slice) : -1;
  if (!(seconds >= 0 && seconds <= MEND__COOL_DOWN_MAX_S)) return expected(loader, what, "seconds from 0 to 604800");
  *ret_seconds = seconds;
  return MEND_OK;
}

static mend_status load_seconds(row_loader *loader, const member *what) {
  mend_json_next(&loader->json);
  return read_seconds(loader, what, field_of(loader, what));
}

/* [first, longest], or one number for both. */
static mend_status load_cool_down(row_loader *loader, const member *what) {
  mend_failure_class *outcome = &loader->row.outcome;
  const bool both = mend_json_next(&loader->json) == MEND_JSON_ARRAY;
  if (both) mend_json_next(&loader->json);
  mend_status status = read_seconds(loader, what, &outcome->cool_down_s);
  outcome->cool_down_max_s = outcome->cool_down_s;
  if (status != MEND_OK || !both) return status;
  mend_json_next(&loader->json);
  status = read_seconds(loader, what, &outcome->cool_down_max_s);
  if (status != MEND_OK) return status;
  if (outcome->cool_down_max_s < outcome->cool_down_s) return expected(loader, what, "no less than the first");
  return mend_json_next(&loader->json) == MEND_JSON_ARRAY_END ? MEND_OK : expected(loader, what, "two numbers");
}

/* ---- Flags and choices ---- */

static mend_status read_bool(row_loader *loader, const member *what, bool *ret_value) {
  const mend_json_token token = mend_json_next(&loader->json);
  if (token != MEND_JSON_TRUE && token != MEND_JSON_FALSE) return expected(loader, what, "true or false");
  *ret_value = token == MEND_JSON_TRUE;
  return MEND_OK;
}

static mend_status load_wanted(row_loader *loader, const member *what) {
  bool value = false;
  const mend_status status = read_bool(loader, what, &value);
  if (status == MEND_OK) *(mend__wanted *)field_of(loader, what) = value ? MEND__WANTED_TRUE : MEND__WANTED_FALSE;
  return status;
}

static mend_status load_bool(row_loader *loader, const member *what) {
  return read_bool(loader, what, field_of(loader, what));
}

static mend_status load_counts(row_loader *loader, const member *what) {
  loader->counts_given = true;
  return load_bool(loader, what);
}

/* Which of the member's values it is. */
static mend_status read_choice(row_loader *loader, const member *what, size_t *ret_choice) {
  if (mend_json_next(&loader->json) != MEND_JSON_STRING) return expected(loader, what, "a string");
  for (size_t i = 0; what->values[i] != NULL; i++) {
    if (!mend_json_is(&loader->json, mend_str_from(what->values[i]))) continue;
    *ret_choice = i;
    return MEND_OK;
  }
  return unknown_value(loader, what, loader->json.slice);
}

static mend_status load_action(row_loader *loader, const member *what) {
  size_t choice = 0;
  const mend_status status = read_choice(loader, what, &choice);
  if (status == MEND_OK) *(mend_failure_action *)field_of(loader, what) = (mend_failure_action)choice;
  return status;
}

static mend_status load_remedy(row_loader *loader, const member *what) {
  size_t choice = 0;
  const mend_status status = read_choice(loader, what, &choice);
  if (status == MEND_OK) loader->row.outcome.remedy = (mend_failure_remedy)(choice + 1);
  return status;
}

static mend_status load_scope(row_loader *loader, const member *what) {
  size_t choice = 0;
  const mend_status status = read_choice(loader, what, &choice);
  if (status == MEND_OK) loader->row.outcome.scope = what->values[choice];
  return status;
}

/* ---- Members ---- */

static const char *const transports[] = {"dns",
                                         "refused",
                                         "connect_timeout",
                                         "certificate",
                                         "reset",
                                         "closed",
                                         "first_content_timeout",
                                         "idle_timeout",
                                         "cancelled",
                                         "cut",
                                         "total_timeout",
                                         "malformed",
                                         "too_long",
                                         "empty_reply",
                                         "not_supported",
                                         "no_memory",
                                         "cost_limit",
                                         "no_descriptors",
                                         NULL};
static const char *const actions[] = {"propagate", "retry", "fail_over", "cancel", NULL};
static const char *const remedies[] = {"next_key", "drop_parameter", "larger_window", NULL};
static const char *const scopes[] = {"provider", "model", "key", "key+model", NULL};

#define ROW(field) offsetof(mend__row, field)
static const member members[] = {
    {"name", load_name, 0, NULL},
    {"transport", load_texts, ROW(transports), transports},
    {"provider", load_texts, ROW(providers), NULL},
    {"status", load_statuses, 0, NULL},
    {"content_type", load_texts, ROW(content_types), NULL},
    {"body", load_texts, ROW(bodies), NULL},
    {"body_starts", load_texts, ROW(body_starts), NULL},
    {"json", load_paths, 0, NULL},
    {"empty", load_wanted, ROW(empty), NULL},
    {"streaming", load_wanted, ROW(streaming), NULL},
    {"after_content", load_wanted, ROW(after_content), NULL},
    {"reused", load_wanted, ROW(reused), NULL},
    {"any_byte", load_wanted, ROW(any_byte), NULL},
    {"action", load_action, ROW(outcome.action), actions},
    {"seed", load_action, ROW(outcome.seed_action), actions},
    {"remedy", load_remedy, 0, remedies},
    {"counts", load_counts, ROW(outcome.counts), NULL},
    {"parks", load_bool, ROW(outcome.parks), NULL},
    {"alert", load_bool, ROW(outcome.alerts), NULL},
    {"hide_body", load_bool, ROW(outcome.hides_body), NULL},
    {"cool_down_s", load_cool_down, 0, NULL},
    {"wait_s", load_seconds, ROW(outcome.wait_s), NULL},
    {"scope", load_scope, 0, scopes},
    {"report_status", load_report_status, 0, NULL},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static bool is_given(const row_loader *loader, const char *name) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    if (strcmp(members[i].name, name) == 0) return (loader->given >> i & 1) != 0;
  }
  return false;
}

static mend_status unknown_member(const row_loader *loader) {
  char room[64];
  mend_str name = loader->json.slice;
  if (name.len <= sizeof room) name = (mend_str){room, mend_json_unescape(name, room)};
  mend__nearest search = mend__nearest_to(name);
  for (size_t i = 0; i < MEMBER_COUNT; i++)
    mend__nearest_consider(&search, mend_str_from(members[i].name), members[i].name);
  const mend_status status =
      search.answer != NULL
          ? mend_error_set(loader->error, MEND_EINVAL, "row %u: unknown member \"%.*s\"; did you mean %s?",
                           loader->number, MEND_STR_ARG(name), search.answer)
          : mend_error_set(loader->error, MEND_EINVAL, "row %u: unknown member \"%.*s\"", loader->number,
                           MEND_STR_ARG(name));
  return place_error(loader, token_place(loader), status);
}

static mend_status load_member(row_loader *loader) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    if (!mend_json_is(&loader->json, mend_str_from(members[i].name))) continue;
    if ((loader->given >> i & 1) != 0) return expected(loader, &members[i], "it to be given once");
    loader->given |= UINT32_C(1) << i;
    return members[i].load(loader, &members[i]);
  }
  return unknown_member(loader);
}

/* ---- Rows ---- */

static mend_failure_action default_seed_action(mend_failure_action action) {
  return action == MEND_ACTION_RETRY ? MEND_ACTION_FAIL_OVER : action;
}

static void fill_in_defaults(row_loader *loader) {
  mend_failure_class *outcome = &loader->row.outcome;
  if (!is_given(loader, "seed")) outcome->seed_action = default_seed_action(outcome->action);
  if (!loader->counts_given) {
    outcome->counts = outcome->action == MEND_ACTION_FAIL_OVER || outcome->action == MEND_ACTION_RETRY;
  }
  if (outcome->scope == NULL) outcome->scope = "model";
}

static mend_status check_row(const row_loader *loader, const char *place) {
  const char *missing = loader->row.outcome.name == NULL ? "name" : !is_given(loader, "action") ? "action" : NULL;
  if (missing != NULL) {
    return place_error(loader, place,
                       mend_error_set(loader->error, MEND_EINVAL, "row %u: %s is missing", loader->number, missing));
  }
  if (loader->row.outcome.seed_action == MEND_ACTION_RETRY) {
    return place_error(loader, place,
                       mend_error_set(loader->error, MEND_EINVAL,
                                      "row %u, seed: the seed profile never asks the same target again",
                                      loader->number));
  }
  return MEND_OK;
}

static mend_status append_row(mend_classification *table, const mend__row *row) {
  if (table->row_count == table->row_capacity) {
    const size_t capacity = table->row_capacity == 0 ? 64 : 2 * table->row_capacity;
    mend__row *rows = mend__realloc(table->allocator, table->rows, capacity * sizeof *rows);
    if (rows == NULL) return MEND_ENOMEM;
    table->rows = rows;
    table->row_capacity = capacity;
  }
  table->rows[table->row_count++] = *row;
  return MEND_OK;
}

static mend_status load_row(row_loader *loader) {
  const char *place = token_place(loader);
  loader->number++;
  loader->given = 0;
  loader->counts_given = false;
  loader->row = (mend__row){.outcome = MEND_FAILURE_CLASS_INIT};
  if (loader->json.token != MEND_JSON_OBJECT) {
    return place_error(loader, place,
                       mend_error_set(loader->error, MEND_EINVAL, "row %u: expected an object", loader->number));
  }
  while (mend_json_next(&loader->json) == MEND_JSON_KEY) {
    const mend_status status = load_member(loader);
    if (status != MEND_OK) return status;
  }
  fill_in_defaults(loader);
  const mend_status status = check_row(loader, place);
  return status == MEND_OK ? append_row(loader->table, &loader->row) : status;
}

mend_status mend__classification_load(mend_classification *table, mend_str rows, mend_error *error) {
  mend_status status = mend_json_check(rows, MEND_JSON_DEPTH, error);
  if (status != MEND_OK) return status;
  row_loader loader = {.table = table, .error = error};
  mend_json_init(&loader.json, rows, MEND_JSON_DEPTH);
  if (mend_json_next(&loader.json) != MEND_JSON_ARRAY) {
    return place_error(&loader, token_place(&loader), mend_error_set(error, MEND_EINVAL, "expected an array of rows"));
  }
  while (status == MEND_OK && mend_json_next(&loader.json) != MEND_JSON_ARRAY_END)
    status = load_row(&loader);
  return status == MEND_ENOMEM ? mend_error_set(error, MEND_ENOMEM, "out of memory") : status;
}
