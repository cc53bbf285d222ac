/* The canonical hash: a tree of XXH3 hashes, built in one pass of the scanner. An array is folded as its elements come;
 * the members of the open objects wait in the scratch, as a stack, until their object ends and they can be put in
 * order. */
#include "core/hash_internal.h"
#include "core/json_internal.h"
#include "core/options_size.h"

#include <math.h>
/* Measured with arguments of 100 bytes: gcc 12 puts a hash together in memory, to assign it as one vector, and the load
 * waits for both stores: a tenth slower. Calls into the shared library instead of inline code: a fifth slower. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif
#define XXH_INLINE_ALL
#include <xxhash.h>

static uint64_t little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(value);
#else
  return value;
#endif
}

static mend_hash from_xxh(XXH128_hash_t hash) { return (mend_hash){hash.high64, hash.low64}; }

mend_hash mend__hash_with(mend__hash_domain domain, const void *bytes, size_t len) {
  return from_xxh(XXH3_128bits_withSeed(bytes, len, domain));
}

static mend_hash never_none(mend_hash hash) {
  if (mend_hash_is_none(hash)) hash.lo = 1;
  return hash;
}

mend_hash mend_hash_bytes(mend_str bytes) { return never_none(mend__hash_with(MEND__HASH_RAW, bytes.ptr, bytes.len)); }

/* ---- Strings and numbers ----------------------------------------------------------------------------------- */

/* The escapes of long strings are undone piece by piece. */
#define UNESCAPED_PIECE 1024

static mend_hash hash_long_escaped(mend__hash_domain domain, mend_str slice) {
  char piece[UNESCAPED_PIECE];
  XXH3_state_t state;
  XXH3_INITSTATE(&state);
  XXH3_128bits_reset_withSeed(&state, domain);
  while (slice.len > 0) {
    size_t len = mend__json_unescape_part(&slice, piece, sizeof piece);
    XXH3_128bits_update(&state, piece, len);
  }
  return from_xxh(XXH3_128bits_digest(&state));
}

static mend_hash hash_escaped(mend__hash_domain domain, mend_str slice) {
  if (slice.len > UNESCAPED_PIECE) return hash_long_escaped(domain, slice);
  char text[UNESCAPED_PIECE];
  size_t len = mend_json_unescape(slice, text);
  return mend__hash_with(domain, text, len);
}

static inline mend_hash hash_string(mend__hash_domain domain, mend_str slice, bool escaped) {
  return escaped ? hash_escaped(domain, slice) : mend__hash_with(domain, slice.ptr, slice.len);
}

mend_hash mend__hash_string(mend_str slice, bool escaped) { return hash_string(MEND__HASH_STRING, slice, escaped); }

mend_hash mend__hash_double(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = little_endian(bits);
  return mend__hash_with(MEND__HASH_DOUBLE, &bits, sizeof bits);
}

mend_hash mend__hash_number(mend_str slice, bool integer) {
  if (integer) return mend__hash_with(MEND__HASH_INTEGER, slice.ptr, slice.len);
  double value = mend_json_double(slice);
  if (isinf(value)) return mend__hash_with(MEND__HASH_BEYOND_DOUBLE, slice.ptr, slice.len);
  return mend__hash_double(value);
}

static mend_hash exact_scalar(const mend_json *json) {
  switch (json->token) {
  case MEND_JSON_STRING: return hash_string(MEND__HASH_STRING, json->slice, json->escaped);
  case MEND_JSON_NUMBER: return mend__hash_number(json->slice, json->integer);
  default: return mend__hash_with(MEND__HASH_LITERAL, json->slice.ptr, json->slice.len);
  }
}

/* ---- Arrays and objects ------------------------------------------------------------------------------------ */

/* Folds one more element into the hash of those before it; at the end their number, with no element. */
static mend_hash fold(mend_hash before, uint64_t number, mend_hash element) {
  uint64_t words[] = {little_endian(before.hi), little_endian(before.lo), little_endian(number),
                      little_endian(element.hi), little_endian(element.lo)};
  return mend__hash_with(MEND__HASH_ARRAY, words, sizeof words);
}

/* As it is hashed: the same on every machine, without the position. */
static void make_canonical(mend__hash_member *member) {
  member->key = (mend_hash){little_endian(member->key.hi), little_endian(member->key.lo)};
  member->value = (mend_hash){little_endian(member->value.hi), little_endian(member->value.lo)};
  member->position = 0;
}

static mend_hash hash_members(mend__hash_member *members, size_t count) {
  mend__hash_sort_members(members, count);
  size_t kept = 0;
  for (size_t i = 0; i < count; i++) {
    if (i + 1 < count && mend_hash_equal(members[i].key, members[i + 1].key)) continue;
    if (mend_hash_is_none(members[i].value)) continue;
    if (kept < i) members[kept] = members[i];
    make_canonical(&members[kept++]);
  }
  return mend__hash_with(MEND__HASH_OBJECT, members, kept * sizeof *members);
}

