// SPDX-License-Identifier: MIT
//
// An active object: messages against its close, and what close() may read. The bus has scenarios of
// its own.
#include <handoff/bus/active_object.hpp>

#include "explore/scenario.hpp"

namespace active_object_scenarios { namespace {

using namespace handoff;
using test::Scenario;

struct Number {
  int value = 0;
};
// Plain: only its thread touches it, and the thread that has closed it.
struct Sum {
  int sum = 0;
  void operator()(const Number& number) { sum += number.value; }
};

const Scenario close_against_publish("active_object/close_against_publish", [] {
  ActiveObject<Sum, Number> object({.capacity = 2});
  int accepted = 0;
  explore::Thread sender([&] {
    if (object.try_publish(Number{1}) == Status::ok) ++accepted;
  });
  const Tally tally = object.close();
  sender.join();
  explore::check(tally.balanced() && tally.pending == 0, "all is told");
  explore::check(object.state().sum == accepted, "what was accepted was handled");
  explore::check(tally.done == static_cast<std::uint64_t>(accepted), "and counted");
  explore::outcome(tally.done);
});

const Scenario abandon("active_object/abandon", [] {
  ActiveObject<Sum, Number> object({.capacity = 2});
  explore::check(object.try_publish(Number{1}) == Status::ok, "there is room");
  const Tally tally = object.close(Closing::abandon);
  explore::check(tally.done + tally.cancelled == 1 && tally.balanced(), "one of the two");
  explore::check(object.state().sum == static_cast<int>(tally.done), "as it is told");
  explore::outcome(tally.done);
});

// A handler that closes its own object is told of the misuse, also while another thread closes it.
struct ClosesItself {
  ActiveObject<ClosesItself, Number>** self;
  int* refused;
  void operator()(const Number&) const {
    try {
      (void)(*self)->close();
    } catch (const std::logic_error&) {
      ++*refused;
    }
  }
};
const Scenario close_inside("active_object/close_inside_beside_a_close", [] {
  int refused = 0;
  ActiveObject<ClosesItself, Number>* self = nullptr;
  ActiveObject<ClosesItself, Number> object({.capacity = 2}, ClosesItself{&self, &refused});
  self = &object;
  explore::check(object.try_publish(Number{1}) == Status::ok, "there is room");
  const Tally tally = object.close();
  explore::check(refused == 1, "it is misuse");
  explore::check(tally.done == 1, "which its handler has caught");
});

}}  // namespace active_object_scenarios
