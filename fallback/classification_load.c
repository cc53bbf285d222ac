#include "core/memory.h"
#include "core/nearest.h"
#include "core/text.h"
#include "fallback/classification_loader.h"

/* ---- What only one of the members is ---- */

static mend_status load_name(mend__row_loader *loader, const mend__row_member *what) {
  if (mend_json_next(&loader->json) != MEND_JSON_STRING) return mend__row_expected(loader, what, "a string");
  const mend_str name = mend__row_keep_text(loader);
  bool plain = name.len > 0 && name.len <= 64;
  for (size_t i = 0; i < name.len && plain; i++)
    plain = (name.ptr[i] >= 'a' && name.ptr[i] <= 'z') || mend__is_digit(name.ptr[i]) || name.ptr[i] == '_';
  if (!plain) return mend__row_expected(loader, what, "1 to 64 letters, digits and underscores");
  loader->row.outcome.name = name.ptr;
  return MEND_OK;
}

static mend_status load_path(mend__row_loader *loader, const mend__row_member *what) {
  mend__row *row = &loader->row;
  if (row->path_count == MEND__ROW_PATHS) return mend__row_expected(loader, what, "at most 4 paths");
  if (loader->json.slice.len == 0) return mend__row_expected(loader, what, "a path such as \"error.code\"");
  mend__row_path *path = &row->paths[row->path_count++];
  path->path = mend__row_keep_text(loader);
  return mend__row_load_text_list(loader, what, &path->values);
}

static mend_status load_paths(mend__row_loader *loader, const mend__row_member *what) {
  if (mend_json_next(&loader->json) != MEND_JSON_OBJECT)
    return mend__row_expected(loader, what, "an object of values by path");
  while (mend_json_next(&loader->json) == MEND_JSON_KEY) {
    const mend_status status = load_path(loader, what);
    if (status != MEND_OK) return status;
  }
  return loader->row.path_count > 0 ? MEND_OK : mend__row_expected(loader, what, "at least one path");
}

static mend_status load_action(mend__row_loader *loader, const mend__row_member *what) {
  size_t choice = 0;
  const mend_status status = mend__row_read_choice(loader, what, &choice);
  if (status == MEND_OK) *(mend_failure_action *)mend__row_field(loader, what) = (mend_failure_action)choice;
  return status;
}

static mend_status load_remedy(mend__row_loader *loader, const mend__row_member *what) {
  size_t choice = 0;
  const mend_status status = mend__row_read_choice(loader, what, &choice);
  if (status == MEND_OK) loader->row.outcome.remedy = (mend_failure_remedy)(choice + 1);
  return status;
}

static mend_status load_scope(mend__row_loader *loader, const mend__row_member *what) {
  size_t choice = 0;
  const mend_status status = mend__row_read_choice(loader, what, &choice);
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
static const mend__row_member members[] = {
    {"name", load_name, 0, NULL},
    {"transport", mend__row_load_texts, ROW(transports), transports},
    {"provider", mend__row_load_texts, ROW(providers), NULL},
    {"status", mend__row_load_statuses, 0, NULL},
    {"content_type", mend__row_load_texts, ROW(content_types), NULL},
    {"body", mend__row_load_texts, ROW(bodies), NULL},
    {"body_starts", mend__row_load_texts, ROW(body_starts), NULL},
    {"json", load_paths, 0, NULL},
    {"empty", mend__row_load_wanted, ROW(empty), NULL},
    {"streaming", mend__row_load_wanted, ROW(streaming), NULL},
    {"after_content", mend__row_load_wanted, ROW(after_content), NULL},
    {"reused", mend__row_load_wanted, ROW(reused), NULL},
    {"any_byte", mend__row_load_wanted, ROW(any_byte), NULL},
    {"action", load_action, ROW(outcome.action), actions},
    {"seed", load_action, ROW(outcome.seed_action), actions},
    {"remedy", load_remedy, 0, remedies},
    {"counts", mend__row_load_flag, ROW(outcome.counts), NULL},
    {"parks", mend__row_load_flag, ROW(outcome.parks), NULL},
    {"alert", mend__row_load_flag, ROW(outcome.alerts), NULL},
    {"hide_body", mend__row_load_flag, ROW(outcome.hides_body), NULL},
    {"cool_down_s", mend__row_load_cool_down, 0, NULL},
    {"wait_s", mend__row_load_seconds, ROW(outcome.wait_s), NULL},
    {"scope", load_scope, 0, scopes},
    {"report_status", mend__row_load_report_status, 0, NULL},
};
enum { MEMBER_COUNT = sizeof members / sizeof *members };

static bool is_given(const mend__row_loader *loader, const char *name) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    if (strcmp(members[i].name, name) == 0) return (loader->given >> i & 1) != 0;
  }
  return false;
}

