/* What is sent instead of a reply. Sizes are the plan's. */
#ifndef MEND_PROGRAM_FAULT_SERVER_INSTEAD_H
#define MEND_PROGRAM_FAULT_SERVER_INSTEAD_H

#include "program/fault_server/plan.h"

void instead_hang(const fault_plan *plan, delivery *to);
void instead_reset(const fault_plan *plan, delivery *to);
void instead_empty(const fault_plan *plan, delivery *to);
void instead_malformed(const fault_plan *plan, delivery *to);
void instead_half_head(const fault_plan *plan, delivery *to);
void instead_endless_headers(const fault_plan *plan, delivery *to);
void instead_endless_line(const fault_plan *plan, delivery *to);
void instead_empty_body(const fault_plan *plan, delivery *to);
void instead_big_body(const fault_plan *plan, delivery *to);
void instead_gzip_bomb(const fault_plan *plan, delivery *to);
void instead_long_line(const fault_plan *plan, delivery *to);

#endif
