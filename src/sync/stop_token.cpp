// SPDX-License-Identifier: MIT
//
// The state behind StopSource, StopToken and StopCallback.
//
// Invariants, all under `mutex` except where an atomic is named:
//   ST-1  A callback is linked, or running (running == it), or finished; never two of these.
//   ST-2  Once `requested` is set no callback is linked any more by anyone: link() sees it under
//         the mutex. So request_stop() empties the list and every callback runs exactly once.
//   ST-3  ~StopCallback returns only when its callback is neither linked nor running elsewhere.
#include <optional>

#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/park.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>

#include "internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
namespace detail {

struct StopState {
  // Forwards the stop of a foreign token.
  struct Follow {
    StopState* state;
    void operator()() const noexcept { state->request_stop(); }
  };

  bool request_stop() noexcept;
  bool link(StopCallback& callback) noexcept;
  void unlink(StopCallback& callback) noexcept;
  void run_first(StopCallback& callback) noexcept;

  atomic<std::uint32_t> references{1};
  atomic<bool> requested{false};
  // Counts finished callbacks, so that a destructor can sleep until its own is among them.
  atomic<std::uint32_t> finished{0};
  Mutex mutex;
  StopCallback* first = nullptr;
  StopCallback* running = nullptr;
  ThreadId runner = nullptr;
  // Last, so that it is gone before anything it would touch.
  std::optional<std::stop_callback<Follow>> following;
};

void retain(StopState* state) noexcept {
  // order: relaxed, the caller holds a reference and so keeps the state alive.
  if (state != nullptr) state->references.fetch_add(1, order::relaxed);
}

void release(StopState* state) noexcept {
  // order: acq_rel, every use through other handles happens before the delete of the last one.
  if (state == nullptr || state->references.fetch_sub(1, order::acq_rel) != 1) return;
  const MadeForAll unseen;  // as in state_following()
  delete state;
}

bool is_requested(const StopState& state) noexcept {
  return state.requested.load(order::acquire);  // order: acquire pairs with request_stop()
}

StopState* state_following(std::stop_token token) {
  if (!token.stop_possible()) return nullptr;
  const MadeForAll unseen;  // a link of the standard's list, which the stopper's own code walks
  StopRef state{new StopState};
  // equivalent(swap): the state is held all the while; a stop in between drops no handle of it
  state.get()->following.emplace(std::move(token), StopState::Follow{state.get()});
  retain(state.get());
  return state.get();
}

bool StopState::request_stop() noexcept {
  tell_given(this);
  // order: release pairs with the acquire in is_requested(): what the stopper did before is seen.
  if (requested.exchange(true, order::release)) return false;
  // equivalent(swap): runner is read only while a callback runs, which it begins to under the
  // mutex, later
  mutex.lock();
  runner = this_thread_id();
  while (first != nullptr) run_first(*first);
  mutex.unlock();
  return true;
}

// Called with the mutex held; lets go of it while the user's function runs.
void StopState::run_first(StopCallback& callback) noexcept {
  unlink(callback);  // equivalent(swap): different members, both under the mutex
  running = &callback;
  const auto function = callback.function_;
  void* const argument = callback.argument_;
  mutex.unlock();
  tell_taken(&callback);
  function(argument);  // `callback` may be gone from here on: it may destroy itself
  tell_given(end_of(&callback));
  mutex.lock();
  running = nullptr;
  // order: relaxed, only counts; what the function did is published by the mutex.
  finished.fetch_add(1, order::relaxed);
  unpark(finished, ~0U, ParkScope::process);
}

// False if the stop has been requested: the caller runs the function itself.
bool StopState::link(StopCallback& callback) noexcept {
  const Lock lock(mutex);
  tell_given(&callback);
  // order: relaxed, under the mutex; a stopper sets it before it takes the mutex, so either it is
  // seen here, or the stopper will see this callback linked (ST-2).
  if (requested.load(order::relaxed)) return false;
  callback.next_ = first;
  if (first != nullptr) first->previous_ = &callback;
  first = &callback;
  callback.linked_ = true;
  return true;
}

void StopState::unlink(StopCallback& callback) noexcept {
  if (callback.next_ != nullptr) callback.next_->previous_ = callback.previous_;
  // equivalent(swap): different members, all under the mutex
  (callback.previous_ != nullptr ? callback.previous_->next_ : first) = callback.next_;
  callback.linked_ = false;
}

}  // namespace detail

StopSource::StopSource() : state_(new detail::StopState) {}

bool StopSource::request_stop() noexcept {
  // A callback may drop the last other handle: this one must outlive the call.
  const detail::StopRef keep = state_;
  return keep.get() != nullptr && keep.get()->request_stop();
}

StopCallback::StopCallback(StopToken token, Function function, void* argument) noexcept
    : token_(std::move(token)), function_(function), argument_(argument) {
  detail::StopState* const state = token_.state_.get();
  if (state != nullptr && !state->link(*this)) {
    (void)token_.stop_requested();  // acquires: what came before the stop is visible below
    tell_taken(state);
    function_(argument_);
  }
}

StopCallback::~StopCallback() {
  detail::StopState* const state = token_.state_.get();
  if (state == nullptr) return;
  for (;;) {
    std::uint32_t round = 0;
    {
      const Lock lock(state->mutex);
      if (linked_) {
        state->unlink(*this);
        return;
      }
      tell_taken(end_of(this));
      if (state->running != this || state->runner == this_thread_id()) return;
      // order: relaxed, read under the mutex that orders it with run_first().
      round = state->finished.load(order::relaxed);
    }
    const probe::Slice asleep(probe::Kind::sleep, "wait");
    park(state->finished, round, no_deadline, ParkScope::process);
  }
}

}}}  // namespace handoff::HANDOFF_ABI::sync
