// SPDX-License-Identifier: MIT
//
// A number for a thread that no other thread is ever given, and whether that thread has ended.
//
// For: EventChunks, which leaves things to a thread alone until it has ended; ThreadSpaces, which
// has something for each. Not for: users.
// Concurrency: any thread. Blocks, throws: never. Allocates: enroll(), once a thread, what the
// language's runtime needs to know of the thread's end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>
#include <handoff/sync/internal/thread_slot.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
class LoneThread;
}
namespace sync {
HANDOFF_THREAD_SLOT(std::uint64_t, handoff::detail::LoneThread);
}

namespace detail {

class LoneThread {
 public:
  // This thread's; 0 until enroll(), and when it has ended.
  static std::uint64_t& number() noexcept {
    return sync::thread_slot<std::uint64_t, LoneThread>::get();
  }

  // Gives this thread a number. False if it is ending, or as many as there may be have one.
  static bool enroll() noexcept;

  // The most threads that have a number at a time. Each of them has a place of its own, which the
  // next thread gets that comes after its end.
  static constexpr std::size_t kMost = 256;
  static std::size_t place() noexcept { return number() % kMost; }

  // What is no thread's number, not even of one that has none yet.
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0};

  // Whether the thread of this number has ended, or is nobody. Then what it did happens before.
  static bool ended(std::uint64_t number) noexcept {
    const Living& now = living_[number % kMost];
    // order: acquire pairs with the release in ~LoneThread(), or with a later thread's, which has
    // acquired that one.
    const bool has_ended = now.number.load(sync::order::acquire) != number;
    if (has_ended) sync::taken(&now);
    return has_ended;
  }

  LoneThread() noexcept = default;
  ~LoneThread();
  LoneThread(const LoneThread&) = delete;
  LoneThread& operator=(const LoneThread&) = delete;

 private:
  template <class>
  friend struct Books;

  struct Living {
    sync::atomic<std::uint64_t> number{0};  // 0: the place is free
  };
  static std::array<Living, kMost> living_;
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI
