/* Private to core/: the tree hash, which exact and loose mode share, and where loose mode differs. */
#ifndef MEND_CORE_HASH_INTERNAL_H
#define MEND_CORE_HASH_INTERNAL_H

#include "mend/json.h"

/* gcc 12 puts the words of a hash together to a vector, in memory, and the load waits until both are stored: a tenth of
 * the hash of 100 bytes. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

/* Every kind of thing is hashed with a seed of its own, so that "1", 1, 1.0, [1] and {"1":1} differ, and all of them
 * from raw bytes. Hashes are kept: the numbers stay. */
typedef enum mend__hash_domain {
  MEND__HASH_RAW,
  MEND__HASH_KEY,
  MEND__HASH_STRING,
  MEND__HASH_LITERAL,
  MEND__HASH_INTEGER,
  MEND__HASH_DOUBLE,
  MEND__HASH_BEYOND_DOUBLE,
  MEND__HASH_ARRAY,
  MEND__HASH_OBJECT,
  MEND__HASH_MASKED,
  MEND__HASH_LOOSE
} mend__hash_domain;

static inline uint64_t mend__little_endian(uint64_t value) {
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  return __builtin_bswap64(value);
#else
  return value;
#endif
}

static inline mend_hash mend__hash_never_none(mend_hash hash) {
  if (mend_hash_is_none(hash)) hash.lo = 1;
  return hash;
}

mend_hash mend__hash_with(mend__hash_domain domain, const void *bytes, size_t len);
/* The slice of a KEY, of a STRING, of a NUMBER, of true, false or null. */
mend_hash mend__hash_key(mend_str slice, bool escaped);
mend_hash mend__hash_string(mend_str slice, bool escaped);
mend_hash mend__hash_number(mend_str slice, bool integer);
mend_hash mend__hash_literal(mend_str slice);
mend_hash mend__hash_double(double value);
/* Folds one more element into the hash of those before it. */
mend_hash mend__hash_fold(mend_hash before, uint64_t number, mend_hash element);

/* ---- The members of an object ---- */

typedef struct mend__hash_member {
  mend_hash key;
  mend_hash value;   /* none: as if the member were not there */
  uint64_t position; /* of many members: tells which of two equal keys is the last. 0 when they are hashed */
} mend__hash_member;

/* ---- The tree ---- */

/* Whether a member's name keeps what is in it from being masked: found out when something there would be. */
typedef enum mend__keeps { MEND__KEEPS_UNKNOWN, MEND__KEEPS_NOT, MEND__KEEPS } mend__keeps;

/* An open array or object. */
typedef struct mend__hash_level {
  bool array;
  bool absent;                     /* an object has members without a value */
  bool key_escaped;                /* loose mode: */
  mend__keeps keeps;               /* loose mode: UNKNOWN only while `key` is there */
  mend_str key;                    /* loose mode: of the member whose value is read */
  mend__hash_member *first, *open; /* of an object; the one whose value is read */
  uint64_t count;                  /* of an array: elements so far */
  mend_hash folded;                /* their hash */
} mend__hash_level;

typedef struct mend__hasher {
  const mend_loose_hash_options *loose;         /* NULL: exact mode */
  mend__hash_level levels[1 + MEND_JSON_DEPTH]; /* the first stands for none */
  mend__hash_level *level;                      /* the innermost */
  mend__hash_member *members; /* of the objects that are open: they end here. From the beginning of the scratch */
  char *texts;                /* that loose mode has unescaped begin here, to the end of the scratch */
  mend_hash root;             /* of the text hashed last */
} mend__hasher;

static inline size_t mend__hash_room(const mend__hasher *tree) {
  return (size_t)(tree->texts - (const char *)tree->members);
}

typedef enum mend__hash_verdict {
  MEND__HASHED,
  MEND__HASH_NO_JSON, /* or too deep */
  MEND__HASH_NO_ROOM
} mend__hash_verdict;

/* Adds a member of this key to the object that is open innermost, for which there is room, or opens the one it has. */
void mend__hash_open_member(mend__hasher *tree, mend_hash key);
/* The hash of an object; puts the members in order. `absent`: some may have no value. */
mend_hash mend__hash_members(mend__hash_member *members, size_t count, bool absent);

/* Hashes one JSON text inside the levels that are open, into `root`. */
mend__hash_verdict mend__hash_text(mend__hasher *tree, mend_str text);
/* Gives the hash of the value just read to the array or object it is in. */
void mend__hash_add(mend__hasher *tree, const mend_json *json, mend_hash value);

/* ---- Loose mode ---- */

mend__hash_verdict mend__hash_loose_scalar(mend__hasher *tree, const mend_json *json);
/* The key just read: whether its member is left out. */
mend__hash_verdict mend__hash_loose_key(mend__hasher *tree, const mend_json *json, bool *ret_ignored);

typedef enum mend__mask { MEND__MASK_NONE, MEND__MASK_TIME, MEND__MASK_UUID, MEND__MASK_EPOCH } mend__mask;

/* What volatile value a string, or a number, has the shape of. */
mend__mask mend__mask_of_string(mend_str text);
mend__mask mend__mask_of_number(double value);
/* Whether the member of this name and all in it are never masked. */
bool mend__name_keeps_values(mend_str name);

#endif
