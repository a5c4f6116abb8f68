// SPDX-License-Identifier: MIT
//
// The suite of closes on the queues, channels, broadcasts and buses; and on queues that are wrong
// on purpose, which it must find.
#include <handoff/bus/active_object.hpp>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "conformance/close_suite.hpp"
#include "conformance/made.hpp"
#include "support/event_queue_options.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace handoff::test { namespace {

using namespace std::chrono_literals;

// What an item may be made of, which takes its time as well.
struct CloseSource {
  explicit CloseSource(CloseItem&& its_item) noexcept : item(std::move(its_item)) {}
  operator CloseItem() && noexcept { return std::move(item); }  // NOLINT: it converts
  CloseItem item;
};

// ---- Queues that do not wait ----

template <class Queue, unsigned kProducers, unsigned kConsumers, CloseBy kBy = CloseBy::anybody>
class OfQueue {
 public:
  static constexpr unsigned producers = kProducers, consumers = kConsumers;
  static constexpr CloseBy by = kBy;
  static constexpr unsigned ways_in = 3, ways_out = 3;

  OfQueue(const ClosePlan& plan, CloseLog& log) : log_(log), queue_(made<Queue>(plan.capacity)) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    if (way == 0) {
      return one_by_one(items, [&](CloseItem& item) { return queue_.try_push(std::move(item)); });
    }
    if (way == 1) {
      return one_by_one(items, [&](CloseItem& item) {
        return queue_.try_push(CloseSource(CloseItem(item.number)));
      });
    }
    return in_batches(items, queue_, [&](auto rest) { return queue_.try_push_batch(rest); });
  }
  void serve(unsigned, unsigned way) {
    CloseItem item;
    for (Status status = Status::ok; status != Status::closed;) {
      if (way == 1) (void)queue_.consume([&](CloseItem& next) { log_.handled(next); });
      if (way == 2) {
        CloseItem several[3];
        const std::size_t count = queue_.try_pop_batch(several);
        for (std::size_t i = 0; i < count; ++i) log_.handled(several[i]);
      }
      status = queue_.try_pop(item);
      if (status == Status::ok) log_.handled(item);
      if (status == Status::empty) std::this_thread::yield();
    }
  }
  void close() { queue_.close(); }
  std::uint64_t dropped() { return 0; }

 protected:
  CloseLog& log_;
  Queue queue_;
};

// ---- Channels ----

template <class Queue, unsigned kProducers, unsigned kConsumers, CloseBy kBy = CloseBy::anybody>
class OfChannel : public OfQueue<Channel<CloseItem, Queue>, kProducers, kConsumers, kBy> {
  using Base = OfQueue<Channel<CloseItem, Queue>, kProducers, kConsumers, kBy>;
  using Base::log_;
  using Base::queue_;

 public:
  using Base::Base;
  static constexpr unsigned ways_in = 6, ways_out = 6;

  std::uint64_t offer(unsigned self, unsigned way, std::span<CloseItem> items) {
    if (way < 3) return Base::offer(self, way, items);
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 3) return queue_.push(std::move(item));
      if (way == 4) return queue_.emplace(CloseSource(CloseItem(item.number)));
      return queue_.push(std::move(item), 100us);
    });
  }
  void serve(unsigned self, unsigned way) {
    if (way < 3) return Base::serve(self, way);
    if (way == 3) {
      for (CloseItem& item : queue_) log_.handled(item);
      return;
    }
    CloseItem item;
    for (Status status = Status::ok; status != Status::closed;) {
      if (way == 4) {
        status = queue_.pop(item, 100us);
        if (status == Status::ok) log_.handled(item);
      } else {
        status = select(on_item(queue_, [&](CloseItem next) { log_.handled(next); }));
      }
    }
  }
};

class OfRendezvous {
 public:
  static constexpr unsigned producers = 3, consumers = 3;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 4, ways_out = 4;

