// SPDX-License-Identifier: MIT
//
// ProcessPool: each job has its result or its reason. Deaths are in process_master_test.cpp.
#include "support/child.hpp"
#include "support/test.hpp"
#include "team_support.hpp"

namespace process_pool_test { namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;
using namespace team_support;

// ---- Kernels -----------------------------------------------------------------------------------

struct Numbers {
  std::uint64_t a;
  std::uint64_t b;
};

std::uint64_t mix(std::uint64_t value) {
  for (int i = 0; i < 50; ++i) value = value * 6364136223846793005U + 1442695040888963407U;
  return value;
}
std::uint64_t add(const Numbers& numbers) { return mix(numbers.a) + numbers.b; }

// What lies in the memory that all processes of a test have.
struct Board {
  std::atomic<std::uint32_t> begun;
  std::atomic<bool> gate;
  std::array<std::atomic<std::uint32_t>, 16'384> calls;  // as many as a deep run has
};
using SharedBoard = team_support::Shared<Board>;

struct OnBoard {
  Board* board;
  std::uint64_t value;
};

// The number of the process that did it.
pid_t who(const OnBoard& job) {
  ++job.board->begun;
  return ::getpid();
}
// Waits for the gate.
std::uint64_t wait_for_gate(const OnBoard& job) {
  ++job.board->begun;
  while (!job.board->gate) std::this_thread::sleep_for(200us);
  return job.value;
}
std::uint64_t count_call(const OnBoard& job) {
  ++job.board->calls[job.value];
  return mix(job.value);
}

// ---- Right results -----------------------------------------------------------------------------

TEST(ProcessPool, EachJobHasItsOwnResult) {
  ProcessPool pool{{.width = 3}};
  EXPECT_EQ(pool.width(), 3U);
  const std::size_t count = test::slow ? 2000 : 10'000;
  std::vector<Future<std::uint64_t>> futures;
  futures.reserve(count);
  for (std::uint64_t i = 0; i < count; ++i) futures.push_back(pool.submit<add>(Numbers{i, 7}));
  for (std::uint64_t i = 0; i < count; ++i) ASSERT_EQ(futures[i].get(), mix(i) + 7) << i;
  (void)pool.wait();
  EXPECT_TRUE(came_to(pool.tally(), {.done = count}));
}

TEST(ProcessPool, JobsRunInOtherProcesses) {
  const SharedBoard board;
  ProcessPool pool(2);
  const std::vector<pid_t> there = workers();
  ASSERT_EQ(there.size(), 2U);
  for (int i = 0; i < 20; ++i) {
    const pid_t worker = pool.submit<who>(OnBoard{board.get(), 0}).get();
    EXPECT_NE(std::find(there.begin(), there.end(), worker), there.end());
  }
}

struct Large {
  std::array<unsigned char, ProcessPool::max_arguments> bytes;
};
static_assert(sizeof(Large) == ProcessPool::max_result);
Large reversed(const Large& given) {
  Large result = given;
  std::reverse(result.bytes.begin(), result.bytes.end());
  return result;
}
struct alignas(64) Aligned {
  unsigned char byte;
};
Aligned next_aligned(const Aligned& given) {
  if (reinterpret_cast<std::uintptr_t>(&given) % 64 != 0) throw std::runtime_error("not aligned");
  return {static_cast<unsigned char>(given.byte + 1)};
}
// A result that has no default.
struct Made {
  explicit Made(int given) : value(given) {}
  int value;
};
Made make(const int& value) { return Made(value); }
void touch(const OnBoard& job) { ++job.board->calls[job.value]; }
double half(const double& value) noexcept { return value / 2; }

TEST(ProcessPool, ArgumentsAndResultsOfEachKindAreCopiedWhole) {
  const SharedBoard board;
  ProcessPool pool(2);
  auto random = test::random();
  for (int i = 0; i < 20; ++i) {
    Large given;
    for (unsigned char& byte : given.bytes) byte = static_cast<unsigned char>(random());
    Large result = pool.submit<reversed>(given).get();
    std::reverse(result.bytes.begin(), result.bytes.end());
    ASSERT_EQ(result.bytes, given.bytes);
  }
  EXPECT_EQ(pool.submit<next_aligned>(Aligned{7}).get().byte, 8);
  EXPECT_EQ(pool.submit<make>(5).get().value, 5);
  EXPECT_EQ(pool.submit<half>(5.0).get(), 2.5);
  pool.submit<touch>(OnBoard{board.get(), 3}).get();
  EXPECT_EQ(board->calls[3], 1U);
}

TEST(ProcessPool, ManyThreadsSubmit) {
  const SharedBoard board;
  ProcessPool pool{{.width = 2, .capacity = 8}};
  const std::uint64_t each = test::rounds(200);
  std::atomic<int> wrong{0};
  test::Crew(8U, [&](std::uint64_t user) {
    std::vector<Future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < each; ++i) {
      futures.push_back(pool.submit<count_call>(OnBoard{board.get(), user * each + i}));
    }
    for (std::uint64_t i = 0; i < each; ++i) wrong += futures[i].get() != mix(user * each + i);
  }).join();
  EXPECT_EQ(wrong, 0);
  for (std::uint64_t i = 0; i < 8 * each; ++i) ASSERT_EQ(board->calls[i], 1U) << i;
  EXPECT_EQ(pool.close().done, 8 * each);
}

