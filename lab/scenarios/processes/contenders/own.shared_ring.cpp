// SPDX-License-Identifier: MIT
// This library's ring in shared memory; messages are written and read in its places.
#include <handoff/process/shared_ring.hpp>

#include "scenarios/processes/measure.hpp"
#include "scenarios/processes/own_rings.hpp"

namespace handoff::lab::processes {
namespace {

template <class Message>
class SharedRings {
 public:
  void open(Side side) { rings_.open(side); }

  template <class Make>
  void send(Make&& make) {
    Message* place = nullptr;
    require_ok(rings_.out().claim(place));
    make(*place);
    require_ok(rings_.out().publish());
  }
  template <class Take>
  void receive(Take&& take) {
    const Message* place = nullptr;
    require_ok(rings_.in().peek(place));
    take(*place);
    rings_.in().release();
  }

 private:
  OwnRings<SharedRing<Message>> rings_{places_for(sizeof(Message))};
};

}  // namespace

Operation contender(const Task& task) { return measure<SharedRings>(task); }

}  // namespace handoff::lab::processes
