// SPDX-License-Identifier: MIT
//
// The order of events, and what each of them means.
#include "trace_writer.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <handoff/sync/cpu_budget.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace trace {

using probe::Kind;
using probe::Mark;

namespace {

constexpr std::size_t kMany = 4096;  // events: the next look comes at once
constexpr std::size_t kFlushBytes = 1U << 18U;
constexpr std::size_t kWaitingMost = 1U << 20U;  // events: 24 MiB
constexpr std::size_t kWrittenBetween = 1U << 11U;  // events that are written between two
constexpr std::int64_t kBetweenTimes = 100'000'000;  // nanoseconds
constexpr std::int64_t kBetweenDepths = 50'000;  // nanoseconds
// The rate of the ticks is measured over this time.
constexpr std::chrono::nanoseconds kMeasured = std::chrono::milliseconds(10);
// The most that has begun and not ended: what is deeper counts as something whose end was dropped.
constexpr std::size_t kDeepest = 4096;
constexpr std::size_t kLooksBack = 64;

std::string_view category(Kind kind) noexcept {
  constexpr std::array<std::string_view, 11> names{"task",    "loop", "event",   "message",
                                                   "command", "file", "process", "sleep",
                                                   "steal",   "wake", "spin"};
  return names[static_cast<std::size_t>(kind)];
}

std::string_view queue_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::task: return "pool queue";
    case Kind::event: return "event queue";
    case Kind::message: return "message queue";
    case Kind::file: return "file requests";
    case Kind::process: return "process jobs";
    default: return {};
  }
}

// What this program is called.
std::string program_name() {
  std::array<char, 4096> path;  // no initial value: only what was read is used
  const ssize_t got = ::readlink("/proc/self/exe", path.data(), path.size());
  if (got <= 0) return "program";
  const std::string_view whole(path.data(), static_cast<std::size_t>(got));
  return std::string(whole.substr(whole.rfind('/') + 1));
}

}  // namespace

[[gnu::cold]] TraceWriter::TraceWriter(Lanes& lanes, TraceFile file, bool by_cycles)
    : lanes_(lanes), file_(std::move(file)), rate_(by_cycles), lines_(::getpid()) {
  lines_.begin(program_name());
  lines_.cpus(sync::cpu_budget().width());
  lanes_.visit([this](Lane& lane, const LaneOwner& owner, bool is_left) {
    lane.read([](const Event&) {});
    (void)lane.take_dropped();
    if (!is_left) track_of(owner).times = times_of(owner.thread);
  });
  (void)lanes_.take_lost();
}

bool TraceWriter::look() {
  const std::int64_t until =
      std::exchange(looked_at_, static_cast<std::int64_t>(rate_.now() - rate_.start()));
  const std::size_t count = collect();
  if (rate_.age() < kMeasured) {
    flush();
    return count >= kMany;
  }
  rate_.measure();
  write_until(until);
  show_last_depths();
  const std::int64_t now = rate_.nanoseconds(looked_at_);
  if (now - times_at_ >= kBetweenTimes) {
    times_at_ = now;
    write_all_times();
  }
  forget_ended();
  flush();
  return count >= kMany;
}

void TraceWriter::finish() {
  collect();
  rate_.measure();
  const std::int64_t now =
      rate_.nanoseconds(static_cast<std::int64_t>(rate_.now() - rate_.start()));
  do {
    write_until(std::numeric_limits<std::int64_t>::max());
  } while (collect() != 0);
  show_last_depths();
  write_all_times();
  for (auto& [thread, track] : tracks_) {
    const bool goes_on = !track.is_left && !track.has_dropped;
    cut(track, 0, goes_on ? std::max(now, track.last) : track.last);
  }
  tally_.dropped += lanes_.take_lost();
  tally_.written = lines_.count();
  tally_.open = hand_overs_.open() + unended_;
  lines_.end(tally_);
  flush();
}

TraceWriter::Track& TraceWriter::track_of(const LaneOwner& owner) {
  const auto [at, is_new] = tracks_.try_emplace(owner.thread);
  if (is_new) {
    at->second.thread = owner.thread;
    lines_.thread(owner.thread, in_json(owner.name.data()));
  }
  return at->second;
}

