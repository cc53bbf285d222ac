/* Merging a redirect's arguments over a call's, as text: nothing is changed that was not merged, whatever the spelling
 * of its numbers, and running out of memory is told (docs/internals/boundary.md says why not by jansson). */
#include "core/strmap.h"
#include "hooks/hooks_internal.h"

/* As written. */
typedef struct member {
  mend_str key, value;
} member;

typedef struct args_merge {
  member *members; /* in the order in which their keys were first seen */
  size_t count;
  char *names;          /* room for the unescaped keys */
  mend__strmap by_name; /* of members */
} args_merge;

static mend_status count_members(mend_str object, const char *what, size_t *count, mend_error *error) {
  mend_json json;
  mend_json_init(&json, object, MEND__VALUE_DEPTH);
  if (mend_json_next(&json) != MEND_JSON_OBJECT) {
    return mend_error_set(error, MEND_EINVAL, "%s are no object, nothing can be merged", what);
  }
  for (; mend_json_next(&json) == MEND_JSON_KEY; mend_json_skip(&json))
    ++*count;
  return json.token == MEND_JSON_ERROR ? mend_json_error(&json, error) : MEND_OK;
}

static mend_str unescape(args_merge *merge, mend_str key) {
  const mend_str name = {merge->names, mend_json_unescape(key, merge->names)};
  merge->names += name.len;
  return name;
}

/* A member whose key is there already takes its place. */
static mend_status take_members(args_merge *merge, mend_str object) {
  mend_json json;
  mend_json_init(&json, object, MEND__VALUE_DEPTH);
  mend_json_next(&json);
  while (mend_json_next(&json) == MEND_JSON_KEY) {
    member next = {.key = json.slice};
    mend_json_value(&json, &next.value);
    const mend_str name = unescape(merge, next.key);
    member *there = mend__strmap_get(&merge->by_name, name);
    if (there == NULL) {
      there = &merge->members[merge->count++];
      if (mend__strmap_put(&merge->by_name, name, there) != MEND_OK) return MEND_ENOMEM;
    }
    *there = next;
  }
  return MEND_OK;
}

static void write_members(const args_merge *merge, mend__buffer *merged) {
  mend__buffer_char(merged, '{');
  for (size_t i = 0; i < merge->count; i++) {
    mend__buffer_str(merged, i > 0 ? MEND_STR(",\"") : MEND_STR("\""));
    mend__buffer_str(merged, merge->members[i].key);
    mend__buffer_str(merged, MEND_STR("\":"));
    mend__buffer_str(merged, merge->members[i].value);
  }
  mend__buffer_char(merged, '}');
}

static mend_status merge_members(mend_str args, mend_str more, size_t count, mend__buffer *merged) {
  const mend_allocator *allocator = merged->allocator;
  args_merge merge = {.members = mend__alloc(allocator, count * sizeof(member) + args.len + more.len)};
  if (merge.members == NULL) return MEND_ENOMEM;
  merge.names = (char *)(merge.members + count);
  mend__strmap_init(&merge.by_name, allocator);
  mend_status status = take_members(&merge, args);
  if (status == MEND_OK) status = take_members(&merge, more);
  if (status == MEND_OK) write_members(&merge, merged);
  mend__strmap_free(&merge.by_name);
  mend__free(allocator, merge.members);
  return status == MEND_OK && merged->failed ? MEND_ENOMEM : status;
}

mend_status mend__merge_args(mend_str args, mend_str more, mend__buffer *merged, mend_error *error) {
  size_t count = 0;
  mend_status status = count_members(args, "the call's arguments", &count, error);
  if (status == MEND_OK) status = count_members(more, "the redirect's arguments", &count, error);
  if (status != MEND_OK) return status;
  status = merge_members(args, more, count, merged);
  return status == MEND_OK ? MEND_OK : mend_error_set(error, status, "merging the arguments: out of memory");
}
