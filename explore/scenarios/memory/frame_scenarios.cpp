// SPDX-License-Identifier: MIT
//
// Frames and the arenas of threads: the scenarios of docs/design/frame.md.
#include <handoff/memory/frame.hpp>
#include <handoff/memory/internal/thread_spaces.hpp>
#include <handoff/memory/thread_arenas.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/pause.hpp>

#include "books/command_books.hpp"
#include "explore/scenario.hpp"

namespace frame_scenarios { namespace {

using namespace handoff;
using namespace test;

constexpr std::size_t kSmallChunk = 1024;

// A consumer reads while the frame's memory is wanted again.
const Scenario late_consumer("frame/late_consumer", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 1, .chunk_bytes = kSmallChunk});
  const int* const made = frame.arena().make<int>(1);
  Frame::Hold hold = frame.hold();
  explore::Thread consumer([&] {
    explore::check(*made == 1, "it is not written again");
    hold.release();
  });
  explore::check(frame.next() == Status::ok, "the consumer ends");
  explore::check(frame.arena().used() == 0, "nothing is in it");
  explore::check(*frame.arena().make<int>(2) == 2, "new memory");
  consumer.join();
  explore::check(frame.memory() == kSmallChunk, "of one frame");
});

// A hold is asked for while the frame is about to end: it holds, or the frame is gone.
const Scenario hold_races("frame/hold_races_next", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 1, .chunk_bytes = kSmallChunk});
  const int* const made = frame.arena().make<int>(1);
  std::uint64_t held = 0;
  explore::Thread consumer([&] {
    if (const Frame::Hold hold = frame.try_hold(1)) {
      held = hold.number();
      explore::check(*made == 1, "what is held is there");
    }
  });
  explore::check(frame.next() == Status::ok, "holds end");
  explore::check(!frame.try_hold(1), "it is gone");
  consumer.join();
  explore::outcome(held);
});

// Two hold it; the last one lets next() go on.
const Scenario two_holds("frame/two_holds", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 1, .chunk_bytes = kSmallChunk});
  const int* const made = frame.arena().make<int>(1);
  const auto read = [made](Frame::Hold& hold) {
    explore::check(*made == 1, "it is there");
    hold = Frame::Hold();
  };
  Frame::Hold one = frame.hold();
  Frame::Hold other = frame.hold();
  explore::Thread first([&] { read(one); });
  explore::Thread second([&] { read(other); });
  explore::check(frame.next() == Status::ok, "both end");
});

// A thread that sees the number of a frame may use its memory.
const Scenario number_is_seen("frame/number", [] {
  Audited<Frame> frame(FrameOptions{.in_flight = 2, .chunk_bytes = kSmallChunk});
  sync::cell<int> before(0);
  explore::Thread owner([&] {
    before.write() = 1;
    explore::check(frame.next() == Status::ok, "nobody holds it");
  });
  if (frame.number() == 2) {
    explore::check(before.read() == 1, "what came before next()");
    explore::check(frame.alive(2), "the memory of the current frame is there");
  }
  if (frame.alive(2)) explore::check(before.read() == 1, "what came before next()");
  if (const Frame::Hold hold = frame.try_hold(2)) {
    explore::check(before.read() == 1, "what came before next()");
  }
});

// Threads that come and go: each has an arena of its own while it lives, and what it made stays.
const Scenario threads_that_end("thread_arenas/threads_that_end", [] {
  ThreadArenas arenas({.chunk_bytes = kSmallChunk});
  const int* made[3] = {};
  const auto make = [&](int i) { made[i] = arenas.mine().make<int>(i); };
  {
    explore::Thread first([&] { make(0); });
    make(1);
  }
  explore::Thread third([&] { make(2); });
  third.join();
  for (int i = 0; i < 3; ++i) explore::check(*made[i] == i, "it stays");
  explore::check(arenas.arenas() == 2, "as many as lived at the same time");
  arenas.reset();
  explore::check(*arenas.mine().make<int>(7) == 7, "new memory");
});

// One goes on in the arena of one that has ended, without being told of it by anybody.
const Scenario inherited("thread_arenas/inherited", [] {
  ThreadArenas arenas({.chunk_bytes = kSmallChunk});
  const int* made[2] = {};
  explore::Thread first([&] { made[0] = arenas.mine().make<int>(0); });
  explore::Thread second([&] { made[1] = arenas.mine().make<int>(1); });
  first.join();
  second.join();
  explore::check(made[0] != made[1] && *made[0] == 0 && *made[1] == 1, "apart");
  explore::outcome(arenas.arenas());
});

}}  // namespace frame_scenarios
