// SPDX-License-Identifier: MIT
//
// Loops on an executor that knows nothing of them: whom they call, and who comes too late.
#include "conformance/strangers.hpp"
#include "support/test.hpp"

namespace {

using namespace handoff;

// Runs nothing until it is told to, or never.
class Late {
 public:
  template <class F>
  Status try_post(F&& function) {
    functions.emplace_back(std::forward<F>(function));
    return Status::ok;
  }
  std::size_t width() const { return 4; }
  std::vector<UniqueFunction<void()>> functions;
};

// The caller and all that the executor is wide must be inside at once, or this hangs.
TEST(ParallelForOnAnExecutor, CallsAsManyAsItIsWide) {
  test::CountingExecutor threads(3);
  std::atomic<int> inside{0};
  parallel_for(threads, 0, 100, [&](std::size_t) {
    ++inside;
    while (inside < 4) std::this_thread::yield();
  });
  EXPECT_EQ(threads.posted, 3);
}

// Nobody is called for a loop of one block.
TEST(ParallelForOnAnExecutor, CallsNobodyWhereNothingIsLeft) {
  test::CountingExecutor threads(3);
  parallel_for(threads, 0, 1, [](std::size_t) {});
  parallel_for(threads, 0, 100, [](std::size_t) {}, {.block = 100});
  EXPECT_EQ(threads.posted, 0);
  test::CountingExecutor none(0);
  parallel_for(none, 0, 100, [](std::size_t) {});
  EXPECT_EQ(none.posted, 0);
}

// The functions outlive the loop, and touch nothing of it.
TEST(ParallelForOnAnExecutor, EndsOnAnExecutorThatRunsNothingUntilLater) {
  Late late;
  auto sum = std::make_unique<std::size_t>(0);
  parallel_for(late, 0, 100, [&](std::size_t i) { *sum += i; });
  EXPECT_EQ(*sum, 4950U);
  ASSERT_EQ(late.functions.size(), 1U) << "one calls the next, when it is called itself";
  sum.reset();
  for (std::size_t i = 0; i < late.functions.size(); ++i) late.functions[i]();
  EXPECT_EQ(late.functions.size(), 1U) << "nobody is called to what is over";
  parallel_for(late, 0, 100, [](std::size_t) {});
  late.functions.clear();  // or are never called
}

// What a helper throws is the loop's, not the executor's.
TEST(ParallelForOnAnExecutor, AHelperThrowsNothingAtTheExecutor) {
  test::StrangersExecutor threads(1);  // where an exception would end the program
  std::atomic<int> inside{0};
  EXPECT_THROW(parallel_for(threads, 0, 2,
                            [&](std::size_t) {
                              ++inside;
                              while (inside < 2) std::this_thread::yield();
                              throw std::runtime_error("both");
                            }),
               std::runtime_error);
}

}  // namespace
