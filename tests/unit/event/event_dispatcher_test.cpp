// SPDX-License-Identifier: MIT
//
// EventDispatcher: keys that it finds in the arguments. The rest is in the explorer's scenarios
// (listeners_scenarios.cpp) and in those of compat/.
#include "support/test.hpp"

namespace event_dispatcher_test { namespace {

using namespace handoff;

TEST(EventDispatcher, KeysFromArguments) {
  struct Message {
    int kind;
    int value;
  };
  struct Policies : EventPolicies {
    static int get_key(const Message& message) { return message.kind; }
  };
  EventDispatcher<int, void(const Message&), Policies> dispatcher;
  int sum = 0;
  dispatcher.append_listener(3, [&](const Message& message) { sum += message.value; });
  dispatcher.dispatch(Message{3, 5});
  dispatcher.dispatch(Message{4, 7});
  dispatcher.dispatch(3, Message{9, 11});
  EXPECT_EQ(sum, 16);

  EventDispatcher<int, void(int, int), KeyIsFirst> included;
  included.append_listener(1, [&](int key, int value) { sum = 10 * key + value; });
  included.dispatch(1, 2);
  EXPECT_EQ(sum, 12);
}

}}  // namespace event_dispatcher_test
