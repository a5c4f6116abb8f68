// SPDX-License-Identifier: MIT
//
// Messages: one of each to one consumer, to all of them, or only the latest.
#include <cstdint>
#include <handoff/bus/active_object.hpp>
#include <handoff/bus/broadcast.hpp>
#include <handoff/bus/latest.hpp>
#include <handoff/bus/latest_by_key.hpp>
#include <handoff/bus/message_bus.hpp>
#include <handoff/bus/message_workers.hpp>
#include <handoff/bus/request.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;

constexpr int kBatch = 16;

struct Reading {
  std::uint64_t value;
};

template <class End>
void publish(End& end, const std::string& row, bool counts) {
  for (int i = 0; i < kBatch; ++i) {
    const Counted counted(row, counts);
    (void)end.publish(Reading{7});
  }
}

template <class Bus>
void drain(Bus& bus, const std::string& row, bool counts) {
  const Counted counted(row, counts);
  bus.drain([](const Reading& reading) { keep(reading); });
}

template <class Bus>
void bus_rows(const std::string& type) {
  Bus bus;
  rounds([&](bool counts) {
    publish(bus, type + ".publish/alone", counts);
    drain(bus, type + ".drain/16 messages, alone", counts);
    drain(bus, type + ".drain/empty", counts);
  });
  Helper one, two;
  rounds([&](bool counts) {
    one.run([&] { publish(bus, type + ".publish/one producer, hot", counts); });
    drain(bus, type + ".drain/16 messages, one producer", counts);
  });
  rounds([&](bool counts) {
    const std::function<void()> produce = [&] {
      publish(bus, type + ".publish/two producers, racing", counts);
    };
    race(one, produce, two, produce);
    drain(bus, type + ".drain/32 messages, two producers", counts);
  });
  rounds([&](bool counts) {
    note_asleep(
        one, counts, type + ".wait/asleep", [&] { (void)bus.wait(); },
        type + ".publish/the consumer asleep", [&] { (void)bus.publish(Reading{7}); });
    bus.drain([](const Reading&) {});
  });
  const auto handle = bus.template subscribe<Reading>([](const Reading& r) { keep(r); });
  rounds([&](bool counts) {
    publish(bus, "", false);
    const Counted counted(type + ".drain/16 messages, a subscriber", counts);
    bus.drain();
  });
}

struct Sum {
  void operator()(const Reading& reading) { sum += reading.value; }
  std::uint64_t sum = 0;
};

}  // namespace

HANDOFF_COUNT_CASE(message_bus) { bus_rows<handoff::MessageBus<Reading>>("MessageBus"); }
HANDOFF_COUNT_CASE(laned_message_bus) {
  bus_rows<handoff::LanedMessageBus<Reading>>("LanedMessageBus");
}

HANDOFF_COUNT_CASE(priority_message_bus) {
  bus_rows<handoff::PriorityMessageBus<Reading>>("PriorityMessageBus");
}

HANDOFF_COUNT_CASE(message_bus_lane) {
  handoff::LanedMessageBus<Reading> bus;
  Helper other;
  other.run([&] {
    auto lane = bus.producer();
    rounds([&](bool counts) {
      publish(lane, "LanedMessageBus.publish/a lane of its own, alone", counts);
      bus.drain([](const Reading&) {});
    });
  });
}

HANDOFF_COUNT_CASE(request) {
  using Asked = handoff::Request<Reading, int>;
  handoff::MessageBus<Asked> bus;
  note_rounds("Request.request + reply + get/alone", [&] {
    auto answer = bus.request<int>(Reading{7});
    bus.drain([](Asked& asked) { asked.reply(1); });
    keep(answer.get());
  });
}

