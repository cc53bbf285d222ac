#include "program/stage/stage_later.h"

#include "core/heap.h"
#include "core/memory.h"

/* A moment with its own texts. */
typedef struct kept_moment {
  mend_deadline due;        /* first: what the heap hands out */
  struct kept_moment *next; /* of spare ones */
  uint64_t row;
  stage_moment moment;
  mend__buffer texts;
} kept_moment;

/* So many are kept for use again, with so much memory for their texts. */
enum { SPARE_MAX = 256, SPARE_TEXTS_MAX = 4096 };

enum { RUN_ID_MAX = 255 };

/* A run of which moments are kept. */
typedef struct kept_run {
  size_t moments;
  size_t id_len;
  char id[RUN_ID_MAX];
} kept_run;

struct stage_later {
  mend__heap heap;
  uint64_t order;
  size_t bytes;
  kept_moment *spare;
  size_t spare_count;
  mend__strmap runs; /* by their ids, of a file in any order */
};

/* ---- Runs -------------------------------------------------------------------------------------------------- */

static mend_status count_moment(struct stage_later *later, mend_str id) {
  kept_run *run = mend__strmap_get(&later->runs, id);
  if (run == NULL) {
    run = mend__alloc_zero(NULL, sizeof *run);
    if (run == NULL) return MEND_ENOMEM;
    run->id_len = id.len;
    if (id.len > 0) memcpy(run->id, id.ptr, id.len);
    const mend_status status = mend__strmap_put(&later->runs, (mend_str){run->id, run->id_len}, run);
    if (status != MEND_OK) {
      mend__free(NULL, run);
      return status;
    }
  }
  run->moments++;
  return MEND_OK;
}

/* Whether no moment of the run is kept any more. */
static bool uncount_moment(struct stage_later *later, mend_str id) {
  kept_run *run = mend__strmap_get(&later->runs, id);
  if (run == NULL || --run->moments > 0) return false;
  mend__strmap_remove(&later->runs, id);
  mend__free(NULL, run);
  return true;
}

static void free_runs(struct stage_later *later) {
  size_t position = 0;
  kept_run *run;
  while ((run = mend__strmap_next(&later->runs, &position)) != NULL)
    mend__free(NULL, run);
  mend__strmap_free(&later->runs);
}

static mend_status end_run(stage *on, const stage_moment *last) {
  if (last->kind == STAGE_AGENT_ENDS) return MEND_OK;
  const stage_moment end = {.kind = STAGE_AGENT_ENDS, .run = last->run};
  return stage_moment_play(on, &end, NULL);
}

/* ---- Keeping ----------------------------------------------------------------------------------------------- */

static size_t bytes_of(const kept_moment *kept) { return sizeof *kept + kept->texts.capacity; }

static kept_moment *take_spare(struct stage_later *later) {
  kept_moment *kept = later->spare;
  if (kept != NULL) {
    later->spare = kept->next;
    later->spare_count--;
    return kept;
  }
  kept = mend__alloc_zero(NULL, sizeof *kept);
  if (kept != NULL) mend__buffer_init(&kept->texts, NULL);
  return kept;
}

static void free_kept(kept_moment *kept) {
  mend__buffer_free(&kept->texts);
  mend__free(NULL, kept);
}

static void give_spare(struct stage_later *later, kept_moment *kept) {
  if (later->spare_count == SPARE_MAX || kept->texts.capacity > SPARE_TEXTS_MAX) {
    free_kept(kept);
    return;
  }
  kept->next = later->spare;
  later->spare = kept;
  later->spare_count++;
}

/* Moves the texts of the copied moment into its own memory. */
static bool take_texts(kept_moment *kept) {
  mend_str *texts[STAGE_MOMENT_TEXTS];
  stage_moment_texts(&kept->moment, texts);
  mend__buffer_clear(&kept->texts);
  mend__buffer_reserve(&kept->texts, 1);
  for (int i = 0; i < STAGE_MOMENT_TEXTS; i++)
    mend__buffer_str(&kept->texts, *texts[i]);
  if (kept->texts.failed) return false;
  const char *text = kept->texts.data;
  for (int i = 0; i < STAGE_MOMENT_TEXTS; i++) {
    if (texts[i]->ptr == NULL) continue;
    texts[i]->ptr = text;
    text += texts[i]->len;
  }
  return true;
}

static struct stage_later *later_of(stage *on) {
  if (on->later != NULL) return on->later;
  on->later = mend__alloc_zero(NULL, sizeof *on->later);
  if (on->later != NULL) mend__strmap_init(&on->later->runs, NULL);
  return on->later;
}

static mend_status keep(stage *on, const stage_moment *moment) {
  struct stage_later *later = later_of(on);
  kept_moment *kept = later != NULL ? take_spare(later) : NULL;
  if (kept == NULL) return MEND_ENOMEM;
  kept->moment = *moment;
  kept->moment.run.parent = NULL;
  kept->row = on->row;
  if (!take_texts(kept) || (on->any_order && count_moment(later, moment->run.id) != MEND_OK)) {
    free_kept(kept);
    return MEND_ENOMEM;
  }
  kept->due = (mend_deadline){.due_ns = moment->wall_ns, .order = later->order++};
  mend__heap_push(&later->heap, &kept->due);
  later->bytes += bytes_of(kept);
  return MEND_OK;
}

/* Plays the earliest. */
static mend_status play_kept(stage *on, kept_moment *kept) {
  const uint64_t row = on->row;
  on->later->bytes -= bytes_of(kept);
  mend__heap_remove(&on->later->heap, &kept->due);
  on->row = kept->row;
  mend_status status = stage_advance(on, kept->moment.wall_ns);
  if (status == MEND_OK) status = stage_moment_play(on, &kept->moment, NULL);
  const bool last = on->any_order && uncount_moment(on->later, kept->moment.run.id);
  if (status == MEND_OK && last) status = end_run(on, &kept->moment);
  on->row = row;
  give_spare(on->later, kept);
  return status;
}

static kept_moment *earliest(const stage *on) {
  return on->later != NULL ? (kept_moment *)mend__heap_min(&on->later->heap) : NULL;
}

mend_status stage_later(stage *on, const stage_moment *moment, mend_error *error) {
  if (!on->has_clock) return stage_moment_play(on, moment, error);
  if (moment->run.id.len > RUN_ID_MAX) {
    return mend_error_set(error, MEND_EINVAL, "a run's id is 1 to 255 bytes long, this one has %zu",
                          moment->run.id.len);
  }
  mend_status status = keep(on, moment);
  while (status == MEND_OK && on->later->bytes > STAGE_LATER_BYTES)
    status = play_kept(on, earliest(on));
  return status;
}

mend_status stage_later_play(stage *on, uint64_t until_ns) {
  mend_status status = MEND_OK;
  for (kept_moment *kept; status == MEND_OK && (kept = earliest(on)) != NULL && kept->moment.wall_ns <= until_ns;)
    status = play_kept(on, kept);
  return status;
}

void stage_later_free(stage *on) {
  struct stage_later *later = on->later;
  if (later == NULL) return;
  for (kept_moment *kept; (kept = earliest(on)) != NULL; free_kept(kept))
    mend__heap_remove(&later->heap, &kept->due);
  free_runs(later);
  while (later->spare != NULL) {
    kept_moment *kept = later->spare;
    later->spare = kept->next;
    free_kept(kept);
  }
  mend__free(NULL, later);
  on->later = NULL;
}
