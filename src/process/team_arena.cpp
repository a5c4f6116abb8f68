// SPDX-License-Identifier: MIT
#include "team_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

int TeamArena::map(std::size_t slots, std::size_t blocks) noexcept {
  const std::size_t bytes = InheritedPages::bytes_for<TeamBoard>(1) +
                            InheritedPages::bytes_for<TeamSlot>(slots) +
                            InheritedPages::bytes_for<ClaimWord>(TeamWords::most_arguments) +
                            InheritedPages::bytes_for<ClaimWord>(blocks) +
                            InheritedPages::bytes_for<ClaimWord>(ClaimTable::groups_for(blocks));
  if (const int error = pages_.map(bytes); error != 0) return error;
  board_ = pages_.place<TeamBoard>(1).data();
  slots_ = pages_.place<TeamSlot>(slots);
  words_.arguments = pages_.place<ClaimWord>(TeamWords::most_arguments, 0U);
  words_.blocks = pages_.place<ClaimWord>(blocks, 0U);
  words_.ended = pages_.place<ClaimWord>(ClaimTable::groups_for(blocks), 0U);
  return 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
