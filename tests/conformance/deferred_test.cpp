// SPDX-License-Identifier: MIT
//
// The suite of the deferred tier on the event queues and the message buses, by each of their ways
// in and out; and queues that are wrong on purpose, which it must find.
#include "conformance/deferred_suite.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

// An event queue with one listener, drained by `kDrain(queue, handler)`.
template <class EventQueueType, auto kDrain>
struct EventsBy {
  class Queue {
   public:
    explicit Queue(DeferredHandler handler) : handler_(std::move(handler)) {
      (void)queue_.append_listener(0, adapt<void(const DeferredItem&)>(std::ref(handler_)));
    }
    bool enqueue(DeferredItem item) { return queue_.enqueue(0, std::move(item)) == Status::ok; }
    void drain() { kDrain(queue_, handler_); }
    void shut() { queue_.shut(); }
    Tally close(const Closing& how) { return queue_.close(how); }
    Tally tally() { return queue_.tally(); }

   protected:
    const DeferredHandler handler_;
    EventQueueType queue_;
  };
};

using One = EventQueue<int, void(const DeferredItem&)>;
using Boxed = EventQueue<int, void(const AnyData<>&)>;

constexpr auto kAll = [](auto& queue, auto&) { queue.drain(); };
constexpr auto kOneByOne = [](auto& queue, auto&) {
  while (queue.drain(1) == 1) {
  }
};
constexpr auto kChosen = [](auto& queue, auto&) { queue.drain_if(take_if([] { return true; })); };
constexpr auto kUntilNever = [](auto& queue, auto&) {
  queue.drain_if(take_until([] { return false; }));
};
constexpr auto kToVisitor = [](auto& queue, auto& handler) {
  queue.drain([&](int, const DeferredItem& item) { handler(item); });
};

struct Batches {
  struct Queue : EventsBy<One, kAll>::Queue {
    using EventsBy<One, kAll>::Queue::Queue;
    bool enqueue(DeferredItem item) {
      One::Event event(std::in_place, 0, std::move(item));
      return queue_.enqueue_batch({&event, 1}) == 1;
    }
  };
};

using Ways = testing::Types<EventsBy<One, kAll>, EventsBy<One, kOneByOne>, EventsBy<One, kChosen>,
                            EventsBy<One, kUntilNever>, EventsBy<One, kToVisitor>, Batches,
                            EventsBy<Boxed, kAll>, EventsBy<Boxed, kOneByOne>,
                            EventsBy<Boxed, kChosen>, EventsBy<Boxed, kUntilNever>>;
INSTANTIATE_TYPED_TEST_SUITE_P(EventQueues, DeferredSuite, Ways);

// A bus whose producers wait, or one with room for all that the suite has under way. It is filled
// by `kPublish(bus, item)` and drained as above.
template <class Policies, auto kPublish, auto kDrain>
struct BusBy {
  class Queue {
   public:
    explicit Queue(DeferredHandler handler) : handler_(std::move(handler)) {
      bus_.template subscribe<DeferredItem>(std::ref(handler_));
    }
    bool enqueue(DeferredItem item) { return kPublish(bus_, std::move(item)); }
    void drain() { kDrain(bus_, handler_); }
    void shut() { bus_.shut(); }
    Tally close(const Closing& how) { return bus_.close(how, std::ref(handler_)); }
    Tally tally() { return bus_.tally(); }

   private:
    static constexpr OnFull kOnFull = full_of<Policies>();
    // A bus that waits has room for what the suite hands over while nobody drains.
    static constexpr std::size_t kRoom = kOnFull == OnFull::wait ? 4096 : 262'144;

    const DeferredHandler handler_;
    BasicMessageBus<Policies, DeferredItem> bus_{{.capacity = kRoom, .on_full = kOnFull}};
  };
};

constexpr auto kPublish = [](auto& bus, DeferredItem&& item) {
  return bus.publish(std::move(item)) == Status::ok;
};
constexpr auto kClaim = [](auto& bus, DeferredItem&& item) {
  auto claim = bus.template claim<DeferredItem>(std::move(item));
  if (!claim) return false;
  claim.commit();
  return true;
};
constexpr auto kVisit = [](auto& bus, auto& handler) { bus.drain(std::ref(handler)); };
constexpr auto kVisitOneByOne = [](auto& bus, auto& handler) {
  while (bus.drain(std::ref(handler), 1) == 1) {
  }
};

