// SPDX-License-Identifier: MIT
#include "tracing/critical_path.hpp"
#include "tracing/timeline.hpp"

namespace handoff::lab::tracing {
namespace {

struct End {
  std::uint64_t ns = 0;
  std::uint64_t length_ns = 0;
  std::uint32_t lane = UINT32_MAX;
};

// How long the longest chain is that ends at each moment on each thread.
class Sweep {
 public:
  Sweep(Recording& recording, const std::vector<double>& at_work)
      : recording_(recording), timeline_(recording, at_work), lanes_(recording.lanes.size()) {}

  // Where the longest one ends.
  End run() {
    timeline_.walk(*this);
    return best_;
  }

  // The hand-overs by their arrivals, and what was taken for the end of a wait: by the same.
  [[nodiscard]] const std::vector<std::uint32_t>& arrivals() const { return timeline_.arrivals(); }
  [[nodiscard]] GrowingArray<Hand>& wakes() { return wakes_; }

  void advance(std::uint32_t lane, std::uint64_t ns) { reach(lane, ns); }
  void started(std::uint32_t /*lane*/, std::uint64_t /*ns*/) {}

  void ended(std::uint32_t number, std::uint64_t ns, const Slice& slice) {
    LaneState& lane = lanes_[number];
    const SliceKind kind = recording_.names.kind(slice.name);
    if (!is_wait(kind)) {
      if (ended_[0].lane != number) ended_[1] = ended_[0];
      ended_[0] = {ns, lane.length_ns, number};
      return;
    }
    if (kind != SliceKind::wait && kind != SliceKind::join) return;
    const End& other = ended_[ended_[0].lane == number ? 1 : 0];
    if (other.lane == UINT32_MAX || other.ns <= slice.start_ns) return;
    if (other.length_ns <= lane.length_ns) return;
    lane.length_ns = other.length_ns;
    Hand wake(other.ns, other.lane, ns, number);
    wake.set_length(other.length_ns);
    wake.take();
    wakes_.push_back(wake);
  }

  void depart(std::uint32_t place) {
    Hand& hand = recording_.hands.all()[place];
    hand.set_length(reach(hand.from_lane(), hand.from_ns()).length_ns);
  }

  void arrive(std::uint32_t place) {
    Hand& hand = recording_.hands.all()[place];
    LaneState& lane = reach(hand.to_lane(), hand.to_ns());
    const LaneCursor& cursor = timeline_.at(hand.to_lane());
    const auto& open = cursor.open();
    const bool anew = cursor.is_worker() && open.size() == 1 &&
                      open.front().start_ns == hand.to_ns() && lane.begun_anew_ns != hand.to_ns();
    if (!anew && hand.length_ns() <= lane.length_ns) return;
    if (anew) lane.begun_anew_ns = hand.to_ns();
    hand.take();
    lane.length_ns = hand.length_ns();
  }

 private:
  struct LaneState {
    std::uint64_t last_ns = never;  // nothing before its first event
    std::uint64_t length_ns = 0;
    std::uint64_t begun_anew_ns = never;  // a worker's task that was handed to it: since then
  };

  LaneState& reach(std::uint32_t number, std::uint64_t ns) {
    LaneState& lane = lanes_[number];
    const LaneCursor& cursor = timeline_.at(number);
    if (lane.last_ns != never && cursor.works()) {
      lane.length_ns += cursor.work_between(lane.last_ns, ns);
      if (lane.length_ns > best_.length_ns) best_ = {ns, lane.length_ns, number};
    }
    lane.last_ns = ns;
    return lane;
  }

  Recording& recording_;
  Timeline timeline_;
  std::vector<LaneState> lanes_;
  std::array<End, 2> ended_{};  // the last slices that ended, of two threads
  GrowingArray<Hand> wakes_;
  End best_;
};

// A step of the path: the place of a hand-over, or of what was taken for the end of a wait.
struct Step {
  std::size_t place;
  bool wake;
};

// Millions of them, in 4 bytes each.
class Steps {
 public:
  void push_back(const Step& step) {
    packed_.push_back(static_cast<std::uint32_t>(2 * step.place + (step.wake ? 1 : 0)));
  }
  [[nodiscard]] std::size_t size() const { return packed_.size(); }
  [[nodiscard]] Step at(std::size_t i) const {
    const std::uint32_t packed = packed_.all()[i];
    return {packed / 2, packed % 2 == 1};
  }

