/* Servers that do not come to an end: what has come is gone by, and no clock of the request has to run out. */
#include "fallback/provider_world.h"

#define GOOGLE_TEXT(finish) "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"Paris\"}]}" finish "}]}\n\n"

static const struct {
  const mend__dialect *dialect;
  const char *title, *text, *log;
} stalls[] = {
    {&mend__dialect_openai, "no body of a refused key",
     "HTTP/1.1 401 No\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n",
     "connected told 401 any byte \"openai: HTTP status 401, and its body does not come\""},
    {&mend__dialect_openai, "half a body, with the wait in the head",
     "HTTP/1.1 503 Busy\r\nretry-after: 7\r\ncontent-length: 1000\r\n\r\n{\"error\":",
     "connected told 503 any byte wait 7 \"openai: HTTP status 503, and its body does not come\" body {\"error\":"},
    {&mend__dialect_openai, "a finish without [DONE]",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" TEXT FINISH, "connected +Paris reply \"Paris\" stop"},
    {&mend__dialect_google, "where any event may have a finish, and another one comes",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" GOOGLE_TEXT(",\"finishReason\":\"STOP\""),
     "connected +Paris idle_timeout after content \"no content for idle_s\""},
    {&mend__dialect_openai, "tokens are counted behind the finish",
     "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n" TEXT FINISH USAGE,
     "connected +Paris reply \"Paris\" stop usage 3"},
};
enum { STALLS = sizeof stalls / sizeof *stalls };

static void check_stall(provider_world *w, size_t index) {
  char base[16];
  asked told;
  mend_model_request request = MEND_MODEL_REQUEST_INIT;
  request.messages = w->messages;
  request.clocks = (mend_model_clocks){.connect_s = 100, .first_content_s = 3, .idle_s = 8, .total_s = 10};
  snprintf(base, sizeof base, "/%zu/", index);
  mend_model *model = model_at(w, stalls[index].dialect, base);
  begin_to_ask(model, &request, &told);
  gate_await(&w->server.holds, (int)index + 1);
  for (int i = 0; i < 3; i++)
    flush(w->world.loop); /* what was sent is read */
  mend_clock_advance(w->world.clock, 6 * MEND_SECOND_NS);
  mend_clock_advance(w->world.clock, 100 * MEND_SECOND_NS);
  gate_await(&told.done, 1);
  mend__buffer_char(&told.log, '\0');
  cr_assert_str_eq(told.log.data, stalls[index].log, "%s: %s", stalls[index].title, told.log.data);
  mend__buffer_free(&told.log);
  mend_model_release(model);
}

Test(stalls, what_has_come_counts) {
  static reply replies[STALLS];
  static char paths[STALLS][64];
  provider_world w;
  for (size_t i = 0; i < STALLS; i++) {
    const bool is_google = stalls[i].dialect == &mend__dialect_google;
    snprintf(paths[i], sizeof paths[i],
             is_google ? "/%zu/models/m:streamGenerateContent?alt=sse" : "/%zu/chat/completions", i);
    replies[i] = (reply){.path = paths[i], .text = stalls[i].text, .then = HOLD};
  }
  open_provider_in(&w, OWN_THREAD_VIRTUAL, replies, STALLS);
  for (size_t i = 0; i < STALLS; i++)
    check_stall(&w, i);
  close_provider(&w);
}
