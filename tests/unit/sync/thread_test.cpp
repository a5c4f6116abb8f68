// SPDX-License-Identifier: MIT
//
// Thread: runs its function once, joins, is named, pinned and deaf to signals.
#include <handoff/sync/internal/this_thread.hpp>
#include <handoff/sync/internal/thread.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff::sync;

TEST(Thread, RunsOnceAndJoinsInItsDestructor) {
  int calls = 0;  // plain: the join orders it
  {
    auto owned = std::make_unique<int>(41);  // a move-only capture
    const Thread thread({}, [&calls, owned = std::move(owned)] { calls += *owned + 1; });
  }
  EXPECT_EQ(calls, 42);
}

TEST(Thread, AMovedFromOneHasNothingToJoin) {
  int calls = 0;
  Thread first({}, [&calls] { ++calls; });
  Thread second(std::move(first));
  first.join();
  second.join();
  second.join();
  EXPECT_EQ(calls, 1);
  second = Thread({}, [&calls] { ++calls; });
  second.join();
  EXPECT_EQ(calls, 2);
}

TEST(Thread, IdsTellThreadsApart) {
  ThreadId other = nullptr;
  Thread({}, [&] { other = this_thread_id(); }).join();
  EXPECT_NE(other, nullptr);
  EXPECT_NE(other, this_thread_id());
  EXPECT_EQ(this_thread_id(), this_thread_id());
}

TEST(Thread, IsNamedAsFarAsTheKernelKeepsIt) {
  char name[32] = {};
  std::atomic<bool> named{false};
  Thread thread({.name = "a-name-longer-than-15"}, [&] {
    while (!named) sched_yield();
    pthread_getname_np(pthread_self(), name, sizeof name);
  });
  named = true;  // the name is set before the constructor returns
  thread.join();
  EXPECT_STREQ(name, "a-name-longer-t");
}

TEST(Thread, RunsWhereItIsPinned) {
  const int here = sched_getcpu();
  int cpu = -1;
  cpu_set_t mask;
  Thread({.cpu = here}, [&] {
    cpu = sched_getcpu();
    pthread_getaffinity_np(pthread_self(), sizeof mask, &mask);
  }).join();
  EXPECT_EQ(cpu, here);
  EXPECT_EQ(CPU_COUNT(&mask), 1);
}

TEST(Thread, RunsWhereItWasToldToWhoeverStartsIt) {
  cpu_set_t before;
  ASSERT_EQ(pthread_getaffinity_np(pthread_self(), sizeof before, &before), 0);
  const int here = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<std::size_t>(here), &one);
  ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof one, &one), 0);
  const CpuSet narrow = CpuSet::of_this_thread();
  ASSERT_EQ(pthread_setaffinity_np(pthread_self(), sizeof before, &before), 0);
  cpu_set_t narrow_mask;
  cpu_set_t own_mask;
  Thread({.cpus = &narrow}, [&] {
    pthread_getaffinity_np(pthread_self(), sizeof narrow_mask, &narrow_mask);
  }).join();
  Thread({}, [&] { pthread_getaffinity_np(pthread_self(), sizeof own_mask, &own_mask); }).join();
  EXPECT_TRUE(CPU_EQUAL(&narrow_mask, &one));
  EXPECT_TRUE(CPU_EQUAL(&own_mask, &before)) << "where its starter may";
}

// Writes all over the stack below, so that what is read there before it is written shows.
template <std::size_t kBytes>
[[gnu::noinline]] void soil_the_stack() {
  volatile unsigned char bytes[kBytes];
  for (auto& byte : bytes) byte = 0xff;
}

TEST(Thread, StartsWhateverWasOnTheStackBefore) {
  for (int i = 0; i < 20'000; ++i) {  // a sanitizer takes frames from a store of its own, in turn
    soil_the_stack<96>();
    soil_the_stack<200>();
    soil_the_stack<400>();
  }
  soil_the_stack<16'384>();
  int calls = 0;
  Thread({}, [&] { ++calls; }).join();
  EXPECT_EQ(calls, 1);
}

TEST(Thread, AnAssignmentJoinsTheOneBefore) {
  std::atomic<bool> go{false};
  std::atomic<bool> done{false};
  Thread thread({}, [&] {
    while (!go) sched_yield();
    for (int i = 0; i < 1000; ++i) sched_yield();
    done = true;
  });
  Thread next({}, [] {});
  go = true;
  thread = std::move(next);
  EXPECT_TRUE(done);
}

TEST(Thread, AnImpossibleCpuIsAnErrorThatNamesTheThread) {
  for (const int cpu : {1'000'000, CPU_SETSIZE - 1}) {
    const auto error = handoff::test::caught<std::system_error>(
        [&] { const Thread thread({.name = "lost", .cpu = cpu}, [] {}); });
    EXPECT_TRUE(handoff::test::says(error.value(), "'lost'")) << error->what();
  }
}

// By its number at the kernel: while it runs, after its end, and for numbers of no thread here.
TEST(Thread, TheKernelKnowsWhetherItIsAlive) {
  handoff::sync::KernelThread number = 0;
  std::atomic<bool> begun{false};
  std::atomic<bool> goes_on{true};
  Thread thread({}, [&] {
    number = handoff::sync::this_kernel_thread();
    begun = true;
    while (goes_on) std::this_thread::yield();
  });
  while (!begun) std::this_thread::yield();
  EXPECT_NE(number, handoff::sync::this_kernel_thread());
  EXPECT_TRUE(handoff::sync::is_alive(number));
  EXPECT_TRUE(handoff::sync::is_alive(handoff::sync::this_kernel_thread()));
  goes_on = false;
  thread.join();
  // The kernel lets a joining thread go on a moment before the number is nobody's.
  while (handoff::sync::is_alive(number)) std::this_thread::yield();
  errno = EDOM;
  EXPECT_FALSE(handoff::sync::is_alive(number));
  EXPECT_EQ(errno, EDOM) << "a question leaves the error of the call before it";
  EXPECT_FALSE(handoff::sync::is_alive(0));
  EXPECT_FALSE(handoff::sync::is_alive(-1));
  EXPECT_FALSE(handoff::sync::is_alive(getppid())) << "a thread of another process";
}

TEST(Thread, BlocksSignalsButNotFaults) {
  sigset_t mask;
  Thread({}, [&] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }).join();
  for (const int signal : {SIGINT, SIGTERM, SIGALRM, SIGUSR1, SIGCHLD, SIGPROF, SIGRTMIN}) {
    EXPECT_EQ(sigismember(&mask, signal), 1) << signal;
  }
  for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) {
    EXPECT_EQ(sigismember(&mask, fault), 0) << fault;
  }
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGUSR1), 0) << "the starter's own mask is as it was";
}

}  // namespace
