// SPDX-License-Identifier: MIT
//
// Memory: arenas, of threads and of frames.
#include <cstdint>
#include <handoff/memory/arena_resource.hpp>
#include <handoff/memory/frame.hpp>
#include <handoff/memory/linear_arena.hpp>
#include <handoff/memory/thread_arenas.hpp>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

}  // namespace

HANDOFF_COUNT_CASE(arenas) {
  handoff::LinearArena arena;
  rounds([&](bool counts) {
    for (int i = 0; i < 32; ++i) {
      const Counted counted("LinearArena.make/hot", counts);
      keep(arena.make<std::uint64_t>(1U));
    }
    const Counted counted("LinearArena.reset/one chunk", counts);
    arena.reset();
  });
  rounds([&](bool counts) {
    note("LinearArena.allocate/larger than a chunk", counts,
         [&] { keep(arena.allocate(std::size_t{1} << 20)); });
    arena.reset();
  });
  handoff::ArenaResource resource(arena);
  note_rounds("ArenaResource.allocate/hot", [&] { keep(resource.allocate(64)); });
  handoff::ThreadArenas arenas;
  Helper other;
  rounds([&](bool counts) {
    for (int i = 0; i < 32; ++i) {
      const Counted counted("ThreadArenas.allocate/hot", counts);
      keep(arenas.allocate(64));
    }
    other.run([&] { keep(arenas.allocate(64)); });
    const Counted counted("ThreadArenas.reset/two threads", counts);
    arenas.reset();
  });
}

HANDOFF_COUNT_CASE(frame) {
  handoff::Frame frame;
  Helper holder;
  rounds([&](bool counts) {
    note("Frame.hold + end/alone", counts, [&] { const handoff::Frame::Hold hold = frame.hold(); });
    note("Frame.arena make/hot", counts, [&] { keep(frame.arena().make<std::uint64_t>(1U)); });
    const Counted counted("Frame.next/nobody holds", counts);
    (void)frame.next();
  });
  rounds([&](bool counts) {
    handoff::Frame::Hold hold = frame.hold();
    (void)frame.next();
    note_asleep(
        holder, counts, "Frame.next/asleep", [&] { (void)frame.next(); },
        "Frame.end of a hold/next asleep", [&] { hold = {}; });
  });
}
