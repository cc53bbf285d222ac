#include "core/given.h"
#include "core/json_kind.h"
#include "core/nearest.h"
#include "core/options_size.h"
#include "core/strmap.h"
#include "hooks/hooks_internal.h"
#include "hooks/tools_internal.h"

#include <stdio.h>

enum { NAME_MAX_LEN = 128, POOL_THREADS = 8, POOL_THREADS_MAX = 256, POOL_WAITING = 65536, POOL_WAITING_MAX = 1 << 20 };

struct mend_tools {
  atomic_size_t references;
  const mend_allocator *allocator;
  pthread_mutex_t lock;           /* covers map, list and making the pool; not held while a destroy function runs */
  mend__strmap by_name;           /* of mend__tool_entry, a reference each */
  mend__tool_entry *first, *last; /* the same, in the order they were added */
  uint32_t pool_threads, pool_waiting;
  mend__pool *_Atomic pool; /* NULL until a pooled tool is called */
};

/* ---- Entries ---- */

static size_t text_size(const char *text) { return text != NULL ? strlen(text) + 1 : 0; }

/* Replaces a borrowed text by a copy at *place, and moves that on. */
static void keep_text(const char **text, char **place) {
  if (*text == NULL) return;
  const size_t size = text_size(*text);
  *text = memcpy(*place, *text, size);
  *place += size;
}

mend__tool_entry *mend__tool_entry_new(const mend_tool *tool, void *ctx, const mend_allocator *allocator) {
  const size_t size = text_size(tool->name) + text_size(tool->description) + text_size(tool->schema);
  mend__tool_entry *entry = mend__alloc(allocator, sizeof *entry + size);
  if (entry == NULL) return NULL;
  *entry = (mend__tool_entry){.allocator = allocator, .tool = *tool, .ctx = ctx};
  char *place = (char *)(entry + 1);
  keep_text(&entry->tool.name, &place);
  keep_text(&entry->tool.description, &place);
  keep_text(&entry->tool.schema, &place);
  atomic_init(&entry->references, 1);
  return entry;
}

mend__tool_entry *mend__tool_entry_retain(mend__tool_entry *entry) {
  atomic_fetch_add_explicit(&entry->references, 1, memory_order_relaxed);
  return entry;
}

void mend__tool_entry_release(mend__tool_entry *entry) {
  if (entry == NULL || atomic_fetch_sub_explicit(&entry->references, 1, memory_order_acq_rel) > 1) return;
  if (entry->tool.destroy != NULL) entry->tool.destroy(entry->ctx);
  mend__free(entry->allocator, entry);
}

/* ---- The registry ---- */

mend_status mend_tools_new(const mend_allocator *allocator, mend_tools **ret_tools) {
  mend_tools *tools = mend__alloc(allocator, sizeof *tools);
  if (tools == NULL) return MEND_ENOMEM;
  *tools = (mend_tools){.allocator = allocator, .pool_threads = POOL_THREADS, .pool_waiting = POOL_WAITING};
  atomic_init(&tools->references, 1);
  mend__strmap_init(&tools->by_name, allocator);
  if (pthread_mutex_init(&tools->lock, NULL) != 0) {
    mend__free(allocator, tools);
    return MEND_ENOMEM;
  }
  *ret_tools = tools;
  return MEND_OK;
}

mend_tools *mend_tools_retain(mend_tools *tools) {
  atomic_fetch_add_explicit(&tools->references, 1, memory_order_relaxed);
  return tools;
}

void mend_tools_release(mend_tools *tools) {
  if (tools == NULL || atomic_fetch_sub_explicit(&tools->references, 1, memory_order_acq_rel) > 1) return;
  mend__pool_end(mend__tools_pool_find(tools));
  for (mend__tool_entry *entry = tools->first, *next; entry != NULL; entry = next) {
    next = entry->next;
    mend__tool_entry_release(entry);
  }
  mend__strmap_free(&tools->by_name);
  pthread_mutex_destroy(&tools->lock);
  mend__free(tools->allocator, tools);
}

