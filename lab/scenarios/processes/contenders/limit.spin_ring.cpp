// SPDX-License-Identifier: MIT
// The least that a message needs: a bare ring each way in memory of both processes, which knows its
// size, checks nothing of what the other process wrote, never sleeps and cannot be closed.
#include <array>

#include "peers/bare_ring.hpp"
#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class SpinRings {
 public:
  void open(Side side) {
    in_ = &(*rings_)[receives_by(side)];
    out_ = &(*rings_)[sends_by(side)];
  }
  template <class Make>
  void send(Make&& make) {
    peers::retry_at_once([&] { return out_->try_push(make); });
  }
  template <class Take>
  void receive(Take&& take) {
    peers::retry_at_once([&] { return in_->try_pop(take); });
  }

 private:
  using Ring = peers::BareRing<Message, places_for(sizeof(Message))>;

  Common<std::array<Ring, 2>> rings_;
  Ring* in_ = nullptr;
  Ring* out_ = nullptr;
};

}  // namespace

Operation contender(const Task& task) { return measure<SpinRings>(task); }

}  // namespace handoff::lab::processes
