// SPDX-License-Identifier: MIT
//
// Dispatching: chains of any length, state before all, filters by key, several backends and several
// lists at once, neighbours that are folded, buckets that come after others.
#include "support/test.hpp"
#include "unit/command/commands.hpp"

namespace dispatch_test { namespace {

using namespace handoff;
using namespace test;

using Bucket = CommandBucket<std::uint64_t, Notes>;

// --- Chains. ---

TEST(CommandChains, OfAnyLength) {
  constexpr std::uint32_t length = 100'000;
  for (int way = 0; way < 3; ++way) {
    Bucket bucket;
    {
      Bucket::Recorder recorder = bucket.recorder(0);
      Tiny& head = recorder.add<Tiny>(0);
      head.number = 0;
      Tiny* last = &head;
      Tiny* middle = &head;
      for (std::uint32_t i = 1; i < length; ++i) {
        Tiny& parent = way == 0 ? head : way == 1 ? *last : *middle;
        Tiny& next = recorder.append<Tiny>(parent);
        next.number = i;
        last = &next;
        if (i % 100 == 0) middle = &next;
      }
    }
    EXPECT_EQ(test::dispatched(bucket), counted(length)) << way;
  }
}

TEST(CommandChains, AuxiliaryMemory) {
  Bucket bucket;
  constexpr std::array<std::size_t, 9> sizes{0, 1, 15, 16, 17, 4000, 65'000, 65'536, 1'000'000};
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    std::uint64_t number = 0;
    for (int round = 0; round < 3; ++round) {
      for (const std::size_t bytes : sizes) {
        auto& command = recorder.add<WithAux>(0, bytes);
        command = {number, bytes};
        EXPECT_EQ(aux_of(command).size(), bytes);
        std::ranges::fill(aux_of(command), static_cast<std::byte>(number & 255));
        ++number;
        recorder.add<Tiny>(0).number = static_cast<std::uint32_t>(number++);
      }
    }
    EXPECT_THROW(recorder.add<WithAux>(0, ~std::size_t{0} / 2), std::length_error);
    EXPECT_THROW(recorder.add<WithAux>(0, ~std::size_t{0}), std::length_error);
  }
  EXPECT_EQ(test::dispatched(bucket), counted(54));
}

// What is behind a large one, and a large one that is behind others.
TEST(CommandChains, OfLargeOnes) {
  Bucket bucket;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    std::uint64_t number = 0;
    for (int round = 0; round < 3; ++round) {
      Tiny& head = recorder.add<Tiny>(0);
      head.number = static_cast<std::uint32_t>(number++);
      for (const std::size_t bytes : {3U, 65'400U, 70'000U, 200'000U}) {
        auto& large = recorder.append<WithAux>(head, bytes);
        large = {number, bytes};
        std::ranges::fill(aux_of(large), static_cast<std::byte>(number & 255));
        ++number;
        recorder.append<Tiny>(large).number = static_cast<std::uint32_t>(number++);
        recorder.append<Tiny>(head).number = static_cast<std::uint32_t>(number++);
      }
    }
  }
  EXPECT_EQ(test::dispatched(bucket), counted(39));
  EXPECT_LE(bucket.statistics().segments, 20U) << "small ones share";
}

// --- Filters. ---

using Key =
    SortKey<std::uint64_t, KeyField<"layer", 4>, KeyField<"material", 8>, KeyField<"depth", 20>>;

TEST(CommandFilter, IsCalledWhereAFieldChanges) {
  Bucket bucket;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 0; i < 100; ++i) {
      recorder.add<Tiny>(Key::of(0, i / 25, i)).number = i;
    }
  }
  bucket.sort();
  std::vector<std::uint64_t> materials;
  Notes notes;
  const auto bind = [&](std::uint64_t key, Notes& backend) {
    EXPECT_EQ(&backend, &notes);
    EXPECT_EQ(notes.numbers.size() % 25, 0U) << "before the first command of each";
    materials.push_back(Key::from(key).get<"material">());
  };
  EXPECT_EQ(bucket.dispatch(notes, when_changed(Key::mask<"material">(), bind)), 100U);
  EXPECT_EQ(materials, counted(4));
  EXPECT_EQ(bucket.statistics().key_changes, 4U);
  materials.clear();
  notes = {};
  bucket.dispatch(notes, when_changed(Key::mask<"layer">(), bind));
  EXPECT_EQ(materials.size(), 1U) << "the first command always";
}

