/* What tests of several rooms need: data files, an allocator that counts and fails, what the process holds. */
#ifndef MEND_TEST_SUPPORT_H
#define MEND_TEST_SUPPORT_H

#include "mend/core.h"

#include <stdatomic.h>

/* ---- Data: names are relative to tests/data ---- */

/* The whole file with a NUL behind, to be freed with free(); the test fails without it. ret_len may be NULL. */
char *mend_test_read(const char *name, size_t *ret_len);
/* The same for a path of its own. NULL when it cannot be read, so that a test may say skipped. */
char *mend_test_read_path(const char *path, size_t *ret_len);
/* Calls `visit` for every file in the folder whose name ends in `suffix`, in the order of their names (bytes), with the
 * name relative to tests/data. Returns how many there were; the test fails when the folder cannot be read. */
size_t mend_test_each(const char *folder, const char *suffix, void (*visit)(void *ctx, const char *name), void *ctx);

/* ---- Memory ---- */

/* Start from mend_test_allocator_init, give &allocator.base to what is tested. Any thread. */
typedef struct mend_test_allocator {
  mend_allocator base;
  atomic_size_t calls;  /* allocations asked for so far, reallocations to a larger or smaller size included */
  atomic_size_t blocks; /* live */
  size_t fail_at;       /* this call fails, counted from 1; 0: none does */
  bool fail_after;      /* and so does every later one */
} mend_test_allocator;

void mend_test_allocator_init(mend_test_allocator *allocator);
/* Starts counting calls anew, with the given failures; live blocks stay counted. */
void mend_test_allocator_arm(mend_test_allocator *allocator, size_t fail_at, bool fail_after);
/* Whether the armed failure has happened: a torture loop ends with the first round in which it has not. */
bool mend_test_allocator_failed(const mend_test_allocator *allocator);

/* ---- What this process holds ---- */

size_t mend_test_open_files(void);
size_t mend_test_threads(void);
/* The same, to be compared with later: a thread has run before it counts, for with the first one ThreadSanitizer starts
 * another of its own. */
size_t mend_test_threads_before(void);
/* Whether there are `count` threads again. Waits a moment, for the kernel forgets a joined thread a little later. */
bool mend_test_threads_are(size_t count);

#endif
