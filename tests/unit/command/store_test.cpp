// SPDX-License-Identifier: MIT
//
// Recorders and the memory of a bucket: they share what their thread has, take no more than they
// need, and what one of them drops is gone.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/command/commands.hpp"

namespace store_test { namespace {

using namespace handoff;
using namespace test;

using Bucket = CommandBucket<std::uint64_t, Notes>;

std::uint64_t segments_of(const Bucket& bucket) { return bucket.statistics().segments; }

// However many recorders a thread has one after the other, they take what one would.
TEST(CommandStore, RecordersOfAThreadGoOnInItsMemory) {
  constexpr std::uint64_t count = 3000;
  Bucket one;
  {
    Bucket::Recorder recorder = one.recorder(0);
    for (std::uint64_t i = 0; i < count; ++i) recorder.add<Tiny>(i).number = 0;
  }
  const std::uint64_t enough = segments_of(one) + 1;
  EXPECT_LE(enough, 6U) << "they grow";

  Bucket by_hand;
  for (std::uint64_t i = 0; i < count; ++i) by_hand.recorder(i).add<Tiny>(i).number = 0;
  EXPECT_LE(segments_of(by_hand), enough);

  Bucket by_chunks;
  InOrder here;
  by_chunks.record(here, count, 1, [](Bucket::Recorder& recorder, IndexRange range) {
    recorder.add<Tiny>(range.first).number = 0;
  });
  EXPECT_LE(segments_of(by_chunks), enough);

  // Two by turns, in the memory of one frame; recorded again in the same frame.
  Frame frame;
  Bucket first(frame);
  Bucket second(frame);
  for (int recording = 0; recording < 2; ++recording) {
    for (std::uint64_t i = 0; i < count; ++i) {
      test::add_any(*std::make_unique<Bucket::Recorder>(first.recorder(i)), 0, i);
      test::add_any(*std::make_unique<Bucket::Recorder>(second.recorder(i)), 0, i + 1);
    }
    Notes notes;
    EXPECT_EQ(first.dispatch(notes), count);
    EXPECT_EQ(notes.numbers.back(), count - 1);
    EXPECT_EQ(second.dispatch(notes), count);
    EXPECT_EQ(notes.numbers.back(), count);
    EXPECT_LE(segments_of(first), first.statistics().memory / 16'384);
    EXPECT_LE(segments_of(second), second.statistics().memory / 16'384);
    first.clear();
    second.clear();
  }
}

TEST(CommandStore, SegmentsGrow) {
  Bucket bucket;
  Bucket::Recorder recorder = bucket.recorder(0);
  for (std::uint64_t i = 0; i < 100'000; ++i) recorder.add<Tiny>(i).number = 0;
  EXPECT_GE(bucket.statistics().memory / segments_of(bucket), 50'000U);
}

// A bucket is not full before its last byte is needed.
TEST(CommandStore, TheLeastMemoryForACommand) {
  for (const std::size_t aux : {0U, 100U, 1000U}) {
    const auto try_with = [aux](std::size_t most) {
      Bucket bucket({.memory_most = most});
      const bool added = bucket.recorder(0).try_add<WithAux>(1, aux) != nullptr;
      EXPECT_EQ(bucket.statistics().refused, added ? 0U : 1U);
      EXPECT_EQ(bucket.statistics().memory, added ? most : 0U) << "not a byte too many";
      return added;
    };
    std::size_t most = 0;
    while (most < aux + 200 && !try_with(most)) ++most;
    EXPECT_LT(most, aux + 200);
    EXPECT_GE(most, aux + sizeof(WithAux));
  }
}

// Memory of its own is used again; a frame is the program's, and goes on when that says so.
TEST(CommandStore, WhatAClearDoesToMemory) {
  const auto record_and_clear = [](Bucket& bucket) {
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      for (std::uint64_t i = 0; i < 5000; ++i) test::add_any(recorder, i, i);
    }
    bucket.clear();
  };
  Bucket bucket;
  record_and_clear(bucket);
  const std::size_t before = test::calls(Call::allocation);
  for (int i = 0; i < 20; ++i) record_and_clear(bucket);
  EXPECT_EQ(test::calls(Call::allocation), before) << "no more of it was asked for";

  Frame frame;
  Bucket in_frame(frame);
  record_and_clear(in_frame);
  EXPECT_EQ(frame.number(), 1U);
}

// What is too large for any is refused, and not what is too large for this one.
TEST(CommandStore, TheMostAuxiliaryMemory) {
  constexpr std::size_t most = 0xffffffffU - 64;
  Bucket bucket({.memory_most = 4096});
  auto recorder = bucket.recorder(0);
  EXPECT_EQ(recorder.try_add<WithAux>(0, most), nullptr);
  EXPECT_THROW((void)recorder.try_add<WithAux>(0, most + 1), std::length_error);
}

// With what was appended, and once.
TEST(CommandStore, WhatIsDroppedCountsAsCancelled) {
  InOrder here;
  Bucket bucket;
  const auto record = [&](std::size_t bad) {
    bucket.record(here, 20, 10, [&](Bucket::Recorder& recorder, IndexRange range) {
      for (const std::size_t i : range) {
        auto& head = recorder.add<Usual>(0);
        head = {i, 2 * i};
        recorder.append<Tiny>(head).number = 100;
        if (i == bad) throw std::domain_error("as asked");
      }
    });
  };
  EXPECT_THROW(record(15), std::domain_error);
  EXPECT_TRUE(came_to(bucket.tally(), {.cancelled = 12, .pending = 20}));
  EXPECT_EQ(bucket.statistics().commands, 10U);
  EXPECT_EQ(bucket.statistics().appended, 10U);
  for (int i = 0; i < 2; ++i) {
    bucket.clear();
    EXPECT_TRUE(came_to(bucket.tally(), {.cancelled = 32}));
  }
}

}}  // namespace store_test
