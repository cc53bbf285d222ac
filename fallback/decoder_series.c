/* What comes back: texts in pieces, without keys. */
#include "fallback/decoder_internal.h"
#include "fallback/json_fields.h"

/* Where a string is in the raw reply, without its quotes. */
typedef struct source {
  size_t at, len;
} source;

void mend__series_init(mend__series *series, const mend__decoder *decoder, bool is_json) {
  *series = (mend__series){.veil = {.secrets = decoder->secrets, .is_json = is_json}};
  mend__buffer_init(&series->sources, decoder->allocator);
}

void mend__series_free(mend__series *series) { mend__buffer_free(&series->sources); }

/* Of length 0 when the string is the dialect's and not the event's. */
static source source_of(const mend__decoder *decoder, mend_str value) {
  const uintptr_t offset = (uintptr_t)value.ptr - (uintptr_t)decoder->event.ptr;
  if (offset >= decoder->event.len) return (source){0, 0};
  return (source){decoder->event_at + offset + 1, mend__json_inside(value).len};
}

static void cover(const mend__decoder *decoder, source where) {
  if (where.len > 0 && !decoder->no_memory) decoder->listener.cover(decoder->listener.ctx, where.at, where.len);
}

/* In an event of its own it was covered in there already, but for escapes within escapes. */
static void cover_sources(const mend__decoder *decoder, mend__series *series, source last) {
  const mend__buffer *sources = &series->sources;
  if (sources->len > 0 || series->veil.is_json) cover(decoder, last);
  for (size_t i = 0; i < sources->len; i += sizeof last) {
    source earlier;
    memcpy(&earlier, sources->data + i, sizeof earlier);
    cover(decoder, earlier);
  }
}

/* What is held of a key cannot have come in more pieces than it has bytes. */
static void remember(mend__series *series, source last) {
  mend__buffer *sources = &series->sources;
  if (sources->len / sizeof last == series->veil.secrets->longest * MEND__ESCAPE_MAX) {
    sources->len -= sizeof last;
    memmove(sources->data, sources->data + sizeof last, sources->len);
  }
  mend__buffer_bytes(sources, (const char *)&last, sizeof last);
}

/* Whether all that is held is certainly of this piece. */
static bool begins_in(const mend__veil *veil, mend_str piece) {
  const size_t longest = veil->is_json ? MEND__ESCAPE_MAX : 1;
  return veil->matched.len * longest + veil->escape_len <= piece.len;
}

mend_str mend__series_take(mend__decoder *decoder, mend__series *series, mend_str value, mend_str text) {
  mend__veil *veil = &series->veil;
  const mend_str told = mend__veil_take(veil, text, &decoder->told);
  const source last = source_of(decoder, value);
  if (veil->is_found) cover_sources(decoder, series, last);
  if (veil->is_found || begins_in(veil, text)) mend__buffer_clear(&series->sources);
  if (veil->matched.len > 0 || veil->escape_len > 0) remember(series, last);
  veil->is_found = false;
  decoder->no_memory |= decoder->told.failed || series->sources.failed;
  return told;
}

mend_str mend__series_flush(mend__decoder *decoder, mend__series *series) {
  const mend_str told = mend__veil_flush(&series->veil, &decoder->told);
  decoder->no_memory |= decoder->told.failed;
  return told;
}
