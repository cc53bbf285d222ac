/* Conversations: which parts fit where, what is copied and completed, replies that become turns, and no memory. */
#include "mend/model.h"
#include "support/mend_test.h"
#include "support/test_support.h"

#include <stdio.h>
#include <stdlib.h>

static mend_messages *new_messages(mend_test_allocator *memory) {
  mend_messages *messages;
  mend_test_allocator_init(memory);
  cr_assert_eq(mend_messages_new(&memory->base, &messages), MEND_OK);
  return messages;
}

static void free_messages(mend_test_allocator *memory, mend_messages *messages) {
  mend_messages_free(messages);
  cr_assert_eq(atomic_load(&memory->blocks), 0u);
}

static const mend_part *get(const mend_messages *messages, size_t index, mend_role role, size_t count) {
  mend_role found;
  const mend_part *parts;
  size_t found_count;
  cr_assert_eq(mend_messages_get(messages, index, &found, &parts, &found_count), MEND_OK);
  cr_assert_eq((int)found, (int)role);
  cr_assert_eq(found_count, count);
  return parts;
}

#define PART(...)                                                                                                      \
  { .size = sizeof(mend_part), __VA_ARGS__ }
#define TEXT(literal)                                                                                                  \
  { literal, sizeof(literal) - 1 }

Test(messages, fit_their_roles) {
  static const struct {
    mend_role role;
    mend_part part;
    const char *sentence; /* NULL: it is taken */
  } cases[] = {
      {MEND_ROLE_SYSTEM, PART(.kind = MEND_PART_TEXT, .text = TEXT("be brief")), NULL},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_TEXT, .text = TEXT("")), NULL},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_IMAGE, .url = TEXT("https://example.org/a.png")), NULL},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_IMAGE, .media_type = TEXT("image/png"), .data = TEXT("\x89PNG")), NULL},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_IMAGE), "an image has neither url nor data"},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_IMAGE, .data = TEXT("\x89PNG")),
       "an image's data has no media_type, expected \"image/png\" or the like"},
      {MEND_ROLE_SYSTEM, PART(.kind = MEND_PART_IMAGE, .url = TEXT("https://example.org/a.png")),
       "an image cannot be part of a message of role system"},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_IMAGE, .url = TEXT("https://example.org/a.png")),
       "an image cannot be part of a message of role assistant"},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_THINKING, .text = TEXT("hm")), NULL},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_THINKING, .text = TEXT("hm")),
       "thinking cannot be part of a message of role user"},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("f")), NULL},
      {MEND_ROLE_ASSISTANT,
       PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("f"), .args = TEXT("{\"a\": [1]}")), NULL},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_CALL, .name = TEXT("f")), "a call has no call_id"},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1")), "a call has no name"},
      {MEND_ROLE_ASSISTANT, PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("f"), .args = TEXT("[1]")),
       "a call's args: expected a JSON object"},
      {MEND_ROLE_ASSISTANT,
       PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("f"), .args = TEXT("{\"a\"")),
       "a call's args, line 1, column 5: expected a colon, found the end of the text"},
      {MEND_ROLE_TOOL, PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("f")),
       "a call cannot be part of a message of role tool"},
      {MEND_ROLE_TOOL, PART(.kind = MEND_PART_RESULT, .call_id = TEXT("c1"), .text = TEXT("1")), NULL},
      {MEND_ROLE_TOOL, PART(.kind = MEND_PART_RESULT, .text = TEXT("1")), "a result has no call_id"},
      {MEND_ROLE_USER, PART(.kind = MEND_PART_RESULT, .call_id = TEXT("c1"), .text = TEXT("1")),
       "a result cannot be part of a message of role user"},
      {MEND_ROLE_TOOL, PART(.kind = MEND_PART_TEXT, .text = TEXT("1")),
       "text cannot be part of a message of role tool"},
      {(mend_role)7, PART(.kind = MEND_PART_TEXT), "role is 7, which is none"},
      {MEND_ROLE_USER, PART(.kind = (mend_part_kind)9), "a part's kind is 9, which is none"},
      {MEND_ROLE_USER,
       {.size = 0},
       "mend_part: size is 0, start from the type's _INIT or set size to sizeof(mend_part)"},
  };
  mend_test_allocator memory;
  mend_messages *messages = new_messages(&memory);
  size_t taken = 0;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    mend_error error = MEND_ERROR_INIT;
    const mend_status status = mend_messages_add(messages, cases[i].role, &cases[i].part, 1, &error);
    if (cases[i].sentence == NULL) taken++;
    cr_assert_eq((int)status, (int)(cases[i].sentence == NULL ? MEND_OK : MEND_EINVAL), "case %zu: %s", i,
                 error.message);
    cr_assert_str_eq(error.message, cases[i].sentence != NULL ? cases[i].sentence : "", "case %zu: %s", i,
                     error.message);
    cr_assert_eq(mend_messages_count(messages), taken, "case %zu", i);
  }
  mend_error error;
  cr_assert_eq((int)mend_messages_add(messages, MEND_ROLE_USER, NULL, 0, &error), (int)MEND_EINVAL);
  cr_assert_str_eq(error.message, "a message without parts");
  cr_assert_eq((int)mend_messages_add(messages, MEND_ROLE_USER, NULL, 2, &error), (int)MEND_EINVAL);
  cr_assert_str_eq(error.message, "a message: parts is NULL, expected count (2) of them");
  cr_assert_eq((int)mend_messages_add_result(messages, MEND_STR(""), MEND_STR("1"), false), (int)MEND_EINVAL);
  free_messages(&memory, messages);
}

