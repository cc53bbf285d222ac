#include "core/given.h"
#include "core/option_internal.h"
#include "core/text.h"
#include "mend/json.h"

enum { KEY_ROOM = 256 }; /* for the longest name with every character escaped */

typedef struct option_loader {
  mend_json json;
  mend__option_draft draft;
  mend_error *error;
  const char *group; /* whose object is open, else NULL */
  bool groups_seen[MEND__GROUPS_COUNT];
  const char *called[MEND__OPTIONS_COUNT]; /* by which name it was given; NULL: not yet */
  const char *places[MEND__OPTIONS_COUNT]; /* of its value in the text */
} option_loader;

/* Adds the place to the sentence that was written for `status`. */
static mend_status fail_at(const option_loader *loader, const char *place, mend_status status) {
  const char *text = loader->json.text.ptr;
  if (place != NULL) mend__error_place(loader->error, (mend_str){text, (size_t)(place - text)});
  return status;
}

/* Members are named by their key, after that of the group whose object they are in. A key that finds no room is no
 * option's and stays as written. */
static mend_str member_name(const option_loader *loader, char room[KEY_ROOM]) {
  const mend_str key = loader->json.slice;
  const size_t group_len = loader->group != NULL ? strlen(loader->group) + 1 : 0;
  if (key.len > KEY_ROOM - group_len) return key;
  if (group_len != 0) {
    memcpy(room, loader->group, group_len - 1);
    room[group_len - 1] = '.';
  }
  return (mend_str){room, group_len + mend_json_unescape(key, room + group_len)};
}

static mend_status fail_twice(const option_loader *loader, const char *key_place, const char *called,
                              const char *called_before) {
  const mend_status status =
      strcmp(called, called_before) == 0
          ? mend_error_set(loader->error, MEND_EINVAL, "%s is given twice", called)
          : mend_error_set(loader->error, MEND_EINVAL, "%s is given twice, first as %s", called, called_before);
  return fail_at(loader, key_place, status);
}

static mend_status load_option(option_loader *loader, const mend__option *option, const char *called,
                               const char *key_place) {
  const size_t index = (size_t)(option - mend__options);
  if (loader->called[index] != NULL) return fail_twice(loader, key_place, called, loader->called[index]);
  mend_str value;
  const mend_status status = mend_json_value(&loader->json, &value);
  if (status != MEND_OK) return mend_json_error(&loader->json, loader->error);
  loader->called[index] = called;
  loader->places[index] = value.ptr;
  const mend__option_fault fault = mend__option_draft_set(&loader->draft, option, value);
  if (fault.status == MEND_OK) return MEND_OK;
  return fail_at(loader, fault.given.ptr, mend__option_report(option, called, fault, loader->error));
}

static mend_status load_members(option_loader *loader);

static mend_status load_group(option_loader *loader, size_t group, const char *key_place) {
  const char *name = mend__option_groups[group];
  if (loader->groups_seen[group]) return fail_twice(loader, key_place, name, name);
  loader->groups_seen[group] = true;
  if (mend_json_next(&loader->json) != MEND_JSON_OBJECT) {
    return fail_at(
        loader, key_place,
        mend_error_set(loader->error, MEND_EINVAL, "%s is a group, expected an object of its options", name));
  }
  loader->group = name;
  const mend_status status = load_members(loader);
  loader->group = NULL;
  return status;
}

/* In a group's object its name may stand before the option's once more. */
static const char *find_nearest(const option_loader *loader, mend_str name) {
  if (loader->group == NULL) return mend__option_nearest_key(name);
  const size_t group_len = strlen(loader->group) + 1;
  const char *called = NULL;
  const mend_str own = {name.ptr + group_len, name.len > group_len ? name.len - group_len : 0};
  if (mend__option_find(own, &called) != NULL) return called;
  return mend_option_nearest(name);
}

static mend_status load_member(option_loader *loader) {
  char room[KEY_ROOM];
  const mend_str name = member_name(loader, room);
  const char *key_place = loader->json.slice.ptr - 1;
  const char *called = NULL;
  const mend__option *option = mend__option_find(name, &called);
  if (option != NULL) return load_option(loader, option, called, key_place);
  const char *const *group = loader->group == NULL ? mend__option_group_find(name) : NULL;
  if (group != NULL) return load_group(loader, (size_t)(group - mend__option_groups), key_place);
  return fail_at(loader, key_place, mend__option_report_unknown(name, find_nearest(loader, name), loader->error));
}

/* Of the object that was just opened. */
static mend_status load_members(option_loader *loader) {
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend_json_next(&loader->json) == MEND_JSON_KEY)
    status = load_member(loader);
  return status;
}

/* Each value by itself has been checked, so what fails is the one rule between fields, on loop.n and loop.k. */
static const char *rule_place(const option_loader *loader) {
  const char *n_place = loader->places[MEND__OPTION_INDEX(loop, n)];
  return n_place != NULL ? n_place : loader->places[MEND__OPTION_INDEX(loop, k)];
}

static mend_status load_tree(option_loader *loader) {
  if (mend_json_next(&loader->json) != MEND_JSON_OBJECT) {
    const char *place = loader->json.slice.ptr - (loader->json.token == MEND_JSON_STRING); /* the quote */
    return fail_at(loader, place, mend_error_set(loader->error, MEND_EINVAL, "expected an object of options by name"));
  }
  mend_status status = load_members(loader);
  if (status != MEND_OK) return status;
  status = mend_options_check(&loader->draft.options, loader->error);
  return status == MEND_OK ? MEND_OK : fail_at(loader, rule_place(loader), status);
}

mend_status mend_option_tree_load(mend_option_tree *tree, mend_str json, mend_error *error) {
  if (tree == NULL) return mend__refuse_null(error, "the tree of options");
  mend_status status = mend_json_check(json, MEND_JSON_DEPTH, error);
  if (status != MEND_OK) return status;
  option_loader loader = {.draft = mend__option_draft_of(tree), .error = error};
  mend_json_init(&loader.json, json, MEND_JSON_DEPTH);
  status = load_tree(&loader);
  if (status != MEND_OK) {
    mend__option_draft_discard(&loader.draft);
    return status;
  }
  mend__option_draft_commit(&loader.draft, tree);
  return MEND_OK;
}
