/* What comes back: telling the pieces of a reply. */
#include "core/memory.h"
#include "core/text.h"
#include "fallback/call_id.h"
#include "fallback/decoder_internal.h"
#include "fallback/json_fields.h"
#include "mend/events.h"

#define FAULT_MAX 65536

void mend__decoder_init(mend__decoder *decoder, const mend__dialect *dialect, const mend_messages *messages,
                        const mend__secrets *secrets, const mend_allocator *allocator,
                        const mend__decoder_listener *listener) {
  *decoder = (mend__decoder){.dialect = dialect, .allocator = allocator, .secrets = secrets, .listener = *listener};
  mend__buffer *const buffers[] = {&decoder->fault, &decoder->text, &decoder->told, &decoder->repaired,
                                   &decoder->covered};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    mend__buffer_init(buffers[i], allocator);
  mend__series_init(&decoder->texts, decoder, false);
  mend__series_init(&decoder->thoughts, decoder, false);
  decoder->next_id = mend__call_id_next(messages);
}

void mend__decoder_free(mend__decoder *decoder) {
  mend__decoder_calls_free(decoder);
  mend__buffer *const buffers[] = {&decoder->fault, &decoder->text, &decoder->told, &decoder->repaired,
                                   &decoder->covered};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    mend__buffer_free(buffers[i]);
  mend__series_free(&decoder->texts);
  mend__series_free(&decoder->thoughts);
}

/* As a draft has them: a piece goes on in the last part, unless that is of another kind or signed. */
static void count_part(mend__decoder *decoder, const mend_delta *delta) {
  const bool goes_on = decoder->part_is_open && decoder->part_kind == delta->kind;
  if (delta->kind == MEND_PART_CALL && delta->call_id.ptr == NULL) return;
  if (delta->kind != MEND_PART_CALL && !goes_on) decoder->part_count++;
  decoder->too_many_parts |= decoder->part_count > MEND__DECODER_PARTS_MAX;
  decoder->part_kind = delta->kind;
  decoder->part_is_open = delta->signature.len == 0;
}

void mend__decoder_tell(mend__decoder *decoder, const mend_delta *delta) {
  count_part(decoder, delta);
  if (decoder->too_many_parts) return;
  const bool is_content = delta->text.len > 0 || delta->kind == MEND_PART_CALL;
  decoder->any_content |= is_content;
  decoder->any_answer |= is_content && delta->kind != MEND_PART_THINKING;
  decoder->any_thought |= delta->kind == MEND_PART_THINKING;
  decoder->listener.delta(decoder->listener.ctx, delta);
}

static void note(mend__decoder *decoder, const mend_reply *partial) {
  decoder->listener.note(decoder->listener.ctx, partial);
}

mend_str mend__decoder_unescape(mend__decoder *decoder, mend_str value) {
  mend__buffer_clear(&decoder->text);
  mend__json_append(&decoder->text, value);
  if (decoder->text.failed) decoder->no_memory = true;
  return (mend_str){decoder->text.len > 0 ? decoder->text.data : "", decoder->text.len};
}

mend_str mend__decoder_word(mend__decoder *decoder, mend_str value) {
  const mend_str word = mend__decoder_unescape(decoder, value);
  mend__secrets_cover_whole(&decoder->text, decoder->secrets);
  return word;
}

mend_str mend__decoder_covered(mend__decoder *decoder, mend_str text) {
  if (!mend__secrets_may_be_in(decoder->secrets, text)) return text;
  mend__buffer_clear(&decoder->covered);
  mend__buffer_str(&decoder->covered, text);
  if (decoder->covered.failed) decoder->no_memory = true;
  if (mend__json_is_object(text)) {
    mend__secrets_cover_document(&decoder->covered, decoder->secrets);
  } else {
    mend__secrets_cover_whole(&decoder->covered, decoder->secrets);
  }
  return mend__buffer_text(&decoder->covered);
}

/* ---- Pieces and notes ---- */

static void tell_text(mend__decoder *decoder, mend_part_kind kind, mend_str text) {
  mend_delta delta = {.size = sizeof delta, .kind = kind, .text = text};
  if (text.len == 0) return;
  if (kind == MEND_PART_THINKING) delta.provider = mend_str_from(decoder->dialect->provider);
  mend__decoder_tell(decoder, &delta);
}

