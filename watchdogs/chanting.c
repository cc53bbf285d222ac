/* Of all pieces of 50 bytes every 50th is kept, for as long as its tenth time could still be near enough, which is 46
 * of them. Each piece that the text ends with, byte after byte, is looked up among them by a rolling hash: what is said
 * again meets the kept one. That costs the same for every byte. Pieces that overlap their last time do not count: a
 * line of dashes is no chant. */
#include "watchdogs/chanting.h"

#include "core/memory.h"

enum {
  SPAN = (MEND__CHANT_TIMES - 1) * MEND__CHANT_DISTANCE, /* from the first to the last of a finding, at most */
  KEPT = SPAN / MEND__CHANT_BYTES + 1,
  BUCKETS = 256,   /* many more than are kept: most pieces are looked for in vain */
  RING = 64,       /* bytes, more than a piece has; a power of two */
  NONE = UINT8_MAX /* no kept piece has this number */
};
_Static_assert(KEPT < NONE, "a kept piece is numbered by a byte");

/* Hashes are polynomials of the bytes in this odd base, modulo 2^64. */
static const uint64_t BASE = UINT64_C(0x9E3779B97F4A7C15);

typedef struct kept_piece {
  uint64_t hash;
  uint64_t before; /* hash of the text up to the end of its last time */
  uint32_t ends[MEND__CHANT_TIMES];
  uint64_t periods[MEND__CHANT_TIMES]; /* hashes of the texts from one end to the next */
  uint32_t times;                      /* the last at times - 1, both rings by their length */
  uint8_t next;                        /* in its bucket */
} kept_piece;

/* The end of the text so far. */
typedef struct text_end {
  uint64_t hash;  /* of the text */
  uint64_t piece; /* of its last piece */
  uint32_t len;
} text_end;

struct mend__chant_text {
  text_end end;
  uint32_t kept_until; /* where the last kept piece ends */
  uint32_t kept_count; /* ever */
  char last[RING];
  uint8_t buckets[BUCKETS];
  kept_piece kept[KEPT];
};

static uint64_t power(uint32_t exponent) {
  uint64_t result = 1;
  for (uint64_t square = BASE; exponent != 0; exponent >>= 1, square *= square) {
    if ((exponent & 1) != 0) result *= square;
  }
  return result;
}

/* ---- Kept pieces ---- */

static uint8_t *bucket_of(mend__chant_text *text, uint64_t hash) { return &text->buckets[hash * BASE >> 56]; }

static kept_piece *find(mend__chant_text *text, uint64_t hash) {
  uint8_t number = *bucket_of(text, hash);
  while (number != NONE && text->kept[number].hash != hash)
    number = text->kept[number].next;
  return number != NONE ? &text->kept[number] : NULL;
}

static void take_out(mend__chant_text *text, uint8_t number) {
  uint8_t *link = bucket_of(text, text->kept[number].hash);
  while (*link != number)
    link = &text->kept[*link].next;
  *link = text->kept[number].next;
}

/* In the place of the oldest: that has been there so long that ten times of it would be too far apart. */
static kept_piece *keep(mend__chant_text *text) {
  const uint8_t number = (uint8_t)(text->kept_count % KEPT);
  if (text->kept_count >= KEPT) take_out(text, number);
  kept_piece *piece = &text->kept[number];
  uint8_t *bucket = bucket_of(text, text->end.piece);
  piece->hash = text->end.piece;
  piece->times = 0;
  piece->next = *bucket;
  *bucket = number;
  text->kept_count++;
  text->kept_until = text->end.len;
  return piece;
}

/* ---- Times ---- */

static void count_time(const mend__chant_text *text, kept_piece *piece) {
  const uint32_t place = piece->times % MEND__CHANT_TIMES;
  if (piece->times > 0) {
    const uint32_t last = piece->ends[(piece->times - 1) % MEND__CHANT_TIMES];
    piece->periods[place] = text->end.hash - piece->before * power(text->end.len - last);
  }
  piece->ends[place] = text->end.len;
  piece->before = text->end.hash;
  piece->times++;
}

static uint32_t last_end(const kept_piece *piece) { return piece->ends[(piece->times - 1) % MEND__CHANT_TIMES]; }

static uint32_t different_periods(const kept_piece *piece) {
  uint32_t count = 0;
  for (uint32_t i = 1; i < MEND__CHANT_TIMES; i++) {
    const uint64_t period = piece->periods[(piece->times + i) % MEND__CHANT_TIMES];
    uint32_t earlier = 1;
    while (earlier < i && piece->periods[(piece->times + earlier) % MEND__CHANT_TIMES] != period)
      earlier++;
    count += earlier == i;
  }
  return count;
}

static bool is_chant(const kept_piece *piece) {
  if (piece->times < MEND__CHANT_TIMES) return false;
  const uint32_t first_end = piece->ends[piece->times % MEND__CHANT_TIMES];
  return last_end(piece) - first_end <= SPAN && different_periods(piece) <= MEND__CHANT_PERIODS;
}

/* ---- Text ---- */

static void forget(mend__chant_text *text) {
  memset(text, 0, sizeof *text);
  memset(text->buckets, NONE, sizeof text->buckets);
}

/* The end after one more byte, with which another one leaves the last piece. Both zero: nothing leaves yet. */
static inline text_end roll(text_end end, char leaving, char byte, uint64_t highest) {
  const uint64_t in = (unsigned char)byte, out = (unsigned char)leaving;
  return (text_end){end.hash * BASE + in, (end.piece - out * highest) * BASE + in, end.len + 1};
}

