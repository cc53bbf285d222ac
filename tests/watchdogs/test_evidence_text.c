/* What mode evidence finds in what a model says: chanting, monologues, compactions in vain. Fed by hand, without a
 * bus. */
#include "core/buffer.h"
#include "core/mix.h"
#include "support/mend_test.h"
#include "support/test_support.h"
#include "watchdogs/chanting.h"
#include "watchdogs/compaction.h"
#include "watchdogs/monologue.h"

/* ---- Chanting ---- */

#define SENTENCE "I will now check the configuration file to be certain about it. " /* 64 bytes */
#define OTHER "Perhaps the other directory has what I am looking for, let me see. "

typedef struct text_case {
  const char *name;
  const char *front;
  const char *pieces[8]; /* one after the other, again and again; %u: the round */
  unsigned rounds;
  bool found;
} text_case;

static const text_case text_cases[] = {
    {"ten times a sentence", "", {SENTENCE}, 10, true},
    {"nine times", "", {SENTENCE}, 9, false},
    {"two sentences in turn", "", {SENTENCE, OTHER}, 11, true},
    {"a sentence behind an introduction", "Let me begin with the build. ", {SENTENCE}, 11, true},
    {"three letters", "", {"no "}, 200, true},
    {"not so many of them", "", {"no "}, 150, false},
    {"blanks without end", "", {"\n"}, 700, true},
    {"a line of dashes", "Result\n", {"-"}, 120, false},
    {"a number in between that counts up", "", {SENTENCE, "Attempt %u of many. "}, 40, false},
    {"five different texts in between",
     "",
     {SENTENCE "a", SENTENCE "b", SENTENCE "c", SENTENCE "d", SENTENCE "e"},
     3,
     true},
    {"six of them",
     "",
     {SENTENCE "a", SENTENCE "b", SENTENCE "c", SENTENCE "d", SENTENCE "e", SENTENCE "fg"},
     2,
     false},
    {"lines of one kind", "", {SENTENCE "\n"}, 11, true},
    {"a list", "", {"- " SENTENCE "\n"}, 40, false},
    {"a numbered list", "", {"%u. " SENTENCE "\n"}, 40, false},
    {"a table", "", {"| " SENTENCE "|\n"}, 40, false},
    {"headings", "", {"## " SENTENCE "\n"}, 40, false},
    {"code", "Here is the file:\n```python\n", {SENTENCE "\n"}, 40, false},
    {"code of tildes with a fence inside", "~~~~\n```\n~~~\n", {SENTENCE "\n"}, 40, false},
    {"code with a fence in the middle of a line", "```\nwrite ``` before it\n", {SENTENCE "\n"}, 40, false},
    {"code in the middle of a line", "Here: ```", {SENTENCE}, 40, false},
    {"behind code", "```\nx\n```\n", {SENTENCE}, 12, true},
    {"behind code in the middle of a line", "Run ```make``` now. ", {SENTENCE}, 12, true},
    {"two backticks are no fence", "`` ", {SENTENCE}, 12, true},
    {"no list: no blank behind the mark", "-v\n", {SENTENCE}, 12, true},
    {"no list: emphasis", "", {"**" SENTENCE "**\n"}, 12, true},
    {"far apart",
     "",
     {SENTENCE, "the first of the long texts that stand between one time and the next, ",
      "with which it is more than two hundred and fifty bytes from one to ",
      "the next one of these sentences, because so much else is being said, ", "%u, as anybody can see who counts. "},
     30,
     false},
};

static void write_text(mend__buffer *text, const text_case *row) {
  mend__buffer_init(text, NULL);
  mend__buffer_str(text, mend_str_from(row->front));
  for (unsigned round = 0; round < row->rounds; round++) {
    for (size_t i = 0; i < 8 && row->pieces[i] != NULL; i++) {
      const char *number = strstr(row->pieces[i], "%u");
      if (number == NULL) {
        mend__buffer_str(text, mend_str_from(row->pieces[i]));
        continue;
      }
      mend__buffer_bytes(text, row->pieces[i], (size_t)(number - row->pieces[i]));
      mend__buffer_u64(text, round + 1);
      mend__buffer_str(text, mend_str_from(number + 2));
    }
  }
}

static bool feed(mend__chanting *chanting, mend_event *event, mend__chant *chant) {
  bool found;
  cr_assert_eq(mend__chanting_event(chanting, event, &found, chant), MEND_OK);
  return found;
}

