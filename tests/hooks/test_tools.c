#include "hook_world.h"

static mend_status do_nothing(void *ctx, mend_call *call) {
  (void)ctx;
  (void)call;
  return MEND_OK;
}

static void count_destroy(void *ctx) { atomic_fetch_add((atomic_uint *)ctx, 1); }

static mend_tool tool_named(const char *name) {
  return (mend_tool){.size = sizeof(mend_tool), .name = name, .execute = do_nothing, .destroy = count_destroy};
}

#define X16 "xxxxxxxxxxxxxxxx"
#define X128 X16 X16 X16 X16 X16 X16 X16 X16

#define NAMED(its_name)                                                                                                \
  { .size = sizeof(mend_tool), .name = its_name, .execute = do_nothing, .destroy = count_destroy }
#define WITH(...)                                                                                                      \
  { .size = sizeof(mend_tool), .name = "a", .destroy = count_destroy, __VA_ARGS__ }

Test(tools, what_is_refused) {
  mend_tools *tools;
  cr_assert_eq(mend_tools_new(NULL, &tools), MEND_OK);
  atomic_uint destroyed = 0;
  mend_tool valid = tool_named("taken");
  cr_assert_eq(mend_tools_add(tools, &valid, &destroyed, NULL), MEND_OK);
  static const struct {
    mend_tool tool;
    mend_status status;
    const char *sentence;
  } rows[] = {
      {{.size = 0, .name = "a"}, MEND_EINVAL, "mend_tool: size is 0"},
      {NAMED(NULL), MEND_EINVAL, "mend_tool.name: none, expected 1 to 128"},
      {NAMED(""), MEND_EINVAL, "mend_tool.name: none, expected 1 to 128"},
      {NAMED(X128 "x"), MEND_EINVAL, "mend_tool.name: \"xxxx"},
      {NAMED("a\nb"), MEND_EINVAL, "mend_tool.name: expected UTF-8 without"},
      {NAMED("a\x7f"), MEND_EINVAL, "mend_tool.name: expected UTF-8 without"},
      {NAMED("a\xff"), MEND_EINVAL, "mend_tool.name: expected UTF-8 without"},
      {NAMED("a\xc3"), MEND_EINVAL, "mend_tool.name: expected UTF-8 without"},
      {WITH(.effect = MEND_EFFECT_READ_ONLY), MEND_EINVAL, "tool a: execute is NULL"},
      {WITH(.execute = do_nothing, .effect = (mend_effect)3), MEND_EINVAL, "tool a: effect is 3"},
      {WITH(.execute = do_nothing, .kind = (mend_tool_kind)3), MEND_EINVAL, "tool a: kind is 3"},
      {WITH(.execute = do_nothing, .schema = "{}"), MEND_EINVAL, "tool a: it has a schema and no description"},
      {WITH(.execute = do_nothing, .description = "d", .schema = "[]"), MEND_EINVAL,
       "tool a: schema: expected a JSON object"},
      {WITH(.execute = do_nothing, .description = "d", .schema = "{\n]"), MEND_EINVAL,
       "tool a: schema, line 2, column 1: expected a key or }, found"},
      {WITH(.execute = do_nothing, .description = "d", .schema = ""), MEND_EINVAL,
       "tool a: schema, line 1, column 1: "},
      {NAMED("taken"), MEND_EEXIST, "tool taken: already there"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_error error = {.status = MEND_OK};
    cr_assert_eq(mend_tools_add(tools, &rows[i].tool, &destroyed, &error), rows[i].status, "row %zu", i);
    cr_assert(strstr(error.message, rows[i].sentence) == error.message, "row %zu: %s", i, error.message);
    cr_assert_eq(mend_tools_add(tools, &rows[i].tool, &destroyed, NULL), rows[i].status, "row %zu", i);
  }
  cr_assert_eq(mend_tools_add(tools, NULL, NULL, NULL), MEND_EINVAL);
  cr_assert_eq(atomic_load(&destroyed), 0u, "destroy is not called for what was not taken");
  mend_tools_release(tools);
  cr_assert_eq(atomic_load(&destroyed), 1u);
}

Test(tools, names_and_effects) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_tools *tools;
  cr_assert_eq(mend_tools_new(&memory.base, &tools), MEND_OK);
  static const struct {
    const char *name;
    size_t size; /* what an older header knew */
    mend_effect given, expected;
  } rows[] = {
      {"a", sizeof(mend_tool), MEND_EFFECT_READ_ONLY, MEND_EFFECT_READ_ONLY},
      {"b c", sizeof(mend_tool), MEND_EFFECT_IDEMPOTENT, MEND_EFFECT_IDEMPOTENT},
      {X128, sizeof(mend_tool), MEND_EFFECT_IRREVERSIBLE, MEND_EFFECT_IRREVERSIBLE},
      {"undeclared", sizeof(mend_tool), 0, MEND_EFFECT_IRREVERSIBLE},
      {"without destroy", offsetof(mend_tool, destroy), MEND_EFFECT_READ_ONLY, MEND_EFFECT_READ_ONLY},
  };
  enum { ROWS = sizeof rows / sizeof *rows };
  atomic_uint destroyed = 0;
  for (size_t i = 0; i < ROWS; i++) {
    char name[200]; /* gone afterwards: names are copied */
    strcpy(name, rows[i].name);
    mend_tool tool = tool_named(name);
    tool.size = rows[i].size;
    tool.effect = rows[i].given;
    cr_assert_eq(mend_tools_add(tools, &tool, &destroyed, NULL), MEND_OK);
    memset(name, '?', sizeof name);
  }
  for (size_t i = 0; i < ROWS; i++) {
    mend_effect effect;
    cr_assert_eq(mend_tools_effect(tools, mend_str_from(rows[i].name), &effect), MEND_OK, "row %zu", i);
    cr_assert_eq(effect, rows[i].expected, "row %zu", i);
  }
  mend_effect effect = MEND_EFFECT_IDEMPOTENT;
  static const char *const unknown[] = {"", "aa", "A", "b", NULL};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    mend__tool_entry *entry = NULL;
    cr_assert_eq(mend_tools_effect(tools, mend_str_from(unknown[i]), &effect), MEND_ENOENT);
    cr_assert_eq(mend__tools_find(tools, mend_str_from(unknown[i]), &entry), MEND_ENOENT);
    cr_assert_eq(mend_tools_remove(tools, mend_str_from(unknown[i])), MEND_ENOENT);
    cr_assert(entry == NULL && effect == MEND_EFFECT_IDEMPOTENT);
  }
  for (size_t i = 0; i < ROWS; i++) {
    cr_assert_eq(mend_tools_remove(tools, mend_str_from(rows[i].name)), MEND_OK);
    cr_assert_eq(mend_tools_remove(tools, mend_str_from(rows[i].name)), MEND_ENOENT);
  }
  cr_assert_eq(atomic_load(&destroyed), (unsigned)ROWS - 1, "the old header knew no destroy");
  cr_assert_eq(mend_tools_retain(tools), tools);
  mend_tools_release(tools);
  mend_tools_release(tools);
  mend_tools_release(NULL);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- Removed and replaced while it runs ---- */

