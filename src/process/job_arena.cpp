// SPDX-License-Identifier: MIT
#include "job_arena.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

int JobArena::map(std::size_t slots, std::size_t places) noexcept {
  const std::size_t bytes =
      InheritedPages::bytes_for<JobBoard>(1) + InheritedPages::bytes_for<ClaimWord>(places) +
      InheritedPages::bytes_for<JobSlot>(slots) + InheritedPages::bytes_for<JobPlace>(places);
  if (const int error = pages_.map(bytes); error != 0) return error;
  board_ = pages_.place<JobBoard>(1).data();
  words_ = pages_.place<ClaimWord>(places, 0U);
  slots_ = pages_.place<JobSlot>(slots);
  places_ = pages_.place<JobPlace>(places);
  return 0;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
