#include "program/fault_server/log.h"

#include "program/fault_server/json_template.h"

#include <errno.h>
#include <time.h>

static bool is_secret(mend_str name) {
  static const char *const secrets[] = {"authorization", "proxy-authorization", "x-api-key",
                                        "api-key",       "x-goog-api-key",      "cookie"};
  for (size_t i = 0; i < sizeof secrets / sizeof secrets[0]; i++) {
    if (http_name_is(name, secrets[i])) return true;
  }
  return false;
}

static void put_headers(mend__buffer *line, const http_request *request) {
  for (size_t i = 0; i < request->field_count; i++) {
    const http_field *field = &request->fields[i];
    json_put(line, "$j$s:$s", i > 0 ? MEND_STR(",") : MEND_STR(""), field->name,
             is_secret(field->name) ? MEND_STR("(hidden)") : field->value);
  }
}

static mend_str without_query(mend_str target) {
  const char *mark = target.len > 0 ? memchr(target.ptr, '?', target.len) : NULL;
  return mark != NULL ? (mend_str){target.ptr, (size_t)(mark - target.ptr)} : target;
}

static bool put_line(FILE *out, const mend__buffer *line) {
  if (line->failed) errno = ENOMEM;
  return !line->failed && fwrite(line->data, 1, line->len, out) == line->len && fflush(out) == 0;
}

bool fault_log_write(FILE *out, const fault_exchange *exchange) {
  mend__buffer line;
  struct timespec now;
  mend__buffer_init(&line, NULL);
  clock_gettime(CLOCK_REALTIME, &now);
  mend__buffer_printf(&line, "{\"time\":%lld.%03ld", (long long)now.tv_sec, now.tv_nsec / 1000000);
  json_put(&line, ",'number':$n,'connection':$n,'request_on_connection':$n,'method':$s,'path':$s,'headers':{",
           exchange->number, exchange->connection, exchange->nth, exchange->request->method,
           without_query(exchange->request->target));
  put_headers(&line, exchange->request);
  json_put(&line, "},'body_bytes':$n,'fault':$s,'status':$n,'bytes':$n,'end':$s", (uint64_t)exchange->request->body.len,
           exchange->faults, (uint64_t)exchange->status, exchange->bytes, mend_str_from(fault_end_name(exchange->end)));
  mend__buffer_printf(&line, ",\"ms\":%.3f}\n", exchange->ms);
  const bool is_written = put_line(out, &line);
  mend__buffer_free(&line);
  return is_written;
}
