#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/fallback_internal.h"
#include "fallback/packing.h"

/* The texts of one message. */
typedef struct text_block {
  struct text_block *next;
  char bytes[];
} text_block;

typedef struct message {
  mend_role role;
  size_t first, count; /* of its parts */
} message;

struct mend_messages {
  const mend_allocator *allocator;
  message *messages;
  size_t count, capacity;
  mend_part *parts; /* of all messages, in order */
  size_t part_count, part_capacity;
  text_block *blocks;
};

mend_status mend_messages_new(const mend_allocator *allocator, mend_messages **ret_messages) {
  mend_messages *messages = mend__alloc_zero(allocator, sizeof *messages);
  if (messages == NULL) return MEND_ENOMEM;
  messages->allocator = allocator;
  *ret_messages = messages;
  return MEND_OK;
}

void mend_messages_free(mend_messages *messages) {
  if (messages == NULL) return;
  for (text_block *each = messages->blocks, *next; each != NULL; each = next) {
    next = each->next;
    mend__free(messages->allocator, each);
  }
  mend__free(messages->allocator, messages->parts);
  mend__free(messages->allocator, messages->messages);
  mend__free(messages->allocator, messages);
}

size_t mend_messages_count(const mend_messages *messages) { return messages->count; }

mend_status mend_messages_get(const mend_messages *messages, size_t index, mend_role *ret_role,
                              const mend_part **ret_parts, size_t *ret_count) {
  if (index >= messages->count) return MEND_ENOENT;
  const message *found = &messages->messages[index];
  *ret_role = found->role;
  *ret_parts = messages->parts + found->first;
  *ret_count = found->count;
  return MEND_OK;
}

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
  return mend__check_object(part->args, "a call's args", error);
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

static mend_status check_message(mend_role role, const mend_part *parts, size_t count, mend_error *error) {
  if ((unsigned)role >= ROLES) return mend_error_set(error, MEND_EINVAL, "role is %d, which is none", (int)role);
  if (count == 0) return mend_error_set(error, MEND_EINVAL, "a message without parts");
  for (size_t i = 0; i < count; i++) {
    const mend_status status = check_part(role, &parts[i], error);
    if (status != MEND_OK) return status;
  }
  return MEND_OK;
}

/* ---- Copying ---- */

static const size_t part_texts[] = {
    offsetof(mend_part, text), offsetof(mend_part, url),      offsetof(mend_part, media_type),
    offsetof(mend_part, data), offsetof(mend_part, call_id),  offsetof(mend_part, name),
    offsetof(mend_part, args), offsetof(mend_part, provider), offsetof(mend_part, signature)};
enum { PART_TEXTS = sizeof part_texts / sizeof part_texts[0] };

/* Measures without a block; with one, lets the parts point into it. */
static size_t pack_parts(mend_part *parts, size_t count, char *block) {
  mend__packing packing = mend__packing_into(block);
  for (size_t i = 0; i < count; i++) {
    for (size_t j = 0; j < PART_TEXTS; j++)
      mend__pack(&packing, (mend_str *)(void *)((char *)&parts[i] + part_texts[j]));
  }
  return packing.len;
}

static size_t next_capacity(size_t capacity, size_t wanted) { return wanted > capacity * 2 ? wanted : capacity * 2; }

static mend_status reserve_parts(mend_messages *messages, size_t more) {
  const size_t wanted = messages->part_count + more;
  if (wanted <= messages->part_capacity) return MEND_OK;
  const size_t capacity = next_capacity(messages->part_capacity, wanted);
  mend_part *parts = mend__realloc(messages->allocator, messages->parts, capacity * sizeof *parts);
  if (parts == NULL) return MEND_ENOMEM;
  messages->parts = parts;
  messages->part_capacity = capacity;
  return MEND_OK;
}

static mend_status reserve_messages(mend_messages *messages, size_t more) {
  const size_t wanted = messages->count + more;
  if (wanted <= messages->capacity) return MEND_OK;
  const size_t capacity = next_capacity(messages->capacity, wanted);
  message *list = mend__realloc(messages->allocator, messages->messages, capacity * sizeof *list);
  if (list == NULL) return MEND_ENOMEM;
  messages->messages = list;
  messages->capacity = capacity;
  return MEND_OK;
}

/* Adds parts with copies of their texts in one block. */
static mend_status copy_parts(mend_messages *messages, const mend_part *parts, size_t count) {
  if (reserve_parts(messages, count) != MEND_OK) return MEND_ENOMEM;
  mend_part *copies = messages->parts + messages->part_count;
  memcpy(copies, parts, count * sizeof *copies);
  const size_t len = pack_parts(copies, count, NULL);
  if (len > SIZE_MAX - sizeof(text_block)) return MEND_ENOMEM;
  text_block *block = mend__alloc(messages->allocator, sizeof *block + len);
  if (block == NULL) return MEND_ENOMEM;
  pack_parts(copies, count, block->bytes);
  block->next = messages->blocks;
  messages->blocks = block;
  messages->part_count += count;
  return MEND_OK;
}

static mend_status append(mend_messages *messages, mend_role role, const mend_part *parts, size_t count) {
  mend_status status = reserve_messages(messages, 1);
  if (status == MEND_OK) status = copy_parts(messages, parts, count);
  if (status != MEND_OK) return status;
  messages->messages[messages->count++] = (message){role, messages->part_count - count, count};
  return MEND_OK;
}

