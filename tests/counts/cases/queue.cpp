// SPDX-License-Identifier: MIT
//
// Rings, queues and channels: what carries an item from one thread to another.
#include <cstdint>
#include <handoff/queue/channel.hpp>
#include <handoff/queue/mpmc_ring.hpp>
#include <handoff/queue/mpsc_ring.hpp>
#include <handoff/queue/rendezvous_channel.hpp>
#include <handoff/queue/segment_queue.hpp>
#include <handoff/queue/select.hpp>
#include <handoff/queue/spsc_ring.hpp>
#include <handoff/queue/steal_deque.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using Item = std::uint64_t;

constexpr std::size_t kCapacity = 64;
constexpr int kBatch = 32;  // items, of eight bytes: four lines

template <class Queue>
void push(Queue& queue, const std::string& row, bool counts, int items = kBatch) {
  for (int i = 0; i < items; ++i) {
    const Counted counted(row, counts);
    (void)queue.try_push(Item(i));
  }
}
template <class Queue>
void pop(Queue& queue, const std::string& row, bool counts, int items = kBatch) {
  for (int i = 0; i < items; ++i) {
    const Counted counted(row, counts);
    keep(queue.try_pop());
  }
}

template <class Queue>
void one_thread(Queue& queue, const std::string& type) {
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      push(queue, type + ".push/alone", counts, 1);
      pop(queue, type + ".pop/alone", counts, 1);
    }
  });
  rounds([&](bool counts) { pop(queue, type + ".pop/empty", counts); });
}

// Items cross over in batches, and one at a time.
template <class Queue>
void two_threads(Queue& queue, const std::string& type) {
  Helper consumer;
  rounds([&](bool counts) {
    push(queue, type + ".push/one producer, hot", counts);
    consumer.run([&] { pop(queue, type + ".pop/one producer, hot", counts); });
  });
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      push(queue, type + ".push/one producer, item by item", counts, 1);
      consumer.run([&] { pop(queue, type + ".pop/one producer, item by item", counts, 1); });
    }
  });
}

template <class Queue>
void full(Queue& queue, const std::string& type) {
  while (queue.try_push(Item(0)) == handoff::Status::ok) {
  }
  rounds([&](bool counts) { push(queue, type + ".push/full", counts); });
  while (queue.try_pop()) {
  }
}

// In turns; and with a turn after each access, so that they lose races.
template <class Queue>
void two_producers(Queue& queue, const std::string& type) {
  Helper one, two;
  rounds([&](bool counts) {
    for (Helper* const producer : {&one, &two}) {
      producer->run([&] { push(queue, type + ".push/two producers", counts, kBatch / 2); });
    }
    pop(queue, type + ".pop/two producers", counts);
  });
  rounds([&](bool counts) {
    const std::function<void()> produce = [&] {
      push(queue, type + ".push/two producers, racing", counts, kBatch / 2);
    };
    race(one, produce, two, produce);
    pop(queue, type + ".pop/two producers, racing", counts);
  });
}

template <class Queue>
void two_consumers(Queue& queue, const std::string& type) {
  Helper one, two;
  rounds([&](bool counts) {
    push(queue, type + ".push/two consumers, racing", counts);
    const std::function<void()> consume = [&] {
      pop(queue, type + ".pop/two consumers, racing", counts, kBatch / 2);
    };
    race(one, consume, two, consume);
  });
}

// Eight items at a time.
template <class Queue>
void in_batches(Queue& queue, const std::string& type) {
  Item items[8]{};
  Helper consumer;
  rounds([&](bool counts) {
    note(type + ".try_push_batch/eight, hot", counts, [&] { keep(queue.try_push_batch(items)); });
    consumer.run([&] {
      Item taken[8]{};
      const Counted counted(type + ".try_pop_batch/eight, hot", counts);
      keep(queue.try_pop_batch(taken));
    });
  });
}

// The consumer sleeps until there is an item, the producer until there is room.
template <class Channel>
void sleeping(Channel& channel, const std::string& type) {
  Helper other;
  rounds([&](bool counts) {
    note_asleep(
        other, counts, type + ".pop/asleep", [&] { keep(channel.pop()); },
        type + ".push/the consumer asleep", [&] { (void)channel.push(1); });
  });
}

template <class Channel>
void saturated(Channel& channel, const std::string& type) {
  Helper other;
  while (channel.try_push(Item(0)) == handoff::Status::ok) {
  }
  rounds([&](bool counts) {
    const std::function<void()> produce = [&] {
      const Counted counted(type + ".push/full, asleep", counts);
      (void)channel.push(1);
    };
    other.begin(produce);
    let_all_sleep();
    pop(channel, type + ".pop/a producer asleep", counts, 1);
    other.wait();
  });
}

// Until it needs no more memory.
template <class Queue>
void use_all_segments(Queue& queue) {
  for (int i = 0; i < 4096; ++i) {
    (void)queue.try_push(Item(0));
    keep(queue.try_pop());
  }
}

}  // namespace

