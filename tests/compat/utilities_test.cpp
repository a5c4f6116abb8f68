// SPDX-License-Identifier: MIT
// eventpp/utilities/: the removers, the adapters, and the finding by callback.
#include <eventpp/eventqueue.h>
#include <eventpp/utilities/argumentadapter.h>
#include <eventpp/utilities/conditionalfunctor.h>
#include <eventpp/utilities/conditionalremover.h>
#include <eventpp/utilities/counterremover.h>
#include <eventpp/utilities/eventutil.h>
#include <eventpp/utilities/scopedremover.h>

#include "support/test.hpp"

namespace {

using Dispatcher = eventpp::EventDispatcher<int, void()>;
using List = eventpp::CallbackList<void(int)>;

class EventppUtilities : public testing::Test {
 protected:
  auto says(const char* what) {
    return [this, what] { said_ += what; };
  }
  std::string dispatched() {
    said_.clear();
    dispatcher_.dispatch(3);
    return said_;
  }

  Dispatcher dispatcher_;
  std::string said_;
};

TEST_F(EventppUtilities, AScopedRemoverRemovesWhatItAdded) {
  using Remover = eventpp::ScopedRemover<Dispatcher>;
  dispatcher_.appendListener(3, says("A"));
  {
    Remover outer(dispatcher_);
    outer.prependListener(3, says("B"));
    {
      Remover inner(dispatcher_);
      const auto c = inner.appendListener(3, says("C"));
      inner.insertListener(3, says("D"), c);
      EXPECT_EQ(dispatched(), "BADC");
      EXPECT_TRUE(inner.removeListener(3, c));
      EXPECT_FALSE(inner.removeListener(3, c));
      EXPECT_EQ(dispatched(), "BAD");
    }
    EXPECT_EQ(dispatched(), "BA");
    outer.reset();
    EXPECT_EQ(dispatched(), "A");
    outer.appendListener(3, says("E"));
  }
  EXPECT_EQ(dispatched(), "A");
}

// There it forgot its own, which stayed for ever.
TEST_F(EventppUtilities, AScopedRemoverThatIsAssignedToRemovesItsOwnFirst) {
  using Remover = eventpp::ScopedRemover<Dispatcher>;
  Remover first(dispatcher_);
  first.appendListener(3, says("1"));
  Remover second(dispatcher_);
  second.appendListener(3, says("2"));
  first = std::move(second);
  EXPECT_EQ(dispatched(), "2");
  Remover third(std::move(first));
  EXPECT_EQ(dispatched(), "2");
  Remover empty;
  swap(empty, third);
  Dispatcher other;
  empty.setDispatcher(other);
  EXPECT_EQ(dispatched(), "");
}

TEST_F(EventppUtilities, AScopedRemoverRemovesNothingElse) {
  eventpp::ScopedRemover<Dispatcher> remover(dispatcher_);
  const auto mine = remover.appendListener(3, says("m"));
  const auto foreign = dispatcher_.appendListener(3, says("f"));
  EXPECT_FALSE(remover.removeListener(3, foreign));
  EXPECT_FALSE(remover.removeListener(3, {}));
  EXPECT_EQ(dispatched(), "mf");
  EXPECT_TRUE(remover.removeListener(3, mine));
  EXPECT_EQ(dispatched(), "f");
  List list;
  eventpp::ScopedRemover<List> of_list(list);
  const auto other = list.append([](int) {});
  EXPECT_FALSE(of_list.remove(other));
  EXPECT_TRUE(other);
}

TEST_F(EventppUtilities, ThreadsMayShareAScopedRemover) {
  {
    eventpp::ScopedRemover<Dispatcher> remover(dispatcher_);
    handoff::test::Crew(2, [&remover](int t) {
      for (int i = 0; i < 200; ++i) {
        const auto handle = remover.appendListener(t + 1, [] {});
        if (i % 2 == 0) {
          EXPECT_TRUE(remover.removeListener(t + 1, handle));
        }
      }
    }).join();
    EXPECT_TRUE(dispatcher_.hasAnyListener(1));
  }
  EXPECT_FALSE(dispatcher_.hasAnyListener(1));
  EXPECT_FALSE(dispatcher_.hasAnyListener(2));
}

TEST_F(EventppUtilities, AScopedRemoverOfAList) {
  List list;
  int calls = 0;
  const auto count = [&](int) { ++calls; };
  eventpp::ScopedRemover<List> remover;
  remover.setCallbackList(list);
  const auto handle = remover.append(count);
  remover.prepend(count);
  remover.insert(count, handle);
  list(1);
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(remover.remove(handle));
  remover.reset();
  EXPECT_TRUE(list.empty());
}

TEST_F(EventppUtilities, ACounterRemoverRemovesAfterSoManyCalls) {
  dispatcher_.appendListener(3, says("A"));
  const auto c = eventpp::counterRemover(dispatcher_).appendListener(3, says("C"), 2);
  eventpp::counterRemover(dispatcher_).prependListener(3, says("B"));
  eventpp::counterRemover(dispatcher_).insertListener(3, says("D"), c, 3);
  eventpp::counterRemover(dispatcher_).appendListener(3, says("0"), 0);
  EXPECT_EQ(dispatched(), "BADC0");
  EXPECT_EQ(dispatched(), "ADC");
  EXPECT_FALSE(c);
  EXPECT_EQ(dispatched(), "AD");
  EXPECT_EQ(dispatched(), "A");
}

TEST_F(EventppUtilities, ACounterRemoverNestsAndCopiesCountForThemselves) {
  eventpp::counterRemover(dispatcher_).appendListener(3, [this] {
    said_ += "n";
    dispatcher_.dispatch(3);
  });
  EXPECT_EQ(dispatched(), "n");
  eventpp::counterRemover(dispatcher_).appendListener(3, says("c"), 2);
  const Dispatcher copy(dispatcher_);
  for (int i = 0; i < 3; ++i) copy.dispatch(3);
  EXPECT_EQ(std::exchange(said_, {}), "ncc");
  EXPECT_EQ(dispatched(), "c");
  EXPECT_EQ(dispatched(), "c");
  EXPECT_EQ(dispatched(), "");
}

// There a call that came before the handle was set missed it.
TEST_F(EventppUtilities, ACounterRemoverNeverCallsMoreOftenFromSeveralThreads) {
  for (int round = 0; round < 200; ++round) {
    List list;
    std::atomic<int> calls{0};
    handoff::test::Crew threads(2, [&] {
      for (int i = 0; i < 20; ++i) list(1);
    });
    eventpp::counterRemover(list).append([&](int) { ++calls; }, 3);
    threads.join();
    for (int i = 0; i < 3; ++i) list(1);
    EXPECT_EQ(calls, 3);
    EXPECT_TRUE(list.empty());
  }
}

TEST_F(EventppUtilities, AConditionalRemoverAsksAfterEachCall) {
  bool done = false;
  const auto handle =
      eventpp::conditionalRemover(dispatcher_).appendListener(3, says("C"), [&] { return done; });
  eventpp::conditionalRemover(dispatcher_).insertListener(3, says("I"), handle, [] {
    return true;
  });
  eventpp::conditionalRemover(dispatcher_).prependListener(3, says("P"), [] { return false; });
  EXPECT_EQ(dispatched(), "PIC");
  done = true;
  EXPECT_EQ(dispatched(), "PC");
  EXPECT_EQ(dispatched(), "P");
  EXPECT_FALSE(handle);
  List list;
  int sum = 0;
  eventpp::conditionalRemover(list).append([&](int n) { sum += n; }, [](int n) { return n == 2; });
  for (int n = 1; n < 5; ++n) list(n);
  EXPECT_EQ(sum, 3);
}

TEST_F(EventppUtilities, AConditionalFunctorIsCalledWhereItsConditionHolds) {
  List list;
  int calls = 0;
  list.append(eventpp::conditionalFunctor([&](int) { ++calls; }, [](int n) { return n == 1; }));
  list(2);
  EXPECT_EQ(calls, 0);
  list(1);
  EXPECT_EQ(calls, 1);
}

struct Event {
  virtual ~Event() = default;
};
struct Key : Event {
  explicit Key(int k) : key(k) {}
  int key;
};
int last_key = 0;
void on_key(const Key& key) { last_key = key.key; }

TEST_F(EventppUtilities, AnArgumentAdapterCastsToWhatTheListenerWants) {
  eventpp::EventDispatcher<int, void(const Event&)> dispatcher;
  int sum = 0;
  dispatcher.appendListener(
      1, eventpp::argumentAdapter<void(const Key&)>([&](const Key& key) { sum += key.key; }));
  dispatcher.appendListener(1, eventpp::argumentAdapter(on_key));
  dispatcher.appendListener(1, eventpp::argumentAdapter(std::function<void(const Key&)>(
                                   [&](const Key& key) { sum += 10 * key.key; })));
  dispatcher.dispatch(1, Key(5));
  EXPECT_EQ(sum, 55);
  EXPECT_EQ(last_key, 5);
  eventpp::EventQueue<int, void(std::shared_ptr<Event>)> queue;
  queue.appendListener(1, eventpp::argumentAdapter<void(std::shared_ptr<Key>)>(
                              [&](const std::shared_ptr<Key>& key) { sum = key->key; }));
  queue.enqueue(1, std::make_shared<Key>(9));
  queue.process();
  EXPECT_EQ(sum, 9);
}

struct Comparable {
  using Callback = void (*)(int);
};
void one(int n) { last_key = n; }
void other(int) {}

TEST_F(EventppUtilities, ListenersAreFoundByTheirCallback) {
  eventpp::CallbackList<void(int), Comparable> list;
  list.append(one);
  list.append(&one);
  EXPECT_TRUE(eventpp::hasListener(list, one));
  EXPECT_FALSE(eventpp::hasListener(list, other));
  EXPECT_TRUE(eventpp::removeListener(list, one));
  EXPECT_TRUE(eventpp::hasAnyListener(list)) << "only the first is removed";
  EXPECT_TRUE(eventpp::removeListener(list, one));
  EXPECT_FALSE(eventpp::removeListener(list, one));
  eventpp::EventDispatcher<int, void(int), Comparable> dispatcher;
  dispatcher.appendListener(3, one);
  EXPECT_TRUE(eventpp::hasListener(dispatcher, 3, one));
  EXPECT_FALSE(eventpp::hasListener(dispatcher, 4, one));
  EXPECT_TRUE(eventpp::removeListener(dispatcher, 3, one));
  EXPECT_FALSE(eventpp::hasAnyListener(dispatcher, 3));
}

}  // namespace
