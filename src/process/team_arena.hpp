// SPDX-License-Identifier: MIT
//
// The memory that a team's processes share: the board, the words, and what each slot says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <span>

#include "inherited_pages.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TeamArena {
 public:
  // 0, or the errno. All pages are there afterwards. With a file, other programs can attach.
  int map(std::size_t slots, std::size_t blocks, TeamWaits waits, bool with_file) noexcept;
  // By such a program: the same sizes, and file() of the process that has mapped it.
  int attach(int file, std::size_t slots, std::size_t blocks) noexcept;
  // -1: without.
  int file() const noexcept { return file_.get(); }

  TeamBoard& board() const noexcept { return *board_; }
  const TeamWords& words() const noexcept { return words_; }
  TeamSlot& slot(std::size_t at) const noexcept { return slots_[at]; }

 private:
  InheritedPages pages_;
  Descriptor file_;
  TeamBoard* board_ = nullptr;
  TeamWords words_;
  std::span<TeamSlot> slots_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
