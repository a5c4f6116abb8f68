// SPDX-License-Identifier: MIT
//
// Asking blocked and running work to stop.
//
// A StopSource requests the stop, its StopTokens see the request, and a StopCallback runs at the
// request. Every blocking call of the library takes a StopToken. A std::stop_token converts to one,
// so users of std::jthread need nothing from this file.
// Not for: cancelling a callback that is already running (it runs to its end).
// Concurrency: sources and tokens are handles, copied freely; several threads may use different
// handles on one state at once. A StopCallback belongs to one thread.
// Order: what came before request_stop() happens before a call that sees the request.
// Blocks: only ~StopCallback(), while its function runs on another thread. Allocates: making a
// StopSource, converting a std::stop_token. Throws: only these two, std::bad_alloc; a callback must
// not throw.
// Source: the semantics are those of the standard's [thread.stoptoken].
#pragma once

#include <stop_token>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#if !defined(__cpp_lib_jthread)
#error "no std::stop_token here: C++20 is needed, with libc++ before 20 -fexperimental-library too"
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {

namespace detail {
struct StopState;
void retain(StopState* state) noexcept;
void release(StopState* state) noexcept;
bool is_requested(const StopState& state) noexcept;
StopState* state_following(std::stop_token token);

// One of the handles that keep a state alive; null for "can never stop".
class StopRef {
 public:
  StopRef() noexcept = default;
  explicit StopRef(StopState* adopted) noexcept : state_(adopted) {}
  StopRef(const StopRef& other) noexcept : state_(other.state_) { retain(state_); }
  StopRef(StopRef&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  StopRef& operator=(StopRef other) noexcept {
    std::swap(state_, other.state_);
    return *this;
  }
  ~StopRef() { release(state_); }
  StopState* get() const noexcept { return state_; }
  bool is_requested() const noexcept {
    const bool is_so = state_ != nullptr && detail::is_requested(*state_);
    if (is_so) taken(state_);
    return is_so;
  }

 private:
  StopState* state_ = nullptr;
};
}  // namespace detail

class StopToken {
 public:
  // A token that never stops.
  StopToken() noexcept = default;

  // Follows `token`; implicit, so that a std::stop_token is welcome wherever a StopToken is.
  StopToken(std::stop_token token)  // NOLINT(google-explicit-constructor)
      : state_(detail::state_following(std::move(token))) {}

  // Whether a stop has been requested. What came before the request happens before a true.
  [[nodiscard]] bool stop_requested() const noexcept { return state_.is_requested(); }

  // False if stop_requested() can never become true: the wait need not listen.
  [[nodiscard]] bool stop_possible() const noexcept { return state_.get() != nullptr; }

 private:
  friend class StopSource;
  friend class StopCallback;
  explicit StopToken(detail::StopRef state) noexcept : state_(std::move(state)) {}

  detail::StopRef state_;
};

// Requests the stop that its tokens hear of. Throws std::bad_alloc when it is made.
class StopSource {
 public:
  StopSource();

  // A token that hears of this source.
  [[nodiscard]] StopToken token() const noexcept { return StopToken(state_); }
  // Whether a stop has been requested.
  [[nodiscard]] bool stop_requested() const noexcept { return state_.is_requested(); }

  // Runs the callbacks on this thread, one after another. True for the one call that stopped it;
  // false for a source that was moved from.
  bool request_stop() noexcept;

 private:
  detail::StopRef state_;
};

// Runs `function(argument)` once, on the thread that requests the stop, or in the constructor if
// that has happened. After the destructor it does not run and is not running (except that it may
// destroy itself from inside).
class StopCallback {
 public:
  // What runs.
  using Function = void (*)(void* argument) noexcept;

  // Registers the function, or runs it at once if the stop has been requested.
  StopCallback(StopToken token, Function function, void* argument) noexcept;
  ~StopCallback();
  StopCallback(const StopCallback&) = delete;
  StopCallback& operator=(const StopCallback&) = delete;

 private:
  friend struct detail::StopState;

  StopToken token_;
  Function function_;
  void* argument_;
  // Links and flags below are guarded by the state's mutex.
  StopCallback* next_ = nullptr;
  StopCallback* previous_ = nullptr;
  bool linked_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::sync