 private:
  GrowingArray<std::uint32_t> packed_;
};

// Back from the end: what the chain came by, the last one first.
Steps steps_back(Recording& recording, Sweep& sweep, const End& end) {
  const auto hands = recording.hands.all();
  const auto wakes = sweep.wakes().all();
  const auto& arrivals = sweep.arrivals();
  Steps steps;
  std::size_t hand = arrivals.size();
  std::size_t wake = wakes.size();
  std::uint64_t ns = end.ns;
  std::uint64_t lane = end.lane;
  while (hand > 0 || wake > 0) {
    const bool a_wake =
        hand == 0 || (wake > 0 && wakes[wake - 1].to_ns() > hands[arrivals[hand - 1]].to_ns());
    const Hand& one = a_wake ? wakes[--wake] : hands[arrivals[--hand]];
    // What arrives at a moment is not there yet for what is handed over or ends at the same one.
    const bool before = a_wake ? one.to_ns() <= ns : one.to_ns() < ns;
    if (!one.taken() || one.to_lane() != lane || !before) continue;
    steps.push_back({a_wake ? wake : std::size_t{arrivals[hand]}, a_wake});
    ns = one.from_ns();
    lane = one.from_lane();
  }
  return steps;
}

// Forward along the path: whose time it is.
class Parts {
 public:
  Parts(const Recording& recording, const std::vector<double>& at_work) : recording_(recording) {
    for (const LaneCursor& cursor : cursors_of(recording, at_work)) places_.push_back({cursor, 0});
    of_names_.resize(recording.names.size());
    outside_.resize(recording.lanes.size());
  }

  void add(std::size_t lane, std::uint64_t from_ns, std::uint64_t to_ns) {
    move(lane, from_ns, false);
    move(lane, to_ns, true);
  }

  [[nodiscard]] std::vector<PathPart> longest_first() const {
    std::vector<PathPart> parts;
    for (std::uint32_t i = 0; i < of_names_.size(); ++i) {
      const Names::Name& name = recording_.names.at(i);
      if (of_names_[i] > 0) parts.push_back({name.category, name.text, of_names_[i], false});
    }
    const std::vector<std::string> lanes = recording_.lane_names();
    for (std::size_t i = 0; i < outside_.size(); ++i) {
      if (outside_[i] > 0) parts.push_back({"", lanes[i], outside_[i], true});
    }
    std::ranges::stable_sort(parts, std::ranges::greater(), &PathPart::ns);
    return parts;
  }

 private:
  struct Place {
    LaneCursor cursor;
    std::uint64_t ns;
  };

  void move(std::size_t number, std::uint64_t to_ns, bool counted) {
    Place& place = places_[number];
    LaneCursor& cursor = place.cursor;
    const auto until = [&](std::uint64_t ns) {
      if (counted && cursor.works() && ns > place.ns) {
        const std::uint64_t passed = cursor.work_between(place.ns, ns);
        (cursor.open().empty() ? outside_[number] : of_names_[cursor.open().back().name]) += passed;
      }
      place.ns = std::max(place.ns, ns);
    };
    for (;;) {
      const std::uint64_t end = cursor.next_end();
      const std::uint64_t start = cursor.next_start();
      if (std::min(end, start) > to_ns) break;
      until(std::min(end, start));
      if (end <= start) {
        cursor.end();
      } else {
        cursor.start();
      }
    }
    until(to_ns);
  }

  const Recording& recording_;
  std::vector<Place> places_;
  std::vector<std::uint64_t> of_names_;
  std::vector<std::uint64_t> outside_;
};

// The first moment that a thread is known at.
std::uint64_t beginning_of(const Recording& recording, std::size_t lane) {
  const Lane& one = recording.lanes[lane];
  std::uint64_t first = one.size() > 0 ? one.at(0).start_ns : never;
  for (const Hand& hand : recording.hands.all()) {
    if (hand.from_lane() == lane) first = std::min<std::uint64_t>(first, hand.from_ns());
    if (hand.to_lane() == lane) first = std::min<std::uint64_t>(first, hand.to_ns());
  }
  return first;
}

}  // namespace

CriticalPath critical_path(Recording& recording, const std::vector<double>& at_work) {
  CriticalPath path;
  Sweep sweep(recording, at_work);
  const End end = sweep.run();
  if (end.length_ns == 0) return path;
  path.length_ns = end.length_ns;
  const Steps steps = steps_back(recording, sweep, end);
  const auto hands = recording.hands.all();
  const auto wakes = sweep.wakes().all();
  const auto hand_of = [&](const Step& step) -> const Hand& {
    return step.wake ? wakes[step.place] : hands[step.place];
  };
  Parts parts(recording, at_work);
  std::size_t lane = steps.size() == 0 ? end.lane : hand_of(steps.at(steps.size() - 1)).from_lane();
  std::uint64_t since = beginning_of(recording, lane);
  for (std::size_t i = steps.size(); i-- > 0;) {
    const Step step = steps.at(i);
    const Hand& hand = hand_of(step);
    parts.add(lane, since, hand.from_ns());
    path.hand_overs += step.wake ? 0 : 1;
    path.between_ns += hand.to_ns() - hand.from_ns();
    lane = hand.to_lane();
    since = hand.to_ns();
  }
  parts.add(lane, since, end.ns);
  path.parts = parts.longest_first();
  return path;
}

}  // namespace handoff::lab::tracing
