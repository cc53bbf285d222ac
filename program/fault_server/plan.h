/* What goes wrong with one reply: what all its faults together ask for. Each member is what fault_table.c says of
 * the fault that sets it. */
#ifndef MEND_PROGRAM_FAULT_SERVER_PLAN_H
#define MEND_PROGRAM_FAULT_SERVER_PLAN_H

#include "program/fault_server/delivery.h"
#include "program/fault_server/text_list.h"

struct fault_plan;
/* Delivers something else than a reply (instead.c). */
typedef void (*plan_instead)(const struct fault_plan *plan, delivery *to);

/* Where a reply breaks off: before content number N + 1. */
typedef enum plan_cut {
  CUT_NONE = -1,
  CUT_RESET,
  CUT_CLOSE,
  CUT_SILENCE,
  CUT_PINGS,
  CUT_ERROR,
  CUT_FAILED,
  CUT_END,
  CUT_KINDS
} plan_cut;

typedef struct fault_plan {
  plan_instead instead; /* NULL: a reply */
  unsigned size;        /* of what is sent instead, where that has one */
  bool reuse_reset;

  /* An error for a reply: any of these set. */
  unsigned status;
  const char *wording; /* a provider's error by its name (wordings.h) */
  mend__buffer vendor; /* whose words; empty: the dialect's provider's */
  mend__buffer body, content_type;
  bool html, waits, error_200;
  text_list headers; /* "name: value" */
  mend__buffer retry_info;

  /* What the reply says. */
  unsigned deltas, calls, frames;
  bool thinking, unicode, invalid_utf8, log_probs, usage, no_usage;
  bool no_content, no_choices, not_json, bad_json, block;
  mend__buffer finish; /* the word for why it ended */
  bool no_finish, no_done, error_first;

  /* Where it breaks off; UINT_MAX: it does not. */
  unsigned after[CUT_KINDS];

  /* When. Seconds. */
  double delay, first_delay, delta_delay, trickle;

  /* How it is written. */
  bool crlf, cr, no_space, multiline, bom, unnamed, comments, pings, empty_choices, bare_calls;
  mend__buffer call_index; /* JSON; empty: as it should be */
  bool gzip, split_crlf, split_utf8, chunked, close;
  unsigned split, short_body;
} fault_plan;

void plan_init(fault_plan *plan);
void plan_free(fault_plan *plan);
bool plan_failed(fault_plan *plan);
/* Whether it is to break off so at all. */
bool plan_breaks_off(const fault_plan *plan, plan_cut how);
/* What happens before content number `contents` + 1. */
plan_cut plan_cut_at(const fault_plan *plan, unsigned contents);
/* How many contents there must be for everything to happen. */
unsigned plan_contents_needed(const fault_plan *plan);
/* Whether the reply is an error with a status of its own. */
bool plan_is_error(const fault_plan *plan);

#endif
