/* House header: covers what looks like a secret in texts that are kept or told to others: the values of what is named
 * like one ("password", "apiKey", TOKEN=...), keys that are known by how they begin (sk-, ghp_, AKIA, ...), what stands
 * behind "Bearer", passwords in URLs, private keys in PEM. docs/evidence.md has the whole of it.
 *
 * Three stars take the place of a secret, so no text gets longer: all is done where it stands, in one pass. A text that
 * is cut anywhere is covered like a whole one, and what is covered already stays as it is. */
#ifndef MEND_CORE_REDACT_H
#define MEND_CORE_REDACT_H

#include "mend/core.h"

/* In JSON, or in a piece of it that begins outside of strings; in its strings JSON may be written again, at any depth.
 * What was well-formed stays it. Returns the new length. */
size_t mend__redact_json(char *text, size_t len);
/* In any text, JSON too, of which nothing need stay well-formed. */
size_t mend__redact_text(char *text, size_t len);

#endif
