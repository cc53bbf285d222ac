/* Private to the room: the file a journal is written to. Not locked: the journal's mutex covers it. */
#ifndef MEND_JOURNAL_INTERNAL_H
#define MEND_JOURNAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mend__journal_file {
  int fd;
  bool owned;   /* closed at the end */
  bool unended; /* the last line has no line feed: a writer was killed, or a part of a line could not be taken back */
  bool unsynced;
  int failure; /* errno of the last call that failed */
} mend__journal_file;

/* Opens `path`, or borrows `fd` when it is NULL. */
bool mend__journal_file_open(mend__journal_file *file, const char *path, int fd);
/* False when closing it failed. */
bool mend__journal_file_close(mend__journal_file *file);
/* Appends a line in one write and returns how many bytes that were. text[0] is a line feed that is written only where
 * the last line has none; the last character is the line's own. 0 when it cannot be written; then nothing of it is
 * left, or only what the next append ends. */
size_t mend__journal_file_append(mend__journal_file *file, const char *text, size_t len);
/* Forces to the disk what was appended; true where there is no disk. */
bool mend__journal_file_sync(mend__journal_file *file);

#endif
