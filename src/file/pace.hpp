// SPDX-License-Identifier: MIT
//
// An engine's share of the device: a number of bytes a second, with a short burst.
//
// A moment is kept at which what was spent is paid off. A run that comes later may go on at once;
// others are parked, first come first, until a thread of this type starts them. A run that gives up
// goes on without a share, to hear of it.
//
// A run that waits may hold a file, and a process has few descriptors. So a run that will open one
// needs a place before it begins. There are kPlaces; for them too runs are parked, first come
// first. Concurrency: thread-safe. Throws: the constructor, std::system_error.
#pragma once

#include <chrono>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/thread.hpp>
#include <handoff/sync/mutex.hpp>
#include <string>

#include "file_task.hpp"
#include "run_queue.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FilePace {
 public:
  static constexpr unsigned kPlaces = 32;

  FilePace(std::uint64_t bytes_per_second, const std::string& name);
  ~FilePace() { close(); }

  // False: not yet; if `park`, the run is started when it has its share, or has been stopped.
  bool spend(FileTask& task, std::uint64_t bytes, bool park) noexcept;
  // The same, waiting on this thread.
  void wait(const FileTask& task, std::uint64_t bytes) noexcept;
  // Before it begins. False: not yet; it is started when it has a place, or gives up.
  bool enter(FileTask& task) noexcept;
  // When it has ended. The run that has its place now, and is to be started; null: none.
  FileRun* leave(FileTask& task) noexcept;
  // Once nothing is parked.
  void close() noexcept;

 private:
  bool take(std::uint64_t bytes, sync::Deadline now) noexcept;
  void work() noexcept;

  const double ns_per_byte_;
  sync::Mutex mutex_;
  sync::EventCount changed_;
  sync::Deadline paid_off_ = sync::clock::now();
  RunQueue parked_;
  RunQueue entrants_;  // parked for a place
  unsigned places_ = kPlaces;  // free ones
  bool closed_ = false;
  sync::Thread thread_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
