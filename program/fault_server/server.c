#include "program/fault_server/server.h"

#include "core/memory.h"
#include "core/reason.h"
#include "core/text.h"
#include "program/fault_server/compose.h"
#include "program/fault_server/connection.h"
#include "program/fault_server/faults.h"
#include "program/fault_server/given.h"
#include "program/fault_server/instead.h"
#include "program/fault_server/script.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/listener.h>
#include <netinet/in.h>

struct fault_server {
  connection_owner owner; /* first: a connection's owner is its server */
  fault_observer observer;
  struct evconnlistener *listener;
  script *rules; /* NULL: none */
  char *faults;  /* NULL: none */
  unsigned port;
};

const char *fault_end_name(fault_end end) {
  static const char *const names[] = {"under way", "complete", "cut", "client closed", "client reset", "stopped"};
  return names[end];
}

/* ---- Where a request goes ----------------------------------------------------------------------------------- */

typedef struct target {
  mend_str faults, path, query;
} target;

/* "http://host/path", as proxies are asked, is "/path". */
static mend_str without_host(mend_str text) {
  const mend_str scheme = MEND_STR("http://");
  if (!mend__begins_with(text, scheme)) return text;
  const char *slash = memchr(text.ptr + scheme.len, '/', text.len - scheme.len);
  return slash != NULL ? (mend_str){slash, (size_t)(text.ptr + text.len - slash)} : MEND_STR("/");
}

static target take_apart(mend_str text) {
  const mend_str prefix = MEND_STR("/fault/");
  target parts = {.path = without_host(text)};
  const char *mark = memchr(parts.path.ptr, '?', parts.path.len);
  if (mark != NULL) {
    parts.query = (mend_str){mark + 1, (size_t)(parts.path.ptr + parts.path.len - mark - 1)};
    parts.path.len = (size_t)(mark - parts.path.ptr);
  }
  if (!mend__begins_with(parts.path, prefix)) return parts;
  const mend_str rest = {parts.path.ptr + prefix.len, parts.path.len - prefix.len};
  const char *slash = memchr(rest.ptr, '/', rest.len);
  parts.faults = (mend_str){rest.ptr, slash != NULL ? (size_t)(slash - rest.ptr) : rest.len};
  parts.path = slash != NULL ? (mend_str){slash, rest.len - parts.faults.len} : MEND_STR("/");
  return parts;
}

/* ---- Which faults it has ------------------------------------------------------------------------------------ */

typedef struct choosing {
  fault_plan plan;
  mend__buffer *told; /* what was chosen, for whoever watches */
  mend_status status;
  mend_error error;
} choosing;

static void tell(choosing *to, mend_str faults) {
  if (to->told->len > 0) mend__buffer_char(to->told, ',');
  mend__buffer_str(to->told, faults);
}

static void choose(choosing *to, mend_str list) {
  if (list.len == 0 || to->status != MEND_OK) return;
  tell(to, list);
  to->status = fault_apply_list(&to->plan, list, &to->error);
}

static void choose_json(choosing *to, mend_str json) {
  if (json.len == 0 || to->status != MEND_OK) return;
  tell(to, json);
  to->status = fault_apply_json(&to->plan, json, &to->error);
}

static void choose_by_model(choosing *to, mend_str model) {
  const mend_str prefix = MEND_STR("fault:");
  if (!mend__begins_with(model, prefix)) return;
  choose(to, (mend_str){model.ptr + prefix.len, model.len - prefix.len});
}

static void choose_by_observer(choosing *to, const fault_server *server, const fault_exchange *exchange) {
  const fault_observer *observer = &server->observer;
  if (observer->faults == NULL) return;
  mend__buffer list;
  mend__buffer_init(&list, NULL);
  observer->faults(observer->ctx, exchange, &list);
  choose(to, text_of(&list));
  mend__buffer_free(&list);
}

/* Returns what is to be said: a JSON object, or absent. */
static mend_str choose_all(choosing *to, fault_server *server, const fault_exchange *exchange, const question *asked,
                           const target *where) {
  script_choice chosen = {{NULL, 0}, {NULL, 0}};
  if (server->rules != NULL) {
    const script_request about = {where->path, text_of(&asked->model), asked->key};
    chosen = script_choose(server->rules, &about);
  }
  choose(to, mend_str_from(server->faults));
  choose_by_observer(to, server, exchange);
  choose_json(to, chosen.faults);
  choose(to, where->faults);
  choose(to, http_request_field(exchange->request, "x-mend-fault"));
  choose_by_model(to, text_of(&asked->model));
  if (to->plan.reuse_reset && exchange->nth > 1) to->plan.instead = instead_reset;
  const mend_str given = http_request_field(exchange->request, "x-mend-reply");
  if (given.ptr == NULL) return chosen.reply; /* which was checked with its script */
  mend_str place;
  if (to->status == MEND_OK) to->status = given_check(given, &place, &to->error);
  return given;
}

