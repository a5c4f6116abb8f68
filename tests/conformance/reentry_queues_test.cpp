// SPDX-License-Identifier: MIT
//
// Queues, channels, buses: visitors, handlers, and the ends of items call the same object.
#include "conformance/made.hpp"
#include "conformance/reentry.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::reentry;
using namespace std::chrono_literals;

// ---- Queues -------------------------------------------------------------------------------------

template <class Queue>
inline constexpr bool kVisitsInPlace = false;
template <>
inline constexpr bool kVisitsInPlace<SpscRing<Ends>> = true;
template <>
inline constexpr bool kVisitsInPlace<Channel<Ends, SpscRing<Ends>>> = true;

template <class Queue>
struct QueueSubject {
  Queue queue = test::made<Queue>(8);

  static constexpr bool kIsChannel = requires(Queue& q, Ends e) { q.push(std::move(e)); };

  static void fill(Table<QueueSubject>& t) {
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.queue.try_push(Ends());
      (void)s.queue.try_push(Ends());
      s.queue.consume([&](Ends&) { inside(); });
    });
    t.place("end of a visited item", [](auto& s, const Inside& inside) {
      (void)s.queue.try_push(Ends(inside));
      (void)s.queue.try_push(Ends());
      s.queue.consume([](Ends&) {});
    });
    t.place("end of what a pop replaces", [](auto& s, const Inside& inside) {
      (void)s.queue.try_push(Ends());
      (void)s.queue.try_push(Ends());
      Ends out(inside);
      (void)s.queue.try_pop(out);
    });
    t.place("end of what a batch replaces", [](auto& s, const Inside& inside) {
      for (int i = 0; i < 4; ++i) (void)s.queue.try_push(Ends());
      std::array<Ends, 3> out{Ends(), Ends(inside), Ends()};
      (void)s.queue.try_pop_batch(out);
    });
    t.place("end of a popped item", [](auto& s, const Inside& inside) {
      (void)s.queue.try_push(Ends(inside));
      (void)s.queue.try_pop();
    });
    t.place("end of a refused item", [](auto& s, const Inside& inside) {
      s.queue.close();
      (void)s.queue.try_push(Ends(inside));
    });
    if constexpr (kIsChannel) {
      t.place("end of what a waiting pop replaces", [](auto& s, const Inside& inside) {
        std::thread producer([&] { (void)s.queue.push(Ends()); });
        Ends out(inside);
        (void)s.queue.pop(out);
        producer.join();
      });
      t.place("handler of a select", [](auto& s, const Inside& inside) {
        (void)s.queue.push(Ends());
        (void)select(on_item(s.queue, [&](Ends) { inside(); }));
      });
      t.place("end of what a loop has popped", [](auto& s, const Inside& inside) {
        (void)s.queue.push(Ends(inside));
        (void)s.queue.push(Ends());
        for (Ends& item : s.queue) {
          (void)item;
          s.queue.close();
        }
      });
    }
    calls(t);
    if constexpr (kVisitsInPlace<Queue>) {
      for (const char* const call :
           {"try_pop", "try_pop of a value", "try_pop_batch", "consume", "pop", "try_select"}) {
        for (const char* const place : {"visitor", "end of a visited item"}) {
          t.left_out(place, call, "the visitor, and the end of what it visits, take nothing");
        }
      }
    }
  }

  static void calls(Table<QueueSubject>& t) {
    t.call("try_push", [](auto& s) { (void)s.queue.try_push(Ends()); });
    t.call("try_push_batch", [](auto& s) {
      std::array<Ends, 2> items;
      (void)s.queue.try_push_batch(items);
    });
    t.call("try_pop", [](auto& s) { (void)s.queue.try_pop(); });
    t.call("try_pop of a value", [](auto& s) {
      Ends out;
      (void)s.queue.try_pop(out);
    });
    t.call("try_pop_batch", [](auto& s) {
      std::array<Ends, 2> items;
      (void)s.queue.try_pop_batch(items);
    });
    t.call("consume", [](auto& s) { s.queue.consume([](Ends&) {}); });
    t.call("looks", [](auto& s) { (void)(s.queue.size() + s.queue.empty() + s.queue.closed()); });
    t.call("close", [](auto& s) { s.queue.close(); });
    if constexpr (kIsChannel) {
      t.call("push", [](auto& s) { (void)s.queue.push(Ends(), 0ns); });
      t.call("emplace", [](auto& s) { (void)s.queue.emplace(0ns); });
      t.call("pop", [](auto& s) { (void)s.queue.pop(0ns); });
      t.call("try_select", [](auto& s) { (void)try_select(on_item(s.queue, [](Ends) {})); });
    }
  }
};

