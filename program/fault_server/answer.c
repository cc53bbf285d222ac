#include "program/fault_server/answer.h"

#include "core/memory.h"
#include "program/base/json_fields.h"

#include <stdio.h>

/* ---- Its lists ---------------------------------------------------------------------------------------------- */

enum { LISTS = 5 };

static text_list *list_of(answer *said, int index) {
  text_list *const lists[LISTS] = {&said->thoughts, &said->texts, &said->call_ids, &said->call_names, &said->call_args};
  return lists[index];
}

void answer_init(answer *said) {
  *said = (answer){0};
  for (int i = 0; i < LISTS; i++)
    text_list_init(list_of(said, i));
}

void answer_free(answer *said) {
  for (int i = 0; i < LISTS; i++)
    text_list_free(list_of(said, i));
}

static bool answer_failed(answer *said) {
  bool failed = false;
  for (int i = 0; i < LISTS; i++)
    failed |= text_list_failed(list_of(said, i));
  return failed;
}

static bool answer_is_too_large(answer *said) {
  bool is_full = false;
  for (int i = 0; i < LISTS; i++)
    is_full |= list_of(said, i)->is_full;
  return is_full;
}

/* ---- Words -------------------------------------------------------------------------------------------------- */

/* A word with the blanks before it. */
static size_t word_len(mend_str text) {
  size_t len = 0;
  while (len < text.len && text.ptr[len] == ' ')
    len++;
  while (len < text.len && text.ptr[len] != ' ')
    len++;
  return len;
}

static void add_words(text_list *list, mend_str text) {
  while (text.len > 0 && !list->is_full) {
    const size_t len = word_len(text);
    text_list_add(list, (mend_str){text.ptr, len});
    text = (mend_str){text.ptr + len, text.len - len};
  }
}

/* Says the words again, until there are as many deltas as are needed. */
static void repeat_words(text_list *list, unsigned needed) {
  const size_t count = text_list_count(list);
  for (size_t i = count; i < needed && !list->is_full && !text_list_failed(list); i++) {
    mend__buffer word;
    mend__buffer_init(&word, NULL);
    mend__buffer_printf(&word, "%s%.*s", i % count == 0 ? " " : "", MEND_STR_ARG(text_list_get(list, i % count)));
    list->bytes.failed |= word.failed;
    text_list_add(list, text_of(&word));
    mend__buffer_free(&word);
  }
}

/* ---- What was given ----------------------------------------------------------------------------------------- */

static void add_string(text_list *list, mend_str value, bool in_words) {
  const mend_str inside = mend__json_inside(value);
  mend__buffer text;
  mend__buffer_init(&text, NULL);
  if (inside.len > 0 && mend__buffer_reserve(&text, inside.len)) text.len = mend_json_unescape(inside, text.data);
  if (in_words) {
    add_words(list, text_of(&text));
  } else {
    text_list_add(list, text_of(&text));
  }
  list->bytes.failed |= text.failed;
  mend__buffer_free(&text);
}

static void add_id(answer *said, const question *asked) {
  char id[64];
  const int len =
      snprintf(id, sizeof id, "call_%llu_%zu", (unsigned long long)asked->number, text_list_count(&said->call_ids));
  text_list_add(&said->call_ids, (mend_str){id, (size_t)len});
}

static void add_given_call(answer *said, mend_str call, const question *asked) {
  json_field fields[] = {JSON_FIELD("name"), JSON_FIELD("args"), JSON_FIELD("id")};
  json_fields_read(call, fields, 3, NULL);
  add_string(&said->call_names, fields[0].value, false);
  text_list_add(&said->call_args, fields[1].value.ptr != NULL ? fields[1].value : MEND_STR("{}"));
  if (fields[2].value.ptr != NULL) {
    add_string(&said->call_ids, fields[2].value, false);
  } else {
    add_id(said, asked);
  }
}

static void take_given(answer *said, const question *asked, mend_str given) {
  enum { TEXT, TEXTS, THINKING, CALLS, COUNT };
  json_field fields[COUNT] = {JSON_FIELD("text"), JSON_FIELD("texts"), JSON_FIELD("thinking"),
                              JSON_FIELD("tool_calls")};
  json_fields_read(given, fields, COUNT, NULL);
  add_string(&said->texts, fields[TEXT].value, true);
  mend__json_items texts = mend__json_items_of(fields[TEXTS].value), calls = mend__json_items_of(fields[CALLS].value);
  mend_str element;
  while (mend__json_items_next(&texts, &element))
    add_string(&said->texts, element, false);
  add_string(&said->thoughts, fields[THINKING].value, true);
  while (mend__json_items_next(&calls, &element))
    add_given_call(said, element, asked);
}

/* ---- What is made up ---------------------------------------------------------------------------------------- */

