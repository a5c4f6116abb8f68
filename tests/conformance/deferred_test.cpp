// SPDX-License-Identifier: MIT
//
// The suite of the deferred tier on the event queues and the message buses, by each of their ways
// in and out; and queues that are wrong on purpose, which it must find.
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <handoff/bus/message_bus.hpp>
#include <handoff/event/any_data.hpp>
#include <handoff/event/argument_adapter.hpp>
#include <handoff/event/event_queue.hpp>
#include <mutex>
#include <optional>
#include <utility>

#include "conformance/deferred_suite.hpp"
#include "support/next.hpp"
#include "support/policies.hpp"

namespace handoff::test { namespace {

// An event queue with one listener; by which way it is drained is the derived one's affair.
template <class EventQueueType>
class WithListener {
 public:
  explicit WithListener(DeferredHandler handler) : handler_(std::move(handler)) {
    (void)queue_.append_listener(0, adapt<void(const DeferredItem&)>(std::ref(handler_)));
  }
  bool enqueue(DeferredItem item) { return queue_.enqueue(0, std::move(item)) == Status::ok; }
  void shut() { queue_.shut(); }
  Tally tally() { return queue_.tally(); }

 protected:
  const DeferredHandler handler_;
  EventQueueType queue_;
};

using One = EventQueue<int, void(const DeferredItem&)>;
using Boxed = EventQueue<int, void(const AnyData<>&)>;

template <class EventQueueType>
struct Process {
  struct Queue : WithListener<EventQueueType> {
    using WithListener<EventQueueType>::WithListener;
    void drain() { this->queue_.drain(); }
  };
};

template <class EventQueueType>
struct OneByOne {
  struct Queue : WithListener<EventQueueType> {
    using WithListener<EventQueueType>::WithListener;
    void drain() {
      while (this->queue_.drain(1) == 1) {
      }
    }
  };
};

template <class EventQueueType>
struct ByPredicate {
  struct Queue : WithListener<EventQueueType> {
    using WithListener<EventQueueType>::WithListener;
    void drain() {
      this->queue_.drain_if(take_if([] { return true; }));
    }
  };
};

template <class EventQueueType>
struct UntilNever {
  struct Queue : WithListener<EventQueueType> {
    using WithListener<EventQueueType>::WithListener;
    void drain() {
      this->queue_.drain_if(take_until([] { return false; }));
    }
  };
};

struct Visitor {
  struct Queue : WithListener<One> {
    using WithListener<One>::WithListener;
    void drain() {
      queue_.drain([this](int, const DeferredItem& item) { handler_(item); });
    }
  };
};

struct Batches {
  struct Queue : WithListener<One> {
    using WithListener<One>::WithListener;
    bool enqueue(DeferredItem item) {
      One::Event event(std::in_place, 0, std::move(item));
      return queue_.enqueue_batch({&event, 1}) == 1;
    }
    void drain() { queue_.drain(); }
  };
};

using Ways =
    testing::Types<Process<One>, OneByOne<One>, ByPredicate<One>, UntilNever<One>, Visitor, Batches,
                   Process<Boxed>, OneByOne<Boxed>, ByPredicate<Boxed>, UntilNever<Boxed>>;
INSTANTIATE_TYPED_TEST_SUITE_P(EventQueues, DeferredSuite, Ways);

// A bus whose producers wait, or one with room for all that the suite has under way.
template <class Base>
using Waits = Bounded<OnFull::wait, Base>;
template <class Base>
struct Boxes : Base {
  static constexpr std::size_t inline_bytes = 8;
};

template <class Policies>
class OnBus {
 public:
  using Bus = BasicMessageBus<Policies, DeferredItem>;

  explicit OnBus(DeferredHandler handler) : handler_(std::move(handler)) {}
  bool enqueue(DeferredItem item) { return bus_.publish(std::move(item)) == Status::ok; }
  void drain() {
    bus_.drain([this](const DeferredItem& item) { handler_(item); });
  }
  void shut() { bus_.shut(); }
  Tally tally() { return bus_.tally(); }

 protected:
  const DeferredHandler handler_;
  Bus bus_{{.capacity = kRoom, .on_full = kOnFull}};

 private:
  static constexpr OnFull kOnFull = full_of<Policies>();
  // Of a bus that waits: more than the suite hands over while nobody drains.
  static constexpr std::size_t kRoom = kOnFull == OnFull::wait ? 4096 : 262'144;
};

template <class Policies>
struct BusToVisitor {
  struct Queue : OnBus<Policies> {
    using OnBus<Policies>::OnBus;
  };
};

template <class Policies>
struct BusToSubscribers {
  struct Queue : OnBus<Policies> {
    explicit Queue(DeferredHandler handler) : OnBus<Policies>(std::move(handler)) {
      this->bus_.template subscribe<DeferredItem>(std::ref(this->handler_));
    }
    void drain() { this->bus_.drain(); }
  };
};

template <class Policies>
struct BusOneByOne {
  struct Queue : OnBus<Policies> {
    using OnBus<Policies>::OnBus;
    void drain() {
      while (this->bus_.drain([this](const DeferredItem& item) { this->handler_(item); }, 1) == 1) {
      }
    }
  };
};

template <class Policies>
struct BusByClaims {
  struct Queue : OnBus<Policies> {
    using OnBus<Policies>::OnBus;
    bool enqueue(DeferredItem item) {
      auto claim = this->bus_.template claim<DeferredItem>(std::move(item));
      if (!claim) return false;
      claim.commit();
      return true;
    }
  };
};

using Buses =
    testing::Types<BusToVisitor<Waits<BusPolicies>>, BusToVisitor<Waits<LanedBusPolicies>>,
                   BusToSubscribers<Waits<BusPolicies>>, BusToSubscribers<Waits<LanedBusPolicies>>,
                   BusOneByOne<BusPolicies>, BusByClaims<BusPolicies>,
                   BusToVisitor<Boxes<Waits<BusPolicies>>>>;
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
