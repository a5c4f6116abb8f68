// SPDX-License-Identifier: MIT
//
// Buckets: whatever the width, the executor and the order of stealing, what is dispatched is what
// was added, in the order of std::stable_sort by (key, recorder, sequence).
#include "support/failing.hpp"
#include "support/test.hpp"
#include "unit/command/commands.hpp"

namespace bucket_test { namespace {

using namespace handoff;
using namespace test;

using Bucket64 = CommandBucket<std::uint64_t, Notes>;
using Bucket32 = CommandBucket<std::uint32_t, Notes>;
using Bucket16 = CommandBucket<std::uint16_t, Notes>;

// Runs blocks in an order of its own, as if they had been stolen so, on this thread.
class Shuffled {
 public:
  Shuffled(std::size_t width, std::uint64_t seed) : width_(width), dice_(seed) {}

  struct BulkStorage {};
  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& = {}) {
    std::vector<IndexRange> blocks;
    for (std::size_t first = 0; first < count;) {
      const std::size_t last = std::min(count, first + 1 + dice_() % (1 + count / width_));
      blocks.push_back({first, last});
      first = last;
    }
    std::shuffle(blocks.begin(), blocks.end(), dice_);
    for (const IndexRange& block : blocks) body(block);
    return {.accepted = count, .done = count};
  }
  Status start(std::size_t, BulkWork&, BulkStorage&, const RunOptions& = {}) {
    return Status::full;
  }
  std::size_t width() const { return width_; }

