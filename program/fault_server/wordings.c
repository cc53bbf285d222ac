#include "program/fault_server/wordings.h"

const wording_kind wording_kinds[] = {
    {"context_overflow", "the prompt is too long for the model"},
    {"request_too_large", "the request is too large (413)"},
    {"rate_limit", "too many requests"},
    {"quota_exhausted", "the requests of a day are used up"},
    {"insufficient_quota", "the money is used up"},
    {"overloaded", "the provider has too much to do"},
    {"server_error", "an error of the provider's own"},
    {"bad_key", "the key is wrong; the error repeats it"},
    {"forbidden", "the key may not do this"},
    {"model_not_found", "there is no such model"},
    {"unsupported_parameter", "the model does not take a parameter"},
    {"invalid_request", "the request is wrong"},
    {"unprocessable", "the request is wrong (422)"},
    {"content_filter", "the prompt is refused (an error; finish=content_filter: the reply)"},
    {"timeout", "the provider gave up waiting"},
    {NULL, NULL},
};

#define OPENAI(message, type, param, code)                                                                             \
  "{'error':{'message':'" message "','type':" type ",'param':" param ",'code':" code "}}"
#define ANTHROPIC(type, message)                                                                                       \
  "{'type':'error','error':{'type':'" type "','message':'" message "'},'request_id':'req_fault'}"
#define GEMINI(code, message, status, more)                                                                            \
  "{'error':{'code':" code ",'message':'" message "','status':'" status "'" more "}}"
#define PLAIN_OBJECT(message, type, code)                                                                              \
  "{'object':'error','message':'" message "','type':'" type "','param':null,'code':" code "}"