static bool feed_delta(mend__chanting *chanting, mend_str text, mend__chant *chant) {
  mend_model_delta_event delta = MEND_MODEL_DELTA_EVENT_INIT;
  delta.text = text;
  return feed(chanting, &delta.event, chant);
}

static bool feed_reply(mend__chanting *chanting, mend_str text, mend__chant *chant) {
  mend_model_response_event response = MEND_MODEL_RESPONSE_EVENT_INIT;
  response.text = text;
  return feed(chanting, &response.event, chant);
}

/* Where the finding was complete; 0: there was none. Pieces of up to `most` bytes, by a sequence of random numbers. */
static size_t found_in_pieces(mend_str text, size_t most, mend__chant *chant) {
  mend__chanting chanting = {0};
  uint64_t state = most;
  size_t at = 0, found_at = 0;
  while (at < text.len) {
    state += MEND__MIX_STEP;
    size_t len = 1 + (size_t)(mend__mix(state) % most);
    if (len > text.len - at) len = text.len - at;
    const bool found = feed_delta(&chanting, (mend_str){text.ptr + at, len}, chant);
    at += len;
    if (found) cr_assert_eq(found_at, 0u, "once a message");
    if (found) found_at = at;
  }
  cr_assert(!feed_reply(&chanting, text, chant), "what deltas said is not read again");
  cr_assert_null(chanting.text, "nothing is kept between messages");
  return found_at;
}

static bool found_whole(mend_str text, mend__chant *chant) {
  mend__chanting chanting = {0};
  const bool found = feed_reply(&chanting, text, chant);
  cr_assert_null(chanting.text);
  return found;
}

Test(evidence_text, chanting_whatever_the_cuts) {
  static const size_t most[] = {1, 2, 7, 64, 1000};
  for (size_t i = 0; i < sizeof text_cases / sizeof *text_cases; i++) {
    const text_case *row = &text_cases[i];
    mend__buffer buffer;
    mend__chant chant = {0}, again = {0};
    write_text(&buffer, row);
    const mend_str text = mend__buffer_text(&buffer);
    const size_t exact = found_in_pieces(text, 1, &chant);
    cr_assert_eq(exact != 0, row->found, "%s", row->name);
    cr_assert_eq(found_whole(text, &again), row->found, "%s", row->name);
    for (size_t j = 0; j < sizeof most / sizeof *most; j++) {
      const size_t at = found_in_pieces(text, most[j], &again);
      cr_assert(at >= exact && at < exact + most[j], "%s, in pieces of %zu: %zu, not %zu", row->name, most[j], at,
                exact);
      cr_assert_eq(memcmp(chant.piece, again.piece, sizeof chant.piece), 0, "%s", row->name);
    }
    mend__buffer_free(&buffer);
  }
}

/* At most 250 bytes from one to the next, on average. */
Test(evidence_text, how_far_apart) {
  for (size_t distance = 249; distance <= 252; distance++) {
    mend__buffer text;
    mend__chant chant;
    mend__buffer_init(&text, NULL);
    for (size_t i = 0; i < 20 * distance; i++)
      mend__buffer_char(&text, (char)('a' + mend__mix(i % distance) % 26));
    cr_assert_eq(found_in_pieces(mend__buffer_text(&text), 64, &chant) != 0, distance <= 250, "%zu", distance);
    mend__buffer_free(&text);
  }
}

/* The tenth time of the first piece is complete 50 bytes into the tenth sentence. */
Test(evidence_text, what_a_chant_says) {
  mend__buffer buffer;
  mend__chant chant;
  write_text(&buffer, &text_cases[0]);
  cr_assert_eq(found_in_pieces(mend__buffer_text(&buffer), 1, &chant), 9 * 64 + 50u);
  cr_assert_eq(chant.times, 10u);
  cr_assert_eq(chant.distance, 64u);
  cr_assert_eq(memcmp(chant.piece, SENTENCE, 50), 0);
  mend__buffer_free(&buffer);
}

