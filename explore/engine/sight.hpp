// SPDX-License-Identifier: MIT
//
// What the scenario's threads read and write besides atomics, byte by byte: who came last to each,
// when by the model's clocks, and which memory was given back.
//
// What is explored is compiled with the compiler's ThreadSanitizer instrumentation, whose calls
// (hooks.cpp) end here instead of in ThreadSanitizer's runtime. So no member has to be declared
// for its races to be seen. A piece of shadow tells of up to eight bytes of one aligned word that
// were always accessed together; it counts for the execution that it names, so nothing has to be
// cleared between executions.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>

#include <explore/engine/model.hpp>
#include <handoff/config.hpp>

#include "fiber.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace explore {

// Whether what is explored is instrumented in this build: not together with AddressSanitizer.
#if defined(HANDOFF_EXPLORE_SIGHT)
inline constexpr bool kSeesAll = true;
#else
inline constexpr bool kSeesAll = false;
#endif

// The accesses of one execution to some bytes of a granule of eight.
struct LastWrite {
  std::uint32_t execution = 0;  // the first piece of a granule: whether all of it counts
  std::uint16_t next = 0;       // another piece of the granule; 0: none
  std::uint8_t bytes = 0;       // bit i: byte i is one of them
  std::uint8_t writer = 0;
  std::uint16_t written_at = 0;  // the writer's clock; 0: not yet
  bool freed = false;            // that write gave the memory back
  std::uint8_t readers = 0;      // bit per thread: has read since then
  std::uint32_t place = 0;       // the code that wrote
};
struct Piece : LastWrite {
  std::array<std::uint16_t, model::Accesses::kThreads> read_at{};  // the readers' clocks
  void begin(const LastWrite& write) noexcept { static_cast<LastWrite&>(*this) = write; }
};

class Sight {
 public:
  static constexpr std::size_t kStackBytes = Fiber::kStackBytes;
  static constexpr std::size_t kGuardBytes = 64 * 1024;   // the largest page there is

  // Whether the code that runs is the scenario's: the engine's own accesses are not its.
  bool on() const noexcept { return on_; }
  bool set(bool on) noexcept {
    const bool before = on_;
    on_ = on && looks_;
    return before;
  }

  // The thread that runs from now on, and the clocks that it knows.
  void thread(unsigned number, const std::uint16_t* clocks) noexcept {
    me_ = static_cast<std::uint8_t>(number);
    now_ = clocks;
  }
  void leave() noexcept { now_ = nullptr; }
  void begin_execution(std::uint32_t number, bool looks) noexcept;
  // Bytes that operator new gave out in this execution and that were not given back.
  std::size_t bytes_in_use() const noexcept { return in_use_; }

  // Maps the stacks of the fibers, the arena and their shadow, once; throws std::system_error.
  void get_memory();
  std::byte* stack(unsigned number) const noexcept {
    return base_ + number * (kGuardBytes + kStackBytes) + kGuardBytes;
  }

  // An access by the running thread. `code`: where in the program.
  template <bool kWrite>
  [[gnu::noinline]] void see(const void* at, std::size_t bytes, const void* code) {
    auto from = reinterpret_cast<std::uintptr_t>(at);
    for (const std::uintptr_t end = from + bytes; from < end;) {
      const std::uintptr_t next = std::min(end, (from | 7) + 1);
      see_bytes<kWrite>(from, static_cast<unsigned>(next - from), code);
      from = next;
    }
  }

  // Within one granule.
  template <bool kWrite>
  [[gnu::always_inline]] void see_bytes(std::uintptr_t at, unsigned bytes, const void* code);

  // Memory of the scenario; null if there is no more room.
  void* allocate(std::size_t bytes, std::size_t alignment) noexcept;
  bool owns(const void* memory) const noexcept {
    return reinterpret_cast<std::uintptr_t>(memory) - begin_ - kStacksBytes < kArenaBytes;
  }
  // Given back: a write to all of it. False if it was given back already.
  bool deallocate(void* memory, const void* code);
  bool is_freed(const void* at) const noexcept {
    const Piece* const first = granule(reinterpret_cast<std::uintptr_t>(at));
    return first != nullptr && first->freed && first->execution == execution_;
  }

 private:
  static constexpr unsigned kThreads = model::Accesses::kThreads;
  static constexpr std::size_t kStacksBytes = kThreads * (kGuardBytes + kStackBytes);
  static constexpr std::size_t kArenaBytes = 64 * 1024 * 1024;
  static constexpr std::size_t kBytes = kStacksBytes + kArenaBytes;
  static constexpr unsigned kSmall = 1024;              // up to here a size in steps of 16
  static constexpr unsigned kSizes = kSmall / 16 + 16;  // then in powers of two
  static constexpr std::size_t kLargest = std::size_t{kSmall} << 15;
  static constexpr std::size_t kPieces = 1 << 16;  // besides the first ones of the granules

