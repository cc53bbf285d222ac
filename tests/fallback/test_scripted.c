/* Scripted models: transcripts of what files make of requests, files that are refused, and no memory.
 *
 * tests/data/fallback/scripted/replies/NAME.txt is what happens with NAME.json: a line "> user: text" or "> tool: text"
 * adds a message and asks, the lines behind it are what is told, each with the seconds since it was asked. */
#include "fallback/fallback_internal.h"
#include "fallback/scripted.h"
#include "fallback/world.h"
#include "mend/json.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct talk {
  world w;
  mend_model *model;
  mend_classification *table;
  mend__buffer transcript;
  uint64_t asked_ns;
  unsigned done;
  bool is_wrong;
} talk;

static void say(talk *t, const char *format, ...) MEND_PRINTF(2, 3);
static void say(talk *t, const char *format, ...) {
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  const uint64_t now_ns = mend_clock_now(t->w.clock).mono_ns;
  mend__buffer_printf(&t->transcript, "%.3f %s\n", (double)(now_ns - t->asked_ns) / 1e9, line);
}

static void hear_delta(void *ctx, const mend_delta *delta) {
  if (delta->kind == MEND_PART_CALL) {
    say(ctx, "@%u %.*s %.*s %.*s", delta->index, MEND_STR_ARG(delta->call_id), MEND_STR_ARG(delta->name),
        MEND_STR_ARG(delta->text));
  } else {
    say(ctx, "%c%.*s", delta->kind == MEND_PART_TEXT ? '+' : '~', MEND_STR_ARG(delta->text));
  }
}

static void hear_reply(talk *t, const mend_reply *reply) {
  const mend_str texts[] = {reply->text,   reply->thinking, reply->finish_reason, reply->model,
                            reply->target, reply->raw,      reply->attempts};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
    cr_assert(texts[i].ptr == NULL || texts[i].ptr[texts[i].len] == '\0', "text %zu has no NUL behind it", i);
  say(t, "reply %s \"%s\" %.*s, %zu calls, %lld in, %lld out, %zu log_probs", mend_finish_name(reply->finish),
      reply->text.ptr, MEND_STR_ARG(reply->model),
      reply->part_count - (reply->text.len > 0) - (reply->thinking.len > 0), (long long)reply->usage.input,
      (long long)reply->usage.output, reply->log_prob_count);
  if (mend_json_check(reply->raw, MEND_JSON_DEPTH, NULL) != MEND_OK) say(t, "raw is no JSON");
  mend_messages_add_reply(t->w.messages, reply);
}

/* Sentences may begin with the file's path. */
static mend_str without_folder(mend_str text) {
  static const char folder[] = MEND_TEST_DATA "/";
  if (text.len < sizeof folder || memcmp(text.ptr, folder, sizeof folder - 1) != 0) return text;
  return (mend_str){text.ptr + (sizeof folder - 1), text.len - (sizeof folder - 1)};
}

static void hear_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  talk *t = ctx;
  t->done++;
  if (reply != NULL) {
    hear_reply(t, reply);
    return;
  }
  say(t, "%s %.*s: %.*s", status == MEND_EFAILED ? "failed" : mend_status_name(status), MEND_STR_ARG(failure->type),
      MEND_STR_ARG(without_folder(failure->message)));
  if (failure->body.len > 0) say(t, "body %.*s", MEND_STR_ARG(failure->body));
  if (failure->retry_after_s == failure->retry_after_s) say(t, "retry after %g s", failure->retry_after_s);
}

static void ask(talk *t, mend_str line) {
  const mend_model_listener listener = {sizeof listener, hear_delta, hear_done, t};
  mend_model_request request = world_request(&t->w);
  request.log_probs = true;
  mend__buffer_printf(&t->transcript, "> %.*s\n", MEND_STR_ARG(line));
  const mend_str text = {line.ptr + strlen("user: "), line.len - strlen("user: ")};
  const bool is_user = strncmp(line.ptr, "user: ", 6) == 0;
  cr_assert_eq(is_user ? mend_messages_add_user(t->w.messages, text)
                       : mend_messages_add_result(t->w.messages, MEND_STR("c"), text, false),
               MEND_OK);
  t->asked_ns = mend_clock_now(t->w.clock).mono_ns;
  t->done = 0;
  cr_assert_eq(mend_model_send(t->model, &request, &listener, NULL, NULL), MEND_OK);
  cr_assert_eq(mend_clock_advance(t->w.clock, 1000 * MEND_SECOND_NS), MEND_OK);
  cr_assert_eq(t->done, 1u);
}

static void ask_all(talk *t, const char *wanted) {
  for (const char *line = wanted; *line != '\0'; line += strcspn(line, "\n") + 1) {
    if (line[0] == '>') ask(t, (mend_str){line + 2, strcspn(line, "\n") - 2});
  }
}

static mend_status open_file(talk *t, const char *name, mend_error *error) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", MEND_TEST_DATA, name);
  return mend__scripted_open(path, t->w.loop, &t->w.memory.base, t->table, &t->model, error);
}

static char *read_beside(const char *name, size_t *ret_len) {
  char other[256];
  snprintf(other, sizeof other, "%.*s.txt", (int)(strlen(name) - strlen(".json")), name);
  return mend_test_read(other, ret_len);
}

