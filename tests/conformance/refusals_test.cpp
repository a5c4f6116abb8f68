// SPDX-License-Identifier: MIT
//
// The suite of refusals on all that takes items: of the transfer tier, the deferred tier and the
// executors; and on queues that move first and ask then, which it must find.
#include <handoff/bus/active_object.hpp>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/core/not_run.hpp>
#include <handoff/event/event_queue.hpp>
#include <handoff/file/file_engine.hpp>
#include <handoff/graph/pipeline.hpp>
#include <handoff/pool/loop_executor.hpp>
#include <handoff/pool/serial_executor.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/spsc_ring.hpp>

#include "conformance/made.hpp"
#include "conformance/refusal_suite.hpp"
#include "support/event_queue_options.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"
#include "unit/pool/modes.hpp"

namespace handoff::test { namespace {

// ---- The transfer tier ----

// Calls of whatever has try_push, try_emplace and batches; a subject has them as `queue`.
template <class Subject, class Given>
void add_try_calls(Calls<Subject, Given>& calls) {
  calls.add("try_push", [](Subject& subject, Given& given, const Until&) {
    return subject.queue.try_push(std::move(given));
  });
  calls.add("try_emplace", [](Subject& subject, Given& given, const Until&) {
    return subject.queue.try_emplace(std::move(given));
  });
}
template <class Item, class Subject, class Given>
void add_item_calls(Calls<Subject, Given>& calls) {
  if constexpr (std::is_same_v<Given, Item>) {
    calls.add("try_push_batch", [](Subject& subject, Given& given, const Until&) {
      return status_of(subject.queue.try_push_batch(std::span(&given, 1)));
    });
    if constexpr (std::is_copy_constructible_v<Item>) {
      calls.add("try_push of an lvalue", [](Subject& subject, Given& given, const Until&) {
        return subject.queue.try_push(given);
      });
    }
  }
}
template <class Subject, class Given>
void add_waiting_calls(Calls<Subject, Given>& calls) {
  calls.add_waiting("push", [](Subject& subject, Given& given, const Until& until) {
    return subject.queue.push(std::move(given), until);
  });
  calls.add_waiting("emplace", [](Subject& subject, Given& given, const Until& until) {
    return subject.queue.emplace(until, std::move(given));
  });
}

template <class Item, class Queue>
struct OfQueue {
  static constexpr bool converts = true;
  static constexpr bool fills = std::is_constructible_v<Queue, std::size_t>;
  template <class Given>
  static void calls(auto& calls) {
    add_try_calls(calls);
    add_item_calls<Item>(calls);
  }
  void fill(Item&& item) {
    EXPECT_EQ(queue.try_push(std::move(item)), Status::ok);
    EXPECT_EQ(queue.size(), queue.capacity());
  }
  void close() { queue.close(); }

  Queue queue = made<Queue>(1);
};
template <class Item, class Queue>
struct OfChannel : OfQueue<Item, Queue> {
  template <class Given>
  static void calls(auto& calls) {
    add_try_calls(calls);
    add_item_calls<Item>(calls);
    add_waiting_calls(calls);
  }
};

// Nobody waits in its pop: it is full.
template <class Item>
struct Met {
  static constexpr bool converts = true, fills = true;
  template <class Given>
  static void calls(auto& calls) {
    add_try_calls(calls);
    add_waiting_calls(calls);
  }
  void fill(Item&&) {}
  void close() { queue.close(); }

  RendezvousChannel<Item> queue;
};

template <class Item>
using Segments = SegmentQueue<Item>;
template <template <class> class Queue>
struct QueueFamily {
  template <class Item>
  using Subject = OfQueue<Item, Queue<Item>>;
};
template <template <class> class Queue>
struct ChannelFamily {
  template <class Item>
  using Subject = OfChannel<Item, Channel<Item, Queue<Item>>>;
};

template <class Item, class Policies>
struct OfBroadcast {
  static constexpr bool converts = true, fills = true;
  template <class Given>
  static void calls(auto& calls) {
    add_try_calls(calls);
    add_item_calls<Item>(calls);
    add_waiting_calls(calls);
  }
  void fill(Item&& item) { EXPECT_EQ(queue.try_push(std::move(item)), Status::ok); }
  void close() { queue.close(); }

