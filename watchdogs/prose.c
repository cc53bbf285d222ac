#include "watchdogs/prose.h"

#include "core/text.h"

enum { FENCE_MIN = 3 };

/* ---- Fences: three or more ` or ~; what closes one is at least as long ---- */

/* Many write ``` in the middle of a line; such a fence may close there, too. ~~~ is one at the start of a line only. */
static bool opens(const mend__prose *prose) { return prose->mark == '`' || prose->mark_is_first; }

static bool closes(const mend__prose *prose) {
  return prose->mark == prose->fence && prose->mark_count >= prose->fence_count &&
         (prose->mark_is_first || !prose->fence_is_first);
}

/* The run of fence characters is over. Whether a fence has opened or closed with it. */
static bool end_run(mend__prose *prose) {
  const bool is_fence = prose->mark_count >= FENCE_MIN && (prose->fence_count != 0 ? closes(prose) : opens(prose));
  if (is_fence) {
    prose->fence = prose->mark;
    prose->fence_is_first = prose->mark_is_first;
    prose->fence_count = prose->fence_count != 0 ? 0 : prose->mark_count;
  }
  prose->mark = 0;
  return is_fence;
}

static bool continues_run(const mend__prose *prose, char byte) { return prose->mark != 0 && prose->mark == byte; }

/* ---- The first mark of a line ---- */

enum { AT_START, IN_HASHES, IN_DIGITS, AFTER_BULLET, AFTER_PLUS, AFTER_DIGITS, IN_BODY };

static uint8_t begin_line(char byte) {
  switch (byte) {
  case ' ':
  case '\t':
  case '\r': return AT_START;
  case '#': return IN_HASHES;
  case '-':
  case '*': return AFTER_BULLET;
  case '+': return AFTER_PLUS;
  default: return mend__is_digit(byte) ? IN_DIGITS : IN_BODY;
  }
}

/* Whether the byte completes the mark of a list item, a heading or a table. */
static bool completes_mark(mend__prose *prose, char byte) {
  const uint8_t line = prose->line;
  const bool is_blank = byte == ' ' || byte == '\t';
  prose->line = IN_BODY;
  switch (line) {
  case AT_START: prose->line = begin_line(byte); return byte == '|';
  case IN_HASHES: prose->line = byte == '#' ? IN_HASHES : IN_BODY; return is_blank;
  case IN_DIGITS:
    if (mend__is_digit(byte)) prose->line = IN_DIGITS;
    if (byte == '.' || byte == ')') prose->line = AFTER_DIGITS;
    return false;
  case AFTER_PLUS: return is_blank || byte == '-';
  case AFTER_BULLET:
  case AFTER_DIGITS: return is_blank;
  default: return false;
  }
}

mend__prose_kind mend__prose_look(mend__prose *prose, char byte) {
  const bool was_first = prose->line == AT_START;
  bool breaks = false;
  if (!continues_run(prose, byte)) {
    breaks = prose->mark != 0 && end_run(prose);
    if (byte == '`' || byte == '~') {
      prose->mark = byte;
      prose->mark_is_first = was_first;
      prose->mark_count = 0;
    }
  }
  if (prose->mark != 0 && prose->mark_count < UINT32_MAX) prose->mark_count++;
  if (byte == '\n') {
    prose->line = AT_START;
  } else if (completes_mark(prose, byte)) {
    breaks = breaks || prose->fence_count == 0;
  }
  prose->is_plain = prose->line == IN_BODY && prose->mark == 0;
  if (breaks) return MEND__PROSE_BREAK;
  return prose->fence_count != 0 ? MEND__PROSE_CODE : MEND__PROSE_TEXT;
}
