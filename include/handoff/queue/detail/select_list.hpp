// SPDX-License-Identifier: MIT
//
// The threads that sleep until one of several channels has something: the part between Channel and
// select(). Not for users.
//
// A Selection is one select() on its thread's stack. While it sleeps it stands in the list of each
// of its channels, by a SelectNode each. A channel that changed fires one selection that has not
// been fired yet, so that one item wakes one sleeper at most, whichever of its channels it is.
// Protocol and proof: docs/design/channel.md.
#pragma once

#include <cstdint>

#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/sync/event_count.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>
#include <handoff/sync/mutex.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class Selection {
 public:
  // Between two sleeps, while in no list.
  void arm() noexcept {
    fired_.store(false, sync::order::relaxed);  // order: relaxed, nobody else knows of it now
  }

  // True for the thread that woke it.
  bool fire() noexcept {
    // order: relaxed, one flag's history decides; what led here is published by the list's mutex.
    if (fired_.exchange(true, sync::order::relaxed)) return false;
    wake_.notify_one();
    return true;
  }

  // Until it is fired.
  sync::Wakeup sleep(sync::Deadline deadline, const sync::StopToken& stop,
                     sync::Spin spin = sync::Spin::never, const char* cause = "wait") {
    // order: relaxed, as in fire(): leaving the lists follows, under their mutexes.
    return wake_.await([this] { return fired_.load(sync::order::relaxed); }, deadline, stop, spin,
                       cause);
  }

 private:
  sync::atomic<bool> fired_{false};
  sync::EventCount wake_;
};

struct SelectNode {
  Selection* selection = nullptr;
  sync::cell<SelectNode*> next;  // the links are the list's
  sync::cell<SelectNode*> previous;
};

// A channel's list: the longest sleeper first.
class SelectList {
 public:
  // By a channel that changed and then passed a seq_cst fence: wakes at most `most`.
  void notify(std::uint32_t most) noexcept {
    // order: relaxed, ordered by the caller's fence; partner: the fence in wait_for_any().
    if (size_.load(sync::order::relaxed) != 0) [[unlikely]]
      fire(most);
  }

  void add(SelectNode& node) noexcept;
  // After it nobody fires the selection through this node, or is about to.
  void remove(SelectNode& node) noexcept;

 private:
  template <class>
  friend struct Books;

  void fire(std::uint32_t most) noexcept;

  sync::Mutex mutex_;
  sync::atomic<std::uint32_t> size_{0};
  sync::cell<SelectNode*> first_;
  sync::cell<SelectNode*> last_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
