// SPDX-License-Identifier: MIT
// The least that an event needs on its way to another thread: a bare ring for one producer and one
// consumer, which never sleeps, whatever it is asked for.
#include "peers/bare_ring.hpp"
#include "scenarios/events/function_table.hpp"
#include "scenarios/events/measure.hpp"

namespace handoff::lab::events {
namespace {

class Ring : public CallsByIndex {
 public:
  explicit Ring(const Task& /*task*/) {}

  void enqueue(int key, const Payload& payload) {
    while (!ring_.try_push([&](Event& event) { event = {key, payload}; })) {
    }
  }
  void process() {
    while (ring_.try_pop([this](const Event& event) { functions_(event.key, event.payload); })) {
    }
  }

 private:
  struct Event {
    int key = 0;
    Payload payload;
  };

  peers::BareRing<Event> ring_;
};

}  // namespace

Operation contender(const Task& task) { return measure<Ring>(task); }

}  // namespace handoff::lab::events