 private:
  const std::size_t width_;
  std::mt19937_64 dice_;
};
static_assert(Bulk<Shuffled>);

// Keys of some kind, the same for the same index.
enum class Keys : std::uint8_t {
  equal,
  few,
  random,
  rising,
  falling,
  one_bit,
  extremes,
  two_fields,  // far from each other
  low_bits,    // and the highest, which agrees in half of them: so the upper half says little
  stretches,   // in order, 700 each
  long_stretches,
  spread,       // the same in several fields, too far apart for two
  halves,       // a bit of those from 9000 on, and another one of those before
  upper_field,  // its lowest bit is that of the upper half
  far_fields,   // the upper half has one of them, the lower half the other
  one_fall,     // where one of four threads goes on in 16,384 items
};
constexpr std::array kAllKeys{
    Keys::equal,    Keys::few,         Keys::random,         Keys::rising,
    Keys::falling,  Keys::one_bit,     Keys::extremes,       Keys::two_fields,
    Keys::low_bits, Keys::stretches,   Keys::long_stretches, Keys::spread,
    Keys::halves,   Keys::upper_field, Keys::far_fields,     Keys::one_fall};

template <class Key>
Key key_of(Keys kind, std::uint64_t i, std::uint64_t seed) {
  const std::uint64_t mixed = ((i + seed) * 0x9e3779b97f4a7c15U) ^ ((i + seed) >> 7);
  constexpr int digits = std::numeric_limits<Key>::digits;
  switch (kind) {
    case Keys::equal: return 7;
    case Keys::few: return static_cast<Key>(mixed >> 40 & 3);
    case Keys::random: return static_cast<Key>(mixed >> (64 - digits));
    case Keys::rising: return static_cast<Key>(i);
    case Keys::falling: return static_cast<Key>(~i);
    case Keys::one_bit: return static_cast<Key>((mixed >> 50 & 1) << (digits - 1));
    case Keys::two_fields:
      return static_cast<Key>((mixed >> 60) << (digits - 5) | (mixed >> 20 & 0x7f) << 2);
    case Keys::low_bits:
      return static_cast<Key>((mixed >> 50 & 1) << (digits - 1) | (mixed & 0x3ffffffff));
    case Keys::stretches: return static_cast<Key>(i % 700);
    case Keys::long_stretches: return static_cast<Key>(i % 5500);
    case Keys::spread: {
      const std::uint64_t part = i % 700;
      return static_cast<Key>(digits == 64 ? part << 50 | part << 25 | part : part);
    }
    case Keys::halves:
      return static_cast<Key>((mixed >> 44 & 0xff) | std::uint64_t{i < 9000 ? 0x1000U : 0x2000U});
    case Keys::upper_field: return static_cast<Key>((mixed >> 50 & 0x7f) << (digits / 2));
    case Keys::far_fields: return static_cast<Key>(mixed >> 54 << 54 | (mixed >> 10 & 0xffffff));
    case Keys::one_fall: return static_cast<Key>(i < 8200 ? i : i - 4000);
    case Keys::extremes: break;
  }
  return (mixed >> 33 & 1) != 0 ? std::numeric_limits<Key>::max() : Key{0};
}

template <class Key>
std::vector<std::uint64_t> expected(Keys kind, std::size_t count, std::uint64_t seed) {
  std::vector<Added<Key>> added;
  for (std::uint64_t i = 0; i < count; ++i) added.push_back({key_of<Key>(kind, i, seed), i});
  return test::in_order(added);
}

template <class Key, class E>
std::vector<std::uint64_t> dispatched(E& executor, Keys kind, std::size_t count, std::size_t chunk,
                                      std::uint64_t seed) {
  CommandBucket<Key, Notes> bucket;
  using Recorder = typename CommandBucket<Key, Notes>::Recorder;
  bucket.record(executor, count, chunk, [&](Recorder& recorder, IndexRange range) {
    for (const std::size_t i : range) test::add_any(recorder, key_of<Key>(kind, i, seed), i);
  });
  bucket.sort(executor);
  Notes notes;
  EXPECT_EQ(bucket.dispatch(notes), count);
  EXPECT_TRUE(came_to(bucket.tally(), {.done = count}));
  return notes.numbers;
}

// Sizes around what a segment and a few of them hold, and what is sorted in other ways.
constexpr std::array<std::size_t, 12> kSizes{0,  1,   2,    31,   32,     33,
                                             48, 300, 1700, 4096, 16'384, 18'000};

TEST(CommandBucket, TheOrderIsThatOfAStableSort) {
  auto dice = test::random();
  for (std::size_t round = 0; round < test::rounds(40); ++round) {
    const std::uint64_t seed = dice();
    const std::size_t count = kSizes[dice() % kSizes.size()];
    const std::size_t chunk = 1 + dice() % 100;
    const Keys kind = kAllKeys[dice() % kAllKeys.size()];
    const std::size_t width = 1 + dice() % 16;
    SCOPED_TRACE(testing::Message() << count << " commands, chunks of " << chunk << ", keys "
                                    << static_cast<int>(kind) << ", width " << width);
    Shuffled shuffled(width, seed);
    InlineExecutor here;
    ThreadTeam team(width);
    const auto right = expected<std::uint64_t>(kind, count, seed);
    ASSERT_EQ(dispatched<std::uint64_t>(shuffled, kind, count, chunk, seed), right);
    ASSERT_EQ(dispatched<std::uint64_t>(here, kind, count, chunk, seed), right);
    ASSERT_EQ(dispatched<std::uint64_t>(team, kind, count, chunk, seed), right);
    ASSERT_EQ(dispatched<std::uint32_t>(team, kind, count, chunk, seed),
              expected<std::uint32_t>(kind, count, seed));
    ASSERT_EQ(dispatched<std::uint16_t>(shuffled, kind, count, chunk, seed),
              expected<std::uint16_t>(kind, count, seed));
  }
}

// None is left to chance.
TEST(CommandBucket, EachKindOfKeysIsSorted) {
  const auto sorted = [](auto key, std::size_t width, Keys kind, std::size_t count) {
    using Key = decltype(key);
    using Bucket = CommandBucket<Key, Notes>;
    Bucket bucket;
    Shuffled executor(width, 7);
    bucket.record(executor, count, 100, [&](typename Bucket::Recorder& recorder, IndexRange range) {
      for (const std::size_t i : range) {
        recorder.template add<Tiny>(key_of<Key>(kind, i, 3)).number = static_cast<std::uint32_t>(i);
      }
    });
    bucket.sort(executor);
    Notes notes;
    bucket.dispatch(notes);
    return notes.numbers;
  };
  for (const Keys kind : kAllKeys) {
    for (const std::size_t count :
         {2U, 3U, 48U, 49U, 300U, 1300U, 2000U, 2750U, 3000U, 16'383U, 16'384U, 20'000U}) {
      SCOPED_TRACE(::testing::Message() << count << " commands, keys " << static_cast<int>(kind));
      for (const std::size_t width : {1U, 4U}) {
        if (width > 1 && count < 16'000) continue;
        ASSERT_EQ(sorted(std::uint64_t{}, width, kind, count),
                  expected<std::uint64_t>(kind, count, 3));
        ASSERT_EQ(sorted(std::uint32_t{}, width, kind, count),
                  expected<std::uint32_t>(kind, count, 3));
      }
    }
  }
}

// Each way of sorting is taken, and told.
TEST(CommandBucket, WaysOfSorting) {
  ThreadTeam team(4);
  const auto way = [&](std::size_t count, const auto& key, bool on_team) {
    Bucket64 bucket;
    {
      Bucket64::Recorder recorder = bucket.recorder(0);
      for (std::uint64_t i = 0; i < count; ++i) recorder.add<Tiny>(key(i)).number = 0;
    }
    EXPECT_EQ(bucket.statistics().sort, CommandSort::none);
    if (on_team) {
      bucket.sort(team);
    } else {
      bucket.sort();
    }
    return bucket.statistics().sort;
  };
  const auto rising = [](std::uint64_t i) { return i; };
  const auto random = [](std::uint64_t i) { return (i + 1) * 0x9e3779b97f4a7c15U; };
  const auto two_stretches = [](std::uint64_t i) { return i % 5000; };
  EXPECT_EQ(way(0, rising, true), CommandSort::sorted);
  EXPECT_EQ(way(10'000, rising, true), CommandSort::sorted);
  EXPECT_EQ(way(40, random, true), CommandSort::few);
  EXPECT_EQ(way(10'000, two_stretches, true), CommandSort::merged);
  EXPECT_EQ(way(10'000, random, false), CommandSort::radix);
  EXPECT_EQ(way(20'000, random, true), CommandSort::split);
}

// A bucket keeps keys as its last recording had them; the next one may differ in other bits.
TEST(CommandBucket, KeysOfEachRecordingDifferInBitsOfTheirOwn) {
  constexpr std::size_t count = 800;
  Bucket64 bucket;
  const auto record = [&](Keys kind) {
    bucket.clear();
    Bucket64::Recorder recorder = bucket.recorder(0);
    for (std::size_t i = 0; i < count; ++i) {
      recorder.add<Tiny>(key_of<std::uint64_t>(kind, i, 5)).number = static_cast<std::uint32_t>(i);
    }
  };
  const auto keys = [&] {
    std::vector<std::uint64_t> found;
    bucket.inspect([&](std::uint64_t key, std::string_view) { found.push_back(key); });
    return found;
  };
  for (const Keys before : kAllKeys) {
    for (const Keys kind : kAllKeys) {
      SCOPED_TRACE(::testing::Message()
                   << "keys " << static_cast<int>(kind) << " after " << static_cast<int>(before));
      record(before);
      bucket.sort();
      record(kind);
      std::vector<std::uint64_t> right;
      for (std::size_t i = 0; i < count; ++i) right.push_back(key_of<std::uint64_t>(kind, i, 5));
      ASSERT_EQ(keys(), right);
      bucket.sort();
      std::ranges::sort(right);
      ASSERT_EQ(keys(), right);
      ASSERT_EQ(test::dispatched(bucket), expected<std::uint64_t>(kind, count, 5));
    }
  }
}

TEST(CommandBucket, ALargeOneIsSortedByThreadsAgainAndAgain) {
  constexpr std::size_t count = 20'000;
  ThreadTeam team(3);
  Bucket32 bucket;
  for (const Keys kind : {Keys::random, Keys::halves, Keys::few, Keys::random}) {
    bucket.clear();
    bucket.record(team, count, 64, [&](Bucket32::Recorder& recorder, IndexRange range) {
      for (const std::size_t i : range)
        test::add_any(recorder, key_of<std::uint32_t>(kind, i, 1), i);
    });
    bucket.sort(team);
    ASSERT_EQ(test::dispatched(bucket), expected<std::uint32_t>(kind, count, 1));
    EXPECT_EQ(bucket.statistics().sort, CommandSort::split);
  }
}

// Buckets of one frame share what they are sorted in.
TEST(CommandBucket, SeveralAreSortedAtOnce) {
  const auto sorts = [](auto& executor) {
    Frame frame;
    Bucket64 wide(frame);
    Bucket32 usual(frame);
    Bucket16 none(frame);
    Bucket16 small(frame);
    for (std::size_t round = 0; round < 4; ++round) {
      const std::size_t count = 500 * (round + 1);
      record_into(
          executor, count, 64,
          [&](Bucket64::Recorder& to_wide, Bucket32::Recorder& to_usual,
              Bucket16::Recorder& to_small, IndexRange range) {
            for (const std::size_t i : range) {
              test::add_any(to_wide, key_of<std::uint64_t>(Keys::random, i, round), i);
              test::add_any(to_usual, key_of<std::uint32_t>(Keys::two_fields, i, round), i);
              test::add_any(to_small, key_of<std::uint16_t>(Keys::few, i, round), i);
            }
          },
          wide, usual, small);
      sort_all(executor, wide, usual, none, small);
      Notes notes[3];
      wide.dispatch(notes[0]);
      usual.dispatch(notes[1]);
      small.dispatch(notes[2]);
      EXPECT_EQ(none.dispatch(notes[2]), 0U);
      ASSERT_EQ(notes[0].numbers, expected<std::uint64_t>(Keys::random, count, round));
      ASSERT_EQ(notes[1].numbers, expected<std::uint32_t>(Keys::two_fields, count, round));
      ASSERT_EQ(notes[2].numbers, expected<std::uint16_t>(Keys::few, count, round));
      ASSERT_EQ(frame.next(), Status::ok);
    }
  };
  InlineExecutor here;
  ThreadTeam team(3);
  ThreadPool pool;
  sorts(here);
  sorts(team);
  sorts(pool);
}

TEST(CommandBucket, RecordedAgainAndAgain) {
  Bucket64 bucket;
  ThreadTeam team(2);
  for (int recording = 0; recording < 5; ++recording) {
    bucket.record(team, 1000, 10, [&](Bucket64::Recorder& recorder, IndexRange range) {
      for (const std::size_t i : range) test::add_any(recorder, ~i, i);
    });
    bucket.sort(team);
    Notes notes;
    EXPECT_EQ(bucket.dispatch(notes), 1000U);
    EXPECT_EQ(notes.numbers.front(), 999U);
    const CommandStatistics figures = bucket.statistics();
    EXPECT_EQ(figures.commands, 1000U);
    EXPECT_EQ(figures.recorders, 100U);
    EXPECT_GT(figures.memory, 0U);
    EXPECT_EQ(figures.dispatches, 1U);
    bucket.clear();
    EXPECT_EQ(bucket.statistics().commands, 0U);
    EXPECT_EQ(bucket.dispatch(notes), 0U) << "nothing is left";
  }
  EXPECT_EQ(bucket.tally().done, 5000U);
}

// Nothing that a bucket is asked, or begins, looks into memory of a frame that is over.
TEST(CommandBucket, ItsFrameIsOver) {
  Frame frame({.in_flight = 1});
  Bucket64 bucket(frame);
  InlineExecutor here;
  const auto record = [&](std::size_t count) {
    bucket.record(here, count, 10, [](Bucket64::Recorder& recorder, IndexRange range) {
      for (const std::size_t i : range) test::add_any(recorder, 0, i);
    });
  };
  record(100);
  bucket.state<Tiny>().number = 1;
  bucket.recorder(7).add<Tiny>(1).number = 100;
  EXPECT_EQ(bucket.statistics().commands, 101U);
  ASSERT_EQ(frame.next(), Status::ok);
  std::memset(frame.allocate(std::size_t{1} << 17), 0xff, std::size_t{1} << 17);
  EXPECT_EQ(bucket.statistics().commands, 0U);
  EXPECT_EQ(bucket.statistics().recorders, 0U);
  EXPECT_TRUE(came_to(bucket.tally(), {.pending = 101}));
  record(20);
  EXPECT_EQ(bucket.statistics().commands, 20U);
  EXPECT_TRUE(came_to(bucket.tally(), {.cancelled = 101, .pending = 20}));
}

TEST(CommandBucket, Misuse) {
  Frame frame({.in_flight = 2});
  Bucket64 bucket(frame);
  Notes notes;
  {
    Bucket64::Recorder recorder = bucket.recorder(0);
    recorder.add<Tiny>(1).number = 1;
    EXPECT_THROW(bucket.sort(), std::logic_error) << "a recorder is open";
    EXPECT_THROW(bucket.dispatch(notes), std::logic_error);
    EXPECT_THROW(bucket.clear(), std::logic_error);
  }
  EXPECT_EQ(bucket.dispatch(notes), 1U);
  ASSERT_EQ(frame.next(), Status::ok);
  EXPECT_EQ(bucket.dispatch(notes), 1U) << "its memory is still there";
  ASSERT_EQ(frame.next(), Status::ok);
  EXPECT_THROW(bucket.dispatch(notes), std::logic_error) << "its frame is over";
  EXPECT_THROW(bucket.sort(), std::logic_error);
  bucket.recorder(0).add<Tiny>(1).number = 2;
  EXPECT_EQ(bucket.dispatch(notes), 1U) << "another recording began";
  EXPECT_EQ(notes.numbers, (std::vector<std::uint64_t>{1, 1, 2}));
  {
    Bucket64::Recorder recorder = bucket.recorder(0);
    recorder.add<Tiny>(1).number = 3;
    ASSERT_EQ(frame.next(), Status::ok);
    EXPECT_THROW(
        {
          for (int i = 0; i < 10'000; ++i) recorder.add<Tiny>(1).number = 4;
        },
        std::logic_error)
        << "the frame of its recording is over";
  }
  const auto nothing = [](Bucket64::Recorder&, IndexRange) {};
  InlineExecutor here;
  EXPECT_THROW(bucket.record(here, 10, 0, nothing), std::logic_error) << "chunks of nothing";
}

TEST(CommandBucket, AFullOneRefuses) {
  for (const std::size_t most : {0U, 50U, 1000U, 4096U, 100'000U}) {
    CommandBucket<std::uint64_t, Notes> bucket({.memory_most = most});
    std::uint64_t added = 0;
    std::uint64_t refused = 3;
    {
      auto recorder = bucket.recorder(0);
      Tiny* head = nullptr;
      while (Tiny* const command = added % 2 == 0 ? recorder.try_add<Tiny>(added)
                                                  : recorder.try_append<Tiny>(*head)) {
        command->number = static_cast<std::uint32_t>(added++);
        head = command;
        ASSERT_LE(added * sizeof(Tiny), most);
      }
      EXPECT_EQ(recorder.try_add<WithAux>(1, 100), nullptr);
      EXPECT_THROW(recorder.add<Tiny>(1), std::length_error);
      if (head != nullptr) {
        EXPECT_EQ(recorder.try_append<WithAux>(*head, 100), nullptr);
        EXPECT_THROW(recorder.append<Tiny>(*head), std::length_error);
        refused += 2;
      }
    }
    EXPECT_GE(added, most / 100) << "most of it was used";
    EXPECT_LE(bucket.statistics().memory, most);
    EXPECT_EQ(bucket.statistics().refused, refused);
    Notes notes;
    EXPECT_EQ(bucket.dispatch(notes), added) << "what it took it keeps";
    EXPECT_EQ(bucket.tally().accepted, added);
    bucket.clear();
    EXPECT_EQ(bucket.recorder(0).try_add<Tiny>(1) != nullptr, added != 0) << "there is room again";
  }
}

TEST(CommandBucket, ManyCommands) {
  const std::size_t count = test::slow ? 100'000U : test::deep() ? 10'000'000U : 1'000'000U;
  ThreadTeam team;
  Bucket32 bucket;
  bucket.record(team, count, 1000, [](Bucket32::Recorder& recorder, IndexRange range) {
    for (const std::size_t i : range) {
      recorder.add<Tiny>(static_cast<std::uint32_t>(~i)).number = static_cast<std::uint32_t>(i);
    }
  });
  bucket.sort(team);
  Notes notes;
  notes.numbers.reserve(count);
  ASSERT_EQ(bucket.dispatch(notes), count);
  for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(notes.numbers[i], count - 1 - i);
}

// Whatever allocation fails, nothing that was recorded is lost and the bucket can be used on.
TEST(CommandBucket, AFailedAllocationLeavesItUsable) {
  InlineExecutor here;
  const int places = test::until_enough_memory([&] {
    Bucket64 bucket;
    std::vector<bool> recorded(3);
    for (std::size_t part = 0; part < recorded.size(); ++part) {
      recorded[part] = test::had_memory([&] {
        bucket.record(here, 2000, 2000, [&](Bucket64::Recorder& recorder, IndexRange range) {
          for (const std::size_t i : range) test::add_any(recorder, ~i, part * 2000 + i);
        });
      });
    }
    const auto sort = [&] { bucket.sort(); };
    (void)(test::had_memory(sort) || test::had_memory(sort));
    std::size_t right = 0;
    for (const bool part : recorded) right += part ? 2000U : 0U;
    Notes notes;
    for (int tries = 0; tries < 2 && notes.numbers.size() != right; ++tries) {
      (void)test::had_memory([&] {
        notes.numbers.clear();
        EXPECT_EQ(bucket.dispatch(notes), right);
      });
    }
    EXPECT_EQ(notes.numbers.size(), right);
    EXPECT_TRUE(std::ranges::is_sorted(
        notes.numbers, [](std::uint64_t a, std::uint64_t b) { return a % 2000 > b % 2000; }));
    EXPECT_GE(right, 4000U) << "one failed at most";
  });
  EXPECT_GE(places, 8);
}

}}  // namespace bucket_test
