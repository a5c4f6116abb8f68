// SPDX-License-Identifier: MIT
//
// The recorder: where the probes lead, and the life of a trace.
//
// The hook of the probes (probe/internal/hook.hpp) lies here, so that every program with a probe
// has this, and looks at HANDOFF_TRACE before main() begins. What threads may still use while the
// program ends is never destroyed.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/workplace.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/internal/thread_object.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/trace/trace.hpp>
#include <memory>
#include <new>
#include <string>
#include <system_error>
#include <utility>

#include "../sync/internal/joined.hpp"
#include "../sync/internal/seen_sanitizer.hpp"
#include "end_word.hpp"
#include "lanes.hpp"
#include "thread_times.hpp"
#include "ticks.hpp"
#include "trace_file.hpp"
#include "trace_writer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

namespace trace {
namespace {

using probe::Kind;
using probe::Mark;
using sync::order;

// What probe::watched says besides that something looks.
constexpr std::uint32_t kByCycles = 1;
constexpr std::uint32_t kByClock = 2;
constexpr std::uint32_t kSanitized = 4;  // nothing records, but ThreadSanitizer is told

constexpr std::size_t kLaneEvents = 1U << 18U;  // 6 MiB a thread, as far as they are used
constexpr std::chrono::milliseconds kBetweenLooks{1};

std::uint32_t watched_by() noexcept {
  // order: relaxed, see probe::is_watched().
  return probe::watched.load(order::relaxed) & ~kSanitized;
}
void watch_by(std::uint32_t by) noexcept {
  // order: relaxed, one event more or less, and what else is needed is there.
  probe::watched.store(sync::has_sanitizer() ? by | kSanitized : by, order::relaxed);
}

// What the probes see is what ThreadSanitizer cannot, in a program that is instrumented although
// this library is not (docs/design/tsan.md). A mark is one of a turn with `what`.
[[gnu::cold]] void tell_sanitizer(Mark mark, Kind kind, const char* name,
                                  const void* what) noexcept {
  if (mark == Mark::end && kind == Kind::task) {
    if (const detail::Workplace* const here = detail::workplace())
      sync::tell_given(sync::end_of(&here->host));
  }
  if (what == nullptr) return;
  switch (mark) {
    case Mark::share:
      sync::tell_taken(sync::end_of(what));  // of the run before, if another thread began that one
      return sync::tell_given(what);
    case Mark::hand: return sync::tell_given(what);
    case Mark::end: return sync::tell_given(sync::end_of(what));
    case Mark::move:
      sync::tell_taken(what);
      sync::tell_taken(sync::end_of(name));
      sync::tell_given(sync::end_of(what));
      return sync::tell_given(name);
    case Mark::begin:
    case Mark::begin_named:
      sync::tell_taken(what);
      // Its result is made by this thread, and has the same address.
      if (kind == Kind::file || kind == Kind::process) sync::tell_given(what);
      return;
    case Mark::gone: return sync::tell_taken(what);
    case Mark::moment: return;
  }
}

void put_times(Lane& lane, std::uint64_t ticks) noexcept {
  if (const auto times = times_of(sync::this_kernel_thread())) {
    lane.put_beside(Event::of_times(ticks, *times));
  }
}

// What a thread has.
struct Here {
  Lane* lane = nullptr;  // to write into; null: there is none yet, or it was full
  Lane* own = nullptr;
  ~Here() {
    if (own == nullptr) return;
    if (const std::uint32_t by = watched_by()) put_times(*own, ticks_now(by == kByCycles));
    Lanes::leave(*own);
  }
};

Here& here() noexcept {
  struct Slot;
  return sync::thread_object<Here, Slot>::get();
}

// On standard error, where there is no caller to be told. Without memory nothing is said.
[[gnu::cold]] void say(const std::string& path, const std::error_code& why,
                       const char* what) noexcept {
  (void)detail::attempt([&] {
    const std::string line =
        sync::joined({"handoff: HANDOFF_TRACE=", path, ": ", why.message(), "; ", what, "\n"});
    [[maybe_unused]] const ssize_t wrote = ::write(STDERR_FILENO, line.data(), line.size());
  });
}

// What asked for a trace: start(), whose caller is told what went wrong, or the environment.
enum class Asked : std::uint8_t { by_a_call, by_environment };

// A trace that runs, and its thread. That passes no probe and has no object of its own: its first
// look at one would wait for the loader, which, where the library is unloaded, waits for it. So it
// locks nothing and sleeps on a bare word.
class Recording {
 public:
  Recording(Lanes& lanes, TraceFile file, bool by_cycles, const std::string& path, Asked asked)
      : writer_(lanes, std::move(file), by_cycles),
        path_(path),
        asked_(asked),
        tells_(asked == Asked::by_environment) {}