static void flush(mend__decoder *decoder, mend_part_kind kind) {
  mend__series *series = kind == MEND_PART_TEXT ? &decoder->texts : &decoder->thoughts;
  if (mend__veil_holds(&series->veil)) tell_text(decoder, kind, mend__series_flush(decoder, series));
}

void mend__decoder_flush(mend__decoder *decoder) {
  flush(decoder, MEND_PART_TEXT);
  flush(decoder, MEND_PART_THINKING);
}

void mend__decoder_piece(mend__decoder *decoder, mend_part_kind kind, mend_str value) {
  const mend_str text = mend__decoder_unescape(decoder, value);
  if (text.len == 0) return;
  flush(decoder, kind == MEND_PART_TEXT ? MEND_PART_THINKING : MEND_PART_TEXT);
  mend__series *series = kind == MEND_PART_TEXT ? &decoder->texts : &decoder->thoughts;
  tell_text(decoder, kind, mend__series_take(decoder, series, value, text));
}

void mend__decoder_sign(mend__decoder *decoder, mend_part_kind kind, mend_str signature) {
  if (signature.len == 0) return;
  mend__decoder_flush(decoder);
  const mend_delta delta = {.size = sizeof delta,
                            .kind = kind,
                            .provider = mend_str_from(decoder->dialect->provider),
                            .signature = mend__decoder_covered(decoder, signature)};
  mend__decoder_tell(decoder, &delta);
}

void mend__decoder_refusal(mend__decoder *decoder, mend_str value) {
  if (!mend__json_is_string(value)) return;
  decoder->refused = true;
  mend__decoder_piece(decoder, MEND_PART_TEXT, value);
}

mend_finish mend__finish_find(const mend__finish_word *words, mend_str value) {
  for (; words->word != NULL; words++) {
    if (mend__json_says(value, words->word)) return words->finish;
  }
  return MEND_FINISH_UNKNOWN;
}

/* In the light of what else has come. */
static mend_finish meaning_of(const mend__decoder *decoder, mend_finish finish) {
  if (decoder->refused) return MEND_FINISH_FILTER;
  if (finish == MEND_FINISH_STOP && decoder->call_count > 0) return MEND_FINISH_CALLS;
  const bool calls_are_missing = finish == MEND_FINISH_CALLS && decoder->call_count == 0 && decoder->any_answer;
  return calls_are_missing ? MEND_FINISH_STOP : finish;
}

static bool is_plain(mend_finish finish) { return finish == MEND_FINISH_STOP || finish == MEND_FINISH_UNKNOWN; }

void mend__decoder_finish(mend__decoder *decoder, mend_finish told, mend_str reason) {
  mend_reply partial = MEND_REPLY_INIT;
  const mend_finish finish = meaning_of(decoder, told);
  if (mend__json_is_string(reason) && mend__json_inside(reason).len == 0) return;
  if (decoder->has_finish && (!is_plain(decoder->finish) || is_plain(finish))) return;
  partial.finish = decoder->finish = finish;
  partial.finish_reason = mend__decoder_word(decoder, reason);
  decoder->has_finish = true;
  note(decoder, &partial);
}

/* What came behind the finish may have given it another meaning. */
static void settle_finish(mend__decoder *decoder) {
  mend_reply partial = MEND_REPLY_INIT;
  partial.finish = meaning_of(decoder, decoder->finish);
  if (!decoder->has_finish || partial.finish == decoder->finish) return;
  decoder->finish = partial.finish;
  note(decoder, &partial);
}

void mend__decoder_usage(mend__decoder *decoder, const mend_usage *usage) {
  mend_reply partial = MEND_REPLY_INIT;
  partial.usage = *usage;
  note(decoder, &partial);
}

void mend__decoder_model(mend__decoder *decoder, mend_str value) {
  mend_reply partial = MEND_REPLY_INIT;
  if (decoder->has_model) return;
  partial.model = mend__decoder_word(decoder, value);
  decoder->has_model = partial.model.len > 0;
  if (decoder->has_model) note(decoder, &partial);
}

static void note_log_probs(mend__decoder *decoder, const double *log_probs, size_t count) {
  mend_reply partial = MEND_REPLY_INIT;
  partial.log_probs = log_probs;
  partial.log_prob_count = count;
  if (count > 0) note(decoder, &partial);
}

