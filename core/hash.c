/* The canonical hash: a tree of XXH3 hashes, built in one pass of the scanner. An array is folded as its elements come; the
 * members of the open objects wait in the scratch, as a stack, until their object ends and they can be put in order. */
#include "core/json_internal.h"
#include "core/text.h"

#include <math.h>
#define XXH_INLINE_ALL /* measured: arguments are hashed a fifth faster than with calls into the shared library */
#include <xxhash.h>

/* Every kind of thing is hashed with a seed of its own, so that "1", 1, 1.0, [1] and {"1":1} differ, and all of them from
 * raw bytes. */
enum domain { RAW, KEY, STRING, LITERAL, INTEGER, DOUBLE, BEYOND_DOUBLE, ARRAY, OBJECT };

static uint64_t little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(value);
#else
  return value;
#endif
}

static mend_hash from_xxh(XXH128_hash_t hash) { return (mend_hash){hash.high64, hash.low64}; }

static mend_hash hash_with(enum domain domain, const void *bytes, size_t len) {
  return from_xxh(XXH3_128bits_withSeed(bytes, len, domain));
}

static mend_hash never_none(mend_hash hash) {
  if (mend_hash_is_none(hash)) hash.lo = 1;
  return hash;
}

/* ---- Strings and numbers ----------------------------------------------------------------------------------- */

/* The escapes of long strings are undone piece by piece. */
#define UNESCAPED_PIECE 1024

