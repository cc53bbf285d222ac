#include "core/buffer.h"
#include "core/given.h"
#include "core/memory.h"
#include "core/option_internal.h"
#include "core/text.h"
#include "mend/json.h"

mend_status mend_option_tree_new(const mend_allocator *allocator, mend_option_tree **ret_tree) {
  mend_option_tree *tree = mend__alloc_zero(allocator, sizeof *tree);
  if (tree == NULL) return MEND_ENOMEM;
  tree->allocator = allocator;
  tree->options = (mend_options)MEND_OPTIONS_INIT;
  *ret_tree = tree;
  return MEND_OK;
}

static void free_texts(const mend_option_tree *tree) {
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++)
    mend__free(tree->allocator, tree->texts[i]);
}

void mend_option_tree_free(mend_option_tree *tree) {
  if (tree == NULL) return;
  free_texts(tree);
  mend__free(tree->allocator, tree);
}

const mend_options *mend_option_tree_get(const mend_option_tree *tree) { return &tree->options; }

bool mend_option_tree_given(const mend_option_tree *tree, mend_str name) {
  const char *called;
  const mend__option *option = mend__option_find(name, &called);
  return option != NULL && tree->given[option - mend__options];
}

mend_status mend_option_tree_check(const mend_option_tree *tree, mend_error *error) {
  if (tree == NULL) return mend__refuse_null(error, "the tree of options");
  return mend_options_check(&tree->options, error);
}

/* ---- Drafts ---- */

mend__option_draft mend__option_draft_of(const mend_option_tree *tree) {
  mend__option_draft draft = *tree;
  memset(draft.texts, 0, sizeof draft.texts);
  return draft;
}

void mend__option_draft_discard(mend__option_draft *draft) { free_texts(draft); }

void mend__option_draft_commit(mend__option_draft *draft, mend_option_tree *tree) {
  tree->options = draft->options;
  memcpy(tree->given, draft->given, sizeof tree->given);
  for (size_t i = 0; i < MEND__OPTIONS_COUNT; i++) {
    if (draft->texts[i] == NULL) continue;
    mend__free(tree->allocator, tree->texts[i]);
    tree->texts[i] = draft->texts[i];
  }
}

static bool is_single_name(const mend__option *option, mend_str json) {
  const bool is_object = option->type == MEND__OPTION_LIMITS || option->type == MEND__OPTION_COUNTS;
  return !is_object && json.ptr[0] == '"';
}

static mend__option_fault check_text(const mend__option_draft *draft, const mend__option *option, mend_str json) {
  if (!is_single_name(option, json)) return mend__option_check_shape(option, json, draft->allocator);
  return json.len > strlen("\"\"") ? MEND__OPTION_FINE : mend__option_refuse(json, "empty");
}

/* Puts a copy of its own in the place of *text. One name becomes an array of one. */
static mend__option_fault keep_text(mend__option_draft *draft, const mend__option *option, mend_str *text) {
  const mend__option_fault fault = check_text(draft, option, *text);
  if (fault.status != MEND_OK) return fault;
  const bool single = is_single_name(option, *text);
  mend__buffer copy;
  mend__buffer_init(&copy, draft->allocator);
  if (single) mend__buffer_char(&copy, '[');
  mend__buffer_str(&copy, *text);
  if (single) mend__buffer_char(&copy, ']');
  if (copy.failed) {
    mend__buffer_free(&copy);
    return (mend__option_fault){.status = MEND_ENOMEM};
  }
  draft->texts[option - mend__options] = copy.data;
  *text = mend__buffer_text(&copy);
  return MEND__OPTION_FINE;
}

static void follow_mode(mend__option_draft *draft) {
  mend_options profile = draft->options;
  mend_options_set_profile(&profile, draft->options.mode);
#define FOLLOW(group, name, value, json)                                                                               \
  if (!draft->given[MEND__OPTION_INDEX(group, name)]) draft->options.group.name = profile.group.name;
  MEND_EVIDENCE_DEFAULTS(FOLLOW)
#undef FOLLOW
}

mend__option_fault mend__option_draft_set(mend__option_draft *draft, const mend__option *option, mend_str json) {
  mend__option_value value;
  mend__option_fault fault = mend__option_parse(option, json, &value);
  if (fault.status == MEND_OK && mend__option_is_text(option)) fault = keep_text(draft, option, &value.text);
  if (fault.status != MEND_OK) return fault;
  mend__option_store(option, &draft->options, value);
  const size_t index = (size_t)(option - mend__options);
  draft->given[index] = true;
  if (index == MEND__OPTION_INDEX(watch, mode)) follow_mode(draft);
  return MEND__OPTION_FINE;
}

/* ---- Setting one ---- */

static mend__option_fault set_bare_word(mend__option_draft *draft, const mend__option *option, mend_str word) {
  if (mend__option_is_text(option) && memchr(word.ptr, ',', word.len) != NULL) {
    return mend__option_refuse(word, "not one name");
  }
  mend__buffer quoted;
  mend__buffer_init(&quoted, draft->allocator);
  mend__buffer_json_string(&quoted, word);
  mend__option_fault fault = {.status = MEND_ENOMEM};
  if (!quoted.failed) fault = mend__option_draft_set(draft, option, mend__buffer_text(&quoted));
  mend__buffer_free(&quoted);
  fault.given = word;
  return fault;
}

/* What is no JSON is a word, unless it sets out to be more than a word. */
static mend__option_fault set_argument(mend__option_draft *draft, const mend__option *option, mend_str value) {
  const mend_str text = mend__trim(value);
  if (text.len == 0) return mend__option_refuse(MEND_STR("nothing"), "given");
  if (mend_json_check(text, MEND_JSON_DEPTH, NULL) == MEND_OK) return mend__option_draft_set(draft, option, text);
  if (memchr("\"[{", text.ptr[0], 3) != NULL) return mend__option_refuse(text, "not well-formed JSON");
  return set_bare_word(draft, option, text);
}

mend_status mend__option_report_unknown(mend_str name, const char *nearest, mend_error *error) {
  enum { NAME_SHOWN = 80 };
  const char *more = name.len > NAME_SHOWN ? "..." : "";
  if (name.len > NAME_SHOWN) name.len = mend__utf8_cut(name, NAME_SHOWN);
  if (nearest == NULL) return mend_error_set(error, MEND_ENOENT, "unknown option \"%.*s%s\"", MEND_STR_ARG(name), more);
  return mend_error_set(error, MEND_ENOENT, "unknown option \"%.*s%s\"; did you mean %s?", MEND_STR_ARG(name), more,
                        nearest);
}

mend_status mend_option_tree_set(mend_option_tree *tree, mend_str name, mend_str value, mend_error *error) {
  if (tree == NULL) return mend__refuse_null(error, "the tree of options");
  const char *called = NULL;
  const mend__option *option = mend__option_find(name, &called);
  if (option == NULL && mend__option_group_find(name) != NULL) {
    return mend_error_set(error, MEND_ENOENT, "%.*s is a group of options, expected the whole name of one of them",
                          MEND_STR_ARG(name));
  }
  if (option == NULL) return mend__option_report_unknown(name, mend_option_nearest(name), error);
  mend__option_draft draft = mend__option_draft_of(tree);
  const mend__option_fault fault = set_argument(&draft, option, value);
  if (fault.status != MEND_OK) {
    mend__option_draft_discard(&draft);
    return mend__option_report(option, called, fault, error);
  }
  mend__option_draft_commit(&draft, tree);
  return MEND_OK;
}
