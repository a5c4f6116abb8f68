// SPDX-License-Identifier: MIT
//
// The slots of the calling thread: its places, how deep it is, and what is told when it blocks.
#include <handoff/core/internal/inside.hpp>
#include <handoff/core/internal/workplace.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace sync {
HANDOFF_THREAD_SLOT_PLACE(handoff::detail::Workplace*, handoff::detail::Workplace);
HANDOFF_THREAD_SLOT_PLACE(handoff::detail::Inside*, handoff::detail::Inside);
}}}  // namespace handoff::HANDOFF_ABI::sync

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {
namespace {

template <class Tell>
void each_with_a_task(const FutureHost* but, Tell&& tell) noexcept {
  for (Workplace* place = workplace(); place != nullptr; place = place->outer) {
    if (place->depth != 0 && &place->host != but) tell(*place);
  }
}

}  // namespace

Lending::Lending(const FutureHost* but) noexcept : but_(but) {
  (void)Inside::Pause();  // calls what was put off
  each_with_a_task(but_, [](Workplace& place) noexcept { place.begin_blocking(); });
}
Lending::~Lending() {
  each_with_a_task(but_, [](Workplace& place) noexcept { place.end_blocking(); });
}

}}}  // namespace handoff::HANDOFF_ABI::detail
