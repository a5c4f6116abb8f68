// SPDX-License-Identifier: MIT
//
// sync/ while the system refuses something; and the tool itself, whose every kind must fail when
// told to and only then.
#include <handoff/sync/internal/thread.hpp>

#include "support/failing.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff::sync;
using namespace handoff::test;

// Whether `use` fails with the error it was told to, exactly at its k-th call.
template <class Use>
void expect_fails_on_demand(Call call, Use use) {
  EXPECT_TRUE(use());
  fail_after(call, 1, EIO);
  EXPECT_TRUE(use());
  errno = 0;
  EXPECT_FALSE(use());
  EXPECT_EQ(errno, EIO);
  EXPECT_TRUE(use());
  EXPECT_TRUE(stop_failing(call));
}

TEST(FailingCalls, EachKindFailsWhenToldTo) {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  ASSERT_GE(null, 0);
  char byte = 0;
  expect_fails_on_demand(Call::open, [] {
    const int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    return file >= 0 && close(file) == 0;
  });
  expect_fails_on_demand(Call::read, [&] { return read(null, &byte, 1) == 0; });
  expect_fails_on_demand(Call::write, [&] { return write(null, &byte, 1) == 1; });
  const int file = memfd_create("sync", MFD_CLOEXEC);
  expect_fails_on_demand(Call::sync, [&] { return fsync(file) == 0; });
  expect_fails_on_demand(Call::sync, [&] { return fdatasync(file) == 0; });
  expect_fails_on_demand(Call::close, [&] { return close(dup(null)) == 0; });
  expect_fails_on_demand(Call::map, [] {
    void* const page = mmap(nullptr, 1, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return page != MAP_FAILED && munmap(page, 1) == 0;
  });
  expect_fails_on_demand(Call::allocation, [] {
    try {
      ::operator delete(::operator new(1));  // a call, which the compiler may not leave out
      return true;
    } catch (const std::bad_alloc&) {
      errno = EIO;
      return false;
    }
  });
  close(file);
  close(null);
}

TEST(FailingCalls, AQuotaThatCannotBeReadLeavesNoDescriptor) {
  const auto lowest_free = [] {
    const int file = ::dup(STDERR_FILENO);
    ::close(file);
    return file;
  };
  const int before = lowest_free();
  const int places = until_whole(Call::allocation, 0, [] {
    (void)cpu_budget();
    return true;
  });
  EXPECT_GT(places, 3);
  EXPECT_EQ(lowest_free(), before);
}

TEST(FailingCalls, AThreadThatIsRefusedIsAnErrorThatNamesIt) {
  bool thrown = false;
  const int places = until_whole(Call::thread, EAGAIN, [&] {
    try {
      Thread({.name = "refused"}, [] {}).join();
    } catch (const std::system_error& error) {
      thrown = true;
      EXPECT_EQ(error.code().value(), EAGAIN);
      EXPECT_NE(std::string(error.what()).find("'refused'"), std::string::npos) << error.what();
    }
  });
  EXPECT_EQ(places, 1);
  EXPECT_TRUE(thrown);
}

TEST(FailingCalls, ABudgetThatCannotBeReadIsTheAffinity) {
  const unsigned affinity = cpu_budget().affinity;
  for (const Call call : {Call::open, Call::read}) {
    for (const int error : {EACCES, EIO}) {
      const int places = until_whole(call, error, [&] {
        const CpuBudget budget = cpu_budget();
        EXPECT_EQ(budget.affinity, affinity);
        EXPECT_GE(budget.width(), 1U);
        EXPECT_LE(budget.width(), affinity);
      });
      EXPECT_GE(places, 1);
    }
  }
  const unsigned width = cpu_budget().width();
  until_whole(Call::read, EINTR, [&] { EXPECT_EQ(cpu_budget().width(), width); });
}

// Pools and teams ask for it when they are made: that must not read files each time.
TEST(FailingCalls, ARecentBudgetReadsNoFileAgainWithinASecond) {
  const std::size_t before = handoff::test::calls(Call::open);
  const CpuBudget fresh = cpu_budget();
  const std::size_t of_one = handoff::test::calls(Call::open) - before;
  ASSERT_GE(of_one, 1U);
  for (int i = 0; i < 100; ++i) {
    const CpuBudget recent = recent_cpu_budget();
    EXPECT_EQ(recent.affinity, fresh.affinity);
    EXPECT_EQ(recent.width(), fresh.width());
  }
  // A second may end meanwhile, a busy machine may take some.
  EXPECT_LT(handoff::test::calls(Call::open) - before, 50 * of_one);
}

// A kernel of more CPUs than the set has is asked with a larger set; one that forbids the question
// leaves what the system says of its CPUs.
TEST(FailingCalls, AnAffinityThatIsNotToldIsAskedForAgainOrTakenFromTheSystem) {
  const unsigned affinity = cpu_budget().affinity;
  fail_after(Call::affinity, 0, EINVAL);
  const std::size_t before = handoff::test::calls(Call::affinity);
  EXPECT_EQ(cpu_budget().affinity, affinity);
  EXPECT_TRUE(stop_failing(Call::affinity));
  EXPECT_EQ(handoff::test::calls(Call::affinity) - before, 2U);
  fail_after(Call::affinity, 0, EPERM);
  EXPECT_EQ(cpu_budget().affinity, static_cast<unsigned>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_TRUE(stop_failing(Call::affinity));
  EXPECT_EQ(handoff::test::calls(Call::affinity) - before, 3U);
}

TEST(FailingCalls, AThreadStartsWhereItsStarterMayRunIfItsPlaceIsNotKnown) {
  fail_after(Call::affinity, 0, EPERM);
  const CpuSet unknown = CpuSet::of_this_thread();
  EXPECT_TRUE(stop_failing(Call::affinity));
  cpu_set_t own;
  cpu_set_t others;
  pthread_getaffinity_np(pthread_self(), sizeof own, &own);
  Thread({.cpus = &unknown}, [&] {
    pthread_getaffinity_np(pthread_self(), sizeof others, &others);
  }).join();
  EXPECT_TRUE(CPU_EQUAL(&own, &others));
}

TEST(FailingCalls, AStopSourceThatCannotBeMadeThrows) {
  EXPECT_GE(until_enough_memory([] {
              StopSource source;
              source.request_stop();
            }),
            1);
}

TEST(FailingCalls, AnInterruptedSleepIsOneMoreLook) {
  for (const int error : {EINTR, EAGAIN}) {
    for (int k = 0; k < 3; ++k) {
      EventCount events;
      std::atomic<bool> ready{false};
      fail_after(Call::futex, k, error);
      std::thread waiter([&] {
        EXPECT_EQ(events.await([&] { return ready.load(); }, no_deadline, {}, Spin::never),
                  Wakeup::notified);
      });
      while (events.was_waiting() == 0) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ready = true;
      events.notify_one();
      waiter.join();
      stop_failing(Call::futex);
    }
  }
}

}  // namespace
