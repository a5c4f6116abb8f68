// SPDX-License-Identifier: MIT
//
// What somebody else must look at to know whether a consumer that found nothing finds something
// now: a word that was so when the consumer looked. Not for users.
//
// A change of the word says no more than that the consumer should look again. So it may be of any
// age, and another process may have written anything there: at worst the consumer looks in vain.
// Concurrency: made by the consumer's thread; ready() by any thread, while the ring's memory lives.
// Blocks, allocates, throws: never.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/process/detail/shared_bell.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct RingWatch {
  SharedBell* doorbell = nullptr;  // rung after each change of the word
  const sync::atomic<std::uint64_t>* word = nullptr;
  std::uint64_t seen = 0;

  [[nodiscard]] bool ready() const noexcept {
    // order: relaxed. The bell's fences order it with the change, and the consumer looks by itself.
    return word->load(sync::order::relaxed) != seen || doorbell->closed();
  }
};

// For the alarm, and for scenarios: every consumer of a ring in shared memory has a watch().
struct RingWatching {
  template <class Consumer>
  static RingWatch of(const Consumer& consumer) noexcept {
    return consumer.watch();
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