// --- Several backends. ---

struct Doubles {
  std::vector<std::uint64_t> numbers;
};
struct Both {
  std::uint32_t number;
  std::uint32_t unused;
  void operator()(Notes& notes) const { notes.note(number); }
  static void dispatch(const Both& both, Doubles& doubles) {
    doubles.numbers.push_back(2 * both.number);
  }
};

TEST(CommandBackends, TheSameRecordingToEach) {
  CommandBucket<std::uint32_t, Notes, Doubles, HashBackend, CommandLog> bucket;
  {
    auto recorder = bucket.recorder(0);
    for (std::uint32_t i = 0; i < 50; ++i) recorder.add<Both>(50 - i) = {i, 0};
  }
  bucket.sort();
  Notes notes;
  Doubles doubles;
  HashBackend hash;
  CommandLog log;
  EXPECT_EQ(bucket.dispatch(notes), 50U);
  EXPECT_EQ(bucket.dispatch(doubles), 50U);
  EXPECT_EQ(bucket.dispatch(hash), 50U);
  EXPECT_EQ(bucket.dispatch(log), 50U);
  EXPECT_EQ(bucket.statistics().dispatches, 4U);
  EXPECT_EQ(notes.numbers.front(), 49U);
  EXPECT_EQ(doubles.numbers.front(), 98U);
  ASSERT_EQ(log.entries().size(), 50U);
  EXPECT_NE(log.entries()[0].name.find("Both"), std::string::npos);
  EXPECT_EQ(log.entries()[0].bytes.size(), sizeof(Both));
  HashBackend same;
  for (std::uint32_t i = 50; i-- > 0;) same(Both{i, 0}, {});
  EXPECT_EQ(hash.value(), same.value());
  HashBackend other;
  for (std::uint32_t i = 0; i < 50; ++i) other(Both{i, 0}, {});
  EXPECT_NE(hash.value(), other.value()) << "in another order";
}

TEST(CommandBackends, WhatDerivesFromOne) {
  struct Special : Notes {};
  Bucket bucket;
  bucket.recorder(0).add<Tiny>(0).number = 3;
  Special special;
  EXPECT_EQ(bucket.dispatch(special), 1U);
  EXPECT_EQ(special.numbers, std::vector<std::uint64_t>{3});
}

TEST(CommandBackends, HashesWhatACommandSaysItself) {
  struct Light {
    float power;
    char padded;
    void operator()(HashBackend& hash) const { hash.add(power).add(padded); }
  };
  CommandBucket<std::uint32_t, HashBackend> bucket;
  bucket.recorder(0).add<Light>(0) = {1.5F, 'a'};
  HashBackend hash;
  bucket.dispatch(hash);
  EXPECT_EQ(hash.value(), HashBackend().add(1.5F).add('a').value());
  EXPECT_NE(hash.value(), HashBackend().add(1.5F).add('b').value());
}

TEST(CommandBackends, WhatAHashIsMadeOf) {
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  const std::span<const std::byte> all(bytes);
  const auto hash = [](const auto&... values) {
    HashBackend made;
    (made.add(values), ...);
    return made.value();
  };
  EXPECT_NE(hash(1.5), hash(2.5));
  EXPECT_NE(hash(1.5F), hash(2.5F));
  EXPECT_NE(hash(&bytes[0]), hash(&bytes[1]));
  EXPECT_NE(hash(true), hash(false));
  EXPECT_NE(hash(1, 2), hash(2, 1));
  EXPECT_NE(hash(all.first(2)), hash(all.last(2)));
  EXPECT_NE(hash(all.first(1), all.last(2)), hash(all.first(2), all.last(1))) << "where they end";
  const Tiny command{5};
  const auto with = [&](AuxBytes aux) {
    HashBackend made;
    made(command, aux);
    return made.value();
  };
  EXPECT_NE(with(all), with(all.first(2)));
  EXPECT_NE(with(all), with({}));
  EXPECT_EQ(with({}), HashBackend().add(std::as_bytes(std::span(&command, 1))).value());
}

