// SPDX-License-Identifier: MIT
//
// Futures that are ready from the beginning.
#include <handoff/core/ready_future.hpp>

#include "support/test.hpp"

namespace { namespace ready_futures {

using namespace handoff;

TEST(ReadyFutureTest, HasItsValueAtOnce) {
  Future<std::unique_ptr<int>> future = ready_future(std::make_unique<int>(7));
  EXPECT_TRUE(future.is_ready());
  EXPECT_FALSE(future.cancel());
  EXPECT_EQ(*future.get(), 7);
  EXPECT_FALSE(future.valid());
  ready_future().get();
  EXPECT_EQ(ready_future<std::string>("text").get(), "text");
}

TEST(ReadyFutureTest, IsFollowedHereAndWithinAThen) {
  const int sum = ready_future(1).then([](int n) { return ready_future(n + 1); }).get();
  EXPECT_EQ(sum, 2);
}

TEST(ReadyFutureTest, FailsWithWhatItIsGivenOrItsCopyThrows) {
  struct Bad {
    Bad() = default;
    Bad(const Bad&) { throw std::runtime_error("copy"); }
  } const bad;
  EXPECT_THROW(ready_future(bad).get(), std::runtime_error);
  auto failed = failed_future<int>(std::make_exception_ptr(std::runtime_error("no")));
  EXPECT_TRUE(failed.is_ready());
  EXPECT_EQ(std::move(failed).on_failure([](const std::exception_ptr&) { return 3; }).get(), 3);
  EXPECT_THROW((void)failed_future<int>(nullptr), std::logic_error);
}

}}  // namespace ::ready_futures
