#include "program/reports/headline.h"

#include "program/base/plain.h"

/* ---- Amounts ----------------------------------------------------------------------------------------------- */

enum { AMOUNTS = 4 };

static bool has_amount(const replay_use *use, int which) {
  const bool has[AMOUNTS] = {use->calls > 0, use->tokens > 0, use->cost_usd > 0, use->ns > 0};
  return has[which];
}

static void write_amount(mend__buffer *line, const replay_use *use, int which) {
  switch (which) {
  case 0: plain_count(line, use->calls, "call"); break;
  case 1: plain_count(line, use->tokens, "token"); break;
  case 2: plain_money(line, use->cost_usd); break;
  default: plain_duration(line, use->ns);
  }
}

void headline_write_use(mend__buffer *line, const replay_use *use) {
  int left = 0;
  for (int i = 0; i < AMOUNTS; i++)
    left += has_amount(use, i);
  if (left == 0) mend__buffer_str(line, MEND_STR("nothing"));
  for (int i = 0; i < AMOUNTS; i++) {
    if (!has_amount(use, i)) continue;
    write_amount(line, use, i);
    left--;
    if (left > 0) mend__buffer_str(line, left == 1 ? MEND_STR(" and ") : MEND_STR(", "));
  }
}

/* ---- Troubles ---------------------------------------------------------------------------------------------- */

/* ": bash", or ", most of them bash" when there were others. */
static void write_tool(mend__buffer *line, const replay_trouble *trouble) {
  if (trouble->tool[0] == '\0') return;
  mend__buffer_str(line, trouble->other_tools ? MEND_STR(", most of them ") : MEND_STR(": "));
  plain_text(line, mend_str_from(trouble->tool), sizeof trouble->tool);
}

static void write_reason(mend__buffer *line, const replay_trouble *trouble) {
  mend__buffer_str(line, MEND_STR(": "));
  plain_text(line, mend_str_from(trouble->reason), sizeof trouble->reason);
}

/* What is said of a reason; NULL beyond the table. */
static const char *words_for(const char *reason, bool of_calls) {
  static const struct {
    const char *reason, *of_calls, *of_run;
  } words[] = {
      {"same_error_moving_args", "ran into the same error", NULL},
      {"empty_result_moving_args", "found nothing", NULL},
      {"unknown_tool", "asked for a tool that does not exist", NULL},
      {"retry_storm", "were retries that did not help", NULL},
      {"verify_no_progress", "were checks that failed all the same", NULL},
      {"chanting", NULL, "the model repeated itself within a reply"},
      {"monologue", NULL, "the model said the same again and again"},
      {"compaction", NULL, "shortening the context freed no room"},
      {"no_first_token", NULL, "the model did not begin to answer"},
      {"stream_idle", NULL, "the model stopped within a reply"},
      {"run_idle", NULL, "nothing happened for too long"},
  };
  for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
    if (strcmp(words[i].reason, reason) == 0) return of_calls ? words[i].of_calls : words[i].of_run;
  }
  return NULL;
}

static void write_loop(mend__buffer *line, const replay_run *run, const replay_trouble *loop) {
  const bool of_calls = loop->calls > 0;
  const char *words = words_for(loop->reason, of_calls);
  if (!of_calls) {
    mend__buffer_str(line, mend_str_from(words != NULL ? words : "the model went round in a circle"));
    return;
  }
  const uint64_t calls = loop->calls < run->used.calls ? loop->calls : run->used.calls;
  plain_number(line, calls);
  mend__buffer_str(line, MEND_STR(" of "));
  plain_count(line, run->used.calls, "call");
  mend__buffer_printf(line, " %s", words != NULL ? words : "went round in a circle");
  write_tool(line, loop);
}

static void write_stall(mend__buffer *line, const replay_run *run, const replay_trouble *stall) {
  (void)run;
  if (stall->calls == 0) {
    const char *words = words_for(stall->reason, false);
    mend__buffer_str(line, mend_str_from(words != NULL ? words : "nothing came for too long"));
    return;
  }
  plain_count(line, stall->calls, "call");
  mend__buffer_str(line, MEND_STR(" hung"));
  if (stall->longest_ns > 0) {
    mend__buffer_str(line, stall->calls > 1 ? MEND_STR(", the longest for ") : MEND_STR(" for "));
    plain_duration(line, stall->longest_ns);
  }
  write_tool(line, stall);
}

static void write_regression(mend__buffer *line, const replay_run *run, const replay_trouble *fall) {
  (void)run;
  (void)fall;
  mend__buffer_str(line, MEND_STR("confidence fell"));
}

static void write_budget(mend__buffer *line, const replay_run *run, const replay_trouble *budget) {
  (void)run;
  mend__buffer_str(line, MEND_STR("the budget was spent"));
  write_reason(line, budget);
}

static void write_other(mend__buffer *line, const replay_run *run, const replay_trouble *other) {
  (void)run;
  plain_count(line, other->incidents, "incident");
  mend__buffer_str(line, MEND_STR(" of another kind"));
  write_reason(line, other);
}

static void (*const write_trouble[REPLAY_KINDS])(mend__buffer *, const replay_run *, const replay_trouble *) = {
    [REPLAY_LOOP] = write_loop,     [REPLAY_STALL] = write_stall, [REPLAY_REGRESSION] = write_regression,
    [REPLAY_BUDGET] = write_budget, [REPLAY_OTHER] = write_other,
};

void headline_write_open(mend__buffer *line, mend_str tool, uint64_t unfinished, uint64_t since_ns) {
  mend__buffer_str(line, MEND_STR("ends in the middle of "));
  if (unfinished > 1) {
    plain_count(line, unfinished, "call");
  } else if (tool.len > 0) {
    plain_text(line, tool, 64);
  } else {
    mend__buffer_str(line, MEND_STR("a call"));
  }
  if (since_ns == 0) return;
  mend__buffer_str(line, unfinished > 1 ? MEND_STR(", the last open since ") : MEND_STR(", open since "));
  plain_clock(line, since_ns);
}

void headline_write(mend__buffer *line, const replay_run *run) {
  if (run->detections == 0) {
    if (run->unfinished > 0) {
      headline_write_open(line, run->open_tool, run->unfinished, run->open_ns);
      mend__buffer_str(line, MEND_STR(": "));
    } else {
      mend__buffer_str(line, MEND_STR("all is well: "));
    }
    plain_count(line, run->used.calls, "call");
    if (run->used.ns > 0) mend__buffer_str(line, MEND_STR(", "));
    if (run->used.ns > 0) plain_duration(line, run->used.ns);
    return;
  }
  const char *between = "";
  for (int kind = 0; kind < REPLAY_KINDS; kind++) {
    if (run->troubles[kind].incidents == 0) continue;
    mend__buffer_str(line, mend_str_from(between));
    write_trouble[kind](line, run, &run->troubles[kind]);
    between = "; ";
  }
}
