// SPDX-License-Identifier: MIT
//
// One accepted request on its way: a machine that says which system call comes next. The same
// machine runs under every driver, so that all backends give the same results.
//
//   run.set_window(1);                                  // how many calls may be out at once
//   for (FileCall call;;) {
//     switch (run.next(call)) {
//       case FileRun::Step::issue: run.completed(call, perform(call, tap)); continue;
//       case FileRun::Step::busy: ...                   // only with several calls out
//       case FileRun::Step::parked: return;             // do not touch it any more
//       case FileRun::Step::ended: return host.ended(run);
//     }
//   }
//
// Concurrency: next(), completed() and set_window() by one thread at a time, the driver's. After
//   `parked` the run belongs to what it waits for (room, a sync, its share of the device), which
//   gives it to its driver again by start(), perhaps before next() has returned.
// Calls that are out may complete in any order. What a call points to (path, pieces, attributes)
// stays valid until completed() for it has been called; `call` itself may be copied.
// Rules of retrying, for all operations: EINTR is made again; EAGAIN too, kMostAgain times in turn;
// a short transfer goes on behind it; 0 bytes written count as EIO. All else is final.
// Labelled invariants: docs/design/file_engine.md.
#pragma once

#include <sys/stat.h>
#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/file_request.hpp>
#include <handoff/file/file_result.hpp>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "file_call.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FileDriver;
class FileRun;

// What a run asks of its engine.
class FileServices {
 public:
  virtual FileTap* tap() const noexcept = 0;
  // The directory that no path leaves; AT_FDCWD: none.
  virtual int beneath() const noexcept = 0;
  // 0, or the errno with which what has not begun ends: ECANCELED, ETIME.
  virtual int whether_to_begin() const noexcept = 0;
  // Room for bytes in flight. False: parked until there is; then it has it.
  virtual bool reserve(FileRun& run, std::uint64_t bytes) noexcept = 0;
  // A share of the device. False: not yet; parked until then if `park`, and then it has it.
  virtual bool spend(FileRun& run, std::uint64_t bytes, bool park) noexcept = 0;
  // One fsync for all that wait (sync_groups.hpp). True: this run makes it, by begin_sync() and
  // end_sync(). False: parked until its result is there, or until this run has to make one.
  virtual bool join_sync(FileRun& run) noexcept = 0;
  // Returns the descriptor whose sync covers all that wait.
  virtual int begin_sync(FileRun& run) noexcept = 0;
  virtual void end_sync(FileRun& run, int error) noexcept = 0;

 protected:
  ~FileServices() = default;
};

class FileRun {
 public:
  enum class Step : std::uint8_t {
    issue,  // make this call
    busy,  // nothing more until a call that is out has completed
    parked,  // nothing is out; somebody will start it again. It may be running already
    ended,  // nothing is out; the result is there
  };
  static constexpr unsigned kMostOut = 16;  // calls at once
  static constexpr std::uint64_t kPiece = std::uint64_t{1} << 20;  // bytes of a call
  static constexpr unsigned kMostAgain = 1000;  // EAGAIN in turn

  FileRun(FileServices& services, FileRequest&& request) noexcept;
  FileRun(const FileRun&) = delete;
  FileRun& operator=(const FileRun&) = delete;

  // How many calls of a transfer the driver wants at once, 1 to kMostOut. Before each next(), if
  // it changes.
  void set_window(unsigned calls) noexcept { window_ = calls; }
  Step next(FileCall& call) noexcept;
  void completed(const FileCall& call, long result) noexcept;

  // The driver's, while the run is its.
  FileRun* queued_behind = nullptr;
  std::uint64_t driver_word = 0;  // whatever it likes
  // Which one; set by the engine.
  FileDriver* driver = nullptr;

 private:
  unsigned window_ = 1;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
