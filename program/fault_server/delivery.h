/* What is sent for a request: bytes in pieces, waits between them, and how it ends. Knows no connection: it is planned
 * as a whole and then played out (connection.h). */
#ifndef MEND_PROGRAM_FAULT_SERVER_DELIVERY_H
#define MEND_PROGRAM_FAULT_SERVER_DELIVERY_H

#include "core/buffer.h"

typedef struct piece {
  size_t begin, end; /* in the delivery's bytes */
  double wait_s;     /* before it is sent; before each time */
  uint64_t times;    /* how often; PIECE_FOREVER: until the client leaves */
} piece;
#define PIECE_FOREVER UINT64_MAX

typedef enum ending {
  ENDING_KEEP,   /* the reply is complete; the connection is kept if the client wants it */
  ENDING_CLOSE,  /* the connection is closed */
  ENDING_RESET,  /* the same by a reset */
  ENDING_SILENCE /* nothing more comes, and the connection stays until the client leaves */
} ending;

typedef struct delivery {
  mend__buffer bytes;
  mend__buffer pieces; /* of struct piece */
  int status;          /* for the log; 0: none was sent */
  bool cut;            /* a fault ended it before it was complete */
  ending ending;
} delivery;

void delivery_init(delivery *to);
void delivery_free(delivery *to);
bool delivery_failed(const delivery *of);
size_t delivery_count(const delivery *of);
piece delivery_piece(const delivery *of, size_t index);
/* Whatever was written to `bytes` since the last piece becomes one. */
void delivery_cut_piece(delivery *to, double wait_s, uint64_t times);
/* Ends it here: what is not a piece yet becomes one. */
void delivery_end(delivery *to, ending how, bool cut);

/* Whether a piece is to be cut in two before bytes[at]; 0 < at < the piece's length. */
typedef bool (*delivery_cuts)(const void *ctx, mend_str bytes, size_t at);
/* Cuts pieces that are sent once into smaller ones, each of which waits `wait_s` after the one before. */
void delivery_split(delivery *of, delivery_cuts cuts, const void *ctx, double wait_s);

#endif