static mend_status unknown_member(const mend__row_loader *loader) {
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
  return mend__refuse_token(&loader->json, status, loader->error);
}

static mend_status load_member(mend__row_loader *loader) {
  for (size_t i = 0; i < MEMBER_COUNT; i++) {
    if (!mend_json_is(&loader->json, mend_str_from(members[i].name))) continue;
    if ((loader->given >> i & 1) != 0) return mend__row_expected(loader, &members[i], "it to be given once");
    loader->given |= UINT32_C(1) << i;
    return members[i].load(loader, &members[i]);
  }
  return unknown_member(loader);
}

/* ---- Rows ---- */

static mend_failure_action default_seed_action(mend_failure_action action) {
  return action == MEND_ACTION_RETRY ? MEND_ACTION_FAIL_OVER : action;
}

static void fill_in_defaults(mend__row_loader *loader) {
  mend_failure_class *outcome = &loader->row.outcome;
  if (!is_given(loader, "seed")) outcome->seed_action = default_seed_action(outcome->action);
  if (!is_given(loader, "counts")) {
    outcome->counts = outcome->action == MEND_ACTION_FAIL_OVER || outcome->action == MEND_ACTION_RETRY;
  }
  if (outcome->scope == NULL) outcome->scope = "model";
}

static mend_status check_row(const mend__row_loader *loader, const char *place) {
  const char *missing = loader->row.outcome.name == NULL ? "name" : !is_given(loader, "action") ? "action" : NULL;
  if (missing != NULL) {
    return mend__refuse_at(&loader->json, place,
                           mend_error_set(loader->error, MEND_EINVAL, "row %u: %s is missing", loader->number, missing),
                           loader->error);
  }
  if (loader->row.outcome.seed_action == MEND_ACTION_RETRY) {
    return mend__refuse_at(&loader->json, place,
                           mend_error_set(loader->error, MEND_EINVAL,
                                          "row %u, seed: the seed profile never asks the same target again",
                                          loader->number),
                           loader->error);
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

static mend_status load_row(mend__row_loader *loader) {
  const char *place = mend__token_place(&loader->json);
  loader->number++;
  loader->given = 0;
  loader->row = (mend__row){.outcome = MEND_FAILURE_CLASS_INIT};
  if (loader->json.token != MEND_JSON_OBJECT) {
    return mend__refuse_at(&loader->json, place,
                           mend_error_set(loader->error, MEND_EINVAL, "row %u: expected an object", loader->number),
                           loader->error);
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
  mend__row_loader loader = {.table = table, .error = error};
  mend_json_init(&loader.json, rows, MEND_JSON_DEPTH);
  if (mend_json_next(&loader.json) != MEND_JSON_ARRAY) {
    return mend__refuse_token(&loader.json, mend_error_set(error, MEND_EINVAL, "expected an array of rows"), error);
  }
  while (status == MEND_OK && mend_json_next(&loader.json) != MEND_JSON_ARRAY_END)
    status = load_row(&loader);
  return status == MEND_ENOMEM ? mend_error_set(error, MEND_ENOMEM, "out of memory") : status;
}
