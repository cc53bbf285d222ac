#include "program/transcripts/otlp_attributes.h"

#include "program/base/json_fields.h"
#include "program/transcripts/otlp_values.h"

#define NAMED(name, what)                                                                                              \
  { {name, sizeof(name) - 1}, what }

/* Where a span has several of one meaning, the one that stands first here counts: that is its rank. */
static const struct {
  mend_str key;
  otlp_meaning meaning;
} known[] = {
    NAMED("gen_ai.operation.name", OTLP_OPERATION),
    NAMED("openinference.span.kind", OTLP_OPERATION),
    NAMED("traceloop.span.kind", OTLP_OPERATION),
    NAMED("ai.operationId", OTLP_OPERATION),
    NAMED("gen_ai.tool.name", OTLP_TOOL),
    NAMED("tool.name", OTLP_TOOL),
    NAMED("traceloop.entity.name", OTLP_TOOL),
    NAMED("ai.toolCall.name", OTLP_TOOL),
    NAMED("gen_ai.tool.call.id", OTLP_CALL),
    NAMED("tool_call.id", OTLP_CALL),
    NAMED("ai.toolCall.id", OTLP_CALL),
    NAMED("gen_ai.tool.call.arguments", OTLP_ARGUMENTS),
    NAMED("input.value", OTLP_ARGUMENTS),
    NAMED("traceloop.entity.input", OTLP_ARGUMENTS),
    NAMED("ai.toolCall.args", OTLP_ARGUMENTS),
    NAMED("tool_arguments", OTLP_ARGUMENTS),
    NAMED("gen_ai.tool.call.result", OTLP_RESULT),
    NAMED("output.value", OTLP_RESULT),
    NAMED("traceloop.entity.output", OTLP_RESULT),
    NAMED("ai.toolCall.result", OTLP_RESULT),
    NAMED("tool_response", OTLP_RESULT),
    NAMED("gen_ai.response.model", OTLP_MODEL),
    NAMED("gen_ai.request.model", OTLP_MODEL),
    NAMED("llm.model_name", OTLP_MODEL),
    NAMED("gen_ai.usage.input_tokens", OTLP_INPUT_TOKENS),
    NAMED("gen_ai.usage.prompt_tokens", OTLP_INPUT_TOKENS),
    NAMED("llm.token_count.prompt", OTLP_INPUT_TOKENS),
    NAMED("gen_ai.usage.output_tokens", OTLP_OUTPUT_TOKENS),
    NAMED("gen_ai.usage.completion_tokens", OTLP_OUTPUT_TOKENS),
    NAMED("llm.token_count.completion", OTLP_OUTPUT_TOKENS),
    NAMED("gen_ai.usage.cost", OTLP_COST),
    NAMED("llm.cost.total", OTLP_COST),
    NAMED("gen_ai.output.messages", OTLP_MESSAGES),
    NAMED("llm.output_messages.0.message.content", OTLP_SAID),
    NAMED("gen_ai.completion.0.content", OTLP_SAID),
    NAMED("ai.response.text", OTLP_SAID),
    NAMED("content", OTLP_CONTENT),
    NAMED("gen_ai.conversation.id", OTLP_SESSION),
    NAMED("session.id", OTLP_SESSION),
    NAMED("mend.run.id", OTLP_RUN),
    NAMED("mend.run.parent_id", OTLP_PARENT_RUN),
    NAMED("mend.run.parent_call_id", OTLP_PARENT_CALL),
    NAMED("mend.tool.call.arguments_hash", OTLP_ARGUMENTS_HASH),
    NAMED("mend.model.asked", OTLP_ASKED),
    NAMED("mend.ended", OTLP_ENDED),
    NAMED("gen_ai.agent.name", OTLP_AGENT),
    NAMED("agent.name", OTLP_AGENT),
    NAMED("service.name", OTLP_AGENT),
    NAMED("exception.message", OTLP_MESSAGE),
    NAMED("error.message", OTLP_MESSAGE),
    NAMED("error.type", OTLP_ERROR_TYPE),
    NAMED("exception.type", OTLP_ERROR_TYPE),
};
enum { KNOWN_COUNT = sizeof known / sizeof known[0] };

/* What operations and span kinds are. */
static const struct {
  mend_str name;
  otlp_span_kind kind;
} operations[] = {
    NAMED("execute_tool", OTLP_TOOL_SPAN),
    NAMED("TOOL", OTLP_TOOL_SPAN),
    NAMED("tool", OTLP_TOOL_SPAN),
    NAMED("ai.toolCall", OTLP_TOOL_SPAN),
    NAMED("chat", OTLP_MODEL_SPAN),
    NAMED("LLM", OTLP_MODEL_SPAN),
    NAMED("text_completion", OTLP_MODEL_SPAN),
    NAMED("generate_content", OTLP_MODEL_SPAN),
    NAMED("ai.generateText.doGenerate", OTLP_MODEL_SPAN),
    NAMED("ai.streamText.doStream", OTLP_MODEL_SPAN),
    NAMED("invoke_agent", OTLP_AGENT_SPAN),
    NAMED("AGENT", OTLP_AGENT_SPAN),
    NAMED("agent", OTLP_AGENT_SPAN),
    NAMED("ai.generateText", OTLP_AGENT_SPAN),
    NAMED("ai.streamText", OTLP_AGENT_SPAN),
    NAMED("workflow", OTLP_AGENT_SPAN),
};

static int rank_of(mend_str key) {
  for (int i = 0; i < KNOWN_COUNT; i++) {
    if (json_string_is(key, known[i].key)) return i;
  }
  return -1;
}

void otlp_attributes_read(mend_str array, otlp_attributes *to) {
  mend__json_items elements = mend__json_items_of(array);
  mend_str element;
  while (mend__json_items_next(&elements, &element)) {
    json_field fields[] = {JSON_FIELD("key"), JSON_FIELD("value")};
    if (!mend__json_is_object(element)) continue;
    json_fields_read(element, fields, 2, NULL);
    const int rank = rank_of(fields[0].value);
    if (rank < 0 || fields[1].value.ptr == NULL) continue;
    const otlp_meaning meaning = known[rank].meaning;
    if (to->value[meaning].ptr != NULL && to->rank[meaning] < rank) continue;
    to->value[meaning] = fields[1].value;
    to->rank[meaning] = rank;
  }
}

mend_str otlp_text(stage *on, const otlp_attributes *of, otlp_meaning meaning) {
  return stage_text(on, otlp_string(of->value[meaning]));
}

mend_str otlp_json(stage *on, const otlp_attributes *of, otlp_meaning meaning) {
  const mend_str value = of->value[meaning], text = otlp_string(value);
  if (value.ptr == NULL) return value;
  if (text.ptr != NULL) return stage_nested_json(on, text);
  mend__buffer_clear(&on->scratch);
  otlp_append_json(&on->scratch, value);
  return mend__buffer_text(&on->scratch);
}

otlp_span_kind otlp_kind_of(const otlp_attributes *of) {
  const mend_str operation = otlp_string(of->value[OTLP_OPERATION]);
  for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
    if (json_string_is(operation, operations[i].name)) return operations[i].kind;
  }
  return operation.ptr == NULL && of->value[OTLP_CALL].ptr != NULL ? OTLP_TOOL_SPAN : OTLP_OTHER_SPAN;
}
