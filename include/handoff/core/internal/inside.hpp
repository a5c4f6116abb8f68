// SPDX-License-Identifier: MIT
//
// How deep a thread is in functions that the library calls inside each other, and a bound on it.
// Not for users.
//
// The thread that makes a result calls what follows it; the thread that hands over a task runs it
// if a full pool refuses it. Either may make the next result, or hand over the next task: a chain
// of a million must not need a stack of a million. So each of these calls is an Inside. Where they
// are deep, a task goes into the queue beyond the capacity, and what follows a result is put off:
// it is called when the innermost call has ended, or before the thread waits.
//
// Concurrency: a thread's own. Blocks, allocates, throws: never.
#pragma once

#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/stack.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class Inside;
}
namespace sync {
HANDOFF_THREAD_SLOT(handoff::detail::Inside*, handoff::detail::Inside);
}

namespace detail {

class FutureState;

class Inside {
 public:
  // The most calls inside each other.
#if defined(HANDOFF_EXPLORE)
  static constexpr std::uint32_t most = 2;  // a model has few steps
#else
  static constexpr std::uint32_t most = 16;
#endif

  // A call, as long as this lives. Its end calls what was put off in it.
  Inside() noexcept
      : outer_(std::exchange(innermost(), this)),
        depth_(outer_ == nullptr ? 1 : outer_->depth_ + 1) {}
  ~Inside() {
    call_put_off();
    innermost() = outer_;
  }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;

  // The calling thread's latest; null: none.
  static Inside*& innermost() noexcept { return sync::thread_slot<Inside*, Inside>::get(); }

  // Whether one call more would be one too many.
  static bool is_deep() noexcept {
    const Inside* const here = innermost();
    return (here != nullptr && here->depth_ >= most) || sync::stack_is_short();
  }

  // Whether what follows a result has to be put off; then there is an innermost call.
  static bool must_put_off() noexcept { return innermost() != nullptr && is_deep(); }
  // What follows this state's result is called later.
  void put_off(FutureState& state) noexcept;
  void call_put_off() noexcept;

  // The thread waits, or runs what it waits for, as long as this lives: calls what was put off, as
  // somebody may wait for that, and begins anew.
  class Pause {
   public:
    Pause() noexcept : before_(innermost()) {
      if (before_ != nullptr) [[unlikely]]
        begin();
    }
    // Whether anything may have been called.
    bool has_called() const noexcept { return before_ != nullptr; }
    ~Pause() {
      if (before_ != nullptr) [[unlikely]]
        innermost() = before_;
    }
    Pause(const Pause&) = delete;
    Pause& operator=(const Pause&) = delete;

   private:
    void begin() noexcept;

    Inside* const before_;
  };

 private:
  Inside* const outer_;
  const std::uint32_t depth_;
  FutureState* first_ = nullptr;  // put off, the oldest first
  FutureState* last_ = nullptr;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
