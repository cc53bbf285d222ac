#include "core/memory.h"
#include "core/options_size.h"
#include "fallback/exchange_internal.h"

/* ---- Memory ---- */

static void exchange_free(mend_exchange *exchange) {
  mend_model *model = exchange->model;
  mend__clocks_free(&exchange->clocks);
  mend__draft_free(exchange->draft);
  mend__request_release(exchange->request);
  mend__free(exchange->allocator, exchange);
  mend_model_release(model);
}

mend_exchange *mend_exchange_retain(mend_exchange *exchange) {
  atomic_fetch_add_explicit(&exchange->references, 1, memory_order_relaxed);
  return exchange;
}

void mend_exchange_release(mend_exchange *exchange) {
  if (exchange == NULL || atomic_fetch_sub_explicit(&exchange->references, 1, memory_order_acq_rel) != 1) return;
  exchange_free(exchange);
}

/* ---- Time ---- */

uint64_t mend__exchange_now_ns(const mend_exchange *exchange) {
  return mend_clock_now(mend_loop_clock(exchange->model->loop)).mono_ns;
}

double mend__exchange_ms(const mend_exchange *exchange) {
  return (double)(mend__exchange_now_ns(exchange) - exchange->clocks.begun_ns) / 1e6;
}

bool mend__exchange_has_content(const mend_exchange *exchange) {
  return exchange->first_content_ms == exchange->first_content_ms;
}

/* ---- What a model tells ---- */

const mend_model_request *mend_exchange_request(const mend_exchange *exchange) { return &exchange->asked; }
void mend_exchange_keep(mend_exchange *exchange, void *own) { exchange->kept = own; }
void *mend_exchange_kept(const mend_exchange *exchange) { return exchange->kept; }

static bool is_open(const mend_exchange *exchange) { return exchange->state == MEND__EXCHANGE_OPEN; }

void mend_exchange_connected(mend_exchange *exchange) {
  if (!is_open(exchange) || exchange->clocks.connected) return;
  exchange->clocks.connected = true;
  exchange->inside++;
  if (exchange->listener.connected != NULL) exchange->listener.connected(exchange->listener.ctx);
  exchange->inside--;
}

void mend__exchange_refused(mend_exchange *exchange) { exchange->clocks.first_content_ns = MEND_NEVER; }

static void note_content(mend_exchange *exchange) {
  if (!mend__exchange_has_content(exchange)) exchange->first_content_ms = mend__exchange_ms(exchange);
  mend__clocks_content(&exchange->clocks, mend__exchange_now_ns(exchange));
}

static void hand_on(mend_exchange *exchange, const mend_delta *delta) {
  note_content(exchange);
  mend__exchange_publish_delta(exchange, delta);
  if (exchange->listener.delta != NULL && is_open(exchange)) exchange->listener.delta(exchange->listener.ctx, delta);
}

void mend_exchange_delta(mend_exchange *exchange, const mend_delta *given) {
  mend_delta delta = MEND_DELTA_INIT;
  bool is_content;
  if (!is_open(exchange) || mend__options_take(&delta, given, "mend_delta", NULL) != MEND_OK) return;
  exchange->inside++;
  if (mend__draft_add(exchange->draft, &delta, &is_content) != MEND_OK) {
    mend__exchange_run_out_of_memory(exchange);
  } else if (is_content) {
    hand_on(exchange, &delta);
  }
  exchange->inside--;
}

void mend__exchange_forward(mend_exchange *exchange, const mend_delta *delta) {
  if (is_open(exchange)) hand_on(exchange, delta);
}

/* Also while it is being stopped: what is known by then goes into the failure. */
mend_status mend_exchange_note(mend_exchange *exchange, const mend_reply *given) {
  if (exchange == NULL || given == NULL) return MEND_EINVAL;
  mend_reply partial = MEND_REPLY_INIT;
  if (exchange->draft == NULL) return MEND_OK;
  if (mend__options_take(&partial, given, "mend_reply", NULL) != MEND_OK) return MEND_EINVAL;
  if (mend__draft_note(exchange->draft, &partial) == MEND_OK) return MEND_OK;
  if (!is_open(exchange)) return MEND_ENOMEM;
  exchange->inside++;
  mend__exchange_run_out_of_memory(exchange);
  exchange->inside--;
  return MEND_ENOMEM;
}

void mend__exchange_cover_raw(mend_exchange *exchange, size_t at, size_t len) {
  if (exchange->draft != NULL) mend__draft_cover_raw(exchange->draft, at, len);
}

/* Whether its answer counts; either way it needs no cancel any more. */
static bool takes_answer(mend_exchange *exchange) {
  exchange->owes_cancel = false;
  return is_open(exchange);
}

void mend_exchange_finish(mend_exchange *exchange) {
  if (!takes_answer(exchange)) return;
  mend_reply reply = MEND_REPLY_INIT;
  if (mend__draft_finish(exchange->draft, &reply) != MEND_OK) {
    mend__exchange_end_without_memory(exchange);
    return;
  }
  exchange->draft = NULL;
  mend__exchange_succeed(exchange, &reply);
  mend_reply_clear(&reply);
}

void mend__exchange_finish_with(mend_exchange *exchange, mend_reply *given) {
  if (!takes_answer(exchange)) return;
  mend_reply reply = MEND_REPLY_INIT;
  mend_reply_move(&reply, given);
  mend__exchange_succeed(exchange, &reply);
  mend_reply_clear(&reply);
}

