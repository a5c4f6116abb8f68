// SPDX-License-Identifier: MIT
//
// Which driver makes the calls of a request. One backend was asked for: that one. `automatic`: by
// rule at first, then by what was measured while it worked.
//
// Requests are grouped by kind: what they do, how large, durable or not, by path, by an open
// file or direct, and how many there are at once. For each kind the time is taken in rounds of
// requests that go the same way: the time in which at least one of the round is under way, by the
// wall clock, for each request or MiB. What comes first in a round is not timed: threads wake up,
// and requests of the round before are still under way.
//
// Now and then there is a pair of rounds: one goes the usual way, the next one another way. If that
// was faster twice in turn, it becomes the usual one; so a disturbance from outside does not
// decide. A round of a way that shows to be hopeless is cut short. A pair is short compared to the
// requests between two of them, which are not timed, and these double each time that the usual way
// wins: so trying costs some percent at first and nothing in the end. The caller's thread is a way
// of small requests that come one at a time: at least kAlone in turn came when nothing else was
// under way, and they take less than kShort. One in kAlone goes another way then, to see whether
// the caller would have sent a second one meanwhile.
//
// Whether there can be a ring is asked only where it may be used, or when choice() is asked.
// Concurrency: none of its own; the engine's mutex. Throws: the constructor; choice().
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/file/file_engine_options.hpp>
#include <memory>
#include <string>

#include "driver.hpp"
#include "file_task.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class FileChooser {
 public:
  FileChooser(FileHost& host, const FileEngineOptions& options);
  ~FileChooser() { close(); }
  FileChooser(const FileChooser&) = delete;
  FileChooser& operator=(const FileChooser&) = delete;

  // Gives the task its driver. `held`: how many requests there are, with this one.
  void choose(FileTask& task, std::size_t held) noexcept;
  void ended(FileTask& task) noexcept;
  bool runs_in_caller(const FileTask& task) const noexcept { return task.driver == caller_.get(); }
  FileChoice choice() const;
  // Once nothing runs.
  void close() noexcept;

 private:
  enum Way : std::uint8_t { by_caller, by_pool, by_ring };
  static constexpr std::size_t kWays = 3;
  static constexpr std::size_t kKinds = std::size_t{3} * 3 * 2 * 3 * 3;

  enum class Phase : std::uint8_t { usual, trial, rest };

  // What is known of a kind of requests.
  struct Kind {
    std::array<double, kWays> ns{};  // a request, or a MiB of large ones; 0: not measured
    Way usual = by_pool;
    bool known = false;  // `usual` was set
    double service_ns = 0;  // a request alone, smoothed
    std::uint32_t until_pair = 0;  // requests of this rest
    std::uint32_t gap = 0;  // ... of the next one
    std::uint32_t wins = 0;  // of the other way, in turn
    Phase phase = Phase::usual;
    // The round under way.
    bool runs = false;
    std::uint32_t round = 0;  // its number
    Way way = by_pool;
    std::uint32_t skip = 0;  // requests that are not timed
    std::uint32_t size = 0;  // requests in it, those not counted
    std::uint32_t begun = 0;
    std::uint32_t out = 0;
    std::uint32_t ended = 0;
    double units = 0;
    std::int64_t busy_ns = 0;
    std::int64_t busy_since = 0;
  };

  std::size_t kind_of(const FileTask& task, std::size_t held) const noexcept;
  std::uint64_t bytes_of(const FileRequest& request) const noexcept;
  Way by_rule(const FileTask& task, std::size_t kind) const noexcept;
  bool may_run_in_caller(const FileTask& task, const Kind& kind, std::size_t held) const noexcept;
  void begin_round(Kind& kind, bool is_large, std::size_t held) noexcept;
  void end_round(Kind& kind) noexcept;
  void rest(Kind& kind) noexcept;
  Way next_to_try(const Kind& kind) const noexcept;
  FileDriver* take_time(FileTask& task, Kind& kind, bool is_large, std::size_t held) noexcept;
  void time_is_taken(FileTask& task, Kind& kind, bool is_large) noexcept;
  FileDriver* driver_of(Way way) noexcept;
  FileDriver* fixed_driver() noexcept;
  void make_ring() noexcept;

  FileHost& host_;
  const FileEngineOptions options_;
  const FileBackend backend_;
  std::size_t width_;
  int ring_error_ = 0;  // why there is no ring; 0: not known, or there may be one
  std::unique_ptr<FileDriver> caller_;
  std::unique_ptr<FileDriver> threads_;
  std::unique_ptr<FileDriver> ring_;
  std::array<Kind, kKinds> kinds_{};
  std::size_t last_kind_ = kKinds;
  double whole_bytes_ = 4096;  // of files that are read whole, smoothed
  // Requests in turn that came when nothing was under way, though they could have come before.
  std::uint32_t alone_ = 0;
  std::uint32_t in_caller_ = 0;  // in turn
  bool last_was_async_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
