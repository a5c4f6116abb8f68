// SPDX-License-Identifier: MIT
//
// Queues, channels, buses: visitors, handlers, and the ends of items call the same object.
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/bus/active_object.hpp>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/bus/request.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <stdexcept>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/made.hpp"
#include "conformance/reentry.hpp"
#include "support/policies.hpp"

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

  static const Table<QueueSubject>& table() {
    static const Table<QueueSubject> table{places(), calls(), left_out()};
    return table;
  }

  static auto places() {
    using Place = typename Table<QueueSubject>::Place;
    std::vector<Place> places{{"visitor",
                               [](QueueSubject& s, const Inside& inside) {
                                 (void)s.queue.try_push(Ends());
                                 (void)s.queue.try_push(Ends());
                                 s.queue.consume([&](Ends&) { inside(); });
                               }},
                              {"end of a visited item",
                               [](QueueSubject& s, const Inside& inside) {
                                 (void)s.queue.try_push(Ends(inside));
                                 (void)s.queue.try_push(Ends());
                                 s.queue.consume([](Ends&) {});
                               }},
                              {"end of what a pop replaces",
                               [](QueueSubject& s, const Inside& inside) {
                                 (void)s.queue.try_push(Ends());
                                 (void)s.queue.try_push(Ends());
                                 Ends out(inside);
                                 (void)s.queue.try_pop(out);
                               }},
                              {"end of what a batch replaces",
                               [](QueueSubject& s, const Inside& inside) {
                                 for (int i = 0; i < 4; ++i) (void)s.queue.try_push(Ends());
                                 std::array<Ends, 3> out{Ends(), Ends(inside), Ends()};
                                 (void)s.queue.try_pop_batch(out);
                               }},
                              {"end of a popped item",
                               [](QueueSubject& s, const Inside& inside) {
                                 (void)s.queue.try_push(Ends(inside));
                                 (void)s.queue.try_pop();
                               }},
                              {"end of a refused item", [](QueueSubject& s, const Inside& inside) {
                                 s.queue.close();
                                 (void)s.queue.try_push(Ends(inside));
                               }}};
    if constexpr (kIsChannel) {
      places.push_back(
          {"end of what a waiting pop replaces", [](QueueSubject& s, const Inside& inside) {
             std::thread producer([&] { (void)s.queue.push(Ends()); });
             Ends out(inside);
             (void)s.queue.pop(out);
             producer.join();
           }});
      places.push_back({"handler of a select", [](QueueSubject& s, const Inside& inside) {
                          (void)s.queue.push(Ends());
                          (void)select(on_item(s.queue, [&](Ends) { inside(); }));
                        }});
      places.push_back({"end of what a loop has popped", [](QueueSubject& s, const Inside& inside) {
                          (void)s.queue.push(Ends(inside));
                          (void)s.queue.push(Ends());
                          for (Ends& item : s.queue) {
                            (void)item;
                            s.queue.close();
                          }
                        }});
    }
    return places;
  }

  static auto calls() {
    using Call = typename Table<QueueSubject>::Call;
    std::vector<Call> calls{
        {"try_push", [](QueueSubject& s) { (void)s.queue.try_push(Ends()); }},
        {"try_push_batch",
         [](QueueSubject& s) {
           std::array<Ends, 2> items;
           (void)s.queue.try_push_batch(items);
         }},
        {"try_pop", [](QueueSubject& s) { (void)s.queue.try_pop(); }},
        {"try_pop of a value",
         [](QueueSubject& s) {
           Ends out;
           (void)s.queue.try_pop(out);
         }},
        {"try_pop_batch",
         [](QueueSubject& s) {
           std::array<Ends, 2> items;
           (void)s.queue.try_pop_batch(items);
         }},
        {"consume", [](QueueSubject& s) { s.queue.consume([](Ends&) {}); }},
        {"looks",
         [](QueueSubject& s) { (void)(s.queue.size() + s.queue.empty() + s.queue.closed()); }},
        {"close", [](QueueSubject& s) { s.queue.close(); }}};
    if constexpr (kIsChannel) {
      calls.push_back({"push", [](QueueSubject& s) {
                         (void)s.queue.push(Ends(), std::chrono::steady_clock::now());
                       }});
      calls.push_back(
          {"pop", [](QueueSubject& s) { (void)s.queue.pop(std::chrono::steady_clock::now()); }});
      calls.push_back(
          {"try_select", [](QueueSubject& s) { (void)try_select(on_item(s.queue, [](Ends) {})); }});
    }
    return calls;
  }

  static auto left_out() {
    std::vector<typename Table<QueueSubject>::LeftOut> left_out;
    if constexpr (kVisitsInPlace<Queue>) {
      for (const char* const cell :
           {"visitor: try_pop", "visitor: try_pop of a value", "visitor: try_pop_batch",
            "visitor: consume", "visitor: pop", "visitor: try_select",
            "end of a visited item: try_pop", "end of a visited item: try_pop of a value",
            "end of a visited item: try_pop_batch", "end of a visited item: consume",
            "end of a visited item: pop", "end of a visited item: try_select"}) {
        left_out.push_back({cell, "the visitor, and the end of what it visits, take nothing"});
      }
    }
    return left_out;
  }
};

