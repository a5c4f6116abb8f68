// SPDX-License-Identifier: MIT
//
// What listeners, visitors and choosers may not be, what a box does not hold, and what an event
// queue of the wrong type cannot do.

#include <chrono>
#include <stop_token>
#include <string>

#include <handoff/core/status.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/event/any_data.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_queue.hpp>

using namespace std::chrono_literals;
using handoff::OnFull;

struct Bounded : handoff::EventPolicies {
  static constexpr bool bounded = true;
  static constexpr bool expires = true;
};
struct Waits : handoff::EventPolicies {
  static constexpr OnFull on_full = OnFull::wait;
};
template <class Policies = handoff::EventPolicies>
using Queue = handoff::EventQueue<int, void(int), Policies>;

int enqueue_wrongly() {
  Queue<> queue;
  Queue<Bounded> waiting({.on_full = OnFull::wait});
  if (waiting.enqueue(1ms, 1, 2) != queue.enqueue(1, 2)) return 1;
  if (waiting.enqueue_expiring(1ms, 1, 2) != waiting.enqueue_expiring(1s, 1, 2)) return 1;
  std::stop_source stopper;
  const std::stop_token stop = stopper.get_token();

  // wrong: on_full is no policy of an event queue
  // Queue<Waits> waits;
  // wrong: leave the capacity out, or set bounded
  // Queue<> with_capacity({.capacity = 64});
  // wrong: do not expire: set expires = true in its policies
  // if (queue.enqueue_expiring(1ms, 1, 2) != handoff::Status::ok) return 1;
  // wrong: expires after a duration or at a moment
  // if (waiting.enqueue_expiring(stop, 1, 2) != handoff::Status::ok) return 1;
  // wrong: called with the key and all arguments
  // struct ByKeyAlone : handoff::EventPolicies {
  //   static int priority(int key) { return key; }
  // };
  // Queue<ByKeyAlone> by_key_alone;
  // wrong: takes the key and the arguments of the signature
  // if (queue.enqueue(1, "text") != handoff::Status::ok) return 1;
  // wrong: takes the key and the arguments of the signature
  // if (queue.enqueue(1) != handoff::Status::ok) return 1;
  // wrong: an Until comes first
  // if (waiting.enqueue(1, 2, 1ms) != handoff::Status::ok) return 1;
  // wrong: system_clock
  // if (queue.wait(std::chrono::system_clock::now() + 1s) != handoff::Status::ok) return 1;
  // wrong: says whether the call did what it should
  // queue.enqueue(1, 2);
  return 0;
}

void drain_wrongly() {
  Queue<> queue;
  queue.drain([](int, int) { return handoff::Next::leave; });
  queue.drain_if([] { return handoff::Next::leave; });

  // wrong: the visitor takes key and arguments, and returns void
  // queue.drain([](int, int) { return true; });
  // wrong: the visitor takes key and arguments, and returns
  // queue.drain([](int) {});
  // wrong: all const, and returns handoff::Next
  // queue.drain_if([](int value) { return value > 0; });
  // wrong: drain_if: the chooser takes key and arguments
  // queue.drain_if([](const std::string&) { return handoff::Next::take; });
}

int main() {
  drain_wrongly();
  handoff::AnyData<> data(1);
  handoff::CallbackList<void()> list;
  struct HasNoWidth {
    handoff::Status try_post(handoff::UniqueFunction<void()>) { return handoff::Status::ok; }
  } no_executor;

  // wrong: none of them may be moved from
  // handoff::CallbackList<void(std::string&&)> moved_from;
  // wrong: a listener takes the arguments of the
  // list.append([](int) {});
  // wrong: a listener takes the arguments of the
  // handoff::EventQueue<int, void(int)> queue;
  // queue.append_listener(1, [](const std::string&) {});
  // wrong: no matching
  // handoff::EventQueue<int, void(int)> keyed;
  // keyed.append_listener([](int) {});
  // wrong: a listener takes the arguments of the
  // handoff::CallbackList<bool(int)> deciding;
  // deciding.append([](int) {});
  // wrong: no match
  // handoff::CallbackList<void(int&)> changing;
  // changing(1);
  // wrong: takes an executor, which has try_post
  // list.append_on(no_executor, [] {});
  // wrong: deleted
  // handoff::AnyData<> copy = data;
  // wrong: values, not references
  // int number = 0;
  // data.emplace<int&>(number);
  return enqueue_wrongly();
}
