/* Two recordings side by side, for people and as JSON. */
#include "program/replay/diff.h"

#include "program/base/plain.h"

#include <stdio.h>

/* So many lines that are the same are shown around others; longer stretches are folded. */
enum { SAME_SHOWN = 2 };

/* Columns before the left call: a mark between blanks. */
enum { MARK_WIDTH = 3, BETWEEN = 2 };

/* ---- Words ------------------------------------------------------------------------------------------------- */

static const char *end_word(mend_event_kind end) {
  switch (end) {
  case MEND_EVENT_TOOL_AFTER: return "result";
  case MEND_EVENT_TOOL_ERROR: return "error";
  case MEND_EVENT_TOOL_SKIPPED: return "skipped";
  case MEND_EVENT_TOOL_ABORTED: return "aborted";
  case MEND_EVENT_TOOL_CANCELLED: return "cancelled";
  default: return "open";
  }
}

static const char *mark_word(diff_mark mark) {
  switch (mark) {
  case DIFF_SAME: return "same";
  case DIFF_OTHER_ANSWER: return "other_answer";
  case DIFF_OTHER_HASH: return "other_hash";
  case DIFF_CHANGED: return "other_call";
  case DIFF_LEFT_ONLY: return "left_only";
  case DIFF_RIGHT_ONLY: return "right_only";
  }
  return "";
}

static char mark_sign(diff_mark mark) {
  switch (mark) {
  case DIFF_SAME: return ' ';
  case DIFF_OTHER_ANSWER: return '~';
  case DIFF_OTHER_HASH: return '?';
  case DIFF_CHANGED: return '|';
  case DIFF_LEFT_ONLY: return '<';
  case DIFF_RIGHT_ONLY: return '>';
  }
  return ' ';
}

/* ---- Lines ------------------------------------------------------------------------------------------------- */

static size_t count_characters(mend_str text) {
  size_t count = 0;
  for (size_t i = 0; i < text.len; i++)
    count += ((unsigned char)text.ptr[i] & 0xC0) != 0x80;
  return count;
}

/* At most `width` characters, "..." included. */
static void put_cut(mend__buffer *page, mend_str text, size_t width) {
  plain_text(page, text, count_characters(text) <= width ? width : width - 3);
}

/* "tool arguments -> error: what it said", in `width` columns; the answer keeps a third of them when it is needed. */
static void put_step(const step_list *list, const step *of, size_t width, mend__buffer *page) {
  const size_t begin = page->len;
  mend__buffer call, answer;
  mend__buffer_init(&call, NULL);
  mend__buffer_init(&answer, NULL);
  const char *args = step_text(list, of->args);
  mend__buffer_printf(&call, "%s%s%s", step_text(list, of->tool), args[0] != '\0' ? " " : "", args);
  if (of->end == MEND_EVENT_CUSTOM) {
    mend__buffer_str(&answer, MEND_STR(" (open)"));
  } else {
    const bool plain = of->end == MEND_EVENT_TOOL_AFTER;
    mend__buffer_printf(&answer, " -> %s%s%s", plain ? "" : end_word(of->end), plain ? "" : ": ",
                        step_text(list, of->result));
  }
  page->failed |= call.failed || answer.failed;
  if (!page->failed) {
    const size_t third = width / 3, answer_len = count_characters(mend__buffer_text(&answer));
    put_cut(page, mend__buffer_text(&call), width - (answer_len < third ? answer_len : third));
    const size_t taken = count_characters((mend_str){page->data + begin, page->len - begin});
    put_cut(page, mend__buffer_text(&answer), width - taken);
  }
  mend__buffer_free(&call);
  mend__buffer_free(&answer);
}

static void put_line(const diff *of, const diff_line *line, size_t width, mend__buffer *page) {
  const size_t column = (width - MARK_WIDTH - BETWEEN) / 2;
  mend__buffer_printf(page, " %c ", mark_sign(line->mark));
  const size_t begin = page->len;
  if (line->left != NULL) put_step(of->left, line->left, column, page);
  if (line->right != NULL && !page->failed) {
    const size_t taken = count_characters((mend_str){page->data + begin, page->len - begin});
    mend__buffer_printf(page, "%*s", (int)(column - taken + BETWEEN), "");
    put_step(of->right, line->right, column, page);
  }
  mend__buffer_char(page, '\n');
}