/* What begins a message anew forgets the old one; what has nothing to do with it does not. */
Test(evidence_text, where_a_message_ends) {
  static const struct {
    mend_event_kind between;
    const char *delta_kind;
    uint64_t call;
    bool found;
  } rows[] = {
      {MEND_EVENT_TICK, NULL, 0, true},
      {MEND_EVENT_MODEL_USAGE, NULL, 0, true},
      {MEND_EVENT_MODEL_REQUEST, NULL, 0, false},
      {MEND_EVENT_MODEL_RETRY, NULL, 0, false},
      {MEND_EVENT_MODEL_ERROR, NULL, 0, false},
      {MEND_EVENT_RUN_RESET, NULL, 0, false},
      {MEND_EVENT_MODEL_DELTA, "tool_args", 0, true},
      {MEND_EVENT_MODEL_DELTA, "thinking", 0, false},
      {MEND_EVENT_MODEL_DELTA, "text", 7, false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__chanting chanting = {0};
    mend__chant chant;
    bool found = false;
    for (int times = 0; times < 5; times++)
      found = feed_delta(&chanting, MEND_STR(SENTENCE), &chant);
    mend_any_event between;
    cr_assert_eq(mend_event_init(&between, rows[i].between), MEND_OK);
    if (rows[i].delta_kind != NULL) {
      between.model_delta.delta_kind = mend_str_from(rows[i].delta_kind);
      between.model_delta.text = MEND_STR("something else");
      between.event.call = rows[i].call;
    }
    feed(&chanting, &between.event, &chant);
    for (int times = 0; times < 5; times++)
      found = feed_delta(&chanting, MEND_STR(SENTENCE), &chant);
    cr_assert_eq(found, rows[i].found, "row %zu", i);
    mend__chanting_reset(&chanting);
  }
}

Test(evidence_text, chanting_without_memory) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend__chanting chanting = {.allocator = &memory.base};
  mend_model_delta_event delta = MEND_MODEL_DELTA_EVENT_INIT;
  mend__chant chant;
  bool found = true;
  delta.text = MEND_STR(SENTENCE);
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(mend__chanting_event(&chanting, &delta.event, &found, &chant), MEND_ENOMEM);
  cr_assert(!found);
  for (int times = 0; times < 10; times++)
    found = feed_delta(&chanting, MEND_STR(SENTENCE), &chant);
  cr_assert(found);
  mend__chanting_reset(&chanting);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Monologue: a letter an event ----
 * q request, e error, t tool.before, u user.message, T tick; digits: what to say in a delta, then the whole reply */

static mend_str said(char letter) {
  switch (letter) {
  case 'a': return MEND_STR("All done, nothing is left to do.");
  case 'A': return MEND_STR("\n All done, nothing is left to do.  \n");
  case 'b': return MEND_STR("All done, nothing is left to say.");
  case '_': return MEND_STR(" ");
  default: return (mend_str){NULL, 0};
  }
}

static bool monologue_step(mend__monologue *monologue, char letter) {
  static const struct {
    char letter;
    mend_event_kind kind;
  } plain[] = {{'q', MEND_EVENT_MODEL_REQUEST}, {'e', MEND_EVENT_MODEL_ERROR},    {'t', MEND_EVENT_TOOL_BEFORE},
               {'u', MEND_EVENT_USER_MESSAGE},  {'.', MEND_EVENT_MODEL_RESPONSE}, {'T', MEND_EVENT_TICK}};
  mend_any_event event;
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
    if (plain[i].letter != letter) continue;
    cr_assert_eq(mend_event_init(&event, plain[i].kind), MEND_OK);
    return mend__monologue_event(monologue, &event.event);
  }
  cr_assert_eq(mend_event_init(&event, MEND_EVENT_MODEL_RESPONSE), MEND_OK);
  event.model_response.text = said(letter);
  return mend__monologue_event(monologue, &event.event);
}

