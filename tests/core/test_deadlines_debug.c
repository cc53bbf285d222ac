/* Looking into a set of deadlines: each kind of damage is found, and told. */
#include "core/deadlines_internal.h"
#include "support/mend_test.h"
#include "support/test_support.h"

/* Four of timeout 10 and one of 20 in their FIFOs; three in the heap, whose root is `early[1]` with the children
 * `early[2]` and `early[0]`. */
typedef struct damage_world {
  mend_deadlines *set;
  mend_deadline ten[4], twenty, early[3];
} damage_world;

static damage_world new_world(void) {
  damage_world world = {NULL, {{0}}, {0}, {{0}}};
  cr_assert_eq(mend_deadlines_new(NULL, (mend_waker){NULL, NULL}, &world.set), MEND_OK);
  return world;
}

static void fill(damage_world *world) {
  static const uint64_t early_starts[] = {60, 40, 50};
  for (uint64_t i = 0; i < 4; i++)
    mend_deadlines_arm(world->set, &world->ten[i], 100 + i, 10);
  mend_deadlines_arm(world->set, &world->twenty, 100, 20);
  for (size_t i = 0; i < 3; i++)
    mend_deadlines_arm(world->set, &world->early[i], early_starts[i], 10);
}

/* ---- Damage ---- */

static void wrong_previous(damage_world *world) { world->ten[1].previous = &world->ten[3]; }
static void previous_of_first(damage_world *world) { world->ten[0].previous = &world->ten[3]; }
static void circle(damage_world *world) { world->ten[3].next = &world->ten[1]; }
static void earlier_in_fifo(damage_world *world) { world->ten[2].due_ns = 1; }
static void earlier_order(damage_world *world) {
  world->ten[3].due_ns = world->ten[2].due_ns;
  world->ten[3].order = world->ten[1].order;
}
static void wrong_last(damage_world *world) { world->set->fifos[0].last = &world->ten[2]; }
static void wrong_queue(damage_world *world) { world->ten[1].queue = &world->set->heap; }
static void unknown_order(damage_world *world) { world->ten[3].order = 1000; }
static void no_order(damage_world *world) { world->twenty.order = 0; }
static void same_timeout(damage_world *world) { world->set->fifos[1].timeout_ns = 10; }
static void no_first(damage_world *world) { world->set->fifos[1].first = NULL; }
static void root_with_next(damage_world *world) { world->early[1].next = &world->early[2]; }
static void root_with_previous(damage_world *world) { world->early[1].previous = &world->early[2]; }
static void late_root(damage_world *world) { world->early[1].due_ns = 1000; }
static void wrong_child(damage_world *world) { world->early[1].child = &world->early[0]; }
static void wrong_sibling(damage_world *world) { world->early[0].previous = &world->early[1]; }
static void wrong_heap(damage_world *world) { world->early[2].queue = &world->set->fifos[0]; }
static void too_few(damage_world *world) { world->set->count--; }
static void too_many(damage_world *world) { world->set->count++; }
static void unlinked(damage_world *world) {
  world->ten[0].next = &world->ten[2];
  world->ten[2].previous = &world->ten[0];
}
static void wrong_head(damage_world *world) { world->set->head = &world->ten[3]; }