struct RendezvousSubject {
  RendezvousChannel<Ends> queue;

  // While another thread pushes one.
  template <class Take>
  static void meet(RendezvousSubject& s, Ends item, const Take& take) {
    std::jthread producer([&] { (void)s.queue.push(std::move(item)); });
    take();
  }

  static void fill(Table<RendezvousSubject>& t) {
    t.place("end of what a pop replaces", [](auto& s, const Inside& inside) {
      meet(s, Ends(), [&] {
        Ends out(inside);
        (void)s.queue.pop(out);
      });
    });
    t.place("end of a popped item", [](auto& s, const Inside& inside) {
      meet(s, Ends(inside), [&] { (void)s.queue.pop(); });
    });
    t.place("end of a refused item",
            [](auto& s, const Inside& inside) { (void)s.queue.try_push(Ends(inside)); });
    t.place("handler of a select", [](auto& s, const Inside& inside) {
      meet(s, Ends(), [&] { (void)select(on_item(s.queue, [&](Ends) { inside(); })); });
    });
    t.call("try_push", [](auto& s) { (void)s.queue.try_push(Ends()); });
    t.call("push", [](auto& s) { (void)s.queue.push(Ends(), 0ns); });
    t.call("try_pop", [](auto& s) { (void)s.queue.try_pop(); });
    t.call("pop", [](auto& s) { (void)s.queue.pop(0ns); });
    t.call("try_select", [](auto& s) { (void)try_select(on_item(s.queue, [](Ends) {})); });
    t.call("close", [](auto& s) { s.queue.close(); });
  }
};

using QueueSubjects =
    testing::Types<QueueSubject<SpscRing<Ends>>, QueueSubject<MpscRing<Ends>>,
                   QueueSubject<MpmcRing<Ends>>, QueueSubject<SegmentQueue<Ends>>,
                   QueueSubject<Channel<Ends>>, QueueSubject<Channel<Ends, SpscRing<Ends>>>,
                   QueueSubject<UnboundedChannel<Ends>>, RendezvousSubject>;

// ---- Latest -------------------------------------------------------------------------------------

struct LatestSubject {
  Latest<Ends> latest;

  static void fill(Table<LatestSubject>& t) {
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.latest.store(Ends());
      (void)s.latest.read([&](const Ends&) { inside(); });
    });
    t.place("visitor of a newer one", [](auto& s, const Inside& inside) {
      (void)s.latest.store(Ends());
      std::uint64_t seen = 0;
      (void)s.latest.read_newer(seen, [&](const Ends&) { inside(); });
    });
    t.place("end of a replaced value", [](auto& s, const Inside& inside) {
      (void)s.latest.store(Ends(inside));
      (void)s.latest.store(Ends());
    });
    t.place("end of a value that was read meanwhile", [](auto& s, const Inside& inside) {
      (void)s.latest.store(Ends(inside));
      (void)s.latest.read([&](const Ends&) { (void)s.latest.store(Ends()); });
    });
    t.call("store", [](auto& s) { (void)s.latest.store(Ends()); });
    t.call("read", [](auto& s) { (void)s.latest.read([](const Ends&) {}); });
    t.call("load", [](auto& s) { (void)s.latest.load(); });
    t.call("read_newer", [](auto& s) {
      std::uint64_t seen = 0;
      (void)s.latest.read_newer(seen, [](const Ends&) {}, 0ns);
    });
    t.call("looks", [](auto& s) {
      (void)(s.latest.version() + s.latest.overwritten() + s.latest.closed());
    });
    t.call("close", [](auto& s) { s.latest.close(); });
  }
};

// ---- LatestByKey --------------------------------------------------------------------------------

inline thread_local const Inside* hashed = nullptr;  // called when a key is hashed

struct LatestByKeySubject {
  struct Key {
    int number = 0;
    Ends ends;
    Key(int its_number, Ends its_ends = Ends())  // NOLINT(google-explicit-constructor)
        : number(its_number), ends(std::move(its_ends)) {}
    friend bool operator==(const Key& a, const Key& b) { return a.number == b.number; }
  };
  struct Hash {
    std::size_t operator()(const Key& key) const {
      if (const Inside* const inside = std::exchange(hashed, nullptr)) (*inside)();
      return static_cast<std::size_t>(key.number);
    }
  };
  LatestByKey<Key, Ends, Hash> latest{8};

