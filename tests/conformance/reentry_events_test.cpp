// SPDX-License-Identifier: MIT
//
// Lists, dispatchers and queues of events, buckets of commands: listeners, visitors, filters, the
// ends of functions and of events call the same object.
#include "conformance/reentry.hpp"
#include "support/event_queue_options.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::reentry;
using namespace std::chrono_literals;

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

  static void fill(Table<ListSubject>& t) {
    t.place("listener", [](auto& s, const Inside& inside) {
      (void)s.list.prepend([&](int) { inside(); });
      s.list(1);
    });
    t.place("listener with a result", [](auto& s, const Inside& inside) {
      (void)s.results.append([&](int) { return inside(), 1; });
      s.results(1);
    });
    t.place("visitor of results", [](auto& s, const Inside& inside) {
      (void)s.results.append([](int) { return 1; });
      (void)s.results.visit_results([&](int) { return inside(), true; }, 1);
    });
    t.place("visitor of listeners", [](auto& s, const Inside& inside) {
      s.list.for_each([&](const ListenerHandle&) { inside(); });
    });
    t.place("condition", [](auto& s, const Inside& inside) {
      (void)s.list.append_until([&](int) { return inside(), true; }, [](int) {});
      s.list(1);
    });
    t.place("listener on an executor", [](auto& s, const Inside& inside) {
      (void)s.list.append_on(s.here, [&](int) { inside(); });
      s.list(1);
    });
    t.place("comparison", [](auto& s, const Inside& inside) {
      (void)s.list.append(Comparable{nullptr});
      (void)s.list.append(Comparable{&inside});
      (void)s.list.find(Comparable{&inside});
    });
    t.place("end of a removed listener", [](auto& s, const Inside& inside) {
      (void)s.list.append([ends = Ends(inside)](int) {}).remove();
    });
    t.place("end of a listener whose calls are used up", [](auto& s, const Inside& inside) {
      (void)s.list.append([ends = Ends(inside)](int) {}, {.calls = 1});
      s.list(1);
    });
    t.place("end of a listener that removes itself", [](auto& s, const Inside& inside) {
      ListenerHandle handle;
      handle = s.list.append([&handle, ends = Ends(inside)](int) { (void)handle.remove(); });
      s.list(1);
    });
    t.place("end of a listener that is waited for", [](auto& s, const Inside& inside) {
      (void)s.list.append([ends = Ends(inside)](int) {}).remove_and_wait();
    });
    t.place("end of a scoped listener", [](auto& s, const Inside& inside) {
      const ScopedListener scoped = s.list.append([ends = Ends(inside)](int) {});
    });
    t.place("end of a group of listeners", [](auto& s, const Inside& inside) {
      ListenerGroup group;
      (void)group.add(s.list.append([ends = Ends(inside)](int) {}));
    });
    t.place("end of listeners that are cleared", [](auto& s, const Inside& inside) {
      (void)s.list.append([ends = Ends(inside)](int) {});
      s.list.clear();
    });
    t.place("end of the other listeners of a destroyed list", [](auto& s, const Inside& inside) {
      std::optional<CallbackList<void(int)>> other(std::in_place);
      (void)other->append([ends = Ends(inside)](int) {});
      other.reset();
      (void)s;
    });
    calls(t);
  }
  static void calls(Table<ListSubject>& t) {
    t.call("call", [](auto& s) { s.list(2); });
    t.call("append", [](auto& s) { (void)s.list.append([](int) {}); });
    t.call("prepend", [](auto& s) { (void)s.list.prepend([](int) {}); });
    t.call("insert", [](auto& s) { (void)s.list.insert(s.second, [](int) {}); });
    t.call("append and remove", [](auto& s) { (void)s.list.append([](int) {}).remove(); });
    t.call("remove", [](auto& s) { (void)s.list.remove(s.first); });
    t.call("remove and wait", [](auto& s) { (void)s.list.remove_and_wait(s.second); });
    t.call("scoped", [](auto& s) { const ScopedListener scoped = s.list.append([](int) {}); });
    t.call("group", [](auto& s) {
      ListenerGroup group;
      (void)group.add(s.list.append([](int) {}));
      (void)group.add(s.first);
    });
    t.call("clear", [](auto& s) { s.list.clear(); });
    t.call("for_each", [](auto& s) { s.list.for_each([](const ListenerHandle&) {}); });
    t.call("find", [](auto& s) { (void)s.list.find(Comparable{nullptr}); });
    t.call("looks", [](auto& s) { (void)(s.list.size() + s.list.empty() + s.list.owns(s.first)); });
  }
};

