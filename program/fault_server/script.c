#include "program/fault_server/script.h"

#include "core/memory.h"
#include "core/text.h"
#include "program/fault_server/faults.h"
#include "program/fault_server/given.h"

#include <fnmatch.h>
#include <stdio.h>

typedef struct rule {
  char *path, *model, *key; /* NULL: any */
  uint64_t first, last;     /* of nth */
  uint64_t seen;
  mend_str faults, reply;
} rule;

struct script {
  char *text;
  rule *rules;
  size_t count;
};

/* ---- Reading ------------------------------------------------------------------------------------------------ */

/* A sentence about the rule that is being read, and the place it is about. */
static mend_status wrong(const script *of, mend_str place, mend_error *error, const char *what) {
  mend_error_set(error, MEND_EINVAL, "rule %zu: %s", of->count + 1, what);
  mend__error_place(error, (mend_str){of->text, (size_t)(place.ptr - of->text)});
  return MEND_EINVAL;
}

/* An absent value leaves NULL. */
static mend_status read_pattern(const script *of, mend_str value, const char *complaint, char **to, mend_error *error) {
  if (value.ptr == NULL) return MEND_OK;
  if (!mend__json_is_string(value)) return wrong(of, value, error, complaint);
  const mend_str inside = mend__json_inside(value);
  *to = mend__alloc(NULL, inside.len + 1);
  if (*to == NULL) return MEND_ENOMEM;
  (*to)[mend_json_unescape(inside, *to)] = '\0';
  return MEND_OK;
}

/* A number from 1. */
static bool read_ordinal(mend_str value, uint64_t *ret_number) {
  return mend__json_is_number(value) && mend_json_uint64(value, ret_number) == MEND_OK && *ret_number > 0;
}

static bool read_range(mend_str value, rule *to) {
  mend__json_items each = mend__json_items_of(value);
  mend_str first, last, more;
  if (!mend__json_items_next(&each, &first) || !mend__json_items_next(&each, &last) ||
      mend__json_items_next(&each, &more))
    return false;
  if (!read_ordinal(first, &to->first)) return false;
  return last.ptr[0] == 'n' || (read_ordinal(last, &to->last) && to->last >= to->first);
}

static mend_status read_nth(const script *of, mend_str value, rule *to, mend_error *error) {
  to->first = 1;
  to->last = UINT64_MAX;
  if (value.ptr == NULL) return MEND_OK;
  if (read_ordinal(value, &to->first)) {
    to->last = to->first;
    return MEND_OK;
  }
  if (read_range(value, to)) return MEND_OK;
  return wrong(of, value, error, "nth: expected a number from 1, or [first, last] with null for no end");
}

/* Another member than those of `fields` is an error that names it. */
static mend_status check_members(const script *of, mend_str object, const json_field *fields, size_t count,
                                 mend_error *error) {
  char what[128];
  const mend_str unknown = given_unknown_member(object, fields, count);
  if (unknown.ptr == NULL) return MEND_OK;
  snprintf(what, sizeof what, "unknown member \"%.*s\"", MEND_STR_ARG(unknown));
  return wrong(of, unknown, error, what);
}

static mend_status read_match(const script *of, mend_str match, rule *to, mend_error *error) {
  enum { PATH, MODEL, KEY, NTH, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("path"), JSON_FIELD("model"), JSON_FIELD("key"), JSON_FIELD("nth")};
  if (match.ptr != NULL) {
    if (!mend__json_is_object(match)) return wrong(of, match, error, "match: expected an object");
    json_fields_read(match, fields, COUNT, NULL);
    const mend_status status = check_members(of, match, fields, COUNT, error);
    if (status != MEND_OK) return status;
  }
  mend_status status = read_pattern(of, fields[PATH].value, "path: expected a string", &to->path, error);
  if (status == MEND_OK) status = read_pattern(of, fields[MODEL].value, "model: expected a string", &to->model, error);
  if (status == MEND_OK) status = read_pattern(of, fields[KEY].value, "key: expected a string", &to->key, error);
  return status == MEND_OK ? read_nth(of, fields[NTH].value, to, error) : status;
}

/* Absent is fine. */
static mend_status check_faults(const script *of, mend_str faults, mend_error *error) {
  fault_plan plan;
  mend_error reason = MEND_ERROR_INIT;
  if (faults.ptr == NULL) return MEND_OK;
  plan_init(&plan);
  const mend_status status = fault_apply_json(&plan, faults, &reason);
  plan_free(&plan);
  return status == MEND_EINVAL ? wrong(of, faults, error, reason.message) : status;
}

