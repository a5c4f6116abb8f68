// SPDX-License-Identifier: MIT
//
// The finished blocks of a run, with their results, in an AppendLog: a run that begins again finds
// them and does the rest.
//
// Its first record says what it belongs to, and stands there before the directory has its name: so
// a log without one was cut off by somebody. Each other record is a range and its results. What is
// recorded is durable once the log's own thread has written it; flush() waits for that.
//
// Concurrency: one thread. Throws std::system_error, with nothing overwritten.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/file/append_log.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RankCheckpoint {
 public:
  struct Input {
    std::uint64_t count = 0;
    std::uint64_t bytes_per_index = 0;
    std::uint64_t digest = 0;
  };

  // Copies the results that it finds to their places in `results`.
  RankCheckpoint(const std::string& path, const Input& input, std::span<std::byte> results);

  // What is not there yet, in order.
  const std::vector<IndexRange>& left() const noexcept { return left_; }

  void record(IndexRange range, const std::byte* results);
  // False: not all is durable yet.
  bool flush(const Until& until);

 private:
  void check_first_record();
  void read(std::span<std::byte> results);

  const std::string path_;
  const Input input_;
  std::unique_ptr<AppendLog> log_;
  std::vector<IndexRange> left_;
  std::vector<std::byte> record_;
  std::optional<Future<AppendResult>> written_;  // the newest
};

}}}  // namespace handoff::HANDOFF_ABI::detail