void mend__decoder_log_probs(mend__decoder *decoder, mend_str array, const char *member) {
  double log_probs[64];
  size_t count = 0;
  mend_str token;
  mend__json_items tokens = mend__json_items_of(array);
  while (mend__json_items_next(&tokens, &token)) {
    const double log_prob = mend__json_number(mend__json_find(token, member, NULL));
    if (log_prob != log_prob) continue;
    log_probs[count++] = log_prob;
    if (count < sizeof log_probs / sizeof *log_probs) continue;
    note_log_probs(decoder, log_probs, count);
    count = 0;
  }
  note_log_probs(decoder, log_probs, count);
}

static void note_raw(mend__decoder *decoder, mend_str raw) {
  mend_reply partial = MEND_REPLY_INIT;
  partial.raw = raw;
  decoder->raw_len += raw.len;
  note(decoder, &partial);
}

static void note_event(mend__decoder *decoder, mend_str event) {
  decoder->event = event;
  decoder->event_at = decoder->raw_len;
  note_raw(decoder, mend__decoder_covered(decoder, event));
}

/* ---- Events and documents ---- */

static void keep_fault(mend__decoder *decoder, mend_str text) {
  mend__buffer_clear(&decoder->fault);
  mend__buffer_bytes(&decoder->fault, text.ptr, mend__utf8_cut(text, FAULT_MAX));
  if (decoder->fault.failed) decoder->no_memory = true;
}

mend__reading mend__decoder_fault(mend__decoder *decoder, mend_str json) {
  keep_fault(decoder, json);
  return MEND__READING_ERROR;
}

static mend__reading ended(mend__decoder *decoder, mend__reading reading, mend_str text) {
  if (decoder->too_many_calls || decoder->too_many_parts) reading = MEND__READING_MALFORMED;
  if (reading == MEND__READING_MALFORMED) keep_fault(decoder, text);
  return decoder->no_memory ? MEND__READING_NO_MEMORY : reading;
}

static bool is_object(mend_str text) {
  mend_json json;
  mend_json_init(&json, text, 1);
  return mend_json_next(&json) == MEND_JSON_OBJECT && mend_json_check(text, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK;
}

/* Bytes that are no UTF-8 become U+FFFD. */
static mend_str repair(mend__decoder *decoder, mend_str text) {
  mend__buffer *repaired = &decoder->repaired;
  mend__buffer_clear(repaired);
  while (text.len > 0) {
    const mend__prefix first = mend__utf8_prefix(text.ptr, text.len);
    const size_t len = mend__character_len(text);
    mend__buffer_str(repaired, first.whole ? (mend_str){text.ptr, len} : MEND_STR("\xef\xbf\xbd"));
    text = (mend_str){text.ptr + len, text.len - len};
  }
  decoder->no_memory |= repaired->failed;
  return (mend_str){repaired->data, repaired->len};
}

/* The object that a text is, in UTF-8; absent when it is none. */
static mend_str read_object(mend__decoder *decoder, mend_str text) {
  if (is_object(text)) return text;
  const mend_str repaired = repair(decoder, text);
  return is_object(repaired) ? repaired : (mend_str){NULL, 0};
}

mend__reading mend__decoder_event(mend__decoder *decoder, mend_str name, mend_str data) {
  const mend_str text = mend__skip_blanks(data);
  if (text.len == 0) return MEND__READING_MORE;
  if (mend_str_equal(text, MEND_STR("[DONE]"))) {
    return decoder->has_finish ? MEND__READING_COMPLETE : MEND__READING_MORE;
  }
  const mend_str object = read_object(decoder, text);
  if (object.len == 0) return ended(decoder, MEND__READING_MALFORMED, data);
  note_raw(decoder, decoder->any_raw ? MEND_STR(",") : MEND_STR("["));
  note_event(decoder, object);
  decoder->any_raw = true;
  return ended(decoder, decoder->dialect->event(decoder, name, object), data);
}

mend__reading mend__decoder_whole(mend__decoder *decoder, mend_str body) {
  const mend_str object = read_object(decoder, mend__skip_blanks(body));
  if (object.len == 0) return ended(decoder, MEND__READING_MALFORMED, body);
  note_event(decoder, object);
  return ended(decoder, decoder->dialect->whole(decoder, object), body);
}

mend__reading mend__decoder_end(mend__decoder *decoder) {
  mend__decoder_flush(decoder);
  mend__decoder_calls_end(decoder);
  settle_finish(decoder);
  if (decoder->any_raw) note_raw(decoder, MEND_STR("]"));
  decoder->any_raw = false;
  if (decoder->no_memory) return MEND__READING_NO_MEMORY;
  return decoder->has_finish ? MEND__READING_COMPLETE : MEND__READING_MORE;
}
