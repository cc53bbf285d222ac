/* Replies of every provider, as streams and whole: whatever comes, what is told is well-formed, calls count from 0
 * without gaps, and each begins with an id and a name. The first byte says which provider. */
#include "core/text.h"
#include "fallback/dialect.h"
#include "fuzz/fuzz.h"
#include "http/sse.h"
#include "mend/json.h"

typedef struct listening {
  mend__decoder decoder;
  mend__buffer raw;
  uint32_t calls; /* so far */
} listening;

static void must_be_text(mend_str text) {
  mend__buffer json;
  mend__buffer_init(&json, NULL);
  mend__buffer_char(&json, '"');
  for (size_t i = 0; i < text.len; i++) {
    if (!mend__is_special(text.ptr[i]) || (unsigned char)text.ptr[i] >= 0x80) mend__buffer_char(&json, text.ptr[i]);
  }
  mend__buffer_char(&json, '"');
  MUST(mend_json_check((mend_str){json.data, json.len}, 1, NULL) == MEND_OK);
  mend__buffer_free(&json);
}

static void hear_delta(void *ctx, const mend_delta *delta) {
  listening *self = ctx;
  must_be_text(delta->text);
  if (delta->kind != MEND_PART_CALL) return;
  MUST(delta->index <= self->calls);
  if (delta->index < self->calls) return;
  self->calls++;
  MUST(delta->call_id.len > 0 && delta->name.len > 0);
  must_be_text(delta->call_id);
  must_be_text(delta->name);
}

static void hear_note(void *ctx, const mend_reply *partial) {
  listening *self = ctx;
  mend__buffer_str(&self->raw, partial->raw);
  must_be_text(partial->model);
  must_be_text(partial->finish_reason);
}

static void open_listening(listening *self, const mend__dialect *dialect, const mend_messages *messages) {
  const mend__decoder_listener listener = {hear_delta, hear_note, self};
  self->calls = 0;
  mend__buffer_init(&self->raw, NULL);
  mend__decoder_init(&self->decoder, dialect, messages, NULL, &listener);
}

static void close_listening(listening *self, mend__reading reading) {
  MUST(reading != MEND__READING_NO_MEMORY);
  if (reading == MEND__READING_MORE || reading == MEND__READING_COMPLETE) {
    MUST((mend__decoder_end(&self->decoder) == MEND__READING_COMPLETE) == self->decoder.has_finish);
    const mend_str raw = {self->raw.data, self->raw.len};
    MUST(raw.len == 0 || mend_json_check(raw, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK);
  } else {
    MUST(self->decoder.fault.len <= 65536);
  }
  mend__decoder_free(&self->decoder);
  mend__buffer_free(&self->raw);
}

typedef struct streaming {
  mend__decoder *decoder;
  mend__reading reading;
} streaming;

static bool hear_event(void *ctx, mend_str name, mend_str data) {
  streaming *self = ctx;
  self->reading = mend__decoder_event(self->decoder, name, data);
  return self->reading == MEND__READING_MORE;
}

static void read_stream(const mend__dialect *dialect, const mend_messages *messages, mend_str text) {
  listening heard;
  mend__sse sse;
  open_listening(&heard, dialect, messages);
  streaming self = {&heard.decoder, MEND__READING_MORE};
  mend__sse_init(&sse, NULL, 1 << 20);
  mend__sse_feed(&sse, text, hear_event, &self);
  mend__sse_free(&sse);
  close_listening(&heard, self.reading);
}

static void read_whole(const mend__dialect *dialect, const mend_messages *messages, mend_str text) {
  listening heard;
  open_listening(&heard, dialect, messages);
  const mend__reading reading = mend__decoder_whole(&heard.decoder, text);
  MUST(reading != MEND__READING_MORE);
  close_listening(&heard, reading);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static const mend__dialect *const dialects[] = {&mend__dialect_openai, &mend__dialect_openai_responses,
                                                  &mend__dialect_anthropic, &mend__dialect_google,
                                                  &mend__dialect_compatible};
  static mend_messages *messages;
  if (messages == NULL) MUST(mend_messages_new(NULL, &messages) == MEND_OK);
  if (size == 0) return 0;
  const mend__dialect *dialect = dialects[data[0] % (sizeof dialects / sizeof *dialects)];
  const mend_str text = fuzz_text(data + 1, size - 1);
  read_stream(dialect, messages, text);
  read_whole(dialect, messages, text);
  return 0;
}