  static void fill(Table<LatestByKeySubject>& t) {
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.latest.try_push(1, Ends());
      (void)s.latest.try_push(2, Ends());
      s.latest.consume([&](const Key&, Ends&) { inside(); });
    });
    t.place("end of a replaced value", [](auto& s, const Inside& inside) {
      (void)s.latest.try_push(1, Ends(inside));
      (void)s.latest.try_push(1, Ends());
    });
    t.place("end of a consumed value", [](auto& s, const Inside& inside) {
      (void)s.latest.try_push(1, Ends(inside));
      s.latest.consume([](const Key&, Ends&) {});
    });
    t.place("hash", [](auto& s, const Inside& inside) {
      hashed = &inside;
      (void)s.latest.try_push(1, Ends());
    });
    t.call("try_push of this key", [](auto& s) { (void)s.latest.try_push(1, Ends()); });
    t.call("try_push of another key", [](auto& s) { (void)s.latest.try_push(3, Ends()); });
    t.call("push", [](auto& s) { (void)s.latest.push(4, Ends(), 0ns); });
    t.call("consume", [](auto& s) { s.latest.consume([](const Key&, Ends&) {}); });
    t.call("wait_and_consume",
           [](auto& s) { (void)s.latest.wait_and_consume([](const Key&, Ends&) {}, 0ns); });
    t.call("looks",
           [](auto& s) { (void)(s.latest.size() + s.latest.overwritten() + s.latest.closed()); });
    t.call("close", [](auto& s) { s.latest.close(); });
  }
};

// ---- Broadcast ----------------------------------------------------------------------------------

template <class Policies>
struct BroadcastSubject {
  Broadcast<Ends, Policies> broadcast{4};
  typename Broadcast<Ends, Policies>::Consumer one = broadcast.consumer();
  typename Broadcast<Ends, Policies>::Consumer other = broadcast.consumer();

  static void fill(Table<BroadcastSubject>& t) {
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.broadcast.try_push(Ends());
      (void)s.broadcast.try_push(Ends());
      s.one.consume([&](const Ends&) { inside(); });
    });
    t.place("end of a message whose place is used again", [](auto& s, const Inside& inside) {
      (void)s.broadcast.try_push(Ends(inside));
      for (int i = 0; i < 8; ++i) {
        s.one.consume([](const Ends&) {});
        s.other.consume([](const Ends&) {});
        (void)s.broadcast.try_push(Ends());
      }
    });
    t.call("try_push", [](auto& s) { (void)s.broadcast.try_push(Ends()); });
    t.call("push", [](auto& s) { (void)s.broadcast.push(Ends(), 0ns); });
    t.call("claim", [](auto& s) {
      auto claim = s.broadcast.try_claim(2);
      (void)claim.status();
    });
    t.call("consumer", [](auto& s) { auto joined = s.broadcast.consumer(); });
    t.call("consume of another", [](auto& s) { s.other.consume([](const Ends&) {}); });
    t.call("leave of another", [](auto& s) { s.other.leave(); });
    t.call("leave", [](auto& s) { s.one.leave(); });
    t.call("looks",
           [](auto& s) { (void)(s.one.behind() + s.one.closed() + s.broadcast.closed()); });
    t.call("close", [](auto& s) { s.broadcast.close(); });
    if constexpr (!Policies::many_producers) {
      for (const char* const call : {"try_push", "push", "claim"}) {
        t.left_out("end of a message whose place is used again", call,
                   "what ends while the one producer publishes must not publish");
      }
    }
  }
};

// ---- Buses --------------------------------------------------------------------------------------

template <class Policies>
struct BusSubject {
  using Ask = Request<int, int>;
  using Bus = BasicMessageBus<Policies, Ends, Ask>;
  Bus bus{{.capacity = 8, .on_full = test::full_of<Policies>()}};

