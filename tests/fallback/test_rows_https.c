/* Rows of the classification table with TLS: certificates that are not to be trusted, and the fault server with HTTP/2
 * before it. */
#include "fallback/rows.h"
#include "http/secure_server.h"

/* ---- What is told people ---- */

typedef struct sheet {
  pthread_mutex_t lock;
  mend__buffer text;
} sheet;

static void write_down(void *ctx, mend_log_level level, const char *message) {
  sheet *s = ctx;
  pthread_mutex_lock(&s->lock);
  mend__buffer_printf(&s->text, "%d %s\n", (int)level, message);
  pthread_mutex_unlock(&s->lock);
}

/* ---- Certificates: no second try, one alert, and its sentence names what is wrong ---- */

enum { GOOD, EXPIRED, SERVERS };

static const struct {
  int server;
  const char *host;
  bool knows_certificate;
  const char *line, *alert;
} certificate_cases[] = {
    {GOOD, "127.0.0.1", false, "{\"told\": \"certificate =compatible | =compatible | =compatible\", \"asks\": 3}",
     "self-signed certificate"},
    {GOOD, "127.0.0.1", false, "{\"told\": \"certificate =certificate\", \"backup\": \"\"}", "self-signed certificate"},
    {EXPIRED, "127.0.0.1", true,
     "{\"told\": \"certificate =compatible | =compatible\", \"asks\": 2, \"provider\": \"anthropic\"}",
     "certificate has expired"},
    {GOOD, "localhost", true,
     "{\"told\": \"certificate =compatible | =compatible\", \"asks\": 2, \"provider\": \"google\"}",
     "matches target host name 'localhost'"},
};

static size_t count_lines(const char *text) {
  size_t count = 0;
  for (; (text = strchr(text, '\n')) != NULL; text++)
    count++;
  return count;
}

static void check_certificate(size_t i, const certificate *known, unsigned port, const char *plain, mend_loop *loop) {
  row_case c;
  sheet told = {.lock = PTHREAD_MUTEX_INITIALIZER};
  mend__buffer_init(&told.text, NULL);
  read_case(&c, mend_str_from(certificate_cases[i].line), plain);
  snprintf(c.base_url, sizeof c.base_url, "https://%s:%u/v1", certificate_cases[i].host, port);
  c.ca_file = certificate_cases[i].knows_certificate ? known->file : NULL;
  c.key_count = 1;
  c.log = write_down;
  c.log_ctx = &told;
  check_row(&c, loop);
  mend__buffer_char(&told.text, '\0');
  cr_assert_eq(count_lines(told.text.data), 1u, "case %zu: %s", i, told.text.data);
  cr_assert_not_null(strstr(told.text.data, certificate_cases[i].alert), "case %zu: %s", i, told.text.data);
  mend__buffer_free(&told.text);
}

Test(rows_https, certificates) {
  certificate certificates[SERVERS];
  secure_server servers[SERVERS];
  mend_loop *loop;
  if (!is_installed("openssl")) return;
  for (int i = 0; i < SERVERS; i++) {
    make_certificate(&certificates[i], i == EXPIRED ? -1 : 2);
    start_secure_server(&servers[i], &certificates[i]);
  }
  mend_test_faults *plain = mend_test_faults_start(NULL);
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof certificate_cases / sizeof *certificate_cases; i++) {
    const int of = certificate_cases[i].server;
    check_certificate(i, &certificates[of], servers[of].port, mend_test_faults_url(plain), loop);
  }
  mend_loop_release(loop);
  mend_test_faults_stop(plain);
  for (int i = 0; i < SERVERS; i++) {
    stop_secure_server(&servers[i]);
    remove_certificate(&certificates[i]);
  }
}

/* ---- Trusted, in HTTP/2 ---- */

static const char *const lines[] = {
    "{\"told\": \"=openai | =openai\", \"asks\": 2}",
    "{\"told\": \"=anthropic\", \"provider\": \"anthropic\"}",
    "{\"told\": \"=google\", \"provider\": \"google\"}",
    "{\"told\": \"overloaded =compatible\", \"faults\": \"overloaded\"}",
    "{\"told\": \"connection_lost =compatible\", \"faults\": \"close_after=0\"}",
    "{\"told\": \"after_content =after_content200cut\", \"faults\": \"close_after=2\"}",
    "{\"told\": \"after_content =after_content200cut\", \"faults\": \"silence_after=2/goaway\"}",
    "{\"told\": \"after_content =after_contentcut\", \"faults\": \"silence_after=2\", \"idle_s\": 0.2}",
    "{\"told\": \"first_content_timeout =compatible\", \"faults\": \"hang\", \"first_content_s\": 0.2}",
};

static void set_secure_url(row_case *c, const char *plain, unsigned port) {
  char path[128];
  snprintf(path, sizeof path, "%s", c->base_url + strlen(plain));
  snprintf(c->base_url, sizeof c->base_url, "https://127.0.0.1:%u%s", port, path);
}

Test(rows_https, over_http2) {
  certificate trusted;
  secure_server front;
  mend_loop *loop;
  if (!is_installed("openssl") || !is_installed("node")) return;
  mend_test_faults *plain = mend_test_faults_start(NULL);
  make_certificate(&trusted, 2);
  start_front(&front, &trusted, mend_test_faults_port(plain));
  cr_assert_eq(mend_loop_new(NULL, &loop, NULL), MEND_OK);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    row_case c;
    read_case(&c, mend_str_from(lines[i]), mend_test_faults_url(plain));
    set_secure_url(&c, mend_test_faults_url(plain), front.port);
    c.ca_file = trusted.file;
    check_row(&c, loop);
  }
  mend_loop_release(loop);
  stop_secure_server(&front);
  mend_test_faults_stop(plain);
  remove_certificate(&trusted);
}