  Broadcast<Item, Policies> queue{1};
  typename Broadcast<Item, Policies>::Consumer consumer = queue.consumer();
};
template <class Policies>
struct BroadcastFamily {
  template <class Item>
  using Subject = OfBroadcast<Item, Policies>;
};

template <class Item>
struct NewestValue {
  static constexpr bool converts = true, fills = false;
  template <class Given>
  static void calls(auto& calls) {
    calls.add("store", [](auto& subject, Given& given, const Until&) {
      return subject.latest.store(std::move(given));
    });
  }
  void close() { latest.close(); }

  Latest<Item> latest;
};
template <class Item>
struct NewestByKey {
  static constexpr bool converts = true, fills = true;
  template <class Given>
  static void calls(auto& calls) {
    calls.add("try_push", [](auto& subject, Given& given, const Until&) {
      return subject.queue.try_push(2, std::move(given));
    });
    calls.add_waiting("push", [](auto& subject, Given& given, const Until& until) {
      return subject.queue.push(2, std::move(given), until);
    });
  }
  void fill(Item&& item) { EXPECT_EQ(queue.try_push(1, std::move(item)), Status::ok); }
  void close() { queue.close(); }

  LatestByKey<int, Item> queue{1};
};

// ---- The deferred tier ----

template <class Item, class Policies>
struct OfEventQueue {
  using Queue = EventQueue<int, void(const Item&), Policies>;
  static constexpr OnFull kOnFull = full_of<Policies>(OnFull::grow);
  static constexpr bool converts = true;
  static constexpr bool fills = kOnFull == OnFull::reject || kOnFull == OnFull::wait;

  template <class Given>
  static void calls(auto& calls) {
    calls.add("enqueue", [](auto& subject, Given& given, const Until& until) {
      if constexpr (kOnFull == OnFull::wait) {
        return subject.queue.enqueue(until, 2, std::move(given));
      } else {
        return subject.queue.enqueue(2, std::move(given));
      }
    });
    if constexpr (std::is_same_v<Given, Item>) {
      calls.add("enqueue_batch", [](auto& subject, Given& given, const Until& until) {
        typename Queue::Event event(std::in_place, 2, std::move(given));
        std::size_t count = 0;
        if constexpr (kOnFull == OnFull::wait) {
          count = subject.queue.enqueue_batch({&event, 1}, until);
        } else {
          count = subject.queue.enqueue_batch({&event, 1});
        }
        given = std::move(std::get<0>(event.arguments));
        return status_of(count);
      });
    }
  }
  void fill(Item&& item) { EXPECT_EQ(queue.enqueue(1, std::move(item)), Status::ok); }
  void close() { queue.shut(); }

  Queue queue{room_for<Queue>(1, kOnFull)};
};
template <class Policies>
struct EventFamily {
  template <class Item>
  using Subject = OfEventQueue<Item, Policies>;
};

template <class Item, class Policies>
struct OfBus {
  static constexpr bool converts = false, fills = true;
  static constexpr OnFull kOnFull = full_of<Policies>();
  static constexpr bool waits = kOnFull == OnFull::wait;
  template <class Given>
  static void calls(auto& calls) {
    calls.add("publish_batch", [](auto& subject, Given& given, const Until&) {
      if (subject.waits && !subject.bus.closed()) return Status::full;
      return status_of(subject.bus.publish_batch(std::span(&given, 1)));
    });
    calls.add("claim", [](auto& subject, Given& given, const Until&) {
      return subject.bus.template claim<Given>(std::move(given)).status();
    });
    if constexpr (waits) {
      calls.add_waiting("publish so long", [](auto& subject, Given& given, const Until& until) {
        return subject.bus.publish(std::move(given), until);
      });
      calls.add("try_publish", [](auto& subject, Given& given, const Until&) {
        return subject.bus.try_publish(std::move(given));
      });
    } else {
      calls.add("publish", [](auto& subject, Given& given, const Until&) {
        return subject.bus.publish(std::move(given));
      });
    }
  }
  void fill(Item&& item) { EXPECT_EQ(bus.try_publish(std::move(item)), Status::ok); }
  void close() { bus.shut(); }