static mend_hash hash_long_escaped(enum domain domain, mend_str slice) {
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

static mend_hash hash_string(enum domain domain, mend_str slice, bool escaped) {
  if (!escaped) return hash_with(domain, slice.ptr, slice.len);
  if (slice.len > UNESCAPED_PIECE) return hash_long_escaped(domain, slice);
  char text[UNESCAPED_PIECE];
  size_t len = mend_json_unescape(slice, text);
  return hash_with(domain, text, len);
}

static mend_hash hash_number(mend_str slice, bool integer) {
  if (integer) return hash_with(INTEGER, slice.ptr, slice.len);
  double value = mend_json_double(slice);
  if (isinf(value)) return hash_with(BEYOND_DOUBLE, slice.ptr, slice.len);
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  bits = little_endian(bits);
  return hash_with(DOUBLE, &bits, sizeof bits);
}

static mend_hash hash_scalar(const mend_json *json) {
  switch (json->token) {
  case MEND_JSON_STRING: return hash_string(STRING, json->slice, json->escaped);
  case MEND_JSON_NUMBER: return hash_number(json->slice, json->integer);
  default: return hash_with(LITERAL, json->slice.ptr, json->slice.len);
  }
}

/* ---- The members of an object ------------------------------------------------------------------------------ */

typedef struct member {
  mend_hash key;
  mend_hash value;
  uint64_t position; /* in the text: tells which of two equal keys is the last */
} member;

static bool precedes(const member *a, const member *b) {
  if (a->key.hi != b->key.hi) return a->key.hi < b->key.hi;
  if (a->key.lo != b->key.lo) return a->key.lo < b->key.lo;
  return a->position < b->position;
}

static void insertion_sort(member *members, size_t count) {
  for (size_t i = 1; i < count; i++) {
    member moving = members[i];
    size_t hole = i;
    for (; hole > 0 && precedes(&moving, &members[hole - 1]); hole--)
      members[hole] = members[hole - 1];
    members[hole] = moving;
  }
}

static void sift_down(member *heap, size_t hole, size_t count) {
  member moving = heap[hole];
  for (size_t child; (child = 2 * hole + 1) < count; hole = child) {
    if (child + 1 < count && precedes(&heap[child], &heap[child + 1])) child++;
    if (!precedes(&moving, &heap[child])) break;
    heap[hole] = heap[child];
  }
  heap[hole] = moving;
}

static void heap_sort(member *members, size_t count) {
  for (size_t i = count / 2; i > 0; i--)
    sift_down(members, i - 1, count);
  for (size_t left = count - 1; left > 0; left--) {
    member largest = members[0];
    members[0] = members[left];
    members[left] = largest;
    sift_down(members, 0, left);
  }
}

/* In place and without allocation, which qsort does not promise. */
static void sort_members(member *members, size_t count) {
  if (count <= 24) {
    insertion_sort(members, count);
  } else {
    heap_sort(members, count);
  }
}

/* The member as it is hashed: the same on every machine, without the position. */
static member canonical(const member *counted) {
  return (member){{little_endian(counted->key.hi), little_endian(counted->key.lo)},
                  {little_endian(counted->value.hi), little_endian(counted->value.lo)},
                  0};
}

static mend_hash hash_members(member *members, size_t count) {
  sort_members(members, count);
  size_t distinct = 0;
  for (size_t i = 0; i < count; i++) {
    if (i + 1 < count && mend_hash_equal(members[i].key, members[i + 1].key)) continue;
    members[distinct++] = canonical(&members[i]);
  }
  return hash_with(OBJECT, members, distinct * sizeof *members);
}

/* ---- The tree ---------------------------------------------------------------------------------------------- */

/* An open array or object. */
typedef struct level {
  bool array;
  mend_hash folded; /* the elements so far */
  uint64_t count;
  size_t first_member;
} level;

typedef struct hasher {
  mend_json json;
  level levels[MEND_JSON_DEPTH];
  member *members;
  size_t count, capacity;
  mend_hash root;
} hasher;

/* Folds one more element into the hash of those before it; at the end their number, with no element. */
static mend_hash fold(mend_hash before, uint64_t number, mend_hash element) {
  uint64_t words[] = {little_endian(before.hi), little_endian(before.lo), little_endian(number),
                      little_endian(element.hi), little_endian(element.lo)};
  return hash_with(ARRAY, words, sizeof words);
}

static level *innermost(hasher *tree) { return &tree->levels[tree->json.depth - 1]; }

static void open_level(hasher *tree, bool array) {
  *innermost(tree) = (level){.array = array, .first_member = tree->count};
}

/* Called when the scanner has left the level already. */
static mend_hash close_level(hasher *tree) {
  level *closed = &tree->levels[tree->json.depth];
  if (closed->array) return fold(closed->folded, closed->count, (mend_hash){0, 0});
  size_t count = tree->count - closed->first_member;
  tree->count = closed->first_member;
  return hash_members(tree->members + closed->first_member, count);
}

static void add_value(hasher *tree, mend_hash value) {
  if (tree->json.depth == 0) {
    tree->root = value;
    return;
  }
  level *parent = innermost(tree);
  if (parent->array) {
    parent->folded = fold(parent->folded, parent->count, value);
    parent->count++;
  } else {
    tree->members[tree->count - 1].value = value;
  }
}

static bool add_key(hasher *tree) {
  if (tree->count == tree->capacity) return false;
  const mend_json *json = &tree->json;
  member *added = &tree->members[tree->count++];
  added->key = hash_string(KEY, json->slice, json->escaped);
  added->position = json->at;
  return true;
}

/* False when the text is not JSON or over a limit. */
static bool hash_tree(hasher *tree) {
  for (;;) {
    switch (mend_json_next(&tree->json)) {
    case MEND_JSON_ERROR:
    case MEND_JSON_MORE: return false;
    case MEND_JSON_END: return true;
    case MEND_JSON_OBJECT: open_level(tree, false); break;
    case MEND_JSON_ARRAY: open_level(tree, true); break;
    case MEND_JSON_OBJECT_END:
    case MEND_JSON_ARRAY_END: add_value(tree, close_level(tree)); break;
    case MEND_JSON_KEY:
      if (!add_key(tree)) return false;
      break;
    case MEND_JSON_STRING:
    case MEND_JSON_NUMBER:
    case MEND_JSON_TRUE:
    case MEND_JSON_FALSE:
    case MEND_JSON_NULL: add_value(tree, hash_scalar(&tree->json)); break;
    }
  }
}

mend_json_hash_result mend_json_hash(mend_str text, void *scratch, size_t scratch_size) {
  hasher tree; /* levels are set when they are opened */
  mend_json_init(&tree.json, text, MEND_JSON_DEPTH);
  tree.members = scratch_size < sizeof(member) ? &(member){0} : scratch;
  tree.count = 0;
  tree.capacity = scratch_size / sizeof(member);
  if (text.len > MEND_HASH_TEXT_MAX || !hash_tree(&tree)) return (mend_json_hash_result){mend_hash_bytes(text), true};
  return (mend_json_hash_result){never_none(tree.root), false};
}

mend_hash mend_hash_bytes(mend_str bytes) { return never_none(hash_with(RAW, bytes.ptr, bytes.len)); }

/* ---- As text ----------------------------------------------------------------------------------------------- */

void mend_hash_format(mend_hash hash, char ret_text[MEND_HASH_TEXT_SIZE]) {
  for (unsigned i = 0; i < 32; i++) {
    uint64_t half = i < 16 ? hash.hi : hash.lo;
    ret_text[i] = mend__hex_digit(half >> (60 - i % 16 * 4));
  }
  ret_text[32] = '\0';
}

mend_status mend_hash_parse(mend_str text, mend_hash *ret_hash) {
  if (text.len != 32) return MEND_EINVAL;
  uint64_t halves[2] = {0, 0};
  for (size_t i = 0; i < 32; i++) {
    int digit = mend__hex_value(text.ptr[i]);
    if (digit < 0) return MEND_EINVAL;
    halves[i / 16] = halves[i / 16] << 4 | (uint64_t)digit;
  }
  *ret_hash = (mend_hash){halves[0], halves[1]};
  return MEND_OK;
}
