// SPDX-License-Identifier: MIT
//
// What the scenarios of rings in shared memory share: the memory, and what a parent does that
// learns of a death from the kernel.
#pragma once

#include <concepts>
#include <cstring>
#include <handoff/core/status.hpp>
#include <handoff/process/detail/ring_watch.hpp>
#include <handoff/sync/internal/allocate.hpp>

#include "explore/scenario.hpp"

namespace handoff::test {

// Memory that the processes of a scenario share.
class SharedStorage {
 public:
  explicit SharedStorage(std::size_t bytes)
      : bytes_(bytes), data_(sync::allocate(bytes, kAlignment)) {
    std::memset(data_, 0, bytes);  // as the kernel gives it
  }
  ~SharedStorage() { sync::deallocate(data_, bytes_, kAlignment); }
  SharedStorage(const SharedStorage&) = delete;
  SharedStorage& operator=(const SharedStorage&) = delete;
  [[nodiscard]] std::span<std::byte> bytes() const {
    return {static_cast<std::byte*>(data_), bytes_};
  }

 private:
  static constexpr std::size_t kAlignment = 128;
  std::size_t bytes_;
  void* data_;
};

// A ring and its memory.
template <class Ring>
struct Shared {
  explicit Shared(std::same_as<std::size_t> auto... sizes)
      : storage(Ring::bytes_for(sizes...)), ring(Ring::create(storage.bytes(), sizes...)) {}
  SharedStorage storage;
  Ring ring;
};

// Two words, so that a half-written one shows.
struct SharedItem {
  std::uint32_t number = 0;
  std::uint32_t copy = 0;
};
inline SharedItem shared_item(std::uint32_t number) { return {number, ~number}; }
inline std::uint32_t number_of(const SharedItem& item) {
  explore::check(item.copy == ~item.number, "the item is whole");
  return item.number;
}

// One item in place, in any ring: waits for room.
template <class Producer>
void claim_and_publish(Producer& out, std::uint32_t number) {
  SharedItem* place = nullptr;
  explore::check(out.claim(place) == Status::ok, "it waits for room");
  place->number = number;
  place->copy = ~number;
  explore::check(out.publish() == Status::ok, "it is claimed, and the ring is open");
}

// The next item in place is this one, and nothing that was dropped before it.
template <class Consumer>
void peek_and_release(Consumer& in, std::uint32_t number) {
  const SharedItem* item = nullptr;
  explore::check(in.peek(item) == Status::ok, "it waits for an item");
  explore::check(number_of(*item) == number, "in order");
  in.release();
}

// Takes all until the ring is closed, and sleeps as an alarm's thread does; how many came, in order
// from 1 on.
template <class Consumer, class Item>
std::uint32_t take_all_by_watch(Consumer& in, Item item) {
  std::uint32_t count = 0;
  for (;;) {
    Status said = Status::ok;
    while ((said = in.try_pop(item)) == Status::ok) {
      explore::check(number_of(item) == ++count, "in order");
    }
    if (said == Status::closed) return count;
    const detail::RingWatch watch = detail::RingWatching::of(in);
    const Status woken =
        watch.doorbell->await([&] { return watch.ready(); }, {}, detail::BellSleepers::many);
    explore::check(woken == Status::ok, "there is no other end of it");
  }
}

}  // namespace handoff::test