  BasicMessageBus<Policies, Item> bus{{.capacity = 1, .on_full = kOnFull}};
};
template <class Policies>
struct BusFamily {
  template <class Item>
  using Subject = OfBus<Item, Policies>;
};
// Messages that lie apart from their places.
struct Boxes : BusPolicies {
  static constexpr std::size_t inline_bytes = 1;
};

// An engine that is full, as what it handles does not pass the gate before the close.
template <class Engine>
struct Held {
  static constexpr bool converts = false, fills = true;

  explicit Held(auto&&... args) : engine(std::forward<decltype(args)>(args)...) {}
  ~Held() { gate.open(); }
  void pass() {
    came.open();
    gate.wait();
  }
  // The close waits for what is handled.
  void close() {
    gate.open();
    (void)engine.close();
  }

  Gate came;
  Gate gate;
  Engine engine;
};

template <class Item>
struct Workers : Held<MessageWorkers<Item>> {
  Workers()
      : Held<MessageWorkers<Item>>(
            MessageWorkersOptions{.width = 1, .capacity = 1, .on_full = OnFull::reject},
            [this](Item&) { this->pass(); }) {}
  template <class Given>
  static void calls(auto& calls) {
    calls.add("publish", [](auto& subject, Given& given, const Until&) {
      return subject.engine.publish(std::move(given));
    });
    calls.add_waiting("publish so long", [](auto& subject, Given& given, const Until& until) {
      return subject.engine.publish(std::move(given), until);
    });
    calls.add("try_publish", [](auto& subject, Given& given, const Until&) {
      return subject.engine.try_publish(std::move(given));
    });
  }
  // The capacity counts what is under way too.
  void fill(Item&& item) {
    EXPECT_EQ(this->engine.publish(std::move(item)), Status::ok);
    this->came.wait();
  }
};

template <class Item>
using ObjectOf = ActiveObject<std::function<void(Item&)>, Item>;
template <class Item>
struct Object : Held<ObjectOf<Item>> {
  Object()
      : Held<ObjectOf<Item>>(ActiveObjectOptions{.capacity = 1}, [this](Item&) { this->pass(); }) {}
  template <class Given>
  static void calls(auto& calls) {
    calls.add_waiting("publish so long", [](auto& subject, Given& given, const Until& until) {
      return subject.engine.publish(std::move(given), until);
    });
    calls.add("try_publish", [](auto& subject, Given& given, const Until&) {
      return subject.engine.try_publish(std::move(given));
    });
  }
  void fill(Item&& item) {
    EXPECT_EQ(this->engine.try_publish(std::move(item)), Status::ok);
    this->came.wait();
  }
};

// ---- Engines: the request and what is called with its result ----

template <class Item>
struct Files : Held<FileEngine> {
  Files()
      : Held(FileEngineOptions{
            .width = 1, .capacity = 1, .on_full = OnFull::reject, .backend = FileBackend::pool}) {}
  template <class Given>
  static void calls(auto& calls) {
    calls.add("post", [](auto& subject, Given& given, const Until& until) {
      return subject.refuse(given, [&](FileRequest& request, FileEngine::Callback& told) {
        return subject.engine.post(std::move(request), std::move(told), until);
      });
    });
    calls.add("try_post", [](auto& subject, Given& given, const Until&) {
      return subject.refuse(given, [&](FileRequest& request, FileEngine::Callback& told) {
        return subject.engine.try_post(std::move(request), std::move(told));
      });
    });
  }
  // What is given is as whole as the request and the function.
  template <class Given, class Post>
  Status refuse(Given& given, const Post& post) {
    FileRequest request = stat();
    FileEngine::Callback told = [owned = std::make_unique<int>(1)](FileResult&&) {};
    const Status said = post(request, told);
    if (request.path.empty() || !told) const Given taken(std::move(given));
    return said;
  }
  static FileRequest stat() {
    return {.operation = FileOperation::stat, .path = "/a/path/of/more/bytes/than/a/string/holds"};
  }

