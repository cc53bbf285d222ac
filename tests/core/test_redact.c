#include "core/buffer.h"
#include "core/redact.h"
#include "mend/json.h"
#include "support/mend_test.h"

#include <stdio.h>
#include <stdlib.h>

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

typedef struct redact_case {
  const char *text, *covered; /* NULL: stays as it is */
} redact_case;

/* Values of names; all of them are JSON. */
static const redact_case documents[] = {
    {"{\"password\":\"hunter2\",\"user\":\"ann\"}", "{\"password\":\"***\",\"user\":\"ann\"}"},
    {"{\"apiKey\" : \"abc\\\"def\\\\\",\"n\":1}", "{\"apiKey\" : \"***\",\"n\":1}"},
    {"{\"API-KEY\":\"x\",\"x_api_key\":\"ab\",\"db.Passwd\":\"abcd\"}",
     "{\"API-KEY\":\"*\",\"x_api_key\":\"**\",\"db.Passwd\":\"***\"}"},
    {"{\"clientSecret\":\"one\",\"AWS_SECRET_ACCESS_KEY\":\"two\",\"private_key\":\"three\"}",
     "{\"clientSecret\":\"***\",\"AWS_SECRET_ACCESS_KEY\":\"***\",\"private_key\":\"***\"}"},
    {"{\"Authorization\":\"Basic YTpi\",\"Set-Cookie\":\"a=b; c\",\"accessToken\":\"abc\"}",
     "{\"Authorization\":\"***\",\"Set-Cookie\":\"***\",\"accessToken\":\"***\"}"},
    {"{\"token\":17,\"max_tokens\":\"many\",\"password\":null,\"secret\":true,\"passwd\":\"\"}", NULL},
    {"{\"tokenizer\":\"bpe\",\"path\":\"src/password.c\",\"secretary\":4}", NULL},
    {"{\"cookies\":[\"abc\",\"def\",[\"ghi\"],7],\"next\":\"abc\"}",
     "{\"cookies\":[\"***\",\"***\",[\"***\"],7],\"next\":\"abc\"}"},
    {"{\"credentials\":{\"user\":\"ann\",\"n\":{\"pin\" : \"1234\"}},\"next\":\"abc\"}",
     "{\"credentials\":{\"user\":\"***\",\"n\":{\"pin\" : \"***\"}},\"next\":\"abc\"}"},
    {"{\"credentials\":{},\"next\":\"abc\"}", NULL},
    {"[\"password\",\"abc\"]", NULL},
    /* JSON in strings, and what is cut there. */
    {"{\"result\":\"{\\\"api_key\\\":\\\"abcd\\\", \\\"b\\\":\\\"abcd\\\"}\"}",
     "{\"result\":\"{\\\"api_key\\\":\\\"***\\\", \\\"b\\\":\\\"abcd\\\"}\"}"},
    {"{\"result\":\"{\\\"api_key\\\":\\\"a\\\\\\\"b\\\\\\\\\\\",\\\"b\\\":\\\"abcd\\\"}\"}",
     "{\"result\":\"{\\\"api_key\\\":\\\"***\\\",\\\"b\\\":\\\"abcd\\\"}\"}"},
    {"[\"{\\\"r\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"abcd\\\\\\\",\\\\\\\"n\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"}\"]",
     "[\"{\\\"r\\\":\\\"{\\\\\\\"token\\\\\\\":\\\\\\\"***\\\\\\\",\\\\\\\"n\\\\\\\":\\\\\\\"x\\\\\\\"}\\\"}\"]"},
    {"{\"result\":\"{\\\"api_key\\\":\\\"abcd\",\"next\":\"abcd\"}",
     "{\"result\":\"{\\\"api_key\\\":\\\"***\",\"next\":\"abcd\"}"},
    {"{\"result\":\"{\\\"cookies\\\":[\\\"abcd\\\",\",\"next\":\"abcd\"}",
     "{\"result\":\"{\\\"cookies\\\":[\\\"***\\\",\",\"next\":\"abcd\"}"},
    {"{\"result\":\"{\\\"api_key\\\":\",\"next\":\"abcd\"}", NULL},
    {"{\"result\":\"{'password': 'abcd', 'keys': 'abcd'}\"}", "{\"result\":\"{'password': '***', 'keys': 'abcd'}\"}"},
    {"{\"result\":\"{'password': 'abc\",\"next\":\"abcd\"}", "{\"result\":\"{'password': '***\",\"next\":\"abcd\"}"},
    {"{\"result\":\"{'cookies': ['abcd'\",\"next\":\"abcd\"}", "{\"result\":\"{'cookies': ['***'\",\"next\":\"abcd\"}"},
    {"{\"path\":\"C:\\\\u\",\"password\":\"abcd\"}", "{\"path\":\"C:\\\\u\",\"password\":\"***\"}"},
    {"{\"password\":\"abc\\\\\",\"b\":\"abcd\"}", "{\"password\":\"***\",\"b\":\"abcd\"}"},
    {"{\"cmd\":\"password=\",\"b\":\"abcd\"}", NULL},
    /* The same in pieces of a document, as a line of a journal has them. */
    {"{\"a\":1,\"args\":{\"token\":\"Bearer eyJhbGciOi\"},\"preview\":\"x\\nTOKEN=abcd\\ny\"}",
     "{\"a\":1,\"args\":{\"token\":\"***\"},\"preview\":\"x\\nTOKEN=***\\ny\"}"},
    {"{\"url\":\"https:\\/\\/ann:abcd@example.org\\/\",\"q\":\"?a=1\\u0026token=abcd\\u0026b=2\"}",
     "{\"url\":\"https:\\/\\/ann:***@example.org\\/\",\"q\":\"?a=1\\u0026token=***\\u0026b=2\"}"},
    {"[\"a\\nsk-abcdefgh12345678\\nb\",\"\\\\nghp_abcdefgh12345678\"]", "[\"a\\nsk-***\\nb\",\"\\\\nghp_***\"]"},
    {"[\"-----BEGIN RSA PRIVATE KEY-----\\nMIIE+/=\\nab\\n-----END RSA PRIVATE KEY-----\\n\"]",
     "[\"-----BEGIN RSA PRIVATE KEY-----***-----END RSA PRIVATE KEY-----\\n\"]"},
    /* Escapes are what they stand for. */
    {"[\"DB_PASSWORD\\u003dhunter2\",\"api_key\\u003A \\u0027hunter2\\u0027 x\",{\"p\\u0061ssword\":\"hunter2\"}]",
     "[\"DB_PASSWORD\\u003d***\",\"api_key\\u003A \\u0027***\\u0027 x\",{\"p\\u0061ssword\":\"***\"}]"},
    {"[\"{\\u0022password\\u0022\\u003a\\u0022hunter2\\u0022,\\u0022n\\u0022:\\u0022abcd\\u0022}\"]",
     "[\"{\\u0022password\\u0022\\u003a\\u0022***\\u0022,\\u0022n\\u0022:\\u0022abcd\\u0022}\"]"},
    {"[\"{\\\"r\\\":\\\"{\\\\u0022token\\\\u0022:\\\\u0022abcd\\\\u0022,\\\\u0022n\\\\u0022:1}\\\"}\"]",
     "[\"{\\\"r\\\":\\\"{\\\\u0022token\\\\u0022:\\\\u0022***\\\\u0022,\\\\u0022n\\\\u0022:1}\\\"}\"]"},
    {"[\"to\\u006ben\\u003dabcd x\",\"n\\u003dabcd\"]", "[\"to\\u006ben\\u003d*** x\",\"n\\u003dabcd\"]"},
    /* Cut at the end of a string; a name is not, and a plain word need not be. */
    {"[\"sk-hunter2\",\"ghp_hunterhunterABC\",\"{\\\"k\\\":\\\"sk-Ab\",\"hf_a...\",\"npm_install\",{\"sk-A1\" :1}]",
     "[\"sk-***\",\"ghp_***\",\"{\\\"k\\\":\\\"sk-**\",\"hf_*...\",\"npm_install\",{\"sk-A1\" :1}]"},
    {"[\"https://ann:p@hunter2\",\"see \\\"https://ann:p@host\\\"\"]",
     "[\"https://ann:***\",\"see \\\"https://ann:*@host\\\"\"]"},
    {"[\"password = \\\"hunter2\\\"\",\"\\\"token\\\" => \\\"abcd\\\", 'secret' = 'abcd'\",\"password = \"]",
     "[\"password = \\\"***\\\"\",\"\\\"token\\\" => \\\"***\\\", 'secret' = '***'\",\"password = \"]"},
    {"[\"-----BEGIN PRIVATE KEY-----\\nMIIE\",\"b\"]", "[\"-----BEGIN PRIVATE KEY-----***\",\"b\"]"},
    {"[\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----\\\\nMIIE\\\",\\\"b\\\":1}\"]",
     "[\"{\\\"k\\\":\\\"-----BEGIN PRIVATE KEY-----***\\\",\\\"b\\\":1}\"]"},
};