/* ---- Copies ---- */

static mend_messages *talk(mend_test_allocator *memory) {
  mend_messages *messages = new_messages(memory);
  char text[] = "what is 1+1?";
  const mend_part turn[] = {
      PART(.kind = MEND_PART_THINKING, .text = TEXT("easy"), .provider = TEXT("p"), .signature = TEXT("s")),
      PART(.kind = MEND_PART_CALL, .call_id = TEXT("c1"), .name = TEXT("add")),
  };
  cr_assert_eq(mend_messages_add_system(messages, MEND_STR("be brief")), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, mend_str_from(text)), MEND_OK);
  cr_assert_eq(mend_messages_add(messages, MEND_ROLE_ASSISTANT, turn, 2, NULL), MEND_OK);
  cr_assert_eq(mend_messages_add_result(messages, MEND_STR("c1"), MEND_STR("2"), true), MEND_OK);
  memset(text, 'x', sizeof text - 1);
  return messages;
}

static void check_talk(const mend_messages *messages) {
  cr_assert_eq(mend_messages_count(messages), 4u);
  cr_assert_str_eq(get(messages, 1, MEND_ROLE_USER, 1)->text.ptr, "what is 1+1?");
  const mend_part *turn = get(messages, 2, MEND_ROLE_ASSISTANT, 2);
  cr_assert_str_eq(turn[0].text.ptr, "easy");
  cr_assert_str_eq(turn[0].signature.ptr, "s");
  cr_assert_str_eq(turn[1].args.ptr, "{}");
  cr_assert_null(turn[1].text.ptr);
  const mend_part *result = get(messages, 3, MEND_ROLE_TOOL, 1);
  cr_assert_str_eq(result->name.ptr, "add", "a result knows the tool from its call");
  cr_assert(result->is_error);
}

Test(messages, own_what_they_are_given) {
  mend_test_allocator memory;
  mend_messages *messages = talk(&memory), *copy;
  mend_role role;
  const mend_part *parts;
  size_t count;
  check_talk(messages);
  cr_assert_eq((int)mend_messages_get(messages, 4, &role, &parts, &count), (int)MEND_ENOENT);
  cr_assert_eq(mend_messages_copy(messages, &memory.base, &copy), MEND_OK);
  /* A conversation's own parts may be added to it. */
  for (int i = 0; i < 40; i++) {
    parts = get(messages, 2, MEND_ROLE_ASSISTANT, 2);
    cr_assert_eq(mend_messages_add(messages, MEND_ROLE_ASSISTANT, parts, 2, NULL), MEND_OK);
  }
  cr_assert_str_eq(get(messages, 43, MEND_ROLE_ASSISTANT, 2)[0].text.ptr, "easy");
  mend_messages_free(messages);
  check_talk(copy);
  free_messages(&memory, copy);
}

