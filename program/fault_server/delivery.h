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

/* How pieces that are sent once are cut into smaller parts, which come `wait_s` apart. All zero: not at all. */
typedef struct pace {
  size_t every;          /* so many bytes */
  bool in_crlf, in_utf8; /* between CR and LF; inside a character of several bytes */
  double wait_s;
} pace;

/* More than this is not planned: everybody waits while it is. */
enum { DELIVERY_MAX = 32 * 1024 * 1024 };

typedef struct delivery {
  mend__buffer bytes;
  mend__buffer pieces; /* of struct piece */
  int status;          /* for the log; 0: none was sent */
  bool cut;            /* a fault ended it before it was complete */
  ending ending;
  pace pace;
} delivery;

void delivery_init(delivery *to);
void delivery_free(delivery *to);
bool delivery_failed(const delivery *of);
bool delivery_is_too_large(const delivery *of);
size_t delivery_count(const delivery *of);
piece delivery_piece(const delivery *of, size_t index);
/* Whatever was written to `bytes` since the last piece becomes one. */
void delivery_cut_piece(delivery *to, double wait_s, uint64_t times);
/* Ends it here: what is not a piece yet becomes one. */
void delivery_end(delivery *to, ending how, bool cut);
/* How far it was played out. */
typedef struct delivery_place {
  size_t index;   /* of the piece that is sent now */
  uint64_t times; /* it was sent already */
  size_t sent;    /* bytes of it, this time */
} delivery_place;
/* What is to be sent next: as much as the pace lets go at once. False: everything was sent. */
bool delivery_next(const delivery *of, delivery_place *place, piece *ret_part);
/* That part was sent. */
void delivery_advance(const delivery *of, delivery_place *place, const piece *part);

#endif