  void fill(Item&&) {
    const auto post = [this] { return engine.try_post(stat(), [this](FileResult&&) { pass(); }); };
    EXPECT_EQ(post(), Status::ok);
    came.wait();  // the only worker takes no more
    while (post() == Status::ok) {
    }
  }
};

// ---- Executors: what is called is the item ----

// Refers to what it would take, and takes it when it is moved into the executor.
template <class Given>
struct TaskOf {
  explicit TaskOf(Given&& its_given) noexcept : from(&its_given) {}
  TaskOf(TaskOf&& other) noexcept : from(other.from), given(std::move(*from)) {}
  void operator()() {}
  Given* from;
  std::optional<Given> given;
};

template <class Item>
struct Pool : Held<ThreadPool> {
  Pool() : Held(ThreadPoolOptions{.width = 1, .capacity = 1, .on_full = OnFull::reject}) {}
  template <class Given>
  static void calls(auto& calls) {
    calls.add("try_post", [](auto& subject, Given& given, const Until&) {
      return subject.engine.try_post(TaskOf<Given>{std::move(given)});
    });
    calls.add("try_submit", [](auto& subject, Given& given, const Until&) {
      Future<void> future;
      return subject.engine.try_submit(future, TaskOf<Given>{std::move(given)});
    });
    calls.add("submit with an argument", [](auto& subject, Given& given, const Until&) {
      try {
        (void)subject.engine.submit([](const Given&) {}, std::move(given));
      } catch (const NotRun& refused) {
        return refused.status();
      }
      return Status::ok;
    });
  }
  void fill(Item&&) {
    hold(engine, gate);
    while (engine.try_post([] {}) == Status::ok) {
    }
  }
};

// A strand that is empty, on a pool that is full.
struct PooledStrand {
  explicit PooledStrand(const ThreadPoolOptions& options) : pool(options), strand(pool) {}
  Tally close() { return strand.close(); }

  ThreadPool pool;
  SerialExecutor<ThreadPool> strand;
};
template <class Given>
void add_task_calls(auto& calls) {
  calls.add("try_post", [](auto& subject, Given& given, const Until&) {
    return subject.executor().try_post(TaskOf<Given>{std::move(given)});
  });
  calls.add("submit with an argument", [](auto& subject, Given& given, const Until&) {
    try {
      (void)subject.executor().submit([](const Given&) {}, std::move(given));
    } catch (const NotRun& refused) {
      return refused.status();
    }
    return Status::ok;
  });
}
template <class Item>
struct Strand : Held<PooledStrand> {
  Strand() : Held(ThreadPoolOptions{.width = 1, .capacity = 1, .on_full = OnFull::reject}) {}
  template <class Given>
  static void calls(auto& calls) {
    add_task_calls<Given>(calls);
  }
  auto& executor() { return engine.strand; }
  void fill(Item&&) {
    hold(engine.pool, gate);
    while (engine.pool.try_post([] {}) == Status::ok) {
    }
  }
};

template <class Item>
struct Loop {
  static constexpr bool converts = false, fills = false;
  template <class Given>
  static void calls(auto& calls) {
    add_task_calls<Given>(calls);
  }
  auto& executor() { return loop; }
  void close() { loop.shut(); }