Test(evidence_text, monologue) {
  static const struct {
    const char *events; /* letters of said(): a whole reply; '.': one that says nothing itself */
    const char *found;  /* ! where a finding is complete */
  } rows[] = {
      {"aaa", "  !"},
      {"aAa", "  !"},
      {"aab", "   "},
      {"aabaa", "     "},
      {"aaaa", "  ! "},
      {"aaaba", "  !  "},
      {"aaabaaa", "  !   !"},
      {"aataa", "     "},
      {"aauaa", "     "},
      {"aaTa", "   !"},
      {"aa.a", "   !"},
      {"aa_a", "   !"},
      {"___", "   "},
      {"qaqaqa", "     !"},
      {"qqqaaa", "      "},
      {"qqaaqa", "      "},
      {"qqaaqaqaqa", "         !"},
      {"qeaaa", "    !"},
      {"aataaa", "     !"},
      {"quqaqaqa", "       !"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__monologue monologue = {0};
    for (size_t at = 0; rows[i].events[at] != '\0'; at++) {
      const bool found = monologue_step(&monologue, rows[i].events[at]);
      cr_assert_eq(found, rows[i].found[at] == '!', "%s at %zu", rows[i].events, at);
    }
  }
}

static void say_in_pieces(mend__monologue *monologue, const char *const pieces[4], const char *delta_kind) {
  for (size_t piece = 0; piece < 4 && pieces[piece] != NULL; piece++) {
    mend_model_delta_event delta = MEND_MODEL_DELTA_EVENT_INIT;
    delta.text = mend_str_from(pieces[piece]);
    delta.delta_kind = mend_str_from(delta_kind);
    cr_assert(!mend__monologue_event(monologue, &delta.event));
  }
}

/* Deltas of any cut are the message of a reply without a text. */
Test(evidence_text, monologue_in_pieces) {
  static const struct {
    const char *pieces[4];
    const char *delta_kind;
    bool found;
  } rows[] = {
      {{"All done, ", "nothing is left ", "to do."}, NULL, true},
      {{"All done, nothing is left to do."}, "text", true},
      {{" ", "All done, nothing is left to do", ".", " \n"}, "text", true},
      {{"All done, nothing is left to do"}, NULL, false},
      {{"All done, nothing is left to do."}, "thinking", false},
      {{"All done, nothing is left to do."}, "tool_args", false},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__monologue monologue = {0};
    for (int times = 0; times < 2; times++) {
      say_in_pieces(&monologue, rows[0].pieces, NULL);
      cr_assert(!monologue_step(&monologue, '.'));
    }
    say_in_pieces(&monologue, rows[i].pieces, rows[i].delta_kind);
    cr_assert_eq(monologue_step(&monologue, '.'), rows[i].found, "row %zu", i);
  }
}

/* What a person has interrupted is no part of the next message. */
Test(evidence_text, monologue_interrupted) {
  static const char *const begun[4] = {"All done, "}, *const whole[4] = {"All done, nothing is left to do."};
  mend__monologue monologue = {0};
  cr_assert(!monologue_step(&monologue, 'q'));
  say_in_pieces(&monologue, begun, NULL);
  cr_assert(!monologue_step(&monologue, 'u'));
  for (int times = 1; times <= 3; times++) {
    cr_assert(!monologue_step(&monologue, 'q'));
    say_in_pieces(&monologue, whole, NULL);
    cr_assert_eq(monologue_step(&monologue, '.'), times == 3, "message %d", times);
  }
}

/* ---- Compaction ---- */

Test(evidence_text, compaction) {
  enum { TOOL = -1, FAILED_TOOL = -2, USER = -3, SILENT = -4 };
  static const struct {
    int64_t reclaimed[6]; /* tokens of 1005, or one of the above; 0 twice in a row: the end */
    int found_at;         /* -1: not */
  } rows[] = {
      {{1, 1, 1}, 2},          {{1, 1, 1, 1, 1}, 2},    {{100, 100, 100}, 2},        {{101, 101, 101}, -1},
      {{1, 1, 101, 1, 1}, -1}, {{1, 1, TOOL, 1, 1}, 3}, {{1, 1, FAILED_TOOL, 1}, 3}, {{1, 1, USER, 1}, -1},
      {{1, SILENT, 1, 1}, 3},  {{1, -5, 1}, 2}, /* it grew */
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend__compaction compaction = {0};
    for (int at = 0; at < 6 && rows[i].reclaimed[at] != 0; at++) {
      const int64_t reclaimed = rows[i].reclaimed[at];
      mend_any_event event;
      cr_assert_eq(mend_event_init(&event, reclaimed == TOOL          ? MEND_EVENT_TOOL_AFTER
                                           : reclaimed == FAILED_TOOL ? MEND_EVENT_TOOL_ERROR
                                           : reclaimed == USER        ? MEND_EVENT_USER_MESSAGE
                                                                      : MEND_EVENT_CONTEXT_COMPACT),
                   MEND_OK);
      if (event.event.kind == MEND_EVENT_CONTEXT_COMPACT && reclaimed != SILENT) {
        event.context_compact.before = 1005;
        event.context_compact.after = (uint64_t)(1005 - reclaimed);
      }
      const bool found = mend__compaction_event(&compaction, &event.event);
      cr_assert_eq(found, at == rows[i].found_at, "row %zu at %d", i, at);
    }
  }
  /* Numbers as large as they come, and a context that held nothing. */
  mend_context_compact_event compact = MEND_CONTEXT_COMPACT_EVENT_INIT;
  compact.before = MEND_NONE - 1;
  compact.after = compact.before - compact.before / 10;
  cr_assert(mend__compaction_is_vain(&compact));
  compact.after--;
  cr_assert(!mend__compaction_is_vain(&compact));
  compact.before = compact.after = 0;
  cr_assert(!mend__compaction_is_vain(&compact));
}
