// SPDX-License-Identifier: MIT
#include "copy_tree_crew.hpp"

#include <chrono>
#include <handoff/core/detail/attempt.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

CopyWorker::Pair& CopyWorker::pair(std::uint64_t from, std::uint64_t to) {
  for (Pair& known : pairs) {
    if (known.from == from && known.to == to) return known;
  }
  return pairs.emplace_back(Pair{from, to});
}

void CopyCrew::push(Task task) {
  {
    sync::Lock lock(mutex_);
    tasks_.push_back(std::move(task));
    ++left_;
  }
  changed_.notify_one();
}

bool CopyCrew::crowded() {
  constexpr std::size_t many = 4096;
  sync::Lock lock(mutex_);
  return tasks_.size() >= many;
}

void CopyCrew::run(std::span<CopyWorker> workers, UniqueFunction<void()>& look) noexcept {
  std::vector<sync::Thread> threads;
  (void)attempt([&] {
    threads.reserve(workers.size());
    for (CopyWorker& worker : workers) {
      threads.emplace_back(sync::ThreadOptions{.name = "copy"},
                           [this, &worker]() noexcept { work(worker); });
    }
  });  // no thread, or no memory: those that there are do it
  if (threads.empty()) work(workers.front());
  const auto ended = [this] {
    sync::Lock lock(mutex_);
    return left_ == 0;
  };
  constexpr std::chrono::milliseconds period(100);
  while (over_.await(ended, sync::deadline_after(period)) != sync::Wakeup::notified) look();
}

void CopyCrew::work(CopyWorker& worker) noexcept {
  for (Task task; take(task); task = Task()) {
    task(worker);
    task = Task();
    done();
  }
}

// False: all is done.
bool CopyCrew::take(Task& task) {
  bool got = false;
  const auto ready = [&] {
    sync::Lock lock(mutex_);
    if (!tasks_.empty()) {
      task = std::move(tasks_.back());
      tasks_.pop_back();
      got = true;
    }
    return got || left_ == 0;
  };
  static_cast<void>(changed_.await(ready));
  return got;
}

void CopyCrew::done() {
  bool last = false;
  {
    sync::Lock lock(mutex_);
    last = --left_ == 0;
  }
  if (!last) return;
  changed_.notify_all();
  over_.notify_all();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
