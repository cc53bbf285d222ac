#include "core/options_size.h"
#include "fallback/chain_internal.h"

static uint64_t now_ns(const mend__chain *chain) { return mend_clock_now(mend_loop_clock(chain->loop)).mono_ns; }

/* ---- Lanes: locked ---- */

static bool lane_lets(const mend__lane *lane, uint64_t now) {
  for (size_t i = 0; i < MEND__SCOPES; i++) {
    if (!mend__breaker_lets(lane->breakers[i], now)) return false;
  }
  return true;
}

/* When the last of its cool-downs ends; 0: there is none. */
static uint64_t lane_until(const mend__lane *lane) {
  uint64_t until = 0;
  for (size_t i = 0; i < MEND__SCOPES; i++) {
    const mend__breaker *breaker = lane->breakers[i];
    if (breaker->state != MEND_BREAKER_CLOSED && breaker->until_ns > until) until = breaker->until_ns;
  }
  return until;
}

static bool lane_is_parked(const mend__lane *lane) {
  for (size_t i = 0; i < MEND__SCOPES; i++) {
    if (lane->breakers[i]->parked) return true;
  }
  return false;
}

static void enter_lane(mend__chain *chain, size_t index, uint64_t now, mend__entry *entry) {
  const mend__lane *lane = &chain->lanes[index];
  entry->lane = index;
  entry->age = chain->age;
  for (size_t i = 0; i < MEND__SCOPES; i++)
    entry->passes[i] = mend__breaker_enter(lane->breakers[i], now);
  chain->targets[lane->target].requests++;
}

/* ---- Who is next: locked. lane_count: nobody ---- */

static bool may_be_asked(const mend__chain *chain, const mend__search *search, size_t index) {
  const mend__target *target = &chain->targets[chain->lanes[index].target];
  return (search->tried == NULL || !search->tried[index]) &&
         (search->above_window == 0 || target->facts.context_tokens > search->above_window);
}

/* Targets come in the order they were given: the first that works is the one to ask, and one whose cool-down has
 * ended is tried by one request before those behind it. */
static size_t first_that_works(const mend__chain *chain, const mend__search *search, uint64_t now) {
  size_t last_choice = chain->lane_count;
  for (size_t i = 0; i < chain->lane_count; i++) {
    if (!may_be_asked(chain, search, i) || !lane_lets(&chain->lanes[i], now)) continue;
    if (chain->lanes[i].target != search->last_choice) return i;
    if (last_choice == chain->lane_count) last_choice = i;
  }
  return last_choice;
}

/* Rather than nobody. What is parked would fail for sure, and is only asked when there is nothing else at all. */
static size_t first_to_cool_down(const mend__chain *chain, const mend__search *search, bool parked) {
  size_t found = chain->lane_count;
  for (size_t i = 0; i < chain->lane_count; i++) {
    const mend__lane *lane = &chain->lanes[i];
    if (!may_be_asked(chain, search, i) || lane_is_parked(lane) != parked) continue;
    if (found == chain->lane_count || lane_until(lane) < lane_until(&chain->lanes[found])) found = i;
  }
  return found;
}

static size_t next_resilient(const mend__chain *chain, const mend__search *search, uint64_t now) {
  size_t found = first_that_works(chain, search, now);
  if (found == chain->lane_count) found = first_to_cool_down(chain, search, false);
  if (found == chain->lane_count && search->is_first) found = first_to_cool_down(chain, search, true);
  return found;
}

/* After every target has failed: the first whose cool-down has ended, else the one whose ends first. */
static size_t restart(const mend__chain *chain, uint64_t now) {
  size_t found = 0;
  for (size_t i = 0; i < chain->target_count; i++) {
    const mend__lane *lane = &chain->lanes[chain->targets[i].first_lane];
    if (lane_until(lane) <= now) return i;
    if (lane_until(lane) < lane_until(&chain->lanes[chain->targets[found].first_lane])) found = i;
  }
  return found;
}

static void move_to(mend__chain *chain, size_t target) {
  if (chain->current == target) return;
  chain->current = target;
  chain->age++;
}

/* What others have gone past meanwhile is not tried, unless they have gone past everything. */
static size_t next_seed(mend__chain *chain, const mend__search *search, uint64_t now) {
  size_t target = search->from;
  if (search->is_first) {
    if (chain->current == chain->target_count) move_to(chain, restart(chain, now));
    target = chain->current;
  } else if (chain->current > target && chain->current < chain->target_count) {
    target = chain->current;
  }
  return target < chain->target_count ? chain->targets[target].first_lane : chain->lane_count;
}

/* ---- For walks ---- */

bool mend__chain_enter(mend__chain *chain, const mend__search *search, mend__entry *ret_entry) {
  const uint64_t now = now_ns(chain);
  pthread_mutex_lock(&chain->lock);
  const size_t next =
      chain->profile == MEND_FALLBACK_SEED ? next_seed(chain, search, now) : next_resilient(chain, search, now);
  if (next < chain->lane_count) enter_lane(chain, next, now, ret_entry);
  pthread_mutex_unlock(&chain->lock);
  return next < chain->lane_count;
}

void mend__chain_reenter(mend__chain *chain, mend__entry *entry) {
  const uint64_t now = now_ns(chain);
  pthread_mutex_lock(&chain->lock);
  enter_lane(chain, entry->lane, now, entry);
  pthread_mutex_unlock(&chain->lock);
}