typedef struct removal {
  mend_tools *tools;
  atomic_uint destroyed;
  unsigned destroyed_in_call;
} removal;

static void note_destroy(void *ctx) { atomic_fetch_add(&((removal *)ctx)->destroyed, 1); }

static mend_status remove_myself(void *ctx, mend_call *call) {
  (void)call;
  removal *self = ctx;
  const mend_status status = mend_tools_remove(self->tools, MEND_STR("t"));
  self->destroyed_in_call = atomic_load(&self->destroyed);
  return status;
}

static mend_status replace_myself(void *ctx, mend_call *call) {
  (void)call;
  removal *self = ctx;
  const mend_tool tool = {.size = sizeof tool, .name = "t", .effect = MEND_EFFECT_READ_ONLY, .execute = do_nothing};
  mend_status status = mend_tools_remove(self->tools, MEND_STR("t"));
  if (status == MEND_OK) status = mend_tools_add(self->tools, &tool, NULL, NULL);
  self->destroyed_in_call = atomic_load(&self->destroyed);
  return status;
}

static mend_status drop_registry(void *ctx, mend_call *call) {
  (void)call;
  removal *self = ctx;
  mend_tools_release(self->tools);
  self->destroyed_in_call = atomic_load(&self->destroyed);
  return MEND_OK;
}

