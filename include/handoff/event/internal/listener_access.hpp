// SPDX-License-Identifier: MIT
//
// The way from a listener to its handle and back, for lists and dispatchers. Not for: users.
#pragma once

#include <utility>

#include <handoff/config.hpp>
#include <handoff/event/internal/listeners.hpp>
#include <handoff/event/listener_handle.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct ListenerAccess {
  static ListenerHandle handle(ListenerRef listener) noexcept {
    return ListenerHandle(std::move(listener));
  }
  // Null: of none.
  static Listener* listener(const ListenerHandle& handle) noexcept {
    return handle.listener_.get();
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
