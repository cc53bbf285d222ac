/* House header: what rooms that have a hook of their own ask of a list of hooks. */
#ifndef MEND_HOOKS_LIST_H
#define MEND_HOOKS_LIST_H

#include "mend/hooks.h"

/* Whether this hook was added, known by its functions. */
bool mend__hooks_contain(mend_hooks *hooks, const mend_hook *hook);
/* What they allocate with. */
const mend_allocator *mend__hooks_allocator(const mend_hooks *hooks);

#endif
