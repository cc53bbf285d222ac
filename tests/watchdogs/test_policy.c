#include "world.h"

static mend_detection about(const char *detector, const char *summary) {
  mend_detection detection = MEND_DETECTION_INIT;
  detection.detector = mend_str_from(detector);
  detection.summary = mend_str_from(summary);
  return detection;
}

Test(policy, the_default_aborts_on_everything) {
  static const struct {
    const char *detector, *summary, *text;
  } rows[] = {
      {"loop", "search was called 4 times", "loop: search was called 4 times"},
      {"stall", "fetch has not returned", "stall: fetch has not returned"},
      {"regression", "confidence fell", "regression: confidence fell"},
      {"budget", "too much", "budget: too much"},
      {"token-budget", "too much", "token-budget: too much"},
      {"loops", "100 % \xc3\xa9", "loops: 100 % \xc3\xa9"},
      {"loop", NULL, "loop: "},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const mend_detection detection = about(rows[i].detector, rows[i].summary);
    mend_action action = mend_action_none();
    cr_assert_eq(mend_default_policy(NULL, &detection, &action), MEND_OK);
    cr_assert_eq(action.kind, MEND_ACTION_ABORT);
    cr_assert_str_eq(action.text, rows[i].text);
  }
}

Test(policy, actions) {
  const mend_action none = mend_action_none(), abort_it = mend_action_abort("%s after %d", "loop", 4),
                    ask = mend_action_escalate("go on?");
  cr_assert_eq(none.kind, MEND_ACTION_NONE);
  cr_assert_str_eq(none.text, "");
  cr_assert_eq(abort_it.kind, MEND_ACTION_ABORT);
  cr_assert_str_eq(abort_it.text, "loop after 4");
  cr_assert_eq(ask.kind, MEND_ACTION_ESCALATE);
  cr_assert_str_eq(ask.text, "go on?");
  cr_assert_str_eq(mend_action_kind_name(MEND_ACTION_NONE), "none");
  cr_assert_str_eq(mend_action_kind_name(MEND_ACTION_ABORT), "abort");
  cr_assert_str_eq(mend_action_kind_name(MEND_ACTION_ESCALATE), "escalate");
}

/* A text that does not fit is cut between characters, however many bytes stand before the end. */
Test(policy, long_texts_are_cut_at_a_character) {
  static const char *const characters[] = {"x", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"};
  char text[3000];
  for (int i = 0; i < 4; i++) {
    const size_t width = strlen(characters[i]);
    for (size_t shift = 0; shift < 8; shift++) {
      size_t len = shift;
      memset(text, '-', shift);
      for (; len + width < sizeof text; len += width)
        memcpy(text + len, characters[i], width);
      text[len] = '\0';
      const mend_action action = mend_action_abort("%s", text);
      const size_t kept = strlen(action.text);
      cr_assert(kept < sizeof action.text && kept + 2 * width >= sizeof action.text);
      cr_assert_eq((kept - shift) % width, 0u);
      cr_assert_eq(memcmp(action.text, text, kept), 0);
    }
  }
  memset(text, 'x', sizeof text);
  text[1023] = '\0';
  cr_assert_str_eq(mend_action_abort("%s", text).text, text); /* just fits */
}