  OfRendezvous(const ClosePlan&, CloseLog& log) : log_(log) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 0) return queue_.push(std::move(item));
      if (way == 1) return queue_.emplace(CloseSource(CloseItem(item.number)));
      // The other side may be one that does not wait either.
      return queue_.push(std::move(item), way == 2 ? Until(100us) : Until(0us));
    });
  }
  void serve(unsigned, unsigned way) {
    if (way == 0) {
      for (CloseItem& item : queue_) log_.handled(item);
      return;
    }
    CloseItem item;
    for (Status status = Status::ok; status != Status::closed;) {
      if (way == 1) {
        status = select(on_item(queue_, [&](CloseItem next) { log_.handled(next); }));
        continue;
      }
      status = way == 2 ? queue_.pop(item, 100us) : queue_.try_pop(item);
      if (status == Status::ok) log_.handled(item);
      if (status == Status::empty) std::this_thread::yield();
    }
  }
  void close() { queue_.close(); }
  std::uint64_t dropped() { return 0; }

 private:
  CloseLog& log_;
  RendezvousChannel<CloseItem> queue_;
};

// ---- Broadcasts, and the newest values ----

template <class Policies>
class OfBroadcast {
  static constexpr bool kMany = Policies::many_producers;

 public:
  static constexpr unsigned producers = kMany ? 3 : 1, consumers = 1;
  static constexpr CloseBy by = kMany ? CloseBy::anybody : CloseBy::producer;
  static constexpr unsigned ways_in = 6, ways_out = 2;

  OfBroadcast(const ClosePlan& plan, CloseLog& log)
      : log_(log), queue_(plan.capacity), consumer_(queue_.consumer()) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    if (way == 0) {
      return in_batches(items, queue_, [&](auto rest) { return queue_.try_push_batch(rest); });
    }
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 1) return queue_.push(std::move(item));
      if (way == 2) return queue_.push(std::move(item), 100us);
      if (way == 3) return queue_.push(CloseSource(CloseItem(item.number)));
      if (way == 4) return queue_.emplace(CloseSource(CloseItem(item.number)));
      auto claim = queue_.claim();
      if (!claim) return claim.status();
      claim.emplace(std::move(item));
      claim.publish();
      return Status::ok;
    });
  }
  void serve(unsigned, unsigned way) {
    const auto visitor = [&](const CloseItem& item) { log_.handled(item); };
    for (Status status = Status::ok; status != Status::closed;) {
      status = consumer_.wait_and_consume(visitor, way == 0 ? Until() : Until(100us));
    }
  }
  void close() { queue_.close(); }
  std::uint64_t dropped() {
    if constexpr (Policies::on_full == OnFull::overwrite_oldest) return consumer_.lost();
    return 0;
  }

 private:
  CloseLog& log_;
  Broadcast<CloseItem, Policies> queue_;
  typename Broadcast<CloseItem, Policies>::Consumer consumer_;
};

class OfLatest {
 public:
  static constexpr unsigned producers = 3, consumers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 2, ways_out = 2;

  OfLatest(const ClosePlan&, CloseLog& log) : log_(log) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      return way == 0 ? latest_.store(std::move(item))
                      : latest_.store(CloseSource(CloseItem(item.number)));
    });
  }
  void serve(unsigned, unsigned way) {
    std::uint64_t seen = 0;
    const auto visitor = [&](const CloseItem& item) { log_.handled(item); };
    for (Status status = Status::ok; status != Status::closed;) {
      status = latest_.read_newer(seen, visitor, way == 0 ? Until() : Until(100us));
    }
  }
  void close() { latest_.close(); }
  std::uint64_t dropped() { return latest_.overwritten(); }

 private:
  CloseLog& log_;
  Latest<CloseItem> latest_;
};

class OfLatestByKey {
 public:
  static constexpr unsigned producers = 3, consumers = 2;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 3, ways_out = 2;

  OfLatestByKey(const ClosePlan& plan, CloseLog& log) : log_(log), queue_(plan.capacity) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      const std::uint32_t key = item.number % 5;
      if (way == 0) return queue_.push(key, std::move(item));
      if (way == 1) return queue_.push(key, CloseSource(CloseItem(item.number)));
      return queue_.push(key, std::move(item), 100us);
    });
  }
  void serve(unsigned, unsigned way) {
    const auto visitor = [&](std::uint32_t, CloseItem& item) { log_.handled(item); };
    for (Status status = Status::ok; status != Status::closed;) {
      status = queue_.wait(way == 0 ? Until() : Until(100us));
      if (status == Status::ok) queue_.consume(visitor, 1 + way);
    }
  }
  void close() { queue_.close(); }
  std::uint64_t dropped() { return queue_.overwritten(); }

 private:
  CloseLog& log_;
  LatestByKey<std::uint32_t, CloseItem> queue_;
};