HANDOFF_COUNT_CASE(spsc_ring) {
  handoff::SpscRing<Item> ring(kCapacity);
  one_thread(ring, "SpscRing");
  full(ring, "SpscRing");
  two_threads(ring, "SpscRing");
  in_batches(ring, "SpscRing");
}

HANDOFF_COUNT_CASE(mpsc_ring) {
  handoff::MpscRing<Item> ring(kCapacity);
  one_thread(ring, "MpscRing");
  full(ring, "MpscRing");
  two_threads(ring, "MpscRing");
  in_batches(ring, "MpscRing");
  two_producers(ring, "MpscRing");
}

HANDOFF_COUNT_CASE(mpmc_ring) {
  handoff::MpmcRing<Item> ring(kCapacity);
  one_thread(ring, "MpmcRing");
  full(ring, "MpmcRing");
  two_threads(ring, "MpmcRing");
  in_batches(ring, "MpmcRing");
  two_producers(ring, "MpmcRing");
  two_consumers(ring, "MpmcRing");
}

HANDOFF_COUNT_CASE(segment_queue) {
  handoff::SegmentQueue<Item> queue;
  use_all_segments(queue);
  one_thread(queue, "SegmentQueue");
  two_threads(queue, "SegmentQueue");
  in_batches(queue, "SegmentQueue");
  two_producers(queue, "SegmentQueue");
}

HANDOFF_COUNT_CASE(steal_deque) {
  handoff::StealDeque<Item*> deque(kCapacity);
  Helper thief;
  Item* item = nullptr;
  const auto push_one = [&](const char* row, bool counts) {
    const Counted counted(row, counts);
    deque.reserve();
    deque.push(item);
  };
  const auto pop_one = [&](const char* row, bool counts) {
    const Counted counted(row, counts);
    (void)deque.pop(item);
  };
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) push_one("StealDeque.push/alone", counts);
    for (int i = 0; i < kBatch - 1; ++i) pop_one("StealDeque.pop/alone", counts);
    pop_one("StealDeque.pop/the last one", counts);
    pop_one("StealDeque.pop/empty", counts);
  });
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) push_one("StealDeque.push/one thief", counts);
    thief.run([&] {
      for (int i = 0; i < kBatch / 2; ++i) {
        Item* stolen = nullptr;
        const Counted counted("StealDeque.steal/one thief", counts);
        (void)deque.steal(stolen);
      }
    });
    for (int i = 0; i < kBatch / 2; ++i) pop_one("StealDeque.pop/one thief", counts);
    thief.run([&] {
      Item* stolen = nullptr;
      const Counted counted("StealDeque.steal/empty", counts);
      (void)deque.steal(stolen);
    });
  });
}

HANDOFF_COUNT_CASE(channel_mpmc) {
  handoff::Channel<Item> channel(kCapacity);
  one_thread(channel, "Channel");
  full(channel, "Channel");
  two_threads(channel, "Channel");
  in_batches(channel, "Channel");
  two_producers(channel, "Channel");
  sleeping(channel, "Channel");
  saturated(channel, "Channel");
}

HANDOFF_COUNT_CASE(channel_spsc) {
  handoff::Channel<Item, handoff::SpscRing<Item>> channel(kCapacity);
  two_threads(channel, "Channel<SpscRing>");
  sleeping(channel, "Channel<SpscRing>");
  saturated(channel, "Channel<SpscRing>");
}

HANDOFF_COUNT_CASE(channel_segments) {
  handoff::Channel<Item, handoff::SegmentQueue<Item>> channel;
  use_all_segments(channel);
  two_threads(channel, "Channel<SegmentQueue>");
  sleeping(channel, "Channel<SegmentQueue>");
}

HANDOFF_COUNT_CASE(rendezvous) {
  handoff::RendezvousChannel<Item> channel;
  const std::string type = "RendezvousChannel";
  full(channel, type);
  rounds([&](bool counts) { pop(channel, type + ".pop/empty", counts); });
  sleeping(channel, type);
  saturated(channel, type);
}

HANDOFF_COUNT_CASE(select) {
  handoff::Channel<Item> one(kCapacity);
  handoff::Channel<Item> two(kCapacity);
  Helper other;
  const auto select_two = [&] {
    (void)handoff::select(handoff::on_item(one, [](Item item) { keep(item); }),
                          handoff::on_item(two, [](Item item) { keep(item); }));
  };
  rounds([&](bool counts) {
    (void)two.try_push(1);
    const Counted counted("select.take/the second of two has an item", counts);
    select_two();
  });
  rounds([&](bool counts) {
    other.begin([&] {
      const Counted counted("select.take/asleep on two", counts);
      select_two();
    });
    let_all_sleep();
    const Counted counted("Channel.push/a select asleep", counts);
    (void)one.push(1);
  });
}
