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

  // wrong: none of them may be moved from
  // eventpp::CallbackList<void(std::string&&)> moved;
  // wrong: none of them may be moved from
  // eventpp::EventDispatcher<int, void(std::string&&)> moved;
  // wrong: dispatch
  // apart.dispatch(1);
  // wrong: peek
  // eventpp::EventQueue<int, void(const std::unique_ptr<int>&)> queue;
  // eventpp::EventQueue<int, void(const std::unique_ptr<int>&)>::QueuedEvent event;
  // queue.peekEvent(&event);
  // wrong: the callback fits none of the prototypes
  // numbers.append([](const std::string&) {});
  // wrong: the arguments fit none of the prototypes
  // numbers("text");
  return 0;
}
