// SPDX-License-Identifier: MIT
//
// What stands first in the memory of a ring, and says which one lies there. Not for users.
//
// Written once, by the process that makes the ring. A word before it, the mark, comes last, so a
// ring that is half made is refused. A process that attaches reads each word once, checks it
// against what it was compiled for and against the memory that it has, and works with its own copy
// from then on. Concurrency: as said. Blocks, allocates: never. Throws: see the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <handoff/config.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// The memory holds no such ring: another one, of other items, half made, cut short or damaged.
// Throws std::system_error (EPROTO).
[[noreturn]] void refuse_ring(const std::string& why);

enum class SharedRingKind : std::uint64_t { one_producer = 1, many_producers, broadcast, bytes };

struct SharedRingShape {
  SharedRingKind kind;
  std::uint64_t fixed_bytes;  // what stands before the places
  std::uint64_t place_bytes;
  std::uint64_t item_bytes;
  std::uint64_t item_alignment;
  std::uint64_t capacity = 0;  // places, a power of two
  std::uint64_t producers = 0;  // which may push at the same time, where there is a word for each

  static constexpr std::uint64_t kProducerBytes = sizeof(sync::atomic<std::uint32_t>);
  static constexpr std::uint64_t kMostProducers = 1 << 16;

  // Where the places begin: behind the mark, what is fixed, and the producers' words.
  [[nodiscard]] constexpr std::size_t offset() const noexcept {
    const std::uint64_t unit = alignment();
    const std::uint64_t before = sync::destructive_span + fixed_bytes + producers * kProducerBytes;
    return static_cast<std::size_t>((before + unit - 1) / unit * unit);
  }
  // What the memory must begin at a multiple of.
  [[nodiscard]] constexpr std::size_t alignment() const noexcept {
    constexpr std::uint64_t line = sync::destructive_span;
    return static_cast<std::size_t>(item_alignment > line ? item_alignment : line);
  }
};

// `capacity` rounded up to a power of two; 0 is misuse. Throws std::length_error for more than
// there can be.
SharedRingShape with_capacity(SharedRingShape shape, std::size_t capacity);
// With a word for each producer; 0 is misuse. Throws std::length_error for more than 65536.
SharedRingShape with_producers(SharedRingShape shape, std::size_t producers);
// Where what stands before the places begins: behind the mark.
inline constexpr std::size_t kSharedRingStart = sync::destructive_span;
// All bytes of such a ring, up to where another one may begin.
std::size_t bytes_of(const SharedRingShape& shape) noexcept;

class SharedRingHead {
 public:
  explicit SharedRingHead(const SharedRingShape& shape) noexcept;

  // Before anything is made there: nobody attaches. Throws std::length_error for too little memory,
  // std::invalid_argument for memory that does not begin where it must.
  static void begin(std::span<std::byte> bytes, const SharedRingShape& shape);
  // By the process that made all the rest.
  static void publish(std::span<std::byte> bytes) noexcept;
  // What lies there: `wanted`, with the capacity and the producers of the one that made it. Throws
  // std::system_error (EPROTO), and std::invalid_argument as above.
  static SharedRingShape attached(std::span<std::byte> bytes, const SharedRingShape& wanted);

 private:
  static sync::atomic<std::uint64_t>& mark(std::span<std::byte> bytes) noexcept;

  sync::atomic<std::uint64_t> kind_;
  sync::atomic<std::uint64_t> fixed_bytes_;
  sync::atomic<std::uint64_t> place_bytes_;
  sync::atomic<std::uint64_t> item_bytes_;
  sync::atomic<std::uint64_t> item_alignment_;
  sync::atomic<std::uint64_t> capacity_;
  sync::atomic<std::uint64_t> producers_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
