/**
 * mend/core.h: what every other header stands on: status and errors, strings, hashes, the allocator, wakers.
 *
 * Conventions of the whole library:
 * - A function that can fail returns mend_status, MEND_OK (0) on success. Outputs come last, are named ret_*, and are
 *   written only on success; a mend_error may follow them and may be NULL.
 * - A function that returns mend_status answers MEND_EINVAL, and a sentence where it has a mend_error, when its handle
 *   (the bus, run, journal... it works on) or an input it needs is NULL. What may be NULL is said there: options, an
 *   allocator, a ctx. Retain functions and those that return something else need their handle.
 * - Inputs are borrowed for the duration of the call unless a function says otherwise; outputs belong to the caller.
 * - Options structs and vtables begin with `size`. Start from MEND_X_OPTIONS_INIT, which holds the real defaults;
 *   size 0 is refused. Fields are only ever appended, so a program built against an older header keeps working.
 * - Times are nanoseconds (uint64_t, suffix _ns) on a monotonic clock unless a name says wall or seconds (suffix _s).
 *
 * Threads: everything in this header may be called from any thread.
 */
#ifndef MEND_CORE_H
#define MEND_CORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) || defined(__clang__)
#define MEND_API __attribute__((visibility("default")))
#define MEND_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define MEND_API
#define MEND_PRINTF(format_index, first_argument)
#endif

/* For macros below and in other headers: a conversion without a warning in either language. */
#ifdef __cplusplus
#define MEND_CAST(type, value) (static_cast<type>(value))
#else
#define MEND_CAST(type, value) ((type)(value))
#endif

#define MEND_VERSION_MAJOR 0
#define MEND_VERSION_MINOR 1
#define MEND_VERSION_PATCH 0
#define MEND_VERSION "0.1.0"

/** The version of the library that is linked, for example "0.1.0"; static. */
MEND_API const char *mend_version(void);

/* ---- Status and errors ------------------------------------------------------------------------------------- */

typedef enum mend_status {
#define MEND_STATUS(name, number, sentence) MEND_##name = (number),
#include "mend/status.def"
#undef MEND_STATUS
} mend_status;

/** The constant's name, for example "MEND_EINVAL"; "MEND_UNKNOWN" for a number that is none. Static. */
MEND_API const char *mend_status_name(mend_status status);
/** One sentence without a full stop, for example "out of memory". Static. */
MEND_API const char *mend_status_message(mend_status status);

/**
 * An optional last parameter of functions that owe their caller a sentence. Never allocated: declare one on the stack.
 * `message` names the field, the value and what was expected; a value is quoted as it came, control characters and all,
 * so it is not for a terminal as it is. `line` and `column` count from 1 and are 0 where there is no text to point
 * into; a column counts bytes.
 */
typedef struct mend_error {
  mend_status status;
  unsigned line;
  unsigned column;
  char message[256];
} mend_error;

#define MEND_ERROR_INIT                                                                                                \
  {                                                                                                                    \
    MEND_OK, 0, 0, { 0 }                                                                                               \
  }

/** What to tell a person about a status that a function returned: the error's sentence if it is about this status, else
 * the status's own. `error` may be NULL. Valid as long as the error. */
MEND_API const char *mend_error_sentence(const mend_error *error, mend_status status);

/**
 * Fills in `error` (which may be NULL) with a printf-like sentence and returns `status`, so that a failing function can
 * end with `return mend_error_set(error, MEND_EINVAL, ...)`. line and column become 0. A sentence that does not fit is
 * cut at a character boundary.
 */
MEND_API mend_status mend_error_set(mend_error *error, mend_status status, const char *format, ...) MEND_PRINTF(3, 4);
/** The same with a place in a text (both from 1). */
MEND_API mend_status mend_error_set_at(mend_error *error, mend_status status, unsigned line, unsigned column,
                                       const char *format, ...) MEND_PRINTF(5, 6);