/* ---- The tree ---------------------------------------------------------------------------------------------- */

static mend__hash_member *members_of(mend__hasher *tree) { return (void *)tree->scratch; }

static void open_level(mend__hasher *tree, bool array) {
  tree->levels[tree->depth++] = (mend__hash_level){.array = array, .first_member = tree->count};
}

static mend_hash close_array(mend__hasher *tree) {
  const mend__hash_level *closed = &tree->levels[--tree->depth];
  return fold(closed->folded, closed->count, (mend_hash){0, 0});
}

static mend_hash close_object(mend__hasher *tree) {
  const size_t first = tree->levels[--tree->depth].first_member, count = tree->count - first;
  tree->count = first;
  return hash_members(members_of(tree) + first, count);
}

void mend__hash_add(mend__hasher *tree, const mend_json *json, mend_hash value) {
  if (json->depth == 0) {
    tree->root = value;
    return;
  }
  mend__hash_level *parent = &tree->levels[tree->depth - 1];
  if (parent->array) {
    parent->folded = fold(parent->folded, parent->count++, value);
  } else {
    members_of(tree)[tree->count - 1].value = value;
  }
}

static mend__hash_verdict add_key(mend__hasher *tree, mend_json *json) {
  if (tree->loose != NULL) {
    bool ignored;
    mend__hash_verdict verdict = mend__hash_loose_key(tree, json, &ignored);
    if (verdict != MEND__HASHED) return verdict;
    if (ignored) return mend_json_skip(json) > MEND_JSON_END ? MEND__HASHED : MEND__HASH_NO_JSON;
  }
  if ((tree->count + 1) * sizeof(mend__hash_member) > tree->scratch_size) return MEND__HASH_NO_ROOM;
  mend__hash_member *added = &members_of(tree)[tree->count++];
  added->key = hash_string(MEND__HASH_KEY, json->slice, json->escaped);
  added->value = (mend_hash){0, 0};
  added->position = json->at;
  return MEND__HASHED;
}

static mend__hash_verdict add_scalar(mend__hasher *tree, const mend_json *json) {
  if (tree->loose != NULL) return mend__hash_loose_scalar(tree, json);
  mend__hash_add(tree, json, exact_scalar(json));
  return MEND__HASHED;
}

static mend__hash_verdict take_token(mend__hasher *tree, mend_json *json) {
  switch (json->token) {
  case MEND_JSON_OBJECT: open_level(tree, false); return MEND__HASHED;
  case MEND_JSON_ARRAY: open_level(tree, true); return MEND__HASHED;
  case MEND_JSON_OBJECT_END: mend__hash_add(tree, json, close_object(tree)); return MEND__HASHED;
  case MEND_JSON_ARRAY_END: mend__hash_add(tree, json, close_array(tree)); return MEND__HASHED;
  case MEND_JSON_KEY: return add_key(tree, json);
  default: return add_scalar(tree, json);
  }
}

mend__hash_verdict mend__hash_text(mend__hasher *tree, mend_str text) {
  const size_t depth = tree->depth, count = tree->count;
  mend__hash_verdict verdict = MEND__HASHED;
  mend_json json;
  mend_json_init(&json, text, (unsigned)(MEND_JSON_DEPTH - depth));
  while (verdict == MEND__HASHED && mend_json_next(&json) > MEND_JSON_END)
    verdict = take_token(tree, &json);
  if (json.token < MEND_JSON_END) verdict = MEND__HASH_NO_JSON;
  tree->depth = depth;
  tree->count = count;
  return verdict;
}

/* The levels are set when they are opened. */
static void start(mend__hasher *tree, const mend_loose_hash_options *loose, void *scratch, size_t scratch_size) {
  static mend__hash_member nowhere;
  const bool none = scratch_size < sizeof nowhere;
  tree->loose = loose;
  tree->depth = 0;
  tree->scratch = none ? (char *)&nowhere : scratch;
  tree->scratch_size = none ? 0 : scratch_size;
  tree->count = 0;
  tree->root = (mend_hash){0, 0};
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
  return (mend_json_hash_result){never_none(tree.root), false};
}

mend_json_hash_result mend_json_hash_loose(mend_str text, const mend_loose_hash_options *options, void *scratch,
                                           size_t scratch_size) {
  mend_loose_hash_options taken = MEND_LOOSE_HASH_OPTIONS_INIT;
  mend__hasher tree;
  if (mend__options_take(&taken, options, "mend_loose_hash_options", NULL) != MEND_OK) return raw_result(text);
  start(&tree, &taken, scratch, scratch_size);
  if (!hash_root(&tree, text)) return raw_result(text);
  const uint64_t words[] = {little_endian(tree.root.hi), little_endian(tree.root.lo)};
  return (mend_json_hash_result){never_none(mend__hash_with(MEND__HASH_LOOSE, words, sizeof words)), false};
}
