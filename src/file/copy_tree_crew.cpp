// SPDX-License-Identifier: MIT
#include "copy_tree_crew.hpp"

#include <algorithm>
#include <chrono>
#include <handoff/core/internal/attempt.hpp>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

CopyWorker::Pair& CopyWorker::pair(std::uint64_t from, std::uint64_t to) {
  for (Pair& known : pairs) {
    if (known.from == from && known.to == to) return known;
  }
  return pairs.emplace_back(Pair{from, to});
}

void CopyCrew::run(std::vector<CopyWorker>& workers, UniqueFunction<void()>& look) noexcept {
  workers_ = &workers;
  std::size_t given = 0;
  (void)attempt([&] {
    const std::size_t width = std::min(workers.size(), ThreadPool::max_width);
    pool_.emplace(ThreadPoolOptions{.name = "copy", .width = width});
    for (; given < tasks_.size(); ++given) {
      pool_->post([this, &task = tasks_[given]] { task(worker_here()); });
    }
  });  // no thread, or no memory: this one does the rest
  constexpr std::chrono::milliseconds period(100);
  if (pool_) {
    while (pool_->wait(period) != Status::ok) look();
    pool_.reset();
  }
  tasks_.erase(tasks_.begin(), tasks_.begin() + static_cast<std::ptrdiff_t>(given));
  while (!tasks_.empty()) {
    auto task = std::move(tasks_.back());
    tasks_.pop_back();
    task(workers.front());
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
