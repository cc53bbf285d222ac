/* How OTLP writes values, ids and times in JSON. */
#ifndef MEND_PROGRAM_TRANSCRIPTS_OTLP_VALUES_H
#define MEND_PROGRAM_TRANSCRIPTS_OTLP_VALUES_H

#include "core/buffer.h"

/* What is inside an AnyValue that is a string, with its quotes; absent for another kind. */
mend_str otlp_string(mend_str any_value);
/* Appends an AnyValue as plain JSON: {"kvlistValue": {"values": [{"key": "n", "value": {"intValue": "1"}}]}} is
 * {"n":1}. What nests too deeply is appended as it is. */
void otlp_append_json(mend__buffer *buffer, mend_str any_value);
/* A count or amount, as a number or in a string; 0 for anything else. */
uint64_t otlp_count(mend_str any_value);
double otlp_amount(mend_str any_value);

/* Nanoseconds since 1970, as a number or in a string; 0 when there are none. */
uint64_t otlp_time(mend_str value);

/* A trace id's bytes, from hexadecimal digits or, as other writers of protobuf have it, base64. */
bool otlp_trace_id(mend_str text, uint8_t ret_id[16]);
/* As hexadecimal digits and a NUL. */
enum { OTLP_TRACE_ID_SIZE = 33 };
void otlp_trace_id_format(const uint8_t id[16], char ret_digits[OTLP_TRACE_ID_SIZE]);

#endif
