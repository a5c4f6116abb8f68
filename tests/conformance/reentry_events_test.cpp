// SPDX-License-Identifier: MIT
//
// Lists, dispatchers and queues of events, buckets of commands: listeners, visitors, filters, the
// ends of functions and of events call the same object.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <handoff/command/command_bucket.hpp>
#include <handoff/core/inline_executor.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue.hpp>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "conformance/reentry.hpp"
#include "support/event_queue_options.hpp"
#include "support/policies.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::reentry;

// A listener that can be looked for; to compare it calls.
struct Comparable {
  const Inside* inside;
  void operator()(int /*argument*/) const {}
  bool operator==(const Comparable& other) const {
    if (inside != nullptr) (*inside)();
    return inside == other.inside;
  }
};

struct ListSubject {
  CallbackList<void(int)> list;
  CallbackList<int(int)> results;
  InlineExecutor here;
  ListenerHandle first = list.append([](int) {});
  ListenerHandle second = list.append([](int) {});

  static const Table<ListSubject>& table() {
    static const Table<ListSubject> table{places(), calls(), {}};
    return table;
  }

  static std::vector<Table<ListSubject>::Place> places() {
    using Subject = ListSubject;
    return {
        {"listener",
         [](Subject& s, const Inside& inside) {
           (void)s.list.prepend([&](int) { inside(); });
           s.list(1);
         }},
        {"listener with a result",
         [](Subject& s, const Inside& inside) {
           (void)s.results.append([&](int) { return inside(), 1; });
           s.results(1);
         }},
        {"visitor of results",
         [](Subject& s, const Inside& inside) {
           (void)s.results.append([](int) { return 1; });
           (void)s.results.visit_results([&](int) { return inside(), true; }, 1);
         }},
        {"visitor of listeners",
         [](Subject& s, const Inside& inside) {
           s.list.for_each([&](const ListenerHandle&) { inside(); });
         }},
        {"condition",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append_until([&](int) { return inside(), true; }, [](int) {});
           s.list(1);
         }},
        {"listener on an executor",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append_on(s.here, [&](int) { inside(); });
           s.list(1);
         }},
        {"comparison",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append(Comparable{nullptr});
           (void)s.list.append(Comparable{&inside});
           (void)s.list.find(Comparable{&inside});
         }},
        {"end of a removed listener",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append([ends = Ends(inside)](int) {}).remove();
         }},
        {"end of a listener whose calls are used up",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append([ends = Ends(inside)](int) {}, {.calls = 1});
           s.list(1);
         }},
        {"end of a listener that removes itself",
         [](Subject& s, const Inside& inside) {
           ListenerHandle handle;
           handle = s.list.append([&handle, ends = Ends(inside)](int) { (void)handle.remove(); });
           s.list(1);
         }},
        {"end of a listener that is waited for",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append([ends = Ends(inside)](int) {}).remove_and_wait();
         }},
        {"end of listeners that are cleared",
         [](Subject& s, const Inside& inside) {
           (void)s.list.append([ends = Ends(inside)](int) {});
           s.list.clear();
         }},
        {"end of the other listeners of a destroyed list", [](Subject& s, const Inside& inside) {
           std::optional<CallbackList<void(int)>> other(std::in_place);
           (void)other->append([ends = Ends(inside)](int) {});
           other.reset();
           (void)s;
         }}};
  }
  static std::vector<Table<ListSubject>::Call> calls() {
    using Subject = ListSubject;
    return {{"call", [](Subject& s) { s.list(2); }},
            {"append", [](Subject& s) { (void)s.list.append([](int) {}); }},
            {"prepend", [](Subject& s) { (void)s.list.prepend([](int) {}); }},
            {"insert", [](Subject& s) { (void)s.list.insert(s.second, [](int) {}); }},
            {"append and remove", [](Subject& s) { (void)s.list.append([](int) {}).remove(); }},
            {"remove", [](Subject& s) { (void)s.list.remove(s.first); }},
            {"remove and wait", [](Subject& s) { (void)s.list.remove_and_wait(s.second); }},
            {"clear", [](Subject& s) { s.list.clear(); }},
            {"for_each", [](Subject& s) { s.list.for_each([](const ListenerHandle&) {}); }},
            {"find", [](Subject& s) { (void)s.list.find(Comparable{nullptr}); }},
            {"looks",
             [](Subject& s) { (void)(s.list.size() + s.list.empty() + s.list.owns(s.first)); }}};
  }
};