// Takes what is in the lanes; returns how many events that were.
std::size_t TraceWriter::collect() {
  std::size_t count = 0;
  if (waiting_ >= kWaitingMost) return count;
  lanes_.visit([&](Lane& lane, const LaneOwner& owner, bool is_left) {
    Track& track = track_of(owner);
    track.is_left = is_left;
    const std::size_t before = track.events.size();
    lane.read([&track](const Event& event) { track.events.push_back(event); });
    count += track.events.size() - before;
    const std::uint64_t dropped = lane.take_dropped();
    track.has_dropped = track.has_dropped || dropped != 0;
    tally_.dropped += dropped;
  });
  waiting_ += count;
  return count;
}

std::int64_t TraceWriter::head_of(const Track& track) const noexcept {
  if (track.next == track.events.size()) return std::numeric_limits<std::int64_t>::max();
  return track.events[track.next].ticks_since(rate_.start());
}

// All threads' events in one order. Those of one thread come in rows, most of the time.
[[gnu::cold]] void TraceWriter::write_until(std::int64_t ticks) {
  busy_.clear();
  for (auto& [thread, track] : tracks_) {
    if (!track.events.empty()) busy_.push_back(&track);
  }
  std::size_t until_look = kWrittenBetween;
  for (;;) {
    Track* first = nullptr;
    std::int64_t first_head = std::numeric_limits<std::int64_t>::max();
    std::int64_t second_head = first_head;
    for (Track* const track : busy_) {
      const std::int64_t head = head_of(*track);
      if (head < first_head) {
        second_head = std::exchange(first_head, head);
        first = track;
      } else {
        second_head = std::min(second_head, head);
      }
    }
    if (first == nullptr || first_head > ticks) break;
    const std::int64_t last = std::min(second_head, ticks);
    while (first->next < first->events.size() && head_of(*first) <= last && until_look != 0) {
      const Event event = first->events[first->next++];
      write(*first, event);
      --until_look;
    }
    if (lines_.text().size() >= kFlushBytes) flush();
    if (until_look != 0) continue;
    collect();
    until_look = kWrittenBetween;
  }
  for (Track* const track : busy_) {
    waiting_ -= track->next;
    const auto begin = track->events.begin();
    track->events.erase(begin, begin + static_cast<std::ptrdiff_t>(track->next));
    track->next = 0;
  }
}

[[gnu::cold]] void TraceWriter::write(Track& track, const Event& event) {
  if (event.is_text()) {
    std::array<char, Event::kTextBytes + 1> text{};
    const std::array<std::uint64_t, 2> words{event.name, event.what};
    __builtin_memcpy(text.data(), words.data(), Event::kTextBytes);
    track.text += text.data();
    return;
  }
  if (event.is_gap()) {
    cut(track, 0, track.last);
    track.text.clear();
    return;
  }
  if (event.is_times()) {
    const bool is_end = track.times.has_value();  // its number may be another one's from here on
    write_times(track, event.times());
    if (is_end) track.times.reset();
    return;
  }
  const std::int64_t when = rate_.nanoseconds(event.ticks_since(rate_.start()));
  if (when < 0) return;  // noted before the start, by a thread that was slow to do so
  // Each later than the one before: so what is handed over lies in the slice that it lies in.
  const std::int64_t now = track.last = std::max(track.last + 1, when);
  ++tally_.recorded;
  const HandEnd here{track.thread, now, track.begun.empty()};
  const Kind kind = event.kind();
  switch (event.mark()) {
    case Mark::hand: meet(hand_overs_.hand(kind, event.what, here)); break;
    case Mark::share: hand_overs_.share(event.what, here); break;
    case Mark::move: hand_overs_.move(kind, event.what, event.name, here); break;
    case Mark::begin:
    case Mark::begin_named: begin(track, event, now); break;
    case Mark::end: end(track, event, now); break;
    case Mark::gone: hand_overs_.forget(event.what); break;
    case Mark::moment: lines_.moment(category(kind), track.thread, now); break;
  }
  note_depth(kind, here);
}

[[gnu::cold]] void TraceWriter::begin(Track& track, const Event& event, std::int64_t now) {
  const Kind kind = event.kind();
  std::optional<HandOver> hand;
  if (event.what != 0) hand = hand_overs_.take(kind, event.what, {track.thread, now});
  Begun& begun = track.begun.emplace_back(Begun{kind, event.what, now, {}, {}, hand});
  if (event.mark() == Mark::begin_named) {
    begun.text = in_json(spoken(track.text));
    if (begun.text.empty()) begun.text = category(kind);
  } else {
    begun.name = names_.of(event.name, category(kind));
  }
  track.text.clear();
  if (track.begun.size() == kDeepest) cut(track, 0, now);
}

