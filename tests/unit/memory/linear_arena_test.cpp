// SPDX-License-Identifier: MIT
//
// Arenas: pieces never overlap and lie as they were asked for, whatever sizes come; what cannot be
// is refused; a reset gives all of it back; a build that can catch a later access does so.
#include <memory_resource>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace linear_arena_test { namespace {

using namespace handoff;
using handoff::test::Call;

constexpr std::size_t kMost = std::numeric_limits<std::size_t>::max();

struct Piece {
  std::uintptr_t begin;
  std::uintptr_t end;
};

// Whether any two share a byte.
bool overlap(std::vector<Piece> pieces) {
  std::sort(pieces.begin(), pieces.end(),
            [](const Piece& a, const Piece& b) { return a.begin < b.begin; });
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    if (pieces[i].begin < pieces[i - 1].end) return true;
  }
  return false;
}

TEST(LinearArena, PiecesOfAllSizesAndAlignments) {
  auto dice = handoff::test::random();
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{4096}, std::size_t{65536}}) {
    LinearArena arena({.chunk_bytes = chunk});
    for (std::size_t round = 0; round < handoff::test::rounds(10); ++round) {
      std::vector<Piece> pieces;
      std::size_t asked = 0;
      for (int i = 0; i < 2000; ++i) {
        const std::size_t alignment = std::size_t{1} << dice() % 13;
        std::size_t bytes = dice() % 64;
        if (dice() % 50 == 0) bytes = dice() % 20'000;
        void* const piece = arena.allocate(bytes, alignment);
        ASSERT_NE(piece, nullptr);
        const auto begin = reinterpret_cast<std::uintptr_t>(piece);
        ASSERT_EQ(begin % alignment, 0U);
        std::memset(piece, i & 255, bytes);
        pieces.push_back({begin, begin + std::max<std::size_t>(bytes, 1)});
        asked += bytes;
      }
      ASSERT_FALSE(overlap(pieces));
      ASSERT_GE(arena.used(), asked);
      ASSERT_GE(arena.memory(), arena.used());
      arena.reset();
      ASSERT_EQ(arena.used(), 0U);
    }
  }
}

TEST(LinearArena, TheCanaryOfOverlaps) {
  EXPECT_TRUE(overlap({{0, 8}, {16, 24}, {7, 9}}));
  EXPECT_FALSE(overlap({{0, 8}, {16, 24}, {8, 16}}));
}

TEST(LinearArena, WhatCannotBeIsRefused) {
  LinearArena arena;
  for (const std::size_t bytes : {kMost, kMost - 7, kMost / 2, kMost / 2 - 100}) {
    EXPECT_EQ(arena.try_allocate(bytes), nullptr) << bytes;
    EXPECT_EQ(arena.try_allocate(bytes, 4096), nullptr) << bytes;
    EXPECT_THROW((void)arena.allocate(bytes), std::bad_alloc);
  }
  EXPECT_EQ(arena.try_allocate(1, 0), nullptr) << "no alignment";
  EXPECT_EQ(arena.try_allocate(1, ~std::size_t{0} / 2 + 1), nullptr);
  EXPECT_THROW((void)arena.make_array<std::uint64_t>(kMost / 4), std::bad_alloc);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_NE(arena.try_allocate(1), nullptr) << "it goes on";
  for (const std::size_t alignment : {std::size_t{3}, std::size_t{24}, std::size_t{48}}) {
    EXPECT_EQ(arena.try_allocate(1, alignment), nullptr) << "no power of two";
  }
}

TEST(LinearArena, MemoryMost) {
  LinearArena arena({.chunk_bytes = 1024, .memory_most = 3000});
  EXPECT_NE(arena.try_allocate(900), nullptr);
  EXPECT_NE(arena.try_allocate(900), nullptr);
  EXPECT_EQ(arena.try_allocate(900), nullptr) << "a third chunk would be too much";
  EXPECT_EQ(arena.try_allocate(2000), nullptr) << "and a large piece";
  EXPECT_NE(arena.try_allocate(50), nullptr) << "what has room gets it";
  EXPECT_EQ(arena.memory(), 2048U);
  arena.reset();
  EXPECT_NE(arena.try_allocate(900), nullptr);
}