struct DispatcherSubject {
  EventDispatcher<int, void(int)> events;
  ListenerHandle first = events.append_listener(1, [](int) {});

  static const Table<DispatcherSubject>& table() {
    using Subject = DispatcherSubject;
    static const Table<Subject> table{
        {{"listener",
          [](Subject& s, const Inside& inside) {
            (void)s.events.append_listener(1, [&](int) { inside(); });
            s.events.dispatch(1, 0);
          }},
         {"filter",
          [](Subject& s, const Inside& inside) {
            (void)s.events.append_filter([&](int&) { return inside(), true; });
            s.events.dispatch(1, 0);
          }},
         {"end of a removed listener",
          [](Subject& s, const Inside& inside) {
            (void)s.events.append_listener(1, [ends = Ends(inside)](int) {}).remove();
          }},
         {"end of a removed filter",
          [](Subject& s, const Inside& inside) {
            (void)s.events.append_filter([ends = Ends(inside)](int&) { return true; }).remove();
          }},
         {"end of a listener in a table that grows",
          [](Subject& s, const Inside& inside) {
            for (int key = 10; key < 40; ++key) {
              (void)s.events.append_listener(key, [ends = Ends(inside)](int) {}).remove();
            }
          }}},
        {{"dispatch", [](Subject& s) { s.events.dispatch(1, 0); }},
         {"append to this key", [](Subject& s) { (void)s.events.append_listener(1, [](int) {}); }},
         {"append to new keys",
          [](Subject& s) {
            for (int key = 100; key < 140; ++key) {
              (void)s.events.append_listener(key, [](int) {});
            }
          }},
         {"append a filter",
          [](Subject& s) { (void)s.events.append_filter([](int&) { return true; }).remove(); }},
         {"remove", [](Subject& s) { (void)s.events.remove_listener(1, s.first); }},
         {"remove and wait", [](Subject& s) { (void)s.first.remove_and_wait(); }},
         {"looks",
          [](Subject& s) {
            (void)(s.events.listener_count(1) + s.events.has_listener(2) +
                   s.events.owns_listener(1, s.first));
          }}},
        {}};
    return table;
  }
};

// ---- Queues of events ---------------------------------------------------------------------------

using Rejecting = test::Bounded<OnFull::reject>;
using Overwriting = test::Bounded<OnFull::overwrite_oldest>;
struct Expiring : EventPolicies {
  static constexpr bool expires = true;
};

thread_local const Inside* asked = nullptr;  // called by the policies below

struct Asking : EventPolicies {
  static void ask() {
    if (const Inside* const inside = std::exchange(asked, nullptr)) (*inside)();
  }
  static int priority(int /*key*/, const Ends& /*event*/) {
    ask();
    return 0;
  }
  static bool can_continue(const Ends& /*event*/) {
    ask();
    return true;
  }
};

template <class Policies>
struct EventQueueSubject {
  using Queue = EventQueue<int, void(const Ends&), Policies>;
  static constexpr bool kBounded = requires(typename Queue::Options options) { options.capacity; };

  Queue queue{test::room_for<Queue>(8, test::full_of<Policies>())};
  ListenerHandle first = queue.append_listener(1, [](const Ends&) {});

  using Place = typename Table<EventQueueSubject>::Place;
  using Call = typename Table<EventQueueSubject>::Call;

  static const Table<EventQueueSubject>& table() {
    static const Table<EventQueueSubject> table{
        joined(joined(places(), places_of_ends()), places_of_policies()),
        calls(),
        {{"end of an event that is replaced:", "a replaced event ends under the queue's lock"}}};
    return table;
  }

