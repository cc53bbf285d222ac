#include "program/fault_server/script.h"

#include "core/memory.h"
#include "program/fault_server/faults.h"
#include "program/replay/json_fields.h"

#include <fnmatch.h>

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

static mend_status wrong(const script *of, mend_error *error, const char *what) {
  return mend_error_set(error, MEND_EINVAL, "rule %zu: %s", of->count + 1, what);
}

/* An absent value leaves NULL. */
static mend_status read_pattern(const script *of, mend_str value, const char *complaint, char **to, mend_error *error) {
  if (value.ptr == NULL) return MEND_OK;
  if (!json_is_string(value)) return wrong(of, error, complaint);
  const mend_str inside = json_string_inside(value);
  *to = mend__alloc(NULL, inside.len + 1);
  if (*to == NULL) return MEND_ENOMEM;
  (*to)[mend_json_unescape(inside, *to)] = '\0';
  return MEND_OK;
}

static mend_status read_nth(const script *of, mend_str value, rule *to, mend_error *error) {
  static const char complaint[] = "nth: expected a number from 1, or [first, last] with null for no end";
  to->first = 1;
  to->last = UINT64_MAX;
  if (value.ptr == NULL) return MEND_OK;
  if (json_is_number(value)) {
    if (mend_json_uint64(value, &to->first) != MEND_OK || to->first == 0) return wrong(of, error, complaint);
    to->last = to->first;
    return MEND_OK;
  }
  json_elements each = json_elements_of(value);
  mend_str first, last, more;
  if (!json_elements_next(&each, &first) || !json_elements_next(&each, &last) || json_elements_next(&each, &more))
    return wrong(of, error, complaint);
  const bool endless = last.ptr[0] == 'n';
  if (!json_is_number(first) || mend_json_uint64(first, &to->first) != MEND_OK || to->first == 0 ||
      (!endless && (!json_is_number(last) || mend_json_uint64(last, &to->last) != MEND_OK || to->last < to->first)))
    return wrong(of, error, complaint);
  return MEND_OK;
}

/* Another member than those of `fields` is an error that names it. */
static mend_status check_members(const script *of, mend_str object, const json_field *fields, size_t count,
                                 mend_error *error) {
  mend_json json;
  mend_json_init(&json, object, MEND_JSON_DEPTH_MAX);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    bool known = false;
    for (size_t i = 0; i < count; i++)
      known |= mend_json_is(&json, fields[i].name);
    if (!known)
      return mend_error_set(error, MEND_EINVAL, "rule %zu: unknown member \"%.*s\"", of->count + 1,
                            MEND_STR_ARG(json.slice));
    mend_json_skip(&json);
  }
  return MEND_OK;
}

static mend_status read_match(const script *of, mend_str match, rule *to, mend_error *error) {
  enum { PATH, MODEL, KEY, NTH, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("path"), JSON_FIELD("model"), JSON_FIELD("key"), JSON_FIELD("nth")};
  if (match.ptr != NULL) {
    if (!json_is_object(match)) return wrong(of, error, "match: expected an object");
    json_fields_read(match, fields, COUNT, NULL);
    const mend_status status = check_members(of, match, fields, COUNT, error);
    if (status != MEND_OK) return status;
  }
  mend_status status = read_pattern(of, fields[PATH].value, "path: expected a string", &to->path, error);
  if (status == MEND_OK) status = read_pattern(of, fields[MODEL].value, "model: expected a string", &to->model, error);
  if (status == MEND_OK) status = read_pattern(of, fields[KEY].value, "key: expected a string", &to->key, error);
  return status == MEND_OK ? read_nth(of, fields[NTH].value, to, error) : status;
}

/* Faults that are none should not wait for the request that needs them. */
static mend_status check_faults(const script *of, mend_str faults, mend_error *error) {
  fault_plan plan;
  mend_error reason = MEND_ERROR_INIT;
  plan_init(&plan);
  const mend_status status = fault_apply_json(&plan, faults, &reason);
  plan_free(&plan);
  return status == MEND_EINVAL ? wrong(of, error, reason.message) : status;
}

static mend_status read_rule(const script *of, mend_str object, rule *to, mend_error *error) {
  enum { MATCH, FAULTS, REPLY, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("match"), JSON_FIELD("faults"), JSON_FIELD("reply")};
  if (!json_is_object(object)) return wrong(of, error, "expected an object");
  json_fields_read(object, fields, COUNT, NULL);
  to->faults = fields[FAULTS].value;
  to->reply = fields[REPLY].value;
  mend_status status = check_members(of, object, fields, COUNT, error);
  if (status == MEND_OK && to->reply.ptr != NULL && !json_is_object(to->reply))
    status = wrong(of, error, "reply: expected an object");
  if (status == MEND_OK && to->faults.ptr != NULL) status = check_faults(of, to->faults, error);
  return status == MEND_OK ? read_match(of, fields[MATCH].value, to, error) : status;
}

static void free_rule(rule *of) {
  mend__free(NULL, of->path);
  mend__free(NULL, of->model);
  mend__free(NULL, of->key);
}

static mend_status read_rules(script *of, mend_str rules, mend_error *error) {
  json_elements each = json_elements_of(rules);
  mend_str object;
  while (json_elements_next(&each, &object)) {
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
  if (json_fields_read(text, &rules, 1, NULL) != MEND_OK || !json_is_array(rules.value))
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
