/* The canonical hash: a tree of hashes, built in one pass of the scanner. An array is folded as its elements come; the
 * members of the open objects wait in the scratch, as a stack, until their object ends and they can be put in order. */
#include "core/hash_internal.h"
#include "core/options_size.h"

static void open_level(mend__hasher *tree, bool array) {
  mend__hash_level *opened = ++tree->level;
  opened->array = array;
  if (array) {
    opened->keeps = MEND__KEEPS_NOT;
    opened->count = 0;
    opened->folded = (mend_hash){0, 0};
  } else {
    opened->first = tree->members;
    opened->absent = false;
  }
}

/* With the number of the elements, and no element. */
static mend_hash close_array(mend__hasher *tree) {
  const mend__hash_level *closed = tree->level--;
  return mend__hash_fold(closed->folded, closed->count, (mend_hash){0, 0});
}

static mend_hash close_object(mend__hasher *tree) {
  const mend__hash_level *closed = tree->level--;
  const size_t count = (size_t)(tree->members - closed->first);
  tree->members = closed->first;
  return mend__hash_members(closed->first, count, closed->absent);
}

static inline void add(mend__hasher *tree, const mend_json *json, mend_hash value) {
  mend__hash_level *parent = tree->level;
  if (json->depth == 0) {
    tree->root = value;
  } else if (parent->array) {
    parent->folded = mend__hash_fold(parent->folded, parent->count++, value);
  } else {
    parent->open->value = value; // NOLINT(clang-analyzer-core.NullDereference): an object's value comes behind a key
  }
}

void mend__hash_add(mend__hasher *tree, const mend_json *json, mend_hash value) { add(tree, json, value); }

static mend__hash_verdict add_key(mend__hasher *tree, mend_json *json) {
  if (tree->loose != NULL) {
    bool ignored;
    mend__hash_verdict verdict = mend__hash_loose_key(tree, json, &ignored);
    if (verdict != MEND__HASHED) return verdict;
    if (ignored) return mend_json_skip(json) > MEND_JSON_END ? MEND__HASHED : MEND__HASH_NO_JSON;
  }
  if (mend__hash_room(tree) < sizeof *tree->members) return MEND__HASH_NO_ROOM;
  mend__hash_open_member(tree, mend__hash_key(json->slice, json->escaped));
  return MEND__HASHED;
}

static mend_hash exact_scalar(const mend_json *json) {
  switch (json->token) {
  case MEND_JSON_STRING: return mend__hash_string(json->slice, json->escaped);
  case MEND_JSON_NUMBER: return mend__hash_number(json->slice, json->integer);
  default: return mend__hash_literal(json->slice);
  }
}

static inline mend__hash_verdict add_scalar(mend__hasher *tree, const mend_json *json) {
  if (tree->loose != NULL) return mend__hash_loose_scalar(tree, json);
  add(tree, json, exact_scalar(json));
  return MEND__HASHED;
}

static mend__hash_verdict take_token(mend__hasher *tree, mend_json *json) {
  switch (json->token) {
  case MEND_JSON_OBJECT: open_level(tree, false); return MEND__HASHED;
  case MEND_JSON_ARRAY: open_level(tree, true); return MEND__HASHED;
  case MEND_JSON_OBJECT_END: add(tree, json, close_object(tree)); return MEND__HASHED;
  case MEND_JSON_ARRAY_END: add(tree, json, close_array(tree)); return MEND__HASHED;
  case MEND_JSON_KEY: return add_key(tree, json);
  default: return add_scalar(tree, json);
  }
}

mend__hash_verdict mend__hash_text(mend__hasher *tree, mend_str text) {
  mend__hash_level *const level = tree->level;
  mend__hash_member *const members = tree->members;
  mend__hash_verdict verdict = MEND__HASHED;
  mend_json json;
  mend_json_init(&json, text, (unsigned)(tree->levels + MEND_JSON_DEPTH - level));
  while (verdict == MEND__HASHED && mend_json_next(&json) > MEND_JSON_END)
    verdict = take_token(tree, &json);
  if (json.token < MEND_JSON_END) verdict = MEND__HASH_NO_JSON;
  tree->level = level;
  tree->members = members;
  return verdict;
}

/* The levels are set when they are opened, but the one that stands for none. */
static void start(mend__hasher *tree, const mend_loose_hash_options *loose, void *scratch, size_t scratch_size) {
  static mend__hash_member nowhere;
  tree->loose = loose;
  tree->level = tree->levels;
  *tree->level = (mend__hash_level){.array = false};
  tree->root = (mend_hash){0, 0};
  tree->members = scratch != NULL ? scratch : &nowhere;
  tree->texts = (char *)tree->members + scratch_size;
}

/* ---- Both modes -------------------------------------------------------------------------------------------- */

static bool hash_root(mend__hasher *tree, mend_str text) {
  return text.len <= MEND_HASH_TEXT_MAX && mend__hash_text(tree, text) == MEND__HASHED;
}

static mend_json_hash_result raw_result(mend_str text) { return (mend_json_hash_result){mend_hash_bytes(text), true}; }

mend_json_hash_result mend_json_hash(mend_str text, void *scratch, size_t scratch_size) {
  mend__hasher tree;
  start(&tree, NULL, scratch, scratch_size);
  if (!hash_root(&tree, text)) return raw_result(text);
  return (mend_json_hash_result){mend__hash_never_none(tree.root), false};
}

mend_json_hash_result mend_json_hash_loose(mend_str text, const mend_loose_hash_options *options, void *scratch,
                                           size_t scratch_size) {
  mend_loose_hash_options taken = MEND_LOOSE_HASH_OPTIONS_INIT;
  mend__hasher tree;
  if (mend__options_take(&taken, options, "mend_loose_hash_options", NULL) != MEND_OK) return raw_result(text);
  start(&tree, &taken, scratch, scratch_size);
  if (!hash_root(&tree, text)) return raw_result(text);
  const uint64_t words[] = {mend__little_endian(tree.root.hi), mend__little_endian(tree.root.lo)};
  return (mend_json_hash_result){mend__hash_never_none(mend__hash_with(MEND__HASH_LOOSE, words, sizeof words)), false};
}
