// SPDX-License-Identifier: MIT
//
// Is a history of calls one that a sequential object could have given, each call taking effect at
// some moment between its begin and its end?
//
//   History<QueueCall> history;
//   history.call(QueueCall{...}, [&](QueueCall& call) { call.result = ring.try_push(...); });
//   linearizable(history.calls(), State{}, apply)
//
// For: histories of a scenario, of some 16 calls at most. Not for: real threads; the moments are
// counted in the explorer's one order.
// J. M. Wing and C. Gong, "Testing and Verifying Concurrent Objects", 1993: try every call that may
// come next, and remember which (done calls, state) led nowhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

#include <explore/engine/explore.hpp>

namespace handoff::test {

template <class Call>
struct Timed {
  Call call;
  unsigned begin = 0;
  unsigned end = 0;

  bool overlaps(const Timed& other) const { return begin < other.end && other.begin < end; }
};

template <class Call>
class History {
 public:
  // Runs perform(call), which makes the call and writes down its result.
  template <class Perform>
  void call(Call call, Perform perform) {
    const unsigned begin = tick();
    perform(call);
    const explore::Unwatched unwatched;
    calls_.push_back({std::move(call), begin, now_++});
  }
  const std::vector<Timed<Call>>& calls() const { return calls_; }
  void clear() {
    calls_.clear();
    now_ = 0;
  }

 private:
  unsigned tick() {
    const explore::Unwatched unwatched;
    return now_++;
  }

  std::vector<Timed<Call>> calls_;
  unsigned now_ = 0;
};

namespace detail {

template <class Call, class State, class Apply>
class LinearizationSearch {
 public:
  LinearizationSearch(const std::vector<Timed<Call>>& calls, const Apply& apply)
      : calls_(calls), apply_(apply) {}

  bool possible(std::uint32_t done, const State& state) {
    if (done == (std::uint32_t{1} << calls_.size()) - 1) return true;
    if (!tried_.emplace(done, state).second) return false;
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) != 0 || !may_be_next(done, i)) continue;
      State next = state;
      if (apply_(next, calls_[i]) && possible(done | std::uint32_t{1} << i, next)) return true;
    }
    return false;
  }

 private:
  // No other call that is still to come had ended before this one began.
  bool may_be_next(std::uint32_t done, std::size_t candidate) const {
    for (std::size_t i = 0; i < calls_.size(); ++i) {
      if ((done >> i & 1) == 0 && calls_[i].end < calls_[candidate].begin) return false;
    }
    return true;
  }

  const std::vector<Timed<Call>>& calls_;
  const Apply& apply_;
  std::set<std::pair<std::uint32_t, State>> tried_;
};

}  // namespace detail

// apply(state, timed_call) changes the state as the call did and says whether the call could have
// had its result there. States are compared with <.
template <class Call, class State, class Apply>
bool linearizable(const std::vector<Timed<Call>>& calls, const State& initial, const Apply& apply) {
  return detail::LinearizationSearch<Call, State, Apply>(calls, apply).possible(0, initial);
}

}  // namespace handoff::test
