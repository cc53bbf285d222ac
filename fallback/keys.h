/* Private to fallback/: the keys of one provider, shared by its models. Several are used in turn: one that was refused is passed
 * over until it is seen to work again. Only on the loop's thread, but for references. */
#ifndef MEND_FALLBACK_KEYS_H
#define MEND_FALLBACK_KEYS_H

#include "core/buffer.h"

typedef struct mend__keys mend__keys;

/* Copies the secrets, of which there is at least one. MEND_ENOMEM. */
mend_status mend__keys_new(const char *const *secrets, size_t count, const mend_allocator *allocator,
                           mend__keys **ret_keys);
/* NULL is allowed in all of these. */
mend__keys *mend__keys_retain(mend__keys *keys);
/* Wipes them with the last reference. */
void mend__keys_release(mend__keys *keys);

/* Which one is used now. */
size_t mend__keys_current(const mend__keys *keys);
/* NULL when there is none. */
const char *mend__keys_secret(const mend__keys *keys, size_t index);
/* Compare and advance: `refused` was refused. If it is the current one, the next that was not refused takes its place; if it is
 * not, somebody has moved on already. False: all were refused. */
bool mend__keys_advance(mend__keys *keys, size_t refused);
/* A reply came with this one. */
void mend__keys_worked(mend__keys *keys, size_t index);
/* Covers every secret in a text that a provider sent. */
void mend__keys_cover(const mend__keys *keys, mend__buffer *text);

#endif
