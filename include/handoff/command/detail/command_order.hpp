// SPDX-License-Identifier: MIT
//
// The order of a recording: its keys and references, first by recorder and sequence, then sorted.
// Not for users.
//
// Only keys and references move, never commands. The sort is stable, so equal keys keep the order
// in which they were gathered, and the result depends on nothing else than the recording. It takes
// the cheapest of several ways (CommandSort): nothing, where all is in order; merges, where it
// consists of a few stretches that are; insertion, for a few; and digits of those bits alone in
// which keys differ. Several threads first divide many items by their highest digit, each its part
// of them, and then each sorts a range by itself. What a pass costs is the memory that it moves, so
// a long key is kept as its two windows of bits that differ, if these have 32 bits together; if
// not, its upper 32 bits are sorted, and the order refers to entries by their numbers.
// Concurrency: of one thread, which may call others. Allocates: as much as the largest recording
// needed so far; std::bad_alloc leaves the order as it was, or empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include <handoff/command/command_statistics.hpp>
#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/parallel_for.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What recorders write for each command with a key.
template <class Key>
struct CommandEntry {
  Key key;
  CommandRef ref;
};

// Where part `part` of `parts` begins, of `count` things.
constexpr std::size_t part_begin(std::size_t part, std::size_t parts, std::size_t count) noexcept {
  return count / parts * part + detail::min(part, count % parts);
}

// visitor(entry) for each of a recorder's entries, as it added them.
template <class Key, class Visitor>
void for_each_entry(const CommandNode& node, const Visitor& visitor) {
  using Entry = CommandEntry<Key>;
  for (const CommandRun* run = &node.first; run != nullptr; run = run->next) {
    const std::byte* at = run->top;
    for (std::size_t left = run->count; left != 0; --left) {
      at -= sizeof(Entry);
      visitor(*std::launder(reinterpret_cast<const Entry*>(at)));
    }
  }
}

// What is sorted: of a key what fits, and where the rest is.
using CommandItem = CommandEntry<std::uint32_t>;

// Some parts of a work on whatever runs loops; by the caller alone, where nothing does.
class PartsRun {
 public:
  PartsRun() noexcept = default;
  template <class E>
  static PartsRun on(E& executor) {
    static_assert(RunsLoops<E>,
                  "sorting and dispatching run on a ThreadTeam, a ThreadPool, or another Bulk or "
                  "Executor");
    PartsRun run;
    run.executor_ = &executor;
    run.width_ = detail::max<std::size_t>(executor.width(), 1);
    run.run_ = [](void* where, std::size_t parts, BlockCall call, const void* work) {
      handoff::parallel_for(*static_cast<E*>(where), std::size_t{0}, parts,
                            [=](IndexRange range) { call(work, range); });
    };
    return run;
  }

  std::size_t width() const noexcept { return width_; }

  // body(part), for each part once.
  template <class Body>
  void operator()(std::size_t parts, const Body& body) const {
    const auto range = [&](IndexRange some) {
      for (const std::size_t part : some) body(part);
    };
    if (run_ == nullptr || parts <= 1) return range(IndexRange{0, parts});
    run_(executor_, parts, &call_block_body<decltype(range)>, &range);
  }

 private:
  void* executor_ = nullptr;
  std::size_t width_ = 1;
  void (*run_)(void* where, std::size_t parts, BlockCall call, const void* work) = nullptr;
};

// Room that only grows.
class CommandBuffer {
 public:
  CommandBuffer() noexcept = default;
  ~CommandBuffer();
  CommandBuffer(const CommandBuffer&) = delete;
  CommandBuffer& operator=(const CommandBuffer&) = delete;

  // Room for `count` of them; what was there is gone if it had to grow. Throws std::bad_alloc.
  template <class T>
  T* room_for(std::size_t count) {
    grow(count, sizeof(T));
    return static_cast<T*>(memory_);
  }

 private:
  void grow(std::size_t count, std::size_t each);
  void free() noexcept;

  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

// Two windows of a key's bits, glued to 32 bits at most, and what all keys have in the others. The
// order of keys that differ nowhere else is that of their windows.
class KeyWindows {
 public:
  // The lowest 32 bits.
  constexpr KeyWindows() noexcept = default;
  // Takes bits that fit().
  explicit KeyWindows(std::uint64_t differing) noexcept;

  static bool fit(std::uint64_t differing) noexcept;
  // The upper 32 bits, of what does not fit.
  static KeyWindows upper(std::uint64_t differing) noexcept;
  bool cover(std::uint64_t differing) const noexcept { return (differing & ~bits()) == 0; }
  // What lies below the windows.
  unsigned shift() const noexcept { return low_shift_; }
  void set_rest(std::uint64_t common) noexcept { rest_ = common & ~bits(); }

  std::uint32_t narrow(std::uint64_t key) const noexcept {
    return static_cast<std::uint32_t>((key >> low_shift_ & low_mask_) |
                                      (key >> high_shift_ & high_mask_) << low_bits_);
  }
  std::uint64_t widen(std::uint32_t narrow) const noexcept {
    const std::uint64_t glued = narrow;
    return rest_ | (glued & low_mask_) << low_shift_ | glued >> low_bits_ << high_shift_;
  }