  static void fill(Table<BusSubject>& t) {
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.bus.publish(Ends());
      (void)s.bus.publish(Ends());
      s.bus.drain([&](auto&) { inside(); });
    });
    t.place("subscriber", [](auto& s, const Inside& inside) {
      (void)s.bus.template subscribe<Ends>([&](const Ends&) { inside(); });
      (void)s.bus.publish(Ends());
      s.bus.drain();
    });
    t.place("end of a message", [](auto& s, const Inside& inside) {
      (void)s.bus.publish(Ends(inside));
      (void)s.bus.publish(Ends());
      s.bus.drain();
    });
    t.place("end of a message that a close drops", [](auto& s, const Inside& inside) {
      (void)s.bus.publish(Ends(inside));
      (void)s.bus.publish(Ends());
      (void)s.bus.close(Closing::abandon);
    });
    t.place("handler of a request", [](auto& s, const Inside& inside) {
      auto reply = s.bus.template request<int>(1);
      s.bus.drain([&](auto& message) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(message)>, Ask>) {
          inside();
          message.reply(2);
        }
      });
    });
    t.place("what follows a reply", [](auto& s, const Inside& inside) {
      auto reply = s.bus.template request<int>(1).then([&](int) { inside(); });
      s.bus.drain([](auto& message) {
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(message)>, Ask>) {
          message.reply(2);
        }
      });
    });
    t.place("end of a subscriber", [](auto& s, const Inside& inside) {
      ListenerHandle handle = s.bus.template subscribe<Ends>([ends = Ends(inside)](const Ends&) {});
      (void)handle.remove();
    });
    calls(t);
  }
  static void calls(Table<BusSubject>& t) {
    t.call("publish", [](auto& s) { (void)s.bus.publish(Ends()); });
    t.call("publish until now", [](auto& s) { (void)s.bus.publish(Ends(), 0ns); });
    t.call("try_publish", [](auto& s) { (void)s.bus.try_publish(Ends()); });
    t.call("request", [](auto& s) { (void)s.bus.template request<int>(3); });
    t.call("producer", [](auto& s) { (void)s.bus.producer().publish(Ends()); });
    t.call("subscribe",
           [](auto& s) { (void)s.bus.template subscribe<Ends>([](const Ends&) {}).remove(); });
    t.call("drain", [](auto& s) { s.bus.drain(); });
    t.call("wait", [](auto& s) { (void)s.bus.wait(0ns); });
    t.call("looks", [](auto& s) {
      (void)s.bus.tally();
      (void)(s.bus.size() + s.bus.closed() + s.bus.refused());
    });
    t.call("shut", [](auto& s) { s.bus.shut(); });
    t.call("close for good", [](auto& s) { (void)s.bus.close(Closing::finish); });
  }
};

struct ActiveSubject {
  struct State {
    void operator()(Ends& /*message*/) {}
    void operator()(const std::function<void()>& message) { message(); }
  };
  using Object = ActiveObject<State, Ends, std::function<void()>>;
  Object object{{.capacity = 8, .on_error = [this](const std::exception_ptr&) {
                   if (on_error) on_error();
                 }}};
  std::function<void()> on_error;

  static void fill(Table<ActiveSubject>& t) {
    t.place("handler", [](auto& s, const Inside& inside) {
      (void)s.object.publish(std::function<void()>(inside));
      (void)s.object.close();
    });
    t.place("end of a message", [](auto& s, const Inside& inside) {
      (void)s.object.publish(Ends(inside));
      (void)s.object.close();
    });
    t.place("on_error", [](auto& s, const Inside& inside) {
      s.on_error = inside;
      (void)s.object.publish(std::function<void()>([] { throw std::runtime_error("asked"); }));
      (void)s.object.close();
    });
    t.call("publish", [](auto& s) { (void)s.object.publish(Ends()); });
    t.call("try_publish", [](auto& s) { (void)s.object.try_publish(Ends()); });
    t.call("looks", [](auto& s) {
      (void)s.object.tally();
      (void)s.object.size();
    });
    t.call("close", [](auto& s) { (void)s.object.close(); });
  }
};

inline std::atomic<const Inside*> keyed{nullptr};  // called when a key is asked for

struct WorkersSubject {
  struct Message {
    std::uint64_t key = 0;
    std::function<void()> call = {};
    Ends ends = {};
  };
  struct Policies {
    static std::uint64_t key(const Message& message) noexcept {
      if (const Inside* const inside = keyed.exchange(nullptr)) (*inside)();
      return message.key;
    }
  };
  std::function<void()> on_error;
  BasicMessageWorkers<Policies, Message> workers{
      {.width = 2, .capacity = 4, .on_error = [this](const TaskFailure&) { on_error(); }},
      [](const Message& message) {
        if (message.call) message.call();
      }};