[[gnu::cold]] void TraceWriter::end(Track& track, const Event& event, std::int64_t now) {
  std::vector<Begun>& begun = track.begun;
  const std::size_t depth = std::min(begun.size(), kLooksBack);
  const auto last = begun.rbegin() + static_cast<std::ptrdiff_t>(depth);
  const auto found = std::find_if(begun.rbegin(), last, [&event](const Begun& each) {
    return each.what == event.what && each.kind == event.kind();
  });
  if (found == last) return;
  cut(track, static_cast<std::size_t>(begun.rend() - found), now);  // what lies in it
  write_slice(track, begun.back(), now);
  begun.pop_back();
}

[[gnu::cold]] void TraceWriter::write_slice(const Track& track, const Begun& begun,
                                            std::int64_t until) {
  const std::string_view name = begun.text.empty() ? begun.name : std::string_view(begun.text);
  lines_.slice(category(begun.kind), name, track.thread, begun.when, until);
  if (begun.hand) lines_.hand_over(*begun.hand);
}

// What was begun and whose end is not known is as long as the thread was surely in it. Otherwise
// it would be no slice, and what was handed over in it no arrow.
[[gnu::cold]] void TraceWriter::cut(Track& track, std::size_t kept, std::int64_t until) {
  for (; track.begun.size() > kept; track.begun.pop_back()) {
    write_slice(track, track.begun.back(), until);
    ++unended_;
  }
}

// A hand-over stands behind the slice that it led to: of what has one time Perfetto reads what
// stands first in the file, and an arrow ends in a slice that it knows.
void TraceWriter::meet(const std::optional<HandOver>& hand) {
  if (!hand) return;
  const auto taker = tracks_.find(hand->to.thread);
  if (taker != tracks_.end()) {
    for (Begun& each : taker->second.begun) {
      if (each.when != hand->to.when || each.hand) continue;
      each.hand = hand;
      return;
    }
  }
  lines_.hand_over(*hand);  // that slice has ended
}

// What was added since they were written last. At the first event of a thread nothing was.
void TraceWriter::write_times(Track& track, const ThreadTimes& now) {
  const std::optional<ThreadTimes> last = std::exchange(track.times, now);
  if (last) lines_.times(track.thread, {now.cpu - last->cpu, now.ready - last->ready});
}

// Writes the times of all threads that go on, so that a program that is killed has some.
void TraceWriter::write_all_times() {
  for (auto& [thread, track] : tracks_) {
    const auto times = track.times ? times_of(thread) : std::nullopt;
    if (times) write_times(track, *times);
  }
}

// Not each change is shown: the lines would be more than all the others.
void TraceWriter::note_depth(Kind kind, const HandEnd& at) {
  if (queue_name(kind).empty()) return;
  Gauge& gauge = gauges_[static_cast<std::size_t>(kind)];
  gauge.changed_at = at.when;
  gauge.thread = at.thread;
  if (at.when - gauge.shown_at >= kBetweenDepths) show_depth(kind, gauge, at);
}

void TraceWriter::show_depth(Kind kind, Gauge& gauge, const HandEnd& at) {
  const std::size_t depth = hand_overs_.under_way(kind);
  if (depth == gauge.shown) return;
  gauge.shown = depth;
  gauge.shown_at = at.when;
  lines_.depth(queue_name(kind), at.thread, at.when, depth);
}

void TraceWriter::show_last_depths() {
  for (std::size_t i = 0; i < gauges_.size(); ++i) {
    const auto kind = static_cast<Kind>(i);
    Gauge& gauge = gauges_[i];
    if (!queue_name(kind).empty()) show_depth(kind, gauge, {gauge.thread, gauge.changed_at});
  }
}

// Threads that have ended, and all of whose events are written.
void TraceWriter::forget_ended() {
  for (auto& [thread, track] : tracks_) {
    if (track.is_left && track.events.empty()) cut(track, 0, track.last);
  }
  std::erase_if(tracks_, [](const auto& entry) {
    return entry.second.is_left && entry.second.events.empty();
  });
}

void TraceWriter::flush() noexcept {
  if (!tally_.error) tally_.error = file_.write(lines_.text());
  lines_.clear();
}

}}}  // namespace handoff::HANDOFF_ABI::trace
