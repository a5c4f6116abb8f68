// SPDX-License-Identifier: MIT
//
// Paths of one thread, for callgrind to count the instructions of: a lost inline, a check that
// moved into a loop change no access, and are seen here. counts_test.py reads what callgrind
// writes.
#include <array>
#include <cstdint>
#include <functional>
#include <handoff/handoff.hpp>
#include <string>

#include "counted.hpp"

namespace {

using handoff::test::count;
using handoff::test::keep;

using Item = std::uint64_t;

template <class Queue>
void push_and_pop(const std::string& type, Queue& queue) {
  count(type + ".push + pop/instructions", [&](std::uint64_t i) {
    (void)queue.try_push(Item(i));
    keep(queue.try_pop());
  });
}

void queues() {
  handoff::SpscRing<Item> spsc(64);
  push_and_pop("SpscRing", spsc);
  handoff::MpscRing<Item> mpsc(64);
  push_and_pop("MpscRing", mpsc);
  handoff::MpmcRing<Item> mpmc(64);
  push_and_pop("MpmcRing", mpmc);
  handoff::SegmentQueue<Item> segments;
  push_and_pop("SegmentQueue", segments);
  handoff::Channel<Item> channel(64);
  push_and_pop("Channel", channel);
  handoff::StealDeque<Item*> deque(64);
  count("StealDeque.push + pop/instructions", [&](std::uint64_t) {
    Item* item = nullptr;
    deque.reserve();
    deque.push(item);
    (void)deque.pop(item);
    keep(item);
  });
  const auto memory =
      handoff::SharedMemory::create({.bytes = handoff::SharedRing<Item>::bytes_for(64)});
  const auto ring = handoff::SharedRing<Item>::create(memory.bytes(), 64);
  handoff::SharedRing<Item>::Producer out(ring);
  handoff::SharedRing<Item>::Consumer in(ring);
  count("SharedRing.push + pop/instructions", [&](std::uint64_t i) {
    (void)out.try_push(i);
    Item item = 0;
    (void)in.try_pop(item);
    keep(item);
  });
}

void events() {
  handoff::CallbackList<void(int)> list;
  std::array<handoff::ListenerHandle, 8> handles;
  for (auto& handle : handles) handle = list.append([](int i) { keep(i); });
  count("CallbackList.call/eight listeners, instructions", [&](std::uint64_t) { list(1); });
  handoff::EventDispatcher<int, void(int)> dispatcher;
  const auto listener = dispatcher.append_listener(1, [](int i) { keep(i); });
  count("EventDispatcher.dispatch/instructions", [&](std::uint64_t) { dispatcher.dispatch(1, 7); });
  handoff::EventQueue<int, void(int)> queue;
  const auto other = queue.append_listener(1, [](int i) { keep(i); });
  count(
      "EventQueue.enqueue + drain/16 events, instructions",
      [&](std::uint64_t) {
        for (int i = 0; i < 16; ++i) (void)queue.enqueue(1, i);
        queue.drain();
      },
      16);
}

struct Reading {
  std::uint64_t value;
};

template <class Bus>
void publish_and_drain(const std::string& type) {
  Bus bus;
  count(
      type + ".publish + drain/16 messages, instructions",
      [&](std::uint64_t value) {
        for (int i = 0; i < 16; ++i) (void)bus.publish(Reading{value});
        bus.drain([](const Reading& reading) { keep(reading); });
      },
      16);
}

void buses() {
  publish_and_drain<handoff::MessageBus<Reading>>("MessageBus");
  publish_and_drain<handoff::LanedMessageBus<Reading>>("LanedMessageBus");
  handoff::Broadcast<Reading> broadcast(64);
  auto consumer = broadcast.consumer();
  count("Broadcast.push + consume/instructions", [&](std::uint64_t i) {
    (void)broadcast.try_push(Reading{i});
    consumer.consume([](const Reading& reading) { keep(reading); });
  });
  handoff::Latest<Reading> latest;
  count("Latest.store + read/instructions", [&](std::uint64_t i) {
    (void)latest.store(Reading{i});
    (void)latest.read([](const Reading& reading) { keep(reading); });
  });
  handoff::LatestByKey<int, Reading> by_key(64);
  count("LatestByKey.push + consume/instructions", [&](std::uint64_t i) {
    (void)by_key.try_push(int(i % 16), Reading{i});
    by_key.consume([](const int&, Reading& reading) { keep(reading); });
  });
}

struct Gpu {
  std::uint64_t drawn = 0;
};
struct Draw {
  std::uint64_t mesh;
  void operator()(Gpu& gpu) const { gpu.drawn += mesh; }
};

void commands() {
  handoff::Frame frame;
  handoff::CommandBucket<std::uint64_t, Gpu> bucket(frame);
  handoff::InlineExecutor here;
  Gpu gpu;
  constexpr std::uint64_t kCommands = 64;
  count(
      "CommandBucket.record + sort + dispatch/64 commands, instructions",
      [&](std::uint64_t) {
        {
          auto recorder = bucket.recorder(0);
          for (std::uint64_t i = 0; i < kCommands; ++i) {
            recorder.add<Draw>(i * 7919 % kCommands).mesh = i;
          }
        }
        bucket.sort(here);
        bucket.dispatch(gpu);
        bucket.clear();
        (void)frame.next();
      },
      kCommands);
  keep(gpu);
}

void memories() {
  handoff::LinearArena arena;
  count("LinearArena.make/instructions", [&](std::uint64_t i) { keep(arena.make<Item>(i)); });
  handoff::ThreadArenas arenas;
  count("ThreadArenas.allocate/instructions", [&](std::uint64_t) { keep(arenas.allocate(16)); });
  handoff::Frame frame;
  count("Frame.hold + end/instructions",
        [&](std::uint64_t) { const handoff::Frame::Hold hold = frame.hold(); });
}

void functions() {
  count("UniqueFunction.make + call + end/instructions", [](std::uint64_t i) {
    handoff::UniqueFunction<void()> function([i] { keep(i); });
    function();
  });
  handoff::InlineExecutor here;
  count("InlineExecutor.try_post/instructions",
        [&](std::uint64_t i) { (void)here.try_post([i] { keep(i); }); });
  count(
      "parallel_for.loop/64 indices, inline executor, instructions",
      [&](std::uint64_t) { handoff::parallel_for(here, 0, 64, [](int i) { keep(i); }); }, 64);
}

void synchronisation() {
  handoff::sync::Mutex mutex;
  count("Mutex.lock + unlock/instructions", [&](std::uint64_t) {
    mutex.lock();
    mutex.unlock();
  });
  handoff::sync::EventCount events_counted;
  count("EventCount.notify_one/nobody waits, instructions",
        [&](std::uint64_t) { events_counted.notify_one(); });
  handoff::sync::StopSource source;
  const handoff::sync::StopToken token = source.token();
  count("StopToken.stop_requested/instructions",
        [&](std::uint64_t) { keep(token.stop_requested()); });
}

void teams() {
  handoff::ThreadTeam team(1);
  count("ThreadTeam.run/64 indices, width 1, instructions",
        [&](std::uint64_t) { team.run(64, [](handoff::IndexRange range) { keep(range); }); });
}

// A toy, which is longer by two in a hundred when it is told to be: the check has to see it.
void canary(bool longer) {
  const int steps = longer ? 1020 : 1000;
  count("Canary.count/instructions", [&](std::uint64_t) {
    for (int i = 0; i < steps; ++i) keep(i);
  });
}

}  // namespace

int main(int argc, char**) {
  canary(argc > 1);
  if (argc > 1) return 0;
  queues();
  events();
  buses();
  commands();
  memories();
  functions();
  synchronisation();
  teams();
  handoff::test::groups();
}
