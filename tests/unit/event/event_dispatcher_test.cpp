// SPDX-License-Identifier: MIT
//
// EventDispatcher: keys of any type, filters, its end in a callback.
#include <handoff/event/event_dispatcher.hpp>

#include "support/test.hpp"

namespace event_dispatcher_test { namespace {

using namespace handoff;

TEST(EventDispatcher, ReachesTheListenersOfTheKey) {
  EventDispatcher<std::string, void(int)> dispatcher;
  int a = 0;
  int b = 0;
  dispatcher.dispatch("a", 1);
  const auto first = dispatcher.append_listener("a", [&](int n) { a += n; });
  dispatcher.append_listener("b", [&](int n) { b += n; });
  dispatcher.dispatch("a", 1);
  dispatcher.dispatch("b", 2);
  dispatcher.dispatch("c", 4);
  EXPECT_EQ(a, 1);
  EXPECT_EQ(b, 2);
  EXPECT_TRUE(dispatcher.has_listener("a"));
  EXPECT_FALSE(dispatcher.has_listener("c"));
  EXPECT_TRUE(dispatcher.owns_listener("a", first));
  EXPECT_FALSE(dispatcher.owns_listener("b", first));
  EXPECT_FALSE(dispatcher.remove_listener("b", first)) << "not in that list";
  EXPECT_TRUE(dispatcher.remove_listener("a", first));
  EXPECT_FALSE(dispatcher.remove_listener("a", first));
  dispatcher.dispatch("a", 1);
  EXPECT_EQ(a, 1);
}

TEST(EventDispatcher, ManyKeysComeAndGo) {
  EventDispatcher<int, void(int&)> dispatcher;
  for (int round = 0; round < 5; ++round) {
    std::vector<ListenerHandle> handles;
    for (int key = 0; key < 1000; ++key) {
      handles.push_back(
          dispatcher.append_listener(round * 1000 + key, [key](int& sum) { sum += key; }));
    }
    for (int key = 0; key < 1000; ++key) {
      int sum = 0;
      dispatcher.dispatch(round * 1000 + key, sum);
      EXPECT_EQ(sum, key);
    }
    for (const auto& handle : handles) EXPECT_TRUE(handle.remove());
  }
}

// All in one bucket, and a key that is neither default constructed nor assigned.
struct Odd {
  explicit Odd(int number) : value(number) {}
  Odd(const Odd&) = default;
  Odd& operator=(const Odd&) = delete;
  friend bool operator==(const Odd& a, const Odd& b) { return a.value == b.value; }
  int value;
};
struct OddPolicies : EventPolicies {
  struct Hash {
    std::size_t operator()(const Odd&) const noexcept { return 7; }
  };
};

TEST(EventDispatcher, EqualHashesAreNotEqualKeys) {
  EventDispatcher<Odd, void(int&), OddPolicies> dispatcher;
  for (int i = 0; i < 50; ++i) {
    dispatcher.append_listener(Odd(i), [i](int& called) { called = i; });
  }
  for (int i = 0; i < 50; ++i) {
    int called = -1;
    dispatcher.dispatch(Odd(i), called);
    EXPECT_EQ(called, i);
  }
}

struct Fragile {
  explicit Fragile(int number) : value(number) {}
  Fragile(const Fragile& other) : value(other.value) {
    if (copies_left-- == 0) throw std::runtime_error("as asked");
  }
  friend bool operator==(const Fragile& a, const Fragile& b) { return a.value == b.value; }
  int value;
  static inline int copies_left = 0;
};
struct FragilePolicies : EventPolicies {
  struct Hash {
    std::size_t operator()(const Fragile& key) const noexcept {
      return static_cast<std::size_t>(key.value);
    }
  };
};

TEST(EventDispatcher, AKeyWhoseCopyThrowsLeavesAllAsItWas) {
  for (int allowed = 0; allowed < 30; ++allowed) {
    EventDispatcher<Fragile, void(int&), FragilePolicies> dispatcher;
    Fragile::copies_left = allowed;
    int added = 0;
    try {
      for (; added < 10; ++added) {
        dispatcher.append_listener(Fragile(added), [](int& calls) { ++calls; });
      }
    } catch (const std::runtime_error&) {
    }
    Fragile::copies_left = 1000;
    int calls = 0;
    for (int i = 0; i < 10; ++i) dispatcher.dispatch(Fragile(i), calls);
    EXPECT_EQ(calls, added);
  }
}

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

TEST(EventDispatcher, ItsEndInACallbackEndsTheDispatch) {
  for (const bool in_filter : {false, true}) {
    auto dispatcher = std::make_unique<EventDispatcher<int, void()>>();
    int calls = 0;
    const auto end = [&] {
      ++calls;
      dispatcher.reset();
      return true;
    };
    if (in_filter) dispatcher->append_filter(end);
    const auto first = dispatcher->append_listener(1, [&] { end(); });
    const auto second = dispatcher->append_listener(1, [&] { ++calls; });
    dispatcher->dispatch(1);
    EXPECT_EQ(calls, 1);
    EXPECT_FALSE(second.remove());
  }
}

}}  // namespace event_dispatcher_test
