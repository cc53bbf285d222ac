#include "hook_world.h"

#define ABSENT ((mend_str)MEND_ABSENT)

static const char *or_none(mend_str text) { return text.ptr != NULL ? text.ptr : "(absent)"; }

static void check_says(const mend_decision *decision, mend_decision_kind kind, const char *reason, const char *stub,
                       const char *tool, const char *args) {
  cr_assert_eq(mend_decision_get_kind(decision), kind, "%s", mend_decision_kind_name(decision->kind));
  cr_assert(text_is(mend_decision_reason(decision), reason), "%s", or_none(mend_decision_reason(decision)));
  cr_assert(text_is(mend_decision_stub(decision), stub), "%s", or_none(mend_decision_stub(decision)));
  cr_assert(text_is(mend_decision_tool(decision), tool), "%s", or_none(mend_decision_tool(decision)));
  cr_assert(text_is(mend_decision_args(decision), args), "%s", or_none(mend_decision_args(decision)));
}

typedef enum setter { CONTINUE, SKIP, SKIP_TEXT, REDIRECT, ABORT, ESCALATE } setter;

/* `first` is the stub, or the tool, or the question; `second` the arguments. */
static mend_status set(mend_decision *decision, setter how, mend_str reason, mend_str first, mend_str second) {
  switch (how) {
  case CONTINUE: mend_decision_continue(decision); return MEND_OK;
  case SKIP: return mend_decision_skip(decision, reason, first);
  case SKIP_TEXT: return mend_decision_skip_text(decision, reason, first);
  case REDIRECT: return mend_decision_redirect(decision, reason, first, second);
  case ABORT: return mend_decision_abort(decision, reason);
  case ESCALATE: return mend_decision_escalate(decision, first);
  }
  return MEND_EINVAL;
}

/* What a refused setter leaves: the Skip that was there. */
#define REFUSED(status) status, MEND_DECISION_SKIP, "earlier", "1", NULL, NULL

static const struct {
  setter how;
  const char *reason, *first, *second;
  mend_status status;
  mend_decision_kind kind;
  const char *says_reason, *says_stub, *says_tool, *says_args;
} rows[] = {
    {CONTINUE, NULL, NULL, NULL, MEND_OK, MEND_DECISION_CONTINUE, NULL, NULL, NULL, NULL},
    /* the stub: JSON, absent is the empty string */
    {SKIP, "why", "{\"a\":1}", NULL, MEND_OK, MEND_DECISION_SKIP, "why", "{\"a\":1}", NULL, NULL},
    {SKIP, "why", NULL, NULL, MEND_OK, MEND_DECISION_SKIP, "why", "\"\"", NULL, NULL},
    {SKIP, NULL, "null", NULL, MEND_OK, MEND_DECISION_SKIP, NULL, "null", NULL, NULL},
    {SKIP, "", " [1, 2] ", NULL, MEND_OK, MEND_DECISION_SKIP, "", " [1, 2] ", NULL, NULL},
    {SKIP, "why", "no json", NULL, REFUSED(MEND_ESYNTAX)},
    {SKIP, "why", "", NULL, REFUSED(MEND_ESYNTAX)},
    {SKIP, "why", "{} {}", NULL, REFUSED(MEND_ESYNTAX)},
    /* plain text becomes a JSON string */
    {SKIP_TEXT, "why", "no \"json\"\n", NULL, MEND_OK, MEND_DECISION_SKIP, "why", "\"no \\\"json\\\"\\n\"", NULL, NULL},
    {SKIP_TEXT, "why", "{}", NULL, MEND_OK, MEND_DECISION_SKIP, "why", "\"{}\"", NULL, NULL},
    {SKIP_TEXT, NULL, "", NULL, MEND_OK, MEND_DECISION_SKIP, NULL, "\"\"", NULL, NULL},
    {SKIP_TEXT, "why", NULL, NULL, MEND_OK, MEND_DECISION_SKIP, "why", "\"\"", NULL, NULL},
    /* a redirect needs a tool or arguments; an empty object counts as present */
    {REDIRECT, "why", "b", NULL, MEND_OK, MEND_DECISION_REDIRECT, "why", NULL, "b", NULL},
    {REDIRECT, "why", NULL, "{\"x\":2}", MEND_OK, MEND_DECISION_REDIRECT, "why", NULL, NULL, "{\"x\":2}"},
    {REDIRECT, "why", NULL, "{}", MEND_OK, MEND_DECISION_REDIRECT, "why", NULL, NULL, "{}"},
    {REDIRECT, NULL, "b", " {\"x\":2}", MEND_OK, MEND_DECISION_REDIRECT, NULL, NULL, "b", " {\"x\":2}"},
    {REDIRECT, "why", NULL, NULL, REFUSED(MEND_EINVAL)},
    {REDIRECT, "why", "", NULL, REFUSED(MEND_EINVAL)},
    {REDIRECT, "why", "", "{}", REFUSED(MEND_EINVAL)},
    {REDIRECT, "why", "b", "[1]", REFUSED(MEND_ESYNTAX)},
    {REDIRECT, "why", "b", "\"{}\"", REFUSED(MEND_ESYNTAX)},
    {REDIRECT, "why", "b", "{\"x\":}", REFUSED(MEND_ESYNTAX)},
    {REDIRECT, "why", "b", "", REFUSED(MEND_ESYNTAX)},
    {REDIRECT, "why", NULL, "{}x", REFUSED(MEND_ESYNTAX)},
    {ABORT, "why", NULL, NULL, MEND_OK, MEND_DECISION_ABORT, "why", NULL, NULL, NULL},
    {ABORT, NULL, NULL, NULL, MEND_OK, MEND_DECISION_ABORT, NULL, NULL, NULL, NULL},
    /* a question */
    {ESCALATE, NULL, "Go \"on\"?\n", NULL, MEND_OK, MEND_DECISION_SKIP, "escalation requested",
     "{\"escalation_question\":\"Go \\\"on\\\"?\\n\"}", NULL, NULL},
    {ESCALATE, NULL, "", NULL, MEND_OK, MEND_DECISION_SKIP, "escalation requested", "{\"escalation_question\":\"\"}",
     NULL, NULL},
    {ESCALATE, NULL, NULL, NULL, REFUSED(MEND_EINVAL)},
};
enum { ROWS = sizeof rows / sizeof *rows };

