// SPDX-License-Identifier: MIT
//
// Callables of all kinds: visitors of queues and buses, handlers, listeners, filters, commands.
#include "conformance/callables.hpp"
#include "conformance/made.hpp"
#include "support/policies.hpp"
#include "support/test.hpp"
#include "unit/process/forked.hpp"

namespace {

using namespace handoff;
using namespace handoff::test::callables;

// ---- Queues -------------------------------------------------------------------------------------

template <class Queue>
struct Consume : Place<Item&> {
  static void call(auto&& f) {
    Queue queue = test::made<Queue>(2);
    accepted(queue.try_push(Item()));
    once(queue.consume(std::forward<decltype(f)>(f)));
  }
};
struct OnItem : Place<Item> {
  static void call(auto&& f) {
    Channel<Item> channel(2);
    accepted(channel.push(Item()));
    accepted(select(on_item(channel, std::forward<decltype(f)>(f))));
  }
};

// kProducers: how many, where the ring asks.
template <class Ring, std::size_t... kProducers>
struct ConsumeShared : Place<const Item&> {
  static void call(auto&& f) {
    test::RingInPages<Ring> made(8, kProducers...);
    typename Ring::Consumer in(made.ring);
    typename Ring::Producer out(made.ring, (kProducers - 1)...);
    accepted(out.push(Item()));
    once(in.consume(std::forward<decltype(f)>(f)));
  }
};
struct ConsumeBytes : Place<std::span<const std::byte>> {
  static void call(auto&& f) {
    test::RingInPages<SharedByteRing> made(8);
    SharedByteRing::Consumer in(made.ring);
    SharedByteRing::Producer out(made.ring);
    accepted(out.try_push(std::as_bytes(std::span("ab"))));
    once(in.consume(std::forward<decltype(f)>(f)));
  }
};

struct OnItemMet : Place<Item> {
  static void call(auto&& f) {
    RendezvousChannel<Item> channel;
    std::jthread producer([&] { accepted(channel.push(Item())); });
    accepted(select(on_item(channel, std::forward<decltype(f)>(f))));
  }
};

// ---- Buses --------------------------------------------------------------------------------------

template <class Broadcast>
struct ConsumeBroadcast : Place<const Item&> {
  static void call(auto&& f) {
    Broadcast broadcast(4);
    auto consumer = broadcast.consumer();
    accepted(broadcast.try_push(Item()));
    accepted(consumer.wait_and_consume(std::forward<decltype(f)>(f)));
  }
};
using Overwriting = test::Overwrites<BroadcastPolicies>;
struct ReadLatest : Place<const Item&> {
  static void call(auto&& f) {
    Latest<Item> latest;
    accepted(latest.store(Item()));
    accepted(latest.read(std::forward<decltype(f)>(f)));
  }
};
struct ReadNewer : Place<const Item&> {
  static void call(auto&& f) {
    Latest<Item> latest;
    std::uint64_t seen = 0;
    accepted(latest.store(Item()));
    accepted(latest.read_newer(seen, std::forward<decltype(f)>(f)));
  }
};
struct ConsumeByKey : Place<const Item&, int&> {
  static void call(auto&& f) {
    struct Hash {
      std::size_t operator()(const Item& item) const { return std::size_t(item.value); }
    };
    struct Key : Item {
      bool operator==(const Key& other) const { return value == other.value; }
    };
    LatestByKey<Key, int, Hash> latest(4);
    accepted(latest.try_push(Key(), 1));
    accepted(latest.wait_and_consume(std::forward<decltype(f)>(f)));
  }
};
struct Subscribe : Place<const Item&> {
  static void call(auto&& f) {
    MessageBus<Item> bus;
    (void)bus.subscribe<Item>(std::forward<decltype(f)>(f));
    accepted(bus.publish(Item()));
    once(bus.drain());
  }
};
struct DrainBus : Place<Item&> {
  static void call(auto&& f) {
    MessageBus<Item> bus;
    accepted(bus.publish(Item()));
    once(bus.drain(std::forward<decltype(f)>(f)));
  }
};
struct CloseBus : Place<Item&> {
  static void call(auto&& f) {
    MessageBus<Item> bus;
    accepted(bus.publish(Item()));
    once(bus.close(Closing::finish, std::forward<decltype(f)>(f)).done);
  }
};
struct Workers : ConstPlace<const Item&> {
  static void call(auto&& f) {
    MessageWorkers<Item> workers({.width = 1}, std::forward<decltype(f)>(f));
    accepted(workers.publish(Item()));
    once(workers.close().done);
  }
};
struct WorkersOfTwo : ConstPlace<const Item&> {
  static void call(auto&& f) {
    MessageWorkers<Item, char> workers({.width = 1}, std::forward<decltype(f)>(f),
                                       function<const char&>);
    accepted(workers.publish(Item()));
    once(workers.close().done);
  }
};
struct LateHandler : ConstPlace<const Item&> {
  static void call(auto&& f) {
    MessageWorkers<Item> workers({.width = 1});
    workers.set_handler<Item>(std::forward<decltype(f)>(f));
    workers.start();
    accepted(workers.publish(Item()));
    once(workers.close().done);
  }
};
struct State : Place<Item&> {
  static void call(auto&& f) {
    using Callable = std::decay_t<decltype(f)>;
    ActiveObject<Callable, Item> object({}, std::forward<decltype(f)>(f));
    accepted(object.publish(Item()));
    once(object.close().done);
  }
};

// ---- Events -------------------------------------------------------------------------------------

struct Append : Place<const Item&> {
  static void call(auto&& f) {
    CallbackList<void(const Item&)> list;
    (void)list.append(std::forward<decltype(f)>(f));
    list(Item());
  }
};
struct AppendCounted : Place<const Item&> {
  static void call(auto&& f) {
    CallbackList<void(const Item&)> list;
    (void)list.append(std::forward<decltype(f)>(f), {.calls = 1});
    list(Item());
    list(Item());
  }
};
struct AppendWithResult : Place<const Item&> {
  static void call(auto&& f) {
    if constexpr (std::is_invocable_r_v<Status, std::decay_t<decltype(f)>&, const Item&>) {
      CallbackList<Status(const Item&)> list;
      (void)list.append(std::forward<decltype(f)>(f));
      list(Item());
    }
  }
};
struct AppendUntil : Place<const Item&> {
  static void call(auto&& f) {
    CallbackList<void(const Item&)> list;
    (void)list.append_until([](const Item&) { return true; }, std::forward<decltype(f)>(f));
    list(Item());
    list(Item());
  }
};
struct AppendOn : Place<Item&> {
  static void call(auto&& f) {
    InlineExecutor here;
    CallbackList<void(Item)> list;
    (void)list.append_on(here, std::forward<decltype(f)>(f));
    list(Item());
  }
};
struct Adapted : Place<const Item&> {
  static void call(auto&& f) {
    CallbackList<void(const Item&)> list;
    (void)list.append(adapt<void(const Item&)>(std::forward<decltype(f)>(f)));
    list(Item());
  }
};
struct CalledWhen : Place<const Item&> {
  static void call(auto&& f) {
    CallbackList<void(const Item&)> list;
    (void)list.append(call_when(&Item::value, std::forward<decltype(f)>(f)));
    list(Item());
  }
};
struct AppendListener : Place<const Item&> {
  static void call(auto&& f) {
    EventDispatcher<int, void(const Item&)> events;
    (void)events.append_listener(1, std::forward<decltype(f)>(f));
    events.dispatch(1, Item());
  }
};
struct QueueListener : Place<const Item&> {
  static void call(auto&& f) {
    EventQueue<int, void(const Item&)> events;
    (void)events.append_listener(1, std::forward<decltype(f)>(f));
    accepted(events.enqueue(1, Item()));
    once(events.drain());
  }
};

// ---- Commands -----------------------------------------------------------------------------------

struct Backend {
  [[nodiscard]] Status operator()(const Item& /*command*/) const { return Status::ok; }
};
using Bucket = CommandBucket<std::uint32_t, Backend>;

void add(Bucket& bucket) { bucket.recorder(0).add<Item>(1).value = 1; }

struct Record : Place<Bucket::Recorder&, IndexRange> {
  static void call(auto&& f) {
    InlineExecutor here;
    Bucket bucket;
    bucket.record(here, 1, 1, std::forward<decltype(f)>(f));
  }
};
struct WhenChanged : Place<std::uint32_t, Backend&> {
  static void call(auto&& f) {
    Bucket bucket;
    add(bucket);
    Backend backend;
    once(bucket.dispatch(backend, when_changed(1, std::forward<decltype(f)>(f))));
  }
};
struct Inspect : ConstPlace<std::uint32_t, std::string_view> {
  static void call(auto&& f) {
    Bucket bucket;
    add(bucket);
    bucket.inspect(std::forward<decltype(f)>(f));
  }
};

using QueuePlaces =
    testing::Types<Consume<SpscRing<Item>>, Consume<MpscRing<Item>>, Consume<MpmcRing<Item>>,
                   Consume<SegmentQueue<Item>>, Consume<Channel<Item>>,
                   Consume<UnboundedChannel<Item>>, OnItem, OnItemMet,
                   ConsumeShared<SharedRing<Item>>, ConsumeShared<SharedMpscRing<Item>, 1>,
                   ConsumeShared<SharedBroadcast<Item>>, ConsumeBytes>;
using BusPlaces = testing::Types<ConsumeBroadcast<Broadcast<Item>>,
                                 ConsumeBroadcast<Broadcast<Item, Overwriting>>, ReadLatest,
                                 ReadNewer, ConsumeByKey, Subscribe, DrainBus, CloseBus, Workers,
                                 WorkersOfTwo, LateHandler, State>;
using EventPlaces = testing::Types<Append, AppendCounted, AppendWithResult, AppendUntil, AppendOn,
                                   Adapted, CalledWhen, AppendListener, QueueListener>;
using CommandPlaces = testing::Types<Record, WhenChanged, Inspect>;

}  // namespace

namespace handoff::test::callables {
INSTANTIATE_TYPED_TEST_SUITE_P(Queues, CallablesTest, QueuePlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Buses, CallablesTest, BusPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Events, CallablesTest, EventPlaces);
INSTANTIATE_TYPED_TEST_SUITE_P(Commands, CallablesTest, CommandPlaces);
}  // namespace handoff::test::callables
