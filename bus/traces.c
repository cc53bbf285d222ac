#include "bus/bus_internal.h"
#include "core/text.h"
#include "mend/json.h"

/* ---- Choosing ids ---- */

mend_hash mend__id_next(mend_bus *bus) {
  uint64_t block[2] = {bus->id_seed, ++bus->id_counter};
  return mend_hash_bytes((mend_str){(const char *)block, sizeof block});
}

static void choose_trace_id(mend_run *run, const mend_run_options *options) {
  if (!mend__is_zero(options->trace_id, sizeof options->trace_id)) {
    memcpy(run->trace_id, options->trace_id, sizeof run->trace_id);
  } else if (options->parent != NULL) {
    memcpy(run->trace_id, options->parent->trace_id, sizeof run->trace_id);
  } else {
    mend_hash id = mend__id_next(run->bus);
    mend__put_big_endian(id.hi, run->trace_id);
    mend__put_big_endian(id.lo, run->trace_id + 8);
  }
}

static void choose_parent_span_id(mend_run *run, const mend_run_options *options) {
  if (!mend__is_zero(options->parent_span_id, sizeof options->parent_span_id)) {
    memcpy(run->parent_span_id, options->parent_span_id, sizeof run->parent_span_id);
  } else if (options->parent != NULL) {
    mend_run_span_id(options->parent, mend_call_from_name(options->parent_call), run->parent_span_id);
  }
}

void mend__trace_begin(mend_run *run, const mend_run_options *options) {
  choose_trace_id(run, options);
  choose_parent_span_id(run, options);
  run->span_seed = mend__id_next(run->bus).lo;
}

/* ---- Asking ---- */

void mend_run_trace_id(const mend_run *run, uint8_t ret_trace_id[16]) {
  memcpy(ret_trace_id, run->trace_id, sizeof run->trace_id);
}

void mend_run_span_id(const mend_run *run, uint64_t call, uint8_t ret_span_id[8]) {
  mend__put_big_endian(mend__span_of(run, call), ret_span_id);
}

void mend_run_parent_span_id(const mend_run *run, uint8_t ret_span_id[8]) {
  memcpy(ret_span_id, run->parent_span_id, sizeof run->parent_span_id);
}

/* ---- traceparent: version "-" trace id "-" span id "-" flags, all in lower-case hexadecimal digits ---- */

#define TRACEPARENT_LEN (MEND_TRACEPARENT_SIZE - 1)
enum { TRACE_ID_AT = 3, SPAN_ID_AT = 36, FLAGS_AT = 53 };

static bool is_lower_hex(char c) { return mend__is_digit(c) || (c >= 'a' && c <= 'f'); }

/* The digits of `len` bytes, and a dash before them unless they are the first. */
static bool read_part(const char *digits, bool is_first, uint8_t *ret_bytes, size_t len) {
  if (!is_first && digits[-1] != '-') return false;
  for (size_t i = 0; i < len; i++) {
    const char high = digits[2 * i], low = digits[2 * i + 1];
    if (!is_lower_hex(high) || !is_lower_hex(low)) return false;
    ret_bytes[i] = (uint8_t)(mend__hex_value(high) << 4 | mend__hex_value(low));
  }
  return true;
}

mend_status mend_traceparent_parse(mend_str text, uint8_t ret_trace_id[16], uint8_t ret_span_id[8]) {
  uint8_t version, flags, trace_id[16], span_id[8];
  if (text.len < TRACEPARENT_LEN) return MEND_EINVAL;
  const bool is_whole = read_part(text.ptr, true, &version, 1) &&
                        read_part(text.ptr + TRACE_ID_AT, false, trace_id, sizeof trace_id) &&
                        read_part(text.ptr + SPAN_ID_AT, false, span_id, sizeof span_id) &&
                        read_part(text.ptr + FLAGS_AT, false, &flags, 1);
  if (!is_whole || version == 0xff) return MEND_EINVAL;
  /* A later version may say more, after a dash. */
  if (text.len > TRACEPARENT_LEN && (version == 0 || text.ptr[TRACEPARENT_LEN] != '-')) return MEND_EINVAL;
  if (mend__is_zero(trace_id, sizeof trace_id) || mend__is_zero(span_id, sizeof span_id)) return MEND_EINVAL;
  memcpy(ret_trace_id, trace_id, sizeof trace_id);
  memcpy(ret_span_id, span_id, sizeof span_id);
  return MEND_OK;
}

static char *write_hex(char *to, const uint8_t *bytes, size_t len) {
  for (size_t i = 0; i < len; i++) {
    *to++ = mend__hex_digit(bytes[i] >> 4);
    *to++ = mend__hex_digit(bytes[i]);
  }
  return to;
}

void mend_traceparent_format(const mend_run *run, uint64_t call, char ret_text[MEND_TRACEPARENT_SIZE]) {
  uint8_t span_id[8];
  mend_run_span_id(run, call, span_id);
  memcpy(ret_text, "00-", 3);
  char *end = write_hex(ret_text + TRACE_ID_AT, run->trace_id, sizeof run->trace_id);
  *end = '-';
  end = write_hex(ret_text + SPAN_ID_AT, span_id, sizeof span_id);
  memcpy(end, "-01", sizeof "-01");
}