void mend__exchange_fail_by(mend_exchange *exchange, const mend_failure *failure, const mend_failure_signal *signal) {
  const bool no_memory = signal->transport != NULL && strcmp(signal->transport, "no_memory") == 0;
  if (takes_answer(exchange))
    mend__exchange_end_failed(exchange, no_memory ? MEND_ENOMEM : MEND_EFAILED, failure, signal);
}

void mend__exchange_fail_of_memory(mend_exchange *exchange) {
  if (takes_answer(exchange)) mend__exchange_end_without_memory(exchange);
}

void mend_exchange_fail(mend_exchange *exchange, const mend_failure *given) {
  mend_failure failure = MEND_FAILURE_INIT;
  if (mend__options_take(&failure, given, "mend_failure", NULL) != MEND_OK) failure = (mend_failure)MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  signal.any_byte = true;
  signal.http_status = failure.http_status;
  signal.body = failure.body;
  mend__exchange_fail_by(exchange, &failure, &signal);
}

/* ---- The beginning ---- */

static mend_status call_begin(mend_exchange *exchange, mend_error *error) {
  const mend_model *model = exchange->model;
  exchange->inside++;
  const mend_status status = model->vtable.begin(model->ctx, exchange, error);
  exchange->inside--;
  return status;
}

/* What is wrong with a request whoever is asked was refused when it was sent: another model may take what this one
 * cannot. */
static void fail_to_begin(mend_exchange *exchange, mend_status status, const mend_error *error) {
  if (!takes_answer(exchange)) return;
  mend_failure failure = MEND_FAILURE_INIT;
  mend_failure_signal signal = MEND_FAILURE_SIGNAL_INIT;
  if (status == MEND_ENOTSUP || status == MEND_EINVAL) {
    signal.transport = "not_supported";
  } else if (status == MEND_ENOMEM) {
    signal.transport = "no_memory";
  } else {
    failure.type = MEND_STR("invalid_request");
  }
  failure.message = mend_str_from(mend_error_sentence(error, status));
  mend__exchange_end_failed(exchange, status == MEND_ENOMEM ? MEND_ENOMEM : MEND_EFAILED, &failure, &signal);
}

/* A subscriber may cancel it before the model hears of it. */
static bool announce(mend_exchange *exchange) {
  exchange->inside++;
  mend__exchange_publish_request(exchange);
  exchange->inside--;
  exchange->owes_cancel = false;
  return is_open(exchange);
}

/* A chain asks each of its targets' prices. */
static bool is_affordable(mend_exchange *exchange) {
  char sentence[MEND__BUDGET_SENTENCE_MAX];
  if (exchange->model->sort == MEND__MODEL_FORWARDS) return true;
  if (mend__budget_allows(&exchange->budget, &exchange->asked, &exchange->model->facts)) return true;
  mend__budget_sentence(&exchange->budget, sentence);
  mend__exchange_end_by(exchange, MEND_EFAILED, "cost_limit", sentence);
  return false;
}

static void run_begin(void *ctx) {
  mend_exchange *exchange = ctx;
  mend_error error = MEND_ERROR_INIT;
  if (exchange->state != MEND__EXCHANGE_NEW) return; /* cancelled already */
  exchange->state = MEND__EXCHANGE_OPEN;
  exchange->has_begun = true;
  exchange->budget.attempts = exchange->model->sort == MEND__MODEL_ANSWERS; /* those of a chain are made by its walk */
  mend__clocks_start(&exchange->clocks, &exchange->asked.clocks, mend__exchange_now_ns(exchange));
  if (!announce(exchange) || !is_affordable(exchange)) return;
  const mend_status status = call_begin(exchange, &error);
  if (status != MEND_OK) fail_to_begin(exchange, status, &error);
}

mend_status mend__exchange_new(mend_model *model, mend__request *request, mend_exchange **ret_exchange) {
  mend_exchange *exchange = mend__alloc_zero(model->allocator, sizeof *exchange);
  mend__draft *draft = mend__draft_new(request->messages, model->allocator);
  if (exchange == NULL || draft == NULL ||
      mend__clocks_init(&exchange->clocks, model->loop, mend__exchange_ring, exchange) != MEND_OK) {
    mend__draft_free(draft);
    mend__free(model->allocator, exchange);
    mend__request_release(request);
    return MEND_ENOMEM;
  }
  exchange->allocator = model->allocator;
  exchange->model = mend_model_retain(model);
  exchange->request = request;
  exchange->asked = request->given;
  exchange->attempt = 1;
  exchange->begin = (mend__posted){.function = run_begin, .ctx = exchange};
  exchange->cancel = (mend__posted){.function = mend__exchange_run_cancel, .ctx = exchange};
  exchange->let_go = (mend__posted){.function = mend__exchange_let_go, .ctx = exchange};
  exchange->first_content_ms = MEND_NAN;
  exchange->draft = draft;
  atomic_init(&exchange->references, 1);
  *ret_exchange = exchange;
  return MEND_OK;
}

/* Those a forwarding model asks have the others. */
static void keep_total_only(mend_model_clocks *clocks) { *clocks = (mend_model_clocks){.total_s = clocks->total_s}; }

void mend__exchange_begin(mend_exchange *exchange, mend_exchange **ret_exchange) {
  if (exchange->model->sort == MEND__MODEL_FORWARDS) keep_total_only(&exchange->asked.clocks);
  exchange->budget.limit_usd = exchange->asked.max_cost_usd;
  if (ret_exchange != NULL) *ret_exchange = mend_exchange_retain(exchange);
  mend__loop_post_own(exchange->model->loop, &exchange->begin);
}
