#include "core/memory.h"
#include "core/text.h"
#include "fallback/scripted_loader.h"

#include <stdio.h>

/* ---- Errors ---- */

mend_status mend__script_at_token(const mend__script_loader *l, mend_status status) {
  return mend__refuse_token(&l->json, status, l->error);
}

mend_status mend__script_expected(const mend__script_loader *l, const char *name, const char *expectation) {
  return mend__script_at_token(
      l, l->number != 0
             ? mend_error_set(l->error, MEND_EINVAL, "reply %zu, %s: expected %s", l->number, name, expectation)
             : mend_error_set(l->error, MEND_EINVAL, "%s: expected %s", name, expectation));
}

static mend_status unknown(const mend__script_loader *l, const char *what, const mend__nearest *search) {
  const mend_status status =
      search->answer != NULL
          ? mend_error_set(l->error, MEND_EINVAL, "%s \"%.*s\" is not known; did you mean \"%s\"?", what,
                           MEND_STR_ARG(search->wanted), search->answer)
          : mend_error_set(l->error, MEND_EINVAL, "%s \"%.*s\" is not known", what, MEND_STR_ARG(search->wanted));
  return mend__script_at_token(l, status);
}

mend_status mend__script_out_of_memory(const mend__script_loader *l) {
  return mend_error_set(l->error, MEND_ENOMEM, "out of memory");
}

/* ---- Lists ---- */

/* The items, with room for one more; NULL: no memory. */
void *mend__script_with_room(const mend__script_loader *l, void *items, size_t count, size_t *capacity,
                             size_t item_size) {
  if (count < *capacity) return items;
  const size_t wanted = *capacity != 0 ? *capacity * 2 : 8;
  void *grown = mend__realloc(l->script->allocator, items, wanted * item_size);
  if (grown != NULL) *capacity = wanted;
  return grown;
}

/* Each text is shorter than its JSON, so the arena has room for it and its NUL. */
mend_str mend__script_keep_text(mend__script_loader *l) {
  mend__script *script = l->script;
  char *place = script->arena + script->arena_used;
  const size_t len = mend_json_unescape(l->json.slice, place);
  place[len] = '\0';
  script->arena_used += len + 1;
  return (mend_str){place, len};
}

/* ---- Objects ---- */

static const mend__script_member *find_member(const mend__script_loader *l, const mend__script_member *members,
                                              size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (mend_json_is(&l->json, mend_str_from(members[i].name))) return &members[i];
  }
  return NULL;
}

static mend_status unknown_member(const mend__script_loader *l, const mend__script_member *members, size_t count) {
  mend__nearest search = mend__nearest_to(l->json.slice);
  for (size_t i = 0; i < count; i++)
    mend__nearest_consider(&search, mend_str_from(members[i].name), members[i].name);
  return unknown(l, "member", &search);
}

static mend_status load_member(mend__script_loader *l, const mend__script_member *members, size_t count,
                               uint32_t *given, void *target) {
  const mend__script_member *what = find_member(l, members, count);
  if (what == NULL) return unknown_member(l, members, count);
  const uint32_t bit = UINT32_C(1) << (what - members);
  if ((*given & bit) != 0) {
    return mend__script_at_token(l, mend_error_set(l->error, MEND_EINVAL, "%s is given twice", what->name));
  }
  *given |= bit;
  mend_json_next(&l->json);
  return what->load(l, what, target);
}

/* The object that was just opened. */
mend_status mend__script_load_members(mend__script_loader *l, const mend__script_member *members, size_t count,
                                      void *target) {
  uint32_t given = 0;
  mend_status status = MEND_OK;
  while (status == MEND_OK && mend_json_next(&l->json) == MEND_JSON_KEY)
    status = load_member(l, members, count, &given, target);
  return status;
}

/* ---- Values: each has been read as far as its first token ---- */

mend_status mend__script_load_text(mend__script_loader *l, const mend__script_member *what, void *target) {
  if (l->json.token != MEND_JSON_STRING) return mend__script_expected(l, what->name, "a string");
  *(mend_str *)mend__script_place(what, target) = mend__script_keep_text(l);
  return MEND_OK;
}

static mend_status load_number(mend__script_loader *l, const mend__script_member *what, double *ret_value) {
  const double value = l->json.token == MEND_JSON_NUMBER ? mend_json_double(l->json.slice) : MEND_NAN;
  if (value >= what->least && value <= what->most) {
    *ret_value = value;
    return MEND_OK;
  }
  char expectation[64];
  snprintf(expectation, sizeof expectation, "a number from %.0f to %.0f", what->least, what->most);
  return mend__script_expected(l, what->name, expectation);
}

mend_status mend__script_load_ms(mend__script_loader *l, const mend__script_member *what, void *target) {
  double ms = 0;
  const mend_status status = load_number(l, what, &ms);
  if (status == MEND_OK) *(uint64_t *)mend__script_place(what, target) = (uint64_t)(ms * 1e6);
  return status;
}

mend_status mend__script_load_count(mend__script_loader *l, const mend__script_member *what, void *target) {
  double count = 0;
  const mend_status status = load_number(l, what, &count);
  if (status != MEND_OK) return status;
  if (!l->json.integer) return mend__script_expected(l, what->name, "a whole number");
  *(uint64_t *)mend__script_place(what, target) = (uint64_t)count;
  return MEND_OK;
}

mend_status mend__script_load_flag(mend__script_loader *l, const mend__script_member *what, void *target) {
  if (l->json.token != MEND_JSON_TRUE && l->json.token != MEND_JSON_FALSE)
    return mend__script_expected(l, what->name, "true or false");
  *(bool *)mend__script_place(what, target) = l->json.token == MEND_JSON_TRUE;
  return MEND_OK;
}

/* Any value: of a string what it says, of others their JSON. */
mend_status mend__script_load_text_or_json(mend__script_loader *l, const mend__script_member *what, void *target) {
  if (l->json.token == MEND_JSON_STRING) return mend__script_load_text(l, what, target);
  const char *start = l->json.slice.ptr;
  mend_json_skip(&l->json);
  if (l->json.token == MEND_JSON_ERROR) return mend_json_error(&l->json, l->error);
  *(mend_str *)mend__script_place(what, target) = (mend_str){start, (size_t)(l->json.text.ptr + l->json.at - start)};
  return MEND_OK;
}

/* ---- Words ---- */

/* Which of `count` words the string is; `count`: none of them. */
static size_t find_word(const mend__script_loader *l, const char *(*word)(size_t index), size_t count) {
  size_t index = 0;
  while (index < count && !mend_json_is(&l->json, mend_str_from(word(index))))
    index++;
  return index;
}

mend_status mend__script_load_word(mend__script_loader *l, const mend__script_member *what,
                                   const char *(*word)(size_t index), size_t count, size_t *ret_index) {
  if (l->json.token != MEND_JSON_STRING) return mend__script_expected(l, what->name, "a string");
  *ret_index = find_word(l, word, count);
  if (*ret_index < count) return MEND_OK;
  mend__nearest search = mend__nearest_to(l->json.slice);
  for (size_t i = 0; i < count; i++)
    mend__nearest_consider(&search, mend_str_from(word(i)), word(i));
  return unknown(l, what->name, &search);
}
