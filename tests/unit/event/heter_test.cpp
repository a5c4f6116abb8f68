// SPDX-License-Identifier: MIT
//
// Lists, dispatchers and queues of several signatures: who is called, in which order, and that a
// queue of many kinds keeps what EventQueue promises.
#include <handoff/event/heter_callback_list.hpp>
#include <handoff/event/heter_event_dispatcher.hpp>
#include <handoff/event/heter_event_queue.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "support/allocated.hpp"

namespace {

using namespace handoff;
using Text = void(const std::string&);

TEST(HeterCallbackList, CallsThoseOfTheSignature) {
  HeterCallbackList<Signatures<void(int), Text, void(int, int)>> list;
  std::string calls;
  list.append([&](int n) { calls += 'i' + std::to_string(n); });
  const auto text = list.append([&](const std::string& s) { calls += 't' + s; });
  list.append([&](int a, int b) { calls += 'p' + std::to_string(a + b); });
  list.prepend([&](int) { calls += '<'; });
  list(5);
  list("x");  // converts to the only one that takes it
  list(2, 3);
  EXPECT_EQ(calls, "<i5txp5");
  EXPECT_EQ(list.size(), 4U);
  EXPECT_EQ(list.of<void(int)>().size(), 2U);
  EXPECT_TRUE(list.owns(text));
  EXPECT_TRUE(list.remove(text));
  EXPECT_FALSE(list.remove(text));
  calls.clear();
  list(std::string("y"));
  EXPECT_EQ(calls, "");
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(HeterCallbackList, ChoosesTheExactSignatureAndIsToldWhereSeveralFit) {
  HeterCallbackList<Signatures<void(double), void(int)>> list;
  std::string calls;
  list.append<void(int)>([&](auto) { calls += 'i'; });
  list.append<void(double)>([&](auto) { calls += 'd'; });
  list(1);
  list(1.0);
  EXPECT_EQ(calls, "id");
}

TEST(HeterCallbackList, OneSignatureHasAllThatAListHas) {
  HeterCallbackList<Signatures<int(int), Text>> list;
  const auto last = list.of<int(int)>().append([](int n) { return n; });
  list.of<int(int)>().insert(last, [](int n) { return 10 * n; });
  std::string results;
  list.of<int(int)>().visit_results(
      [&](int result) {
        results += std::to_string(result) + ' ';
        return true;
      },
      4);
  EXPECT_EQ(results, "40 4 ");
}

TEST(HeterEventDispatcher, ReachesKeyAndSignature) {
  HeterEventDispatcher<int, Signatures<void(int), Text>> dispatcher;
  std::string calls;
  dispatcher.append_listener(1, [&](int n) { calls += std::to_string(n); });
  const auto text = dispatcher.append_listener(1, [&](const std::string& s) { calls += s; });
  dispatcher.prepend_listener(2, [&](int n) { calls += '-' + std::to_string(n); });
  dispatcher.of<void(int)>().append_filter([](int& n) { return ++n < 9; });
  dispatcher.dispatch(1, 3);
  dispatcher.dispatch(1, "a");
  dispatcher.dispatch(2, 5);
  dispatcher.dispatch(2, 8);  // vetoed
  dispatcher.dispatch(2, "b");
  EXPECT_EQ(calls, "4a-6");
  EXPECT_EQ(dispatcher.listener_count(1), 2U);
  EXPECT_FALSE(dispatcher.remove_listener(2, text));
  EXPECT_TRUE(dispatcher.remove_listener(1, text));
  EXPECT_TRUE(dispatcher.has_listener(1));
  EXPECT_FALSE(dispatcher.has_listener(3));
}

using Queue = HeterEventQueue<int, Signatures<void(int), Text, void(std::unique_ptr<int>)>>;

struct Listening {
  std::string calls;
  explicit Listening(Queue& queue) {
    queue.append_listener(0, [this](int n) { calls += std::to_string(n); });
    queue.append_listener(0, [this](const std::string& s) { calls += s; });
    queue.append_listener(
        0, [this](const std::unique_ptr<int>& p) { calls += '*' + std::to_string(*p); });
  }
};

TEST(HeterEventQueue, KeepsOneOrderForAllSignatures) {
  Queue queue;
  Listening listening(queue);
  EXPECT_EQ(queue.enqueue(0, 1), Status::ok);
  EXPECT_EQ(queue.enqueue(0, "a"), Status::ok);
  EXPECT_EQ(queue.enqueue(0, std::make_unique<int>(2)), Status::ok);
  EXPECT_EQ(queue.enqueue(0, std::string("b")), Status::ok);
  EXPECT_FALSE(queue.empty());
  EXPECT_TRUE(queue.process_one());
  EXPECT_EQ(listening.calls, "1");
  EXPECT_EQ(queue.process(), 3U);
  EXPECT_EQ(listening.calls, "1a*2b");
  EXPECT_TRUE(queue.empty());
}

TEST(HeterEventQueue, AnEventMayCarryNothing) {
  HeterEventQueue<int, Signatures<void(), void(int)>> queue;
  std::string calls;
  queue.append_listener(0, [&] { calls += '.'; });
  queue.append_listener(0, [&](int n) { calls += std::to_string(n); });
  EXPECT_EQ(queue.enqueue(0), Status::ok);
  EXPECT_EQ(queue.enqueue(0, 7), Status::ok);
  EXPECT_EQ(queue.enqueue(0), Status::ok);
  EXPECT_EQ(queue.process(), 3U);
  EXPECT_EQ(calls, ".7.");
}

TEST(HeterEventQueue, APredicateIsAskedWithTheSignaturesThatItTakes) {
  Queue queue;
  Listening listening(queue);
  for (const int n : {1, 2, 3}) {
    EXPECT_EQ(queue.enqueue(0, n), Status::ok);
    EXPECT_EQ(queue.enqueue(0, std::string(1, static_cast<char>('a' + n))), Status::ok);
  }
  EXPECT_EQ(queue.process_if([](int n) { return n != 2; }), 2U);
  EXPECT_EQ(listening.calls, "13");
  EXPECT_EQ(queue.process_if([](int key, const std::string& s) { return key == 0 && s == "c"; }),
            1U);
  EXPECT_EQ(queue.process_if([] { return false; }), 0U);
  EXPECT_EQ(queue.process(), 3U);
  EXPECT_EQ(listening.calls, "13cb2d");
}

TEST(HeterEventQueue, UntilTold) {
  Queue queue;
  Listening listening(queue);
  for (const int n : {1, 2, 3}) {
    EXPECT_EQ(queue.enqueue(0, n), Status::ok);
    EXPECT_EQ(queue.enqueue(0, std::string(1, static_cast<char>('a' + n))), Status::ok);
  }
  EXPECT_EQ(queue.process_until([](int n) { return n == 2; }), 2U);
  EXPECT_EQ(listening.calls, "1b");
  EXPECT_EQ(queue.process_until([](int n) { return n == 2; }), 0U) << "it is the first one";
  const auto is_d = [](int key, const std::string& text) { return key == 0 && text == "d"; };
  EXPECT_EQ(queue.process_until(is_d), 3U);
  EXPECT_EQ(queue.process_until([] { return true; }), 0U);
  EXPECT_EQ(queue.process(), 1U);
  EXPECT_EQ(listening.calls, "1b2c3d");
}

TEST(HeterEventQueue, PeekTakeDispatch) {
  HeterEventQueue<int, Signatures<void(int), Text>> queue;
  std::string calls;
  queue.append_listener(7, [&](const std::string& text) { calls += text; });
  queue.of<Text>().append_filter([](const std::string& text) { return text != "no"; });
  EXPECT_FALSE(queue.peek().has_value());
  EXPECT_FALSE(queue.take().has_value());
  for (const char* text : {"yes", "no"}) EXPECT_EQ(queue.enqueue(7, text), Status::ok);
  EXPECT_EQ(queue.enqueue(8, 5), Status::ok);
  for (int time = 0; time < 2; ++time) {
    const auto first = queue.peek();
    ASSERT_TRUE(first.has_value());
    EXPECT_EQ(first->key, 7);
    EXPECT_EQ(std::get<0>(std::get<1>(first->arguments)), "yes");
  }
  while (auto event = queue.take()) queue.dispatch(*event);
  EXPECT_EQ(calls, "yes") << "filters see what is dispatched";
  EXPECT_EQ(queue.enqueue(7, "!"), Status::ok);
  queue.dispatch(*queue.take());
  EXPECT_EQ(std::exchange(calls, "yes"), "yes!") << "one that nobody keeps";
  queue.dispatch(7, "again");
  EXPECT_EQ(calls, "yesagain");
  EXPECT_EQ(queue.tally().done, 4U);
  EXPECT_TRUE(queue.tally().balanced());
}

TEST(HeterEventQueue, TakesWhatOnlyMoves) {
  HeterEventQueue<int, Signatures<void(std::unique_ptr<int>), void()>> queue;
  EXPECT_EQ(queue.enqueue(0, std::make_unique<int>(5)), Status::ok);
  const auto event = queue.take();
  ASSERT_TRUE(event.has_value());
  EXPECT_EQ(*std::get<0>(std::get<0>(event->arguments)), 5);
}

TEST(HeterEventQueue, AThrowLosesNoEvent) {
  for (int thrower = 0; thrower < 6; ++thrower) {
    Queue queue;
    Listening listening(queue);
    queue.append_listener(1, [](int) { throw std::runtime_error("as asked"); });
    for (int i = 0; i < 6; ++i) {
      EXPECT_EQ(i == thrower ? queue.enqueue(1, i)
                : i % 2 == 0 ? queue.enqueue(0, i)
                             : queue.enqueue(0, std::to_string(i)),
                Status::ok);
    }
    EXPECT_THROW(queue.process(), std::runtime_error);
    EXPECT_EQ(queue.process(), static_cast<std::size_t>(5 - thrower));
    std::string expected = "012345";
    expected.erase(static_cast<std::size_t>(thrower), 1);
    EXPECT_EQ(listening.calls, expected);
    EXPECT_EQ(queue.tally().failed, 1U);
    EXPECT_TRUE(queue.tally().balanced());
  }
}

struct Bounded : EventPolicies {
  static constexpr OnFull on_full = OnFull::reject;
};

TEST(HeterEventQueue, ARefusedEventHasLostNothing) {
  HeterEventQueue<int, Signatures<void(int), void(std::unique_ptr<int>)>, Bounded> queue(
      {.capacity = 1});
  EXPECT_EQ(queue.enqueue(0, 1), Status::ok);
  auto owned = std::make_unique<int>(5);
  EXPECT_EQ(queue.enqueue(0, std::move(owned)), Status::full);
  ASSERT_NE(owned, nullptr);
  EXPECT_EQ(queue.clear(), 1U);
  EXPECT_EQ(queue.enqueue(0, std::move(owned)), Status::ok);
  (void)queue.close();
  EXPECT_EQ(queue.enqueue(0, 2), Status::closed);
}

TEST(HeterEventQueue, ServesAThreadUntilItIsClosed) {
  Queue queue;
  Listening listening(queue);
  std::thread producer([&] {
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(i % 2 == 0 ? queue.enqueue(0, i % 10) : queue.enqueue(0, std::to_string(i % 10)),
                Status::ok);
    }
    (void)queue.close();
  });
  while (queue.wait() == Status::ok) queue.process();
  producer.join();
  ASSERT_EQ(listening.calls.size(), 1000U);
  for (std::size_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(listening.calls[i], static_cast<char>('0' + i % 10));
  }
  EXPECT_EQ(queue.tally().done, 1000U);
}

TEST(HeterEventQueue, IsClosedAndTrimmedAsAnyQueue) {
  Queue queue;
  for (int i = 0; i < 4000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
  EXPECT_EQ(queue.process_if([](int) { return false; }), 0U);
  EXPECT_EQ(queue.clear(), 4000U);
  const std::size_t before = test::allocated_bytes();
  queue.trim();
  EXPECT_LT(test::allocated_bytes() + 4000 * sizeof(void*), before);
  EXPECT_EQ(queue.wait_for(std::chrono::nanoseconds(0)), Status::timed_out);
  EXPECT_FALSE(queue.closed());
  EXPECT_EQ(queue.close().cancelled, 4000U);
  EXPECT_TRUE(queue.closed());
  EXPECT_EQ(queue.enqueue(0, 1), Status::closed);
  EXPECT_EQ(queue.wait(), Status::closed);
}

TEST(HeterEventQueue, AListenerMayDestroyIt) {
  auto queue = std::make_optional<Queue>();
  int calls = 0;
  queue->append_listener(0, [&](int) {
    ++calls;
    queue.reset();
  });
  for (int i = 0; i < 3; ++i) EXPECT_EQ(queue->enqueue(0, i), Status::ok);
  EXPECT_EQ(queue->process(), 1U);
  EXPECT_EQ(calls, 1);
}

}  // namespace