static const redact_case texts[] = {
    {"", NULL},
    /* Keys by how they begin. */
    {"with sk-live-ABCDEF0123456789ABCDEF.", "with sk-***."},
    {"key=sk-abcdefgh12345678 (ghp_0123456789abcdef)", "key=sk-*** (ghp_***)"},
    {"gho_abcdefghijklmnopqrst github_pat_11ABCDEFG0_abc, glpat-12345678_abc-", "gho_*** github_pat_***, glpat-***"},
    {"xoxb-1234567890-abc xoxp-1234567890-abc", "xoxb-*** xoxp-***"},
    {"AKIAIOSFODNN7EXAMPLE and AIzaSyA1234567890abcdefghijklmnopqrstu_v", "AKIA*** and AIza***"},
    {"eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-_1...", "eyJ***..."},
    {"Authorization is bearer abc.def/12+34=", "Authorization is bearer ***"},
    {"sk_live_0123456789abcdef sk_test_0123456789abcdef rk_live_0123456789abcdef",
     "sk_live_*** sk_test_*** rk_live_***"},
    {"ghu_0123456789abcdef ghs_0123456789abcdef ghr_0123456789abcdef", "ghu_*** ghs_*** ghr_***"},
    {"hf_0123456789abcdef npm_0123456789abcdef ya29.a0AbCd_-12", "hf_*** npm_*** ya29.***"},
    {"xoxa-0123456789 xoxr-0123456789 xoxs-0123456789 xapp-0123456789 ASIA0123456789ABCDEF",
     "xoxa-*** xoxr-*** xoxs-*** xapp-*** ASIA***"},
    {"-H 'X: Bearer abcdefgh1234'", "-H 'X: Bearer ***'"},
    {"Bearer authentication, sk-learn, task-0123456789012345678, desk-sky, sk-12, hf_hub;", NULL},
    {"it was sk-a", "it was sk-*"},
    {"sk-abcd... Bearer abcd...", "sk-***... Bearer ***..."},
    {"risk_sk-abcdefgh12345678 xghp_0123456789abcdef", NULL},
    /* Names without quotes. */
    {"export OPENAI_API_KEY=abcd; DB_PASSWORD=\"ab cd\" run --token=abcd", //
     "export OPENAI_API_KEY=***; DB_PASSWORD=\"***\" run --token=***"},
    {"curl 'https://a.b/c?access_token=abcd&n=1#x'", "curl 'https://a.b/c?access_token=***&n=1#x'"},
    {"password: hunter2\nname: ann\napi_key: 'a b'", "password: ***\nname: ann\napi_key: '***'"},
    {"Authorization: Basic YTpi\r\nAccept: x\r\nCookie: a=b; c=d\n",
     "Authorization: ***\r\nAccept: x\r\nCookie: ***\n"},
    {"SyntaxError: Unexpected token: x; max_tokens=4096 n_tokens: 3 if (token == other)", NULL},
    {"const apiKey = 1, n=2", "const apiKey = *, n=2"},
    {"password = \"ab cd\"\ntoken:='abcd' secret := \"abcd\" db_password\t=\tabcd",
     "password = \"***\"\ntoken:='***' secret := \"***\" db_password\t=\t***"},
    {"{'password' => 'ab cd', :secret => \"abcd\", \"api_key\"=>abcd}",
     "{'password' => '***', :secret => \"***\", \"api_key\"=>***}"},
    {"password == x, token === y, 'secret' == 'abcd', secret != 'abcd', name = \"abcd\"", NULL},
    {"password=\"it's\" and 'passphrase': 'a\"b'", "password=\"***\" and 'passphrase': '***'"},
    /* URLs. */
    {"postgres://ann:p%40ss@db:5432/x redis://:abcd@h/", "postgres://ann:***@db:5432/x redis://:***@h/"},
    {"git clone https://ann:a@b@host/x", "git clone https://ann:***@host/x"},
    {"http://localhost:8080/a http://host:80, http://host:80ab http://[::1]:80/ ssh://git@host:org/x "
     "https://ann@host/", //
     "http://localhost:8080/a http://host:80, http://host:*** http://[::1]:80/ ssh://git@host:org/x "
     "https://ann@host/"},
    {"see https://ann:pass", "see https://ann:***"},
    {"see https://ann:p@hunter2", "see https://ann:***"},
    {"see https://ann:p@hun... and 'https://ann:p@host'", "see https://ann:*** and 'https://ann:*@host'"},
    {"see https://host:80", NULL},
    {"-----BEGIN OPENSSH PRIVATE KEY-----\nabc\n-----END OPENSSH PRIVATE KEY-----",
     "-----BEGIN OPENSSH PRIVATE KEY-----***-----END OPENSSH PRIVATE KEY-----"},
    {"-----BEGIN PUBLIC KEY-----\nabc\n-----END PUBLIC KEY-----", NULL},
};