static void call_tools(answer *said, const question *asked, const fault_plan *plan) {
  const size_t tools = text_list_count(&asked->tools);
  for (unsigned i = 0; i < plan->calls && !answer_is_too_large(said); i++) {
    mend__buffer args;
    mend__buffer_init(&args, NULL);
    mend__buffer_str(&args, MEND_STR("{\"text\":"));
    mend__buffer_json_string(&args, text_of(&asked->text));
    mend__buffer_printf(&args, ",\"call\":%u}", i);
    said->call_args.bytes.failed |= args.failed;
    add_id(said, asked);
    text_list_add(&said->call_names, tools > 0 ? text_list_get(&asked->tools, i % tools) : MEND_STR("tool"));
    text_list_add(&said->call_args, text_of(&args));
    mend__buffer_free(&args);
  }
}

static void add_odd_characters(answer *said, const fault_plan *plan) {
  if (plan->unicode || plan->split_utf8)
    text_list_add(&said->texts, MEND_STR(" h\xC3\xA9llo \xE2\x82\xAC \xF0\x9F\x8C\x8D"));
  if (plan->invalid_utf8) text_list_add(&said->texts, MEND_STR(" " ANSWER_INVALID_MARK));
}

static void make_up(answer *said, const question *asked, const fault_plan *plan) {
  if (plan->calls > 0) call_tools(said, asked, plan);
  if (plan->calls == 0 || plan->deltas > 0) {
    add_words(&said->texts, asked->text.len > 0 ? text_of(&asked->text) : MEND_STR("Hello from the fault server"));
  }
}

static void choose_finish(answer *said, const fault_plan *plan) {
  static const char *const words[ANSWER_FINISHES] = {"stop", "length", "tool_calls", "content_filter"};
  const mend_str word = text_of(&plan->finish);
  said->finish = text_list_count(&said->call_ids) > 0 ? ANSWER_CALLS : ANSWER_STOP;
  if (plan->block) said->finish = ANSWER_FILTER;
  if (word.len == 0) return;
  for (int finish = 0; finish < ANSWER_FINISHES; finish++) {
    if (!mend_str_equal(word, mend_str_from(words[finish]))) continue;
    said->finish = (answer_finish)finish;
    return;
  }
  said->finish_word = word;
}

static uint64_t count_words(mend_str text) {
  uint64_t count = 0;
  for (; text.len > 0; count++) {
    const size_t len = word_len(text);
    text = (mend_str){text.ptr + len, text.len - len};
  }
  return count;
}

mend_status answer_make(answer *said, const question *asked, const fault_plan *plan, mend_str given,
                        mend_error *error) {
  if (given.ptr != NULL) {
    take_given(said, asked, given);
  } else if (!plan->no_content) {
    make_up(said, asked, plan);
  }
  const bool thinks = plan->thinking && text_list_count(&said->thoughts) == 0;
  if (thinks) add_words(&said->thoughts, MEND_STR("Let me think about that."));
  add_odd_characters(said, plan);
  const unsigned needed = plan_contents_needed(plan);
  if (text_list_count(&said->texts) == 0 && needed > 0 && !plan->no_content) add_words(&said->texts, MEND_STR("More"));
  if (text_list_count(&said->texts) > 0) repeat_words(&said->texts, needed);
  choose_finish(said, plan);
  said->log_probs = asked->log_probs || plan->log_probs;
  said->usage = !plan->no_usage;
  said->input_tokens = count_words(text_of(&asked->text)) + 1;
  said->output_tokens =
      text_list_count(&said->thoughts) + text_list_count(&said->texts) + text_list_count(&said->call_ids);
  if (answer_is_too_large(said)) {
    return mend_error_set(error, MEND_ELIMIT, ANSWER_TOO_LARGE);
  }
  return answer_failed(said) ? MEND_ENOMEM : MEND_OK;
}

mend_str answer_finish_of(const answer *said, const char *const words[ANSWER_FINISHES]) {
  return said->finish_word.ptr != NULL ? said->finish_word : mend_str_from(words[said->finish]);
}

bool answer_is_refusal(const answer *said) { return mend_str_equal(said->finish_word, MEND_STR("refusal")); }

void answer_spoil(mend__buffer *text) {
  char *place = text->data;
  while (place != NULL &&
         (place = memmem(place, text->len - (size_t)(place - text->data), ANSWER_INVALID_MARK, 3)) != NULL)
    memcpy(place, "\xC3\x28\xFF", 3);
}

size_t answer_args_piece(mend_str args, size_t begin) {
  enum { PIECE = 12 };
  if (args.len - begin <= PIECE) return args.len;
  const size_t len = mend__utf8_cut((mend_str){args.ptr + begin, args.len - begin}, PIECE);
  return len > 0 ? begin + len : args.len;
}

int answer_log_prob(mend_str text) {
  unsigned sum = 0;
  for (size_t i = 0; i < text.len; i++)
    sum += (unsigned char)text.ptr[i];
  return -(int)(sum % 1000);
}
