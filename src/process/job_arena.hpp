// SPDX-License-Identifier: MIT
//
// The memory that a pool's processes share: the board, a word and room for each job, and which
// workers ended because they were to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/job_board.hpp>
#include <handoff/sync/clock.hpp>
#include <span>

#include "inherited_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Plain bytes: the word of the place says whose they are (JB-1).
struct JobPlace {
  static constexpr std::size_t most_bytes = 4096;

  std::uint64_t call = 0;  // the address of the JobCall, the same in all processes of the pool
  sync::Deadline deadline = sync::no_deadline;  // by the one clock of all processes
  std::uint32_t is_late = 0;  // the worker that claimed it found that the deadline has passed
  alignas(64) std::byte arguments[most_bytes] = {};
  alignas(64) std::byte result[most_bytes] = {};  // or the text of an exception, up to a zero
};

class JobArena {
 public:
  // 0, or the errno. All pages are there afterwards.
  int map(std::size_t slots, std::size_t places) noexcept;

  JobBoard& board() const noexcept { return *board_; }
  JobBoard::Words words() const noexcept { return words_; }
  JobPlace& place(std::size_t at) const noexcept { return places_[at]; }

  JobSlot& slot(std::size_t at) const noexcept { return slots_[at]; }

 private:
  InheritedPages pages_;
  JobBoard* board_ = nullptr;
  JobBoard::Words words_;
  std::span<JobSlot> slots_;
  std::span<JobPlace> places_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