static void replay(void *ctx, const char *name) {
  (void)ctx;
  talk *t = calloc(1, sizeof *t);
  mend_error error = MEND_ERROR_INIT;
  char *wanted = read_beside(name, NULL);
  world_open(&t->w);
  mend__buffer_init(&t->transcript, &t->w.memory.base);
  cr_assert_eq(mend_classification_new(NULL, &t->w.memory.base, &t->table, NULL), MEND_OK);
  cr_assert_eq(open_file(t, name, &error), MEND_OK, "%s", error.message);
  ask_all(t, wanted);
  mend__buffer_char(&t->transcript, '\0');
  cr_assert_str_eq(t->transcript.data, wanted, "%s:\n%s", name, t->transcript.data);
  mend__buffer_free(&t->transcript);
  mend_model_release(t->model);
  mend_classification_release(t->table);
  world_close(&t->w);
  free(wanted);
  free(t);
}

Test(scripted, plays_its_replies) {
  cr_assert(mend_test_each("fallback/scripted/replies", ".json", replay, NULL) >= 5);
}

/* ---- Files that are refused: the first line of NAME.txt is "line:column sentence" ---- */

static void refuse(void *ctx, const char *name) {
  (void)ctx;
  size_t source_len, wanted_len;
  char found[512];
  char *source = mend_test_read(name, &source_len), *wanted = read_beside(name, &wanted_len);
  mend_error error = MEND_ERROR_INIT;
  mend__script *script = NULL;
  const mend_status status = mend__script_read((mend_str){source, source_len}, NULL, &script, &error);
  cr_assert(status == MEND_EINVAL || status == MEND_ESYNTAX, "%s", name);
  snprintf(found, sizeof found, "%u:%u %s\n", error.line, error.column, error.message);
  cr_assert_str_eq(found, wanted, "%s: %s", name, found);
  free(source);
  free(wanted);
}

/* It does not wait for somebody to write to it. */
static void refuse_fifo(talk *t) {
  char folder[] = "/tmp/mend-test-XXXXXX", path[64], sentence[128];
  mend_error error = MEND_ERROR_INIT;
  cr_assert_not_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/fifo", folder);
  snprintf(sentence, sizeof sentence, "%s: it is no regular file", path);
  cr_assert_eq(mkfifo(path, 0600), 0);
  cr_assert_eq((int)mend__scripted_open(path, t->w.loop, &t->w.memory.base, NULL, &t->model, &error), (int)MEND_EIO);
  cr_assert_str_eq(error.message, sentence);
  unlink(path);
  rmdir(folder);
}

Test(scripted, refuses_what_it_does_not_know) {
  cr_assert(mend_test_each("fallback/scripted/refused", ".json", refuse, NULL) >= 10);
  talk *t = calloc(1, sizeof *t);
  mend_error error = MEND_ERROR_INIT;
  world_open(&t->w);
  cr_assert_eq((int)open_file(t, "fallback/scripted/nowhere.json", &error), (int)MEND_ENOENT);
  cr_assert_not_null(strstr(error.message, "nowhere.json: No such file or directory"));
  cr_assert_eq((int)open_file(t, "fallback/scripted/refused/not-json.json", &error), (int)MEND_ESYNTAX);
  cr_assert_not_null(strstr(error.message, "not-json.json:2:"));
  cr_assert_eq(error.line, 2u);
  cr_assert_eq((int)open_file(t, "fallback", &error), (int)MEND_EIO);
  refuse_fifo(t);
  world_close(&t->w);
  free(t);
}

/* ---- Without memory ---- */

static void count_done(void *ctx, mend_status status, mend_reply *reply, const mend_failure *failure) {
  talk *t = ctx;
  (void)failure;
  t->is_wrong = status != (reply != NULL ? MEND_OK : MEND_ENOMEM);
  t->done++;
}

static bool play_without_memory(size_t n, bool onwards) {
  talk *t = calloc(1, sizeof *t);
  const mend_model_listener listener = {sizeof listener, NULL, count_done, t};
  world_open(&t->w);
  const mend_model_request request = world_request(&t->w);
  mend_test_allocator_arm(&t->w.memory, n, onwards);
  mend_status status = open_file(t, "fallback/scripted/replies/calls.json", NULL);
  if (status == MEND_OK) status = mend_model_send(t->model, &request, &listener, NULL, NULL);
  const bool sent = status == MEND_OK;
  settle(&t->w);
  const bool failed = mend_test_allocator_failed(&t->w.memory);
  mend_test_allocator_arm(&t->w.memory, 0, false);
  if (sent) cr_assert_eq(mend_clock_advance(t->w.clock, 1000 * MEND_SECOND_NS), MEND_OK);
  cr_assert_eq(t->done, sent ? 1u : 0u);
  cr_assert(!t->is_wrong);
  cr_assert(failed || sent);
  mend_model_release(t->model);
  world_close(&t->w);
  free(t);
  return failed;
}

Test(scripted, survives_without_memory) {
  for (int onwards = 0; onwards < 2; onwards++) {
    for (size_t n = 1; play_without_memory(n, onwards != 0); n++) {
    }
  }
}
