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

bool delivery_is_too_large(const delivery *of) { return of->bytes.len > DELIVERY_MAX; }

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

/* ---- Pace ---- */

static bool has_pace(const pace *of) { return of->every > 0 || of->in_crlf || of->in_utf8; }

/* Whether it is cut before bytes[at]. */
static bool cuts_before(const pace *of, mend_str bytes, size_t at) {
  if (of->every > 0 && at % of->every == 0) return true;
  if (of->in_crlf && bytes.ptr[at - 1] == '\r' && bytes.ptr[at] == '\n') return true;
  return of->in_utf8 && ((unsigned char)bytes.ptr[at] & 0xC0) == 0x80;
}

/* What comes behind the first `sent` bytes of a piece. */
static piece part_of(const delivery *of, const delivery_place *place) {
  piece part = delivery_piece(of, place->index);
  if (part.times != 1 || !has_pace(&of->pace)) return part;
  const mend_str whole = {of->bytes.data + part.begin, part.end - part.begin};
  size_t end = place->sent + 1;
  while (end < whole.len && !cuts_before(&of->pace, whole, end))
    end++;
  if (end < whole.len) part.end = part.begin + end;
  part.begin += place->sent;
  if (place->sent > 0) part.wait_s = 0;
  const bool is_first = place->index == 0 && place->sent == 0;
  if (!is_first && part.wait_s < of->pace.wait_s) part.wait_s = of->pace.wait_s;
  return part;
}

bool delivery_next(const delivery *of, delivery_place *place, piece *ret_part) {
  while (place->index < delivery_count(of)) {
    *ret_part = part_of(of, place);
    if (place->times < ret_part->times) return true;
    place->index++;
    place->times = 0;
  }
  return false;
}

void delivery_advance(const delivery *of, delivery_place *place, const piece *part) {
  const piece whole = delivery_piece(of, place->index);
  place->sent = part->end - whole.begin;
  if (part->end < whole.end) return;
  place->sent = 0;
  place->times++;
}