using QueueSubjects =
    testing::Types<QueueSubject<SpscRing<Ends>>, QueueSubject<MpscRing<Ends>>,
                   QueueSubject<MpmcRing<Ends>>, QueueSubject<SegmentQueue<Ends>>,
                   QueueSubject<Channel<Ends>>, QueueSubject<Channel<Ends, SpscRing<Ends>>>,
                   QueueSubject<UnboundedChannel<Ends>>>;

// ---- Latest -------------------------------------------------------------------------------------

struct LatestSubject {
  Latest<Ends> latest;

  static const Table<LatestSubject>& table() {
    static const Table<LatestSubject> table{
        {{"visitor",
          [](LatestSubject& s, const Inside& inside) {
            (void)s.latest.store(Ends());
            (void)s.latest.read([&](const Ends&) { inside(); });
          }},
         {"visitor of a newer one",
          [](LatestSubject& s, const Inside& inside) {
            (void)s.latest.store(Ends());
            std::uint64_t seen = 0;
            (void)s.latest.read_newer(seen, [&](const Ends&) { inside(); });
          }},
         {"end of a replaced value",
          [](LatestSubject& s, const Inside& inside) {
            (void)s.latest.store(Ends(inside));
            (void)s.latest.store(Ends());
          }},
         {"end of a value that was read meanwhile",
          [](LatestSubject& s, const Inside& inside) {
            (void)s.latest.store(Ends(inside));
            (void)s.latest.read([&](const Ends&) { (void)s.latest.store(Ends()); });
          }}},
        {{"store", [](LatestSubject& s) { (void)s.latest.store(Ends()); }},
         {"read", [](LatestSubject& s) { (void)s.latest.read([](const Ends&) {}); }},
         {"load", [](LatestSubject& s) { (void)s.latest.load(); }},
         {"read_newer",
          [](LatestSubject& s) {
            std::uint64_t seen = 0;
            (void)s.latest.read_newer(seen, [](const Ends&) {}, std::chrono::steady_clock::now());
          }},
         {"looks",
          [](LatestSubject& s) {
            (void)(s.latest.version() + s.latest.overwritten() + s.latest.closed());
          }},
         {"close", [](LatestSubject& s) { s.latest.close(); }}},
        {}};
    return table;
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

  static const Table<LatestByKeySubject>& table() {
    using Subject = LatestByKeySubject;
    static const Table<Subject> table{
        {{"visitor",
          [](Subject& s, const Inside& inside) {
            (void)s.latest.try_push(1, Ends());
            (void)s.latest.try_push(2, Ends());
            s.latest.consume([&](const Key&, Ends&) { inside(); });
          }},
         {"end of a replaced value",
          [](Subject& s, const Inside& inside) {
            (void)s.latest.try_push(1, Ends(inside));
            (void)s.latest.try_push(1, Ends());
          }},
         {"end of a consumed value",
          [](Subject& s, const Inside& inside) {
            (void)s.latest.try_push(1, Ends(inside));
            s.latest.consume([](const Key&, Ends&) {});
          }},
         {"hash",
          [](Subject& s, const Inside& inside) {
            hashed = &inside;
            (void)s.latest.try_push(1, Ends());
          }}},
        {{"try_push of this key", [](Subject& s) { (void)s.latest.try_push(1, Ends()); }},
         {"try_push of another key", [](Subject& s) { (void)s.latest.try_push(3, Ends()); }},
         {"push",
          [](Subject& s) { (void)s.latest.push(4, Ends(), std::chrono::steady_clock::now()); }},
         {"consume", [](Subject& s) { s.latest.consume([](const Key&, Ends&) {}); }},
         {"wait_and_consume",
          [](Subject& s) {
            (void)s.latest.wait_and_consume([](const Key&, Ends&) {},
                                            std::chrono::steady_clock::now());
          }},
         {"looks",
          [](Subject& s) { (void)(s.latest.size() + s.latest.overwritten() + s.latest.closed()); }},
         {"close", [](Subject& s) { s.latest.close(); }}},
        {}};
    return table;
  }
};

// ---- Broadcast ----------------------------------------------------------------------------------

template <class Policies>
struct BroadcastSubject {
  Broadcast<Ends, Policies> broadcast{4};
  typename Broadcast<Ends, Policies>::Consumer one = broadcast.consumer();
  typename Broadcast<Ends, Policies>::Consumer other = broadcast.consumer();

