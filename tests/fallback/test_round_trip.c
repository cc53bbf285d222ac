/* A turn of one provider, told to another: tests/data/fallback/round_trip has files of cases. A case is a title
 * behind ===, the provider that replied, its reply; and behind --- each the provider that is asked next, and the
 * body it is sent. In between each call has a result. */
#include "described.h"
#include "fallback/fallback_internal.h"
#include "sections.h"
#include "teller.h"

static void draft_delta(void *ctx, const mend_delta *given) {
  mend_delta delta = *given;
  bool is_content;
  cr_assert_eq(mend__draft_add(ctx, &delta, &is_content), MEND_OK);
}

static void draft_note(void *ctx, const mend_reply *partial) { cr_assert_eq(mend__draft_note(ctx, partial), MEND_OK); }

/* Adds the turn that a provider's reply is. */
static void add_turn(mend_messages *messages, const mend__dialect *dialect, mend_str text, const char *title) {
  mend__draft *draft = mend__draft_new(messages, NULL);
  const mend__decoder_listener listener = {.delta = draft_delta, .note = draft_note, .ctx = draft};
  mend__decoder decoder;
  mend_reply reply = MEND_REPLY_INIT;
  mend__decoder_init(&decoder, dialect, messages, NULL, NULL, &listener);
  cr_assert_eq(play(&decoder, text), MEND__READING_COMPLETE, "%s", title);
  mend__decoder_free(&decoder);
  cr_assert_eq(mend__draft_finish(draft, &reply), MEND_OK);
  cr_assert_eq(mend_messages_add_reply(messages, &reply), MEND_OK, "%s", title);
  mend_reply_clear(&reply);
}

static void add_results(mend_messages *messages) {
  mend_role role;
  const mend_part *parts;
  size_t count;
  mend_str ids[8];
  size_t calls = 0;
  cr_assert_eq(mend_messages_get(messages, mend_messages_count(messages) - 1, &role, &parts, &count), MEND_OK);
  for (size_t i = 0; i < count; i++) {
    if (parts[i].kind == MEND_PART_CALL) ids[calls++] = parts[i].call_id;
  }
  for (size_t i = 0; i < calls; i++)
    cr_assert_eq(mend_messages_add_result(messages, ids[i], MEND_STR("done"), false), MEND_OK);
}

static const mend__dialect *named(mend_str line) {
  const mend__dialect *dialect = mend__dialect_find((mend_str){line.ptr, line.len - 1});
  cr_assert_not_null(dialect, "no provider: %.*s", MEND_STR_ARG(line));
  return dialect;
}

static void check_target(const mend_messages *messages, mend_str section, const char *title) {
  const mend__dialect *dialect = named(take_until(&section, "\n"));
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  mend__wire wire;
  mend_error error = MEND_ERROR_INIT;
  request.messages = messages;
  request.stream = false;
  mend__wire_init(&wire, NULL);
  cr_assert_eq(mend__dialect_write(dialect, &request, MEND_STR("m"), NULL, &wire, &error), MEND_OK, "%s: %s", title,
               error.message);
  const mend_str body = {wire.body.data, wire.body.len};
  cr_assert(same_json(body, section), "%s: %s is sent\n%.*s\nexpected\n%.*s", title, dialect->provider,
            MEND_STR_ARG(body), MEND_STR_ARG(section));
  mend__wire_free(&wire);
}

static void check_case(mend_str text) {
  char title[128];
  mend_messages *messages;
  const mend_str line = take_until(&text, "\n");
  snprintf(title, sizeof title, "%.*s", (int)line.len - 1, line.ptr);
  const mend__dialect *from = named(take_until(&text, "\n"));
  cr_assert_eq(mend_messages_new(NULL, &messages), MEND_OK);
  cr_assert_eq(mend_messages_add_user(messages, MEND_STR("x")), MEND_OK);
  add_turn(messages, from, take_until(&text, "\n--- "), title);
  add_results(messages);
  cr_assert(text.len > 0, "%s: nobody is asked", title);
  while (text.len > 0)
    check_target(messages, take_until(&text, "\n--- "), title);
  mend_messages_free(messages);
}

static void check_file(void *ctx, const char *name) {
  size_t len;
  char *text = mend_test_read(name, &len);
  (void)ctx;
  mend_str rest = {text + 4, len - 4};
  while (rest.len > 0)
    check_case(take_until(&rest, "\n=== "));
  free(text);
}

Test(round_trip, cases) { cr_assert(mend_test_each("fallback/round_trip", ".txt", check_file, NULL) > 0); }