TEST(ProcessPool, WhatFollowsAJobMaySubmitTheNext) {
  const SharedBoard board;
  ProcessPool pool{{.width = 1, .capacity = 1}};
  Future<std::uint64_t> second;
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1}).then([&](std::uint64_t value) {
    second = pool.submit<add>(Numbers{2, 0});
    // Now it is full, and must not wait for itself.
    EXPECT_THROW((void)pool.submit<add>(Numbers{3, 0}), NotRun);
    EXPECT_THROW((void)pool.wait(), std::logic_error);
    EXPECT_THROW((void)pool.close(), std::logic_error);
    return value;
  });
  board->gate = true;
  EXPECT_EQ(first.get(), 1U);
  EXPECT_EQ(second.get(), mix(2));
}

// ---- Full, stopped, late, closed ---------------------------------------------------------------

TEST(ProcessPool, AFullPoolRefusesOrWaits) {
  const SharedBoard board;
  ProcessPool pool{{.width = 1, .capacity = 2, .on_full = OnFull::reject}};
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1});
  auto second = pool.submit<wait_for_gate>(OnBoard{board.get(), 2});
  Future<std::uint64_t> third;
  EXPECT_EQ(pool.try_submit<wait_for_gate>(third, OnBoard{board.get(), 3}), Status::full);
  EXPECT_FALSE(third.valid());
  const auto submit = [&] { return pool.submit<wait_for_gate>(OnBoard{board.get(), 3}); };
  EXPECT_EQ(caught<NotRun>(submit).value().status(), Status::full);
  EXPECT_EQ(pool.tally().accepted, 2U);
  EXPECT_EQ(pool.wait(5ms), Status::timed_out);
  board->gate = true;
  EXPECT_EQ(first.get() + second.get(), 3U);
  (void)pool.wait();
  EXPECT_EQ(pool.try_submit<wait_for_gate>(third, OnBoard{board.get(), 3}), Status::ok);
  EXPECT_EQ(third.get(), 3U);
}

TEST(ProcessPool, SubmitWaitsForRoomUpToItsStopOrDeadline) {
  const SharedBoard board;
  ProcessPool pool{{.width = 1, .capacity = 1}};
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1});
  const auto status_of_submit = [&](const ProcessJobOptions& options) {
    const auto submit = [&] { return pool.submit<add>(Numbers{1, 1}, options); };
    return caught<NotRun>(submit).value().status();
  };
  EXPECT_EQ(status_of_submit({.until = 5ms}), Status::timed_out);
  sync::StopSource source;
  const std::jthread stopper([&] {
    std::this_thread::sleep_for(5ms);
    source.request_stop();
  });
  EXPECT_EQ(status_of_submit({.until = source.token()}), Status::stopped);
  const std::jthread opener([&] {
    std::this_thread::sleep_for(5ms);
    board->gate = true;
  });
  EXPECT_EQ(pool.submit<add>(Numbers{1, 1}).get(), mix(1) + 1);
  EXPECT_EQ(first.get(), 1U);
  EXPECT_EQ(pool.close().accepted, 2U);
}

