/**
 * mend/json.h: the pull scanner for JSON and the canonical hash of JSON text.
 *
 * Arguments, results and payloads are JSON text everywhere in mend. The scanner reads them without allocating: it hands
 * out one token after the other as slices of the text. It accepts exactly RFC 8259 in valid UTF-8, any value at the
 * top, and puts no bound on numbers (they stay text until somebody asks).
 *
 *   mend_json json;
 *   mend_json_init(&json, text, MEND_JSON_DEPTH);
 *   while (mend_json_next(&json) > MEND_JSON_END) printf("%.*s\n", MEND_STR_ARG(json.slice));
 *   if (json.token == MEND_JSON_ERROR) return mend_json_error(&json, &error);
 *
 * Threads: a scanner belongs to one thread at a time; the hash functions may be called from any.
 */
#ifndef MEND_JSON_H
#define MEND_JSON_H

#include "mend/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How deep arrays and objects may nest by default, and at most. */
#define MEND_JSON_DEPTH 64
#define MEND_JSON_DEPTH_MAX 1024

typedef enum mend_json_token {
  MEND_JSON_ERROR = -2, /**< not well-formed or too deep; stays so */
  MEND_JSON_MORE = -1,  /**< `partial` is set and the text ends inside the document: call mend_json_refill */
  MEND_JSON_END = 0,    /**< the value is complete and only white space follows (or, with `stream`, anything) */
  MEND_JSON_OBJECT,
  MEND_JSON_OBJECT_END,
  MEND_JSON_ARRAY,
  MEND_JSON_ARRAY_END,
  MEND_JSON_KEY,
  MEND_JSON_STRING,
  MEND_JSON_NUMBER,
  MEND_JSON_TRUE,
  MEND_JSON_FALSE,
  MEND_JSON_NULL
} mend_json_token;

/** Public so that it can live on the stack; read `token`, `slice`, `escaped`, `integer`, `depth`, `at` and `reason`.
 * Write nothing but `stream`, right after init, and `partial`: set right after init, cleared when the input has
 * ended. */
typedef struct mend_json {
  mend_str text;
  size_t at;             /**< bytes consumed: the next token is looked for here; after ERROR the first byte that no JSON
                              text has in this place */
  mend_json_token token; /**< what the last next() found */
  mend_str slice;        /**< its text: of KEY and STRING without the quotes, still escaped; of the others as written */
  bool escaped;          /**< the slice of a KEY or STRING contains a backslash */
  bool integer;          /**< a NUMBER without fraction and exponent */
  bool partial;          /**< more text may follow */
  bool stream;           /**< what follows the value is not this scanner's business */
  uint8_t state;         /**< private */
  unsigned depth;        /**< open arrays and objects, after the last token */
  unsigned depth_limit;
  unsigned skip_depth;   /**< private: the depth an interrupted skip goes back to, plus 1; 0 when there is none */
  size_t counted;        /**< private: bytes of `text` that line and column are beyond */
  unsigned line, column; /**< private: where that is in the whole document, from 0 */
  const char *reason;    /**< after ERROR: what was expected ("expected a value"), static */
  uint64_t arrays[MEND_JSON_DEPTH_MAX / 64]; /**< private: bit d is set when level d is an array; the last member */
} mend_json;

/** Starts at the beginning of `text` (borrowed until the last call). depth_limit is 1..MEND_JSON_DEPTH_MAX; others are
 * clamped. */
MEND_API void mend_json_init(mend_json *json, mend_str text, unsigned depth_limit);
/** The next token, also kept in json->token. */
MEND_API mend_json_token mend_json_next(mend_json *json);
/** After OBJECT or ARRAY: skips to its matching end, which becomes the token; after KEY: skips the member's value; else
 * does nothing. Returns the new token (ERROR and MORE as next() does; skip may be called again after refill). */
MEND_API mend_json_token mend_json_skip(mend_json *json);
/** After KEY, ARRAY, an element or at the start: reads one whole value and gives its text in *ret_value. Errors:
 * MEND_ESYNTAX; MEND_ENOENT when what comes next is no value (the token says what it is, usually ARRAY_END). When
 * `partial` is set and the text ends inside the value, MEND_ESYNTAX with the token MORE, and nothing of it is consumed:
 * refill and call again. */
MEND_API mend_status mend_json_value(mend_json *json, mend_str *ret_value);
/** After MORE: goes on in a longer text whose first byte is the old text's byte `json->at`; the old one need not be
 * there any more. At other times it must be. An unfinished token is scanned again from its beginning, so double the
 * text for tokens of any length. */
MEND_API void mend_json_refill(mend_json *json, mend_str text);
/** Fills in `error` with line, column, reason and what was found of a failed scan; returns MEND_ESYNTAX. */
MEND_API mend_status mend_json_error(const mend_json *json, mend_error *error);

/** Whether the KEY or STRING just read equals `text` after unescaping. */
MEND_API bool mend_json_is(const mend_json *json, mend_str text);
/**
 * Unescapes a slice of a KEY or STRING. `buffer` needs slice.len bytes at most (the result is never longer); it may be
 * the slice's own memory. A lone surrogate becomes U+FFFD. Returns the number of bytes written; nothing is terminated.
 */
MEND_API size_t mend_json_unescape(mend_str slice, char *buffer);
/**
 * Writes `text` as a JSON string, with its quotes and a NUL behind, as snprintf would: returns the length it takes
 * without the NUL, and when that is not less than `size`, what was written is a string with the first characters of
 * `text` (for a size below 3, nothing but the NUL). Neither a character nor an escape is ever cut in two. Bytes that
 * are not UTF-8 become U+FFFD, so the result is always JSON; an absent text becomes "".
 * \param buffer  `size` bytes, at most 6 * text.len + 3 of them needed; may be NULL when size is 0
 */
