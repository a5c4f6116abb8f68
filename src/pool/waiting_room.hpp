// SPDX-License-Identifier: MIT
//
// How many tasks may wait to begin in a pool with a capacity: its free places, and the threads that
// wait for one.
//
// Concurrency: anybody. Blocks: await(). Allocates, throws: never.
// Proof: docs/design/thread_pool.md.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/capacity.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/take_one.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class WaitingRoom {
 public:
  explicit WaitingRoom(std::size_t capacity) noexcept
      : capacity_(capacity == unbounded
                      ? 0
                      : static_cast<std::int64_t>(detail::min<std::uint64_t>(capacity, INT64_MAX))),
        places_(capacity_) {}

  // False: there is always room.
  bool is_bounded() const noexcept { return capacity_ != 0; }

  // Takes a place of a pool with a capacity; false if there is none.
  bool take() noexcept { return take_one(places_) != 0; }

  // Takes one that need not be there: the number of free places may become negative.
  void take_in_advance() noexcept {
    if (!is_bounded()) return;
    places_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, a number
  }

  // `count` tasks have left the queue, or did not come.
  void give_back(std::size_t count) noexcept {
    if (is_bounded()) [[unlikely]]
      give_places(count);
  }

  // Until there is a place, which somebody else may take, or `closed()`.
  template <class Closed>
  void await(Closed&& closed) noexcept {
    const auto found = [this, &closed]() noexcept {
      // order: relaxed, the place is taken by a read-modify-write.
      return places_.load(sync::order::relaxed) > 0 || closed();
    };
    (void)freed_.await(found, sync::no_deadline, {}, sync::spin_policy(), "full");
  }

  // A waiting thread looks whether it is closed.
  void tell_closed() noexcept { freed_.notify_all(); }

 private:
  template <class>
  friend struct Books;

  void give_places(std::size_t count) noexcept {
    // order: relaxed, a number
    places_.fetch_add(static_cast<std::int64_t>(count), sync::order::relaxed);
    freed_.notify_some(static_cast<std::uint32_t>(count));
  }

  const std::int64_t capacity_;  // 0: no bound
  sync::atomic<std::int64_t> places_;  // free ones
  sync::EventCount freed_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
