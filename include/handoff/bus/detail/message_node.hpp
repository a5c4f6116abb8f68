// SPDX-License-Identifier: MIT
//
// What workers know of a message without its type, and what they ask of the code that knows the
// type. Not for users.
#pragma once

#include <cstddef>
#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// One message that was accepted. It belongs to one thread at a time: the one that publishes it, the
// one that has the lock of its key, the one that runs it.
struct MessageNode {
  enum class Home : std::uint8_t {
    cell,  // of the workers' own; the message lies behind the node
    heap,  // allocated for this one message
    caller,  // on the stack of a caller, which waits
  };

  void* message = nullptr;
  std::uint32_t type = 0;
  Home home = Home::cell;
  bool keyed = false;
  std::uint64_t key = 0;

  // The key order uses these (src/bus/key_order.hpp).
  MessageNode* next = nullptr;  // the one behind it
  MessageNode* waiting_first = nullptr;
  MessageNode* waiting_last = nullptr;
  MessageNode* next_key = nullptr;

  // The list of free cells uses these (src/bus/message_cells.hpp).
  sync::atomic<std::uint32_t> next_free{0};
  std::uint32_t number = 0;  // which cell this is; from 1 on
};

struct MessageOps {
  // Calls the handler, which may throw.
  void (*handle)(const void* handlers, const MessageNode& node);
  void (*destroy)(const MessageNode& node) noexcept;
  const char* (*name)(std::uint32_t type) noexcept;
  std::size_t bytes;  // of the largest message
  std::size_t alignment;  // of the one that needs most
  bool keyed;  // whether messages of some type have keys
};

}}}  // namespace handoff::HANDOFF_ABI::detail
