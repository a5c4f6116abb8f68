// SPDX-License-Identifier: MIT
//
// Rings in memory that processes share, and the boards of their teams and pools: here all parties
// are threads of one process.
#include <array>
#include <cstdint>
#include <cstring>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <handoff/process/shared_broadcast.hpp>
#include <handoff/process/shared_byte_ring.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/shared_mpsc_ring.hpp>
#include <handoff/process/shared_ring.hpp>
#include <handoff/process/shared_ring_alarm.hpp>
#include <string>

#include "counts/case.hpp"

namespace {

using namespace handoff::counts;
using Item = std::uint64_t;

constexpr std::size_t kCapacity = 64;
constexpr int kBatch = 32;

template <class Producer>
void push(Producer& out, const std::string& row, bool counts, int items = kBatch) {
  for (int i = 0; i < items; ++i) {
    const Counted counted(row, counts);
    if constexpr (requires { out.try_push(Item(i)); }) {
      (void)out.try_push(Item(i));
    } else {
      (void)out.push(Item(i));
    }
  }
}
template <class Consumer>
void pop(Consumer& in, const std::string& row, bool counts, int items = kBatch) {
  for (int i = 0; i < items; ++i) {
    Item item = 0;
    const Counted counted(row, counts);
    keep(in.try_pop(item));
  }
}

template <class Producer, class Consumer>
void two_ends(Producer& out, Consumer& in, const std::string& type) {
  Helper consumer;
  rounds([&](bool counts) {
    push(out, type + ".push/one producer, hot", counts);
    consumer.run([&] { pop(in, type + ".pop/one producer, hot", counts); });
  });
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      push(out, type + ".push/one producer, item by item", counts, 1);
      consumer.run([&] { pop(in, type + ".pop/one producer, item by item", counts, 1); });
    }
  });
  rounds([&](bool counts) { pop(in, type + ".pop/empty", counts); });
  rounds([&](bool counts) {
    consumer.begin([&] {
      Item item = 0;
      const Counted counted(type + ".pop/asleep", counts);
      (void)in.pop(item);
    });
    let_all_sleep();
    push(out, type + ".push/the consumer asleep", counts, 1);
    consumer.wait();
  });
}

}  // namespace

HANDOFF_COUNT_CASE(shared_ring) {
  using Ring = handoff::SharedRing<Item>;
  const auto memory = handoff::SharedMemory::create({.bytes = Ring::bytes_for(kCapacity)});
  const Ring ring = Ring::create(memory.bytes(), kCapacity);
  Ring::Producer out(ring);
  Ring::Consumer in(Ring::attach(memory.bytes()));
  two_ends(out, in, "SharedRing");
}

HANDOFF_COUNT_CASE(shared_mpsc_ring) {
  using Ring = handoff::SharedMpscRing<Item>;
  const auto memory = handoff::SharedMemory::create({.bytes = Ring::bytes_for(kCapacity, 2)});
  const Ring ring = Ring::create(memory.bytes(), kCapacity, 2);
  Ring::Producer out(ring, 0);
  Ring::Producer second(ring, 1);
  Ring::Consumer in(Ring::attach(memory.bytes()));
  two_ends(out, in, "SharedMpscRing");
  Helper one, two;
  rounds([&](bool counts) {
    const std::string row = "SharedMpscRing.push/two producers, racing";
    race(
        one, [&] { push(out, row, counts, kBatch / 2); }, two,
        [&] { push(second, row, counts, kBatch / 2); });
    pop(in, "SharedMpscRing.pop/two producers, racing", counts);
  });
}

HANDOFF_COUNT_CASE(shared_broadcast) {
  using Broadcast = handoff::SharedBroadcast<Item>;
  const auto memory = handoff::SharedMemory::create({.bytes = Broadcast::bytes_for(kCapacity)});
  const Broadcast broadcast = Broadcast::create(memory.bytes(), kCapacity);
  Broadcast::Producer out(broadcast);
  Broadcast::Consumer in(Broadcast::attach(memory.bytes()));
  two_ends(out, in, "SharedBroadcast");
}

