#include "http/sse.h"
#include "core/text.h"

typedef struct consumer {
  mend__sse_event event;
  void *ctx;
} consumer;

void mend__sse_init(mend__sse *sse, const mend_allocator *allocator, uint64_t limit) {
  *sse = (mend__sse){.limit = limit, .at_start = true};
  mend__buffer_init(&sse->line, allocator);
  mend__buffer_init(&sse->name, allocator);
  mend__buffer_init(&sse->data, allocator);
}

void mend__sse_free(mend__sse *sse) {
  mend__buffer_free(&sse->line);
  mend__buffer_free(&sse->name);
  mend__buffer_free(&sse->data);
}

static mend_str text_of(const mend__buffer *buffer) {
  return (mend_str){buffer->data != NULL ? buffer->data : "", buffer->len};
}

static mend_str behind(mend_str text, size_t len) { return (mend_str){text.ptr + len, text.len - len}; }

/* ---- An event ---- */

static void copy_fed(mend__buffer *buffer, mend_str *fed) {
  mend__buffer_str(buffer, *fed);
  *fed = (mend_str){NULL, 0};
}

/* The bytes that name and data are in are about to go. */
static mend_status keep_fed(mend__sse *sse) {
  copy_fed(&sse->name, &sse->fed_name);
  copy_fed(&sse->data, &sse->fed_data);
  return sse->name.failed || sse->data.failed ? MEND_ENOMEM : MEND_OK;
}

static void set_name(mend__sse *sse, mend_str value) {
  mend__buffer_clear(&sse->name);
  sse->fed_name = value;
}

static mend_status add_data(mend__sse *sse, mend_str value) {
  if (!sse->has_data) {
    sse->has_data = true;
    sse->fed_data = value;
    return MEND_OK;
  }
  copy_fed(&sse->data, &sse->fed_data);
  if (value.len >= sse->limit || sse->data.len > sse->limit - value.len - 1) return MEND_ELIMIT;
  mend__buffer_char(&sse->data, '\n');
  mend__buffer_str(&sse->data, value);
  return sse->data.failed ? MEND_ENOMEM : MEND_OK;
}

static mend_status end_event(mend__sse *sse, consumer to) {
  mend_str name = sse->fed_name.ptr != NULL ? sse->fed_name : text_of(&sse->name);
  const mend_str data = sse->fed_data.ptr != NULL ? sse->fed_data : text_of(&sse->data);
  if (name.len == 0) name = MEND_STR("message");
  const bool goes_on = !sse->has_data || to.event(to.ctx, name, data);
  mend__buffer_clear(&sse->name);
  mend__buffer_clear(&sse->data);
  sse->fed_name = sse->fed_data = (mend_str){NULL, 0};
  sse->has_data = false;
  return goes_on ? MEND_OK : MEND_ECANCELLED;
}

/* ---- A line ---- */

static mend_status take_field(mend__sse *sse, mend_str name, mend_str value) {
  if (mend_str_equal(name, MEND_STR("data"))) return add_data(sse, value);
  if (mend_str_equal(name, MEND_STR("event"))) set_name(sse, value);
  return MEND_OK;
}

static mend_status take_line(mend__sse *sse, mend_str line, consumer to) {
  if (sse->at_start && mend__begins_with(line, MEND_STR("\xEF\xBB\xBF"))) line = behind(line, 3);
  sse->at_start = false;
  if (line.len == 0) return end_event(sse, to);
  const char *colon = memchr(line.ptr, ':', line.len);
  const mend_str name = {line.ptr, colon != NULL ? (size_t)(colon - line.ptr) : line.len};
  mend_str value = behind(line, name.len + (colon != NULL));
  if (mend__begins_with(value, MEND_STR(" "))) value = behind(value, 1);
  return take_field(sse, name, value);
}

static mend_status begin_line(mend__sse *sse, mend_str piece) {
  if (piece.len > sse->limit - sse->line.len) return MEND_ELIMIT;
  mend__buffer_str(&sse->line, piece);
  return sse->line.failed ? MEND_ENOMEM : MEND_OK;
}

/* `piece` ends a line, which may have begun in bytes that were fed before. */
static mend_status end_line(mend__sse *sse, mend_str piece, consumer to) {
  if (sse->line.len == 0) return piece.len > sse->limit ? MEND_ELIMIT : take_line(sse, piece, to);
  mend_status status = begin_line(sse, piece);
  if (status == MEND_OK) status = take_line(sse, text_of(&sse->line), to);
  if (status == MEND_OK) status = keep_fed(sse);
  mend__buffer_clear(&sse->line);
  return status;
}

/* ---- Bytes ---- */

typedef struct reader {
  const char *place, *end;
  const char *feed; /* the first line feed from `place` on, as far as it is known; `end` when there is none */
} reader;

static const char *find(const char *from, const char *to, char c) {
  const char *found = from < to ? memchr(from, c, (size_t)(to - from)) : NULL;
  return found != NULL ? found : to;
}

/* Every byte is looked at twice, once for each of the two characters, whichever of them ends lines. */
static const char *find_line_end(reader *r) {
  if (r->feed < r->place) r->feed = find(r->place, r->end, '\n');
  return find(r->place, r->feed, '\r');
}

static void skip_feed_after_cr(mend__sse *sse, reader *r) {
  if (r->place == r->end) return;
  if (sse->after_cr && *r->place == '\n') r->place++;
  sse->after_cr = false;
}

mend_status mend__sse_feed(mend__sse *sse, mend_str bytes, mend__sse_event event, void *ctx) {
  if (bytes.len == 0) return MEND_OK;
  const consumer to = {event, ctx};
  reader r = {.place = bytes.ptr, .end = bytes.ptr + bytes.len};
  skip_feed_after_cr(sse, &r);
  r.feed = find(r.place, r.end, '\n');
  for (const char *stop; (stop = find_line_end(&r)) < r.end;) {
    const mend_status status = end_line(sse, (mend_str){r.place, (size_t)(stop - r.place)}, to);
    if (status != MEND_OK) return status;
    r.place = stop + 1;
    sse->after_cr = *stop == '\r';
    skip_feed_after_cr(sse, &r);
  }
  const mend_status status = begin_line(sse, (mend_str){r.place, (size_t)(r.end - r.place)});
  return status == MEND_OK ? keep_fed(sse) : status;
}