TEST(CommandBackends, ALogHasAuxiliaryMemoryToo) {
  struct Nothing {
    std::uint32_t number;
  };
  CommandBucket<std::uint32_t, CommandLog> bucket;
  {
    auto recorder = bucket.recorder(0);
    auto& command = recorder.add<Nothing>(0, 3);
    command.number = 0;
    std::ranges::fill(aux_of(command), std::byte{4});
  }
  CommandLog log;
  bucket.dispatch(log);
  ASSERT_EQ(log.entries().size(), 1U);
  EXPECT_EQ(log.entries()[0].bytes, std::vector<std::byte>(sizeof(Nothing)));
  EXPECT_EQ(log.entries()[0].aux, std::vector<std::byte>(3, std::byte{4}));
  log.clear();
  EXPECT_TRUE(log.entries().empty());
}

// --- Several lists. ---

// Whatever they came to in the dispatch before.
TEST(CommandLists, PiecesThatNobodyHadBegunCountAsPending) {
  InOrder here;
  Bucket bucket;
  bucket.record(here, 100, 10, [](Bucket::Recorder& recorder, IndexRange range) {
    for (const std::size_t i : range) test::add_any(recorder, i, i);
  });
  std::array<Notes, 4> lists;
  EXPECT_EQ(bucket.dispatch(here, std::span(lists)), 100U);
  lists = {};
  lists[1].throws_at = 30;
  EXPECT_THROW(bucket.dispatch(here, std::span(lists)), std::runtime_error);
  EXPECT_TRUE(came_to(bucket.tally(), {.done = 30, .failed = 1, .pending = 69}));
}

TEST(CommandLists, AFilterBeginsAnewInEach) {
  InlineExecutor here;
  Bucket bucket;
  bucket.record(here, 100, 10, [](Bucket::Recorder& recorder, IndexRange range) {
    for (const std::size_t i : range) test::add_any(recorder, 7, i);
  });
  std::array<Notes, 4> lists;
  const auto bind = [](std::uint64_t /*key*/, Notes& list) { list.note(500); };
  EXPECT_EQ(bucket.dispatch(here, std::span(lists), when_changed(7, bind)), 100U);
  for (const Notes& list : lists) EXPECT_EQ(list.numbers[0], 500U);
  EXPECT_EQ(bucket.statistics().key_changes, 4U);
}

// --- Folding. ---

struct Draw {
  std::uint32_t mesh;
  std::uint32_t instances;
  void operator()(Notes& notes) const { notes.note(mesh * 1000 + instances); }
};

TEST(CommandMerges, FoldNeighbours) {
  Bucket bucket;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 0; i < 12; ++i) recorder.add<Draw>(i) = {i / 4, 1};
    recorder.append<Tiny>(recorder.add<Draw>(20) = {2, 1}).number = 9;  // has a chain
    recorder.add<Draw>(21) = {2, 1};
    recorder.add<Tiny>(22).number = 8;  // of another type
    recorder.add<Draw>(23) = {2, 1};
  }
  bucket.sort();
  const auto fold = [](Draw& previous, const Draw& next) {
    if (previous.mesh != next.mesh) return false;
    previous.instances += next.instances;
    return true;
  };
  const CommandMerge merged = bucket.merge<Draw>(fold);
  EXPECT_EQ(merged.before, 16U);
  EXPECT_EQ(merged.after, 7U);
  const std::vector<std::uint64_t> right{4, 1004, 2004, 2001, 9, 2001, 8, 2001};
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(test::dispatched(bucket), right) << "the same again";
  }
  EXPECT_EQ(bucket.tally().done, 17U) << "with those that others have taken in";
  EXPECT_EQ(bucket.statistics().folded, 9U);
  EXPECT_EQ(bucket.merge<Draw>(fold).after, 7U) << "nothing is left to fold";
}