TEST(ProcessPool, AStopOrADeadlineKeepsAJobFromBeginning) {
  const SharedBoard board;
  ProcessPool pool(1);
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1});
  EXPECT_TRUE(becomes_true([&] { return board->begun == 1; }));
  sync::StopSource source;
  auto stopped = pool.submit<who>(OnBoard{board.get(), 0}, {.name = "s", .until = source.token()});
  auto late = pool.submit<who>(OnBoard{board.get(), 0}, {.until = 5ms});
  auto right = pool.submit<who>(OnBoard{board.get(), 0}, {.until = source.token()});
  EXPECT_EQ(caught<NotRun>(late).value().status(), Status::timed_out) << "the worker is busy";
  EXPECT_FALSE(stopped.is_ready());
  source.request_stop();
  const NotRun cancelled = caught<NotRun>(stopped).value();
  EXPECT_EQ(cancelled.status(), Status::stopped);
  EXPECT_TRUE(says(cancelled, "'s'"));
  EXPECT_TRUE(caught<NotRun>(right));
  auto after = pool.submit<who>(OnBoard{board.get(), 0}, {.until = source.token()});
  EXPECT_TRUE(caught<NotRun>(after)) << "it was stopped before";
  auto past = pool.submit<who>(OnBoard{board.get(), 0}, {.until = sync::clock::now()});
  EXPECT_TRUE(caught<NotRun>(past));
  board->gate = true;
  EXPECT_EQ(first.get(), 1U) << "what had begun goes on";
  EXPECT_TRUE(came_to(pool.close(), {.done = 1, .cancelled = 3, .expired = 2}));
  EXPECT_EQ(board->begun, 1U);
}

TEST(ProcessPool, AStopByTheFutureKeepsAJobFromBeginning) {
  const SharedBoard board;
  ProcessPool pool(1);
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1});
  EXPECT_TRUE(becomes_true([&] { return board->begun == 1; }));
  auto stopped = pool.submit<who>(OnBoard{board.get(), 0});
  EXPECT_FALSE(stopped.cancel());
  EXPECT_TRUE(stopped.request_stop());
  EXPECT_EQ(caught<NotRun>(stopped).value().status(), Status::stopped) << "the worker is busy";
  EXPECT_TRUE(first.request_stop());
  EXPECT_FALSE(first.request_stop()) << "it was asked before";
  board->gate = true;
  EXPECT_EQ(first.get(), 1U) << "what had begun goes on";
  auto kept = pool.submit<add>(Numbers{1, 2});
  kept.wait();
  (void)pool.wait();
  EXPECT_FALSE(kept.request_stop()) << "it has ended";
  EXPECT_TRUE(came_to(pool.close(), {.done = 2, .cancelled = 1}));
}

TEST(ProcessPool, AClosedPoolTakesNothingAndFinishesOrAbandons) {
  const SharedBoard board;
  for (const bool finishes : {true, false}) {
    board->gate = false;
    board->begun = 0;
    ProcessPool pool(1);
    std::vector<Future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < 10; ++i) {
      futures.push_back(pool.submit<wait_for_gate>(OnBoard{board.get(), i}));
    }
    EXPECT_TRUE(becomes_true([&] { return board->begun == 1; }));
    const std::jthread opener([&] {
      std::this_thread::sleep_for(5ms);
      board->gate = true;
    });
    const Tally tally = pool.close(finishes ? Closing::finish : Closing::abandon);
    EXPECT_TRUE(tally.balanced());
    EXPECT_EQ(tally.pending, 0U);
    EXPECT_EQ(tally.done, finishes ? 10U : board->begun.load());
    for (auto& future : futures) EXPECT_TRUE(future.is_ready());
    EXPECT_THROW((void)pool.submit<add>(Numbers{1, 1}), NotRun);
    Future<std::uint64_t> none;
    EXPECT_EQ(pool.try_submit<add>(none, Numbers{1, 1}), Status::closed);
    EXPECT_EQ(pool.close(Closing::abandon).done, tally.done) << "as the first";
  }
}

TEST(ProcessPool, FinishUntilLetsTheRestExpire) {
  const SharedBoard board;
  ProcessPool pool(1);
  auto first = pool.submit<wait_for_gate>(OnBoard{board.get(), 1});
  auto second = pool.submit<wait_for_gate>(OnBoard{board.get(), 2});
  EXPECT_TRUE(becomes_true([&] { return board->begun == 1; }));
  const std::jthread opener([&] {
    (void)caught<NotRun>(second);
    board->gate = true;
  });
  EXPECT_TRUE(came_to(pool.close(Closing::finish_until(5ms)), {.done = 1, .expired = 1}));
  EXPECT_EQ(first.get(), 1U);
}