static bool is_effect(mend_effect effect) {
  switch (effect) {
  case MEND_EFFECT_IRREVERSIBLE:
  case MEND_EFFECT_IDEMPOTENT:
  case MEND_EFFECT_READ_ONLY: return true;
  }
  return false;
}

bool mend__is_tool_kind(mend_tool_kind kind) {
  switch (kind) {
  case MEND_TOOL_BLOCKING:
  case MEND_TOOL_POOLED:
  case MEND_TOOL_ASYNC: return true;
  }
  return false;
}

static mend_status check_schema(const mend_tool *tool, mend_error *error) {
  char what[NAME_MAX_LEN + 16];
  if (tool->schema == NULL) return MEND_OK;
  if (tool->description == NULL) {
    return mend_error_set(error, MEND_EINVAL, "tool %s: it has a schema and no description, expected both or neither",
                          tool->name);
  }
  snprintf(what, sizeof what, "tool %s: schema", tool->name);
  return mend__json_check_object(mend_str_from(tool->schema), what, error);
}

static mend_status check_tool(const mend_tool *tool, mend_error *error) {
  const mend_status status = mend__name_check_c("mend_tool.name", tool->name, NAME_MAX_LEN, error);
  if (status != MEND_OK) return status;
  if (tool->execute == NULL) {
    return mend_error_set(error, MEND_EINVAL, "tool %s: execute is NULL, expected a function", tool->name);
  }
  if (!is_effect(tool->effect)) {
    return mend_error_set(error, MEND_EINVAL, "tool %s: effect is %d, expected one of mend_effect", tool->name,
                          (int)tool->effect);
  }
  if (!mend__is_tool_kind(tool->kind)) {
    return mend_error_set(error, MEND_EINVAL, "tool %s: kind is %d, expected one of mend_tool_kind", tool->name,
                          (int)tool->kind);
  }
  return check_schema(tool, error);
}

/* ---- Adding and removing ---- */

static void append(mend_tools *tools, mend__tool_entry *entry) {
  entry->previous = tools->last;
  *(tools->last != NULL ? &tools->last->next : &tools->first) = entry;
  tools->last = entry;
}

static void take_out(mend_tools *tools, mend__tool_entry *entry) {
  *(entry->previous != NULL ? &entry->previous->next : &tools->first) = entry->next;
  *(entry->next != NULL ? &entry->next->previous : &tools->last) = entry->previous;
}

static mend_status add_entry(mend_tools *tools, mend__tool_entry *entry) {
  pthread_mutex_lock(&tools->lock);
  const mend_status status = mend__strmap_put(&tools->by_name, mend_str_from(entry->tool.name), entry);
  if (status == MEND_OK) append(tools, entry);
  pthread_mutex_unlock(&tools->lock);
  return status;
}

mend_status mend_tools_add(mend_tools *tools, const mend_tool *tool, void *ctx, mend_error *error) {
  if (tools == NULL) return mend__refuse_null(error, "the tools");
  if (tool == NULL) return mend__refuse_null(error, "the tool");
  mend_tool taken = {.size = sizeof taken};
  mend_status status = mend__options_require(&taken, tool, "mend_tool", error);
  if (status == MEND_OK) status = check_tool(&taken, error);
  if (status != MEND_OK) return status;
  mend__tool_entry *entry = mend__tool_entry_new(&taken, ctx, tools->allocator);
  status = entry != NULL ? add_entry(tools, entry) : MEND_ENOMEM;
  if (status == MEND_OK) return MEND_OK;
  mend__free(tools->allocator, entry);
  return mend_error_set(error, status, "tool %s: %s", taken.name, mend_status_message(status));
}

mend_status mend_tools_remove(mend_tools *tools, mend_str name) {
  if (tools == NULL) return MEND_EINVAL;
  pthread_mutex_lock(&tools->lock);
  mend__tool_entry *entry = mend__strmap_remove(&tools->by_name, name);
  if (entry != NULL) take_out(tools, entry);
  pthread_mutex_unlock(&tools->lock);
  mend__tool_entry_release(entry);
  return entry != NULL ? MEND_OK : MEND_ENOENT;
}