struct DispatcherSubject {
  EventDispatcher<int, void(int)> events;
  ListenerHandle first = events.append_listener(1, [](int) {});

  static void fill(Table<DispatcherSubject>& t) {
    t.place("listener", [](auto& s, const Inside& inside) {
      (void)s.events.append_listener(1, [&](int) { inside(); });
      s.events.dispatch(1, 0);
    });
    t.place("filter", [](auto& s, const Inside& inside) {
      (void)s.events.append_filter([&](int&) { return inside(), true; });
      s.events.dispatch(1, 0);
    });
    t.place("end of a removed listener", [](auto& s, const Inside& inside) {
      (void)s.events.append_listener(1, [ends = Ends(inside)](int) {}).remove();
    });
    t.place("end of a removed filter", [](auto& s, const Inside& inside) {
      (void)s.events.append_filter([ends = Ends(inside)](int&) { return true; }).remove();
    });
    t.place("end of a listener in a table that grows", [](auto& s, const Inside& inside) {
      for (int key = 10; key < 40; ++key) {
        (void)s.events.append_listener(key, [ends = Ends(inside)](int) {}).remove();
      }
    });
    t.call("dispatch", [](auto& s) { s.events.dispatch(1, 0); });
    t.call("append to this key", [](auto& s) { (void)s.events.append_listener(1, [](int) {}); });
    t.call("append to new keys", [](auto& s) {
      for (int key = 100; key < 140; ++key) {
        (void)s.events.append_listener(key, [](int) {});
      }
    });
    t.call("append a filter",
           [](auto& s) { (void)s.events.append_filter([](int&) { return true; }).remove(); });
    t.call("remove", [](auto& s) { (void)s.events.remove_listener(1, s.first); });
    t.call("remove and wait", [](auto& s) { (void)s.first.remove_and_wait(); });
    t.call("looks", [](auto& s) {
      (void)(s.events.listener_count(1) + s.events.has_listener(2) +
             s.events.owns_listener(1, s.first));
    });
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

  // A replaced event ends under the queue's lock: its end is no place.
  static void fill(Table<EventQueueSubject>& t) {
    t.place("listener", [](auto& s, const Inside& inside) {
      (void)s.queue.append_listener(1, [&](const Ends&) { inside(); });
      (void)s.queue.enqueue(1, Ends());
      (void)s.queue.enqueue(2, Ends());
      s.queue.drain();
    });
    t.place("visitor", [](auto& s, const Inside& inside) {
      (void)s.queue.enqueue(1, Ends());
      (void)s.queue.enqueue(2, Ends());
      s.queue.drain([&](int, const Ends&) { inside(); });
    });
    t.place("chooser", [](auto& s, const Inside& inside) {
      (void)s.queue.enqueue(1, Ends());
      s.queue.drain_if([&] { return inside(), Next::take; });
    });
    t.place("filter", [](auto& s, const Inside& inside) {
      (void)s.queue.append_filter([&](const Ends&) { return inside(), true; });
      (void)s.queue.enqueue(1, Ends());
      s.queue.drain();
    });
    places_of_ends(t);
    places_of_policies(t);
    calls(t);
  }
  static void places_of_ends(Table<EventQueueSubject>& t) {
    t.place("end of a handled event", [](auto& s, const Inside& inside) {
      (void)s.queue.enqueue(1, Ends(inside));
      (void)s.queue.enqueue(2, Ends());
      s.queue.drain();
    });
    t.place("end of an event whose listener threw", [](auto& s, const Inside& inside) {
      (void)s.queue.append_listener(3, [](const Ends&) { throw std::runtime_error("asked"); });
      (void)s.queue.enqueue(3, Ends(inside));
      try {
        s.queue.drain();
      } catch (const std::runtime_error&) {
      }
    });
    t.place("end of a cleared event", [](auto& s, const Inside& inside) {
      (void)s.queue.enqueue(1, Ends(inside));
      s.queue.clear();
    });
    t.place("end of a taken event", [](auto& s, const Inside& inside) {
      (void)s.queue.enqueue(1, Ends(inside));
      (void)s.queue.take();
    });
    t.place("end of a refused event", [](auto& s, const Inside& inside) {
      s.queue.shut();
      (void)s.queue.enqueue(1, Ends(inside));
    });
    t.place("end of a listener", [](auto& s, const Inside& inside) {
      (void)s.queue.append_listener(1, [ends = Ends(inside)](const Ends&) {}).remove();
    });
  }
  static void places_of_policies(Table<EventQueueSubject>& t) {
    if constexpr (kBounded) {
      t.place("end of an event that finds no room", [](auto& s, const Inside& inside) {
        for (int i = 0; i < 8; ++i) (void)s.queue.enqueue(i, Ends());
        (void)s.queue.enqueue(99, Ends(inside));
        s.queue.drain();
      });
      t.place("end of the oldest event", [](auto& s, const Inside& inside) {
        (void)s.queue.enqueue(50, Ends(inside));
        for (int i = 0; i < 12; ++i) (void)s.queue.enqueue(i, Ends());
        s.queue.drain();
      });
    }
    if constexpr (std::is_same_v<Policies, Asking>) {
      t.place("priority", [](auto& s, const Inside& inside) {
        asked = &inside;
        (void)s.queue.enqueue(1, Ends());
        s.queue.drain();
      });
      t.place("whether to continue", [](auto& s, const Inside& inside) {
        (void)s.queue.enqueue(1, Ends());
        asked = &inside;
        s.queue.drain();
      });
    }
    if constexpr (requires { Policies::expires; }) {
      t.place("end of an expired event", [](auto& s, const Inside& inside) {
        (void)s.queue.enqueue_expiring(0ns, 1, Ends(inside));
        s.queue.drain();
      });
    }
  }

  static void calls(Table<EventQueueSubject>& t) {
    t.call("enqueue", [](auto& s) { (void)s.queue.enqueue(1, Ends()); });
    t.call("enqueue of another key", [](auto& s) { (void)s.queue.enqueue(7, Ends()); });
    t.call("many", [](auto& s) {
      for (int i = 0; i < 20; ++i) (void)s.queue.enqueue(i, Ends());
    });
    t.call("drain", [](auto& s) { s.queue.drain(); });
    t.call("drain one", [](auto& s) { s.queue.drain(1); });
    t.call("visit", [](auto& s) { s.queue.drain([](int, const Ends&) {}); });
    t.call("choose", [](auto& s) { s.queue.drain_if([] { return Next::leave; }); });
    t.call("peek", [](auto& s) { (void)s.queue.peek(); });
    t.call("take", [](auto& s) { (void)s.queue.take(); });
    t.call("clear", [](auto& s) { s.queue.clear(); });
    t.call("wait", [](auto& s) { (void)s.queue.wait(0ns); });
    t.call("looks", [](auto& s) {
      (void)s.queue.tally();
      (void)(s.queue.empty() + s.queue.closed());
    });
    t.call("trim", [](auto& s) { s.queue.trim(); });
    t.call("append", [](auto& s) { (void)s.queue.append_listener(1, [](const Ends&) {}); });
    t.call("remove and wait", [](auto& s) { (void)s.first.remove_and_wait(); });
    t.call("shut", [](auto& s) { s.queue.shut(); });
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

  static void fill(Table<BucketSubject>& t) {
    t.place("function that records", [](auto& s, const Inside& inside) {
      s.bucket.record(s.here, 4, 1, [&](Bucket::Recorder& recorder, IndexRange) {
        recorder.add<Draw>(1);
        inside();
      });
    });
    t.place("command", [](auto& s, const Inside& inside) {
      s.add();
      Backend calls{&inside};
      (void)s.bucket.dispatch(calls);
    });
    t.place("change of a key", [](auto& s, const Inside& inside) {
      s.add();
      (void)s.bucket.dispatch(s.backend,
                              when_changed(1, [&](std::uint32_t, Backend&) { inside(); }));
    });
    t.place("fold", [](auto& s, const Inside& inside) {
      s.add();
      (void)s.bucket.template merge<Draw>([&](Draw&, const Draw&) { return inside(), true; });
    });
    t.place("inspector", [](auto& s, const Inside& inside) {
      s.add();
      s.bucket.inspect([&](std::uint32_t, std::string_view) { inside(); });
    });
    t.call("record", [](auto& s) { s.bucket.record(s.here, 1, 1, [](auto&, IndexRange) {}); });
    t.call("recorder", [](auto& s) { (void)s.bucket.recorder(5); });
    t.call("state", [](auto& s) { (void)s.bucket.template state<Draw>(); });
    t.call("sort", [](auto& s) { s.bucket.sort(); });
    t.call("sort on an executor", [](auto& s) { s.bucket.sort(s.here); });
    t.call("dispatch", [](auto& s) { (void)s.bucket.dispatch(s.backend); });
    t.call("merge", [](auto& s) {
      (void)s.bucket.template merge<Draw>([](Draw&, const Draw&) { return false; });
    });
    t.call("inspect", [](auto& s) { s.bucket.inspect([](std::uint32_t, std::string_view) {}); });
    t.call("clear", [](auto& s) { s.bucket.clear(); });
    t.call("looks", [](auto& s) {
      (void)s.bucket.tally();
      (void)s.bucket.statistics();
    });
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
