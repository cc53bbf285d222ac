#include "program/fault_server/faults.h"

#include "core/memory.h"
#include "core/nearest.h"
#include "program/base/json_fields.h"
#include "program/fault_server/fault_table.h"
#include "program/fault_server/http_request.h"
#include "program/fault_server/wordings.h"

/* ---- Applying ----------------------------------------------------------------------------------------------- */

static mend_status unknown(mend_str name, mend_error *error) {
  mend__nearest search = mend__nearest_to(name);
  for (size_t i = 0; i < fault_count; i++)
    mend__nearest_consider(&search, mend_str_from(fault_table[i].name), fault_table[i].name);
  for (const wording_kind *kind = wording_kinds; kind->name != NULL; kind++)
    mend__nearest_consider(&search, mend_str_from(kind->name), kind->name);
  if (search.answer == NULL) {
    return mend_error_set(error, MEND_EINVAL, "unknown fault \"%.*s\"; --list tells them all", MEND_STR_ARG(name));
  }
  return mend_error_set(error, MEND_EINVAL, "unknown fault \"%.*s\"; did you mean %s?", MEND_STR_ARG(name),
                        search.answer);
}

static bool is_number(mend_str text) {
  mend_json json;
  mend_json_init(&json, text, 1);
  return mend_json_next(&json) == MEND_JSON_NUMBER && mend_json_next(&json) == MEND_JSON_END && text.ptr[0] != '-';
}

static mend_status set_count(unsigned *member, const char *name, mend_str text, mend_error *error) {
  enum { COUNT_MAX = 10000 };
  uint64_t value;
  if (!is_number(text) || mend_json_uint64(text, &value) != MEND_OK || value > COUNT_MAX) {
    return mend_error_set(error, MEND_EINVAL, "%s: expected a count, at most %d, not \"%.*s\"", name, COUNT_MAX,
                          MEND_STR_ARG(text));
  }
  *member = (unsigned)value;
  return MEND_OK;
}

/* Those below 200 are not the last ones of a request. */
static mend_status set_status(unsigned *member, const char *name, mend_str text, mend_error *error) {
  unsigned value;
  const mend_status status = set_count(&value, name, text, error);
  if (status != MEND_OK) return status;
  if (value < 200 || value > 599)
    return mend_error_set(error, MEND_EINVAL, "%s: expected 200 to 599, not %u", name, value);
  *member = value;
  return MEND_OK;
}

static mend_status set_seconds(double *member, const char *name, mend_str text, mend_error *error) {
  enum { DAY = 86400 };
  if (!is_number(text) || !(mend_json_double(text) <= DAY)) {
    return mend_error_set(error, MEND_EINVAL, "%s: expected seconds, at most a day, not \"%.*s\"", name,
                          MEND_STR_ARG(text));
  }
  *member = mend_json_double(text);
  return MEND_OK;
}

static mend_status call_with_seconds(fault_plan *plan, const fault *chosen, mend_str text, mend_error *error) {
  double seconds;
  const mend_status status = set_seconds(&seconds, chosen->name, text, error);
  if (status == MEND_OK) chosen->call(plan, text);
  return status;
}

static mend_status apply(fault_plan *plan, const fault *chosen, mend_str text, mend_error *error) {
  void *member = (char *)plan + chosen->member;
  switch (chosen->kind) {
  case FAULT_FLAG: *(bool *)member = true; return MEND_OK;
  case FAULT_COUNT: return set_count(member, chosen->name, text, error);
  case FAULT_STATUS: return set_status(member, chosen->name, text, error);
  case FAULT_SECONDS: return set_seconds(member, chosen->name, text, error);
  case FAULT_TEXT:
    mend__buffer_clear(member);
    mend__buffer_str(member, text);
    return MEND_OK;
  case FAULT_CALL: chosen->call(plan, text); return MEND_OK;
  case FAULT_CALL_SECONDS: return call_with_seconds(plan, chosen, text, error);
  default:
    plan->instead = chosen->instead;
    return chosen->parameter != NULL ? set_count(member, chosen->name, text, error) : MEND_OK;
  }
}

static mend_status apply_wording(fault_plan *plan, const char *name, mend_str vendor, mend_error *error) {
  if (vendor.len > 0 && wording_find(name, vendor) == NULL) {
    return mend_error_set(error, MEND_EINVAL, "%s: nobody is called \"%.*s\"; --list tells who has words for it", name,
                          MEND_STR_ARG(vendor));
  }
  plan->wording = name;
  mend__buffer_clear(&plan->vendor);
  mend__buffer_str(&plan->vendor, vendor);
  return MEND_OK;
}