TEST(CommandMerges, AFunctionThatThrows) {
  Bucket bucket;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    for (std::uint32_t i = 0; i < 6; ++i) recorder.add<Draw>(i) = {i + 1, 1};
  }
  const auto fold = [](Draw& previous, const Draw& next) {
    if (next.mesh == 4) throw std::domain_error("as asked");
    previous.instances += next.instances;
    return true;
  };
  EXPECT_THROW(bucket.merge<Draw>(fold), std::domain_error);
  EXPECT_EQ(bucket.statistics().folded, 2U);
  EXPECT_EQ(test::dispatched(bucket), (std::vector<std::uint64_t>{1003, 4001, 5001, 6001}))
      << "none twice";
  EXPECT_EQ(bucket.tally().done, 6U);
}

// --- One after another. ---

TEST(CommandOrderOfBuckets, IsDeclaredAndHeld) {
  Bucket gbuffer;
  CommandBucket<std::uint16_t, Notes> shadow;
  Bucket lighting;
  lighting.after(gbuffer);
  lighting.after(shadow);
  Notes notes;
  EXPECT_THROW(lighting.dispatch(notes), std::logic_error);
  gbuffer.dispatch(notes);
  EXPECT_THROW(lighting.dispatch(notes), std::logic_error);
  shadow.dispatch(notes);
  EXPECT_EQ(lighting.dispatch(notes), 0U);
  EXPECT_THROW(lighting.dispatch(notes), std::logic_error) << "each time";
  gbuffer.dispatch(notes);
  gbuffer.dispatch(notes);
  shadow.dispatch(notes);
  EXPECT_EQ(lighting.dispatch(notes), 0U);
  EXPECT_THROW(lighting.after(lighting), std::logic_error);
  gbuffer.recorder(0).add<Tiny>(0).number = 1;
  notes.throws_at = 1;
  EXPECT_THROW(gbuffer.dispatch(notes), std::runtime_error);
  shadow.dispatch(notes);
  EXPECT_EQ(lighting.dispatch(notes), 0U) << "the other dispatch of gbuffer is still to its credit";
  shadow.dispatch(notes);
  EXPECT_THROW(lighting.dispatch(notes), std::logic_error) << "one that threw is none";
}

TEST(CommandOrderOfBuckets, OfDispatchesToListsToo) {
  InOrder here;
  Bucket first;
  Bucket second;
  second.after(first);
  std::array<Notes, 2> lists;
  EXPECT_THROW(second.dispatch(here, std::span(lists)), std::logic_error);
  first.dispatch(here, std::span(lists));
  EXPECT_EQ(second.dispatch(here, std::span(lists)), 0U);
}

TEST(CommandOrderOfBuckets, AfterSixteenAtMost) {
  std::array<Bucket, 17> others;
  Bucket last;
  for (std::size_t i = 0; i < 16; ++i) last.after(others[i]);
  EXPECT_THROW(last.after(others[16]), std::logic_error);
  Notes notes;
  for (std::size_t i = 0; i < 16; ++i) {
    EXPECT_THROW(last.dispatch(notes), std::logic_error) << i;
    others[i].dispatch(notes);
  }
  EXPECT_EQ(last.dispatch(notes), 0U);
}

TEST(CommandInspection, KeysAndNames) {
  Bucket bucket;
  {
    Bucket::Recorder recorder = bucket.recorder(0);
    recorder.add<Tiny>(Key::of(1, 2, 3)).number = 1;
    recorder.append<Tiny>(recorder.add<Draw>(0) = {1, 1}).number = 2;
  }
  std::vector<std::uint64_t> keys;
  bucket.inspect([&](std::uint64_t key, std::string_view) { keys.push_back(key); });
  EXPECT_EQ(keys, (std::vector<std::uint64_t>{Key::of(1, 2, 3), 0})) << "as they were added";
  bucket.sort();
  std::vector<std::string> seen;
  bucket.inspect([&](std::uint64_t key, std::string_view name) {
    seen.push_back(Key::from(key).to_string() + ": " + std::string(name));
  });
  ASSERT_EQ(seen.size(), 2U);
  EXPECT_NE(seen[0].find("Draw"), std::string::npos);
  EXPECT_EQ(seen[1].rfind("layer 1, material 2, depth 3: ", 0), 0U);
}

}}  // namespace dispatch_test