// ---- Event queues ----

template <class Base>
struct Orders : Base {
  static int priority(std::uint32_t key, const CloseItem&) { return static_cast<int>(key % 2); }
};

template <class Policies>
class OfEventQueue {
  using Queue = EventQueue<std::uint32_t, void(const CloseItem&), Policies>;

 public:
  static constexpr unsigned producers = 3, consumers = 3;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 4, ways_out = 6;

  OfEventQueue(const ClosePlan& plan, CloseLog& log)
      : log_(log), random_(plan.random(1000)()), queue_(options(plan.capacity)) {
    for (std::uint32_t key = 0; key < kKeys; ++key) {
      (void)queue_.append_listener(key, [this](const CloseItem& item) {
        log_.handled(item);
        if (item.number % 16 == random_ % 16) throw std::runtime_error("a listener");
      });
    }
  }

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    if (way == 0) {
      std::vector<typename Queue::Event> events;
      for (CloseItem& item : items) {
        events.emplace_back(std::in_place, item.number % kKeys, std::move(item));
      }
      return in_batches(items, queue_, [&](std::span<CloseItem> rest) {
        return queue_.enqueue_batch(std::span(events).last(rest.size()));
      });
    }
    std::optional<typename Queue::NotificationHold> hold;
    if (way == 1) hold.emplace(queue_);
    return one_by_one(items, [&](CloseItem& item) {
      const std::uint32_t key = item.number % kKeys;
      if constexpr (full_of<Policies>() == OnFull::wait) {
        if (way == 2) return queue_.enqueue(100us, key, std::move(item));
      }
      const Status status = queue_.enqueue(key, std::move(item));
      // In a hold nobody else may be awake to make room.
      if (status == Status::full) hold.reset();
      return status;
    });
  }
  void serve(unsigned, unsigned way) {
    unsigned turn = 0;
    for (;;) {
      const Status status = queue_.wait(way % 2 == 0 ? Until() : Until(100us));
      if (status == Status::closed) return;
      try {
        if (way < 2) queue_.drain();
        if (way / 2 == 1) queue_.drain(1);
        if (way / 2 == 2) {
          queue_.drain_if([&](std::uint32_t, const CloseItem&) {
            ++turn;
            return turn % 5 == 0 ? Next::stop : turn % 3 == 0 ? Next::leave : Next::take;
          });
        }
      } catch (const std::runtime_error&) {
      }
    }
  }
  void close() { queue_.shut(); }
  std::uint64_t dropped() {
    const Tally tally = queue_.tally();
    EXPECT_EQ(tally.pending, 0U);
    EXPECT_TRUE(tally.balanced());
    return tally.cancelled + tally.expired;
  }

 private:
  static constexpr std::uint32_t kKeys = 3;

  static typename Queue::Options options(std::size_t capacity) {
    auto made = room_for<Queue>(capacity, full_of<Policies>());
    made.spin_for = 0ns;
    return made;
  }

  CloseLog& log_;
  const std::uint64_t random_;
  Queue queue_;
};

// ---- Buses ----

template <class Policies>
class OfBus {
  using Bus = BasicMessageBus<Policies, CloseItem>;

 public:
  static constexpr unsigned producers = 3, consumers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 5, ways_out = 2;

