// SPDX-License-Identifier: MIT
//
// The way of commands to their backends, and what buckets of all kinds have in common. Not for
// users.
//
// The walk over the order knows the packets that come soon and asks for their memory: they lie
// wherever their recorders were, so the processor cannot guess.
// Concurrency: dispatch_items() by several threads, each with a range and a progress of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <new>
#include <span>
#include <string_view>
#include <utility>

#include <handoff/command/command_options.hpp>
#include <handoff/command/command_statistics.hpp>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/command/detail/command_type.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/probe/internal/slice.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/prefetch.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What one walk has done.
struct alignas(sync::destructive_span) DispatchProgress {
  std::uint64_t done = 0;
  std::uint64_t failed = 0;
  std::uint64_t key_changes = 0;
};

// Filters: called before each command.
struct NoKeyChange {
  template <class Key, class B>
  void operator()(Key /*key*/, B& /*backend*/, std::uint64_t& /*changes*/) const noexcept {}
};

template <class Key, class F>
struct KeyFilter {
  template <class B>
  void operator()(Key key, B& backend, std::uint64_t& changes) {
    if (begun && ((key ^ before) & mask) == 0) return;
    begun = true;
    before = key;
    ++changes;
    detail::call_and_drop(change, key, backend);
  }

  Key mask;
  F& change;
  Key before = 0;
  bool begun = false;
};

// The function for one of the backends.
template <std::size_t kBackends, std::size_t kIndex>
struct CommandDispatcher {
  static void call(const CommandPacket& packet, void* backend) {
    const auto& type = static_cast<const CommandTypeFor<kBackends>&>(packet.type());
    type.dispatch[kIndex](packet.start() + type.offset, backend);
  }
};

template <class Dispatcher, class Key, class B, class Filter>
void dispatch_items(CommandOrderView<Key> commands, IndexRange range, void* to, B& backend,
                    Filter& filter, DispatchProgress& progress) {
  constexpr std::size_t ahead = 8;
  const probe::Slice slice(probe::Kind::command, "dispatch");
  struct Counts {
    explicit Counts(DispatchProgress& told) noexcept : out(told) {}
    ~Counts() { out = {.done = done, .failed = inside, .key_changes = key_changes}; }
    Counts(const Counts&) = delete;
    Counts& operator=(const Counts&) = delete;

    DispatchProgress& out;
    std::uint64_t done = 0;
    std::uint64_t inside = 0;  // 1 during a dispatch, so after one that threw
    std::uint64_t key_changes = 0;
  } counts(progress);

  const auto prefetch = [&](std::size_t i) {
    const std::byte* const start = commands.address(commands.ref(i));
    sync::prefetch_to_read(start);
    sync::prefetch_to_read(start + sync::cache_line);
  };
  for (std::size_t i = range.first; i < detail::min(range.first + ahead, range.last); ++i) {
    prefetch(i);
  }
  for (std::size_t i = range.first; i < range.last; ++i) {
    if (i + ahead < range.last) prefetch(i + ahead);
    filter(commands.key(i), backend, counts.key_changes);
    for (CommandPacket packet(commands.address(commands.ref(i)));;) {
      const CommandRef next = packet.next();
      counts.inside = 1;
      Dispatcher::call(packet, to);
      counts.inside = 0;
      ++counts.done;
      if (next == 0) break;
      packet = CommandPacket(commands.address(next));
    }
  }
}

template <class Dispatcher, class Key>
void dispatch_state(const CommandNode& state, const CommandOrder<Key>& commands, void* to) {
  for_each_entry<Key>(state, [&](const CommandEntry<Key>& entry) {
    Dispatcher::call(CommandPacket(commands.address(entry.ref)), to);
  });
}

// Folds neighbours of one type that stand alone; the rest moves up, also behind one at which the
// function threw. Counts in `folded` what others have taken in.
template <class C, class Key, class Fold>
void fold_neighbours(CommandOrder<Key>& commands, const CommandType& type, Fold& fold,
                     std::size_t& folded) {
  struct Gap {
    explicit Gap(CommandOrder<Key>& shortened) noexcept : commands(shortened) {}
    ~Gap() {
      while (looked_at < commands.size()) keep();
      commands.shorten(kept);
    }
    Gap(const Gap&) = delete;
    Gap& operator=(const Gap&) = delete;
    void keep() noexcept { commands.move_up(kept++, looked_at++); }

    CommandOrder<Key>& commands;
    std::size_t kept = 0;
    std::size_t looked_at = 0;
  } gap(commands);

  const auto alone = [&](CommandRef ref) -> C* {
    const CommandPacket packet(commands.address(ref));
    if (&packet.type() != &type || packet.next() != 0) return nullptr;
    return std::launder(reinterpret_cast<C*>(packet.start() + kCommandOffset<C>));
  };
  C* previous = nullptr;
  while (gap.looked_at < commands.size()) {
    C* const next = alone(commands.ref(gap.looked_at));
    if (previous != nullptr && next != nullptr &&
        static_cast<bool>(detail::invoke(fold, *previous, std::as_const(*next)))) {
      ++gap.looked_at;
      ++folded;
      continue;
    }
    gap.keep();
    previous = next;
  }
}

// What the type's name is.
std::string_view name_of(const CommandPacket& packet) noexcept;

// What a bucket is besides its types.
class CommandBucketBase {
 protected:
  CommandBucketBase(Frame* frame, const CommandBucketOptions& options, std::size_t entry_bytes);
  ~CommandBucketBase() = default;

  void comes_after(const CommandBucketBase& other);
  // Misuse if one that this comes after was not dispatched since.
  void check_before() const;
  std::span<DispatchProgress> progress_of(std::size_t count);
  CommandStatistics figures() const noexcept;

  // How many dispatches went through.
  std::uint64_t dispatches() const noexcept {
    // order: acquire pairs with the release in Settling: what that dispatch did comes before.
    return dispatches_.load(sync::order::acquire);
  }

  // Tells the books what a dispatch came to, also if it throws.
  class Settling;

  CommandStore store_;
  std::uint64_t arranged_ = 0;  // which state of the recording is in the order
  std::uint64_t sorted_in_ = 0;  // the recording that sort() was called for
  bool sorted_ = false;          // the order is by key
  std::size_t folded_ = 0;       // commands that are part of others
  std::uint64_t folded_in_ = 0;  // the recording that they are of

 private:
  template <class>
  friend struct Books;

  static constexpr std::size_t kBeforeMost = 16;
  struct Before {
    const CommandBucketBase* bucket = nullptr;
    std::uint64_t dispatches = 0;  // when it was declared, less this one's
  };

  std::array<Before, kBeforeMost> before_{};
  std::size_t before_count_ = 0;
  CommandBuffer progress_room_;
  std::uint64_t recording_ = 0;  // of the figures below
  std::uint64_t dispatches_of_recording_ = 0;
  std::uint64_t key_changes_ = 0;
  sync::atomic<std::uint64_t> dispatches_{0};
};

class CommandBucketBase::Settling {
 public:
  Settling(CommandBucketBase& bucket, std::span<const DispatchProgress> progress) noexcept
      : bucket_(bucket), progress_(progress) {}
  ~Settling();
  Settling(const Settling&) = delete;
  Settling& operator=(const Settling&) = delete;

  // All went through: how many commands were dispatched.
  std::size_t succeeded() noexcept;

 private:
  CommandBucketBase& bucket_;
  const std::span<const DispatchProgress> progress_;
  bool whole_ = false;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