bool mend__chain_has_other(mend__chain *chain, const mend__search *search) {
  const uint64_t now = now_ns(chain);
  pthread_mutex_lock(&chain->lock);
  const bool has = first_that_works(chain, search, now) < chain->lane_count;
  pthread_mutex_unlock(&chain->lock);
  return has;
}

bool mend__chain_succeed(mend__chain *chain, const mend__entry *entry) {
  const mend__lane *lane = &chain->lanes[entry->lane];
  bool recovered = false;
  pthread_mutex_lock(&chain->lock);
  for (size_t i = 0; i < MEND__SCOPES; i++)
    recovered |= mend__breaker_succeed(lane->breakers[i], entry->passes[i]);
  pthread_mutex_unlock(&chain->lock);
  return recovered;
}

static mend__scope scope_of(const char *name) {
  if (strcmp(name, "provider") == 0) return MEND__SCOPE_PROVIDER;
  if (strcmp(name, "key") == 0) return MEND__SCOPE_KEY;
  return strcmp(name, "key+model") == 0 ? MEND__SCOPE_KEY_AND_MODEL : MEND__SCOPE_MODEL;
}

/* From 0 to 1 (splitmix64). */
static double random_part(mend__chain *chain) {
  uint64_t value = chain->random += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return (double)((value ^ (value >> 31)) >> 11) / 9007199254740992.0;
}

bool mend__chain_fail(mend__chain *chain, const mend__entry *entry, const mend_failure_class *class,
                      double retry_after_s) {
  const mend__lane *lane = &chain->lanes[entry->lane];
  const size_t scope = scope_of(class->scope);
  const uint64_t now = now_ns(chain);
  bool opened = false;
  pthread_mutex_lock(&chain->lock);
  const mend__cool_down cool_down = {.first_s = class->cool_down_s,
                                     .max_s = class->cool_down_max_s,
                                     .retry_after_s = retry_after_s,
                                     .parks = class->parks,
                                     .jitter = random_part(chain)};
  for (size_t i = 0; i < MEND__SCOPES; i++) {
    if (i == scope) {
      opened = mend__breaker_fail(lane->breakers[i], entry->passes[i], &cool_down, now);
    } else {
      mend__breaker_leave(lane->breakers[i], entry->passes[i]);
    }
  }
  chain->targets[lane->target].failures++;
  pthread_mutex_unlock(&chain->lock);
  return opened;
}

void mend__chain_leave(mend__chain *chain, const mend__entry *entry) {
  const mend__lane *lane = &chain->lanes[entry->lane];
  pthread_mutex_lock(&chain->lock);
  for (size_t i = 0; i < MEND__SCOPES; i++)
    mend__breaker_leave(lane->breakers[i], entry->passes[i]);
  pthread_mutex_unlock(&chain->lock);
}

void mend__chain_advance(mend__chain *chain, const mend__entry *entry) {
  const size_t target = chain->lanes[entry->lane].target;
  pthread_mutex_lock(&chain->lock);
  if (chain->current == target && chain->age == entry->age) move_to(chain, target + 1);
  pthread_mutex_unlock(&chain->lock);
}

/* ---- For people ---- */

/* Where a new request would go: locked. */
static size_t current_target(const mend__chain *chain, uint64_t now) {
  if (chain->profile == MEND_FALLBACK_SEED) {
    return chain->current < chain->target_count ? chain->current : restart(chain, now);
  }
  const mend__search any = {.is_first = true, .last_choice = chain->target_count};
  return chain->lanes[next_resilient(chain, &any, now)].target;
}

/* The lane by which a target is best off. */
static const mend__lane *best_lane(const mend__chain *chain, const mend__target *target) {
  const mend__lane *best = &chain->lanes[target->first_lane];
  for (size_t i = 1; i < target->lane_count; i++) {
    if (lane_until(best) > lane_until(&chain->lanes[target->first_lane + i])) {
      best = &chain->lanes[target->first_lane + i];
    }
  }
  return best;
}

static mend_breaker lane_state(const mend__lane *lane) {
  mend_breaker state = MEND_BREAKER_CLOSED;
  for (size_t i = 0; i < MEND__SCOPES; i++) {
    if (lane->breakers[i]->state == MEND_BREAKER_OPEN) return MEND_BREAKER_OPEN;
    if (lane->breakers[i]->state == MEND_BREAKER_HALF_OPEN) state = MEND_BREAKER_HALF_OPEN;
  }
  return state;
}

void mend__chain_state(mend__chain *chain, size_t index, mend_target_state *ret_state) {
  const mend__target *target = &chain->targets[index];
  const uint64_t now = now_ns(chain);
  mend_target_state state = {.size = sizeof state, .model = target->name};
  pthread_mutex_lock(&chain->lock);
  const mend__lane *lane = best_lane(chain, target);
  const uint64_t until = lane_until(lane);
  state.breaker = lane_state(lane);
  state.cool_down_s = until > now ? (double)(until - now) / (double)MEND_SECOND_NS : 0;
  state.parked = lane_is_parked(lane);
  state.current = current_target(chain, now) == index;
  state.requests = target->requests;
  state.failures = target->failures;
  pthread_mutex_unlock(&chain->lock);
  mend__options_give(ret_state, &state);
}