HANDOFF_COUNT_CASE(shared_byte_ring) {
  using Ring = handoff::SharedByteRing;
  const auto memory = handoff::SharedMemory::create({.bytes = Ring::bytes_for(4096)});
  const Ring ring = Ring::create(memory.bytes(), 4096);
  Ring::Producer out(ring);
  Ring::Consumer in(Ring::attach(memory.bytes()));
  Helper consumer;
  const std::byte record[24]{};
  rounds([&](bool counts) {
    for (int i = 0; i < kBatch; ++i) {
      const Counted counted("SharedByteRing.push/one producer, hot", counts);
      (void)out.try_push(record);
    }
    consumer.run([&] {
      for (int i = 0; i < kBatch; ++i) {
        std::span<const std::byte> found;
        const Counted counted("SharedByteRing.peek + release/one producer, hot", counts);
        (void)in.try_peek(found);
        keep(found.front());
        in.release();
      }
    });
  });
}

HANDOFF_COUNT_CASE(shared_memory) {
  note_rounds("SharedMemory.create + publish + end/one page", [&] {
    auto memory = handoff::SharedMemory::create({.bytes = 4096});
    memory.publish();
  });
}

HANDOFF_COUNT_CASE(shared_ring_alarm) {
  using Ring = handoff::SharedRing<Item>;
  const auto memory = handoff::SharedMemory::create({.bytes = Ring::bytes_for(kCapacity)});
  const Ring ring = Ring::create(memory.bytes(), kCapacity);
  Ring::Producer out(ring);
  Ring::Consumer in(ring);
  handoff::SharedRingAlarm alarm;
  rounds([&](bool counts) {
    Item item = 0;
    {
      const CountedOfAll counted("SharedRingAlarm.arm/empty ring", counts);
      keep(alarm.arm(in));
      let_all_sleep();
    }
    const CountedOfAll counted("SharedRingAlarm.push + alarm + pop/armed", counts);
    (void)out.try_push(7);
    let_all_sleep();
    (void)in.try_pop(item);
  });
}

// What the master and the workers of a team do to their board. How the master sleeps, in poll(2),
// and what the kernel does for processes is left out.
HANDOFF_COUNT_CASE(team_board) {
  using handoff::detail::ClaimWord;
  constexpr std::size_t kBlocks = 64;
  constexpr std::uint32_t kWidth = 2;
  const auto memory = handoff::SharedMemory::create({.bytes = 4096});  // of nothing but zeros
  const std::span<ClaimWord> all{reinterpret_cast<ClaimWord*>(memory.bytes().data()), 256};
  const handoff::detail::TeamWords words{all.first(16), all.subspan(16, kBlocks), all.last(64)};
  handoff::detail::TeamBoard board({});
  const Item argument = 7;
  std::array<Helper, kWidth> workers;
  for (std::uint32_t slot = 0; slot < kWidth; ++slot) {
    workers[slot].begin([&, slot] {
      board.serve(
          slot, kWidth, words,
          [](std::uint64_t, const handoff::detail::TeamJob&, const void*, handoff::IndexRange) {
            give_turn();
            return true;
          },
          [] {});
    });
  }
  std::uint64_t number = 0;
  const auto run = [&] {
    board.open(++number, {.count = kBlocks, .block = 1, .bytes = sizeof argument}, &argument,
               words);
    board.ring(handoff::detail::Ring::early);
  };
  rounds([&](bool counts) {
    let_all_sleep();
    const CountedOfAll counted("ProcessTeam.run on its board/64 blocks, width 2, asleep", counts);
    run();
    let_all_sleep();
  });
  rounds([&](bool counts) {
    run();
    let_all_sleep();
    const Counted counted("ProcessTeam.count on its board/64 blocks", counts);
    keep(words.table(kBlocks).count(number, kWidth).over());
  });
  board.dismiss();
}

HANDOFF_COUNT_CASE(job_board) {
  using handoff::detail::ClaimWord;
  using handoff::detail::JobBoard;
  std::array<ClaimWord, 2> places{ClaimWord(0), ClaimWord(0)};
  const JobBoard::Words words{places};
  JobBoard board;
  Helper worker;
  worker.begin([&] {
    board.serve(0, words, [&](const handoff::detail::ClaimTable::Pass& pass) {
      return JobBoard::finish(words, pass, true);
    });
  });
  std::uint64_t number = 0;
  hot_and_asleep("ProcessPool.submit + run on its board/", [&] {
    JobBoard::open(words, 0, ++number);
    board.ring();
  });
  board.dismiss();
}