  static const Table<BroadcastSubject>& table() {
    using Subject = BroadcastSubject;
    static const Table<Subject> table{
        {{"visitor",
          [](Subject& s, const Inside& inside) {
            (void)s.broadcast.try_push(Ends());
            (void)s.broadcast.try_push(Ends());
            s.one.consume([&](const Ends&) { inside(); });
          }},
         {"end of a message whose place is used again",
          [](Subject& s, const Inside& inside) {
            (void)s.broadcast.try_push(Ends(inside));
            for (int i = 0; i < 8; ++i) {
              s.one.consume([](const Ends&) {});
              s.other.consume([](const Ends&) {});
              (void)s.broadcast.try_push(Ends());
            }
          }}},
        {{"try_push", [](Subject& s) { (void)s.broadcast.try_push(Ends()); }},
         {"push",
          [](Subject& s) { (void)s.broadcast.push(Ends(), std::chrono::steady_clock::now()); }},
         {"claim",
          [](Subject& s) {
            auto claim = s.broadcast.try_claim(2);
            (void)claim.status();
          }},
         {"consumer", [](Subject& s) { auto joined = s.broadcast.consumer(); }},
         {"consume of another", [](Subject& s) { s.other.consume([](const Ends&) {}); }},
         {"leave of another", [](Subject& s) { s.other.leave(); }},
         {"leave", [](Subject& s) { s.one.leave(); }},
         {"looks",
          [](Subject& s) { (void)(s.one.behind() + s.one.closed() + s.broadcast.closed()); }},
         {"close", [](Subject& s) { s.broadcast.close(); }}},
        left_out()};
    return table;
  }

  static std::vector<typename Table<BroadcastSubject>::LeftOut> left_out() {
    if constexpr (Policies::many_producers) {
      return {};
    } else {
      constexpr const char* why = "what ends while the one producer publishes must not publish";
      return {{"end of a message whose place is used again: try_push", why},
              {"end of a message whose place is used again: push", why},
              {"end of a message whose place is used again: claim", why}};
    }
  }
};

// ---- Buses --------------------------------------------------------------------------------------

template <class Policies>
struct BusSubject {
  using Ask = Request<int, int>;
  using Bus = BasicMessageBus<Policies, Ends, Ask>;
  Bus bus{{.capacity = 8, .on_full = test::full_of<Policies>()}};

