// SPDX-License-Identifier: MIT
//
// The threads of a copy of trees, and what they have to do. A worker does its newest task first, so
// a tree is walked in depth and few directories are open at a time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/file/file_buffer.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What a thread has for itself.
struct CopyWorker {
  static constexpr std::size_t buffer_bytes = std::size_t{128} << 10;  // in the second cache

  // What works between two file systems, as far as this thread has seen.
  struct Pair {
    std::uint64_t from = 0;
    std::uint64_t to = 0;
    bool clone = true;
    bool range = true;
    bool direct = true;
  };

  // In which pieces files go past the page cache: a huge page.
  static constexpr std::size_t direct_bytes = std::size_t{2} << 20;

  std::unique_ptr<std::byte[]> buffer = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
  std::unique_ptr<std::byte[]> second = std::make_unique_for_overwrite<std::byte[]>(buffer_bytes);
  FileBuffer direct;  // had when it is first used
  std::vector<Pair> pairs;

  Pair& pair(std::uint64_t from, std::uint64_t to);
};

class CopyCrew {
 public:
  CopyCrew() = default;
  CopyCrew(const CopyCrew&) = delete;
  CopyCrew& operator=(const CopyCrew&) = delete;

  // task(CopyWorker&) for a worker. It must not throw. Before run(), and by tasks.
  template <class Task>
  void push(Task task) {
    if (pool_) {
      pool_->post([this, task = std::move(task)]() mutable { task(worker_here()); });
    } else {
      tasks_.emplace_back(std::move(task));
    }
  }

  // Does all that was and is pushed, by a thread for each worker, or as many as there can be, or
  // this one. Meanwhile `look` is called about ten times a second.
  void run(std::vector<CopyWorker>& workers, UniqueFunction<void()>& look) noexcept;

 private:
  CopyWorker& worker_here() noexcept {
    return (*workers_)[*pool_->worker_index()];  // NOLINT(*-unchecked-*): in a task of the pool
  }

  std::vector<UniqueFunction<void(CopyWorker&)>> tasks_;  // pushed while there was no pool
  std::vector<CopyWorker>* workers_ = nullptr;
  std::optional<ThreadPool> pool_;  // while it runs
};

}}}  // namespace handoff::HANDOFF_ABI::detail
