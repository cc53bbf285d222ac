/* Private to watchdogs/: which bytes of a text that arrives in pieces are running text. Markdown that repeats itself
 * for good reason is not: code between fences, and what stands before a list item, a heading or a row of a table. */
#ifndef MEND_WATCHDOGS_PROSE_H
#define MEND_WATCHDOGS_PROSE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum mend__prose_kind {
  MEND__PROSE_TEXT,
  MEND__PROSE_CODE,
  MEND__PROSE_BREAK /* what came before has nothing to do with what comes */
} mend__prose_kind;

/* Zero it where a text begins. */
typedef struct mend__prose {
  bool is_plain;      /* nothing but a new line or a fence character can change anything */
  uint8_t line;       /* how far the line is read for its first mark */
  char mark;          /* of the run of equal fence characters that the last bytes are; 0: they are none */
  bool mark_is_first; /* nothing but blanks came before the run in its line */
  uint32_t mark_count;
  uint32_t fence_count; /* of the fence that is open; 0: none */
  char fence;
  bool fence_is_first;
} mend__prose;

mend__prose_kind mend__prose_look(mend__prose *prose, char byte);

/* What the next byte is. */
static inline mend__prose_kind mend__prose_next(mend__prose *prose, char byte) {
  if (!prose->is_plain || byte == '\n' || byte == '`' || byte == '~') return mend__prose_look(prose, byte);
  return prose->fence_count != 0 ? MEND__PROSE_CODE : MEND__PROSE_TEXT;
}

#endif
