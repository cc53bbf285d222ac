#include "program/fault_server/gzip.h"

static uint32_t crc_of_byte(uint32_t byte) {
  for (int bit = 0; bit < 8; bit++)
    byte = (byte & 1) != 0 ? 0xEDB88320u ^ (byte >> 1) : byte >> 1;
  return byte;
}

static uint32_t crc_more(uint32_t crc, mend_str bytes) {
  crc = ~crc;
  for (size_t i = 0; i < bytes.len; i++)
    crc = crc_of_byte((crc ^ (unsigned char)bytes.ptr[i]) & 0xFF) ^ (crc >> 8);
  return ~crc;
}

static void put_little_endian(mend__buffer *to, uint32_t value, int bytes) {
  for (int i = 0; i < bytes; i++)
    mend__buffer_char(to, (char)(value >> (8 * i)));
}

void gzip_begin(gzip *state, mend__buffer *to) {
  *state = (gzip){0};
  mend__buffer_bytes(to, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
}

static void put_stored_block(mend__buffer *to, mend_str bytes, bool last) {
  mend__buffer_char(to, last ? 1 : 0);
  put_little_endian(to, (uint32_t)bytes.len, 2);
  put_little_endian(to, ~(uint32_t)bytes.len, 2);
  mend__buffer_str(to, bytes);
}

void gzip_put(gzip *state, mend_str bytes, mend__buffer *to) {
  enum { BLOCK_MAX = 65535 };
  state->crc = crc_more(state->crc, bytes);
  state->len += (uint32_t)bytes.len;
  while (bytes.len > 0) {
    const size_t len = bytes.len < BLOCK_MAX ? bytes.len : BLOCK_MAX;
    put_stored_block(to, (mend_str){bytes.ptr, len}, false);
    bytes = (mend_str){bytes.ptr + len, bytes.len - len};
  }
}

void gzip_end(const gzip *state, mend__buffer *to) {
  put_stored_block(to, MEND_STR(""), true);
  put_little_endian(to, state->crc, 4);
  put_little_endian(to, state->len, 4);
}

/* ---- The bomb ---------------------------------------------------------------------------------------------- */

typedef struct bit_writer {
  mend__buffer *to;
  unsigned bits, count;
} bit_writer;

/* The lowest bit first. */
static void put_bits(bit_writer *writer, unsigned bits, unsigned count) {
  writer->bits |= bits << writer->count;
  writer->count += count;
  for (; writer->count >= 8; writer->count -= 8, writer->bits >>= 8)
    mend__buffer_char(writer->to, (char)writer->bits);
}

void gzip_put_bomb(mend__buffer *to) {
  /* A block of the fixed code: 3 bits, a blank of 8, copies of 13 bits and 258 bytes each, an end of 7. With this many
   * copies the bits are whole bytes, so blocks can follow each other. */
  enum { COPIES = 4062 };
  bit_writer writer = {.to = to};
  put_bits(&writer, 2, 3);    /* not the last block, fixed code */
  put_bits(&writer, 0x0A, 8); /* 01010000, highest bit first: a blank */
  for (int i = 0; i < COPIES; i++) {
    put_bits(&writer, 0xA3, 8); /* 11000101, highest bit first: the length 258 */
    put_bits(&writer, 0, 5);    /* the distance 1 */
  }
  put_bits(&writer, 0, 7); /* the end of the block */
}
