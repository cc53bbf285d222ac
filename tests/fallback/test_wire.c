/* Models of providers, over real connections: what they send, and streams that come byte by byte. */
#include "fallback/provider_world.h"

/* ---- What is sent ---- */

static const struct {
  const mend__dialect *dialect;
  const char *path;
  const char *lines[4];
} sent[] = {
    {&mend__dialect_openai, "/v1/chat/completions", {"authorization: Bearer " SECRET}},
    {&mend__dialect_openai_responses, "/v1/responses", {"authorization: Bearer " SECRET}},
    {&mend__dialect_anthropic, "/v1/messages", {"x-api-key: " SECRET, "anthropic-version: 2023-06-01"}},
    {&mend__dialect_google, "/v1/models/m:streamGenerateContent?alt=sse", {"x-goog-api-key: " SECRET}},
};
enum { SENT = sizeof sent / sizeof *sent };

static size_t times(const char *text, const char *part) {
  size_t count = 0;
  while ((text = strcasestr(text, part)) != NULL) {
    text += strlen(part);
    count++;
  }
  return count;
}

Test(wire, sent) {
  static reply replies[SENT];
  provider_world w;
  for (size_t i = 0; i < SENT; i++)
    replies[i] = (reply){.path = sent[i].path, .text = STREAM, .then = CLOSE};
  open_provider(&w, replies, SENT);
  for (size_t i = 0; i < SENT; i++) {
    char line[128];
    asked told;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = w.messages;
    mend_model *model = model_at(&w, sent[i].dialect, "/v1");
    ask(model, &request, &told);
    const char *head = w.server.last_request;
    snprintf(line, sizeof line, "POST %s HTTP/1.1\r\n", sent[i].path);
    cr_assert(strncmp(head, line, strlen(line)) == 0, "%s", head);
    cr_assert_null(memmem(head, strlen(line), SECRET, strlen(SECRET)), "the key is in the address: %s", head);
    for (int j = 0; j < 4 && sent[i].lines[j] != NULL; j++)
      cr_assert_not_null(strcasestr(head, sent[i].lines[j]), "no %s in %s", sent[i].lines[j], head);
    cr_assert_not_null(strcasestr(head, "\r\ncontent-type: application/json\r\n"), "%s", head);
    cr_assert_eq(times(head, "\r\ncontent-length: ") + times(head, "\r\ntransfer-encoding: "), 1u, "%s", head);
    cr_assert_not_null(strcasestr(head, "\r\naccept: text/event-stream\r\n"), "%s", head);
    cr_assert_not_null(strcasestr(head, "\r\nuser-agent: mend/" MEND_VERSION "\r\n"), "%s", head);
    cr_assert_not_null(strstr(head, "Capital of France?"), "%s", head);
    mend__buffer_free(&told.log);
    mend_model_release(model);
  }
  close_provider(&w);
}

/* ---- Events, line ends and characters that are cut by every read: nothing is lost ---- */

#define PIECE "P\xC3\xA4r\xF0\x9F\x99\x82"

static const struct {
  const char *title;
  const mend__dialect *dialect;
  const char *path, *body, *log;
} dripped[] = {
    {"Chat Completions", &mend__dialect_openai, "/0/chat/completions",
     "data: {\"choices\":[{\"delta\":{\"content\":\"" PIECE "\"}}]}\r\n\r\n" FINISH USAGE DONE,
     "connected +" PIECE " reply \"" PIECE "\" stop usage 3"},
    {"Responses, with the usage of response.completed", &mend__dialect_openai_responses, "/1/responses",
     "event: response.output_text.delta\r\ndata: {\"type\":\"response.output_text.delta\",\"delta\":\"" PIECE
     "\"}\r\n\r\nevent: response.completed\r\ndata: {\"type\":\"response.completed\",\r\ndata: \"response\":"
     "{\"status\":\"completed\",\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\r\n\r\n",
     "connected +" PIECE " reply \"" PIECE "\" stop usage 3"},
    {"Messages, with lone returns and no blanks", &mend__dialect_anthropic, "/2/messages",
     "data:{\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":3,\"output_tokens\":1}}}\r\r"
     ": a comment\r\rdata:{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\","
     "\"text\":\"" PIECE "\"}}\r\rdata:{\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\r\r"
     "data:{\"type\":\"message_stop\"}\r\r",
     "connected +" PIECE " reply \"" PIECE "\" stop usage 3"},
    {"generateContent", &mend__dialect_google, "/3/models/m:streamGenerateContent?alt=sse",
     "data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"" PIECE "\"}]},\"finishReason\":\"STOP\"}],"
     "\"usageMetadata\":{\"promptTokenCount\":3,\"candidatesTokenCount\":1}}\n\n",
     "connected +" PIECE " reply \"" PIECE "\" stop usage 3"},
    {"a key that is cut, too", &mend__dialect_openai, "/4/chat/completions",
     "data: {\"choices\":[{\"delta\":{\"content\":\"key-\\u0073k\"}}]}\n\n"
     "data: {\"choices\":[{\"delta\":{\"content\":\"-secret!\"}}]}\n\n" FINISH,
     "connected +*************! reply \"*************!\" stop"},
};
enum { DRIPPED = sizeof dripped / sizeof *dripped };

Test(wire, byte_by_byte) {
  static reply replies[DRIPPED];
  static char texts[DRIPPED][1024];
  provider_world w;
  for (size_t i = 0; i < DRIPPED; i++) {
    snprintf(texts[i], sizeof texts[i], HEAD("200 OK", "text/event-stream") "content-length: %zu\r\n\r\n%s",
             strlen(dripped[i].body), dripped[i].body);
    replies[i] = (reply){.path = dripped[i].path, .text = texts[i], .then = DRIP};
  }
  open_provider(&w, replies, DRIPPED);
  for (size_t i = 0; i < DRIPPED; i++) {
    char base[16];
    asked told;
    mend_model_request request = MEND_MODEL_REQUEST_INIT;
    request.messages = w.messages;
    snprintf(base, sizeof base, "/%zu", i);
    mend_model *model = model_at(&w, dripped[i].dialect, base);
    ask(model, &request, &told);
    cr_assert_str_eq(told.log.data, dripped[i].log, "%s: %s", dripped[i].title, told.log.data);
    mend__buffer_free(&told.log);
    mend_model_release(model);
  }
  close_provider(&w);
}