/* The text ends with a piece that is kept already, or is the next to be kept. Its time, if it does not overlap the
 * last one. NULL: it does. */
static const kept_piece *take_piece(mend__chant_text *text, kept_piece *piece) {
  if (piece == NULL) {
    piece = keep(text);
  } else if (text->end.len - last_end(piece) < MEND__CHANT_BYTES) {
    return NULL;
  }
  count_time(text, piece);
  return piece;
}

static void describe(const mend__chant_text *text, const kept_piece *piece, mend__chant *ret_chant) {
  const uint32_t begin = text->end.len - MEND__CHANT_BYTES;
  for (uint32_t i = 0; i < MEND__CHANT_BYTES; i++)
    ret_chant->piece[i] = text->last[(begin + i) % RING];
  ret_chant->times = piece->times;
  ret_chant->distance = (last_end(piece) - piece->ends[piece->times % MEND__CHANT_TIMES]) / (MEND__CHANT_TIMES - 1);
}

/* The end is kept in registers: this loop sees every byte of what models say. */
static const kept_piece *read_bytes(mend__chant_text *text, mend__prose *prose, mend_str given) {
  const uint64_t highest = power(MEND__CHANT_BYTES - 1);
  if (given.len > UINT32_MAX - text->end.len) forget(text);
  text_end end = text->end;
  for (size_t i = 0; i < given.len; i++) {
    const mend__prose_kind kind = mend__prose_next(prose, given.ptr[i]);
    if (kind == MEND__PROSE_BREAK) {
      forget(text);
      end = text->end;
    }
    if (kind != MEND__PROSE_TEXT) continue;
    end = roll(end, text->last[(end.len - MEND__CHANT_BYTES) % RING], given.ptr[i], highest);
    text->last[(end.len - 1) % RING] = given.ptr[i];
    kept_piece *piece = find(text, end.piece);
    if (piece == NULL && end.len - text->kept_until < MEND__CHANT_BYTES) continue;
    text->end = end;
    const kept_piece *counted = take_piece(text, piece);
    if (counted != NULL && is_chant(counted)) return counted;
  }
  text->end = end;
  return NULL;
}

static bool add_text(mend__chanting *chanting, mend_str given, mend__chant *ret_chant) {
  const kept_piece *piece = read_bytes(chanting->text, &chanting->prose, given);
  if (piece != NULL) describe(chanting->text, piece, ret_chant);
  return piece != NULL;
}

/* ---- Events ---- */

static mend_status read_text(mend__chanting *chanting, mend_str given, bool *ret_found, mend__chant *ret_chant) {
  if (given.len == 0 || chanting->is_told) return MEND_OK;
  if (chanting->text == NULL) {
    chanting->text = mend__alloc(chanting->allocator, sizeof *chanting->text);
    if (chanting->text == NULL) return MEND_ENOMEM;
    forget(chanting->text);
  }
  *ret_found = chanting->is_told = add_text(chanting, given, ret_chant);
  return MEND_OK;
}

/* What a model thinks and what it says are two texts, and so are the replies to two calls at once. Arguments are
 * none. */
static mend_status read_delta(mend__chanting *chanting, const mend_model_delta_event *delta, bool *ret_found,
                              mend__chant *ret_chant) {
  if (mend_str_equal(delta->delta_kind, MEND_STR("tool_args"))) return MEND_OK;
  const bool is_thinking = mend_str_equal(delta->delta_kind, MEND_STR("thinking"));
  const uint64_t call = delta->event.call;
  if (is_thinking != chanting->is_thinking || call != chanting->call) mend__chanting_reset(chanting);
  chanting->is_thinking = is_thinking;
  chanting->call = call;
  chanting->has_deltas = true;
  return read_text(chanting, delta->text, ret_found, ret_chant);
}

/* One too short for a finding needs no memory. */
static mend_status read_reply(mend__chanting *chanting, mend_str given, bool *ret_found, mend__chant *ret_chant) {
  mend_status status = MEND_OK;
  if (!chanting->has_deltas && given.len >= (size_t)MEND__CHANT_BYTES * MEND__CHANT_TIMES) {
    status = read_text(chanting, given, ret_found, ret_chant);
  }
  mend__chanting_reset(chanting);
  return status;
}

mend_status mend__chanting_event(mend__chanting *chanting, const mend_event *event, bool *ret_found,
                                 mend__chant *ret_chant) {
  *ret_found = false;
  switch (event->kind) {
  case MEND_EVENT_MODEL_DELTA: return read_delta(chanting, (const mend_model_delta_event *)event, ret_found, ret_chant);
  case MEND_EVENT_MODEL_RESPONSE:
    return read_reply(chanting, ((const mend_model_response_event *)event)->text, ret_found, ret_chant);
  case MEND_EVENT_MODEL_REQUEST:
  case MEND_EVENT_MODEL_ERROR:
  case MEND_EVENT_MODEL_RETRY:
  case MEND_EVENT_RUN_RESET: mend__chanting_reset(chanting); return MEND_OK;
  default: return MEND_OK;
  }
}

void mend__chanting_reset(mend__chanting *chanting) {
  mend__free(chanting->allocator, chanting->text);
  *chanting = (mend__chanting){.allocator = chanting->allocator};
}
