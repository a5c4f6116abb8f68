// SPDX-License-Identifier: MIT
//
// The threads of a copy of trees, and what they have to do. The newest task is done first, so a
// tree is walked in depth and few directories are open at a time.
//
// Concurrency: thread-safe, but for the constructor, run() and the destructor.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/unique_function.hpp>
#include <handoff/file/file_buffer.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/detail/thread.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/mutex.hpp>
#include <memory>
#include <span>
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
  using Task = UniqueFunction<void(CopyWorker&)>;

  CopyCrew() = default;
  CopyCrew(const CopyCrew&) = delete;
  CopyCrew& operator=(const CopyCrew&) = delete;

  // Tasks must not throw.
  void push(Task task);
  // Whether more tasks wait than is good: another one had better be done at once.
  bool crowded();

  // Does all that was and is pushed, by a thread for each worker, or as many as there can be, or
  // this one. Meanwhile `look` is called about ten times a second.
  void run(std::span<CopyWorker> workers, UniqueFunction<void()>& look) noexcept;

 private:
  void work(CopyWorker& worker) noexcept;
  bool take(Task& task);
  void done();

  sync::Mutex mutex_;
  sync::EventCount changed_;  // a task more, or none left
  sync::EventCount over_;
  std::vector<Task> tasks_;
  std::size_t left_ = 0;  // tasks that have not ended
};

}}}  // namespace handoff::HANDOFF_ABI::detail
