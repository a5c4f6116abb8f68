// SPDX-License-Identifier: MIT
//
// blocking(): a worker that blocks is replaced meanwhile, and the width is what it was afterwards.
#include "support/failing.hpp"
#include "support/test.hpp"
#include "support/threads_of_process.hpp"
#include "unit/pool/modes.hpp"

namespace {

using namespace handoff;
using namespace std::chrono_literals;
using namespace test;

class BlockingTest : public test::ModeTest {};
HANDOFF_EACH_MODE(BlockingTest);

TEST_P(BlockingTest, PassesOnWhatTheFunctionDoes) {
  Gate gate;
  ThreadPool pool(options(1));
  int target = 0;
  EXPECT_EQ(&blocking([&]() -> int& { return target; }), &target) << "no task at all";
  EXPECT_EQ(pool.submit([] { return blocking([] { return 4; }); }).get(), 4);
  EXPECT_THROW(pool.submit([] { blocking([] { throw std::runtime_error("planned"); }); }).get(),
               std::runtime_error);
  auto nested = pool.submit([&] { blocking([&] { blocking([&] { gate.wait(); }); }); });
  pool.submit([&] { gate.open(); }).get();
  nested.get();
  TaskGroup group(pool);  // here a guest runs it, which is no worker to replace
  group.run([] { blocking([] {}); });
  EXPECT_EQ(group.wait(Until()), Status::ok);
}

TEST_P(BlockingTest, WithoutAThreadItBlocksAllTheSame) {
  Gate begun;
  Gate gate;
  ThreadPool pool(options(1));
  auto held = pool.submit([&] {
    begun.wait();
    test::fail_after(Call::thread, 0, EAGAIN);
    blocking([&] { gate.wait(); });
  });
  std::atomic<bool> ran{false};
  pool.post([&] { ran = true; });
  begun.open();
  while (pool.statistics().lent == 0) std::this_thread::yield();
  gate.open();
  held.get();
  pool.wait();
  EXPECT_TRUE(ran);
  EXPECT_TRUE(test::stop_failing(Call::thread));
}

}  // namespace
