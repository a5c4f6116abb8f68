// SPDX-License-Identifier: MIT
//
// What eventpp refuses, its drop-in refuses too.

#include <memory>
#include <string>

#include <eventpp/eventqueue.h>
#include <eventpp/hetereventdispatcher.h>

struct Excluded {
  using ArgumentPassingMode = eventpp::ArgumentPassingExcludeEvent;
};
using Numbers = eventpp::HeterTuple<void(int), void(int, int)>;

int main() {
  eventpp::CallbackList<void(std::string&)> list;
  eventpp::EventDispatcher<int, void(int), Excluded> apart;
  apart.dispatch(1, 2);
  eventpp::HeterCallbackList<Numbers> numbers;
  numbers.append([](int) {});

#if defined(WRONG_moved_from_by_a_list)  // expect: none of them may be moved from
  eventpp::CallbackList<void(std::string&&)> moved;
#endif
#if defined(WRONG_moved_from_by_a_dispatcher)  // expect: none of them may be moved from
  eventpp::EventDispatcher<int, void(std::string&&)> moved;
#endif
#if defined(WRONG_event_as_argument)  // expect: dispatch
  apart.dispatch(1);
#endif
#if defined(WRONG_peek_of_what_is_not_copied)  // expect: peek
  eventpp::EventQueue<int, void(const std::unique_ptr<int>&)> queue;
  eventpp::EventQueue<int, void(const std::unique_ptr<int>&)>::QueuedEvent event;
  queue.peekEvent(&event);
#endif
#if defined(WRONG_listener_of_no_prototype)  // expect: the callback fits none of the prototypes
  numbers.append([](const std::string&) {});
#endif
#if defined(WRONG_call_of_no_prototype)  // expect: the arguments fit none of the prototypes
  numbers("text");
#endif
  return 0;
}
