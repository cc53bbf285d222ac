#include "core/options_size.h"

#include "core/double_text.h"
#include "core/memory.h"

#include <inttypes.h>
#include <stdalign.h>

static size_t size_at(const char *place) {
  size_t size;
  memcpy(&size, place, sizeof size);
  return size;
}

/* Copies the members after a size-first struct's size, or a struct's tail, whichever version it is of. */
static mend_status take_members(char *target, size_t target_len, const char *given, size_t given_len, const char *name,
                                mend_error *error) {
  const size_t shared = given_len < target_len ? given_len : target_len;
  if (!mend__is_zero(given + shared, given_len - shared)) {
    return mend_error_set(error, MEND_EINVAL,
                          "%s: members beyond those of mend " MEND_VERSION
                          " are set, the program was built against a newer header",
                          name);
  }
  memcpy(target, given, shared);
  return MEND_OK;
}

static mend_status check_size(size_t size, const char *name, mend_error *error) {
  if (size == 0) {
    return mend_error_set(error, MEND_EINVAL, "%s: size is 0, start from the type's _INIT or set size to sizeof(%s)",
                          name, name);
  }
  if (size < sizeof(size_t) || size > MEND__STRUCT_SIZE_MAX) {
    return mend_error_set(error, MEND_EINVAL, "%s: size is %zu, expected sizeof(%s)", name, size, name);
  }
  return MEND_OK;
}

mend_status mend__options_take(void *target, const void *given, const char *name, mend_error *error) {
  if (given == NULL) return MEND_OK;
  const size_t given_size = size_at(given);
  const mend_status status = check_size(given_size, name, error);
  if (status != MEND_OK) return status;
  return take_members((char *)target + sizeof(size_t), size_at(target) - sizeof(size_t),
                      (const char *)given + sizeof(size_t), given_size - sizeof(size_t), name, error);
}

mend_status mend__options_require(void *target, const void *given, const char *name, mend_error *error) {
  if (given == NULL) return mend_error_set(error, MEND_EINVAL, "%s: NULL, expected one", name);
  return mend__options_take(target, given, name, error);
}

mend_status mend__options_take_list(void *targets, const void *defaults, const void *given, size_t count,
                                    const char *name, mend_error *error) {
  const size_t own_size = size_at(defaults), given_size = count > 0 ? size_at(given) : 0;
  mend_status status = MEND_OK;
  for (size_t i = 0; status == MEND_OK && i < count; i++) {
    char *target = (char *)targets + i * own_size;
    memcpy(target, defaults, own_size);
    status = mend__options_take(target, (const char *)given + i * given_size, name, error);
  }
  return status;
}

void mend__options_give(void *ret_struct, const void *own) {
  const size_t asked = size_at(ret_struct), known = size_at(own);
  const size_t given = asked < known ? asked : known;
  memcpy(ret_struct, own, given);
  if (given >= sizeof given) memcpy(ret_struct, &given, sizeof given);
}

mend_status mend__options_check_range(const char *name, uint64_t value, uint64_t min, uint64_t max, mend_error *error) {
  if (value >= min && value <= max) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "%s: %" PRIu64 " is out of range, expected %" PRIu64 " to %" PRIu64, name,
                        value, min, max);
}

mend_status mend__options_refuse_number(const char *name, double value, const char *expected, mend_error *error) {
  char shown[MEND__DOUBLE_TEXT_SIZE];
  mend__double_text(value, shown);
  return mend_error_set(error, MEND_EINVAL, "%s: %s is out of range, expected %s", name, shown, expected);
}

/* ---- The tree ---- */

static const struct group {
  const char *name;
  size_t offset;
} groups[] = {
#define GROUP_ROW(GROUP, group, owner) {"mend_" #owner "_options", offsetof(mend_options, group)},
    MEND_OPTION_GROUPS(GROUP_ROW)
#undef GROUP_ROW
};

static const size_t tail_offset = offsetof(mend_options, poll_interval_s);

static mend_status take_group(mend_options *target, const struct group *group, const char *given, size_t rest,
                              mend_error *error) {
  const size_t size = rest >= sizeof(size_t) ? size_at(given) : rest;
  if (size > rest || size % alignof(mend_options) != 0) {
    return mend_error_set(error, MEND_EINVAL, "mend_options: the size of its %s is %zu, expected %zu", group->name,
                          size, size_at((const char *)target + group->offset));
  }
  return mend__options_take((char *)target + group->offset, given, group->name, error);
}

mend_status mend__options_take_tree(mend_options *target, const mend_options *given, mend_error *error) {
  if (given == NULL) return MEND_OK;
  mend_status status = check_size(given->size, "mend_options", error);
  mend_options taken = *target;
  size_t at = sizeof(size_t);
  for (size_t i = 0; i < sizeof groups / sizeof groups[0] && status == MEND_OK; i++) {
    const char *place = (const char *)given + at;
    status = take_group(&taken, &groups[i], place, given->size - at, error);
    if (status == MEND_OK) at += size_at(place);
  }
  if (status != MEND_OK) return status;
  status = take_members((char *)&taken + tail_offset, sizeof taken - tail_offset, (const char *)given + at,
                        given->size - at, "mend_options", error);
  if (status == MEND_OK) *target = taken;
  return status;
}