  struct alignas(16) Block {  // lies before each
    Block* next;         // in a list of those given back
    std::uint32_t execution;
    std::uint16_t size;  // which of the sizes
    bool in_use;
    std::uint32_t bytes;
    std::uint32_t lead;  // bytes before this head that belong to it, for the alignment
  };

  bool has_memory() const noexcept { return base_ != nullptr; }
  // The first piece of the granule at `at`; null for memory that is none of a scenario's.
  Piece* granule(std::uintptr_t at) const noexcept {
    if (at - begin_ < kBytes) [[likely]]
      return &shadow_[(at - begin_) / 8];
    return at - statics_ < statics_bytes_ ? &statics_shadow_[(at - statics_) / 8] : nullptr;
  }
  template <bool kWrite>
  void see_piece(Piece& piece, const void* code);
  template <bool kWrite>
  [[gnu::noinline]] void see_mixed(Piece& first, unsigned bytes, const void* code);
  Piece* next_of(const Piece& piece) const noexcept {
    return piece.next == 0 ? nullptr : &pieces_[piece.next];
  }
  Piece* add_piece(Piece& first) noexcept;
  void merge_within(Piece& first, unsigned bytes) noexcept;
  std::uint8_t my_bit() const noexcept { return static_cast<std::uint8_t>(1U << me_); }
  std::uint16_t clock() const noexcept { return now_[me_]; }
  std::uint32_t place_of(const void* code) const noexcept {
    return static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(code) - image_);
  }
  [[noreturn]] void fault(const Piece& piece, bool is_write, const void* code);
  static unsigned size_for(std::size_t bytes) noexcept;
  static std::size_t bytes_of(unsigned size) noexcept;

  bool on_ = false;
  bool looks_ = false;  // at the accesses of this execution
  bool freeing_ = false;  // what is seen now is the end of a block
  std::uint8_t me_ = 0;
  std::uint32_t execution_ = 0;
  const std::uint16_t* now_ = nullptr;
  std::uintptr_t begin_ = ~std::uintptr_t{0} / 2;  // nothing lies there
  Piece* shadow_ = nullptr;
  std::uintptr_t image_ = 0;  // where the program was loaded
  std::byte* base_ = nullptr;
  std::size_t in_use_ = 0;
  std::size_t fresh_ = 0;  // offset of what the arena has never given out
  Block* freed_ = nullptr;  // in this execution: used again in the next one
  std::array<Block*, kSizes> free_{};
  unsigned pieces_used_ = 0;
  Piece* pieces_ = nullptr;
  std::uintptr_t statics_ = 0;  // the program's own variables
  std::size_t statics_bytes_ = 0;
  Piece* statics_shadow_ = nullptr;
};

template <bool kWrite>
inline void Sight::see_bytes(std::uintptr_t at, unsigned bytes, const void* code) {
  Piece* const piece = granule(at);
  if (piece == nullptr) return;
  const unsigned mask = ((1U << bytes) - 1) << (at & 7);
  if (piece->execution != execution_) {
    const auto part = static_cast<std::uint8_t>(mask);
    if constexpr (kWrite) {
      piece->begin({execution_, 0, part, me_, clock(), false, 0, place_of(code)});
    } else {
      piece->begin({execution_, 0, part, me_, 0, false, my_bit(), 0});
      piece->read_at[me_] = clock();
    }
  } else if (piece->bytes == mask) [[likely]] {
    see_piece<kWrite>(*piece, code);
  } else {
    see_mixed<kWrite>(*piece, mask, code);
  }
}

// Readers before an ordered write are forgotten: an access after the write comes after them.
template <bool kWrite>
inline void Sight::see_piece(Piece& piece, const void* code) {
  if (now_[piece.writer] < piece.written_at) [[unlikely]]
    fault(piece, kWrite, code);
  if constexpr (kWrite) {
    for (unsigned others = piece.readers & ~my_bit(); others != 0; others &= others - 1) {
      const auto t = static_cast<unsigned>(std::countr_zero(others));
      if (now_[t] < piece.read_at[t]) [[unlikely]]
        fault(piece, true, code);
    }
    piece.readers = 0;
    piece.writer = me_;
    piece.written_at = clock();
    piece.place = place_of(code);
  } else {
    piece.readers |= my_bit();
    piece.read_at[me_] = clock();
  }
}

extern constinit Sight sight;

// In the engine: what it reads and writes is not the scenario's.
class Unseen {
 public:
  Unseen() noexcept : before_(sight.set(false)) {}
  ~Unseen() { sight.set(before_); }
  Unseen(const Unseen&) = delete;
  Unseen& operator=(const Unseen&) = delete;

 private:
  bool before_;
};

// Code of the scenario that the engine calls.
class Seen {
 public:
  Seen() noexcept : before_(sight.set(true)) {}
  ~Seen() { sight.set(before_); }
  Seen(const Seen&) = delete;
  Seen& operator=(const Seen&) = delete;

 private:
  bool before_;
};

// "file:line" for a place in a message, with the help of addr2line; the text without it.
std::string with_source_lines(const std::string& message);

}}}  // namespace handoff::HANDOFF_ABI::explore
