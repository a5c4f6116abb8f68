// SPDX-License-Identifier: MIT
//
// Listeners and queues of events.
#include <chrono>
#include <handoff/event/any_data.hpp>
#include <handoff/event/any_id.hpp>
#include <handoff/event/argument_adapter.hpp>
#include <handoff/event/callback_list.hpp>
#include <handoff/event/event_dispatcher.hpp>
#include <handoff/event/event_queue.hpp>
#include <utility>
#include <vector>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using Queue = handoff::EventQueue<int, void(int)>;

constexpr int kBatch = 16;

void enqueue(Queue& queue, const char* row, bool counts) {
  for (int i = 0; i < kBatch; ++i) {
    const Counted counted(row, counts);
    (void)queue.enqueue(1, i);
  }
}
void drain(Queue& queue, const char* row, bool counts) {
  const Counted counted(row, counts);
  queue.drain();
}

}  // namespace

HANDOFF_COUNT_CASE(callback_list) {
  handoff::CallbackList<void(int)> list;
  Helper other;
  rounds([&](bool counts) {
    handoff::ListenerHandle handle;
    note("CallbackList.append/empty", counts,
         [&] { handle = list.append([](int i) { keep(i); }); });
    note("CallbackList.call/one listener", counts, [&] { list(1); });
    note("ListenerHandle.remove/alone", counts, [&] { handle.remove(); });
    handoff::ScopedListener scoped = list.append([](int i) { keep(i); });
    list(1);
    note("ScopedListener.reset/alone", counts, [&] { scoped.reset(); });
  });
  handoff::ListenerHandle handles[8];
  for (auto& handle : handles) handle = list.append([](int i) { keep(i); });
  note_rounds("CallbackList.call/eight listeners", [&] { list(1); });
  rounds([&](bool counts) {
    other.run([&] { list(1); });
    const Counted counted("CallbackList.call/after another thread", counts);
    list(1);
  });
  rounds([&](bool counts) {
    const handoff::ListenerHandle handle = list.append([](int i) { keep(i); });
    other.run([&] { list(1); });
    const Counted counted("ListenerHandle.remove_and_wait/after another thread", counts);
    handle.remove_and_wait();
  });
}

HANDOFF_COUNT_CASE(event_dispatcher) {
  handoff::EventDispatcher<int, void(int)> dispatcher;
  const auto handle = dispatcher.append_listener(1, [](int i) { keep(i); });
  note_rounds("EventDispatcher.dispatch/one listener", [&] { dispatcher.dispatch(1, 7); });
  note_rounds("EventDispatcher.dispatch/no listener", [&] { dispatcher.dispatch(2, 7); });
  const auto filter = dispatcher.append_filter([](int i) { return i != 0; });
  note_rounds("EventDispatcher.dispatch/a filter, one listener",
              [&] { dispatcher.dispatch(1, 7); });
}

HANDOFF_COUNT_CASE(event_queue) {
  Queue queue;
  const auto handle = queue.append_listener(1, [](int i) { keep(i); });
  rounds([&](bool counts) {
    enqueue(queue, "EventQueue.enqueue/alone", counts);
    drain(queue, "EventQueue.drain/16 events, alone", counts);
    drain(queue, "EventQueue.drain/empty", counts);
  });
}

HANDOFF_COUNT_CASE(event_queue_threads) {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  const auto handle = queue.append_listener(1, [](int i) { keep(i); });
  Helper one, two;
  rounds([&](bool counts) {
    one.run([&] { enqueue(queue, "EventQueue.enqueue/one producer, hot", counts); });
    drain(queue, "EventQueue.drain/16 events, one producer", counts);
  });
  rounds([&](bool counts) {
    for (Helper* const producer : {&one, &two}) {
      producer->run([&] { enqueue(queue, "EventQueue.enqueue/two producers", counts); });
    }
    drain(queue, "EventQueue.drain/32 events, two producers", counts);
  });
  rounds([&](bool counts) {
    note_asleep(
        one, counts, "EventQueue.wait/asleep", [&] { (void)queue.wait(); },
        "EventQueue.enqueue/the consumer asleep", [&] { (void)queue.enqueue(1, 1); });
    queue.drain();
  });
}

// A batch that one consumer has wakes one of two that sleep, and its drain wakes nobody.
HANDOFF_COUNT_CASE(event_batch) {
  Queue queue({.spin_for = std::chrono::nanoseconds(0)});
  Helper one;
  Helper two;
  std::vector<Queue::Event> events;
  for (int i = 0; i < kBatch; ++i) events.emplace_back(std::in_place, 1, i);
  rounds([&](bool counts) {
    bool is_batch = true;
    const auto consume = [&] {
      (void)queue.wait();
      const Counted counted("EventQueue.drain/16 events, another asleep", counts && is_batch);
      queue.drain();
    };
    one.begin(consume);
    two.begin(consume);
    let_all_sleep();
    note("EventQueue.enqueue_batch/16 events, two asleep", counts,
         [&] { queue.enqueue_batch(events); });
    while (queue.tally().pending != 0) give_turn();
    is_batch = false;
    (void)queue.enqueue(1, 1);
    one.wait();
    two.wait();
  });
}

HANDOFF_COUNT_CASE(event_data) {
  note_rounds("AnyData.make + get + end/fits in", [&] {
    handoff::AnyData<64> data{7};
    keep(data.get<int>());
  });
  note_rounds("AnyId.make + end/a number", [&] {
    const handoff::AnyId id(7);
    keep(id);
  });
}
