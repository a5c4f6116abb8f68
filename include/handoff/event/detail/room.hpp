// SPDX-License-Identifier: MIT
//
// How many events a bounded queue may still take, and what it does beyond. Not for: users.
//
// Concurrency: any thread. What was done before a place was given comes before its taking.
// Blocks: wait().
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/take_one.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/core/until.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Room {
 public:
  Room(std::size_t capacity, OnFull on_full) noexcept
      : capacity_(capacity),
        on_full_(on_full),
        left_(static_cast<std::int64_t>(detail::min(capacity, std::size_t{PTRDIFF_MAX}))) {}

  std::size_t capacity() const noexcept { return capacity_; }
  OnFull on_full() const noexcept { return on_full_; }

  bool take() noexcept { return take_one(left_) != 0; }
  void give(std::uint32_t count) noexcept {
    left_.fetch_add(count, sync::order::release);  // order: release pairs with take_one()
    given_.notify_some(count);
  }
  // One more than there are, by a thread that is about to give it back.
  void overdraw() noexcept {
    left_.fetch_sub(1, sync::order::relaxed);  // order: relaxed, a number; nothing was freed
  }
  // Until `found()` is true, which may have taken; or why not.
  template <class Found>
  sync::Wakeup wait(const Found& found, const Until& until) {
    return given_.await(found, until.deadline(), until.stop_token(), sync::spin_policy(), "full");
  }
  // All waiting threads look again.
  void tell() noexcept { given_.notify_all(); }

 private:
  template <class>
  friend struct Books;

  const std::size_t capacity_;
  const OnFull on_full_;
  sync::atomic<std::int64_t> left_;
  sync::EventCount given_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