  // Throws std::system_error and std::bad_alloc.
  void begin() {
    thread_ = sync::Thread({.name = "handoff/trace"}, [this]() noexcept { run(); });
  }

  Tally finish() noexcept {
    end_.tell();
    thread_.join();
    return writer_.tally();
  }

  void forget_file() noexcept { writer_.forget_file(); }
  Asked asked() const noexcept { return asked_; }

 private:
  void run() noexcept {
    try {
      write();
    } catch (const std::bad_alloc&) {
      give_up(std::make_error_code(std::errc::not_enough_memory));
    }
  }

  void write() {
    while (!end_.is_told()) {
      const bool many = writer_.look();
      if (writer_.tally().error) give_up(writer_.tally().error);
      if (many) continue;
      end_.sleep(kBetweenLooks);
    }
    writer_.finish();
    if (writer_.tally().error) tell();
  }

  // From here on nothing is noted.
  void give_up(std::error_code why) noexcept {
    watch_by(0);
    writer_.fail(why);
    tell();
  }

  // Once.
  void tell() noexcept {
    if (std::exchange(tells_, false)) say(path_, writer_.tally().error, "the trace ends there");
  }

  TraceWriter writer_;
  const std::string path_;
  const Asked asked_;
  bool tells_;  // the thread's
  EndWord end_;
  sync::Thread thread_;
};

struct Recorder {
  Lanes lanes{kLaneEvents};
  sync::Mutex mutex;
  sync::cell<Recording*> recording;  // under the mutex
  sync::cell<Recording*> of_parent;  // in a child: what fork() has copied of it
};

// Never destroyed.
union Place {
  constexpr Place() noexcept : recorder{} {}
  ~Place() {}
  Recorder recorder;
};
constinit Place place;

Lane* take_lane() noexcept {
  LaneOwner owner;
  owner.thread = sync::this_kernel_thread();
  owner.name = sync::name_of_this_thread();
  Lane* const lane = place.recorder.lanes.take(owner);
  if (lane == nullptr) place.recorder.lanes.lose();
  return lane;
}

// Where the thread has none to write into. Null: there is none, and the event is counted.
[[gnu::cold, gnu::noinline]] Lane* find_lane(Here& here, std::uint64_t ticks) noexcept {
  if (here.own == nullptr) {
    here.lane = here.own = take_lane();
    if (here.own != nullptr) put_times(*here.own, ticks);
    return here.own;
  }
  if (here.own->put_gap(ticks)) return here.lane = here.own;
  here.own->drop();
  return nullptr;
}

// A name whose text does not last is copied, a few bytes an event.
[[gnu::noinline]] void put_name(Lane& lane, std::uint64_t ticks, const char* name) noexcept {
  constexpr std::size_t parts = 4;
  std::size_t left = ::strnlen(name, parts * Event::kTextBytes);
  for (; left != 0; name += Event::kTextBytes) {
    const std::size_t size = std::min(left, Event::kTextBytes);
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), name, size);
    lane.put_beside(Event::of_text(ticks, words[0], words[1]));
    left -= size;
    if (size < Event::kTextBytes) return;
  }
}

// By the only thread of a process that was forked.
void forget_parent() noexcept {
  Recorder& recorder = place.recorder;
  watch_by(0);
  std::construct_at(&recorder.mutex);
  if (Recording* const recording = std::exchange(recorder.recording.write(), nullptr)) {
    recording->forget_file();
    recorder.of_parent.write() = recording;
  }
  recorder.lanes.forget_takers();
  here().lane = nullptr;
  if (Lane* const lane = std::exchange(here().own, nullptr)) Lanes::leave(*lane);
}

