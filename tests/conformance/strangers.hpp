// SPDX-License-Identifier: MIT
//
// An executor and a Bulk as a user writes them that has a few threads and a queue, and knows
// nothing of this library but the concepts.
#pragma once

#include "support/test.hpp"

namespace handoff::test {

class StrangersExecutor {
 public:
  explicit StrangersExecutor(std::size_t width) {
    for (std::size_t i = 0; i < width; ++i) threads_.emplace_back([this] { serve(); });
  }
  ~StrangersExecutor() {
    close();
    for (auto& thread : threads_) thread.join();
  }
  template <class F>
  Status try_post(F&& function) {
    const std::lock_guard lock(mutex_);
    if (closed_) return Status::closed;
    functions_.emplace_back(std::forward<F>(function));
    changed_.notify_one();
    return Status::ok;
  }
  std::size_t width() const { return threads_.size(); }
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

 private:
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      changed_.wait(lock, [this] { return closed_ || !functions_.empty(); });
      if (functions_.empty()) return;
      UniqueFunction<void()> function = std::move(functions_.front());
      functions_.pop_front();
      lock.unlock();
      function();
      function = nullptr;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<UniqueFunction<void()>> functions_;
  bool closed_ = false;
  std::vector<std::thread> threads_;
};

// Counts what it takes.
class CountingExecutor : public StrangersExecutor {
 public:
  using StrangersExecutor::StrangersExecutor;
  template <class F>
  Status try_post(F&& function) {
    ++posted;
    return StrangersExecutor::try_post(std::forward<F>(function));
  }
  std::atomic<int> posted{0};
};

// One member a run: it is allowed to be slow.
class StrangersBulk {
 public:
  struct BulkStorage {};

  explicit StrangersBulk(std::size_t width) : executor_(width) {}
  std::size_t width() const { return executor_.width(); }

  template <class Body>
  Tally run(std::size_t count, const Body& body, const RunOptions& options = {}) {
    const Tally tally = all(count, options, [&](std::size_t first, std::size_t last) {
      body(IndexRange{first, last});
    });
    if (tally.first_failure) std::rethrow_exception(tally.first_failure);
    return tally;
  }
  Status start(std::size_t count, BulkWork& work, BulkStorage&, const RunOptions& options = {}) {
    return executor_.try_post([=, &work, token = options.until.stop_token()] {
      const RunOptions mine{.block = options.block, .until = {options.until.deadline(), token}};
      work.ended(
          all(count, mine, [&](std::size_t first, std::size_t last) { work.block(first, last); }));
    });
  }

 private:
  template <class Block>
  static Tally all(std::size_t count, const RunOptions& options, const Block& block) {
    Tally tally{.accepted = count};
    const std::size_t size = options.block == 0 ? 16 : options.block;
    for (std::size_t first = 0, last = 0; first < count; first = last) {
      last = count - first < size ? count : first + size;
      if (options.until.stop_requested()) {
        tally.cancelled += last - first;
      } else if (sync::clock::now() >= options.until.deadline()) {
        tally.expired += last - first;
      } else {
        try {
          block(first, last);
          tally.done += last - first;
        } catch (...) {
          tally.failed += last - first;
          if (!tally.first_failure) tally.first_failure = std::current_exception();
        }
      }
    }
    return tally;
  }

  StrangersExecutor executor_;
};

}  // namespace handoff::test