TEST(ProcessPool, ItsEndFinishesWhatIsQueued) {
  const SharedBoard board;
  std::vector<Future<std::uint64_t>> futures;
  {
    ProcessPool pool(2);
    for (std::uint64_t i = 0; i < 50; ++i) {
      futures.push_back(pool.submit<count_call>(OnBoard{board.get(), i}));
    }
    ProcessPool moved(std::move(pool));
    futures.push_back(moved.submit<count_call>(OnBoard{board.get(), 50}));
  }
  for (std::uint64_t i = 0; i < futures.size(); ++i) {
    EXPECT_TRUE(futures[i].is_ready());
    EXPECT_EQ(futures[i].get(), mix(i));
  }
}

// ---- Deaths ------------------------------------------------------------------------------------

TEST(ProcessPool, WhatIsStoppedIsNotBegunAgain) {
  const SharedBoard board;
  ProcessPool pool{{.width = 1, .tries = 5}};
  sync::StopSource source;
  auto future = pool.submit<wait_for_gate>(OnBoard{board.get(), 1}, {.until = source.token()});
  EXPECT_TRUE(becomes_true([&] { return board->begun == 1; }));
  source.request_stop();
  for (const pid_t worker : workers()) ::kill(worker, SIGKILL);
  const WorkFailed died = caught<WorkFailed>(future).value();
  EXPECT_EQ(died.lost().attempts, 1U);
  EXPECT_EQ(died.lost().end.text(), "killed by signal 9");
  EXPECT_TRUE(says(died, "killed by signal 9"));
  EXPECT_EQ(board->begun, 1U);
}

void crash(const int& /*nothing*/) { ::raise(SIGKILL); }

// So soon that the server hears of many of them before it hears that they were hired.
TEST(ProcessPool, EachOfManyDeathsHasItsReason) {
  ProcessPool pool{{.width = 1, .tries = 1, .replacements_per_second = 1000}};
  std::vector<Future<void>> futures;
  for (std::size_t i = 0; i < test::rounds(200); ++i) futures.push_back(pool.submit<crash>(0));
  for (auto& future : futures) {
    ASSERT_EQ(caught<WorkFailed>(future).value().lost().end.text(), "killed by signal 9");
  }
}

// The third replacement comes a second after the first, at the soonest.
TEST(ProcessPool, NoMoreAreReplacedInASecond) {
  ProcessPool pool{{.width = 1, .tries = 1, .replacements_per_second = 2}};
  const auto begun = std::chrono::steady_clock::now();
  std::vector<Future<void>> futures;
  for (int i = 0; i < 4; ++i) futures.push_back(pool.submit<crash>(0));
  for (auto& future : futures) EXPECT_TRUE(caught<WorkFailed>(future));
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 1s);
}

std::uint64_t throw_text(const int& length) {
  if (length < 0) throw 5;
  throw std::runtime_error(std::string(static_cast<std::size_t>(length), 'x'));
}

