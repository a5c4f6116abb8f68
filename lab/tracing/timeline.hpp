// SPDX-License-Identifier: MIT
// A recording from its first moment to its last, all threads together.
#pragma once

#include "tracing/recording.hpp"

namespace handoff::lab::tracing {

inline constexpr std::uint64_t never = UINT64_MAX;

// A thread at a moment that only goes forward: what is open there.
class LaneCursor {
 public:
  // `at_work`: the share of the time outside of its waits that it was not just ready for a CPU.
  LaneCursor(const Recording& recording, const Lane& lane, bool worker, double at_work)
      : recording_(&recording), lane_(&lane), worker_(worker), at_work_(at_work) {}

  [[nodiscard]] std::uint64_t next_start() const {
    return next_ < lane_->size() ? lane_->at(next_).start_ns : never;
  }
  [[nodiscard]] std::uint64_t next_end() const {
    return open_.empty() ? never : open_.back().end_ns;
  }
  // Whether time that passes now is work: in a slice without its waits, but for those for a file;
  // of a thread that is no worker also outside of slices.
  [[nodiscard]] bool works() const {
    if (open_.empty()) return !worker_;
    const SliceKind kind = recording_->names.kind(open_.back().name);
    return !is_wait(kind) || kind == SliceKind::io;
  }
  // Of that time: what lies between two moments. Sums do not depend on where they are cut.
  [[nodiscard]] std::uint64_t work_between(std::uint64_t from_ns, std::uint64_t to_ns) const {
    const auto until = [this](std::uint64_t ns) {
      return static_cast<std::uint64_t>(static_cast<double>(ns) * at_work_);
    };
    return until(to_ns) - until(from_ns);
  }
  [[nodiscard]] const std::vector<Slice>& open() const { return open_; }
  [[nodiscard]] bool is_worker() const { return worker_; }

  void start() {
    Slice slice = lane_->at(next_++);
    if (!open_.empty()) slice.end_ns = std::min(slice.end_ns, open_.back().end_ns);
    open_.push_back(slice);
  }
  Slice end() {
    const Slice slice = open_.back();
    open_.pop_back();
    return slice;
  }

 private:
  const Recording* recording_;
  const Lane* lane_;
  bool worker_;
  double at_work_;
  std::size_t next_ = 0;
  std::vector<Slice> open_;
};

// A worker is a thread that has slept for want of work, or that this library has named.
inline std::vector<LaneCursor> cursors_of(const Recording& recording,
                                          const std::vector<double>& at_work) {
  std::vector<LaneCursor> cursors;
  for (std::size_t i = 0; i < recording.lanes.size(); ++i) {
    const Lane& lane = recording.lanes[i];
    bool worker = lane.name.starts_with("handoff");
    for (std::size_t slice = 0; slice < lane.size() && !worker; ++slice) {
      worker = recording.names.kind(lane.at(slice).name) == SliceKind::idle;
    }
    cursors.emplace_back(recording, lane, worker, at_work[i]);
  }
  return cursors;
}

class Timeline {
 public:
  Timeline(const Recording& recording, const std::vector<double>& at_work)
      : recording_(recording), cursors_(cursors_of(recording, at_work)) {
    const auto hands = recording.hands.all();
    arrivals_.resize(hands.size());
    std::iota(arrivals_.begin(), arrivals_.end(), 0U);
    std::ranges::sort(arrivals_, [&](std::uint32_t a, std::uint32_t b) {
      return hands[a].to_ns() != hands[b].to_ns() ? hands[a].to_ns() < hands[b].to_ns() : a < b;
    });
  }

  [[nodiscard]] const LaneCursor& at(std::uint32_t lane) const { return cursors_[lane]; }
  // The hand-overs, by their places, in the order of their arrivals.
  [[nodiscard]] const std::vector<std::uint32_t>& arrivals() const { return arrivals_; }

  // Once. Tells each.advance(lane, ns) before a slice starts or ends there, each.started(lane, ns)
  // and each.ended(lane, ns, slice) when it has, each.depart(place) and each.arrive(place) of the
  // hand-overs.
  template <class Each>
  void walk(Each& each) {
    for (std::uint32_t i = 0; i < cursors_.size(); ++i) queue(i);
    const auto hands = recording_.hands.all();
    std::uint32_t departed = 0;
    std::size_t arrived = 0;
    for (;;) {
      const auto [lane_ns, rank, lane] = queue_.empty() ? Next{never, 0, 0} : queue_.top();
      const std::uint64_t from = departed < hands.size() ? hands[departed].from_ns() : never;
      const std::uint64_t to =
          arrived < arrivals_.size() ? hands[arrivals_[arrived]].to_ns() : never;
      const Order first =
          std::min({Order{lane_ns, rank}, Order{from, departs}, Order{to, arrives}});
      if (first.first == never) return;
      if (first.second == departs) {
        each.depart(departed++);
      } else if (first.second == arrives) {
        each.arrive(arrivals_[arrived++]);
      } else {
        queue_.pop();
        pass(each, lane, lane_ns, rank);
        queue(lane);
      }
    }
  }

 private:
  // What comes first of what is at the same time.
  static constexpr int ends = 0;
  static constexpr int departs = 1;
  static constexpr int starts = 2;
  static constexpr int arrives = 3;
  using Order = std::pair<std::uint64_t, int>;
  using Next = std::tuple<std::uint64_t, int, std::uint32_t>;

  void queue(std::uint32_t lane) {
    const LaneCursor& cursor = cursors_[lane];
    const Order next = std::min(Order{cursor.next_end(), ends}, Order{cursor.next_start(), starts});
    if (next.first != never) queue_.emplace(next.first, next.second, lane);
  }

  template <class Each>
  void pass(Each& each, std::uint32_t lane, std::uint64_t ns, int rank) {
    each.advance(lane, ns);
    if (rank == ends) {
      each.ended(lane, ns, cursors_[lane].end());
    } else {
      cursors_[lane].start();
      each.started(lane, ns);
    }
  }

  const Recording& recording_;
  std::vector<LaneCursor> cursors_;
  std::vector<std::uint32_t> arrivals_;
  std::priority_queue<Next, std::vector<Next>, std::greater<>> queue_;
};

}  // namespace handoff::lab::tracing