HANDOFF_COUNT_CASE(broadcast) {
  handoff::Broadcast<Reading> broadcast(64);
  // On lines of their own, as in their threads.
  alignas(64) auto one = broadcast.consumer();
  alignas(64) auto two = broadcast.consumer();
  alignas(64) Helper first, second;
  const auto consume = [](auto& consumer, const char* row, bool counts) {
    const Counted counted(row, counts);
    consumer.consume([](const Reading& reading) { keep(reading); });
  };
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      const Counted counted("Broadcast.push/two consumers, hot", counts);
      (void)broadcast.push(Reading{7});
    }
    first.run([&] { consume(one, "Broadcast.consume/16 messages, two consumers", counts); });
    second.run([&] { consume(two, "Broadcast.consume/16 messages, two consumers", counts); });
  });
  rounds([&](bool counts) { consume(one, "Broadcast.consume/empty", counts); });
  rounds([&](bool counts) {
    note_asleep(
        first, counts, "Broadcast.wait_and_consume/asleep",
        [&] { (void)one.wait_and_consume([](const Reading& reading) { keep(reading); }); },
        "Broadcast.push/a consumer asleep", [&] { (void)broadcast.push(Reading{7}); });
    two.consume([](const Reading&) {});
  });
}

HANDOFF_COUNT_CASE(broadcast_one_producer) {
  handoff::Broadcast<Reading, handoff::OneProducer> broadcast(64);
  alignas(64) auto consumer = broadcast.consumer();
  alignas(64) Helper other;
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      const Counted counted("Broadcast<OneProducer>.push/one consumer, hot", counts);
      (void)broadcast.push(Reading{7});
    }
    other.run([&] {
      const Counted counted("Broadcast<OneProducer>.consume/16 messages", counts);
      consumer.consume([](const Reading& reading) { keep(reading); });
    });
  });
}

HANDOFF_COUNT_CASE(latest) {
  handoff::Latest<Reading> latest;
  Helper reader;
  const auto read = [&](const char* row, bool counts) {
    const Counted counted(row, counts);
    (void)latest.read([](const Reading& reading) { keep(reading); });
  };
  rounds([&](bool counts) {
    note("Latest.store/one reader, hot", counts, [&] { (void)latest.store(Reading{7}); });
    reader.run([&] { read("Latest.read/one writer, hot", counts); });
  });
  rounds([&](bool counts) { read("Latest.read/alone", counts); });
  note_rounds("Latest.store/alone", [&] { (void)latest.store(Reading{7}); });
  std::uint64_t seen = latest.version();
  rounds([&](bool counts) {
    note_asleep(
        reader, counts, "Latest.read_newer/asleep",
        [&] { (void)latest.read_newer(seen, [](const Reading& reading) { keep(reading); }); },
        "Latest.store/a reader asleep", [&] { (void)latest.store(Reading{7}); });
  });
}

HANDOFF_COUNT_CASE(latest_by_key) {
  handoff::LatestByKey<int, Reading> latest(64);
  Helper consumer;
  rounds([&](bool counts) {
    for (int key = 0; key < 4; ++key) {
      const Counted counted("LatestByKey.try_push/new keys, hot", counts);
      (void)latest.try_push(key, Reading{7});
    }
    for (int key = 0; key < 4; ++key) {
      const Counted counted("LatestByKey.try_push/replaced, hot", counts);
      (void)latest.try_push(key, Reading{8});
    }
    consumer.run([&] {
      const Counted counted("LatestByKey.consume/four keys", counts);
      latest.consume([](const int&, Reading& reading) { keep(reading); });
    });
  });
}

HANDOFF_COUNT_CASE(message_workers) {
  handoff::MessageWorkersOptions options;
  options.width = 1;
  handoff::MessageWorkers<Reading> workers(options, [](const Reading& r) { keep(r); });
  hot_and_asleep("MessageWorkers.publish + run/width 1, ",
                 [&] { (void)workers.publish(Reading{7}); });
  const CountedOfAll counted("MessageWorkers.idle/ten seconds");
  sleep_for(10'000'000'000);
}

HANDOFF_COUNT_CASE(active_object) {
  handoff::ActiveObject<Sum, Reading> sum({.name = "sum"});
  hot_and_asleep("ActiveObject.publish + handle/", [&] { (void)sum.publish(Reading{7}); });
}