  static void fill(Table<WorkersSubject>& t) {
    t.place("handler", [](auto& s, const Inside& inside) {
      (void)s.workers.publish(Message{1, inside});
      (void)s.workers.close();
    });
    t.place("handler of a message that is waited for", [](auto& s, const Inside& inside) {
      (void)s.workers.publish_and_wait(Message{1, inside});
    });
    t.place("end of a message", [](auto& s, const Inside& inside) {
      (void)s.workers.publish(Message{1, {}, Ends(inside)});
      (void)s.workers.close();
    });
    t.place("end of a message that a close drops", [](auto& s, const Inside& inside) {
      (void)s.workers.pause();
      (void)s.workers.publish(Message{1, {}, Ends(inside)});
      (void)s.workers.close(Closing::abandon);
    });
    t.place("on_error", [](auto& s, const Inside& inside) {
      s.on_error = inside;
      (void)s.workers.publish(Message{1, [] { throw std::runtime_error("asked"); }});
      (void)s.workers.close();
    });
    t.place("key", [](auto& s, const Inside& inside) {
      keyed = &inside;
      (void)s.workers.publish(Message{1});
      (void)s.workers.close();
    });
    t.call("publish", [](auto& s) { (void)s.workers.publish(Message{1}); });
    t.call("publish of another key", [](auto& s) { (void)s.workers.publish(Message{2}); });
    t.call("many", [](auto& s) {
      for (std::uint64_t i = 0; i < 8; ++i) (void)s.workers.publish(Message{i % 2});
    });
    t.call("try_publish", [](auto& s) { (void)s.workers.try_publish(Message{1}); });
    t.call("publish_and_wait", [](auto& s) { (void)s.workers.publish_and_wait(Message{2}); });
    t.call("publish_and_wait of this key",
           [](auto& s) { (void)s.workers.publish_and_wait(Message{1}); });
    t.call("wait", [](auto& s) { (void)s.workers.wait(); });
    t.call("pause", [](auto& s) { (void)s.workers.pause(0ns); });
    t.call("resume", [](auto& s) { s.workers.resume(); });
    t.call("looks", [](auto& s) {
      (void)s.workers.tally();
      (void)s.workers.health();
      (void)(s.workers.refused() + s.workers.width());
    });
    t.call("close", [](auto& s) { (void)s.workers.close(); });
  }
};

using BusSubjects = testing::Types<
    LatestSubject, LatestByKeySubject, BroadcastSubject<BroadcastPolicies>,
    BroadcastSubject<OneProducer>, BroadcastSubject<test::Overwrites<BroadcastPolicies>>,
    BusSubject<BusPolicies>, BusSubject<test::Bounded<OnFull::wait, BusPolicies>>,
    BusSubject<LanedBusPolicies>, BusSubject<test::Bounded<OnFull::wait, LanedBusPolicies>>,
    BusSubject<PriorityBusPolicies>, ActiveSubject, WorkersSubject>;

// ---- The canary ---------------------------------------------------------------------------------

// A queue that ends under its lock what a pop replaces.
class LockedQueue {
 public:
  void push(Ends item) {
    const Locked locked(*this);
    items_.push_back(std::move(item));
  }
  void pop(Ends& out) {
    const Locked locked(*this);
    out = std::move(items_.back());
    items_.pop_back();
  }
  std::size_t size() {
    const Locked locked(*this);
    return items_.size();
  }

  static inline std::atomic<bool> rescued{false};  // nobody waits for a lock any more

 private:
  struct Locked {
    explicit Locked(LockedQueue& its_queue) : queue(its_queue) {
      while (queue.locked_.exchange(true) && !rescued) std::this_thread::yield();
    }
    ~Locked() { queue.locked_ = false; }
    Locked(const Locked&) = delete;
    Locked& operator=(const Locked&) = delete;
    LockedQueue& queue;
  };

  std::atomic<bool> locked_{false};
  std::vector<Ends> items_;
};

struct LockedSubject {
  LockedQueue queue;

  static void fill(Table<LockedSubject>& t) {
    t.place("end of what a pop replaces", [](auto& s, const Inside& inside) {
      s.queue.push(Ends());
      Ends out(inside);
      s.queue.pop(out);
    });
    t.place("nowhere", [](auto&, const Inside&) {});
    t.call("size", [](auto& s) { (void)s.queue.size(); });
  }
};

}  // namespace

namespace handoff::test::reentry {
INSTANTIATE_TYPED_TEST_SUITE_P(Queues, ReentryTest, QueueSubjects);
INSTANTIATE_TYPED_TEST_SUITE_P(Buses, ReentryTest, BusSubjects);

TEST(Reentry, WhatHangsAndWhatIsNotReachedIsFound) {
  const std::vector<Cell> cells = cells_of<LockedSubject>();
  ASSERT_EQ(cells.size(), 2U);
  EXPECT_EQ(fault_of(cells[0], std::chrono::milliseconds(50)), "it hangs");
  LockedQueue::rescued = true;
  EXPECT_EQ(fault_of(cells[1], std::chrono::seconds(60)), "the place was not reached");
}
}  // namespace handoff::test::reentry
