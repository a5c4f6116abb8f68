// SPDX-License-Identifier: MIT
//
// Groups of listeners: the end of all of them, and room for more.
#include <algorithm>
#include <handoff/event/internal/listener_access.hpp>
#include <handoff/event/listener_handle.hpp>
#include <handoff/memory/internal/epochs.hpp>
#include <utility>
#include <vector>

#include "../sync/internal/seen_sanitizer.hpp"

namespace handoff { inline namespace HANDOFF_ABI {

// All are removed before any is waited for: none of them is called while others end.
void ListenerGroup::clear() noexcept {
  while (!listeners_.empty()) {  // what a function owns may add more at its end
    const std::vector<ListenerHandle> removed = std::exchange(listeners_, {});
    std::for_each(removed.rbegin(), removed.rend(), [](const auto& each) { each.remove(); });
    const detail::ListenerList* awaited = nullptr;
    for (const ListenerHandle& each : removed) {
      const detail::Listener* const listener = detail::ListenerAccess::listener(each);
      if (listener == nullptr) continue;
      if (&listener->list() != awaited) detail::await_passes(listener->seen_by());
      awaited = &listener->list();
      sync::tell_taken(sync::end_of(listener));
    }
  }
}

// Forgets those that were removed by others or by themselves, once nobody can be in their calls.
// Asked in this order, or a pass could begin the last call of one in between.
void ListenerGroup::make_room() {
  std::erase_if(listeners_, [](const ListenerHandle& each) {
    return !each.attached() && detail::nobody_passes();
  });
  // Else it would look at all of them again for the next one.
  if (listeners_.size() > listeners_.capacity() / 2) listeners_.reserve(2 * listeners_.capacity());
}

}}  // namespace handoff::HANDOFF_ABI
