// SPDX-License-Identifier: MIT
//
// What becomes of the events: put in the order of time, made to slices, hand-overs and depths, and
// written.
//
// The lanes are emptied while lines are made too, for these take longer: what is not written yet
// waits here, up to a limit, beyond which the lanes fill up and drop.
// Each look takes what is in the lanes, and writes what is older than the look before: so an event
// that a thread was about to note has its place in the order. One that comes later still, because
// its thread was off its CPU amid a note, is written as if it had been then.
// Concurrency: one thread's. Allocates: for what is under way. Exceptions: std::bad_alloc.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/probe/internal/hook.hpp>
#include <handoff/trace/trace.hpp>

#include "event.hpp"
#include "hand_overs.hpp"
#include "lanes.hpp"
#include "name_texts.hpp"
#include "thread_times.hpp"
#include "ticks.hpp"
#include "trace_file.hpp"
#include "trace_lines.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

class TraceWriter {
 public:
  // What is in the lanes now is of a trace before, and forgotten.
  TraceWriter(Lanes& lanes, TraceFile file, bool by_cycles);

  // One look. False: little was there.
  bool look();
  // The last one: writes the rest, and the end.
  void finish();

  const Tally& tally() const noexcept { return tally_; }
  // For an error of somebody else.
  void fail(std::error_code why) noexcept { tally_.error = why; }
  // In a process that was forked: the file is its parent's.
  void forget_file() noexcept { file_.forget(); }

 private:
  // Something that was begun.
  struct Begun {
    probe::Kind kind;
    std::uint64_t what;
    std::int64_t when;
    std::string_view name;
    std::string text;  // the name, if it does not last
    std::optional<HandOver> hand;  // that led to it
  };
  // A thread.
  struct Track {
    std::int32_t thread = 0;
    bool is_left = false;
    bool has_dropped = false;
    std::size_t next = 0;  // of `events`
    std::optional<ThreadTimes> times;  // as written last; nothing once its end was seen
    std::int64_t last = 0;  // the latest moment; none of the next ones is the same
    std::vector<Event> events;  // taken, not written
    std::vector<Begun> begun;
    std::string text;
  };
  // How many of a kind are under way, as the file shows it.
  struct Gauge {
    std::int64_t shown_at = std::numeric_limits<std::int64_t>::min() / 2;
    std::size_t shown = 0;
    std::int64_t changed_at = 0;
    std::int32_t thread = 0;
  };

  Track& track_of(const LaneOwner& owner);
  std::size_t collect();
  void write_until(std::int64_t ticks);
  std::int64_t head_of(const Track& track) const noexcept;
  void write(Track& track, const Event& event);
  void begin(Track& track, const Event& event, std::int64_t now);
  void end(Track& track, const Event& event, std::int64_t now);
  void write_slice(const Track& track, const Begun& begun, std::int64_t until);
  void cut(Track& track, std::size_t kept, std::int64_t until);
  void meet(const std::optional<HandOver>& hand);
  void write_times(Track& track, const ThreadTimes& now);
  void write_all_times();
  void note_depth(probe::Kind kind, const HandEnd& at);
  void show_depth(probe::Kind kind, Gauge& gauge, const HandEnd& at);
  void show_last_depths();
  void forget_ended();
  void flush() noexcept;

  Lanes& lanes_;
  TraceFile file_;
  TickRate rate_;
  std::int64_t looked_at_ = 0;  // ticks since the start
  std::int64_t times_at_ = 0;   // nanoseconds since it; those of the threads were written then
  TraceLines lines_;
  NameTexts names_;
  HandOvers hand_overs_;
  std::unordered_map<std::int32_t, Track> tracks_;
  std::vector<Track*> busy_;
  std::array<Gauge, HandOvers::kKinds> gauges_{};
  std::size_t waiting_ = 0;  // events of all tracks
  std::uint64_t unended_ = 0;  // begun, and forgotten
  Tally tally_;
};

}}}  // namespace handoff::HANDOFF_ABI::trace