static const fault *find(mend_str name) {
  for (size_t i = 0; i < fault_count; i++) {
    if (mend_str_equal(name, mend_str_from(fault_table[i].name))) return &fault_table[i];
  }
  return NULL;
}

mend_status fault_apply(fault_plan *plan, mend_str text, mend_error *error) {
  const char *equals = text.len > 0 ? memchr(text.ptr, '=', text.len) : NULL;
  const mend_str name = {text.ptr, equals != NULL ? (size_t)(equals - text.ptr) : text.len};
  mend_str value = {NULL, 0};
  if (equals != NULL) value = (mend_str){equals + 1, text.len - name.len - 1};
  const char *kind = wording_name(name);
  if (kind != NULL) return apply_wording(plan, kind, value, error);
  const fault *chosen = find(name);
  if (chosen == NULL) return unknown(name, error);
  if (chosen->parameter == NULL && value.ptr != NULL) {
    return mend_error_set(error, MEND_EINVAL, "%s takes no parameter", chosen->name);
  }
  if (chosen->parameter != NULL && value.ptr == NULL) {
    value = mend_str_from(chosen->standard);
    if (value.ptr == NULL)
      return mend_error_set(error, MEND_EINVAL, "%s needs %s=%s", chosen->name, chosen->name, chosen->parameter);
  }
  const mend_status status = apply(plan, chosen, value, error);
  return status == MEND_OK && plan_failed(plan) ? MEND_ENOMEM : status;
}

mend_status fault_apply_list(fault_plan *plan, mend_str list, mend_error *error) {
  mend__buffer part;
  mend__buffer_init(&part, NULL);
  mend_status status = MEND_OK;
  while (list.len > 0 && status == MEND_OK) {
    const char *comma = memchr(list.ptr, ',', list.len);
    const size_t len = comma != NULL ? (size_t)(comma - list.ptr) : list.len;
    mend__buffer_clear(&part);
    http_percent_decode((mend_str){list.ptr, len}, &part);
    const size_t gone = comma != NULL ? len + 1 : len;
    list = (mend_str){list.ptr + gone, list.len - gone};
    status = part.failed ? MEND_ENOMEM : fault_apply(plan, text_of(&part), error);
  }
  mend__buffer_free(&part);
  return status;
}

typedef mend_status (*fault_reader)(fault_plan *plan, mend_str text, mend_error *error);

static mend_status apply_string(fault_plan *plan, mend_str json, fault_reader reader, mend_error *error) {
  if (!mend__json_is_string(json))
    return mend_error_set(error, MEND_EINVAL, "faults: expected a string or an array of strings");
  const mend_str inside = mend__json_inside(json);
  char *text = mend__alloc(NULL, inside.len + 1);
  if (text == NULL) return MEND_ENOMEM;
  const mend_status status = reader(plan, (mend_str){text, mend_json_unescape(inside, text)}, error);
  mend__free(NULL, text);
  return status;
}

mend_status fault_apply_json(fault_plan *plan, mend_str json, mend_error *error) {
  if (!mend__json_is_array(json)) return apply_string(plan, json, fault_apply_list, error);
  mend__json_items each = mend__json_items_of(json);
  mend_str element;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend__json_items_next(&each, &element))
    status = apply_string(plan, element, fault_apply, error);
  return status;
}

/* ---- Telling ------------------------------------------------------------------------------------------------ */

const char *fault_name(size_t index) { return index < fault_count ? fault_table[index].name : NULL; }

static void list_fault(FILE *out, const fault *each) {
  char name[64];
  if (each->parameter == NULL) {
    snprintf(name, sizeof name, "%s", each->name);
  } else if (each->standard == NULL) {
    snprintf(name, sizeof name, "%s=%s", each->name, each->parameter);
  } else {
    snprintf(name, sizeof name, "%s[=%s]", each->name, each->parameter);
  }
  fprintf(out, "%-26s %s", name, each->help);
  if (each->parameter != NULL && each->standard != NULL) fprintf(out, " (%s)", each->standard);
  fputc('\n', out);
}

static void list_wording(FILE *out, const wording_kind *kind) {
  char name[64];
  size_t position = 0;
  const wording *each;
  snprintf(name, sizeof name, "%s[=WHO]", kind->name);
  fprintf(out, "%-26s %s; WHO:", name, kind->help);
  while ((each = wording_next(kind->name, &position)) != NULL)
    fprintf(out, " %s", each->vendor);
  fputc('\n', out);
}

void fault_list(FILE *out) {
  for (const wording_kind *kind = wording_kinds; kind->name != NULL; kind++)
    list_wording(out, kind);
  for (size_t i = 0; i < fault_count; i++)
    list_fault(out, &fault_table[i]);
}