static void check(const redact_case *sample, size_t (*redact)(char *, size_t)) {
  const char *expected = sample->covered != NULL ? sample->covered : sample->text;
  char text[512];
  size_t len = strlen(sample->text);
  memcpy(text, sample->text, len);
  for (int times = 0; times < 2; times++) { /* what is covered stays */
    len = redact(text, len);
    text[len] = '\0';
    cr_assert_str_eq(text, expected);
  }
}

Test(redact, documents) {
  for (size_t i = 0; i < COUNT_OF(documents); i++) {
    cr_assert_eq(mend_json_check(mend_str_from(documents[i].text), 64, NULL), MEND_OK, "%s", documents[i].text);
    check(&documents[i], mend__redact_json);
  }
}

Test(redact, texts) {
  for (size_t i = 0; i < COUNT_OF(texts); i++)
    check(&texts[i], mend__redact_text);
}

/* ---- Whatever the text, its document stays one, and nothing beyond it is touched ---- */

static void check_in_document(mend_str piece) {
  mend__buffer document;
  mend__buffer_init(&document, NULL);
  mend__buffer_str(&document, MEND_STR("{\"evidence\":["));
  mend__buffer_json_string(&document, piece);
  mend__buffer_str(&document, MEND_STR("],\"next\":\"stays\"}"));
  const size_t len = document.len;
  char *exact = malloc(len); /* so that a sanitizer sees what is beyond */
  memcpy(exact, document.data, len);
  const mend_str covered = {exact, mend__redact_json(exact, len)};
  cr_assert(covered.len <= len);
  cr_assert_eq(mend_json_check(covered, 64, NULL), MEND_OK, "%.*s", MEND_STR_ARG(covered));
  const mend_str end = MEND_STR(",\"next\":\"stays\"}");
  cr_assert_eq(memcmp(covered.ptr + covered.len - end.len, end.ptr, end.len), 0, "%.*s", MEND_STR_ARG(covered));
  free(exact);
  mend__buffer_free(&document);
}

