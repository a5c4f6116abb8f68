// SPDX-License-Identifier: MIT
//
// park and unpark: which thread wakes, and what each side is told, within a process and across two.
#include <handoff/sync/internal/park.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using namespace std::chrono_literals;
using Word = atomic<std::uint32_t>;

TEST(Park, AnotherValueIsNotSleptOn) {
  const Word word(7);
  EXPECT_TRUE(park(word, 6, no_deadline, ParkScope::process));
  EXPECT_TRUE(park(word, 6, no_deadline, ParkScope::shared));
}

TEST(Park, FalseMeansLate) {
  const Word word(7);
  EXPECT_FALSE(park(word, 7, Deadline{}, ParkScope::process)) << "it had passed before";
  const Deadline soon = deadline_after(5ms);
  while (park(word, 7, soon, ParkScope::process)) {
  }
  EXPECT_GE(clock::now(), soon);
}

TEST(Park, AnUnparkSaysHowManyItWoke) {
  // 100 years are more seconds than 32 bits hold.
  for (const Deadline deadline : {no_deadline, deadline_after(100 * 365 * 24h)}) {
    const Word word(0);
    EXPECT_EQ(unpark(word, 1, ParkScope::process), 0U) << "nobody sleeps";
    std::atomic<bool> awake{false};
    std::thread sleeper([&] {
      EXPECT_TRUE(park(word, 0, deadline, ParkScope::process));
      awake = true;
    });
    std::uint32_t woken = 0;
    while (!awake) {
      woken += unpark(word, 1, ParkScope::process);
      std::this_thread::yield();
    }
    sleeper.join();
    EXPECT_EQ(woken, 1U);
  }
}

TEST(Park, SharedReachesAnotherProcess) {
  void* const page =
      ::mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  Word& word = *std::construct_at(static_cast<Word*>(page), 0U);
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(park(word, 0, deadline_after(3s), ParkScope::shared) ? 0 : 1);
  int status = -1;
  std::uint32_t woken = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    woken += unpark(word, 1, ParkScope::shared);
    std::this_thread::yield();
  }
  EXPECT_EQ(woken, 1U);
  EXPECT_EQ(status, 0) << "not woken, but late";
  std::destroy_at(&word);
  ::munmap(page, sizeof(Word));
}

}  // namespace
