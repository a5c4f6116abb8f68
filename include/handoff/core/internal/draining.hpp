// SPDX-License-Identifier: MIT
//
// Which queues this thread drains: a push that a visitor makes to the same queue does not wait for
// room, which perhaps only that drain could make. Not for users.
//
//   const Draining draining(this);                   // in consume(): while visitors run
//   if (Draining::is_here(this)) return full;        // in push(): before it would wait
//
// Concurrency: a thread's own. Blocks, allocates, throws: never.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class Draining;
}
namespace sync {
HANDOFF_THREAD_SLOT(const handoff::detail::Draining*, handoff::detail::Draining);
}

namespace detail {

class Draining {
 public:
  explicit Draining(const void* queue) noexcept
      : queue_(queue), outer_(std::exchange(innermost(), this)) {}
  ~Draining() { innermost() = outer_; }
  Draining(const Draining&) = delete;
  Draining& operator=(const Draining&) = delete;

  static bool is_here(const void* queue) noexcept {
    const Draining* at = innermost();
    while (at != nullptr && at->queue_ != queue) at = at->outer_;
    return at != nullptr;
  }

 private:
  static const Draining*& innermost() noexcept {
    return sync::thread_slot<const Draining*, Draining>::get();
  }

  const void* const queue_;
  const Draining* const outer_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