/* ---- Replies ---- */

Test(messages, take_replies_as_turns) {
  static const struct {
    const char *args, *kept;
  } cases[] = {
      {"{\"a\":1}", "{\"a\":1}"},
      {"", "{}"},
      {"[1]", "{\"invalid\":\"[1]\"}"},
      {"{\"a\":", "{\"invalid\":\"{\\\"a\\\":\"}"},
  };
  enum { CASES = sizeof cases / sizeof cases[0] };
  mend_test_allocator memory;
  mend_messages *messages = new_messages(&memory);
  mend_part turn[1 + CASES] = {PART(.kind = MEND_PART_TEXT, .text = TEXT("let me see"))};
  for (size_t i = 0; i < CASES; i++) {
    turn[1 + i] = (mend_part)PART(.kind = MEND_PART_CALL, .call_id = TEXT("c"), .name = TEXT("f"));
    turn[1 + i].args = mend_str_from(cases[i].args);
  }
  mend_reply reply = MEND_REPLY_INIT;
  cr_assert_eq(mend_messages_add_reply(messages, &reply), MEND_OK);
  cr_assert_eq(mend_messages_count(messages), 0u, "a reply without parts is no turn");
  reply.parts = turn;
  reply.part_count = 1 + CASES;
  cr_assert_eq(mend_messages_add_reply(messages, &reply), MEND_OK);
  const mend_part *parts = get(messages, 0, MEND_ROLE_ASSISTANT, 1 + CASES);
  cr_assert_str_eq(parts[0].text.ptr, "let me see");
  for (size_t i = 0; i < CASES; i++)
    cr_assert_str_eq(parts[1 + i].args.ptr, cases[i].kept);
  free_messages(&memory, messages);
}

/* ---- Without memory ---- */

static mend_status say_all(mend_messages *messages, const mend_allocator *allocator) {
  const mend_part broken[] = {
      PART(.kind = MEND_PART_CALL, .call_id = TEXT("c"), .name = TEXT("f"), .args = TEXT("[1]"))};
  mend_reply reply = MEND_REPLY_INIT;
  mend_messages *copy;
  reply.parts = broken;
  reply.part_count = 1;
  mend_status status = mend_messages_add_user(messages, MEND_STR("hello"));
  if (status == MEND_OK) status = mend_messages_add_reply(messages, &reply);
  if (status == MEND_OK) status = mend_messages_add_result(messages, MEND_STR("c"), MEND_STR("1"), false);
  if (status == MEND_OK) status = mend_messages_copy(messages, allocator, &copy);
  if (status == MEND_OK) mend_messages_free(copy);
  return status;
}

Test(messages, survive_without_memory) {
  for (int onwards = 0; onwards < 2; onwards++) {
    bool failed = true;
    for (size_t n = 1; failed; n++) {
      mend_test_allocator memory;
      mend_messages *messages = new_messages(&memory);
      mend_test_allocator_arm(&memory, n, onwards != 0);
      const mend_status status = say_all(messages, &memory.base);
      failed = mend_test_allocator_failed(&memory);
      cr_assert_eq((int)status, (int)(failed ? MEND_ENOMEM : MEND_OK), "allocation %zu", n);
      mend_test_allocator_arm(&memory, 0, false);
      for (size_t i = 0; i < mend_messages_count(messages); i++)
        get(messages, i, (const mend_role[]){MEND_ROLE_USER, MEND_ROLE_ASSISTANT, MEND_ROLE_TOOL}[i], 1);
      cr_assert_eq(say_all(messages, &memory.base), MEND_OK);
      free_messages(&memory, messages);
    }
  }
}
