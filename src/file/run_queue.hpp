// SPDX-License-Identifier: MIT
//
// Runs, first come first served, linked through FileRun::queued_behind.
// Concurrency: none of its own. Allocates, throws: never.
#pragma once

#include <cstddef>
#include <handoff/config.hpp>

#include "file_run.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class RunQueue {
 public:
  [[nodiscard]] bool empty() const noexcept { return first_ == nullptr; }
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  void push(FileRun& run) noexcept {
    run.queued_behind = nullptr;
    (first_ == nullptr ? first_ : last_->queued_behind) = &run;
    last_ = &run;
    ++size_;
  }
  // Null: none.
  [[nodiscard]] FileRun* first() const noexcept { return first_; }
  FileRun* pop() noexcept {
    FileRun* const run = first_;
    if (run != nullptr) {
      first_ = run->queued_behind;
      --size_;
    }
    return run;
  }

 private:
  FileRun* first_ = nullptr;
  FileRun* last_ = nullptr;
  std::size_t size_ = 0;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
