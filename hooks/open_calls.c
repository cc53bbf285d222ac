#include "hooks/passage_internal.h"

/* ---- Life ---- */

void mend__open_calls_init(mend__open_calls *calls, const mend_allocator *allocator) {
  *calls = (mend__open_calls){.allocator = allocator, .hash_size = MEND__OPEN_FEW};
  calls->ends = (mend__open_link){&calls->ends, &calls->ends, true};
  calls->by_hash = calls->few;
}

void mend__open_calls_free(mend__open_calls *calls) {
  if (calls->by_hash != calls->few) mend__free(calls->allocator, calls->by_hash);
}

/* ---- By number ---- */

/* Numbers count up, or are hashes of names. */
static mend__passage **list_of(mend__passage **by_hash, size_t hash_size, uint64_t number) {
  return &by_hash[number * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (hash_size - 1)];
}

static void put(mend__passage **by_hash, size_t hash_size, mend__passage *passage) {
  mend__passage **list = list_of(by_hash, hash_size, passage->number);
  passage->next_of_hash = *list;
  *list = passage;
}

/* Without memory the lists are longer. */
static void grow(mend__open_calls *calls) {
  const size_t size = calls->hash_size * 2;
  mend__passage **by_hash = mend__alloc_zero(calls->allocator, size * sizeof *by_hash);
  if (by_hash == NULL) return;
  mend__open_link *link = &calls->ends;
  for (mend__passage *each; (each = mend__open_calls_next(calls, link)) != NULL; link = &each->open)
    put(by_hash, size, each);
  mend__open_calls_free(calls);
  calls->by_hash = by_hash;
  calls->hash_size = size;
}

mend__passage *mend__open_calls_find(const mend__open_calls *calls, uint64_t number) {
  mend__passage *passage = *list_of(calls->by_hash, calls->hash_size, number);
  while (passage != NULL && passage->number != number)
    passage = passage->next_of_hash;
  return passage;
}

/* ---- In order ---- */

static void insert_behind(mend__open_link *link, mend__open_link *added) {
  added->previous = link;
  added->next = link->next;
  link->next->previous = added;
  link->next = added;
}

static void take_out(mend__open_link *link) {
  link->previous->next = link->next;
  link->next->previous = link->previous;
}

mend__passage *mend__open_calls_next(const mend__open_calls *calls, const mend__open_link *link) {
  do {
    link = link->next;
  } while (link->is_bookmark && link != &calls->ends);
  return link != &calls->ends ? (mend__passage *)link : NULL;
}

void mend__open_calls_add(mend__open_calls *calls, mend__passage *passage) {
  if (calls->count >= calls->hash_size) grow(calls);
  passage->open.is_bookmark = false;
  insert_behind(calls->ends.previous, &passage->open);
  put(calls->by_hash, calls->hash_size, passage);
  calls->count++;
}

void mend__open_calls_remove(mend__open_calls *calls, mend__passage *passage) {
  mend__passage **place = list_of(calls->by_hash, calls->hash_size, passage->number);
  while (*place != passage)
    place = &(*place)->next_of_hash;
  *place = passage->next_of_hash;
  take_out(&passage->open);
  calls->count--;
}

/* ---- Cancelling ---- */

static mend__passage *next_picked(const mend__open_calls *calls, const mend__open_link *link,
                                  bool (*picks)(const void *ctx, const mend__passage *passage), const void *ctx) {
  mend__passage *passage = mend__open_calls_next(calls, link);
  while (passage != NULL && !picks(ctx, passage))
    passage = mend__open_calls_next(calls, &passage->open);
  return passage;
}

/* A bookmark keeps the place while the lock is let go of, so that many calls are gone through once. */
void mend__open_calls_cancel(mend__run_state *state, bool (*picks)(const void *ctx, const mend__passage *passage),
                             const void *ctx, mend_str reason) {
  mend__open_link bookmark = {.is_bookmark = true};
  mend__run_lock(state->run);
  insert_behind(&state->open.ends, &bookmark);
  for (mend__passage *passage; (passage = next_picked(&state->open, &bookmark, picks, ctx)) != NULL;) {
    mend_token *token = mend_token_retain(passage->call->token);
    take_out(&bookmark);
    insert_behind(&passage->open, &bookmark);
    mend__run_unlock(state->run);
    mend_token_cancel(token, reason);
    mend_token_release(token);
    mend__run_lock(state->run);
  }
  take_out(&bookmark);
  mend__run_unlock(state->run);
}

mend_status mend_run_cancel_call(mend_run *run, uint64_t number, mend_str reason) {
  if (run == NULL) return MEND_EINVAL;
  mend__run_state *state = mend__run_state_find(run);
  if (state == NULL) return MEND_ENOENT;
  mend__run_lock(run);
  const mend__passage *passage = mend__open_calls_find(&state->open, number);
  mend_token *token = passage != NULL ? mend_token_retain(passage->call->token) : NULL;
  mend__run_unlock(run);
  if (token == NULL) return MEND_ENOENT;
  mend_token_cancel(token, reason);
  mend_token_release(token);
  return MEND_OK;
}
