/* Requests to the fault server, in every dialect. */
#ifndef MEND_TEST_FAULT_WAYS_H
#define MEND_TEST_FAULT_WAYS_H

#include "program/fault_client.h"

#include <stdio.h>

typedef enum way {
  CHAT,
  CHAT_STREAM,
  RESPONSES,
  RESPONSES_STREAM,
  MESSAGES,
  MESSAGES_STREAM,
  GEMINI,
  GEMINI_STREAM
} way;
enum { WAYS = GEMINI_STREAM + 1 };

#define TOOLS                                                                                                          \
  "\"tools\":[{\"type\":\"function\",\"function\":{\"name\":\"search\"}},{\"name\":\"read\"},"                         \
  "{\"functionDeclarations\":[{\"name\":\"write\"}]}]"
#define OPENAI_BODY(stream)                                                                                            \
  "{\"model\":\"m\",\"stream\":" stream ",\"messages\":[{\"role\":\"system\",\"content\":\"be brief\"},"               \
  "{\"role\":\"user\",\"content\":\"zero\"},{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"one two "    \
  "three four\"}]}]," TOOLS "}"
#define RESPONSES_BODY(stream) "{\"model\":\"m\",\"stream\":" stream ",\"input\":\"one two three four\"," TOOLS "}"
#define GEMINI_BODY "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"one two three four\"}]}]," TOOLS "}"

static const struct {
  const char *path, *body;
} ways[WAYS] = {
    {"/v1/chat/completions", OPENAI_BODY("false")},
    {"/v1/chat/completions", OPENAI_BODY("true")},
    {"/v1/responses", RESPONSES_BODY("false")},
    {"/v1/responses", RESPONSES_BODY("true")},
    {"/v1/messages", OPENAI_BODY("false")},
    {"/v1/messages", OPENAI_BODY("true")},
    {"/v1beta/models/m:generateContent", GEMINI_BODY},
    {"/v1beta/models/m:streamGenerateContent?alt=sse", GEMINI_BODY},
};

/* headers: lines, each ended by CR LF. */
static inline void send_request(const client *from, const char *prefix, way by, const char *headers) {
  char text[4096];
  const int len = snprintf(text, sizeof text,
                           "POST %s%s HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk-fault-1\r\n"
                           "content-length: %zu\r\n%s\r\n%s",
                           prefix, ways[by].path, strlen(ways[by].body), headers, ways[by].body);
  cr_assert(len > 0 && (size_t)len < sizeof text);
  client_send(from, text);
}

static inline client ask(const mend_test_faults *server, const char *faults, way by, const char *until) {
  char prefix[256];
  client made = client_connect(server);
  snprintf(prefix, sizeof prefix, faults[0] != '\0' ? "/fault/%s" : "%s", faults);
  send_request(&made, prefix, by, "connection: close\r\n");
  client_read_until(&made, until);
  return made;
}

#endif