  OfBus(const ClosePlan& plan, CloseLog& log)
      : log_(log),
        bus_({.capacity = plan.capacity, .on_full = full_of<Policies>(), .spin_for = 0ns}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    auto producer = bus_.producer();
    if (way == 0) {
      return in_batches(items, bus_, [&](auto rest) { return producer.publish_batch(rest); });
    }
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 1) return producer.publish(std::move(item));
      if (way == 2) return bus_.try_publish(std::move(item), urgent());
      if (way == 3) return bus_.publish(std::as_const(item));
      auto claim = producer.template claim<CloseItem>(std::move(item));
      if (!claim) return claim.status();
      claim.commit();
      return Status::ok;
    });
  }
  void serve(unsigned, unsigned way) {
    const auto visitor = [&](CloseItem& item) { log_.handled(item); };
    for (;;) {
      const Status status = bus_.wait(way == 0 ? Until() : Until(100us));
      if (status == Status::closed) return;
      bus_.drain(visitor, way == 0 ? ~std::size_t{0} : 1);
    }
  }
  void close() { bus_.shut(); }
  std::uint64_t dropped() {
    EXPECT_TRUE(bus_.tally().balanced());
    return bus_.tally().cancelled;
  }

 private:
  static constexpr auto urgent() {
    if constexpr (Policies::order == MessageOrder::by_priority) return Priority::urgent;
    else return Admission::urgent;
  }

  CloseLog& log_;
  Bus bus_;
};

// ---- What has threads of its own ----

struct Handler {
  CloseLog& log;
  void operator()(CloseItem& item) const { log.handled(item); }
};

template <bool kFinishes, OnFull kOnFull>
struct OfWorkers : OfEngine<MessageWorkers<CloseItem>> {
  static constexpr unsigned ways_in = 4;

  OfWorkers(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log,
                 MessageWorkersOptions{.width = 2, .capacity = plan.capacity, .on_full = kOnFull},
                 Handler{log}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 0) return engine_.publish(std::move(item));
      if (way == 1) return engine_.publish(std::move(item), 100us);
      if (way == 2) return engine_.try_publish(std::as_const(item));
      return engine_.publish(std::as_const(item));
    });
  }
};

template <bool kFinishes>
struct OfActiveObject : OfEngine<ActiveObject<Handler, CloseItem>> {
  static constexpr unsigned ways_in = 3;

  OfActiveObject(const ClosePlan& plan, CloseLog& log)
      : OfEngine(kFinishes, log, ActiveObjectOptions{.capacity = plan.capacity}, Handler{log}) {}

  std::uint64_t offer(unsigned, unsigned way, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      if (way == 0) return engine_.publish(std::move(item));
      if (way == 1) return engine_.publish(std::move(item), 100us);
      return engine_.try_publish(std::move(item), Admission::urgent);
    });
  }
};

using Queues =
    testing::Types<OfQueue<MpmcRing<CloseItem>, 3, 3>, OfQueue<MpscRing<CloseItem>, 3, 1>,
                   OfQueue<SpscRing<CloseItem>, 1, 1, CloseBy::producer>,
                   OfQueue<SegmentQueue<CloseItem, 3>, 3, 3>>;
using Channels =
    testing::Types<OfChannel<MpmcRing<CloseItem>, 3, 3>, OfChannel<MpscRing<CloseItem>, 3, 1>,
                   OfChannel<SpscRing<CloseItem>, 1, 1, CloseBy::producer>,
                   OfChannel<SegmentQueue<CloseItem, 3>, 3, 3>, OfRendezvous>;
using Newest = testing::Types<OfBroadcast<BroadcastPolicies>, OfBroadcast<OneProducer>,
                              OfBroadcast<Overwrites<BroadcastPolicies>>, OfLatest, OfLatestByKey>;
using EventQueues =
    testing::Types<OfEventQueue<EventPolicies>, OfEventQueue<Bounded<OnFull::reject>>,
                   OfEventQueue<Bounded<OnFull::wait>>,
                   OfEventQueue<Bounded<OnFull::overwrite_oldest>>,
                   OfEventQueue<Orders<EventPolicies>>, OfEventQueue<Orders<Bounded<OnFull::wait>>>,
                   OfEventQueue<Coalesces<>>, OfEventQueue<Coalesces<Bounded<OnFull::wait>>>,
                   OfEventQueue<Coalesces<Bounded<OnFull::reject>>>,
                   OfEventQueue<Coalesces<Bounded<OnFull::overwrite_oldest>>>>;
using Buses =
    testing::Types<OfBus<BusPolicies>, OfBus<Bounded<OnFull::wait, BusPolicies>>,
                   OfBus<LanedBusPolicies>, OfBus<Bounded<OnFull::wait, LanedBusPolicies>>,
                   OfBus<PriorityBusPolicies>>;
