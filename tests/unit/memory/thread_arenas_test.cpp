// SPDX-License-Identifier: MIT
//
// An arena for each thread, however threads come and go: what they made stays, and memory is
// bounded by how many lived at the same time.
#include <latch>
#include <memory_resource>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace thread_arenas_test { namespace {

using namespace handoff;
using handoff::test::Call;

TEST(ThreadArenas, TwoOfThemKnowNothingOfEachOther) {
  ThreadArenas one;
  ThreadArenas other;
  EXPECT_NE(&one.mine(), &other.mine());
  (void)one.allocate(100);
  EXPECT_EQ(other.mine().used(), 0U);
}

// Each thread goes on where one that has ended stopped; nothing that was made is written again.
TEST(ThreadArenas, ManyShortThreads) {
  ThreadArenas arenas({.chunk_bytes = 4096});
  const std::size_t threads = handoff::test::rounds(2000);
  std::vector<std::uint64_t*> made(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    std::thread([&] { made[i] = arenas.mine().make<std::uint64_t>(i); }).join();
  }
  for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(*made[i], i);
  EXPECT_LE(arenas.arenas(), 2U) << "one after the other they need one, or two if ends overlap";
  EXPECT_LE(arenas.memory(), threads * 2 * sizeof(std::uint64_t) + 2 * 4096);
  EXPECT_GE(arenas.memory(), threads * sizeof(std::uint64_t));
  const std::size_t memory = arenas.memory();
  arenas.reset();
  EXPECT_EQ(arenas.mine().used(), 0U) << "all of it is gone";
  EXPECT_EQ(arenas.memory(), memory) << "its memory is not";
  EXPECT_EQ(*arenas.mine().make<std::uint64_t>(7U), 7U);
}

// More threads than have numbers.
TEST(ThreadArenas, VeryManyThreadsAtOnce) {
  ThreadArenas arenas({.chunk_bytes = 1024});
  constexpr std::size_t threads = 300;
  std::vector<std::uint64_t*> made(threads);
  std::latch all_there(threads);
  std::latch all_done(threads);
  {
    const handoff::test::Crew running(threads, [&](std::size_t i) {
      LinearArena& mine = arenas.mine();
      made[i] = mine.make<std::uint64_t>(i);
      all_there.arrive_and_wait();
      EXPECT_EQ(&arenas.mine(), &mine) << "found again";
      made[i] = arenas.mine().make<std::uint64_t>(*made[i]);
      all_done.arrive_and_wait();  // a number that another one leaves would lead elsewhere
    });
  }
  for (std::size_t i = 0; i < threads; ++i) ASSERT_EQ(*made[i], i);
  EXPECT_EQ(arenas.arenas(), threads);
}

// What the destructors of a thread's own objects make stays, too.
TEST(ThreadArenas, InTheEndOfAThread) {
  ThreadArenas arenas;
  static std::atomic<int*> made{nullptr};
  struct AtItsEnd {
    ThreadArenas* arenas = nullptr;
    ~AtItsEnd() { made = arenas->mine().make<int>(42); }
  };
  std::thread([&] {
    thread_local AtItsEnd at_its_end;
    at_its_end.arenas = &arenas;
    (void)arenas.mine();
  }).join();
  ASSERT_NE(made.load(), nullptr);
  EXPECT_EQ(*made.load(), 42);
}

TEST(ThreadArenas, AFailedAllocationLeavesThemUsable) {
  const int places = handoff::test::until_whole(Call::allocation, 0, [] {
    ThreadArenas arenas;
    for (int tries = 0; tries < 3; ++tries) {
      (void)handoff::test::had_memory([&] { EXPECT_EQ(*arenas.mine().make<int>(tries), tries); });
    }
    EXPECT_EQ(*arenas.mine().make<int>(7), 7);
  });
  EXPECT_GE(places, 2) << "the arena and its chunk";
}

TEST(ThreadArenas, AsAMemoryResource) {
  ThreadArenas arenas;
  ArenaResource resource(arenas);
  const handoff::test::Crew threads(4, [&] {
    std::pmr::vector<int> numbers(&resource);
    for (int i = 0; i < 1000; ++i) numbers.push_back(i);
    EXPECT_EQ(numbers[999], 999);
  });
}

}}  // namespace thread_arenas_test