static const wording wordings[] = {
    {"context_overflow", "openai", 400, NULL,
     OPENAI(
         "This model~s maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please "
         "reduce the length of the messages.",
         "'invalid_request_error'", "'messages'", "'context_length_exceeded'")},
    {"context_overflow", "openai-responses", 400, NULL,
     OPENAI("Your input exceeds the context window of this model. Please adjust your input and try again.",
            "'invalid_request_error'", "'input'", "'context_length_exceeded'")},
    {"context_overflow", "anthropic", 400, NULL,
     ANTHROPIC("invalid_request_error", "prompt is too long: 208310 tokens > 200000 maximum")},
    {"context_overflow", "anthropic-max-tokens", 400, NULL,
     ANTHROPIC("invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, "
                                        "decrease input length or `max_tokens` and try again")},
    {"context_overflow", "gemini", 400, NULL,
     GEMINI("400", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
            "INVALID_ARGUMENT", "")},
    {"context_overflow", "vllm", 400, NULL,
     PLAIN_OBJECT("This model~s maximum context length is 4096 tokens. However, you requested 5000 tokens (4000 in the "
                  "messages, 1000 in the completion). Please reduce the length of the messages or completion.",
                  "BadRequestError", "400")},
    {"context_overflow", "sglang", 400, NULL,
     PLAIN_OBJECT("The input (5000 tokens) is longer than the model~s context length (4096 tokens).", "BadRequestError",
                  "400")},
    {"context_overflow", "mistral", 400, NULL,
     PLAIN_OBJECT(
         "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
         "invalid_request_error", "'3051'")},
    {"context_overflow", "kimi", 400, NULL,
     "{'error':{'message':'Invalid request: Your request exceeded model token limit: 8192','type':"
     "'invalid_request_error'}}"},
    {"context_overflow", "llama.cpp", 400, NULL,
     "{'error':{'code':400,'message':'the request exceeds the available context size, try increasing "
     "it','type':'exceed_context_size_error','n_prompt_tokens':5000,'n_ctx':4096}}"},
    {"context_overflow", "groq", 413, NULL,
     "{'error':{'message':'Request too large for model `{model}` on tokens per minute (TPM): Limit 6000, Requested "
     "9000, "
     "please reduce your message size and try again.','type':'tokens','code':'rate_limit_exceeded'}}"},

    {"request_too_large", "openai", 413, NULL,
     OPENAI("Request body is too large.", "'invalid_request_error'", "null", "null")},
    {"request_too_large", "anthropic", 413, NULL,
     ANTHROPIC("request_too_large", "Request exceeds the maximum allowed number of bytes.")},
    {"request_too_large", "gemini", 413, NULL,
     GEMINI("413", "Request payload size exceeds the limit: 20971520 bytes.", "INVALID_ARGUMENT", "")},

    {"rate_limit", "openai", 429, NULL,
     OPENAI("Rate limit reached for {model} on requests per min (RPM): Limit 3, Used 3, Requested 1.", "'requests'",
            "null", "'rate_limit_exceeded'")},
    {"rate_limit", "anthropic", 429, NULL,
     ANTHROPIC("rate_limit_error",
               "This request would exceed your organization~s rate limit of 50 requests per minute.")},
    {"rate_limit", "gemini", 429, NULL,
     GEMINI("429", "Resource has been exhausted (e.g. check quota).", "RESOURCE_EXHAUSTED", "{retry_info}")},
    {"rate_limit", "mistral", 429, NULL,
     PLAIN_OBJECT("Service tier capacity exceeded for this model.", "service_tier_capacity_exceeded", "'3505'")},
    {"rate_limit", "kimi", 429, NULL,
     "{'error':{'message':'Your account reached max request, please try again after 1 seconds','type':"
     "'rate_limit_reached_error'}}"},

    {"quota_exhausted", "openai", 429, NULL,
     OPENAI("Rate limit reached for {model} on requests per day (RPD): Limit 200, Used 200, Requested 1.", "'requests'",
            "null", "'rate_limit_exceeded'")},
    {"quota_exhausted", "anthropic", 429, NULL,
     ANTHROPIC("rate_limit_error", "This request would exceed your organization~s weekly limit.")},
    {"quota_exhausted", "gemini", 429, NULL,
     GEMINI("429", "You exceeded your current quota, please check your plan and billing details.", "RESOURCE_EXHAUSTED",
            ",'details':[{'@type':'type.googleapis.com/google.rpc.QuotaFailure','violations':[{'quotaId':"
            "'GenerateRequestsPerDayPerProjectPerModel-FreeTier'}]}]")},

    {"insufficient_quota", "openai", 429, NULL,
     OPENAI("You exceeded your current quota, please check your plan and billing details.", "'insufficient_quota'",
            "null", "'insufficient_quota'")},
    {"insufficient_quota", "openai-billing", 400, NULL,
     OPENAI("Billing hard limit has been reached", "'invalid_request_error'", "null", "'billing_hard_limit_reached'")},
    {"insufficient_quota", "anthropic", 400, NULL,
     ANTHROPIC("invalid_request_error",
               "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or "
               "purchase credits.")},
    {"insufficient_quota", "gemini", 429, NULL,
     GEMINI("429", "Your prepayment credits are depleted. Please manage your project and billing.",
            "RESOURCE_EXHAUSTED", "")},
    {"insufficient_quota", "openrouter", 402, NULL,
     "{'error':{'code':402,'message':'This request requires more credits, or fewer max_tokens.'}}"},
    {"insufficient_quota", "deepseek", 402, NULL,
     OPENAI("Insufficient Balance", "'unknown_error'", "null", "'invalid_request_error'")},

    {"overloaded", "openai", 503, NULL,
     OPENAI("The server is currently overloaded with other requests. Sorry about that!", "'server_error'", "null",
            "'server_overloaded'")},
    {"overloaded", "anthropic", 529, "x-should-retry: true", ANTHROPIC("overloaded_error", "Overloaded")},
    {"overloaded", "gemini", 503, NULL,
     GEMINI("503", "The model is overloaded. Please try again later.", "UNAVAILABLE", "")},
    {"overloaded", "kimi", 429, NULL,
     "{'error':{'message':'The engine is currently overloaded, please try again "
     "later','type':'engine_overloaded_error'}}"},

    {"server_error", "openai", 500, NULL,
     OPENAI("The server had an error while processing your request. Sorry about that!", "'server_error'", "null",
            "null")},
    {"server_error", "anthropic", 500, NULL, ANTHROPIC("api_error", "Internal server error")},
    {"server_error", "gemini", 500, NULL, GEMINI("500", "An internal error has occurred.", "INTERNAL", "")},

    {"bad_key", "openai", 401, NULL,
     OPENAI("Incorrect API key provided: {key}. You can find your API key at "
            "https://platform.openai.com/account/api-keys.",
            "'invalid_request_error'", "null", "'invalid_api_key'")},
    {"bad_key", "anthropic", 401, NULL, ANTHROPIC("authentication_error", "invalid x-api-key {key}")},
    {"bad_key", "gemini", 400, NULL,
     GEMINI("400", "API key not valid: {key}. Please pass a valid API key.", "INVALID_ARGUMENT",
            ",'details':[{'@type':'type.googleapis.com/google.rpc.ErrorInfo','reason':'API_KEY_INVALID','domain':"
            "'googleapis.com'}]")},

    {"forbidden", "openai", 403, NULL,
     OPENAI("You are not allowed to sample from this model", "'invalid_request_error'", "null", "null")},
    {"forbidden", "anthropic", 403, NULL,
     ANTHROPIC("permission_error", "Your API key does not have permission to use the specified resource.")},
    {"forbidden", "gemini", 403, NULL, GEMINI("403", "The caller does not have permission", "PERMISSION_DENIED", "")},

    {"model_not_found", "openai", 404, NULL,
     OPENAI("The model `{model}` does not exist or you do not have access to it.", "'invalid_request_error'", "null",
            "'model_not_found'")},
    {"model_not_found", "anthropic", 404, NULL, ANTHROPIC("not_found_error", "model: {model}")},
    {"model_not_found", "gemini", 404, NULL,
     GEMINI("404", "models/{model} is not found for API version v1beta, or is not supported for generateContent.",
            "NOT_FOUND", "")},
    {"model_not_found", "vllm", 404, NULL, PLAIN_OBJECT("The model `{model}` does not exist.", "NotFoundError", "404")},
    {"model_not_found", "ollama", 404, NULL, OPENAI("model ~{model}~ not found", "'api_error'", "null", "null")},

    {"unsupported_parameter", "openai", 400, NULL,
     OPENAI(
         "Unsupported parameter: ~max_tokens~ is not supported with this model. Use ~max_completion_tokens~ instead.",
         "'invalid_request_error'", "'max_tokens'", "'unsupported_parameter'")},
    {"unsupported_parameter", "openai-value", 400, NULL,
     OPENAI("Unsupported value: ~temperature~ does not support 0.5 with this model. Only the default (1) value is "
            "supported.",
            "'invalid_request_error'", "'temperature'", "'unsupported_value'")},
    {"unsupported_parameter", "anthropic", 400, NULL,
     ANTHROPIC("invalid_request_error", "temperature: Extra inputs are not permitted")},
    {"unsupported_parameter", "gemini", 400, NULL,
     GEMINI("400", "Invalid JSON payload received. Unknown name ~temperature~: Cannot find field.", "INVALID_ARGUMENT",
            "")},

    {"invalid_request", "openai", 400, NULL,
     OPENAI("Invalid value: ~robot~. Supported values are: ~system~, ~assistant~ and ~user~.",
            "'invalid_request_error'", "'messages[0].role'", "'invalid_value'")},
    {"invalid_request", "anthropic", 400, NULL,
     ANTHROPIC("invalid_request_error", "messages: roles must alternate between user and assistant")},
    {"invalid_request", "gemini", 400, NULL,
     GEMINI("400", "Please ensure that multiturn requests alternate between user and model.", "INVALID_ARGUMENT", "")},

    {"unprocessable", "openai", 422, NULL,
     OPENAI("The request could not be processed.", "'invalid_request_error'", "null", "null")},
    {"unprocessable", "anthropic", 422, NULL, ANTHROPIC("invalid_request_error", "messages: Field required")},
    {"unprocessable", "gemini", 422, NULL,
     GEMINI("422", "The request could not be processed.", "INVALID_ARGUMENT", "")},
    {"unprocessable", "mistral", 422, NULL,
     "{'object':'error','message':{'detail':[{'type':'missing','loc':['body','messages'],'msg':'Field "
     "required'}]},'type':'invalid_request_error','param':null,'code':null}"},

    {"content_filter", "openai", 400, NULL,
     OPENAI("Your request was rejected as a result of our safety system.", "'invalid_request_error'", "null",
            "'content_policy_violation'")},
    {"content_filter", "azure", 400, NULL,
     "{'error':{'message':'The response was filtered due to the prompt triggering Azure OpenAI content management "
     "policy.','type':null,'param':'prompt','code':'content_filter','status':400,'innererror':{'code':"
     "'ResponsibleAIPolicyViolation'}}}"},
    {"content_filter", "anthropic", 400, NULL,
     ANTHROPIC("invalid_request_error", "Output blocked by content filtering policy")},
    {"content_filter", "gemini", 400, NULL,
     GEMINI("400", "The prompt was blocked for SAFETY.", "INVALID_ARGUMENT", "")},

    {"timeout", "openai", 408, NULL, OPENAI("Request timed out.", "'timeout'", "null", "null")},
    {"timeout", "anthropic", 504, NULL, ANTHROPIC("timeout_error", "Request timed out.")},
    {"timeout", "gemini", 504, NULL,
     GEMINI("504", "The service was unable to finish processing within the deadline.", "DEADLINE_EXCEEDED", "")},
};
enum { WORDING_COUNT = sizeof wordings / sizeof wordings[0] };