TEST(ProcessPool, AnExceptionComesOverAsText) {
  ProcessPool pool(1);
  const pid_t worker = workers().front();
  for (const int length : {0, 10, 4095, 10'000}) {
    auto future = pool.submit<throw_text>(length);
    const auto kept = static_cast<std::size_t>(std::min(length, 4095));
    EXPECT_EQ(caught<WorkFailed>(future).value().what(), std::string(kept, 'x'));
  }
  auto other = pool.submit<throw_text>(-1);
  EXPECT_TRUE(says(caught<WorkFailed>(other).value(), "no std::exception"));
  EXPECT_EQ(pool.submit<add>(Numbers{1, 2}).get(), mix(1) + 2);
  EXPECT_EQ(workers().front(), worker) << "it goes on";
  const Tally tally = pool.close();
  EXPECT_EQ(tally.failed, 5U);
  EXPECT_THROW(std::rethrow_exception(tally.first_failure), WorkFailed);
}

TEST(ProcessPool, WorkersThatDieBetweenJobsAreReplacedWithoutOne) {
  ProcessPool pool(3);
  for (const pid_t worker : workers()) ::kill(worker, SIGKILL);
  EXPECT_TRUE(becomes_true([&] {
    const std::vector<pid_t> there = workers();
    const bool are_alive = std::none_of(there.begin(), there.end(), has_ended);
    return are_alive && there.size() == 3 + spares().size();
  }));
  EXPECT_EQ(pool.submit<add>(Numbers{1, 1}).get(), mix(1) + 1);
}

// ---- Recycling ---------------------------------------------------------------------------------

TEST(ProcessPool, AWorkerEndsAfterSoManyJobs) {
  const SharedBoard board;
  ProcessPool pool{{.width = 1, .recycle_after = 5, .replacements_per_second = 1}};
  std::vector<pid_t> by;
  for (int i = 0; i < 50; ++i) by.push_back(pool.submit<who>(OnBoard{board.get(), 0}).get());
  std::size_t runs = 1;
  for (std::size_t i = 1; i < by.size(); ++i) {
    const bool is_next = by[i] != by[i - 1];
    runs += is_next;
    EXPECT_EQ(is_next, i % 5 == 0) << i;
  }
  EXPECT_EQ(runs, 10U);
  EXPECT_EQ(pool.close().failed, 0U);
  EXPECT_TRUE(becomes_true([] { return workers().size() - spares().size() == 1; }))
      << "the count stays";
}

std::size_t leak(const std::size_t& bytes) {
  auto* const kept = static_cast<unsigned char*>(std::malloc(bytes));
  for (std::size_t i = 0; kept != nullptr && i < bytes; i += 512) {
    static_cast<volatile unsigned char*>(kept)[i] = 1;
  }
  return static_cast<std::size_t>(::getpid());
}

TEST(ProcessPool, AWorkerEndsWhenItHasGrown) {
  constexpr std::size_t mib = 1 << 20;
  ProcessPool pool{{.width = 1, .recycle_memory = 20 * mib}};
  std::vector<std::size_t> by;
  for (int i = 0; i < 100; ++i) by.push_back(pool.submit<leak>(mib).get());
  const std::size_t processes = std::set<std::size_t>(by.begin(), by.end()).size();
  EXPECT_GE(processes, 4U) << "at most about 20 MiB each";
  EXPECT_LE(processes, test::sanitized ? 100U : 20U) << "and shadows, under a sanitizer";
  EXPECT_EQ(pool.close().failed, 0U);
}

// ---- Memory that is written over ---------------------------------------------------------------

// All bytes that this process shares with others of the pool, and that have no file: by random
// ones. What it hits first may end it.
std::uint64_t scribble(const std::uint64_t& seed) {
  std::mt19937_64 random(seed);
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
TEST(ProcessPool, AWorkerThatWritesOverThePoolsMemoryHangsNothing) {
  auto random = test::random();
  std::size_t refused = 0;
  for (std::size_t round = 0; round < test::rounds(6) + 1; ++round) {
    ProcessPool pool{{.width = 2,
                      .limit = std::chrono::milliseconds(test::slow ? 300 : 50),
                      .replacements_per_second = 10'000}};
    std::vector<Future<std::uint64_t>> futures;
    for (std::uint64_t i = 0; i < 40; ++i) {
      futures.push_back(i == 20 ? pool.submit<scribble>(std::uint64_t{random()})
                                : pool.submit<add>(Numbers{i, 0}));
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

// ---- Misuse ------------------------------------------------------------------------------------

struct Nested {
  ProcessPool* pool;
};
std::uint64_t submit_within(const Nested& nested) {
  return nested.pool->submit<add>(Numbers{1, 1}).get();
}

TEST(ProcessPool, ACallFromInsideAKernelIsMisuse) {
  ProcessPool pool(1);
  auto nested = pool.submit<submit_within>(Nested{&pool});
  EXPECT_TRUE(says(caught<WorkFailed>(nested).value(), "from inside"));
}

TEST(ProcessPool, OptionsThatCannotBeAreMisuse) {
  EXPECT_THROW(ProcessPool({.width = 1, .capacity = 0}), std::logic_error);
  EXPECT_THROW(ProcessPool({.width = 1, .capacity = 4097}), std::logic_error);
  EXPECT_THROW(ProcessPool({.width = 1, .on_full = OnFull::grow}), std::logic_error);
}

// ---- Ends --------------------------------------------------------------------------------------

// In a fork of the program it can be destroyed, and is there afterwards.
TEST(ProcessPool, AForkOfTheProgramEndsNothing) {
  auto pool = std::make_unique<ProcessPool>(2);
  const int code = test::in_child([&] {
    const auto submit = [&] { return pool->submit<add>(Numbers{1, 1}); };
    const bool is_misuse = caught<std::logic_error>(submit).has_value();
    pool.reset();
    return is_misuse ? 0 : 1;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(pool->submit<add>(Numbers{1, 1}).get(), mix(1) + 1);
}

}}  // namespace process_pool_test
