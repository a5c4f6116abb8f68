// SPDX-License-Identifier: MIT
//
// The memory that a team's processes share: the board, the words, and what each slot says.
//
// Mapped once, without a descriptor or a name, and inherited by each fork at the same address. It
// goes with the last process that has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <handoff/config.hpp>
#include <handoff/process/detail/team_board.hpp>
#include <span>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class TeamArena {
 public:
  TeamArena() noexcept = default;
  ~TeamArena();
  TeamArena(const TeamArena&) = delete;
  TeamArena& operator=(const TeamArena&) = delete;

  // 0, or the errno. All pages are there afterwards.
  int map(std::size_t slots, std::size_t blocks) noexcept;

  TeamBoard& board() const noexcept { return *board_; }
  const TeamWords& words() const noexcept { return words_; }
  TeamSlot& slot(std::size_t at) const noexcept { return slots_[at]; }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  TeamBoard* board_ = nullptr;
  TeamWords words_;
  std::span<TeamSlot> slots_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
