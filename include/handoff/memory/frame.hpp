// SPDX-License-Identifier: MIT
//
// Memory of one step of a program, from any threads, which a later consumer may still read.
//
//   handoff::Frame frame({.in_flight = 2});
//   for (;;) {
//     Visible* visible = frame.arena().make<Visible>();     // any thread, in its own arena
//     consumer.push(Job{visible, frame.hold()});            // stays until the hold ends
//     if (frame.next() != handoff::Status::ok) break;       // the oldest frame's memory is used
//   }                                                       //   again: waits for its holds
//
// For: games, renderers, pipelines: data that is made in one step and read a step later. Not for:
// programs without such steps (ThreadArenas).
//
// - Frames are numbered, from 1 on. Objects made in frame n exist until frame n + in_flight begins,
//   and longer while frame n is held.
// - Concurrency: arena(), allocate(), hold(), try_hold(), number() and alive() by any thread;
//   next() by one at a time, while no other thread makes anything in the current frame. A Hold may
//   be moved to another thread and end there; it ends before the Frame, else that is misuse.
// - Order: what came before the end of a hold happens before any new use of the memory. What next()
//   does happens before a number() that returns the new number.
// - Blocks: next(), while the oldest frame is held, as long as its Until says. A thread that holds
//   that frame itself would wait for ever.
// - Allocates: as ThreadArenas. hold() and next() allocate nothing.
// - Reading the memory of a frame that is over is undefined. AddressSanitizer reports it.
// Proof: docs/design/frame.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/status.hpp>
#include <handoff/core/until.hpp>
#include <handoff/memory/internal/thread_spaces.hpp>
#include <handoff/memory/linear_arena.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/sanitizer.hpp>

#pragma push_macro("Status")  // of Xlib.h
#undef Status

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {
struct FrameAccess;
}

// What a Frame may be told when it is made.
struct FrameOptions {
  // Frames that are there at the same time: the current one and those that are still read. At least
  // 1, at most 64.
  std::size_t in_flight = 2;

  // What each thread's arena takes from the system at a time.
  std::size_t chunk_bytes = std::size_t{256} * 1024;
};

class Frame {
 public:
  // Misuse for a number of frames that cannot be. Throws std::bad_alloc.
  explicit Frame(const FrameOptions& options = {});
  ~Frame();
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;

  // The calling thread's arena of the current frame. Not to be kept beyond it.
  [[nodiscard]] LinearArena& arena() { return space().arena; }
  [[nodiscard]] void* allocate(std::size_t bytes,
                               std::size_t alignment = LinearArena::usual_alignment) {
    return arena().allocate(bytes, alignment);
  }

  // Keeps a frame's memory as it is until the hold ends.
  class Hold;

  // Holds the current frame. None if another thread is in next() just now, or if 65,535 hold it.
  Hold hold() noexcept;
  // Holds an earlier one; none if its memory is gone.
  Hold try_hold(std::uint64_t number) noexcept;

  // Begins the next frame. ok; or timed_out or stopped, and the current frame goes on.
  Status next(const Until& until = {});

  // The number of the current frame.
  [[nodiscard]] std::uint64_t number() const noexcept {
    // order: acquire pairs with the release in next(): its memory is there.
    const std::uint64_t number = number_.load(sync::order::acquire);
    sync::taken(this);
    return number;
  }
  // Whether the memory of that frame is still there; without a hold it may be gone by now.
  [[nodiscard]] bool alive(std::uint64_t number) const noexcept {
    // order: acquire pairs with the release in next().
    return number != 0 && number_of(slot(number).word.load(sync::order::acquire)) == number;
  }

  // How many frames are there at the same time.
  [[nodiscard]] std::size_t in_flight() const noexcept { return in_flight_; }
  // Bytes that all arenas have from the system. While no other thread is in one.
  [[nodiscard]] std::size_t memory() const noexcept;

 private:
  template <class>
  friend struct detail::Books;
  friend struct detail::FrameAccess;

  // In the word of a slot: the number of the frame whose memory it has, or kNobody, and its holds
  // (FR-1).
  static constexpr unsigned kHoldBits = 16;
  static constexpr std::uint64_t kHolds = (std::uint64_t{1} << kHoldBits) - 1;
  static constexpr std::uint64_t kNobody = ~std::uint64_t{0} >> kHoldBits;
  static constexpr std::uint64_t number_of(std::uint64_t word) noexcept {
    return word >> kHoldBits;
  }

  struct alignas(sync::destructive_span) Slot {
    explicit Slot(const LinearArenaOptions& options) noexcept : spaces(options) {}
    sync::atomic<std::uint64_t> word{0};
    detail::ThreadSpaces spaces;
  };

  detail::ThreadSpace& space() { return slot(number()).spaces.mine(); }
  Slot& slot(std::uint64_t number) const noexcept { return slots_[number % in_flight_]; }
  bool enter(std::uint64_t number) noexcept;
  void leave(std::uint64_t number) noexcept;
  bool shut(Slot& slot) noexcept;

  const std::size_t in_flight_;
  Slot* slots_ = nullptr;
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> number_{1};
  sync::EventCount left_;  // next(), for the last hold of the oldest frame
};

// A frame that is held. It belongs to one thread at a time.
class [[nodiscard("a hold that is dropped holds nothing")]] Frame::Hold {
 public:
  Hold() noexcept = default;  // of none
  Hold(Hold&& other) noexcept
      : frame_(std::exchange(other.frame_, nullptr)), number_(other.number_) {}
  Hold& operator=(Hold&& other) noexcept {
    if (this != &other) {
      release();
      frame_ = std::exchange(other.frame_, nullptr);
      number_ = other.number_;
    }
    return *this;
  }
  ~Hold() { release(); }

  // Whether it holds one, and which.
  explicit operator bool() const noexcept { return frame_ != nullptr; }
  [[nodiscard]] std::uint64_t number() const noexcept { return frame_ != nullptr ? number_ : 0; }

  // Ends it now.
  void release() noexcept {
    if (frame_ == nullptr) return;
    sync::given(sync::end_of(frame_));
    std::exchange(frame_, nullptr)->leave(number_);
  }

 private:
  friend class Frame;
  Hold(Frame& frame, std::uint64_t number) noexcept : frame_(&frame), number_(number) {}

  Frame* frame_ = nullptr;
  std::uint64_t number_ = 0;
};

namespace detail {

// What other rooms keep of each thread in a frame. Not for users.
struct FrameAccess {
  static ThreadSpace& space(Frame& frame) { return frame.space(); }
  static ThreadSpace* find(Frame& frame) noexcept {
    return frame.slot(frame.number()).spaces.find();
  }
};

}  // namespace detail
}}  // namespace handoff::HANDOFF_ABI

#pragma pop_macro("Status")
