/* What the fuzz drivers share. A finding is a crash: of a sanitizer, or here. */
#ifndef MEND_TEST_FUZZ_H
#define MEND_TEST_FUZZ_H

#include "mend/core.h"

#include <stdio.h>
#include <stdlib.h>

/* libFuzzer's entry point. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                                \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);                                    \
      abort();                                                                                                         \
    }                                                                                                                  \
  } while (0)

static inline mend_str fuzz_text(const uint8_t *data, size_t size) { return (mend_str){(const char *)data, size}; }

#endif
