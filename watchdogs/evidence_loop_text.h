/* Private to the watchdog "loop" of mode evidence: what names and answers say, as far as English is understood. */
#ifndef MEND_WATCHDOGS_EVIDENCE_LOOP_TEXT_H
#define MEND_WATCHDOGS_EVIDENCE_LOOP_TEXT_H

#include "mend/json.h"

/* ---- evidence_loop_names.c ---- */

/* What a tool's name says of it. */
typedef struct mend__tool_words {
  bool changes, looks, waits;
  bool is_shell; /* what it does its arguments say */
  bool polls;    /* its answer may be another one a moment later */
  bool acts;     /* on a page or a screen, and answers that it did */
} mend__tool_words;

mend__tool_words mend__tool_words_of(mend_str tool);

/* ---- evidence_loop_commands.c ---- */

/* Whether the arguments of a shell ask for a wait: "sleep 60; tail log"; for a change: "sed -i s/a/b/ x.c"; and for a
 * search: "grep -rn x src". */
bool mend__says_sleep(mend_str args);
bool mend__says_change(mend_str args);
bool mend__says_search(mend_str args);
/* Whether those of an editor ask it only to show something. */
bool mend__says_view(mend_str args);

/* ---- evidence_loop_words.c: what answers say ---- */

/* Whether an error says that there is no such tool; and whether it says that the same may work later. `type` may be
 * absent. */
bool mend__says_unknown_tool(mend_str tool, mend_str type, mend_str message);
bool mend__says_try_later(mend_str type, mend_str message);
/* Whether a text is an error's, though nobody said so; whether it says that something failed; whether it says that
 * nothing was found. */
bool mend__says_error(mend_str text);
bool mend__says_failed(mend_str text);
bool mend__says_nothing_found(mend_str text);
/* Whether it may be a status that will be another one later: "running", "in progress". */
bool mend__says_pending(mend_str text);

/* ---- evidence_loop_answer.c ---- */

/* The text of a result: the inside of a string, still escaped, or of the first text in an array of blocks; else the
 * JSON as it is. */
mend_str mend__answer_text(mend_str result);
/* null, "", {}: what a function without a value returns, too. */
bool mend__answer_is_void(mend_str result);
/* Whether it says that nothing was found, to a tool that looks for something or does not. */
bool mend__answer_is_empty(mend_str result, bool looks);

/* ---- evidence_loop_mask.c: texts without what changes with every call ---- */

/* Hash of a text in which times, durations, UUIDs, long hexadecimal numbers and the numbers behind pid, attempt, retry,
 * elapsed and the like count as equal. All other digits count. */
mend_hash mend__masked_text_hash(mend_str text);
/* The same for a JSON value; of arrays and objects, in a string too, its loose canonical hash. */
mend_hash mend__masked_json_hash(mend_str json);

#endif
