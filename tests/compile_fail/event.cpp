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

#if defined(WRONG_on_full_of_the_policies)  // expect: on_full is no policy of an event queue
  Queue<Waits> waits;
#endif
#if defined(WRONG_capacity_where_it_grows)  // expect: leave the capacity out, or set bounded
  Queue<> with_capacity({.capacity = 64});
#endif
#if defined(WRONG_expires)  // expect: do not expire: set expires = true in its policies
  if (queue.enqueue_expiring(1ms, 1, 2) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_expires_by_a_stop)  // expect: expires after a duration or at a moment
  if (waiting.enqueue_expiring(stop, 1, 2) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_priority)  // expect: called with the key and all arguments
  struct ByKeyAlone : handoff::EventPolicies {
    static int priority(int key) { return key; }
  };
  Queue<ByKeyAlone> by_key_alone;
#endif
#if defined(WRONG_event_of_text)  // expect: takes the key and the arguments of the signature
  if (queue.enqueue(1, "text") != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_event_without_key)  // expect: takes the key and the arguments of the signature
  if (queue.enqueue(1) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_until_behind_the_event)  // expect: an Until comes first
  if (waiting.enqueue(1, 2, 1ms) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_wait_by_the_wall_clock)  // expect: system_clock
  if (queue.wait(std::chrono::system_clock::now() + 1s) != handoff::Status::ok) return 1;
#endif
#if defined(WRONG_refusal_nobody_looks_at)  // expect: says whether the call did what it should
  queue.enqueue(1, 2);
#endif
  return 0;
}

void drain_wrongly() {
  Queue<> queue;
  queue.drain([](int, int) { return handoff::Next::leave; });
  queue.drain_if([] { return handoff::Next::leave; });

#if defined(WRONG_visitor_says_bool)  // expect: the visitor takes key and arguments, and returns
                                      // void
  queue.drain([](int, int) { return true; });
#endif
#if defined(WRONG_visitor_without_key)  // expect: the visitor takes key and arguments, and returns
  queue.drain([](int) {});
#endif
#if defined(WRONG_chooser_says_bool)  // expect: all const, and returns handoff::Next
  queue.drain_if([](int value) { return value > 0; });
#endif
#if defined(WRONG_chooser_of_text)  // expect: drain_if: the chooser takes key and arguments
  queue.drain_if([](const std::string&) { return handoff::Next::take; });
#endif
}

int main() {
  drain_wrongly();
  handoff::AnyData<> data(1);
  handoff::CallbackList<void()> list;
  struct HasNoWidth {
    handoff::Status try_post(handoff::UniqueFunction<void()>) { return handoff::Status::ok; }
  } no_executor;

#if defined(WRONG_rvalue_reference)  // expect: none of them may be moved from
  handoff::CallbackList<void(std::string&&)> moved_from;
#endif
#if defined(WRONG_listener_of_an_argument)  // expect: a listener takes the arguments of the
  list.append([](int) {});
#endif
#if defined(WRONG_listener_of_text)  // expect: a listener takes the arguments of the
  handoff::EventQueue<int, void(int)> queue;
  queue.append_listener(1, [](const std::string&) {});
#endif
#if defined(WRONG_listener_without_key)  // expect: no matching
  handoff::EventQueue<int, void(int)> keyed;
  keyed.append_listener([](int) {});
#endif
#if defined(WRONG_listener_without_the_result)  // expect: a listener takes the arguments of the
  handoff::CallbackList<bool(int)> deciding;
  deciding.append([](int) {});
#endif
#if defined(WRONG_temporary_for_a_reference)  // expect: no match
  handoff::CallbackList<void(int&)> changing;
  changing(1);
#endif
#if defined(WRONG_executor)  // expect: takes an executor, which has try_post
  list.append_on(no_executor, [] {});
#endif
#if defined(WRONG_copied_data)  // expect: deleted
  handoff::AnyData<> copy = data;
#endif
#if defined(WRONG_reference_in_data)  // expect: values, not references
  int number = 0;
  data.emplace<int&>(number);
#endif
  return enqueue_wrongly();
}