static mend_str on_heap(const char *text) { return text != NULL ? (mend_str){strdup(text), strlen(text)} : ABSENT; }

/* Sets by copies that are gone before anybody looks. */
static mend_status set_row(mend_decision *decision, size_t i) {
  const mend_str reason = on_heap(rows[i].reason), first = on_heap(rows[i].first), second = on_heap(rows[i].second);
  const mend_status status = set(decision, rows[i].how, reason, first, second);
  free((char *)reason.ptr);
  free((char *)first.ptr);
  free((char *)second.ptr);
  return status;
}

static void check_row(const mend_decision *decision, size_t i) {
  check_says(decision, rows[i].kind, rows[i].says_reason, rows[i].says_stub, rows[i].says_tool, rows[i].says_args);
  const bool asks = rows[i].how == ESCALATE && rows[i].status == MEND_OK;
  cr_assert(text_is(mend_decision_question(decision), asks ? rows[i].first : NULL), "row %zu", i);
}

Test(decision, says_what_was_set_last) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_decision *decision;
  cr_assert_eq(mend_decision_new(&memory.base, &decision), MEND_OK);
  check_says(decision, MEND_DECISION_CONTINUE, NULL, NULL, NULL, NULL);
  for (size_t i = 0; i < ROWS; i++) {
    cr_assert_eq(mend_decision_skip(decision, MEND_STR("earlier"), MEND_STR("1")), MEND_OK);
    cr_assert_eq(set_row(decision, i), rows[i].status, "row %zu", i);
    check_row(decision, i);
  }
  mend_decision_continue(decision);
  cr_assert_eq(atomic_load(&memory.blocks), 1u, "Continue holds nothing");

  /* its own texts, handed back to it */
  cr_assert_eq(mend_decision_redirect(decision, MEND_STR("why"), MEND_STR("tool"), MEND_STR("{\"a\":1}")), MEND_OK);
  cr_assert_eq(mend_decision_skip(decision, mend_decision_tool(decision), mend_decision_args(decision)), MEND_OK);
  check_says(decision, MEND_DECISION_SKIP, "tool", "{\"a\":1}", NULL, NULL);

  mend_decision_free(decision);
  mend_decision_free(NULL);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);

  cr_assert_eq(mend_decision_new(NULL, &decision), MEND_OK, "malloc's");
  cr_assert_eq(mend_decision_abort(decision, MEND_STR("why")), MEND_OK);
  mend_decision_free(decision);
}

/* ---- What was refused is remembered, for hook.failed ---- */

