// SPDX-License-Identifier: MIT
//
// The places of a ring. Shared by the rings, not for users.
//
// A place is found by a position that only ever grows; the number of places is a power of two, so
// that the positions may run over the end of their type without a seam.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/queue/internal/ring_item.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/allocate.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Throws the std::length_error of RingSlots; 0 is misuse.
[[noreturn]] void refuse_capacity(std::size_t asked, std::size_t most);
// The same for a storage that is too small.
[[noreturn]] void refuse_storage(std::size_t bytes, std::size_t needed);

// Memory that a caller lends. Not a std::span, whose header is 700 lines more for all files that
// have rings.
struct LentBytes {
  std::byte* data = nullptr;
  std::size_t size = 0;
};

template <class Slot>
class RingSlots {
 public:
  // 0 places are misuse. Throws std::length_error for a number of places beyond the address space,
  // std::bad_alloc for one that is beyond the memory.
  explicit RingSlots(std::size_t at_least) : RingSlots(at_least, {}) {}
  // In the caller's storage, which lives longer; of its own if that is empty. Throws also for one
  // of fewer bytes than storage_bytes().
  RingSlots(std::size_t at_least, LentBytes storage)
      : mask_(round_up(at_least) - 1),
        lent_(storage.size != 0),
        slots_(lent_ ? fit(storage) : static_cast<Slot*>(sync::allocate(bytes(), kAlignment))) {
    std::uninitialized_default_construct_n(slots_, capacity());
  }
  ~RingSlots() {
    std::destroy_n(slots_, capacity());
    if (!lent_) sync::deallocate(slots_, bytes(), kAlignment);
  }
  RingSlots(const RingSlots&) = delete;
  RingSlots& operator=(const RingSlots&) = delete;

  // What a storage needs, wherever it begins. Throws as the constructor does.
  static constexpr std::size_t storage_bytes(std::size_t at_least) {
    return round_up(at_least) * sizeof(Slot) + alignof(Slot) - 1;
  }

  std::size_t capacity() const noexcept { return mask_ + 1; }
  Slot& operator[](std::uint64_t position) const noexcept {
    return slots_[static_cast<std::size_t>(position) & mask_];
  }

 private:
  static_assert(std::is_nothrow_default_constructible_v<Slot>);
  static_assert(std::is_nothrow_destructible_v<Slot>);

  // For memory of its own: a place of whole lines shares none with its neighbours. Batches of
  // 1024-byte items are 1.2 times as fast.
  static constexpr std::size_t kAlignment = detail::max(alignof(Slot), sync::cache_line);

  static constexpr std::size_t round_up(std::size_t at_least) {
    constexpr std::size_t most =
        std::bit_floor(std::size_t{std::numeric_limits<std::ptrdiff_t>::max()} / sizeof(Slot));
    if (at_least == 0 || at_least > most) refuse_capacity(at_least, most);
    return std::bit_ceil(at_least);
  }

  std::size_t bytes() const noexcept { return capacity() * sizeof(Slot); }

  Slot* fit(LentBytes storage) const {
    void* begin = storage.data;
    std::size_t left = storage.size;
    if (std::align(alignof(Slot), bytes(), begin, left) == nullptr) {
      refuse_storage(storage.size, storage_bytes(capacity()));
    }
    return static_cast<Slot*>(begin);
  }

  const std::size_t mask_;
  const bool lent_;
  Slot* const slots_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