// Under the mutex. Throws std::system_error and std::bad_alloc.
[[gnu::cold]] std::error_code start_recording(Recorder& recorder, const std::string& path,
                                              Asked asked) {
  TraceFile file;
  if (const std::error_code error = file.open(path)) return error;
  static const bool is_told_of_forks = sync::at_fork_in_child(&forget_parent);
  if (!is_told_of_forks) return std::make_error_code(std::errc::not_enough_memory);
  const bool by_cycles = cycles_are_even();
  auto recording =
      std::make_unique<Recording>(recorder.lanes, std::move(file), by_cycles, path, asked);
  recording->begin();
  recorder.recording.write() = recording.release();
  watch_by(by_cycles ? kByCycles : kByClock);
  return {};
}

[[gnu::cold]] std::error_code start(const std::string& path, Asked asked) {
  Recorder& recorder = place.recorder;
  const sync::Lock lock(recorder.mutex);
  if (recorder.recording.read() != nullptr) {
    return std::make_error_code(std::errc::device_or_resource_busy);
  }
  try {
    return start_recording(recorder, path, asked);
  } catch (const std::system_error& error) {
    return error.code();
  } catch (const std::bad_alloc&) {
    return std::make_error_code(std::errc::not_enough_memory);
  }
}

[[gnu::cold]] Tally finish(Recorder& recorder) noexcept {
  const std::unique_ptr<Recording> recording(std::exchange(recorder.recording.write(), nullptr));
  if (recording == nullptr) return {};
  watch_by(0);  // an event that comes later is of no trace
  return recording->finish();
}

// Before the constructors of the program's own objects, and after their destructors.
constexpr int kEarly = 1000;

[[gnu::constructor(kEarly)]] void begin_by_environment() {
  watch_by(0);
  const char* const path = ::secure_getenv("HANDOFF_TRACE");
  if (path == nullptr || *path == 0) return;
  if (const std::error_code why = start(path, Asked::by_environment)) {
    say(path, why, "this program is not traced");
  }
}

// Where a shared object is unloaded its functions for the end come first, then the destructors of
// its static objects; at the end of a program it is the other way round.
bool static_objects_ended = false;
bool is_unloading = false;
struct StaticObject {
  ~StaticObject() { static_objects_ended = true; }
};
const StaticObject static_object;
[[gnu::destructor]] void look_which_end() { is_unloading = !static_objects_ended; }

// No thread is in here any more when it is unloaded; but at the end of a program one may be.
[[gnu::destructor(kEarly)]] void end_with_program() {
  {
    const sync::Lock lock(place.recorder.mutex);
    (void)finish(place.recorder);
  }
  place.recorder.lanes.free_unused(is_unloading);
}

}  // namespace

std::error_code start(const std::string& path) { return start(path, Asked::by_a_call); }

Tally stop() noexcept {
  Recorder& recorder = place.recorder;
  const sync::Lock lock(recorder.mutex);
  const Recording* const running = recorder.recording.read();
  // The whole program's trace goes on.
  if (running != nullptr && running->asked() == Asked::by_environment) return {};
  return finish(recorder);
}

bool running() noexcept { return watched_by() != 0; }

}  // namespace trace

namespace probe {

constinit decltype(watched) watched{0};

// The way of an event: the clock, the thread's lane, a place in it.
void seen(Mark mark, Kind kind, const char* name, const void* what) noexcept {
  if (sync::has_sanitizer()) trace::tell_sanitizer(mark, kind, name, what);
  const std::uint32_t by = trace::watched_by();
  if (by == 0) return;
  const std::uint64_t ticks = trace::ticks_now(by == trace::kByCycles);
  trace::Here& here = trace::here();
  trace::Lane* lane = here.lane;
  if (lane == nullptr) [[unlikely]] {
    lane = trace::find_lane(here, ticks);
    if (lane == nullptr) return;
  }
  if (mark == Mark::begin_named) [[unlikely]]
    trace::put_name(*lane, ticks, name);
  if (!lane->put(trace::Event::of(ticks, mark, kind, name, what))) [[unlikely]]
    here.lane = nullptr;
}

}  // namespace probe
}}  // namespace handoff::HANDOFF_ABI