Test(decision, remembers_what_was_refused) {
  static const struct {
    setter how;
    const char *first, *second;
    const char *sentence; /* NULL: nothing was refused */
  } refused[] = {
      {SKIP, "blocked", NULL,
       "skip: the stub is no JSON: line 1, column 1: expected a value, found 'b'; mend_decision_skip_text takes plain "
       "text"},
      {SKIP, "{\n\"a\":", NULL,
       "skip: the stub is no JSON: line 2, column 5: expected a value, found the end of the text; "
       "mend_decision_skip_text "
       "takes plain text"},
      {SKIP, "1", NULL, NULL},
      {SKIP_TEXT, "blocked", NULL, NULL},
      {REDIRECT, NULL, NULL, "redirect: neither tool nor args, expected one of them or both"},
      {REDIRECT, "", "{}", "redirect: the tool is empty, expected a name, or absent for the same"},
      {REDIRECT, "b", "[1]", "redirect: args are an array, expected an object"},
      {REDIRECT, "b", "{\"x\":}", "redirect: args are no JSON: line 1, column 6: expected a value, found '}'"},
      {REDIRECT, "b", "{}", NULL},
      {ESCALATE, NULL, NULL, "escalate: the question is absent"},
      {ESCALATE, "Really?", NULL, NULL},
      {ABORT, NULL, NULL, NULL},
      {CONTINUE, NULL, NULL, NULL},
  };
  mend_decision decision, other;
  mend_error refusal = MEND_ERROR_INIT;
  mend__decision_init(&decision, NULL);
  mend__decision_init(&other, NULL);
  decision.refusal = &refusal;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    mend_decision_redirect(&decision, ABSENT, ABSENT, ABSENT); /* so that a success forgets one */
    const mend_status status = set(&decision, refused[i].how, MEND_STR("why"), mend_str_from(refused[i].first),
                                   mend_str_from(refused[i].second));
    cr_assert_eq(refusal.status, status, "row %zu", i);
    cr_assert_eq(status == MEND_OK, refused[i].sentence == NULL, "row %zu", i);
    if (status != MEND_OK) cr_assert_str_eq(refusal.message, refused[i].sentence);
    mend__decision_move(&other, &decision);
    cr_assert_null(other.refusal, "row %zu: it is not moved", i);
    cr_assert_eq(decision.refusal, &refusal, "row %zu", i);
  }
  mend__decision_clear(&decision);
  mend__decision_clear(&other);

  /* without any that could be told */
  cr_assert_eq(mend_decision_new(NULL, NULL), MEND_EINVAL);
  for (setter how = SKIP; how <= ESCALATE; how++)
    cr_assert_eq(set(NULL, how, MEND_STR("why"), MEND_STR("1"), MEND_STR("{}")), MEND_EINVAL, "setter %d", (int)how);
}

Test(decision, moves) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  for (size_t i = 0; i < ROWS; i++) {
    if (rows[i].status != MEND_OK) continue;
    mend_decision from, to;
    mend__decision_init(&from, &memory.base);
    mend__decision_init(&to, &memory.base);
    cr_assert_eq(mend_decision_abort(&to, MEND_STR("overwritten")), MEND_OK);
    cr_assert_eq(set_row(&from, i), MEND_OK);
    mend__decision_move(&to, &from);
    check_row(&to, i);
    check_says(&from, MEND_DECISION_CONTINUE, NULL, NULL, NULL, NULL);
    mend__decision_clear(&from);
    mend__decision_clear(&to);
    check_says(&to, MEND_DECISION_CONTINUE, NULL, NULL, NULL, NULL);
    cr_assert_eq(atomic_load(&memory.blocks), 0u);
  }
}

Test(decision, says_what_it_said_when_out_of_memory) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_decision *decision = NULL;
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(mend_decision_new(&memory.base, &decision), MEND_ENOMEM);
  cr_assert_null(decision);
  cr_assert_eq(mend_decision_new(&memory.base, &decision), MEND_OK);
  for (size_t i = 0; i < ROWS; i++) {
    if (rows[i].status != MEND_OK) continue;
    for (size_t fail_at = 1;; fail_at++) {
      mend_test_allocator_arm(&memory, 0, false);
      cr_assert_eq(mend_decision_skip(decision, MEND_STR("earlier"), MEND_STR("1")), MEND_OK);
      mend_test_allocator_arm(&memory, fail_at, false);
      const mend_status status = set_row(decision, i);
      if (!mend_test_allocator_failed(&memory)) break;
      cr_assert_eq(status, MEND_ENOMEM, "row %zu", i);
      check_says(decision, MEND_DECISION_SKIP, "earlier", "1", NULL, NULL);
    }
    check_row(decision, i);
  }

  /* but an abort that must be is one */
  mend_test_allocator_arm(&memory, 1, false);
  mend__decision_force_abort(decision, MEND_STR("why"));
  check_says(decision, MEND_DECISION_ABORT, "aborted, out of memory for the reason", NULL, NULL, NULL);
  mend__decision_force_abort(decision, MEND_STR("why"));
  check_says(decision, MEND_DECISION_ABORT, "why", NULL, NULL, NULL);
  mend_decision_free(decision);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

Test(decision, names) {
  static const struct {
    mend_decision_kind kind;
    const char *name;
  } names[] = {
      {MEND_DECISION_CONTINUE, "continue"},
      {MEND_DECISION_SKIP, "skip"},
      {MEND_DECISION_REDIRECT, "redirect"},
      {MEND_DECISION_ABORT, "abort"},
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    cr_assert_str_eq(mend_decision_kind_name(names[i].kind), names[i].name);
}