  static std::vector<Place> places() {
    using Subject = EventQueueSubject;
    return {{"listener",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.append_listener(1, [&](const Ends&) { inside(); });
               (void)s.queue.enqueue(1, Ends());
               (void)s.queue.enqueue(2, Ends());
               s.queue.drain();
             }},
            {"visitor",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.enqueue(1, Ends());
               (void)s.queue.enqueue(2, Ends());
               s.queue.drain([&](int, const Ends&) { inside(); });
             }},
            {"chooser",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.enqueue(1, Ends());
               s.queue.drain_if([&] { return inside(), Next::take; });
             }},
            {"filter", [](Subject& s, const Inside& inside) {
               (void)s.queue.append_filter([&](const Ends&) { return inside(), true; });
               (void)s.queue.enqueue(1, Ends());
               s.queue.drain();
             }}};
  }
  static std::vector<Place> places_of_ends() {
    using Subject = EventQueueSubject;
    return {{"end of a handled event",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.enqueue(1, Ends(inside));
               (void)s.queue.enqueue(2, Ends());
               s.queue.drain();
             }},
            {"end of an event whose listener threw",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.append_listener(
                   3, [](const Ends&) { throw std::runtime_error("asked"); });
               (void)s.queue.enqueue(3, Ends(inside));
               try {
                 s.queue.drain();
               } catch (const std::runtime_error&) {
               }
             }},
            {"end of a cleared event",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.enqueue(1, Ends(inside));
               s.queue.clear();
             }},
            {"end of a taken event",
             [](Subject& s, const Inside& inside) {
               (void)s.queue.enqueue(1, Ends(inside));
               (void)s.queue.take();
             }},
            {"end of a refused event",
             [](Subject& s, const Inside& inside) {
               s.queue.shut();
               (void)s.queue.enqueue(1, Ends(inside));
             }},
            {"end of a listener", [](Subject& s, const Inside& inside) {
               (void)s.queue.append_listener(1, [ends = Ends(inside)](const Ends&) {}).remove();
             }}};
  }
  static std::vector<Place> places_of_policies() {
    using Subject = EventQueueSubject;
    std::vector<Place> all;
    if constexpr (requires { Policies::coalesce; }) {
      all.push_back({"end of an event that is replaced", [](Subject& s, const Inside& inside) {
                       (void)s.queue.enqueue(1, Ends(inside));
                       (void)s.queue.enqueue(1, Ends());
                       s.queue.drain();
                     }});
    }
    if constexpr (kBounded) {
      all.push_back({"end of an event that finds no room", [](Subject& s, const Inside& inside) {
                       for (int i = 0; i < 8; ++i) (void)s.queue.enqueue(i, Ends());
                       (void)s.queue.enqueue(99, Ends(inside));
                       s.queue.drain();
                     }});
      all.push_back({"end of the oldest event", [](Subject& s, const Inside& inside) {
                       (void)s.queue.enqueue(50, Ends(inside));
                       for (int i = 0; i < 12; ++i) (void)s.queue.enqueue(i, Ends());
                       s.queue.drain();
                     }});
    }
    if constexpr (std::is_same_v<Policies, Asking>) {
      all.push_back({"priority", [](Subject& s, const Inside& inside) {
                       asked = &inside;
                       (void)s.queue.enqueue(1, Ends());
                       s.queue.drain();
                     }});
      all.push_back({"whether to continue", [](Subject& s, const Inside& inside) {
                       (void)s.queue.enqueue(1, Ends());
                       asked = &inside;
                       s.queue.drain();
                     }});
    }
    if constexpr (requires { Policies::expires; }) {
      all.push_back({"end of an expired event", [](Subject& s, const Inside& inside) {
                       (void)s.queue.enqueue_expiring(std::chrono::steady_clock::now(), 1,
                                                      Ends(inside));
                       s.queue.drain();
                     }});
    }
    return all;
  }

  static std::vector<Call> calls() {
    using Subject = EventQueueSubject;
    return {{"enqueue", [](Subject& s) { (void)s.queue.enqueue(1, Ends()); }},
            {"enqueue of another key", [](Subject& s) { (void)s.queue.enqueue(7, Ends()); }},
            {"many",
             [](Subject& s) {
               for (int i = 0; i < 20; ++i) (void)s.queue.enqueue(i, Ends());
             }},
            {"drain", [](Subject& s) { s.queue.drain(); }},
            {"drain one", [](Subject& s) { s.queue.drain(1); }},
            {"visit", [](Subject& s) { s.queue.drain([](int, const Ends&) {}); }},
            {"choose", [](Subject& s) { s.queue.drain_if([] { return Next::leave; }); }},
            {"peek", [](Subject& s) { (void)s.queue.peek(); }},
            {"take", [](Subject& s) { (void)s.queue.take(); }},
            {"clear", [](Subject& s) { s.queue.clear(); }},
            {"wait", [](Subject& s) { (void)s.queue.wait(std::chrono::steady_clock::now()); }},
            {"looks",
             [](Subject& s) {
               (void)s.queue.tally();
               (void)(s.queue.empty() + s.queue.closed());
             }},
            {"trim", [](Subject& s) { s.queue.trim(); }},
            {"append", [](Subject& s) { (void)s.queue.append_listener(1, [](const Ends&) {}); }},
            {"remove and wait", [](Subject& s) { (void)s.first.remove_and_wait(); }},
            {"shut", [](Subject& s) { s.queue.shut(); }}};
  }
};