Test(tools, go_when_no_call_runs) {
  static const struct {
    mend_status (*execute)(void *ctx, mend_call *call);
    bool drops;
    mend_status found_after;
  } rows[] = {{remove_myself, false, MEND_ENOENT}, {replace_myself, false, MEND_OK}, {drop_registry, true, MEND_OK}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    mend_test_allocator memory;
    mend_test_allocator_init(&memory);
    removal self = {.destroyed = 0};
    cr_assert_eq(mend_tools_new(&memory.base, &self.tools), MEND_OK);
    const mend_tool tool = {.size = sizeof tool,
                            .name = "t",
                            .effect = MEND_EFFECT_IDEMPOTENT,
                            .execute = rows[i].execute,
                            .destroy = note_destroy};
    cr_assert_eq(mend_tools_add(self.tools, &tool, &self, NULL), MEND_OK);
    mend__tool_entry *running, *second = NULL;
    cr_assert_eq(mend__tools_find(self.tools, MEND_STR("t"), &running), MEND_OK);
    cr_assert_eq(mend__tools_find(self.tools, MEND_STR("t"), &second), MEND_OK);
    cr_assert_eq(running, second);
    cr_assert_eq(running->tool.execute(running->ctx, NULL), MEND_OK);
    cr_assert_eq(self.destroyed_in_call, 0u, "row %zu", i);
    cr_assert_str_eq(running->tool.name, "t");
    mend__tool_entry_release(running);
    cr_assert_eq(atomic_load(&self.destroyed), 0u, "the other call still runs");
    mend__tool_entry_release(second);
    cr_assert_eq(atomic_load(&self.destroyed), 1u, "row %zu", i);
    mend_effect effect = MEND_EFFECT_IDEMPOTENT;
    if (!rows[i].drops) {
      cr_assert_eq(mend_tools_effect(self.tools, MEND_STR("t"), &effect), rows[i].found_after);
      cr_assert_eq(effect, rows[i].found_after == MEND_OK ? MEND_EFFECT_READ_ONLY : MEND_EFFECT_IDEMPOTENT);
      mend_tools_release(self.tools);
    }
    cr_assert_eq(atomic_load(&self.destroyed), 1u, "once");
    cr_assert_eq(atomic_load(&memory.blocks), 0u);
  }
  mend__tool_entry_release(NULL);
}

/* ---- Out of memory ---- */

Test(tools, out_of_memory_leaves_the_registry_as_it_was) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  mend_tools *tools = NULL;
  mend_test_allocator_arm(&memory, 1, false);
  cr_assert_eq(mend_tools_new(&memory.base, &tools), MEND_ENOMEM);
  cr_assert_null(tools);
  cr_assert_eq(mend_tools_new(&memory.base, &tools), MEND_OK);
  atomic_uint destroyed = 0;
  for (unsigned i = 0; i < 100; i++) {
    char name[16];
    snprintf(name, sizeof name, "tool %u", i);
    const mend_tool tool = tool_named(name);
    for (size_t fail_at = 1;; fail_at++) {
      mend_error error;
      mend_effect effect;
      mend_test_allocator_arm(&memory, fail_at, false);
      const mend_status status = mend_tools_add(tools, &tool, &destroyed, &error);
      if (!mend_test_allocator_failed(&memory)) break;
      cr_assert_eq(status, MEND_ENOMEM);
      cr_assert(strstr(error.message, name) != NULL, "%s", error.message);
      cr_assert_eq(mend_tools_effect(tools, mend_str_from(name), &effect), MEND_ENOENT);
      for (unsigned earlier = 0; earlier < i; earlier++) {
        snprintf(name, sizeof name, "tool %u", earlier);
        cr_assert_eq(mend_tools_effect(tools, mend_str_from(name), &effect), MEND_OK);
      }
      snprintf(name, sizeof name, "tool %u", i);
    }
  }
  cr_assert_eq(atomic_load(&destroyed), 0u);
  mend_tools_release(tools);
  cr_assert_eq(atomic_load(&destroyed), 100u);
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}

