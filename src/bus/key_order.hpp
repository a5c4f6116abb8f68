// SPDX-License-Identifier: MIT
//
// Messages of one key, one after the other: which keys are being run, and what waits behind them.
//
// The thread that brings a message to a key that nobody runs is its runner, or hands that on. When
// the runner has done what it has, it gets what came meanwhile, some messages at once, or the key
// is free again. So the lock of a key is taken once when a message comes, and once for several that
// are run. Keys are told apart exactly: only the locks are shared by those that fall on the same
// stripe.
//
// Invariants
//   KO-1  A key with a message that is not done has one runner, and one carrier: the last of the
//         messages that the runner has. What waits hangs on the carrier.
//   KO-2  A carrier stands in the list of its stripe.
//
// Concurrency: anybody; next() by the runner of the key.
// Order: messages of one key get to its runners in the order in which they entered. What a runner
// did before next() happens before what the runner of the next messages does.
// Blocks: for a few instructions of others. Allocates: the constructor. Throws: the constructor.
// Proof: docs/design/message_workers.md.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <handoff/bus/detail/message_node.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class KeyOrder {
 public:
#if defined(HANDOFF_EXPLORE)
  static constexpr std::size_t stripes_most = 1;
  static constexpr std::size_t batch_most = 2;
#else
  // One for each message there may be, so that hardly any two keys share one; a megabyte at most.
  static constexpr std::size_t stripes_most = std::size_t{1} << 16;
  // Messages that a runner gets at once: enough to share the cost of a hand-over, few enough that
  // other keys get their turn.
  static constexpr std::size_t batch_most = 16;
#endif

  // `capacity`: messages that may be under way.
  explicit KeyOrder(std::size_t capacity)
      : stripes_(std::bit_ceil(detail::min(capacity, stripes_most))),
        stripe_(std::make_unique<Stripe[]>(stripes_)) {}

  // True: the caller is the runner of the key, and this message is what it has.
  bool enter(MessageNode& node) noexcept {
    Stripe& stripe = stripe_of(node.key);
    node.next = nullptr;
    const sync::Lock lock(stripe.mutex);
    MessageNode* carrier = stripe.first;
    while (carrier != nullptr && carrier->key != node.key) carrier = carrier->next_key;
    if (carrier == nullptr) {
      node.waiting_first = nullptr;
      node.next_key = stripe.first;
      stripe.first = &node;
      return true;
    }
    if (carrier->waiting_first == nullptr) {
      carrier->waiting_first = &node;
    } else {
      carrier->waiting_last->next = &node;
    }
    carrier->waiting_last = &node;
    return false;
  }

  // All the runner had is done, but for the end of the last one. What it has to do next, linked by
  // `next`; null: the key is free.
  MessageNode* next(MessageNode& carrier) noexcept {
    Stripe& stripe = stripe_of(carrier.key);
    const sync::Lock lock(stripe.mutex);
    MessageNode** link = &stripe.first;
    while (*link != &carrier) link = &(*link)->next_key;
    MessageNode* const first = carrier.waiting_first;
    if (first == nullptr) {
      *link = carrier.next_key;
      return nullptr;
    }
    MessageNode* last = first;
    // equivalent(bound delete negate): only speed: how many a runner gets at once
    for (std::size_t i = 1; i < batch_most && last->next != nullptr; ++i) last = last->next;
    last->waiting_first = last->next;
    last->waiting_last = carrier.waiting_last;
    last->next = nullptr;
    last->next_key = carrier.next_key;
    *link = last;
    return first;
  }

  // The same for messages of one key.
  const void* turn_of(const MessageNode& node) const noexcept { return &stripe_of(node.key); }

 private:
  template <class>
  friend struct Books;

  struct Stripe {
    sync::Mutex mutex;
    MessageNode* first = nullptr;  // carriers
  };

  // Keys are often small numbers, or addresses: all their bits decide.
  Stripe& stripe_of(std::uint64_t key) const noexcept {
    // equivalent(swap): only speed: which keys share a lock
    // equivalent(delete) all: only speed: which keys share a lock
    key ^= key >> 32;
    key *= 0x9E3779B97F4A7C15ULL;  // 2^64 by the golden ratio
    return stripe_[static_cast<std::size_t>(key >> 32) & (stripes_ - 1)];
  }

  const std::size_t stripes_;
  const std::unique_ptr<Stripe[]> stripe_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
