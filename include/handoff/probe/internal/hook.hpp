// SPDX-License-Identifier: MIT
//
// The hook that the recorder looks through (trace/): what each room says of its work while it is
// looked at. Not for users.
//
//   probe::hand_over(probe::Kind::task, task);                 // before others can have it
//   const probe::Slice slice(probe::Kind::loop, "loop", run);  // slice.hpp; to the block's end
//
// While nothing looks a probe is one relaxed load and one branch, counted in the assembly by
// tests/house/probe_cost_test.py; all else lies out of line and cold. Where a name has to be looked
// for, ask is_watched() first.
// An address identifies a hand-over: that of the thing handed over. The thread that moves it, and
// the thread that begins it, report the same address; the recorder matches them. An address that is
// used again later is another hand-over.
// This room is below sync/, so the one atomic variable here is the standard's. An explored program
// has no probes, nor has one with single headers, as the recorder is not in them.
// Concurrency: any thread. Blocks: never. Allocates: nothing here; the recorder a buffer for each
// thread. Exceptions: none.
// Why so: docs/adr/0025-a-hook-for-the-recorder.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>

#if !defined(HANDOFF_EXPLORE)
#include <atomic>
#endif

namespace handoff { inline namespace HANDOFF_ABI { namespace probe {

// What it is about.
// A sleep is named by its cause: idle, full, wait, io, lock or join. So is the spin before it, or
// in its place: the same wait, awake.
enum class Kind : std::uint8_t {
  task,
  loop,
  event,
  message,
  command,
  file,
  process,
  sleep,
  steal,
  wake,
  spin
};

// What is said of it.
enum class Mark : std::uint8_t {
  hand,  // `what` is handed over, to one
  share,  // ... to several, each of which begins a part
  move,  // `what` lies at `name` from here on
  begin,  // this thread begins it; null: nothing that was handed over
  begin_named,  // ... with a name whose text is gone later
  end,  // of what was begun so
  moment,
  gone,  // what was handed over is begun by none
};

#if defined(HANDOFF_EXPLORE) || defined(HANDOFF_SINGLE)

constexpr bool is_watched() noexcept { return false; }
inline void seen(Mark /*mark*/, Kind /*kind*/, const char* /*name*/,
                 const void* /*what*/) noexcept {}

#else

// Not zero while something looks. It and seen() lie in the recorder (src/trace/recorder.cpp): so
// a program with a probe links them too, and any program can be traced.
extern std::atomic<std::uint32_t> watched;

inline bool is_watched() noexcept {
  // order: relaxed, a word about this program; what the recorder needs it reads by its own loads.
  return watched.load(std::memory_order_relaxed) != 0;
}

// A name is that of something that lasts, a literal; but for begin_named.
[[gnu::cold, gnu::noinline]] void seen(Mark mark, Kind kind, const char* name,
                                       const void* what) noexcept;

#endif

inline void tell(Mark mark, Kind kind, const void* what, const char* name = nullptr) noexcept {
  if (is_watched()) [[unlikely]]
    seen(mark, kind, name, what);
}
inline void hand_over(Kind kind, const void* what) noexcept { tell(Mark::hand, kind, what); }
inline void share_out(Kind kind, const void* what) noexcept { tell(Mark::share, kind, what); }
inline void move(Kind kind, const void* from, const void* to) noexcept {
  tell(Mark::move, kind, from, static_cast<const char*>(to));
}
inline void end(Kind kind, const void* what) noexcept { tell(Mark::end, kind, what); }
inline void gone(Kind kind, const void* what) noexcept { tell(Mark::gone, kind, what); }
inline void moment(Kind kind) noexcept { tell(Mark::moment, kind, nullptr); }

}}}  // namespace handoff::HANDOFF_ABI::probe
