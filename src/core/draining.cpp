// SPDX-License-Identifier: MIT
//
// Which queue the calling thread drains: the place of that slot.
#include <handoff/core/internal/draining.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
HANDOFF_THREAD_SLOT_PLACE(const handoff::detail::Draining*, handoff::detail::Draining);
}}}  // namespace handoff::HANDOFF_ABI::sync