 private:
  std::uint64_t bits() const noexcept {
    return low_mask_ << low_shift_ | high_mask_ << high_shift_;
  }

  std::uint64_t low_mask_ = 0xffffffff;
  std::uint64_t high_mask_ = 0;
  std::uint64_t rest_ = 0;
  unsigned low_shift_ = 0;
  unsigned high_shift_ = 0;
  unsigned low_bits_ = 32;
};

// An order to be read: by value, so that a walk that calls unknown functions keeps it in registers.
template <class Key>
struct CommandOrderView {
  using Entry = CommandEntry<std::uint64_t>;

  const CommandItem* items = nullptr;
  const Entry* entries = nullptr;  // where keys differ in too many bits; items refer to them
  std::byte* const* segments = nullptr;
  KeyWindows windows;  // of a key that are in an item

  bool is_wide() const noexcept {
    if constexpr (sizeof(Key) <= sizeof(std::uint32_t)) return false;
    return entries != nullptr;
  }
  Key key(std::size_t i) const noexcept {
    if (is_wide()) return static_cast<Key>(entries[items[i].ref].key);
    return static_cast<Key>(windows.widen(items[i].key));
  }
  CommandRef ref(std::size_t i) const noexcept {
    return is_wide() ? entries[items[i].ref].ref : items[i].ref;
  }
  // The packet of a reference; of those that were gathered.
  std::byte* address(CommandRef ref) const noexcept {
    return segments[ref >> kRefOffsetBits] + (ref & kRefOffset) * kPacketWord;
  }
};

template <class Key>
class CommandOrder {
 public:
  CommandOrder() noexcept = default;

  // All commands of the recording, in the order of round, recorder and sequence.
  void gather(const CommandStore& store, const PartsRun& run);
  // By key; what has equal keys stays in its order. After gather().
  void sort(CommandStore& store, const PartsRun& run);
  // There are none.
  void clear() noexcept { count_ = 0; }

  // In their order, until the next call of any of the above.
  std::size_t size() const noexcept { return count_; }
  CommandOrderView<Key> view() const noexcept { return {items_, entries_, segments_, windows_}; }
  Key key(std::size_t i) const noexcept { return view().key(i); }
  CommandRef ref(std::size_t i) const noexcept { return view().ref(i); }
  // Puts the one at `from` where the one at `to` was.
  void move_up(std::size_t to, std::size_t from) noexcept { items_[to] = items_[from]; }
  // Only the first `count` are left.
  void shorten(std::size_t count) noexcept { count_ = count; }
  // The packet of a reference; of those that were gathered.
  std::byte* address(CommandRef ref) const noexcept { return view().address(ref); }

  CommandSort way() const noexcept { return way_; }

 private:
  template <class>
  friend struct Books;

  using Entry = CommandEntry<std::uint64_t>;

  // Stretches in ascending order, up to this number: they are merged.
  static constexpr std::size_t kMergedMost = 4;

  // What a part of the items was seen to be.
  struct Seen {
    Key any = 0;  // bits that one has
    Key all = static_cast<Key>(~Key{0});  // bits that each has
    Key first = 0;
    Key last = 0;
    std::size_t count = 0;
    std::size_t falls = 0;  // keys that are below the one before
    std::size_t fall_at[kMergedMost] = {};  // the first of them
    template <class Put>
    void add(const CommandRun& run, std::size_t at, const Put& put) noexcept;
    void join(const Seen& after, std::size_t at) noexcept;
    Key differing() const noexcept { return static_cast<Key>(any & static_cast<Key>(~all)); }
  };
  class Parts;

  const CommandNode** collect_nodes(const CommandStore& store, std::size_t& count);
  Seen gather_nodes(const CommandNode* const* nodes, std::size_t count, std::size_t at) const;
  void take_room(bool wide, std::size_t count);
  bool suits() noexcept;
  template <class Keys>
  void sort_by(const Keys& keys, CommandStore& store, const PartsRun& run);
  template <class Keys>
  void sort_split(CommandItem* other, std::uint32_t differing, const Keys& keys,
                  const PartsRun& run, std::size_t parts);

  CommandBuffer entry_room_;
  CommandBuffer room_;
  CommandBuffer other_room_;
  CommandBuffer node_room_;
  CommandBuffer segment_room_;
  CommandBuffer count_room_;
  CommandItem* items_ = nullptr;
  Entry* entries_ = nullptr;  // where keys differ in too many bits; items refer to them
  KeyWindows windows_;  // of a key that are in an item
  std::size_t count_ = 0;
  std::byte** segments_ = nullptr;
  Seen seen_;
  CommandSort way_ = CommandSort::none;
};

extern template class CommandOrder<std::uint16_t>;
extern template class CommandOrder<std::uint32_t>;
extern template class CommandOrder<std::uint64_t>;

}}}  // namespace handoff::HANDOFF_ABI::detail