using Working = testing::Types<OfWorkers<true, OnFull::wait>, OfWorkers<false, OnFull::wait>,
                               OfWorkers<true, OnFull::run_here>, OfWorkers<false, OnFull::reject>,
                               OfActiveObject<true>, OfActiveObject<false>>;
INSTANTIATE_TYPED_TEST_SUITE_P(Queues, CloseSuite, Queues);
INSTANTIATE_TYPED_TEST_SUITE_P(Channels, CloseSuite, Channels);
INSTANTIATE_TYPED_TEST_SUITE_P(Newest, CloseSuite, Newest);
INSTANTIATE_TYPED_TEST_SUITE_P(EventQueues, CloseSuite, EventQueues);
INSTANTIATE_TYPED_TEST_SUITE_P(Buses, CloseSuite, Buses);
INSTANTIATE_TYPED_TEST_SUITE_P(Working, CloseSuite, Working);

// ---- Wrong ones ----

// A right queue, as simple as can be; those below are wrong at the close.
class Right {
 public:
  static constexpr unsigned producers = 1, consumers = 1;
  static constexpr CloseBy by = CloseBy::anybody;
  static constexpr unsigned ways_in = 1, ways_out = 1;

  Right(const ClosePlan&, CloseLog& log) : log_(log) {}

  std::uint64_t offer(unsigned, unsigned, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) { return push(item); });
  }
  void serve(unsigned, unsigned) {
    while (handle_one()) {
    }
  }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  std::uint64_t dropped() { return 0; }

 protected:
  Status push(const CloseItem& item) {
    const std::lock_guard lock(mutex_);
    if (closed_) return Status::closed;
    items_.push_back(item);
    return Status::ok;
  }
  // False once it is closed and none is left.
  bool handle_one() {
    std::optional<CloseItem> item;
    {
      const std::lock_guard lock(mutex_);
      if (items_.empty()) return !closed_;
      item.emplace(items_.front());
      items_.pop_front();
    }
    log_.handled(*item);
    return true;
  }

  CloseLog& log_;
  std::mutex mutex_;
  std::deque<CloseItem> items_;
  bool closed_ = false;
};

// Looks whether it is closed, takes its time, and accepts.
struct LooksTooEarly : Right {
  using Right::Right;
  std::uint64_t offer(unsigned, unsigned, std::span<CloseItem> items) {
    return one_by_one(items, [&](CloseItem& item) {
      {
        const std::lock_guard lock(mutex_);
        if (closed_) return Status::closed;
      }
      std::this_thread::yield();
      const std::lock_guard lock(mutex_);
      items_.push_back(item);
      return Status::ok;
    });
  }
};
// Is told closed, and leaves what is there.
struct LeavesTheRest : Right {
  using Right::Right;
  void serve(unsigned, unsigned) {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        if (closed_) return;
      }
      (void)handle_one();
    }
  }
};
struct HandlesTwice : Right {
  using Right::Right;
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (!items_.empty()) items_.push_back(items_.front());
  }
};
// Has to be told twice.
struct ClosesLate : Right {
  using Right::Right;
  void close() {
    if (told_.exchange(true)) Right::close();
  }
  std::atomic<bool> told_{false};
};

// The first verdict that is not good; that of the last round if all are.
template <class Subject>
CloseVerdict first_bad(unsigned closers) {
  for (std::uint64_t round = 0; round < 3000; ++round) {
    const ClosePlan plan{.seed = round,
                         .calls_each = 100,
                         .closers = closers,
                         .pauses = static_cast<unsigned>(round % 50)};
    const CloseVerdict verdict = CloseRound<Subject>(plan).run();
    if (verdict != CloseVerdict{}) return verdict;
  }
  return {};
}

TEST(CloseCanary, TheSuiteFindsEachFault) {
  EXPECT_EQ(CloseRound<Right>({.calls_each = 100, .pauses = 20}).run(), CloseVerdict{});
  EXPECT_GT(first_bad<LooksTooEarly>(1).lost, 0U);
  EXPECT_GT(first_bad<LeavesTheRest>(1).lost, 0U);
  EXPECT_GT(first_bad<HandlesTwice>(1).unexpected, 0U);
  EXPECT_GT(first_bad<ClosesLate>(2).late, 0U);
}

}}  // namespace handoff::test