static void check_cuts(const redact_case *samples, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const size_t len = strlen(samples[i].text);
    for (size_t begin = 0; begin <= len; begin++)
      check_in_document((mend_str){samples[i].text + begin, len - begin});
    for (size_t end = 0; end < len; end++)
      check_in_document((mend_str){samples[i].text, end});
  }
}

Test(redact, cut_anywhere) {
  check_cuts(documents, COUNT_OF(documents));
  check_cuts(texts, COUNT_OF(texts));
}

Test(redact, pieces_in_any_order) {
  static const char *const pieces[] = {"\"",       "\\\"",    "\\\\\\\"",
                                       "'",        "\\",      "password",
                                       ":",        "=",       "[",
                                       "{",        "}",       "]",
                                       ",",        "\n",      " ",
                                       "sk-",      ">",       "...",
                                       "\t",       "//",      "@",
                                       "\\n",      "\\u0026", "\\u0022",
                                       "\\u0027",  "\\u003d", "\\u003a",
                                       "\\u0061",  "u0022",   "x1",
                                       "AKIA",     "Bearer ", "-----BEGIN PRIVATE KEY-----",
                                       "-----END "};
  uint64_t random = 1;
  for (int round = 0; round < 20000; round++) {
    char text[512];
    size_t len = 0;
    for (int i = 0; i < 16; i++) {
      random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
      const char *piece = pieces[(random >> 33) % COUNT_OF(pieces)];
      memcpy(text + len, piece, strlen(piece));
      len += strlen(piece);
    }
    check_in_document((mend_str){text, len});
  }
}

Test(redact, long_texts_take_one_pass) {
  static const char *const begins[] = {"", "\"password\":[", "-----BEGIN PRIVATE KEY-----", "token='"};
  static const char *const repeated[] = {"\"",
                                         "\\",
                                         "'",
                                         "://",
                                         "=",
                                         "-",
                                         "-----BEGIN PRIVATE KEY",
                                         "password:",
                                         "[",
                                         "eyJ",
                                         "\\\\/",
                                         " ",
                                         ".",
                                         "a",
                                         "\"password\":[",
                                         "://a:",
                                         "://a:b@",
                                         " =",
                                         "password = ",
                                         "sk-a ",
                                         "\\u0022",
                                         "\\u003d",
                                         "\\u0061",
                                         "password\\u003a",
                                         "sk-A\"",
                                         "\"  "};
  enum { LEN = 1 << 19 };
  char *text = malloc(LEN);
  for (size_t i = 0; i < COUNT_OF(begins) * COUNT_OF(repeated); i++) {
    const char *begin = begins[i % COUNT_OF(begins)], *piece = repeated[i / COUNT_OF(begins)];
    for (size_t at = 0; at < LEN; at++)
      text[at] = at < strlen(begin) ? begin[at] : piece[at % strlen(piece)];
    cr_assert(mend__redact_json(text, LEN) <= LEN);
    cr_assert(mend__redact_text(text, LEN) <= LEN);
  }
  free(text);
}
