#include "watchdogs/detector.h"

#include "core/memory.h"

void mend__buffer_tenths(mend__buffer *buffer, uint64_t ns) {
  const uint64_t tenth_ns = MEND_SECOND_NS / 10;
  mend__buffer_seconds(buffer, ns - ns % tenth_ns);
}

void mend__buffer_tool(mend__buffer *buffer, mend_str tool_name) {
  enum { USUAL_LENGTH = 80 };
  if (tool_name.len == 0) {
    mend__buffer_str(buffer, MEND_STR("a call"));
    return;
  }
  const size_t kept = mend__utf8_cut(tool_name, USUAL_LENGTH);
  mend__buffer_bytes(buffer, tool_name.ptr, kept);
  if (kept < tool_name.len) mend__buffer_str(buffer, MEND_STR("..."));
}

mend_status mend__emit_written(mend_emitter *emitter, mend_detection *detection, const mend__buffer *text,
                               size_t payload_at) {
  if (text->failed) return MEND_ENOMEM;
  detection->summary = (mend_str){text->data, payload_at};
  detection->payload = (mend_str){text->data + payload_at, text->len - payload_at};
  return mend_emit(emitter, detection);
}
