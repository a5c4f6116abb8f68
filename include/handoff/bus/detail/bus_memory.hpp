// SPDX-License-Identifier: MIT
//
// Where the places of a bus lie: memory of its own, or lent by its user; and what it says of
// options that make no bus. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <handoff/bus/admission.hpp>
#include <handoff/bus/detail/message_ring.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/on_full.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class BusMemory {
 public:
  // Throws std::bad_alloc.
  BusMemory(std::size_t bytes, std::size_t alignment);
  // In what is lent; too little of it is misuse.
  BusMemory(std::size_t bytes, std::size_t alignment, std::span<std::byte> lent);
  ~BusMemory();
  BusMemory(const BusMemory&) = delete;
  BusMemory& operator=(const BusMemory&) = delete;

  std::byte* begin() const noexcept { return begin_; }

 private:
  std::byte* begin_;
  std::size_t owned_;  // bytes; 0: lent
  std::size_t alignment_;
};

// The number of places of a ring, if there are to be `rings` of them with `bytes_each` a place.
// Throws the std::length_error of rings; a capacity of 0 is misuse.
std::size_t places_for(std::size_t capacity, std::size_t rings, std::size_t bytes_each);

// Slots of all rings, then the rings, then which lanes are taken.
template <class Slot, class Ring>
struct BusLayout {
  static constexpr std::size_t kAlignment =
      detail::max(alignof(Slot), sync::destructive_span, alignof(Ring));

  BusLayout(std::size_t capacity, std::size_t how_many) : rings(how_many) {
    constexpr std::size_t spare = 2 * kAlignment;  // what the rounding up may take
    places = places_for(capacity, rings, sizeof(Slot) + sizeof(Ring) + spare);
    ring_bytes = round_up(places * sizeof(Slot));
    rings_at = ring_bytes * rings;
    bytes = rings_at + sizeof(Ring) * rings + sizeof(sync::atomic<bool>) * rings;
  }
  static constexpr std::size_t round_up(std::size_t bytes) noexcept {
    return (bytes + kAlignment - 1) / kAlignment * kAlignment;
  }

  std::size_t rings;
  std::size_t places = 0;  // of each
  std::size_t ring_bytes = 0;
  std::size_t rings_at = 0;
  std::size_t bytes = 0;
};

// Misuse for more than 100 percent.
AdmissionLimits limits_for(std::size_t capacity, const Reserve& reserve);

// Whether producers wait for room. Misuse for what is neither that nor a refusal.
bool waits_when_full(OnFull on_full);

}}}  // namespace handoff::HANDOFF_ABI::detail
