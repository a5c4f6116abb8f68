// SPDX-License-Identifier: MIT
//
// Memory that is handed out piece after piece and thrown away as one.
//
//   handoff::LinearArena arena;
//   float* const weights = arena.make_array<float>(1000);  // a pointer moves on, no more
//   Node* const node = arena.make<Node>(7, nullptr);
//   arena.reset();                                         // all of it is gone, its chunks stay
//
// For: objects that are made one by one and end together: a frame, a request, a parse. Not for:
// values whose destructors must run (it calls none); objects that end one by one.
// std::pmr containers take it by an ArenaResource (arena_resource.hpp).
//
// - Concurrency: one thread at a time; ThreadArenas has an arena for each thread.
// - Blocks: never. Allocates: a chunk when the last one is full. A piece that fits into no chunk
//   gets a chunk of its own, which reset() gives back.
// - Full: beyond `memory_most`, or if the system refuses, try_allocate() is null and allocate()
//   throws std::bad_alloc; nothing else changes. So does an impossible size or alignment.
// - reset() costs a step for each chunk, not for each piece.
// - A build with AddressSanitizer reports access to memory that is not handed out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/sync/internal/poison.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// What an arena may be told when it is made.
struct LinearArenaOptions {
  // What it takes from the system at a time, at least 1024.
  std::size_t chunk_bytes = std::size_t{64} * 1024;

  // What it takes from the system at most.
  std::size_t memory_most = std::numeric_limits<std::size_t>::max();
};

class LinearArena {
 public:
  // What a piece is aligned to unless it is said.
  static constexpr std::size_t usual_alignment = alignof(std::max_align_t);

  // An empty one, which has nothing from the system yet.
  explicit LinearArena(const LinearArenaOptions& options = {}) noexcept;
  ~LinearArena();
  LinearArena(const LinearArena&) = delete;
  LinearArena& operator=(const LinearArena&) = delete;

  // A piece of its own, of no bytes too; null if there is no more. `alignment`: a power of two.
  [[nodiscard]] void* try_allocate(std::size_t bytes,
                                   std::size_t alignment = usual_alignment) noexcept {
    if (bytes == 0) bytes = 1;
    const std::size_t padding = (0 - reinterpret_cast<std::uintptr_t>(at_)) & (alignment - 1);
    const std::size_t room = left();
    const bool possible = (alignment & (alignment - 1)) == 0;  // known when it is compiled
    // equivalent(bound): no byte is left then either
    if (padding > room || bytes > room - padding || !possible) [[unlikely]] {
      return allocate_beyond(bytes, alignment);
    }
    std::byte* const piece = at_ + padding;
    at_ = piece + bytes;  // equivalent(swap): of this thread alone
    sync::unpoison(piece, bytes);
    return piece;
  }

  // The same, but throws std::bad_alloc.
  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = usual_alignment) {
    void* const piece = try_allocate(bytes, alignment);
    if (piece == nullptr) [[unlikely]]
      refuse();
    return piece;
  }

  // A T in the arena. Nobody destroys it.
  template <class T, class... Args>
  T* make(Args&&... args) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "an arena calls no destructor: take a type that needs none, or own it elsewhere");
    return ::new (allocate(sizeof(T), alignof(T))) T(std::forward<Args>(args)...);
  }

  // `count` of them, each made as T() is.
  template <class T>
  T* make_array(std::size_t count) {
    static_assert(std::is_trivially_destructible_v<T>,
                  "an arena calls no destructor: take a type that needs none, or own it elsewhere");
    // equivalent(bound): allocate() refuses as many bytes as well
    if (count > std::numeric_limits<std::size_t>::max() / sizeof(T)) refuse();
    T* const first = static_cast<T*>(allocate(count * sizeof(T), alignof(T)));
    std::uninitialized_value_construct_n(first, count);
    return first;
  }

  // All that was handed out is gone. The chunks are kept for what comes next.
  void reset() noexcept;

  // All that was handed out is gone, and the chunks with it.
  void release() noexcept;

  // Bytes handed out since the last reset(), with what alignment cost; and bytes that it has from
  // the system.
  [[nodiscard]] std::size_t used() const noexcept {
    return used_before_ + static_cast<std::size_t>(at_ - begin_);
  }
  [[nodiscard]] std::size_t memory() const noexcept { return memory_; }

 private:
  struct Chunk;

  std::size_t left() const noexcept { return static_cast<std::size_t>(end_ - at_); }
  void* allocate_beyond(std::size_t bytes, std::size_t alignment) noexcept;
  Chunk* take_chunk(std::size_t bytes) noexcept;
  void give_back(Chunk*& chunks) noexcept;
  [[noreturn]] static void refuse();

  std::byte* at_ = nullptr;  // where the next piece may begin
  std::byte* end_ = nullptr;  // of the chunk
  std::byte* begin_ = nullptr;  // of what it had when it was taken
  std::size_t used_before_ = 0;
  Chunk* used_ = nullptr;  // the one of at_ first
  Chunk* free_ = nullptr;  // of the usual size
  Chunk* large_ = nullptr;  // each with one piece
  std::size_t memory_ = 0;
  const std::size_t chunk_bytes_;
  const std::size_t memory_most_;
};

}}  // namespace handoff::HANDOFF_ABI
