// SPDX-License-Identifier: MIT
//
// Where each thread begins in runs over an index range: in its own part, the same in each run.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

class FirstBlocks {
 public:
  explicit FirstBlocks(std::size_t threads) : threads_(threads) {}

  // What the run does with a block. A thread that has its first one waits for the others, so that
  // none of them finds its part taken; not for ever, as one that never comes is a failure.
  void operator()(IndexRange block) {
    {
      const std::lock_guard lock(mutex_);
      if (!begun_.try_emplace(std::this_thread::get_id(), block.first).second) return;
    }
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    ++there_;
    while (there_ < threads_ && std::chrono::steady_clock::now() < late) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  // By thread, the first index. Only after the run.
  [[nodiscard]] const std::map<std::thread::id, std::size_t>& begun() const { return begun_; }

 private:
  const std::size_t threads_;
  std::mutex mutex_;
  std::map<std::thread::id, std::size_t> begun_;
  std::atomic<std::size_t> there_{0};
};

// Of `run(count, first_blocks)`, in which so many threads take part: each begins in a part of its
// own, and in the same one each time; `starter`, if it takes part, in the first.
template <class Run>
void expect_own_parts(std::size_t threads, const Run& run, std::thread::id starter = {}) {
  const std::size_t each = 100;
  std::map<std::thread::id, std::size_t> before;
  for (int round = 0; round < 3; ++round) {
    FirstBlocks blocks(threads);
    run(threads * each, blocks);
    std::set<std::size_t> parts;
    for (const auto& [thread, first] : blocks.begun()) {
      EXPECT_EQ(first % each, 0U);
      parts.insert(first / each);
      EXPECT_TRUE(thread != starter || first == 0) << first;
    }
    EXPECT_EQ(parts.size(), threads);
    EXPECT_TRUE(round == 0 || blocks.begun() == before) << "another part than before";
    before = blocks.begun();
  }
}

}  // namespace handoff::test
