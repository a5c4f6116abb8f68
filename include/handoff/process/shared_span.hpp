// SPDX-License-Identifier: MIT
//
// Elements that lie in shared memory, named so that each process finds them: a plain value to be
// copied, sent, or put into shared memory itself.
//
//   struct Rows {
//     handoff::SharedSpan<const float> in;
//     handoff::SharedSpan<float> out;
//   };
//   void scale(const Rows& rows) {  // in a process that has attached to the memory
//     const std::span<const float> in = rows.in.get();
//     const std::span<float> out = rows.out.get();
//     for (std::size_t i = 0; i < in.size(); ++i) out[i] = 2 * in[i];
//   }
//   Rows rows_of(const handoff::SharedMemory& memory, std::size_t count) {
//     return {{memory, 0, count}, {memory, count * sizeof(float), count}};
//   }
//
// For: arguments of work that another process does. Not for: links between elements of one memory
//   (offset_ptr), types with pointers, virtual functions or destructors.
// A span names a memory by its key, a first byte and a count. get() looks for the memory among
//   those that this process has mapped, in() takes one that is given. In a worker of a ProcessTeam
//   or a ProcessPool get() then asks the program of the team, and maps what that one has.
// Trust: whatever its bits are, what get() and in() return lies within the memory and is aligned;
//   else they throw. They read a copy of the span: keep what they return, do not ask twice.
// Concurrency: a plain value; get() by any thread while the memory's handle lives.
// Blocks: get(), while another thread attaches or ends a handle, and until the team has answered.
//   Cost: a search in the list of this process's memories; ask once for a block of work, not for
//   each element. Allocates: for memory that is handed over.
// Exceptions: std::system_error: ENXIO, no such memory here; ERANGE, it does not lie within it;
//   EACCES, the memory is mapped for reading and T is not const.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/process/shared_memory.hpp>

namespace handoff { inline namespace HANDOFF_ABI {
namespace detail {

// Where bytes of a memory are in this process. Throws as a SharedSpan says.
struct SharedPlace {
  std::uint64_t key = 0;
  std::uint64_t first_byte = 0;
  std::uint64_t count = 0;
  std::size_t size = 0;  // of an element
  std::size_t alignment = 0;
  bool writable = false;
};
void* find(const SharedPlace& place);
void* find_in(const SharedMemory& memory, const SharedPlace& place);

}  // namespace detail

template <class T>
class SharedSpan {
  static_assert(std::is_object_v<T> && std::is_trivially_destructible_v<T> &&
                    !std::is_polymorphic_v<T> && !std::is_pointer_v<T>,
                "each process would have to own it, or to have the same addresses");

 public:
  constexpr SharedSpan() noexcept = default;  // empty, of no memory
  // `count` elements from this byte of memory.bytes() on. Throws if they do not lie within.
  SharedSpan(const SharedMemory& memory, std::uint64_t first_byte, std::uint64_t count)
      : key_(memory.key()), first_byte_(first_byte), count_(count) {
    (void)in(memory);
  }
  template <class U>
    requires std::is_same_v<const U, T>
  // NOLINTNEXTLINE(google-explicit-constructor): like std::span's
  SharedSpan(const SharedSpan<U>& other) noexcept
      : key_(other.key()), first_byte_(other.first_byte()), count_(other.size()) {}

  // The elements, wherever this process has them.
  [[nodiscard]] std::span<T> get() const {
    const detail::SharedPlace place = copy();
    if (place.count == 0) return {};
    return {static_cast<T*>(detail::find(place)), static_cast<std::size_t>(place.count)};
  }
  // The same, of a memory that must be this one.
  [[nodiscard]] std::span<T> in(const SharedMemory& memory) const {
    const detail::SharedPlace place = copy();
    if (place.count == 0) return {};
    return {static_cast<T*>(detail::find_in(memory, place)), static_cast<std::size_t>(place.count)};
  }

  // The memory's key; like the two below, as it stands there and not checked.
  [[nodiscard]] constexpr std::uint64_t key() const noexcept { return key_; }
  // Where in memory.bytes() it begins.
  [[nodiscard]] constexpr std::uint64_t first_byte() const noexcept { return first_byte_; }
  // Elements.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return count_; }
  // Whether it has no elements.
  [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }

 private:
  detail::SharedPlace copy() const noexcept {
    return {.key = key_,
            .first_byte = first_byte_,
            .count = count_,
            .size = sizeof(T),
            .alignment = alignof(T),
            .writable = !std::is_const_v<T>};
  }

  std::uint64_t key_ = 0;
  std::uint64_t first_byte_ = 0;
  std::uint64_t count_ = 0;
};

}}  // namespace handoff::HANDOFF_ABI