MEND_API size_t mend_json_quote(mend_str text, char *buffer, size_t size);
/** A NUMBER's value, correctly rounded. Independent of the locale; infinities for what a double cannot hold. */
MEND_API double mend_json_double(mend_str number);
/** A NUMBER's value as an integer; -0 is 0. MEND_EINVAL when it has a fraction or exponent, MEND_ELIMIT when it does
 * not fit. */
MEND_API mend_status mend_json_int64(mend_str number, int64_t *ret_value);
MEND_API mend_status mend_json_uint64(mend_str number, uint64_t *ret_value);
/** A NUMBER of seconds as nanoseconds, exact in decimal (1009.86 is 1009860000000). MEND_ELIMIT when negative or beyond
 * 2^63 ns; digits after the ninth are cut. */
MEND_API mend_status mend_json_seconds_ns(mend_str number, uint64_t *ret_ns);
/** Checks that `text` is one JSON value and nothing else. Errors: MEND_ESYNTAX with line and column. */
MEND_API mend_status mend_json_check(mend_str text, unsigned depth_limit, mend_error *error);

/* ---- The canonical hash ------------------------------------------------------------------------------------ */

/** Scratch a hash may use by default, in bytes: room for 1,638 members of objects open at once. */
#define MEND_HASH_SCRATCH (MEND_CAST(size_t, 64) * 1024)
/** The longest text that is hashed by structure, in bytes. */
#define MEND_HASH_TEXT_MAX (MEND_CAST(size_t, 8) * 1024 * 1024)

/** A hash and how it was made. */
typedef struct mend_json_hash_result {
  mend_hash hash;
  bool raw; /**< not JSON, or over a limit (depth 64, scratch, 8 MiB): the hash of the bytes as they are */
} mend_json_hash_result;

/**
 * The canonical hash in exact mode: equal for texts that differ only in white space, the order of keys, escapes, and
 * the spelling of a non-integer number. The last of duplicate keys wins. Numbers: an integer is its digits, whatever
 * their number, and -0 is not 0; a number with a fraction or exponent is its IEEE double (1.0, 1.00 and 1e0 are equal
 * and differ from 1, -0.0 differs from 0.0, 1e-400 is 0.0); one beyond the doubles (1e400) is its spelling.
 * A tree hash by XXH3, 128 bits: an object over its members, each as key and value hash, in the order of the hashes of
 * their unescaped keys; an array in order. One pass, no allocation; locale and scratch size change nothing.
 * \param scratch  memory for the members of the objects that are open at once, 40 bytes each; aligned as malloc
 *                 does; may be NULL when size is 0
 * Never fails: over a limit the raw bytes are hashed and `raw` is set, which is still a usable key. Never all zero.
 */
MEND_API mend_json_hash_result mend_json_hash(mend_str text, void *scratch, size_t scratch_size);

/** The longest string that loose mode looks into, in bytes when unescaped: a longer one is nothing but a string. */
#define MEND_HASH_NESTED_MAX (MEND_CAST(size_t, 16) * 1024)

/** What loose mode does beside its rules. */
typedef struct mend_loose_hash_options {
  size_t size;
  bool mask_volatile; /**< times, UUIDs and epochs count as equal; default true */
  /** Whether the member of this name (unescaped) of the outermost object is left out. NULL: none is. */
  bool (*ignores)(void *ctx, mend_str name);
  void *ctx;
} mend_loose_hash_options;
#define MEND_LOOSE_HASH_OPTIONS_INIT                                                                                   \
  { sizeof(mend_loose_hash_options), true, NULL, NULL }

/**
 * The canonical hash in loose mode: equal wherever exact mode is, and also for what an agent means the same by:
 * - 1, 1.0 and 1e0, but an integer of 2^53 or more is its digits, and -0 is not 0;
 * - a member that is null and one that is absent (a null in an array is an element);
 * - an object or array written in a string and the same one outside, at any depth;
 * - a string with and without white space at its end (blanks, tabs, line ends).
 * With mask_volatile the values of a kind are equal to each other, too: strings that are an ISO 8601 time of day with
 * its date (2026-11-30T15:37Z; also with a blank for the T, seconds, a fraction, an offset, or without a zone; also
 * 20261130T153748Z); UUIDs; times since 1970 in s, ms, us or ns, from 2001 to 2100, as number or string of digits. Not
 * in a member that has cursor, page, offset, path or query in its name, whatever the case, nor in what is inside it.
 * \param options  NULL for the defaults. What mend cannot take (size 0) makes every hash `raw`.
 * \param scratch  as in exact mode; strings and names with escapes take their length of it, too, while looked at
 * Limits and `raw` as in exact mode. Unless both are raw, equal to an exact hash only by chance.
 */
MEND_API mend_json_hash_result mend_json_hash_loose(mend_str text, const mend_loose_hash_options *options,
                                                    void *scratch, size_t scratch_size);
/** XXH3 of the bytes as they are. Never all zero. */
MEND_API mend_hash mend_hash_bytes(mend_str bytes);

/** Room for 32 hexadecimal digits and a NUL. */
#define MEND_HASH_TEXT_SIZE 33
/** Writes 32 lower-case hexadecimal digits and a NUL. */
MEND_API void mend_hash_format(mend_hash hash, char ret_text[MEND_HASH_TEXT_SIZE]);
/** Reads them. MEND_EINVAL when `text` is not 32 hexadecimal digits. */
MEND_API mend_status mend_hash_parse(mend_str text, mend_hash *ret_hash);

#ifdef __cplusplus
}
#endif
#endif