/* How many lines from `at` on are the same. */
static size_t count_same_lines(const diff_pair *pair, size_t at) {
  size_t count = 0;
  while (at + count < pair->count && pair->lines[at + count].mark == DIFF_SAME)
    count++;
  return count;
}

static void put_folded(size_t count, mend__buffer *page) {
  mend__buffer_str(page, MEND_STR("   ... "));
  plain_count(page, count, "call");
  mend__buffer_str(page, count == 1 ? MEND_STR(" is the same\n") : MEND_STR(" are the same\n"));
}

static void put_lines(const diff *of, const diff_pair *pair, size_t width, size_t shown, mend__buffer *page) {
  size_t lines = 0;
  for (size_t i = 0; i < pair->count; i++) {
    if (shown > 0 && lines >= shown) {
      mend__buffer_printf(page, "   ... %zu more lines; --all shows them\n", pair->count - i);
      return;
    }
    const size_t same = count_same_lines(pair, i);
    if (same > 2 * SAME_SHOWN + 1) {
      for (size_t j = 0; j < SAME_SHOWN; j++)
        put_line(of, &pair->lines[i + j], width, page);
      put_folded(same - 2 * SAME_SHOWN, page);
      i += same - SAME_SHOWN;
      lines += SAME_SHOWN + 1;
    }
    put_line(of, &pair->lines[i], width, page);
    lines++;
  }
}

/* ---- Pairs ------------------------------------------------------------------------------------------------- */

static void put_run_name(const step_run *run, mend__buffer *page) { plain_text(page, mend_str_from(run->id), 80); }

static void put_names(const diff_pair *pair, mend__buffer *page) {
  mend__buffer_str(page, MEND_STR("run "));
  put_run_name(pair->left != NULL ? pair->left : pair->right, page);
  if (pair->left != NULL && pair->right != NULL && strcmp(pair->left->id, pair->right->id) != 0) {
    mend__buffer_str(page, MEND_STR(" and run "));
    put_run_name(pair->right, page);
  }
  mend__buffer_str(page, MEND_STR(": "));
}

static void put_place(const step_run *run, size_t at, mend__buffer *page) {
  if (at < run->count) {
    mend__buffer_printf(page, "row %llu", (unsigned long long)run->steps[at].row);
  } else {
    mend__buffer_str(page, MEND_STR("its end"));
  }
}

static void put_counts(const diff_pair *pair, mend__buffer *page) {
  const struct {
    size_t count;
    const char *what;
  } counts[] = {{pair->other_answers, "same call, other answer"},
                {pair->other_hashes, "same call, other hash of its answer"},
                {pair->changed, "other call"},
                {pair->left_only, "only left"},
                {pair->right_only, "only right"}};
  const char *between = "   ";
  for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
    if (counts[i].count == 0) continue;
    mend__buffer_printf(page, "%s%s: %zu", between, counts[i].what, counts[i].count);
    between = "; ";
  }
  mend__buffer_char(page, '\n');
  if (pair->left_rest + pair->right_rest > 0) {
    mend__buffer_printf(page, "   behind these there are %zu calls left and %zu right that were not compared\n",
                        pair->left_rest, pair->right_rest);
  }
}

static void put_pair(const diff *of, const diff_pair *pair, size_t width, size_t shown, mend__buffer *page) {
  put_names(pair, page);
  if (pair->left == NULL || pair->right == NULL) {
    mend__buffer_printf(page, "only the %s recording has it, ", pair->left != NULL ? "left" : "right");
    plain_count(page, (pair->left != NULL ? pair->left : pair->right)->count, "call");
    mend__buffer_char(page, '\n');
    return;
  }
  plain_count(page, pair->same, "call");
  if (!pair->differs) {
    mend__buffer_str(page, MEND_STR(", all the same\n"));
    return;
  }
  mend__buffer_str(page, pair->same == 1 ? MEND_STR(" is the same") : MEND_STR(" are the same"));
  mend__buffer_str(page, MEND_STR(", then they part: left at "));
  put_place(pair->left, pair->same, page);
  mend__buffer_str(page, MEND_STR(", right at "));
  put_place(pair->right, pair->same, page);
  mend__buffer_char(page, '\n');
  put_lines(of, pair, width, shown, page);
  put_counts(pair, page);
}

