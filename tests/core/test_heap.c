#include "core/heap.h"
#include "support/mend_test.h"

enum { NODES = 200, STEPS = 20000 };

static uint64_t next_random(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return *state >> 33;
}

/* The model: which are in, searched from the start each time. */
static mend_deadline *model_min(mend_deadline *nodes, const bool *in) {
  mend_deadline *min = NULL;
  for (size_t i = 0; i < NODES; i++) {
    if (in[i] && (min == NULL || mend__deadline_precedes(&nodes[i], min))) min = &nodes[i];
  }
  return min;
}

static mend_deadline *pop(mend__heap *heap) {
  mend_deadline *min = mend__heap_min(heap);
  if (min != NULL) mend__heap_remove(heap, min);
  return min;
}

static void run_against_model(uint64_t seed, uint64_t spread) {
  mend_deadline nodes[NODES] = {{0}};
  bool in[NODES] = {false};
  mend__heap heap = {NULL};
  uint64_t order = 0;
  for (size_t step = 0; step < STEPS; step++) {
    const size_t i = next_random(&seed) % NODES;
    if (next_random(&seed) % 8 == 0) {
      mend_deadline *expected = model_min(nodes, in);
      cr_assert_eq(pop(&heap), expected);
      if (expected != NULL) in[expected - nodes] = false;
    } else if (in[i]) {
      mend__heap_remove(&heap, &nodes[i]);
      in[i] = false;
    } else {
      nodes[i].due_ns = next_random(&seed) % spread;
      nodes[i].order = ++order;
      mend__heap_push(&heap, &nodes[i]);
      in[i] = true;
    }
    cr_assert_eq(mend__heap_min(&heap), model_min(nodes, in), "seed %llu, step %zu", (unsigned long long)seed, step);
  }
}

Test(heap, same_as_a_model) {
  for (uint64_t seed = 1; seed <= 5; seed++) {
    run_against_model(seed, 1000000);
    run_against_model(seed, 5); /* mostly ties, which come out in order */
    run_against_model(seed, 1);
  }
}

Test(heap, sorts) {
  static mend_deadline nodes[10000];
  const size_t count = sizeof nodes / sizeof nodes[0];
  mend__heap heap = {NULL};
  uint64_t seed = 42;
  cr_assert_null(pop(&heap));
  for (size_t i = 0; i < count; i++) {
    nodes[i].due_ns = next_random(&seed) % 1000;
    nodes[i].order = i;
    mend__heap_push(&heap, &nodes[i]);
  }
  const mend_deadline *last = NULL;
  for (size_t i = 0; i < count; i++) {
    const mend_deadline *popped = pop(&heap);
    cr_assert(last == NULL || mend__deadline_precedes(last, popped));
    last = popped;
  }
  cr_assert_null(pop(&heap));
}