  LoopExecutor loop;
};

// Its executor runs nothing, so the token is not given back.
struct NeverRuns {
  template <class F>
  static Status try_post(F&&) {
    return Status::full;
  }
  static std::size_t width() { return 1; }
};
template <class Item>
struct Piped {
  static constexpr bool converts = true, fills = true;
  template <class Given>
  static void calls(auto& calls) {
    calls.add("try_push", [](auto& subject, Given& given, const Until&) {
      return subject.line.try_push(std::move(given));
    });
    calls.add_waiting("push", [](auto& subject, Given& given, const Until& until) {
      return subject.line.push(std::move(given), until);
    });
  }
  void fill(Item&& item) { EXPECT_EQ(line.try_push(std::move(item)), Status::ok); }
  void close() { (void)line.close(); }

  static void drop(const Item&) {}
  using Line = decltype(Pipeline(std::declval<NeverRuns&>(), PipelineOptions(), Pushed<Item>(),
                                 parallel_stage(&drop)));
  NeverRuns nobody;
  Line line{nobody, {.tokens = 1}, Pushed<Item>(), parallel_stage(&drop)};
};

template <template <class> class SubjectOf>
struct Family {
  template <class Item>
  using Subject = SubjectOf<Item>;
};
template <class Family>
class Refusals : public testing::Test {};
using All = testing::Types<
    QueueFamily<MpmcRing>, QueueFamily<MpscRing>, QueueFamily<SpscRing>, QueueFamily<Segments>,
    ChannelFamily<MpmcRing>, ChannelFamily<MpscRing>, ChannelFamily<SpscRing>,
    ChannelFamily<Segments>, Family<Met>, BroadcastFamily<BroadcastPolicies>,
    BroadcastFamily<OneProducer>, Family<NewestValue>, Family<NewestByKey>,
    EventFamily<EventPolicies>, EventFamily<Bounded<OnFull::reject>>,
    EventFamily<Bounded<OnFull::wait>>, EventFamily<Bounded<OnFull::overwrite_oldest>>,
    EventFamily<Coalesces<Bounded<OnFull::reject>>>, BusFamily<BusPolicies>,
    BusFamily<Bounded<OnFull::wait, BusPolicies>>, BusFamily<LanedBusPolicies>,
    BusFamily<Bounded<OnFull::wait, LanedBusPolicies>>, BusFamily<PriorityBusPolicies>,
    BusFamily<Boxes>, Family<Workers>, Family<Object>, Family<Files>, Family<Pool>, Family<Strand>,
    Family<Loop>, Family<Piped>>;
TYPED_TEST_SUITE(Refusals, All);

TYPED_TEST(Refusals, LeaveWhatWasGivenUnmoved) {
  EXPECT_EQ(refuse_all<TypeParam::template Subject>(), Wrongs{});
}

// ---- Wrong ones ----

// As if by a conversion: takes what it is given before it asks.
template <class Item>
struct TakesFirst : OfQueue<Item, MpmcRing<Item>> {
  template <class Given>
  static void calls(auto& calls) {
    calls.add("try_push", [](auto& subject, Given& given, const Until&) {
      Item item(std::move(given));
      return subject.queue.try_push(std::move(item));
    });
  }
};
template <class Item>
struct Accepts : OfQueue<Item, MpmcRing<Item>> {
  template <class Given>
  static void calls(auto& calls) {
    calls.add("try_push", [](auto&, Given&, const Until&) { return Status::ok; });
  }
};

TEST(RefusalCanary, TheSuiteFindsEachFault) {
  // Each kind by each of three refusals.
  constexpr std::size_t kAll = kKinds * 3;
  EXPECT_EQ(refuse_all<TakesFirst>().size(), kAll);
  EXPECT_EQ(refuse_all<Accepts>().size(), kAll);
}

}}  // namespace handoff::test
