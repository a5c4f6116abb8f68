// SPDX-License-Identifier: MIT
//
// One event with its key: what EventQueue::peek() and take() return, and what enqueue_batch()
// takes.
//
//   handoff::QueuedEvent<int, const std::string&> event(std::in_place, 7, "hello");
//
// It stores its arguments as values, whatever the signature says: a `const std::string&` becomes a
// std::string.
#pragma once

#include <tuple>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

template <class Key, class... Args>
struct QueuedEvent {
  // From a key, and a value for each argument.
  template <class K, class... A>
  explicit QueuedEvent(std::in_place_t, K&& with_key, A&&... with)
      : key(std::forward<K>(with_key)), arguments(std::forward<A>(with)...) {}

  Key key;  // whose listeners it is for
  // One for each parameter of the signature.
  std::tuple<std::decay_t<Args>...> arguments;
};

}}  // namespace handoff::HANDOFF_ABI
