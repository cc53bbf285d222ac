#include "watchdogs/saying.h"

void mend__saying_init(mend__saying *saying, const mend_allocator *allocator) {
  *saying = (mend__saying){.part = 0};
  mend__buffer_init(&saying->text, allocator);
}

void mend__saying_next(mend__saying *saying) { saying->ends[saying->part++] = saying->text.len; }

static mend_str part(const mend__saying *saying, unsigned index) {
  const size_t begin = index > 0 ? saying->ends[index - 1] : 0;
  if (saying->ends[index] <= begin) return (mend_str){NULL, 0};
  return (mend_str){saying->text.data + begin, saying->ends[index] - begin};
}

mend_status mend__saying_emit(mend__saying *saying, mend_emitter *emitter, mend_detection *detection) {
  mend_status status = MEND_ENOMEM;
  mend__saying_next(saying);
  if (!saying->text.failed) {
    detection->summary = part(saying, 0);
    detection->evidence = part(saying, 1);
    detection->incident = part(saying, 2);
    detection->payload = part(saying, 3);
    status = mend_emit(emitter, detection);
  }
  mend__buffer_free(&saying->text);
  return status;
}