/* Absent is fine. */
static mend_status check_reply(const script *of, mend_str reply, mend_error *error) {
  mend_str place;
  mend_error reason = MEND_ERROR_INIT;
  if (reply.ptr == NULL || given_check(reply, &place, &reason) == MEND_OK) return MEND_OK;
  return wrong(of, place, error, reason.message);
}

static mend_status read_rule(const script *of, mend_str object, rule *to, mend_error *error) {
  enum { MATCH, FAULTS, REPLY, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("match"), JSON_FIELD("faults"), JSON_FIELD("reply")};
  if (!mend__json_is_object(object)) return wrong(of, object, error, "expected an object");
  json_fields_read(object, fields, COUNT, NULL);
  to->faults = fields[FAULTS].value;
  to->reply = fields[REPLY].value;
  mend_status status = check_members(of, object, fields, COUNT, error);
  if (status == MEND_OK) status = check_reply(of, to->reply, error);
  if (status == MEND_OK) status = check_faults(of, to->faults, error);
  return status == MEND_OK ? read_match(of, fields[MATCH].value, to, error) : status;
}

static void free_rule(rule *of) {
  mend__free(NULL, of->path);
  mend__free(NULL, of->model);
  mend__free(NULL, of->key);
}

static mend_status read_rules(script *of, mend_str rules, mend_error *error) {
  mend__json_items each = mend__json_items_of(rules);
  mend_str object;
  while (mend__json_items_next(&each, &object)) {
    rule *larger = mend__realloc(NULL, of->rules, (of->count + 1) * sizeof *larger);
    if (larger == NULL) return MEND_ENOMEM;
    of->rules = larger;
    of->rules[of->count] = (rule){0};
    const mend_status status = read_rule(of, object, &of->rules[of->count], error);
    if (status != MEND_OK) {
      free_rule(&of->rules[of->count]);
      return status;
    }
    of->count++;
  }
  return MEND_OK;
}

static mend_status read_script(script *of, mend_error *error) {
  const mend_str text = mend_str_from(of->text);
  json_field rules = JSON_FIELD("rules");
  const mend_status status = mend_json_check(text, MEND_JSON_DEPTH_MAX, error);
  if (status != MEND_OK) return status;
  if (json_fields_read(text, &rules, 1, NULL) != MEND_OK || !mend__json_is_array(rules.value))
    return mend_error_set(error, MEND_EINVAL, "expected an object with an array \"rules\"");
  return read_rules(of, rules.value, error);
}

mend_status script_new(mend_str text, script **ret_script, mend_error *error) {
  script *made = mend__alloc_zero(NULL, sizeof *made);
  if (made == NULL) return MEND_ENOMEM;
  made->text = mend__str_copy(NULL, text);
  const mend_status status = made->text != NULL ? read_script(made, error) : MEND_ENOMEM;
  if (status == MEND_OK) {
    *ret_script = made;
  } else {
    script_free(made);
  }
  return status;
}

void script_free(script *of) {
  if (of == NULL) return;
  for (size_t i = 0; i < of->count; i++)
    free_rule(&of->rules[i]);
  mend__free(NULL, of->rules);
  mend__free(NULL, of->text);
  mend__free(NULL, of);
}

/* ---- Choosing ----------------------------------------------------------------------------------------------- */

/* An absent pattern matches everything; `exact`: it is no pattern. */
static bool fits(const char *pattern, mend_str text, bool exact) {
  if (pattern == NULL) return true;
  if (exact) return mend_str_equal(mend_str_from(pattern), text);
  char *terminated = mend__str_copy(NULL, text);
  const bool fitting = terminated != NULL && fnmatch(pattern, terminated, 0) == 0;
  mend__free(NULL, terminated);
  return fitting;
}

script_choice script_choose(script *of, const script_request *request) {
  for (size_t i = 0; i < of->count; i++) {
    rule *each = &of->rules[i];
    if (!fits(each->path, request->path, false) || !fits(each->model, request->model, false) ||
        !fits(each->key, request->key, true))
      continue;
    each->seen++;
    if (each->seen >= each->first && each->seen <= each->last) return (script_choice){each->faults, each->reply};
  }
  return (script_choice){{NULL, 0}, {NULL, 0}};
}
