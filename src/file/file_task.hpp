// SPDX-License-Identifier: MIT
//
// A request as the engine has it: the run, where its result goes, and its places in the engine's
// lists. One allocation.
#pragma once

#include <array>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/core/internal/promise.hpp>
#include <handoff/core/internal/raw_box.hpp>
#include <handoff/file/file_engine.hpp>
#include <utility>

#include "../sync/internal/seen_sanitizer.hpp"
#include "driver.hpp"
#include "file_run.hpp"
#include "path_order.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// All that were accepted and whose results have not been delivered, in the order of acceptance.
struct LiveNode {
  LiveNode* before = nullptr;
  LiveNode* behind = nullptr;
  std::uint64_t number = 0;
};

class FileTask final : public OwedResult<FileResult>, public FileRun, public LiveNode {
 public:
  FileTask(FileServices& services, FileRequest&& request) : FileRun(services, std::move(request)) {}

  static FileTask* make(FileServices& services, FileRequest&& request) {
    RawBox<FileTask> box;
    return box.make(services, std::move(request));
  }
  void destroy() noexcept override {
    sync::tell_taken(static_cast<FutureState*>(this));
    RawBox<FileTask>::destroy(this);
  }
  // The engine is there as long as the result is not.
  bool bring(Workplace& here, bool sleep) noexcept override {
    if (sleep) return false;
    {
      const sync::SeenLock lock(FileDriver::helping());
      if (is_ready() || !driver->may_help()) return is_ready();
    }
    driver->drive_queued(*this, here);
    return is_ready();
  }

  bool ask_to_stop(FutureState::Asking& asking) noexcept override {
    asking.asked |= !is_ready() && stop();
    return true;
  }

  UniqueFunction<void(FileResult&&)> callback;  // empty: a Future has the result
  std::array<PathOrder::Place, 2> places;
  unsigned place_count = 0;
  unsigned waits_for = 0;      // places that are not its yet
  bool runs_here = false;      // on the thread that submits: the engine was full
  bool has_place = false;      // of FilePace's
  std::uint64_t reserved = 0;  // bytes in flight
  std::uint64_t reserved_ahead = 0;  // ... of these, what the run has not asked for yet
  std::uint64_t wanted = 0;    // ... or of its share, while it is parked for them
};

}}}  // namespace handoff::HANDOFF_ABI::detail
