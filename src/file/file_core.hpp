// SPDX-License-Identifier: MIT
//
// The core of a FileEngine: it admits requests, begins them in order, limits the bytes under way,
// gives each request its driver, and counts the outcomes. Labelled invariants and the way of a
// request: docs/design/file_engine.md.
#pragma once

#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/file_engine.hpp>
#include <handoff/sync/clock.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/fork.hpp>
#include <handoff/sync/mutex.hpp>
#include <handoff/sync/stop_token.hpp>
#include <memory>
#include <optional>
#include <string>

#include "driver.hpp"
#include "file_chooser.hpp"
#include "file_run.hpp"
#include "file_task.hpp"
#include "pace.hpp"
#include "path_order.hpp"
#include "run_queue.hpp"
#include "sync_groups.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FileCore final : public FileServices, public FileHost {
 public:
  explicit FileCore(FileEngineOptions&& options);
  ~FileCore();

  Future<FileResult> submit(FileRequest&& request);
  Status post(FileRequest& request, FileEngine::Callback& callback, const Until& until,
              bool may_wait);
  Status wait(const Until& until);
  Tally close(Closing how);
  Tally tally() const noexcept;
  std::uint64_t refused() const noexcept;
  FileChoice choice() const;
  // Not in a fork of the process that made it.
  bool is_here() const noexcept { return origin_.is_here(); }

  // FileHost.
  void ended(FileRun& run) noexcept override;

  // FileServices.
  FileTap* tap() const noexcept override { return options_.tap; }
  int beneath() const noexcept override { return beneath_; }
  int whether_to_begin() const noexcept override;
  bool reserve(FileRun& run, std::uint64_t bytes) noexcept override;
  bool spend(FileRun& run, std::uint64_t bytes, bool park) noexcept override;
  bool join_sync(FileRun& run) noexcept override { return syncs_.join(run); }
  int begin_sync(FileRun& run) noexcept override { return syncs_.begin(run); }
  void end_sync(FileRun& run, int error) noexcept override { syncs_.end(run, error); }

 private:
  void open_beneath();
  Status accept(FileTask& task, const Until& until, bool may_wait);
  Status find_room(FileTask& task, const Until& until, bool may_wait);
  sync::Wakeup wait_for_room(const Until& until);
  bool has_room() const noexcept { return held_ < options_.capacity; }
  void take_places(FileTask& task);
  void launch(FileTask& task) noexcept;
  bool enters(FileTask& task) noexcept;
  void count(FileTask& task) noexcept;
  void leave_places(FileTask& task, RunQueue& begins) noexcept;
  bool fit(std::uint64_t bytes) const noexcept;
  void reserve_ahead(FileTask& task) noexcept;
  void free_bytes(FileTask& task, RunQueue& begins) noexcept;
  void deliver(FileTask& task) noexcept;
  bool is_over(std::uint64_t number) noexcept;
  sync::Wakeup watch_until_over(std::uint64_t number, sync::Deadline deadline,
                                const sync::StopToken& stop) noexcept;

  const sync::Origin origin_ = sync::Origin::here();
  FileEngineOptions options_;
  int beneath_ = AT_FDCWD;
  SyncGroups syncs_;
  std::optional<FilePace> pace_;
  sync::EventCount room_;  // there may be room, or it is closed
  sync::EventCount over_;  // a result was delivered
  // A request may begin: ns of the clock; never again, or always. Set once, by close().
  sync::atomic<std::int64_t> begin_until_;

  mutable sync::Mutex mutex_;  // for what follows
  PathOrder order_;
  std::size_t held_ = 0;           // accepted and not ended
  std::size_t want_room_ = 0;      // threads that wait for room_
  std::size_t watch_ = 0;          // ... for over_
  std::uint64_t bytes_ = 0;        // in flight
  RunQueue wants_bytes_;           // parked for them
  LiveNode live_;                  // a ring; its number is the last one given
  Tally tally_;
  std::uint64_t refused_ = 0;
  FileFailure first_failure_;
  bool closed_ = false;
  bool drivers_ended_ = false;

  FileChooser chooser_;  // last: its drivers end first
};

}}}  // namespace handoff::HANDOFF_ABI::detail
