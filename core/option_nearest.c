#include "core/nearest.h"
#include "core/option_internal.h"

static void consider(mend__nearest *search, const char *name) {
  mend__nearest_consider(search, mend_str_from(name), name);
}

static void consider_last_component(mend__nearest *search, const char *name) {
  const char *dot = strrchr(name, '.');
  if (dot != NULL) mend__nearest_consider(search, mend_str_from(dot + 1), name);
}

/* Of equally near ones full names win over aliases and those over last components. */
static const char *find_nearest(mend_str name, bool groups) {
  mend__nearest search = mend__nearest_to(name);
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++)
    consider(&search, mend__options[i].name);
  for (size_t i = 0; groups && i < MEND__GROUPS_COUNT; i++)
    consider(&search, mend__option_groups[i]);
  for (const mend__option_alias *each = mend__option_aliases; each->alias != NULL; each++)
    consider(&search, each->alias);
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++)
    consider_last_component(&search, mend__options[i].name);
  for (const mend__option_alias *each = mend__option_aliases; each->alias != NULL; each++)
    consider_last_component(&search, each->alias);
  return search.answer;
}

const char *mend_option_nearest(mend_str name) { return find_nearest(name, false); }

const char *mend__option_nearest_key(mend_str name) { return find_nearest(name, true); }
