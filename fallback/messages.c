#include "core/given.h"
#include "core/memory.h"
#include "fallback/message_parts.h"

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
  if (messages == NULL) return MEND_EINVAL;
  if (index >= messages->count) return MEND_ENOENT;
  const message *found = &messages->messages[index];
  *ret_role = found->role;
  *ret_parts = messages->parts + found->first;
  *ret_count = found->count;
  return MEND_OK;
}

/* ---- Copying ---- */

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
  const size_t len = mend__parts_pack(copies, count, NULL);
  if (len > SIZE_MAX - sizeof(text_block)) return MEND_ENOMEM;
  text_block *block = mend__alloc(messages->allocator, sizeof *block + len);
  if (block == NULL) return MEND_ENOMEM;
  mend__parts_pack(copies, count, block->bytes);
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
  if (messages == NULL) return MEND_EINVAL;
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
  if (messages == NULL) return MEND_EINVAL;
  return add_text(messages, MEND_ROLE_SYSTEM, text);
}

mend_status mend_messages_add_user(mend_messages *messages, mend_str text) {
  if (messages == NULL) return MEND_EINVAL;
  return add_text(messages, MEND_ROLE_USER, text);
}

mend_status mend_messages_add_assistant(mend_messages *messages, mend_str text) {
  if (messages == NULL) return MEND_EINVAL;
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

mend_status mend_messages_add(mend_messages *messages, mend_role role, const mend_part *parts, size_t count,
                              mend_error *error) {
  if (messages == NULL) return mend__refuse_null(error, "the messages");
  mend_part *taken;
  mend_status status = mend__parts_take(parts, count, messages->allocator, &taken, error);
  if (status != MEND_OK) return status;
  status = mend__parts_check(role, taken, count, error);
  if (status == MEND_OK) {
    for (size_t i = 0; i < count; i++)
      complete(messages, &taken[i]);
    status = append(messages, role, taken, count);
    if (status != MEND_OK) mend_error_set(error, status, "a message: out of memory");
  }
  mend__free(messages->allocator, taken);
  return status;
}

mend_status mend_messages_add_reply(mend_messages *messages, const mend_reply *reply) {
  if (messages == NULL || reply == NULL) return MEND_EINVAL;
  if (reply->part_count == 0) return MEND_OK;
  mend_part *turn = NULL;
  mend__buffer args;
  mend__buffer_init(&args, messages->allocator);
  mend_status status = mend__parts_of_reply(reply, &args, &turn);
  if (status == MEND_OK) status = append(messages, MEND_ROLE_ASSISTANT, turn, reply->part_count);
  mend__buffer_free(&args);
  mend__free(messages->allocator, turn);
  return status;
}
