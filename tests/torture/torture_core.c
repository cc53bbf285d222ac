#include "core/buffer.h"
#include "core/json_hash.h"
#include "core/strmap.h"
#include "mend/options.h"
#include "torture/torture.h"

#include <stdio.h>
#include <stdlib.h>

static mend_status use_deadlines(torture *t) {
  mend_deadlines *deadlines = NULL;
  mend_deadline armed[8] = {{0}};
  mend_status status = MEND_OK;
  TRY(mend_deadlines_new(t->allocator, (mend_waker){NULL, NULL}, &deadlines));
  for (uint64_t i = 0; i < 8; i++)
    mend_deadlines_arm(deadlines, &armed[i], 0, 10 * i);
  torture_claim(t, mend_deadlines_count(deadlines) == 8, "eight are armed");
  torture_claim(t, mend_deadlines_expire(deadlines, 1) == &armed[0], "the earliest expires first");
end:
  mend_deadlines_free(deadlines);
  return status;
}

static uint64_t never(void *ctx) {
  (void)ctx;
  return MEND_NEVER;
}

static void do_nothing(void *ctx, uint64_t now_ns) {
  (void)ctx;
  (void)now_ns;
}

static mend_status use_virtual_clock(torture *t) {
  mend_clock *clock = NULL;
  mend_status status = MEND_OK;
  int drivers[20];
  TRY(mend_clock_new_virtual(t->allocator, (mend_time){0, 0}, &clock));
  for (size_t i = 0; i < 20; i++) {
    const mend_clock_driver driver = {sizeof driver, never, do_nothing, &drivers[i]};
    TRY(mend_clock_add_driver(clock, &driver));
  }
  TRY(mend_clock_advance(clock, MEND_SECOND_NS));
  torture_claim(t, mend_clock_now(clock).mono_ns == MEND_SECOND_NS, "a second has passed");
end:
  mend_clock_release(clock);
  return status;
}

static mend_status fill_map(torture *t) {
  enum { KEYS = 100 };
  static char names[KEYS][16];
  mend__strmap map;
  mend_status status = MEND_OK;
  mend__strmap_init(&map, t->allocator);
  for (int i = 0; i < KEYS; i++) {
    snprintf(names[i], sizeof names[i], "key %d", i);
    TRY(mend__strmap_put(&map, mend_str_from(names[i]), names[i]));
    torture_must(t, mend__strmap_get(&map, mend_str_from(names[0])) == names[0], "the first key is still there");
  }
end:
  mend__strmap_free(&map);
  return status;
}

static mend_status write_buffer(torture *t) {
  mend__buffer buffer;
  mend__buffer_init(&buffer, t->allocator);
  for (int i = 0; i < 200; i++) {
    mend__buffer_printf(&buffer, "%d,", i);
    mend__buffer_json_string(&buffer, MEND_STR("a \"text\"\n"));
  }
  const mend_status status = buffer.failed ? MEND_ENOMEM : MEND_OK;
  mend__buffer_free(&buffer);
  return status;
}

static mend_status hash_many_members(torture *t) {
  enum { MEMBERS = 1500 };
  char *text = malloc(MEMBERS * 16 + 2);
  size_t len = 0;
  for (int i = 0; i < MEMBERS; i++)
    len += (size_t)sprintf(text + len, "%c\"%d\":%d", i == 0 ? '{' : ',', i, i);
  text[len++] = '}';
  mend_json_hash_result exact = {{0, 0}, true}, loose = exact;
  mend_status status = mend__json_hash_alloc((mend_str){text, len}, t->allocator, &exact);
  if (status == MEND_OK) status = mend__json_hash_loose_alloc((mend_str){text, len}, t->allocator, &loose);
  torture_claim(t, status != MEND_OK || !(exact.raw || loose.raw), "it is hashed by structure");
  free(text);
  return status;
}

/* ---- Options: a load that fails leaves the tree as it was ---- */

static void make_tree(torture *t) {
  mend_option_tree *tree;
  torture_must(t, mend_option_tree_new(t->allocator, &tree) == MEND_OK, "a tree is made");
  torture_must(t, mend_option_tree_set(tree, MEND_STR("loop.k"), MEND_STR("4"), NULL) == MEND_OK, "an option is set");
  t->own = tree;
}

static void free_tree(torture *t) { mend_option_tree_free(t->own); }

static mend_status load_options(torture *t) {
  const mend_options *options = mend_option_tree_get(t->own);
  const uint32_t before = options->loop.k;
  const mend_status status =
      mend_option_tree_load(t->own,
                            MEND_STR("{\"loop\": {\"k\": 5, \"poll_tools\": [\"poll\", \"wait\"]},"
                                     "\"fallback.models\": [\"a\", \"b\"], \"stall.timeout_s\": 30}"),
                            NULL);
  torture_must(t, options->loop.k == (status == MEND_OK ? 5 : before), "all of it was taken, or nothing");
  return status;
}

static mend_status life_of_a_tree(torture *t) {
  mend_option_tree *tree = NULL;
  mend_status status = MEND_OK;
  TRY(mend_option_tree_new(t->allocator, &tree));
  TRY(mend_option_tree_set(tree, MEND_STR("loop.poll_tools"), MEND_STR("[\"poll\"]"), NULL));
  TRY(mend_option_tree_set(tree, MEND_STR("loop.poll_tools"), MEND_STR("[\"poll\", \"wait\"]"), NULL));
end:
  mend_option_tree_free(tree);
  return status;
}

static const torture_scenario scenarios[] = {
    {"deadlines", use_deadlines, NULL, NULL},
    {"a virtual clock and its drivers", use_virtual_clock, NULL, NULL},
    {"a map that grows", fill_map, NULL, NULL},
    {"a buffer that grows", write_buffer, NULL, NULL},
    {"the hash of an object of 1,500 members", hash_many_members, NULL, NULL},
    {"options from JSON, onto a tree in use", load_options, make_tree, free_tree},
    {"options one by one", life_of_a_tree, NULL, NULL},
};
const torture_room torture_core = TORTURE_ROOM("core", scenarios);
