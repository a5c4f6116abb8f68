// SPDX-License-Identifier: MIT
//
// Command buckets and frames under real threads: two buckets in turns, one recorded by a team while
// a consumer that is a frame late sorts and dispatches the other. Every command arrives once, whole
// and in its place; no memory is written again while it is read. No failure among n commands bounds
// the rate of failures below 3/n (95 %).
#include "support/test.hpp"

namespace {

using namespace handoff;
using test::rounds;

// Looks whether commands come whole, sorted, and of the right frame.
struct Ledger {
  std::uint64_t frame = 0;
  std::uint64_t seen = 0;
  std::uint64_t faults = 0;
  std::uint64_t last_key = 0;
  std::uint64_t last_number = 0;
};

struct Command {
  std::uint64_t frame;
  std::uint64_t key;
  std::uint64_t number;
  std::uint64_t check;
  void operator()(Ledger& ledger) const {
    if (frame != ledger.frame || check != (frame ^ key ^ number)) ++ledger.faults;
    const bool in_order =
        key > ledger.last_key || (key == ledger.last_key && number > ledger.last_number);
    if (ledger.seen != 0 && !in_order) ++ledger.faults;
    ledger.last_key = key;
    ledger.last_number = number;
    ++ledger.seen;
  }
};
struct Follows {
  std::uint64_t number;
  void operator()(Ledger& ledger) const {
    if (number != ledger.last_number) ++ledger.faults;
  }
};
using Bucket = CommandBucket<std::uint64_t, Ledger>;

template <class E>
void record(E& executor, Bucket& bucket, std::uint64_t frame, std::size_t count) {
  bucket.record(executor, count, 1 + frame % 97, [&](Bucket::Recorder& recorder, IndexRange range) {
    for (const std::size_t i : range) {
      const std::uint64_t key = i * 0x9e3779b97f4a7c15U >> 58;
      auto& command = recorder.add<Command>(key);
      command = {frame, key, i, frame ^ key ^ i};
      if (i % 3 == 0) recorder.append<Follows>(command).number = i;
    }
  });
}

TEST(CommandStress, FramesWithALateConsumer) {
  struct Job {
    Bucket* bucket = nullptr;
    std::uint64_t frame = 0;
    std::size_t count = 0;
    Frame::Hold hold;
  };
  const std::uint64_t frames = rounds(300);
  auto dice = test::random();
  Frame frame({.in_flight = 2});
  Bucket even(frame);
  Bucket odd(frame);
  const std::array<Bucket*, 2> buckets{&even, &odd};
  std::array<std::atomic<bool>, 2> busy{};
  Channel<Job> jobs(1);
  std::uint64_t faults = 0;
  std::uint64_t commands = 0;
  std::thread consumer([&] {
    ThreadTeam own(2);
    Job job;
    while (jobs.pop(job) == Status::ok) {
      job.bucket->sort(own);
      Ledger ledger{.frame = job.frame};
      const std::size_t dispatched = job.bucket->dispatch(ledger);
      faults += ledger.faults + (ledger.seen != job.count ? 1U : 0U);
      if (dispatched != job.count + (job.count + 2) / 3) ++faults;
      commands += dispatched;
      job.hold.release();
      busy[job.frame % 2].store(false, std::memory_order_release);
    }
  });
  ThreadTeam team(3);
  ThreadPool pool({.width = 2});
  for (std::uint64_t i = 0; i < frames; ++i) {
    const std::size_t at = i % 2;
    while (busy[at].load(std::memory_order_acquire)) std::this_thread::yield();
    const std::size_t count = dice() % 8000;
    if (i % 2 == 0) {
      record(team, *buckets[at], i, count);
    } else {
      record(pool, *buckets[at], i, count);
    }
    busy[at].store(true, std::memory_order_relaxed);
    ASSERT_EQ(jobs.push(Job{buckets[at], i, count, frame.hold()}), Status::ok);
    ASSERT_EQ(frame.next(), Status::ok);
  }
  jobs.close();
  consumer.join();
  EXPECT_EQ(faults, 0U);
  EXPECT_GT(commands, 0U);
}

// Recorders by hand of many threads, with numbers that they draw; several lists at once.
TEST(CommandStress, RecordersByHand) {
  constexpr std::uint64_t recorders = 64;
  constexpr std::uint64_t each = 100;
  ThreadTeam team(2);
  Bucket bucket;
  for (std::size_t round = 0; round < rounds(100); ++round) {
    std::atomic<std::uint64_t> next{0};
    {
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&] {
          for (std::uint64_t r = next++; r < recorders; r = next++) {
            Bucket::Recorder recorder = bucket.recorder(r);
            for (std::uint64_t i = r * each; i < (r + 1) * each; ++i) {
              recorder.add<Command>(i % 5) = {round, i % 5, i, round ^ (i % 5) ^ i};
            }
          }
        });
      }
    }
    bucket.sort(team);
    std::vector<Ledger> lists(5, Ledger{.frame = round});
    ASSERT_EQ(bucket.dispatch(team, std::span(lists)), recorders * each);
    std::uint64_t last_key = 0;
    for (const Ledger& list : lists) {
      ASSERT_EQ(list.faults, 0U);
      ASSERT_GE(list.last_key, last_key);
      last_key = list.last_key;
    }
    bucket.clear();
  }
  EXPECT_TRUE(bucket.tally().balanced());
  EXPECT_EQ(bucket.tally().done, rounds(100) * recorders * each);
}

}  // namespace