void diff_write_text(const diff *of, const char *left_name, const char *right_name, size_t width, size_t shown,
                     mend__buffer *page) {
  enum { NARROWEST = 60 };
  if (width < NARROWEST) width = NARROWEST;
  mend__buffer_str(page, MEND_STR("left   "));
  plain_text(page, mend_str_from(left_name), 200);
  mend__buffer_str(page, MEND_STR("\nright  "));
  plain_text(page, mend_str_from(right_name), 200);
  mend__buffer_char(page, '\n');
  for (size_t i = 0; i < of->count; i++) {
    mend__buffer_char(page, '\n');
    put_pair(of, &of->pairs[i], width, shown, page);
  }
}

/* ---- JSON -------------------------------------------------------------------------------------------------- */

static void add_step(const step_list *list, const char *key, const step *of, mend__buffer *page) {
  mend__buffer_printf(page, ",\"%s\":", key);
  if (of == NULL) {
    mend__buffer_str(page, MEND_STR("null"));
    return;
  }
  mend__buffer_printf(page, "{\"row\":%llu,\"tool_name\":", (unsigned long long)of->row);
  mend__buffer_json_string(page, mend_str_from(step_text(list, of->tool)));
  mend__buffer_str(page, MEND_STR(",\"args\":"));
  mend__buffer_json_string(page, mend_str_from(step_text(list, of->args)));
  mend__buffer_printf(page, ",\"end\":\"%s\"", end_word(of->end));
  if (of->end != MEND_EVENT_CUSTOM) {
    mend__buffer_str(page, MEND_STR(",\"answer\":"));
    mend__buffer_json_string(page, mend_str_from(step_text(list, of->result)));
  }
  mend__buffer_char(page, '}');
}

static void add_run(const char *key, const step_run *run, mend__buffer *page) {
  mend__buffer_printf(page, "\"%s\":", key);
  mend__buffer_json_text(page, run != NULL ? mend_str_from(run->id) : (mend_str){NULL, 0});
}

static void add_pairs(const diff *of, mend__buffer *page) {
  for (size_t i = 0; i < of->count; i++) {
    const diff_pair *pair = &of->pairs[i];
    mend__buffer_char(page, '{');
    add_run("left_run", pair->left, page);
    mend__buffer_char(page, ',');
    add_run("right_run", pair->right, page);
    mend__buffer_printf(page,
                        ",\"same\":%zu,\"differs\":%s,\"other_answers\":%zu,\"other_hashes\":%zu,\"other_calls\":%zu,"
                        "\"left_only\":%zu,\"right_only\":%zu,\"not_compared\":%zu,\"lines\":[",
                        pair->same, pair->differs ? "true" : "false", pair->other_answers, pair->other_hashes,
                        pair->changed, pair->left_only, pair->right_only, pair->left_rest + pair->right_rest);
    for (size_t j = 0; j < pair->count; j++) {
      if (j > 0) mend__buffer_char(page, ',');
      mend__buffer_printf(page, "{\"is\":\"%s\"", mark_word(pair->lines[j].mark));
      add_step(of->left, "left", pair->lines[j].left, page);
      add_step(of->right, "right", pair->lines[j].right, page);
      mend__buffer_char(page, '}');
    }
    mend__buffer_str(page, MEND_STR("]}\n"));
  }
}

void diff_write_json(const diff *of, mend__buffer *page) {
  mend__buffer raw;
  mend__buffer_init(&raw, NULL);
  add_pairs(of, &raw);
  page->failed |= raw.failed;
  plain_json_escaped(page, mend__buffer_text(&raw));
  mend__buffer_free(&raw);
}
