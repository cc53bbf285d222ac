#include "program/fault_server/delivery.h"

void delivery_init(delivery *to) {
  *to = (delivery){.ending = ENDING_KEEP};
  mend__buffer_init(&to->bytes, NULL);
  mend__buffer_init(&to->pieces, NULL);
}

void delivery_free(delivery *to) {
  mend__buffer_free(&to->bytes);
  mend__buffer_free(&to->pieces);
}

bool delivery_failed(const delivery *of) { return of->bytes.failed || of->pieces.failed; }

size_t delivery_count(const delivery *of) { return of->pieces.len / sizeof(piece); }

piece delivery_piece(const delivery *of, size_t index) {
  piece found;
  memcpy(&found, of->pieces.data + index * sizeof found, sizeof found);
  return found;
}

static void add_piece(mend__buffer *pieces, piece added) {
  mend__buffer_bytes(pieces, (const char *)&added, sizeof added);
}

void delivery_cut_piece(delivery *to, double wait_s, uint64_t times) {
  const size_t count = delivery_count(to);
  const size_t begin = count > 0 ? delivery_piece(to, count - 1).end : 0;
  add_piece(&to->pieces, (piece){begin, to->bytes.len, wait_s, times});
}

void delivery_end(delivery *to, ending how, bool cut) {
  delivery_cut_piece(to, 0, 1);
  to->ending = how;
  to->cut = cut;
}

static void split_piece(const delivery *of, piece whole, delivery_cuts cuts, const void *ctx, double wait_s,
                        mend__buffer *pieces) {
  const mend_str bytes = {of->bytes.data + whole.begin, whole.end - whole.begin};
  piece part = whole;
  for (size_t at = 1; at < bytes.len; at++) {
    if (!cuts(ctx, bytes, at)) continue;
    part.end = whole.begin + at;
    add_piece(pieces, part);
    part = (piece){part.end, whole.end, wait_s, 1};
  }
  part.end = whole.end;
  add_piece(pieces, part);
}

void delivery_split(delivery *of, delivery_cuts cuts, const void *ctx, double wait_s) {
  mend__buffer pieces;
  mend__buffer_init(&pieces, NULL);
  const size_t count = delivery_count(of);
  for (size_t i = 0; i < count; i++) {
    piece each = delivery_piece(of, i);
    if (each.times != 1) {
      add_piece(&pieces, each);
      continue;
    }
    if (i > 0 && each.wait_s < wait_s) each.wait_s = wait_s;
    split_piece(of, each, cuts, ctx, wait_s, &pieces);
  }
  mend__buffer_free(&of->pieces);
  of->pieces = pieces;
}
