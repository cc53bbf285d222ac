/* What makes two calls the same: the tool, and the loose hash of the arguments without those that do not tell calls
 * apart. */
#include "core/memory.h"
#include "core/text.h"
#include "watchdogs/evidence_loop_rules.h"

/* ---- Names that say it by themselves: without case, '_' and '-', so request_id is requestId ---- */

enum { PLAIN_MAX = 16 };
typedef struct plain_name {
  char text[PLAIN_MAX];
  size_t len;
} plain_name;

#define NAME(text)                                                                                                     \
  { text, sizeof text - 1 }

/* What is made up anew for every call, whatever that does. */
static const plain_name ids[] = {NAME("requestid"),     NAME("callid"),         NAME("toolcallid"),
                                 NAME("traceid"),       NAME("spanid"),         NAME("nonce"),
                                 NAME("correlationid"), NAME("idempotencykey"), NAME("timestamp")};
/* What a model says about a call. Of a tool that changes something it may be what is written. */
static const plain_name remarks[] = {NAME("description"), NAME("explanation"), NAME("thought"),
                                     NAME("thoughts"),    NAME("reasoning"),   NAME("rationale")};

/* False for one that is longer than all of these. */
static bool make_plain(mend_str name, plain_name *ret_plain) {
  ret_plain->len = 0;
  for (size_t i = 0; i < name.len; i++) {
    if (name.ptr[i] == '_' || name.ptr[i] == '-') continue;
    if (ret_plain->len == PLAIN_MAX) return false;
    ret_plain->text[ret_plain->len++] = mend__lower(name.ptr[i]);
  }
  return true;
}

static bool is_one_of(const plain_name *plain, const plain_name *names, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (plain->len == names[i].len && memcmp(plain->text, names[i].text, plain->len) == 0) return true;
  }
  return false;
}

static bool is_no_argument(mend_str name, bool may_be_remark) {
  plain_name plain;
  if (!make_plain(name, &plain)) return false;
  return is_one_of(&plain, ids, sizeof ids / sizeof *ids) ||
         (may_be_remark && is_one_of(&plain, remarks, sizeof remarks / sizeof *remarks));
}

/* ---- Which arguments count ---- */

typedef struct args_filter {
  const mend__tool_facts *facts;
  bool takes_names_as_they_are;    /* no argument is left out for its usual name */
  unsigned kept, left_out_by_name; /* of the latest hash */
} args_filter;

static bool ignores(void *ctx, mend_str name) {
  args_filter *filter = ctx;
  const mend__tool_facts *facts = filter->facts;
  if (facts->only_args != NULL && !mend__argument_names_have(facts->only_args, name)) return true;
  if (facts->ignore_args != NULL && mend__argument_names_have(facts->ignore_args, name)) return true;
  const bool may_be = !filter->takes_names_as_they_are && facts->only_args == NULL;
  const bool by_name = may_be && is_no_argument(name, !facts->words.changes);
  filter->left_out_by_name += by_name;
  filter->kept += !by_name;
  return by_name;
}

/* ---- Hashing ---- */

/* Raw only for what is raw with all the scratch there may be. */
static mend_status hash_text(mend_str args, args_filter *filter, const mend_allocator *allocator,
                             mend_json_hash_result *ret_hash) {
  mend_loose_hash_options options = MEND_LOOSE_HASH_OPTIONS_INIT;
  options.ignores = ignores;
  options.ctx = filter;
  uint64_t small[256];
  *ret_hash = mend_json_hash_loose(args, &options, small, sizeof small);
  if (!ret_hash->raw || args.len > MEND_HASH_TEXT_MAX) return MEND_OK;
  void *scratch = mend__alloc(allocator, MEND_HASH_SCRATCH);
  if (scratch == NULL) return MEND_ENOMEM;
  filter->kept = filter->left_out_by_name = 0;
  *ret_hash = mend_json_hash_loose(args, &options, scratch, MEND_HASH_SCRATCH);
  mend__free(allocator, scratch);
  return MEND_OK;
}

mend_status mend__loop_args_hash(const mend__tool_facts *facts, const mend_tool_before_event *before,
                                 const mend_allocator *allocator, mend_json_hash_result *ret_hash) {
  *ret_hash = (mend_json_hash_result){{0, 0}, false};
  if (before->args.ptr == NULL) {
    const bool has_loose = !mend_hash_is_none(before->args_hash_loose);
    ret_hash->hash = has_loose ? before->args_hash_loose : before->args_hash;
    return MEND_OK;
  }
  args_filter filter = {.facts = facts};
  mend_status status = hash_text(before->args, &filter, allocator, ret_hash);
  /* A call that is nothing but a description is told by it. */
  if (status == MEND_OK && filter.kept == 0 && filter.left_out_by_name > 0) {
    filter.takes_names_as_they_are = true;
    status = hash_text(before->args, &filter, allocator, ret_hash);
  }
  return status;
}

mend_hash mend__loop_pair_key(mend_hash tool, mend_hash args_hash) {
  const mend_hash key = {args_hash.hi + tool.hi * 3, args_hash.lo + tool.lo * 3};
  return mend_hash_is_none(key) ? tool : key;
}
