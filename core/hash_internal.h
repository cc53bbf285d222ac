/* Private to core/: the tree hash, which exact and loose mode share, and where loose mode differs. */
#ifndef MEND_CORE_HASH_INTERNAL_H
#define MEND_CORE_HASH_INTERNAL_H

#include "mend/json.h"

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

mend_hash mend__hash_with(mend__hash_domain domain, const void *bytes, size_t len);
/* The slice of a STRING. */
mend_hash mend__hash_string(mend_str slice, bool escaped);
mend_hash mend__hash_number(mend_str slice, bool integer);
mend_hash mend__hash_double(double value);

/* ---- The members of an object ---- */

typedef struct mend__hash_member {
  mend_hash key;
  mend_hash value;   /* none: as if the member were not there */
  uint64_t position; /* in the text: tells which of two equal keys is the last */
} mend__hash_member;

/* By key, those of one key by position. In place and without allocation, which qsort does not promise. */
void mend__hash_sort_members(mend__hash_member *members, size_t count);

/* ---- The tree ---- */

/* Whether a member's name keeps what is in it from being masked: found out when something there would be. */
typedef enum mend__keeps { MEND__KEEPS_UNKNOWN, MEND__KEEPS_NOT, MEND__KEEPS } mend__keeps;

/* An open array or object. */
typedef struct mend__hash_level {
  bool array;
  bool key_escaped;
  mend__keeps keeps;
  mend_str key; /* of the member whose value is read; absent in an array, and in exact mode */
  size_t first_member;
  uint64_t count;   /* elements so far */
  mend_hash folded; /* their hash */
} mend__hash_level;

typedef struct mend__hasher {
  const mend_loose_hash_options *loose; /* NULL: exact mode */
  mend__hash_level levels[MEND_JSON_DEPTH];
  size_t depth; /* levels in use */
  char *scratch;
  size_t scratch_size; /* members grow from its beginning; loose mode takes texts from its end */
  size_t count;        /* members */
  mend_hash root;      /* of the text hashed last */
} mend__hasher;

typedef enum mend__hash_verdict {
  MEND__HASHED,
  MEND__HASH_NO_JSON, /* or too deep */
  MEND__HASH_NO_ROOM
} mend__hash_verdict;

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
