// SPDX-License-Identifier: MIT
//
// ProcessPool: what is left of a program that was killed, and a worker that writes over the memory
// that all of the pool share.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <handoff/core/future.hpp>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/shared_memory.hpp>
#include <handoff/process/subprocess.hpp>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "support/support.hpp"
#include "unit/process/master_support.hpp"
#include "unit/process/shared_memory_support.hpp"
#include "unit/process/subprocess_support.hpp"
#include "unit/process/team_support.hpp"

namespace process_pool_ends_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using test::SharedName;

struct Word {
  std::uint64_t value;
};
std::uint64_t next_of(const Word& word) { return word.value * 6364136223846793005U + 1; }
std::uint64_t never_ends(const Word&) {
  for (;;) ::pause();
}

// ---- The master is killed ----------------------------------------------------------------------

// Idle, at work, or amid jobs that come and go.
const subprocess_support::RoleEntry master_with_a_pool(
    "master_with_a_pool", [](const std::string& argument) {
      const master_support::Orders orders = master_support::orders_of(argument);
      const auto early = SharedMemory::create({.name = orders.early, .bytes = 5000});
      ProcessPool pool(3);
      const auto late = SharedMemory::create({.name = orders.late, .bytes = 5000});
      std::vector<Future<std::uint64_t>> futures;
      futures.push_back(pool.submit<next_of>(Word{1}));
      futures.back().wait();
      for (int i = 0; orders.when == "busy" && i < 5; ++i) {
        futures.push_back(pool.submit<never_ends>(Word{1}));
      }
      master_support::tell_ready();
      while (orders.when == "working") (void)pool.submit<next_of>(Word{1}).get();
      for (;;) ::pause();
      return 0;
    });

TEST(ProcessPoolEnds, WhenTheMasterIsKilledNothingIsLeft) {
  master_support::LongestEnd longest;
  auto random = test::random();
  const std::size_t rounds = test::deep() ? 1000 : test::sanitized ? 3 : 9;
  for (std::size_t round = 0; round < rounds; ++round) {
    const SharedName early;
    const SharedName late;
    const std::string when = std::array{"idle", "busy", "working"}[round % 3];
    SCOPED_TRACE(when);
    master_support::Master master("master_with_a_pool",
                                  "- " + when + ' ' + early.text() + ' ' + late.text());
    ASSERT_TRUE(master.is_ready());
    EXPECT_TRUE(early.is_there() && late.is_there());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    longest.add(master.expect_nothing_left(5));  // with its server and its workers
    ASSERT_FALSE(early.is_there() || late.is_there());
  }
  longest.print();
}

// ---- Memory that is written over ---------------------------------------------------------------

// All bytes that this process shares with others of the pool, and that have no file: by random
// ones. What it hits first may end it.
std::uint64_t scribble(const Word& seed) {
  std::mt19937_64 random(seed.value);
  std::ifstream maps("/proc/self/maps");
  std::size_t most = 0;
  unsigned char* largest = nullptr;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(" rw-s ") == line.npos || line.find("/dev/zero") == line.npos) continue;
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    std::istringstream(line) >> std::hex >> first >> dash >> last;
    if (last - first <= most) continue;
    most = last - first;
    largest = reinterpret_cast<unsigned char*>(first);
  }
  if (largest == nullptr) return 0;
  for (std::size_t at = 0; at + sizeof(std::uint64_t) <= most; at += sizeof(std::uint64_t)) {
    const std::uint64_t any = random() >> random() % 64;
    std::memcpy(largest + at, &any, sizeof any);
  }
  return 1;
}

// Whatever it makes of them, each job ends, with a result or with the reason, and so does the pool.
TEST(ProcessPoolEnds, AWorkerThatWritesOverThePoolsMemoryHangsNothing) {
  auto random = test::random();
  std::size_t refused = 0;
  for (std::size_t round = 0; round < test::rounds(6) + 1; ++round) {
    ProcessPool pool{{.width = 2,
                      .limit = std::chrono::milliseconds(test::sanitized ? 300 : 50),
                      .replacements_per_second = 10'000}};
    std::vector<Future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < 40; ++i) {
      futures.push_back(i == 20 ? pool.submit<scribble>(Word{random()})
                                : pool.submit<next_of>(Word{i}));
    }
    for (auto& future : futures) {
      try {
        (void)future.get();
      } catch (const std::exception&) {
        ++refused;
      }
    }
    const Tally tally = pool.close();
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.accepted, 40U);
  }
  EXPECT_GT(refused, 0U) << "nothing was written over: nothing was tried";
}

}}  // namespace process_pool_ends_test
