/**
 * mend.h: all of mend. What is not declared in the headers named here is not part of the library.
 */
#ifndef MEND_H
#define MEND_H

#include "mend/agent.h"
#include "mend/boundary.h"
#include "mend/bus.h"
#include "mend/clock.h"
#include "mend/core.h"
#include "mend/events.h"
#include "mend/fallback.h"
#include "mend/flows.h"
#include "mend/healing.h"
#include "mend/hooks.h"
#include "mend/journal.h"
#include "mend/json.h"
#include "mend/loop.h"
#include "mend/metacognition.h"
#include "mend/model.h"
#include "mend/options.h"
#include "mend/queue.h"
#include "mend/tools.h"
#include "mend/watchdogs.h"
#include "mend/workbench.h"

#endif