const char *wording_name(mend_str name) {
  for (const wording_kind *kind = wording_kinds; kind->name != NULL; kind++) {
    if (mend_str_equal(name, mend_str_from(kind->name))) return kind->name;
  }
  return NULL;
}

const wording *wording_next(const char *name, size_t *position) {
  while (*position < WORDING_COUNT) {
    const wording *each = &wordings[(*position)++];
    if (strcmp(each->name, name) == 0) return each;
  }
  return NULL;
}

const wording *wording_find(const char *name, mend_str vendor) {
  size_t position = 0;
  const wording *each;
  while ((each = wording_next(name, &position)) != NULL) {
    if (mend_str_equal(vendor, mend_str_from(each->vendor))) return each;
  }
  return NULL;
}

const wording *wording_nearest(const char *name, const char *vendor) {
  size_t first = 0;
  const wording *found = wording_find(name, mend_str_from(vendor));
  return found != NULL ? found : wording_next(name, &first);
}

/* ---- Writing ----------------------------------------------------------------------------------------------- */

/* Escaped, without quotes: it goes into the middle of a string. */
static void put_inside(mend__buffer *to, mend_str text) {
  mend__buffer quoted;
  mend__buffer_init(&quoted, NULL);
  mend__buffer_json_string(&quoted, text);
  if (quoted.failed) {
    to->failed = true;
  } else {
    mend__buffer_bytes(to, quoted.data + 1, quoted.len - 2);
  }
  mend__buffer_free(&quoted);
}

