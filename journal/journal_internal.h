/* Private to the room: the file a journal is written to. Not locked: the journal's mutex covers it. */
#ifndef MEND_JOURNAL_INTERNAL_H
#define MEND_JOURNAL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct mend__journal_file {
  int fd;
  bool owned; /* closed at the end */
  bool regular;
  bool named;   /* it is ours and had a name when it was opened */
  bool appends; /* every write goes to the end */
  bool unended; /* the last line has no line feed: a writer was killed, or a part of a line could not be blanked out */
  off_t end;    /* of a regular file, where `unended` was found out; -1 before that */
  bool unsynced;
  const char *reason; /* why the last call failed; static */
} mend__journal_file;

/* Opens `path`, or borrows `fd` when it is NULL. */
bool mend__journal_file_open(mend__journal_file *file, const char *path, int fd);
/* False when closing it failed. */
bool mend__journal_file_close(mend__journal_file *file);
/* Appends a line in one write and returns how many bytes that were. text[0] is a line feed that is written only where
 * the last line has none; the last character is the line's own. 0 when it cannot be written; then what was written of
 * it is blanked out, or the next append ends it. */
size_t mend__journal_file_append(mend__journal_file *file, const char *text, size_t len);
/* Forces to the disk what was appended; true where there is no disk. */
bool mend__journal_file_sync(mend__journal_file *file);
/* Its last name was taken away since it was opened: what is written is gone when it is closed. */
bool mend__journal_file_is_deleted(const mend__journal_file *file);

#endif