/* ---- Log --------------------------------------------------------------------------------------------------- */

typedef enum mend_log_level { MEND_LOG_INFO, MEND_LOG_WARNING, MEND_LOG_ERROR } mend_log_level;

/** Where the library says what is worth a person's look and fits no return value; given in options, absent: nowhere.
 * Called from any thread, under no lock; `message` is one sentence without a line feed, borrowed. */
typedef void (*mend_log_fn)(void *ctx, mend_log_level level, const char *message);

/* ---- Strings ----------------------------------------------------------------------------------------------- */

/** A borrowed piece of UTF-8 text, not NUL-terminated. {NULL, 0} means absent; {"", 0} means empty. */
typedef struct mend_str {
  const char *ptr;
  size_t len;
} mend_str;

/** A string literal as mend_str: MEND_STR("tool.before"). */
#ifdef __cplusplus
#define MEND_STR(literal) (mend_str{"" literal, sizeof(literal) - 1})
#else
#define MEND_STR(literal) ((mend_str){"" literal, sizeof(literal) - 1})
#endif
/** For printf: printf("%.*s", MEND_STR_ARG(text)). */
#define MEND_STR_ARG(text)                                                                                             \
  MEND_CAST(int, (text).len < 0x7fffffff ? (text).len : 0x7fffffff), ((text).ptr != NULL ? (text).ptr : "")

/** A NUL-terminated string as mend_str; NULL gives {NULL, 0}. */
static inline mend_str mend_str_from(const char *text) {
  mend_str result = {text, text != NULL ? strlen(text) : 0};
  return result;
}

/** Whether two strings hold the same bytes; absent equals empty. */
static inline bool mend_str_equal(mend_str a, mend_str b) {
  return a.len == b.len && (b.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- Hashes ------------------------------------------------------------------------------------------------ */

/** 128 bits (XXH3). All zero means "no hash". Written as 32 lower-case hexadecimal digits, `hi` first. */
typedef struct mend_hash {
  uint64_t hi;
  uint64_t lo;
} mend_hash;

static inline bool mend_hash_equal(mend_hash a, mend_hash b) { return a.hi == b.hi && a.lo == b.lo; }
static inline bool mend_hash_is_none(mend_hash hash) { return hash.hi == 0 && hash.lo == 0; }

/* ---- Memory ------------------------------------------------------------------------------------------------ */

/**
 * Where memory comes from. Given in the options of what is made first (bus, model, registry, graph) and inherited by
 * what is made from it; must outlive all of it. NULL in an option means malloc, realloc and free. The functions may be
 * called from any thread the library is used on. Returning NULL makes the calling function fail with MEND_ENOMEM and
 * leaves its object as it was.
 */
typedef struct mend_allocator {
  size_t size; /**< sizeof(mend_allocator) */
  void *ctx;
  void *(*allocate)(void *ctx, size_t size);                  /**< size > 0; aligned as malloc does */
  void *(*reallocate)(void *ctx, void *pointer, size_t size); /**< pointer may be NULL; size > 0 */
  void (*release)(void *ctx, void *pointer);                  /**< pointer is never NULL */
} mend_allocator;

/** malloc, realloc and free. */
MEND_API const mend_allocator *mend_allocator_default(void);
/** Frees what a function of the library said is the caller's to free with this allocator (NULL: the default). */
MEND_API void mend_free(const mend_allocator *allocator, void *pointer);

/* ---- Waking somebody who waits ----------------------------------------------------------------------------- */

/**
 * Given by whoever waits for time to pass or for a queue to fill (an event loop, usually). `wake` is called from any
 * thread, possibly under a lock of the library: it must not block and must not call back into the library; writing to
 * an eventfd or setting a flag and signalling is right. A NULL wake means nobody waits.
 */
typedef struct mend_waker {
  void (*wake)(void *ctx);
  void *ctx;
} mend_waker;

#ifdef __cplusplus
}
#endif
#endif