static void put_retry_info(mend__buffer *to, mend_str wait) {
  if (wait.len == 0) return;
  mend__buffer_str(to,
                   MEND_STR(",\"details\":[{\"@type\":\"type.googleapis.com/google.rpc.RetryInfo\",\"retryDelay\":\""));
  put_inside(to, wait);
  mend__buffer_str(to, MEND_STR("\"}]"));
}

/* Writes what a word in braces stands for, and says how long it is; 0: it is no such word. */
static size_t put_fact(mend__buffer *to, const char *place, const wording_facts *facts) {
  if (strncmp(place, "{model}", 7) == 0) {
    put_inside(to, facts->model);
    return 7;
  }
  if (strncmp(place, "{key}", 5) == 0) {
    put_inside(to, facts->key);
    return 5;
  }
  if (strncmp(place, "{retry_info}", 12) == 0) {
    put_retry_info(to, facts->retry_info);
    return 12;
  }
  return 0;
}

void wording_write(const wording *of, const wording_facts *facts, mend__buffer *to) {
  for (const char *place = of->body; *place != '\0';) {
    const size_t taken = *place == '{' ? put_fact(to, place, facts) : 0;
    if (taken > 0) {
      place += taken;
    } else {
      mend__buffer_char(to, *place == '\'' ? '"' : *place == '~' ? '\'' : *place);
      place++;
    }
  }
}