  static const Table<BusSubject>& table() {
    static const Table<BusSubject> table{places(), calls(), {}};
    return table;
  }

  static std::vector<typename Table<BusSubject>::Place> places() {
    using Subject = BusSubject;
    return {{"visitor",
             [](Subject& s, const Inside& inside) {
               (void)s.bus.publish(Ends());
               (void)s.bus.publish(Ends());
               s.bus.drain([&](auto&) { inside(); });
             }},
            {"subscriber",
             [](Subject& s, const Inside& inside) {
               (void)s.bus.template subscribe<Ends>([&](const Ends&) { inside(); });
               (void)s.bus.publish(Ends());
               s.bus.drain();
             }},
            {"end of a message",
             [](Subject& s, const Inside& inside) {
               (void)s.bus.publish(Ends(inside));
               (void)s.bus.publish(Ends());
               s.bus.drain();
             }},
            {"end of a message that a close drops",
             [](Subject& s, const Inside& inside) {
               (void)s.bus.publish(Ends(inside));
               (void)s.bus.publish(Ends());
               (void)s.bus.close(Closing::abandon);
             }},
            {"handler of a request",
             [](Subject& s, const Inside& inside) {
               auto reply = s.bus.template request<int>(1);
               s.bus.drain([&](auto& message) {
                 if constexpr (std::is_same_v<std::remove_cvref_t<decltype(message)>, Ask>) {
                   inside();
                   message.reply(2);
                 }
               });
             }},
            {"what follows a reply",
             [](Subject& s, const Inside& inside) {
               auto reply = s.bus.template request<int>(1).then([&](int) { inside(); });
               s.bus.drain([](auto& message) {
                 if constexpr (std::is_same_v<std::remove_cvref_t<decltype(message)>, Ask>) {
                   message.reply(2);
                 }
               });
             }},
            {"end of a subscriber", [](Subject& s, const Inside& inside) {
               ListenerHandle handle =
                   s.bus.template subscribe<Ends>([ends = Ends(inside)](const Ends&) {});
               (void)handle.remove();
             }}};
  }
  static std::vector<typename Table<BusSubject>::Call> calls() {
    using Subject = BusSubject;
    return {{"publish", [](Subject& s) { (void)s.bus.publish(Ends()); }},
            {"publish until now",
             [](Subject& s) { (void)s.bus.publish(Ends(), std::chrono::steady_clock::now()); }},
            {"try_publish", [](Subject& s) { (void)s.bus.try_publish(Ends()); }},
            {"request", [](Subject& s) { (void)s.bus.template request<int>(3); }},
            {"producer", [](Subject& s) { (void)s.bus.producer().publish(Ends()); }},
            {"subscribe",
             [](Subject& s) { (void)s.bus.template subscribe<Ends>([](const Ends&) {}).remove(); }},
            {"drain", [](Subject& s) { s.bus.drain(); }},
            {"wait", [](Subject& s) { (void)s.bus.wait(std::chrono::steady_clock::now()); }},
            {"looks",
             [](Subject& s) {
               (void)s.bus.tally();
               (void)(s.bus.size() + s.bus.closed() + s.bus.refused(Admission::normal));
             }},
            {"shut", [](Subject& s) { s.bus.shut(); }},
            {"close for good", [](Subject& s) { (void)s.bus.close(Closing::finish); }}};
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

  static const Table<ActiveSubject>& table() {
    static const Table<ActiveSubject> table{
        {{"handler",
          [](ActiveSubject& s, const Inside& inside) {
            (void)s.object.publish(std::function<void()>(inside));
            (void)s.object.close();
          }},
         {"end of a message",
          [](ActiveSubject& s, const Inside& inside) {
            (void)s.object.publish(Ends(inside));
            (void)s.object.close();
          }},
         {"on_error",
          [](ActiveSubject& s, const Inside& inside) {
            s.on_error = inside;
            (void)s.object.publish(
                std::function<void()>([] { throw std::runtime_error("asked"); }));
            (void)s.object.close();
          }}},
        {{"publish", [](ActiveSubject& s) { (void)s.object.publish(Ends()); }},
         {"try_publish", [](ActiveSubject& s) { (void)s.object.try_publish(Ends()); }},
         {"looks",
          [](ActiveSubject& s) {
            (void)s.object.tally();
            (void)s.object.size();
          }},
         {"close", [](ActiveSubject& s) { (void)s.object.close(); }}},
        {}};
    return table;
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

  static const Table<WorkersSubject>& table() {
    using Subject = WorkersSubject;
    static const Table<Subject> table{
        {{"handler",
          [](Subject& s, const Inside& inside) {
            (void)s.workers.publish(Message{1, inside});
            (void)s.workers.close();
          }},
         {"handler of a message that is waited for",
          [](Subject& s, const Inside& inside) {
            (void)s.workers.publish_and_wait(Message{1, inside});
          }},
         {"end of a message",
          [](Subject& s, const Inside& inside) {
            (void)s.workers.publish(Message{1, {}, Ends(inside)});
            (void)s.workers.close();
          }},
         {"end of a message that a close drops",
          [](Subject& s, const Inside& inside) {
            (void)s.workers.pause();
            (void)s.workers.publish(Message{1, {}, Ends(inside)});
            (void)s.workers.close(Closing::abandon);
          }},
         {"on_error",
          [](Subject& s, const Inside& inside) {
            s.on_error = inside;
            (void)s.workers.publish(Message{1, [] { throw std::runtime_error("asked"); }});
            (void)s.workers.close();
          }},
         {"key",
          [](Subject& s, const Inside& inside) {
            keyed = &inside;
            (void)s.workers.publish(Message{1});
            (void)s.workers.close();
          }}},
        {{"publish", [](Subject& s) { (void)s.workers.publish(Message{1}); }},
         {"publish of another key", [](Subject& s) { (void)s.workers.publish(Message{2}); }},
         {"many",
          [](Subject& s) {
            for (std::uint64_t i = 0; i < 8; ++i) (void)s.workers.publish(Message{i % 2});
          }},
         {"try_publish", [](Subject& s) { (void)s.workers.try_publish(Message{1}); }},
         {"publish_and_wait", [](Subject& s) { (void)s.workers.publish_and_wait(Message{2}); }},
         {"publish_and_wait of this key",
          [](Subject& s) { (void)s.workers.publish_and_wait(Message{1}); }},
         {"wait", [](Subject& s) { (void)s.workers.wait(); }},
         {"pause", [](Subject& s) { (void)s.workers.pause(std::chrono::steady_clock::now()); }},
         {"resume", [](Subject& s) { s.workers.resume(); }},
         {"looks",
          [](Subject& s) {
            (void)s.workers.tally();
            (void)s.workers.health();
            (void)(s.workers.refused() + s.workers.width());
          }},
         {"close", [](Subject& s) { (void)s.workers.close(); }}},
        {}};
    return table;
  }
};

using BusSubjects = testing::Types<
    LatestSubject, LatestByKeySubject, BroadcastSubject<BroadcastPolicies>,
    BroadcastSubject<OneProducer>, BroadcastSubject<test::Overwrites<BroadcastPolicies>>,
    BusSubject<BusPolicies>, BusSubject<test::Bounded<OnFull::wait, BusPolicies>>,
    BusSubject<LanedBusPolicies>, BusSubject<test::Bounded<OnFull::wait, LanedBusPolicies>>,
    ActiveSubject, WorkersSubject>;

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

  // Never destroyed: the thread that hangs is left alone with it.
  static const Table<LockedSubject>& table() {
    static const auto* const table =
        new Table<LockedSubject>{{{"end of what a pop replaces",
                                   [](LockedSubject& s, const Inside& inside) {
                                     s.queue.push(Ends());
                                     Ends out(inside);
                                     s.queue.pop(out);
                                   }},
                                  {"nowhere", [](LockedSubject&, const Inside&) {}}},
                                 {{"size", [](LockedSubject& s) { (void)s.queue.size(); }}},
                                 {}};
    return *table;
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
