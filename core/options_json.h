/* House header: a tree of options as JSON, the way mend_option_tree_load reads it. */
#ifndef MEND_CORE_OPTIONS_JSON_H
#define MEND_CORE_OPTIONS_JSON_H

#include "core/buffer.h"
#include "mend/options.h"

/* Appends {"loop": {"enable": true, ...}, ..., "mode": "seed"}. Out of memory shows in buffer->failed. */
void mend__options_write(mend__buffer *buffer, const mend_options *options);

#endif
