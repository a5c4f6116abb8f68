// SPDX-License-Identifier: MIT
//
// The numbers of threads by which a queue knows its lone producer, and what the end of one means.
#include <handoff/memory/internal/thread_id.hpp>

#include "support/test.hpp"

namespace {

using namespace handoff;
using detail::LoneThread;

TEST(LoneThread, NumbersAreGivenOutOnce) {
  std::mutex mutex;
  std::multiset<std::uint64_t> numbers;
  for (int round = 0; round < 20; ++round) {
    const handoff::test::Crew threads(20, [&] {
      ASSERT_TRUE(LoneThread::enroll());
      const std::uint64_t mine = LoneThread::number();
      ASSERT_TRUE(LoneThread::enroll());
      EXPECT_EQ(LoneThread::number(), mine) << "a thread keeps its own";
      EXPECT_FALSE(LoneThread::ended(mine));
      const std::scoped_lock lock(mutex);
      numbers.insert(mine);
    });
  }
  ASSERT_EQ(numbers.size(), 400U);
  for (const std::uint64_t each : numbers) {
    EXPECT_EQ(numbers.count(each), 1U);
    EXPECT_TRUE(LoneThread::ended(each));
  }
}

TEST(LoneThread, NobodyHasEnded) { EXPECT_TRUE(LoneThread::ended(LoneThread::kNobody)); }

// More threads than there are places: those that come late have none, and any of them that ends
// leaves one.
TEST(LoneThread, ThoseThatComeTooLateHaveNone) {
  std::mutex end;
  end.lock();
  std::atomic<int> enrolled{0};
  std::atomic<int> asked{0};
  handoff::test::Crew threads(300, [&] {
    if (LoneThread::enroll()) ++enrolled;
    ++asked;
    asked.notify_one();
    const std::scoped_lock wait(end);
  });
  for (int seen = 0; (seen = asked.load()) != 300;) asked.wait(seen);
  EXPECT_LE(enrolled.load(), 256);
  EXPECT_GE(enrolled.load(), 200) << "some may be other tests'";
  EventQueue<int, void(int)> queue;
  std::jthread([&] {
    EXPECT_FALSE(LoneThread::enroll());
    for (int i = 0; i < 5000; ++i) EXPECT_EQ(queue.enqueue(0, i), Status::ok);
  }).join();
  EXPECT_EQ(queue.drain(), 5000U);
  end.unlock();
  threads.join();
  std::jthread([] { EXPECT_TRUE(LoneThread::enroll()); }).join();
}

}  // namespace