/* ---- All at once ---- */

enum { ROUNDS = 2000 };

typedef struct crowd {
  mend_tools *tools;
  atomic_uint added, destroyed, found, wrong;
} crowd;

static void count_crowd(void *ctx) { atomic_fetch_add(&((crowd *)ctx)->destroyed, 1); }

static void *add_and_remove(void *ctx) {
  crowd *all = ctx;
  static const char *const names[] = {"a", "b", "c"};
  for (int i = 0; i < ROUNDS; i++) {
    char description[] = "what it does"; /* gone afterwards: texts are copied */
    mend_tool tool = tool_named(names[i % 3]);
    tool.destroy = count_crowd;
    tool.description = i % 3 == 0 ? NULL : description;
    if (mend_tools_add(all->tools, &tool, all, NULL) == MEND_OK) atomic_fetch_add(&all->added, 1);
    memset(description, '?', sizeof description - 1);
    mend_tools_remove(all->tools, mend_str_from(names[(i + 1) % 3]));
  }
  return NULL;
}

static void *find_and_run(void *ctx) {
  crowd *all = ctx;
  for (int i = 0; i < ROUNDS; i++) {
    mend__tool_entry *entry;
    if (mend__tools_find(all->tools, MEND_STR("b"), &entry) != MEND_OK) continue;
    if (entry->tool.execute(entry->ctx, NULL) == MEND_OK && strcmp(entry->tool.name, "b") == 0) {
      atomic_fetch_add(&all->found, 1);
    }
    mend__tool_entry_release(entry);
  }
  return NULL;
}

static mend_status look_at(void *ctx, const mend_tool *tool) {
  const bool is_right = strcmp(tool->description, "what it does") == 0 && strchr("bc", tool->name[0]) != NULL;
  if (!is_right) atomic_fetch_add(&((crowd *)ctx)->wrong, 1);
  return strcmp(tool->name, "b") == 0 ? MEND_EEXIST : MEND_OK;
}

static void *look_at_all(void *ctx) {
  crowd *all = ctx;
  for (int i = 0; i < ROUNDS; i++) {
    if (mend__tools_each_described(all->tools, look_at, all) == MEND_EEXIST) atomic_fetch_add(&all->found, 1);
  }
  return NULL;
}

Test(tools, from_several_threads) {
  mend_test_allocator memory;
  mend_test_allocator_init(&memory);
  crowd all = {.added = 0};
  cr_assert_eq(mend_tools_new(&memory.base, &all.tools), MEND_OK);
  void *(*const parts[])(void *) = {add_and_remove, add_and_remove, find_and_run, find_and_run, look_at_all};
  enum { PARTS = sizeof parts / sizeof parts[0] };
  pthread_t threads[PARTS];
  for (int i = 0; i < PARTS; i++)
    cr_assert_eq(pthread_create(&threads[i], NULL, parts[i], &all), 0);
  for (int i = 0; i < PARTS; i++)
    pthread_join(threads[i], NULL);
  mend_tools_release(all.tools);
  cr_assert(atomic_load(&all.added) > 0);
  cr_assert_eq(atomic_load(&all.wrong), 0u);
  cr_assert_eq(atomic_load(&all.destroyed), atomic_load(&all.added));
  cr_assert_eq(atomic_load(&memory.blocks), 0u);
}