// A chunk is handed out to its last byte, whether as one piece or as many.
TEST(LinearArena, TheLastByteOfAChunk) {
  constexpr std::size_t chunk = 1024;
  const auto as_one = [](std::size_t bytes) {
    LinearArena arena({.chunk_bytes = chunk, .memory_most = chunk});
    return arena.try_allocate(bytes, 1) != nullptr;
  };
  std::size_t most = 1;
  while (as_one(most + 1)) ++most;
  EXPECT_GE(most, chunk - 64);
  LinearArena arena({.chunk_bytes = chunk, .memory_most = 2 * chunk});
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < 2 * most; ++i) ASSERT_NE(arena.try_allocate(1, 1), nullptr) << i;
    EXPECT_EQ(arena.try_allocate(1, 1), nullptr) << "more chunks would be too much";
    EXPECT_EQ(arena.used(), 2 * most);
    arena.reset();
    EXPECT_EQ(arena.memory(), 2 * chunk);
  }
  arena.release();
  ASSERT_NE(arena.try_allocate(most, 1), nullptr);
  arena.reset();
  EXPECT_EQ(arena.memory(), chunk) << "it was of the usual size";
}

TEST(LinearArena, AResetKeepsChunksAndGivesLargePiecesBack) {
  LinearArena arena({.chunk_bytes = 4096});
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 10; ++i) ASSERT_NE(arena.try_allocate(4000), nullptr);
    ASSERT_NE(arena.try_allocate(100'000), nullptr);
    EXPECT_GE(arena.memory(), 10U * 4096 + 100'000);
    arena.reset();
    EXPECT_EQ(arena.memory(), 10U * 4096);
    const std::size_t before = handoff::test::calls(Call::allocation);
    for (int i = 0; i < 10; ++i) ASSERT_NE(arena.try_allocate(4000), nullptr);
    EXPECT_EQ(handoff::test::calls(Call::allocation), before) << "no chunk was asked for";
    arena.reset();
  }
  (void)arena.allocate(100'000);
  (void)arena.allocate(100);
  arena.release();
  EXPECT_EQ(arena.memory(), 0U);
  EXPECT_EQ(arena.used(), 0U);
  EXPECT_NE(arena.try_allocate(10), nullptr);
}

TEST(LinearArena, ALargePieceLeavesTheChunkInUse) {
  LinearArena arena({.chunk_bytes = 4096});
  auto* const first = static_cast<std::byte*>(arena.allocate(8, 8));
  (void)arena.allocate(50'000);
  auto* const second = static_cast<std::byte*>(arena.allocate(8, 8));
  EXPECT_EQ(second, first + 8);
}

TEST(LinearArena, MakesThings) {
  struct Point {
    int x = 1;
    int y = 2;
  };
  LinearArena arena;
  EXPECT_EQ(arena.make<Point>()->y, 2);
  EXPECT_EQ(*arena.make<int>(7), 7);
  const auto* const zeros = arena.make_array<std::uint64_t>(1000);
  EXPECT_TRUE(std::all_of(zeros, zeros + 1000, [](std::uint64_t zero) { return zero == 0; }));
  EXPECT_EQ(arena.make_array<Point>(3)[2].x, 1);
  EXPECT_NE(arena.make_array<int>(0), nullptr);
}

TEST(LinearArena, AFailedAllocationChangesNothing) {
  LinearArena arena({.chunk_bytes = 1024});
  handoff::test::fail_after(Call::allocation, 0, 0);
  void* const refused = arena.try_allocate(8);
  EXPECT_TRUE(handoff::test::stop_failing(Call::allocation));
  EXPECT_EQ(refused, nullptr);
  EXPECT_EQ(arena.memory(), 0U);
  EXPECT_NE(arena.try_allocate(8), nullptr);
}

TEST(LinearArena, AsAMemoryResource) {
  LinearArena arena;
  ArenaResource resource(arena);
  std::pmr::vector<std::pmr::string> texts(&resource);
  for (int i = 0; i < 100; ++i) texts.emplace_back("a text that is too long to lie in its string");
  EXPECT_EQ(texts[99], "a text that is too long to lie in its string");
  EXPECT_GE(arena.used(), 100U * 45);
  ArenaResource other(arena);
  EXPECT_TRUE(resource.is_equal(resource));
  EXPECT_FALSE(resource.is_equal(other));
}

TEST(LinearArenaDeathTest, WhatWasThrownAwayCannotBeTouched) {
  if constexpr (handoff::sync::poison_is_seen) {
    LinearArena arena;
    auto* const piece = static_cast<int*>(arena.allocate(64));
    *piece = 1;
    arena.reset();
    EXPECT_DEATH(*piece = 2, "use-after-poison");
    auto* const other = static_cast<char*>(arena.allocate(24, 8));
    EXPECT_DEATH(other[24] = 1, "use-after-poison") << "nor what was not handed out";
    LinearArena fresh;
    auto* const first = static_cast<char*>(fresh.allocate(24, 8));
    EXPECT_DEATH(first[24] = 1, "use-after-poison") << "of a new chunk, too";
    auto* const large = static_cast<char*>(fresh.allocate(1'000'000));
    large[0] = 1;
    fresh.reset();
    EXPECT_DEATH(large[0] = 2, "use-after-free") << "nor a large piece";
  }
}

}}  // namespace linear_arena_test
