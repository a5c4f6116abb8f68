// SPDX-License-Identifier: MIT
//
// Listeners and events at the end of a thread: destructors of thread_locals may still use them;
// those of thread-specific data, which come later, may enqueue and remove but not call. Where
// the system has no key left to tell of the end, it is noticed all the same.
#include <barrier>
#include <handoff/memory/internal/thread_id.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::LoneThread;

// Calls a function where the thread_locals of its thread end.
struct AtTheEnd {
  std::function<void()> call;
  ~AtTheEnd() {
    if (call) call();
  }
};
AtTheEnd& at_the_end() {
  thread_local AtTheEnd end;
  return end;
}

// A key of this test's own: the library's is there before, so its destructors run before.
class LaterKey {
 public:
  LaterKey() {
    CallbackList<void()> list;
    list.append([] {});
    std::jthread([&] { list(); }).join();
    EXPECT_EQ(pthread_key_create(&key_, &run), 0);
  }
  ~LaterKey() { pthread_key_delete(key_); }
  LaterKey(const LaterKey&) = delete;
  LaterKey& operator=(const LaterKey&) = delete;

  // Calls it after everything else at the end of this thread.
  void call(std::function<void()>& function) { pthread_setspecific(key_, &function); }

 private:
  static void run(void* function) { (*static_cast<std::function<void()>*>(function))(); }

  pthread_key_t key_{};
};

TEST(ThreadEnd, DestructorsOfThreadLocalsMayCallListenersAndRemoveThem) {
  CallbackList<void()> list;
  int calls = 0;
  const auto handle = list.append([&] { ++calls; });
  for (const bool before : {false, true}) {
    std::jthread([&] {
      if (before) list();
      at_the_end().call = [&] { list(); };
    }).join();
  }
  EXPECT_EQ(calls, 3);
  EXPECT_TRUE(list.remove_and_wait(handle));  // no ended thread is waited for
}

TEST(ThreadEnd, DestructorsOfThreadLocalsMayEnqueueAlone) {
  EventQueue<int, void(int)> queue;
  std::jthread([&] {
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
    at_the_end().call = [&] {
      EXPECT_NE(LoneThread::number(), 0U);
      for (int i = 0; i < 5000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
    };
  }).join();
  EXPECT_EQ(queue.drain(), 10'000U);
}

TEST(ThreadEnd, AfterItAPassIsMisuse) {
  LaterKey key;
  CallbackList<void()> list;
  int calls = 0;
  list.append([&] { ++calls; });
  bool refused = false;
  std::function<void()> late = [&] {
    try {
      list();
    } catch (const std::logic_error&) {
      refused = true;
    }
  };
  std::jthread([&] {
    list();
    key.call(late);
  }).join();
  EXPECT_TRUE(refused);
  EXPECT_EQ(calls, 1);
}

// It is in no pass, so nobody waits for it, and it may wait.
TEST(ThreadEnd, AfterItAListenerMayStillBeRemovedAndWaitedFor) {
  LaterKey key;
  CallbackList<void()> list;
  std::barrier<> inside(2);
  std::atomic<bool> left{false};
  ScopedListener scoped = list.append([&] {
    inside.arrive_and_wait();
    for (int i = 0; i < 1000; ++i) std::this_thread::yield();
    left.store(true, std::memory_order_relaxed);
  });
  bool waited = false;
  std::function<void()> late = [&] {
    inside.arrive_and_wait();
    scoped.reset();
    waited = left.load(std::memory_order_relaxed);
  };
  std::jthread ends([&] {
    CallbackList<void()> other;
    other();
    key.call(late);
  });
  list();
  ends.join();
  EXPECT_TRUE(waited);
}

TEST(ThreadEnd, AfterItAThreadMayEnqueueButIsNotAloneAnyMore) {
  LaterKey key;
  EventQueue<int, void(int)> queue;
  std::function<void()> late = [&] {
    EXPECT_FALSE(LoneThread::enroll());
    EXPECT_EQ(LoneThread::number(), 0U);
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
  };
  std::jthread([&] {
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
    EXPECT_TRUE(LoneThread::enroll());
    key.call(late);
  }).join();
  EXPECT_EQ(queue.drain(), 10'000U);
}

}  // namespace
