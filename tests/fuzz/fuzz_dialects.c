/* Replies of every provider, as streams and whole: whatever comes, what is told is well-formed, calls count from 0
 * without gaps, each begins with an id and a name, and the key is nowhere. The first byte says which provider. */
#include "core/text.h"
#include "fallback/dialect.h"
#include "fuzz/fuzz.h"
#include "http/sse.h"
#include "mend/json.h"

#define KEY "sk-key/1"
#define OTHER_KEY "ask-key-2"

typedef struct listening {
  mend__decoder decoder;
  mend__buffer raw, text, thinking, args; /* args: those of the call that came last */
  uint32_t calls;                         /* so far */
  uint32_t index;                         /* of `args` */
} listening;

static void must_not_tell(mend_str text) {
  MUST(text.len == 0 || memmem(text.ptr, text.len, KEY, sizeof KEY - 1) == NULL);
  MUST(text.len == 0 || memmem(text.ptr, text.len, OTHER_KEY, sizeof OTHER_KEY - 1) == NULL);
}

static void gather(listening *self, const mend_delta *delta) {
  mend__buffer *all = delta->kind == MEND_PART_TEXT ? &self->text : &self->thinking;
  if (delta->kind == MEND_PART_CALL) {
    all = &self->args;
    if (delta->index != self->index) mend__buffer_clear(all);
    self->index = delta->index;
  }
  mend__buffer_str(all, delta->text);
  must_not_tell(mend__buffer_text(all));
}

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
  must_not_tell(delta->signature);
  gather(self, delta);
  if (delta->kind != MEND_PART_CALL) return;
  MUST(delta->index <= self->calls);
  if (delta->index < self->calls) return;
  self->calls++;
  MUST(delta->call_id.len > 0 && delta->name.len > 0);
  must_be_text(delta->call_id);
  must_be_text(delta->name);
  must_not_tell(delta->call_id);
  must_not_tell(delta->name);
}

static void hear_note(void *ctx, const mend_reply *partial) {
  listening *self = ctx;
  mend__buffer_str(&self->raw, partial->raw);
  must_be_text(partial->model);
  must_be_text(partial->finish_reason);
  must_not_tell(partial->model);
  must_not_tell(partial->finish_reason);
}

static void hear_cover(void *ctx, size_t at, size_t len) {
  mend__buffer *raw = &((listening *)ctx)->raw;
  MUST(at <= raw->len && len <= raw->len - at);
  memset(raw->data + at, '*', len);
}

static const mend__secrets *keys(void) {
  static mend__secrets *secrets;
  if (secrets == NULL) MUST(mend__secrets_new(NULL, (const char *[]){KEY, OTHER_KEY}, 2, &secrets) == MEND_OK);
  return secrets;
}

static void open_listening(listening *self, const mend__dialect *dialect, const mend_messages *messages) {
  const mend__decoder_listener listener = {hear_delta, hear_note, hear_cover, self};
  *self = (listening){.calls = 0};
  mend__buffer *const buffers[] = {&self->raw, &self->text, &self->thinking, &self->args};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    mend__buffer_init(buffers[i], NULL);
  mend__decoder_init(&self->decoder, dialect, messages, keys(), NULL, &listener);
}

static void close_listening(listening *self, mend__reading reading) {
  MUST(reading != MEND__READING_NO_MEMORY);
  if (reading == MEND__READING_MORE || reading == MEND__READING_COMPLETE) {
    MUST((mend__decoder_end(&self->decoder) == MEND__READING_COMPLETE) == self->decoder.has_finish);
    const mend_str raw = {self->raw.data, self->raw.len};
    MUST(raw.len == 0 || mend_json_check(raw, MEND_JSON_DEPTH_MAX, NULL) == MEND_OK);
    must_not_tell(raw);
  } else {
    MUST(self->decoder.fault.len <= 65536);
  }
  mend__decoder_free(&self->decoder);
  mend__buffer *const buffers[] = {&self->raw, &self->text, &self->thinking, &self->args};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    mend__buffer_free(buffers[i]);
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