/* ---- Looking ---- */

mend_status mend__tools_find(mend_tools *tools, mend_str name, mend__tool_entry **ret_entry) {
  pthread_mutex_lock(&tools->lock);
  mend__tool_entry *entry = mend__strmap_get(&tools->by_name, name);
  if (entry != NULL) mend__tool_entry_retain(entry);
  pthread_mutex_unlock(&tools->lock);
  if (entry == NULL) return MEND_ENOENT;
  *ret_entry = entry;
  return MEND_OK;
}

/* Under the lock to the end, for the answer is the name of a tool that may be removed. */
void mend__tools_suggest(mend_tools *tools, mend_str name, mend__buffer *sentence) {
  mend__nearest search = mend__nearest_to(name);
  pthread_mutex_lock(&tools->lock);
  for (const mend__tool_entry *entry = tools->first; entry != NULL; entry = entry->next)
    mend__nearest_consider(&search, mend_str_from(entry->tool.name), entry->tool.name);
  if (search.answer != NULL) {
    mend__buffer_str(sentence, MEND_STR("; did you mean "));
    mend__buffer_json_string(sentence, mend_str_from(search.answer));
    mend__buffer_char(sentence, '?');
  }
  pthread_mutex_unlock(&tools->lock);
}

mend_status mend__tools_each_described(mend_tools *tools, mend_status (*visit)(void *ctx, const mend_tool *tool),
                                       void *ctx) {
  mend_status status = MEND_OK;
  pthread_mutex_lock(&tools->lock);
  for (const mend__tool_entry *entry = tools->first; entry != NULL && status == MEND_OK; entry = entry->next) {
    if (entry->tool.description != NULL) status = visit(ctx, &entry->tool);
  }
  pthread_mutex_unlock(&tools->lock);
  return status;
}

mend_status mend_tools_effect(mend_tools *tools, mend_str name, mend_effect *ret_effect) {
  if (tools == NULL) return MEND_EINVAL;
  mend__tool_entry *entry;
  const mend_status status = mend__tools_find(tools, name, &entry);
  if (status != MEND_OK) return status;
  *ret_effect = entry->tool.effect;
  mend__tool_entry_release(entry);
  return MEND_OK;
}

/* ---- The pool ---- */

mend__pool *mend__tools_pool_find(mend_tools *tools) {
  return atomic_load_explicit(&tools->pool, memory_order_acquire);
}

mend__pool *mend__tools_pool(mend_tools *tools) {
  pthread_mutex_lock(&tools->lock);
  mend__pool *pool = mend__tools_pool_find(tools);
  if (pool == NULL) {
    pool = mend__pool_new(tools->allocator, tools->pool_threads, tools->pool_waiting);
    atomic_store_explicit(&tools->pool, pool, memory_order_release);
  }
  pthread_mutex_unlock(&tools->lock);
  return pool;
}

mend_status mend_tools_set_pool(mend_tools *tools, uint32_t threads, uint32_t waiting, mend_error *error) {
  if (tools == NULL) return mend__refuse_null(error, "the tools");
  mend_status status = mend__options_check_range("the pool's threads", threads, 1, POOL_THREADS_MAX, error);
  if (status == MEND_OK) {
    status = mend__options_check_range("the pool's waiting calls", waiting, 1, POOL_WAITING_MAX, error);
  }
  if (status != MEND_OK) return status;
  pthread_mutex_lock(&tools->lock);
  const bool is_new = mend__tools_pool_find(tools) == NULL;
  if (is_new) {
    tools->pool_threads = threads;
    tools->pool_waiting = waiting;
  }
  pthread_mutex_unlock(&tools->lock);
  return is_new ? MEND_OK : mend_error_set(error, MEND_EEXIST, "the pool: a pooled tool has been called already");
}
