// SPDX-License-Identifier: MIT
//
// Says that work in another process failed: its process ended as often as it had tries, or the work
// threw there, of which only the text comes over.
//
// For: what ProcessPool's Futures have, and what ProcessTeam::run() throws. Not for: work that did
//   not begin (NotRun), calls of the system that failed (std::system_error).
// Concurrency: a value. Blocks: never. Allocates: the text, when it is made.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// How a worker ended.
struct WorkerEnd {
  enum class Kind : std::uint8_t {
    unknown,  // it is gone; why is not known, because the fork server went with it
    exited,  // its kernel called exit() with `code`
    signalled,  // by `signal`
    overdue,  // killed: longer than the `limit` of the options at a piece of work
    alive,  // it lives: the work threw
  };

  Kind kind = Kind::unknown;  // which of these
  int code = 0;  // 0 .. 255
  int signal = 0;  // the number of the signal

  // "exited with 3", "killed by signal 11", "killed at the limit", "lives", "ended in an unknown
  // way".
  [[nodiscard]] std::string text() const;
};

// Work that was given up.
struct LostWork {
  IndexRange indices = {};  // a team's block; a pool's job has none
  WorkerEnd end = {};  // of the last worker that had it
  std::uint32_t attempts = 0;  // how many workers it ended
};

class WorkFailed : public std::runtime_error {
 public:
  // The work threw: `what` is its text.
  explicit WorkFailed(const std::string& what)
      : WorkFailed(what, {.end = {.kind = WorkerEnd::Kind::alive}}) {}
  WorkFailed(const std::string& what, const LostWork& lost)
      : std::runtime_error(what), lost_(lost) {}

  // How the work ended: `lost().end.kind` says whether it threw or ended its workers. If a
  // team gave up several blocks, this is the first; ProcessTeam::lost() has all.
  [[nodiscard]] const LostWork& lost() const noexcept { return lost_; }

 private:
  LostWork lost_;
};

}}  // namespace handoff::HANDOFF_ABI
