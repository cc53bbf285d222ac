/* House header: what agents ask of a boundary's tools. */
#ifndef MEND_HOOKS_DESCRIBED_H
#define MEND_HOOKS_DESCRIBED_H

#include "mend/boundary.h"

/* Calls `visit` for each tool of the boundary's registry that has a description, in the order they were added, until it
 * returns an error, which is returned. Under the registry's lock: `visit` uses no registry, and keeps only copies. */
mend_status mend__boundary_each_described(const mend_boundary *boundary,
                                          mend_status (*visit)(void *ctx, const mend_tool *tool), void *ctx);

#endif
