#include "core/memory.h"
#include "loop/loop_internal.h"
#include "loop/room.h"

#include <event2/event.h>

typedef struct readiness {
  const mend__descriptor *descriptor;
  short events;
} readiness;

static void call_ready(void *ctx) {
  const readiness *now = ctx;
  const mend__descriptor *descriptor = now->descriptor;
  descriptor->ready(descriptor->ctx, descriptor->fd, (now->events & EV_READ) != 0, (now->events & EV_WRITE) != 0);
}

static void on_ready(evutil_socket_t fd, short events, void *ctx) {
  (void)fd;
  const mend__descriptor *descriptor = ctx;
  readiness now = {descriptor, events};
  mend__loop_turn_here(descriptor->loop, call_ready, &now);
}

static short events_of(bool reads, bool writes) { return (short)((reads ? EV_READ : 0) | (writes ? EV_WRITE : 0)); }

static void set_wanted(mend__descriptor *descriptor, short wanted) {
  pthread_mutex_lock(&descriptor->loop->lock);
  descriptor->wanted = wanted;
  pthread_mutex_unlock(&descriptor->loop->lock);
}

mend_status mend__descriptor_want(mend__descriptor *descriptor, bool reads, bool writes) {
  const short wanted = events_of(reads, writes);
  if (wanted == descriptor->wanted) return MEND_OK;
  event_del(descriptor->event);
  set_wanted(descriptor, 0);
  if (wanted == 0) return MEND_OK;
  event_assign(descriptor->event, descriptor->loop->base, descriptor->fd, (short)(wanted | EV_PERSIST), on_ready,
               descriptor);
  if (event_add(descriptor->event, NULL) != 0) return MEND_EIO;
  set_wanted(descriptor, wanted);
  return MEND_OK;
}

static void link_descriptor(mend__descriptor *descriptor) {
  mend_loop *loop = descriptor->loop;
  pthread_mutex_lock(&loop->lock);
  descriptor->next = loop->first_descriptor;
  descriptor->link = &loop->first_descriptor;
  if (descriptor->next != NULL) descriptor->next->link = &descriptor->next;
  loop->first_descriptor = descriptor;
  pthread_mutex_unlock(&loop->lock);
}

static void unlink_descriptor(mend__descriptor *descriptor) {
  pthread_mutex_lock(&descriptor->loop->lock);
  *descriptor->link = descriptor->next;
  if (descriptor->next != NULL) descriptor->next->link = descriptor->link;
  pthread_mutex_unlock(&descriptor->loop->lock);
}

mend_status mend__loop_watch(mend_loop *loop, int fd, const char *use, bool reads, bool writes, mend__ready ready,
                             void *ctx, mend__descriptor **ret_descriptor) {
  mend__descriptor *descriptor = mend__alloc(loop->allocator, sizeof *descriptor);
  if (descriptor == NULL) return MEND_ENOMEM;
  *descriptor = (mend__descriptor){.loop = loop, .fd = fd, .use = use, .ready = ready, .ctx = ctx};
  descriptor->since_ns = mend_clock_now(loop->clock).mono_ns;
  link_descriptor(descriptor);
  descriptor->event = event_new(loop->base, fd, EV_PERSIST, on_ready, descriptor);
  mend_status status = descriptor->event != NULL ? MEND_OK : MEND_ENOMEM;
  if (status == MEND_OK) status = mend__descriptor_want(descriptor, reads, writes);
  if (status != MEND_OK) {
    mend__descriptor_unwatch(&descriptor);
    return status;
  }
  *ret_descriptor = descriptor;
  return MEND_OK;
}

void mend__descriptor_unwatch(mend__descriptor **given) {
  mend__descriptor *descriptor = *given;
  if (descriptor == NULL) return;
  *given = NULL;
  unlink_descriptor(descriptor);
  if (descriptor->event != NULL) event_free(descriptor->event);
  mend__free(descriptor->loop->allocator, descriptor);
}
