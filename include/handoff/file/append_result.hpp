// SPDX-License-Identifier: MIT
//
// What became of a record that was appended to an AppendLog: its sequence number, or why it is not
// there.
//
//   handoff::AppendResult result = log.append("paid");
//   if (!result.ok()) report(result.failure().text());
//   std::uint64_t at = result.value();   // or throws std::system_error
//
// Concurrency: a value. Blocks: never. Allocates: the name of the file, when it failed.
// Exceptions: value() and check() of one that failed throw std::system_error; where exceptions are
//   off that is misuse.
#pragma once

#include <cstdint>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/file/file_result.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

class [[nodiscard("it says whether the record is there")]] AppendResult {
 public:
  // Says that the record is there, or why it is not.
  explicit AppendResult(std::uint64_t sequence) noexcept : sequence_(sequence) {}
  explicit AppendResult(FileFailure failure) noexcept : failure_(std::move(failure)) {}

  // Whether the record is there.
  [[nodiscard]] bool ok() const noexcept { return failure_.error == 0; }

  // The record's sequence number; the first record of a log is 1. Throws std::system_error.
  [[nodiscard]] std::uint64_t value() const {
    check();
    return sequence_;
  }
  // Throws std::system_error if it failed.
  void check() const {
    if (!ok()) raise(failure_.exception());
  }
  // Why it failed; else error is 0. EMSGSIZE: longer than the log takes; ECANCELED: closed, or
  // the wait was stopped; ETIME: the wait was over before.
  [[nodiscard]] const FileFailure& failure() const noexcept { return failure_; }

 private:
  std::uint64_t sequence_ = 0;
  FileFailure failure_;
};

}}  // namespace handoff::HANDOFF_ABI