/* A wrong fault must not pass for one that was asked for: no provider answers 418. */
enum { STATUS_OF_MISTAKES = 418 };

static void plan_reply(connection_owner *owner, fault_exchange *exchange, mend__buffer *faults, delivery *reply) {
  fault_server *server = (fault_server *)owner;
  const target where = take_apart(exchange->request->target);
  choosing chosen = {.told = faults};
  question asked;
  question_init(&asked);
  plan_init(&chosen.plan);
  asked.number = exchange->number;
  exchange->path = where.path;
  question_read(&asked, exchange->request, where.path, where.query);
  const mend_str given = choose_all(&chosen, server, exchange, &asked, &where);
  exchange->faults = text_of(faults);
  if (chosen.status == MEND_OK && question_failed(&asked)) chosen.status = MEND_ENOMEM;
  if (chosen.status == MEND_OK) chosen.status = compose(&asked, &chosen.plan, given, reply, &chosen.error);
  if (chosen.status != MEND_OK) {
    delivery_free(reply);
    delivery_init(reply);
    compose_complaint(STATUS_OF_MISTAKES, mend_error_sentence(&chosen.error, chosen.status), reply);
  }
  plan_free(&chosen.plan);
  question_free(&asked);
}

/* ---- Listening ---------------------------------------------------------------------------------------------- */

static void on_connection(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *address, int len,
                          void *ctx) {
  fault_server *server = ctx;
  (void)listener;
  (void)address;
  (void)len;
  connection_open(&server->owner, fd);
}

static mend_status listen_on(fault_server *server, struct event_base *base, unsigned port, mend_error *error) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  server->listener = evconnlistener_new_bind(base, on_connection, server, LEV_OPT_CLOSE_ON_FREE | LEV_OPT_REUSEABLE,
                                             1024, (const struct sockaddr *)&address, sizeof address);
  if (server->listener == NULL) return mend_error_set(error, MEND_EIO, "port %u: %s", port, mend__reason(errno));
  socklen_t len = sizeof address;
  if (getsockname(evconnlistener_get_fd(server->listener), (struct sockaddr *)&address, &len) != 0)
    return mend_error_set(error, MEND_EIO, "port %u: %s", port, mend__reason(errno));
  server->port = ntohs(address.sin_port);
  return MEND_OK;
}

static mend_status take_faults(fault_server *server, mend_str faults, mend_error *error) {
  if (faults.len == 0) return MEND_OK;
  fault_plan plan;
  plan_init(&plan);
  const mend_status status = fault_apply_list(&plan, faults, error);
  plan_free(&plan);
  if (status != MEND_OK) return status;
  server->faults = mend__str_copy(NULL, faults);
  return server->faults != NULL ? MEND_OK : MEND_ENOMEM;
}

mend_status fault_server_new(struct event_base *base, const fault_server_options *options, fault_server **ret_server,
                             mend_error *error) {
  fault_server *server = mend__alloc_zero(NULL, sizeof *server);
  if (server == NULL) return MEND_ENOMEM;
  server->observer = options->observer;
  server->owner = (connection_owner){.base = base, .observer = &server->observer, .plan = plan_reply};
  mend_status status = take_faults(server, options->faults, error);
  if (status == MEND_OK && options->script.ptr != NULL) status = script_new(options->script, &server->rules, error);
  if (status == MEND_OK) status = listen_on(server, base, options->port, error);
  if (status == MEND_OK) {
    *ret_server = server;
  } else {
    fault_server_free(server);
  }
  return status;
}

unsigned fault_server_port(const fault_server *server) { return server->port; }

void fault_server_free(fault_server *server) {
  if (server == NULL) return;
  if (server->listener != NULL) evconnlistener_free(server->listener);
  connection_close_all(&server->owner);
  script_free(server->rules);
  mend__free(NULL, server->faults);
  mend__free(NULL, server);
}
