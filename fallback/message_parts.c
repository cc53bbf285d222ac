#include "fallback/message_parts.h"

#include "core/json_kind.h"
#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"
#include "fallback/packing.h"

/* ---- Which part fits which role ---- */

static const struct {
  const char *name;
  unsigned roles; /* that may have it */
} part_kinds[] = {
    [MEND_PART_TEXT] = {"text", 1u << MEND_ROLE_SYSTEM | 1u << MEND_ROLE_USER | 1u << MEND_ROLE_ASSISTANT},
    [MEND_PART_IMAGE] = {"an image", 1u << MEND_ROLE_USER},
    [MEND_PART_THINKING] = {"thinking", 1u << MEND_ROLE_ASSISTANT},
    [MEND_PART_CALL] = {"a call", 1u << MEND_ROLE_ASSISTANT},
    [MEND_PART_RESULT] = {"a result", 1u << MEND_ROLE_TOOL},
};
enum { PART_KINDS = sizeof part_kinds / sizeof part_kinds[0] };

static const char *const role_names[] = {"system", "user", "assistant", "tool"};
enum { ROLES = sizeof role_names / sizeof role_names[0] };

static mend_status check_image(const mend_part *part, mend_error *error) {
  if (part->url.len > 0) return MEND_OK;
  if (part->data.len == 0) return mend_error_set(error, MEND_EINVAL, "an image has neither url nor data");
  if (part->media_type.len > 0) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "an image's data has no media_type, expected \"image/png\" or the like");
}

static mend_status check_call(const mend_part *part, mend_error *error) {
  if (part->call_id.len == 0) return mend_error_set(error, MEND_EINVAL, "a call has no call_id");
  if (part->name.len == 0) return mend_error_set(error, MEND_EINVAL, "a call has no name");
  if (part->args.len == 0) return MEND_OK;
  return mend__json_check_object(part->args, "a call's args", error);
}

static mend_status check_part(mend_role role, const mend_part *part, mend_error *error) {
  if ((unsigned)part->kind >= PART_KINDS) {
    return mend_error_set(error, MEND_EINVAL, "a part's kind is %d, which is none", (int)part->kind);
  }
  if ((part_kinds[part->kind].roles & 1u << role) == 0) {
    return mend_error_set(error, MEND_EINVAL, "%s cannot be part of a message of role %s", part_kinds[part->kind].name,
                          role_names[role]);
  }
  if (part->kind == MEND_PART_IMAGE) return check_image(part, error);
  if (part->kind == MEND_PART_CALL) return check_call(part, error);
  if (part->kind == MEND_PART_RESULT && part->call_id.len == 0) {
    return mend_error_set(error, MEND_EINVAL, "a result has no call_id");
  }
  return MEND_OK;
}

mend_status mend__parts_check(mend_role role, const mend_part *parts, size_t count, mend_error *error) {
  if ((unsigned)role >= ROLES) return mend_error_set(error, MEND_EINVAL, "role is %d, which is none", (int)role);
  for (size_t i = 0; i < count; i++) {
    const mend_status status = check_part(role, &parts[i], error);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

/* ---- Copies ---- */

static mend_status check_list(const mend_part *parts, size_t count, mend_error *error) {
  if (count == 0) return mend_error_set(error, MEND_EINVAL, "a message without parts");
  if (parts != NULL) return MEND_OK;
  return mend_error_set(error, MEND_EINVAL, "a message: parts is NULL, expected count (%zu) of them", count);
}

mend_status mend__parts_take(const mend_part *given, size_t count, const mend_allocator *allocator,
                             mend_part **ret_parts, mend_error *error) {
  const mend_part defaults = MEND_PART_INIT;
  mend_part *parts = NULL;
  mend_status status = check_list(given, count, error);
  if (status != MEND_OK) return status;
  if (count <= SIZE_MAX / sizeof *parts) parts = mend__alloc(allocator, count * sizeof *parts);
  if (parts == NULL) {
    mend_error_set(error, MEND_ENOMEM, "a message: out of memory");
    return MEND_ENOMEM;
  }
  status = mend__options_take_list(parts, &defaults, given, count, "mend_part", error);
  if (status == MEND_OK) {
    *ret_parts = parts;
  } else {
    mend__free(allocator, parts);
  }
  return status;
}

static const size_t part_texts[] = {
    offsetof(mend_part, text), offsetof(mend_part, url),      offsetof(mend_part, media_type),
    offsetof(mend_part, data), offsetof(mend_part, call_id),  offsetof(mend_part, name),
    offsetof(mend_part, args), offsetof(mend_part, provider), offsetof(mend_part, signature)};
enum { PART_TEXTS = sizeof part_texts / sizeof part_texts[0] };

size_t mend__parts_pack(mend_part *parts, size_t count, char *block) {
  mend__packing packing = mend__packing_into(block);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < PART_TEXTS; j++)
      mend__pack(&packing, (mend_str *)(void *)((char *)&parts[i] + part_texts[j]));
  }
  return packing.len;
}

/* ---- Of a reply ---- */

/* No provider takes arguments that are no object, not even those it made up itself. */
static void wrap_args(mend_str args, mend__buffer *memory) {
  mend__buffer_str(memory, MEND_STR("{\"invalid\":"));
  mend__buffer_json_string(memory, args);
  mend__buffer_char(memory, '}');
}

/* Appends a call's arguments to `memory`, each followed by a NUL. */
static void write_args(mend_str args, mend__buffer *memory) {
  if (args.len == 0) {
    mend__buffer_str(memory, MEND_STR("{}"));
  } else if (mend__json_check_object(args, "args", NULL) == MEND_OK) {
    mend__buffer_str(memory, args);
  } else {
    wrap_args(args, memory);
  }
  mend__buffer_char(memory, '\0');
}

/* The buffer may move while it grows, so the calls are pointed into it at the end. */
static void point_at_args(mend_part *parts, size_t count, const char *args) {
  for (size_t i = 0; i < count; i++) {
    if (parts[i].kind != MEND_PART_CALL) continue;
    parts[i].args = mend_str_from(args);
    args += parts[i].args.len + 1;
  }
}

mend_status mend__parts_of_reply(const mend_reply *reply, mend__buffer *args, mend_part **ret_parts) {
  mend_part *parts;
  const mend_status status = mend__parts_take(reply->parts, reply->part_count, args->allocator, &parts, NULL);
  if (status != MEND_OK) return status;
  for (size_t i = 0; i < reply->part_count; i++) {
    if (parts[i].kind == MEND_PART_CALL) write_args(parts[i].args, args);
  }
  if (args->failed) {
    mend__free(args->allocator, parts);
    return MEND_ENOMEM;
  }
  point_at_args(parts, reply->part_count, args->data);
  *ret_parts = parts;
  return MEND_OK;
}
