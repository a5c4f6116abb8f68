// SPDX-License-Identifier: MIT
//
// Thread: runs its function once, joins, is named, pinned and deaf to signals.
#include <gtest/gtest.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <atomic>
#include <handoff/sync/thread.hpp>
#include <memory>
#include <string>
#include <system_error>

namespace {

using handoff::sync::this_thread_id;
using handoff::sync::Thread;
using handoff::sync::ThreadId;
using handoff::sync::ThreadOptions;

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

TEST(Thread, AnImpossibleCpuIsAnErrorThatNamesTheThread) {
  for (const int cpu : {1'000'000, CPU_SETSIZE - 1}) {
    try {
      const Thread thread({.name = "lost", .cpu = cpu}, [] {});
      FAIL() << "started on CPU " << cpu;
    } catch (const std::system_error& error) {
      EXPECT_NE(std::string(error.what()).find("'lost'"), std::string::npos) << error.what();
    }
  }
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
