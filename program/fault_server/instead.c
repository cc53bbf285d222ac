#include "program/fault_server/instead.h"

#include "program/fault_server/gzip.h"
#include "program/fault_server/http_request.h"

/* Repeated pieces are of this size. */
enum { KIB = 1024, MIB = 1024 * 1024 };

static void put(delivery *to, const char *text) { mend__buffer_str(&to->bytes, mend_str_from(text)); }

static void put_blanks(delivery *to, size_t count) {
  if (!mend__buffer_reserve(&to->bytes, count)) return;
  memset(to->bytes.data + to->bytes.len, ' ', count);
  to->bytes.len += count;
}

void instead_hang(const fault_plan *plan, delivery *to) {
  (void)plan;
  delivery_end(to, ENDING_SILENCE, true);
}

void instead_reset(const fault_plan *plan, delivery *to) {
  (void)plan;
  delivery_end(to, ENDING_RESET, true);
}

void instead_empty(const fault_plan *plan, delivery *to) {
  (void)plan;
  delivery_end(to, ENDING_CLOSE, true);
}

void instead_malformed(const fault_plan *plan, delivery *to) {
  (void)plan;
  put(to, "banana banana banana\r\n\r\n");
  delivery_end(to, ENDING_CLOSE, true);
}

static void put_head(delivery *to, const char *more) {
  to->status = 200;
  put(to, "HTTP/1.1 200 OK\r\n");
  put(to, more);
}

void instead_half_head(const fault_plan *plan, delivery *to) {
  (void)plan;
  put_head(to, "content-type: application/json\r\ncontent-le");
  delivery_end(to, ENDING_CLOSE, true);
}

void instead_endless_headers(const fault_plan *plan, delivery *to) {
  (void)plan;
  put_head(to, "content-type: application/json\r\n");
  delivery_cut_piece(to, 0, 1);
  for (int i = 0; i < KIB; i++)
    put(to, "x-padding: there is no end to these headers\r\n");
  delivery_cut_piece(to, 0, PIECE_FOREVER);
  delivery_end(to, ENDING_CLOSE, true);
}

void instead_endless_line(const fault_plan *plan, delivery *to) {
  (void)plan;
  put_head(to, "x-padding: and");
  delivery_cut_piece(to, 0, 1);
  for (int i = 0; i < KIB; i++)
    put(to, " so on and so on and so on");
  delivery_cut_piece(to, 0, PIECE_FOREVER);
  delivery_end(to, ENDING_CLOSE, true);
}

void instead_empty_body(const fault_plan *plan, delivery *to) {
  to->status = plan->status != 0 ? (int)plan->status : 200;
  mend__buffer_printf(&to->bytes, "HTTP/1.1 %d Empty\r\n%s\r\n", to->status,
                      http_status_has_body(to->status) ? "content-length: 0\r\n" : "");
  delivery_end(to, ENDING_KEEP, false);
}

void instead_big_body(const fault_plan *plan, delivery *to) {
  put_head(to, "content-type: application/json\r\n");
  mend__buffer_printf(&to->bytes, "content-length: %llu\r\n\r\n{", (unsigned long long)plan->size * MIB + 2);
  delivery_cut_piece(to, 0, 1);
  put_blanks(to, MIB);
  delivery_cut_piece(to, 0, plan->size);
  put(to, "}");
  delivery_end(to, ENDING_KEEP, false);
}

void instead_gzip_bomb(const fault_plan *plan, delivery *to) {
  gzip state;
  put_head(to, "content-type: application/json\r\ncontent-encoding: gzip\r\nconnection: close\r\n\r\n");
  gzip_begin(&state, &to->bytes);
  gzip_put(&state, MEND_STR("{"), &to->bytes);
  delivery_cut_piece(to, 0, 1);
  gzip_put_bomb(&to->bytes);
  delivery_cut_piece(to, 0, plan->size);
  delivery_end(to, ENDING_CLOSE, true);
}

void instead_long_line(const fault_plan *plan, delivery *to) {
  put_head(to, "content-type: text/event-stream\r\nconnection: close\r\n\r\ndata: {");
  delivery_cut_piece(to, 0, 1);
  put_blanks(to, MIB);
  delivery_cut_piece(to, 0, plan->size);
  put(to, "}\n\n");
  delivery_end(to, ENDING_CLOSE, false);
}
