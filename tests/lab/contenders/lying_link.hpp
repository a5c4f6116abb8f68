// SPDX-License-Identifier: MIT
// For tests: a link between two processes, of which the second one is told something else than what
// was sent.
#pragma once

#include <array>

#include "peers/bare_ring.hpp"
#include "scenarios/processes/measure.hpp"

namespace handoff::lab::processes {

// lie(message, number) changes what was received.
template <class Message, void (*lie)(Message&, std::uint64_t)>
class LyingLink {
 public:
  void open(Side side) {
    in_ = &(*rings_)[receives_by(side)];
    out_ = &(*rings_)[sends_by(side)];
    lies_ = side == Side::second;
  }
  template <class Make>
  void send(Make&& make) {
    peers::retry([&] { return out_->try_push(make); });
  }
  template <class Take>
  void receive(Take&& take) {
    peers::retry([&] {
      return in_->try_pop([&](Message& message) {
        if (lies_) lie(message, number_++);
        take(message);
      });
    });
  }

 private:
  using Ring = peers::BareRing<Message, places_for(sizeof(Message))>;

  Common<std::array<Ring, 2>> rings_;
  Ring* in_ = nullptr;
  Ring* out_ = nullptr;
  bool lies_ = false;
  std::uint64_t number_ = 0;
};

}  // namespace handoff::lab::processes
