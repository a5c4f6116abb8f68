// SPDX-License-Identifier: MIT
//
// Threads that do the same.
//
//   test::Crew readers(3, [&] { EXPECT_EQ(channel.pop(), 1); });
//   ...
//   readers.join();
#pragma once

#include <concepts>
#include <thread>
#include <vector>

namespace handoff::test {

// Each calls it, with its number from 0 on if it takes one. They are joined at the end at latest.
class Crew {
 public:
  template <class Count, class Each>
  Crew(Count count, const Each& each) {
    for (Count i{}; i < count; ++i) {
      threads_.emplace_back([each, i] {
        if constexpr (std::invocable<const Each&, Count>) {
          each(i);
        } else {
          each();
        }
      });
    }
  }
  void join() { threads_.clear(); }

 private:
  std::vector<std::jthread> threads_;
};

}  // namespace handoff::test