static const struct {
  void (*damage)(damage_world *world);
  const char *sentence;
} damages[] = {
    {wrong_previous, "FIFO 0, deadline 1 is not the previous of its next"},
    {previous_of_first, "FIFO 0, deadline 1 is the first and has a previous"},
    {circle, "FIFO 0, deadline 4 is not the previous of its next"},
    {earlier_in_fifo, "FIFO 0, deadline 3 is due before its previous"},
    {earlier_order, "FIFO 0, deadline 4 is due before its previous"},
    {wrong_last, "FIFO 0, deadline 4 has no next and is not the last"},
    {wrong_queue, "FIFO 0, deadline 2 has the queue of another"},
    {unknown_order, "FIFO 0, deadline 4 has an order that was never given"},
    {no_order, "FIFO 1, deadline 1 has an order that was never given"},
    {same_timeout, "FIFO 0 and 1 are for the same timeout"},
    {no_first, "FIFO 1 has a last but no first"},
    {root_with_next, "heap: the root has siblings"},
    {root_with_previous, "heap: the root has siblings"},
    {late_root, "heap, deadline 1 is due after a child"},
    {wrong_child, "heap, deadline 1 is not the previous of its first child"},
    {wrong_sibling, "heap, deadline 1 has a child that is not the previous of its next"},
    {wrong_heap, "heap, deadline 2 has the queue of another"},
    {too_few, "FIFO 1, deadline 1 is one more than the count says"},
    {too_many, "the count is 9, and 8 are linked"},
    {unlinked, "the count is 8, and 7 are linked"},
    {wrong_head, "the head, due at 114, is not the first to expire"},
};

static void check_dump_says(const mend_deadlines *set, const char *sentence) {
  char *text;
  cr_assert_eq(mend_deadlines_dump(set, NULL, &text), MEND_OK);
  cr_assert_not_null(strstr(text, sentence), "%s", text);
  mend_free(NULL, text);
}

Test(deadlines_debug, damage_is_told) {
  for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
    damage_world world = new_world();
    mend_error error = MEND_ERROR_INIT;
    cr_assert_eq(mend_deadlines_validate(world.set, &error), MEND_OK);
    fill(&world);
    cr_assert_eq(mend_deadlines_validate(world.set, &error), MEND_OK, "%s", error.message);
    const damage_world whole = world;
    const mend_deadlines whole_set = *world.set;
    damages[i].damage(&world);
    cr_assert_eq(mend_deadlines_validate(world.set, &error), MEND_EINVAL, "%s", damages[i].sentence);
    cr_assert_eq(mend_deadlines_validate(world.set, NULL), MEND_EINVAL);
    cr_assert_str_eq(error.message, damages[i].sentence);
    check_dump_says(world.set, damages[i].sentence);
    world = whole;
    *world.set = whole_set;
    mend_deadlines_free(world.set);
  }
}

/* ---- As text ---- */

Test(deadlines_debug, dump) {
  damage_world world = new_world();
  check_dump_says(world.set, "0 armed, the waiter comes at never\n");
  fill(&world);
  mend_deadline forever = {0};
  mend_deadlines_arm(world.set, &forever, 100, MEND_NEVER);
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  char *text = NULL;
  size_t failures = 0;
  for (;; failures++) {
    mend_test_allocator_arm(&memory, failures + 1, false);
    const mend_status status = mend_deadlines_dump(world.set, &memory.base, &text);
    if (!mend_test_allocator_failed(&memory)) break;
    cr_assert_eq(status, MEND_ENOMEM);
    cr_assert_null(text);
    cr_assert_eq(memory.blocks, 0u);
  }
  cr_assert(failures > 0);
  cr_assert_str_eq(text, "9 armed, the waiter comes at 51 ns\n"
                         "FIFO 0, timeout 10 ns\n"
                         "  due at 111 ns, armed as number 1\n"
                         "  due at 112 ns, armed as number 2\n"
                         "  due at 113 ns, armed as number 3\n"
                         "  due at 114 ns, armed as number 4\n"
                         "FIFO 1, timeout 20 ns\n"
                         "  due at 121 ns, armed as number 5\n"
                         "FIFO 2, timeout never\n"
                         "  due at never, armed as number 9\n"
                         "heap\n"
                         "  due at 51 ns, armed as number 7\n"
                         "    due at 61 ns, armed as number 8\n"
                         "    due at 71 ns, armed as number 6\n");
  mend_free(&memory.base, text);
  mend_deadlines_free(world.set);
  cr_assert_eq(memory.blocks, 0u);
}