template <class Base>
using Waits = Bounded<OnFull::wait, Base>;
struct Boxes : Waits<BusPolicies> {
  static constexpr std::size_t inline_bytes = 8;
};
using Buses = testing::Types<
    BusBy<Waits<BusPolicies>, kPublish, kVisit>, BusBy<Waits<LanedBusPolicies>, kPublish, kVisit>,
    BusBy<Waits<BusPolicies>, kPublish, kAll>, BusBy<Waits<LanedBusPolicies>, kPublish, kAll>,
    BusBy<BusPolicies, kPublish, kVisitOneByOne>, BusBy<BusPolicies, kClaim, kVisit>,
    BusBy<Boxes, kPublish, kVisit>, BusBy<Waits<PriorityBusPolicies>, kPublish, kVisit>>;
INSTANTIATE_TYPED_TEST_SUITE_P(MessageBuses, DeferredSuite, Buses);

// A right queue, as simple as can be, and wrong ones around it that go wrong at one call.
class Wrong {
 public:
  explicit Wrong(DeferredHandler handler) : handler_(std::move(handler)) {}
  bool enqueue(DeferredItem item) {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(item));
    return true;
  }
  void drain() {
    while (const std::optional<DeferredItem> item = next()) handler_(*item);
  }

 protected:
  bool is_the_one() { return ++calls_ == 50; }
  std::optional<DeferredItem> next() {
    const std::lock_guard lock(mutex_);
    if (waiting_.empty()) return std::nullopt;
    std::optional<DeferredItem> item(std::move(waiting_.front()));
    waiting_.pop_front();
    return item;
  }

  const DeferredHandler handler_;
  std::mutex mutex_;
  std::deque<DeferredItem> waiting_;
  std::size_t calls_ = 0;
};

struct Loses : Wrong {
  using Wrong::Wrong;
  bool enqueue(DeferredItem item) { return is_the_one() || Wrong::enqueue(std::move(item)); }
};

struct Refuses : Wrong {
  using Wrong::Wrong;
  bool enqueue(DeferredItem item) { return !is_the_one() && Wrong::enqueue(std::move(item)); }
};

struct CallsAtOnce : Wrong {
  using Wrong::Wrong;
  bool enqueue(DeferredItem item) {
    if (!is_the_one()) return Wrong::enqueue(std::move(item));
    handler_(item);
    return true;
  }
};

// What it has moved from comes once more.
struct Tears : Wrong {
  using Wrong::Wrong;
  void drain() {
    while (std::optional<DeferredItem> item = next()) {
      if (is_the_one()) const DeferredItem stolen = std::move(*item);
      handler_(*item);
    }
  }
};

struct Repeats : Wrong {
  using Wrong::Wrong;
  void drain() {
    while (const std::optional<DeferredItem> item = next()) {
      if (is_the_one()) handler_(*item);
      handler_(*item);
    }
  }
};

struct Reorders : Wrong {
  using Wrong::Wrong;
  void drain() {
    while (std::optional<DeferredItem> item = next()) {
      if (is_the_one()) {
        held_.emplace(std::move(*item));
      } else {
        handler_(*item);
      }
      if (held_ && calls_ == 60) handler_(*std::exchange(held_, std::nullopt));
    }
  }
  std::optional<DeferredItem> held_;
};

struct Keeps : Wrong {
  using Wrong::Wrong;
  void drain() {
    while (std::optional<DeferredItem> item = next()) {
      handler_(*item);
      if (is_the_one()) kept_.emplace(std::move(*item));
    }
  }
  std::optional<DeferredItem> kept_;
};

template <class Queue>
DeferredVerdict verdict_on() {
  const DeferredPlan plan{.producers = 1, .items_each = 100, .patience = std::chrono::seconds(1)};
  return DeferredAudit<Queue>(plan).run();
}

TEST(DeferredCanary, TheSuiteFindsEachFault) {
  EXPECT_EQ(verdict_on<Wrong>(), DeferredVerdict{});
  EXPECT_EQ(verdict_on<Loses>(), DeferredVerdict{.lost = 1});
  EXPECT_EQ(verdict_on<Refuses>(), DeferredVerdict{.refused = 1});
  EXPECT_EQ(verdict_on<CallsAtOnce>(), (DeferredVerdict{.lost = 1, .elsewhere = 1}));
  EXPECT_EQ(verdict_on<Tears>(), DeferredVerdict{.unseen = 1});
  EXPECT_EQ(verdict_on<Repeats>(), DeferredVerdict{.repeated = 1});
  EXPECT_EQ(verdict_on<Reorders>(), DeferredVerdict{.reordered = 1});
  EXPECT_EQ(verdict_on<Keeps>(), DeferredVerdict{.kept = 1});
}

}}  // namespace handoff::test
