// SPDX-License-Identifier: MIT
#include "team_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

std::size_t arena_bytes(std::size_t slots, std::size_t blocks) noexcept {
  return InheritedPages::bytes_for<TeamBoard>(1) + InheritedPages::bytes_for<TeamSlot>(slots) +
         InheritedPages::bytes_for<ClaimWord>(TeamWords::most_arguments) +
         InheritedPages::bytes_for<ClaimWord>(blocks) +
         InheritedPages::bytes_for<ClaimWord>(ClaimTable::groups_for(blocks));
}

}  // namespace

int TeamArena::map(std::size_t slots, std::size_t blocks, TeamWaits waits,
                   bool with_file) noexcept {
  const std::size_t bytes = arena_bytes(slots, blocks);
  const int error = with_file ? pages_.map_file(bytes, file_) : pages_.map(bytes);
  if (error != 0) return error;
  board_ = pages_.place<TeamBoard>(1, waits).data();
  slots_ = pages_.place<TeamSlot>(slots);
  words_.arguments = pages_.place<ClaimWord>(TeamWords::most_arguments, 0U);
  words_.blocks = pages_.place<ClaimWord>(blocks, 0U);
  words_.ended = pages_.place<ClaimWord>(ClaimTable::groups_for(blocks), 0U);
  return 0;
}

int TeamArena::attach(int file, std::size_t slots, std::size_t blocks) noexcept {
  if (const int error = pages_.attach(file, arena_bytes(slots, blocks)); error != 0) return error;
  board_ = pages_.find<TeamBoard>(1).data();
  slots_ = pages_.find<TeamSlot>(slots);
  words_.arguments = pages_.find<ClaimWord>(TeamWords::most_arguments);
  words_.blocks = pages_.find<ClaimWord>(blocks);
  words_.ended = pages_.find<ClaimWord>(ClaimTable::groups_for(blocks));
  return 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