mend_status mend_messages_copy(const mend_messages *messages, const mend_allocator *allocator,
                               mend_messages **ret_copy) {
  mend_messages *copy;
  mend_status status = mend_messages_new(allocator, &copy);
  if (status != MEND_OK) return status;
  status = reserve_messages(copy, messages->count);
  if (status == MEND_OK && messages->part_count > 0) status = copy_parts(copy, messages->parts, messages->part_count);
  if (status != MEND_OK) {
    mend_messages_free(copy);
    return status;
  }
  if (messages->count > 0) memcpy(copy->messages, messages->messages, messages->count * sizeof *copy->messages);
  copy->count = messages->count;
  *ret_copy = copy;
  return MEND_OK;
}

/* ---- Adding ---- */

static mend_status add_text(mend_messages *messages, mend_role role, mend_str text) {
  mend_part part = MEND_PART_INIT;
  part.text = text;
  return append(messages, role, &part, 1);
}

mend_status mend_messages_add_system(mend_messages *messages, mend_str text) {
  return add_text(messages, MEND_ROLE_SYSTEM, text);
}

mend_status mend_messages_add_user(mend_messages *messages, mend_str text) {
  return add_text(messages, MEND_ROLE_USER, text);
}

mend_status mend_messages_add_assistant(mend_messages *messages, mend_str text) {
  return add_text(messages, MEND_ROLE_ASSISTANT, text);
}

mend_status mend_messages_add_result(mend_messages *messages, mend_str call_id, mend_str content, bool is_error) {
  mend_part part = MEND_PART_INIT;
  part.kind = MEND_PART_RESULT;
  part.call_id = call_id;
  part.text = content;
  part.is_error = is_error;
  return mend_messages_add(messages, MEND_ROLE_TOOL, &part, 1, NULL);
}

/* Of the latest call with this id; absent when there is none. */
static mend_str name_of_call(const mend_messages *messages, mend_str call_id) {
  for (size_t i = messages->part_count; i-- > 0;) {
    const mend_part *part = &messages->parts[i];
    if (part->kind == MEND_PART_CALL && mend_str_equal(part->call_id, call_id)) return part->name;
  }
  return (mend_str)MEND_ABSENT;
}

/* What some providers want, and a caller may leave out. */
static void complete(const mend_messages *messages, mend_part *part) {
  if (part->kind == MEND_PART_CALL && part->args.len == 0) part->args = MEND_STR("{}");
  if (part->kind == MEND_PART_RESULT && part->name.len == 0) part->name = name_of_call(messages, part->call_id);
}

/* A copy of the list, whose elements may be of another version of mend_part. The caller frees it. */
static mend_status take_parts(const mend_messages *messages, const mend_part *parts, size_t count,
                              mend_part **ret_taken, mend_error *error) {
  if (count > SIZE_MAX / sizeof(mend_part)) return MEND_ENOMEM;
  mend_part *taken = mend__alloc(messages->allocator, (count > 0 ? count : 1) * sizeof *taken);
  if (taken == NULL) {
    mend_error_set(error, MEND_ENOMEM, "a message: out of memory");
    return MEND_ENOMEM;
  }
  const char *place = (const char *)parts;
  for (size_t i = 0; i < count; i++) {
    taken[i] = (mend_part)MEND_PART_INIT;
    const mend_status status = mend__options_take(&taken[i], place, "mend_part", error);
    if (status != MEND_OK) {
      mend__free(messages->allocator, taken);
      return status;
    }
    place += parts->size;
  }
  *ret_taken = taken;
  return MEND_OK;
}

mend_status mend_messages_add(mend_messages *messages, mend_role role, const mend_part *parts, size_t count,
                              mend_error *error) {
  mend_part *taken;
  mend_status status = take_parts(messages, parts, count, &taken, error);
  if (status != MEND_OK) return status;
  status = check_message(role, taken, count, error);
  if (status == MEND_OK) {
    for (size_t i = 0; i < count; i++)
      complete(messages, &taken[i]);
    status = append(messages, role, taken, count);
    if (status != MEND_OK) mend_error_set(error, status, "a message: out of memory");
  }
  mend__free(messages->allocator, taken);
  return status;
}

/* ---- Replies ---- */

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
  } else if (mend__check_object(args, "args", NULL) == MEND_OK) {
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

mend_status mend_messages_add_reply(mend_messages *messages, const mend_reply *reply) {
  if (reply->part_count == 0) return MEND_OK;
  mend_part *turn = NULL;
  mend__buffer args;
  mend__buffer_init(&args, messages->allocator);
  mend_status status = take_parts(messages, reply->parts, reply->part_count, &turn, NULL);
  if (status != MEND_OK) goto end;
  for (size_t i = 0; i < reply->part_count; i++) {
    if (turn[i].kind == MEND_PART_CALL) write_args(turn[i].args, &args);
  }
  if (args.failed) {
    status = MEND_ENOMEM;
    goto end;
  }
  point_at_args(turn, reply->part_count, args.data);
  status = append(messages, MEND_ROLE_ASSISTANT, turn, reply->part_count);
end:
  mend__buffer_free(&args);
  mend__free(messages->allocator, turn);
  return status;
}