// ---- Commands -----------------------------------------------------------------------------------

struct BucketSubject {
  struct Backend {
    const Inside* called = nullptr;
  };
  struct Draw {
    int number = 0;
    void operator()(Backend& to) const {
      if (to.called != nullptr) (*to.called)();
    }
  };
  using Bucket = CommandBucket<std::uint32_t, Backend>;
  Bucket bucket;
  Backend backend;
  InlineExecutor here;

  void add() {
    auto recorder = bucket.recorder(0);
    recorder.add<Draw>(1);
    recorder.add<Draw>(2);
  }

  static const Table<BucketSubject>& table() {
    using Subject = BucketSubject;
    static const Table<Subject> table{
        {{"function that records",
          [](Subject& s, const Inside& inside) {
            s.bucket.record(s.here, 4, 1, [&](Bucket::Recorder& recorder, IndexRange) {
              recorder.add<Draw>(1);
              inside();
            });
          }},
         {"command",
          [](Subject& s, const Inside& inside) {
            s.add();
            Backend calls{&inside};
            (void)s.bucket.dispatch(calls);
          }},
         {"change of a key",
          [](Subject& s, const Inside& inside) {
            s.add();
            (void)s.bucket.dispatch(s.backend,
                                    when_changed(1, [&](std::uint32_t, Backend&) { inside(); }));
          }},
         {"fold",
          [](Subject& s, const Inside& inside) {
            s.add();
            (void)s.bucket.merge<Draw>([&](Draw&, const Draw&) { return inside(), true; });
          }},
         {"inspector",
          [](Subject& s, const Inside& inside) {
            s.add();
            s.bucket.inspect([&](std::uint32_t, std::string_view) { inside(); });
          }}},
        {{"record", [](Subject& s) { s.bucket.record(s.here, 1, 1, [](auto&, IndexRange) {}); }},
         {"recorder", [](Subject& s) { (void)s.bucket.recorder(5); }},
         {"state", [](Subject& s) { (void)s.bucket.state<Draw>(); }},
         {"sort", [](Subject& s) { s.bucket.sort(); }},
         {"sort on an executor", [](Subject& s) { s.bucket.sort(s.here); }},
         {"dispatch", [](Subject& s) { (void)s.bucket.dispatch(s.backend); }},
         {"merge",
          [](Subject& s) { (void)s.bucket.merge<Draw>([](Draw&, const Draw&) { return false; }); }},
         {"inspect", [](Subject& s) { s.bucket.inspect([](std::uint32_t, std::string_view) {}); }},
         {"clear", [](Subject& s) { s.bucket.clear(); }},
         {"looks",
          [](Subject& s) {
            (void)s.bucket.tally();
            (void)s.bucket.statistics();
          }}},
        {}};
    return table;
  }
};

using EventSubjects =
    testing::Types<ListSubject, DispatcherSubject, EventQueueSubject<EventPolicies>,
                   EventQueueSubject<Rejecting>, EventQueueSubject<Overwriting>,
                   EventQueueSubject<test::Coalesces<>>,
                   EventQueueSubject<test::Coalesces<Rejecting>>, EventQueueSubject<Expiring>,
                   EventQueueSubject<Asking>, BucketSubject>;

}  // namespace

namespace handoff::test::reentry {
INSTANTIATE_TYPED_TEST_SUITE_P(Events, ReentryTest, EventSubjects);
}  // namespace handoff::test::reentry
