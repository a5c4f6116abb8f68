// SPDX-License-Identifier: MIT
//
// The order of a recording: its keys and references, first by recorder and sequence, then sorted.
// Not for users.
//
// Only keys and references move, never commands. The sort is stable, so equal keys keep the order
// in which they were gathered, and the result depends on nothing else than the recording. It takes
// the cheapest of several ways (CommandSort): nothing, where all is in order; merges, where it
// consists of a few stretches that are; insertion, for a few; and digits, the least significant
// first, of those bits alone in which keys differ. Several threads first divide the items by their
// highest digit, each its part of them, and then each sorts a range by itself. Concurrency: of one
// thread, which may call others. Allocates: as much as the largest recording needed so far;
// std::bad_alloc leaves the order as it was, or empty.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <span>

#include <handoff/command/command_statistics.hpp>
#include <handoff/command/detail/command_packet.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/config.hpp>
#include <handoff/core/detail/books.hpp>
#include <handoff/core/detail/min_max.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/kernel.hpp>
#include <handoff/core/parallel_for.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// What recorders write for each command with a key, and what is sorted.
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

// Some parts of a work on whatever runs loops; by the caller alone, where nothing does.
class PartsRun {
 public:
  PartsRun() noexcept = default;
  template <class E>
  static PartsRun on(E& executor) {
    static_assert(RunsLoops<E>,
                  "sorting and submitting run on a ThreadTeam, a ThreadPool, or another Bulk or "
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

  // For so many of them; what was there is gone if it had to grow. Throws std::bad_alloc.
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

template <class Key>
class CommandOrder {
 public:
  using Item = CommandEntry<Key>;

  CommandOrder() noexcept = default;

  // All commands of the recording, in the order of round, recorder and sequence.
  void gather(const CommandStore& store, const PartsRun& run);
  // By key; what has equal keys stays in its order. After gather().
  void sort(const PartsRun& run);
  // There are none.
  void clear() noexcept { count_ = 0; }

  // In their order, until the next call of any of the above.
  std::span<Item> items() noexcept { return {items_, count_}; }
  std::span<const Item> items() const noexcept { return {items_, count_}; }
  // Only so many of the first are left.
  void shorten(std::size_t count) noexcept { count_ = count; }
  // The packet of a reference; of those that were gathered.
  std::byte* address(CommandRef ref) const noexcept {
    return segments_[ref >> kRefOffsetBits] + (ref & kRefOffset) * kPacketWord;
  }

  CommandSort way() const noexcept { return way_; }

 private:
  template <class>
  friend struct Books;

  // Stretches in ascending order, up to this number: they are merged.
  static constexpr std::size_t kMergedMost = 4;

  // What a part of the items was seen to be.
  struct Seen {
    Key any = 0;                   // bits that one has
    Key all = static_cast<Key>(~Key{0});  // bits that each has
    Key first = 0;
    Key last = 0;
    std::size_t count = 0;
    std::size_t falls = 0;             // keys that are below the one before
    std::size_t fall_at[kMergedMost] = {};  // the first of them
    void add(Key key, std::size_t at) noexcept;
    void join(const Seen& after, std::size_t at) noexcept;
  };
  struct Digits;

  const CommandNode** collect_nodes(const CommandStore& store, std::size_t& count);
  Seen gather_nodes(const CommandNode* const* nodes, std::size_t count, std::size_t at) const;
  void merge_stretches();
  void sort_few() noexcept;
  void sort_here(const Digits& digits);
  void sort_split(const Digits& digits, const PartsRun& run, std::size_t parts);
  static void sort_by_digits(const Digits& digits, Item* from, Item* other, std::size_t count,
                             std::uint32_t* counts);

  CommandBuffer room_;
  CommandBuffer other_room_;
  CommandBuffer node_room_;
  CommandBuffer segment_room_;
  CommandBuffer count_room_;
  Item* items_ = nullptr;
  Item* other_ = nullptr;
  std::size_t count_ = 0;
  std::byte** segments_ = nullptr;
  Seen seen_;
  CommandSort way_ = CommandSort::none;
};

extern template class CommandOrder<std::uint16_t>;
extern template class CommandOrder<std::uint32_t>;
extern template class CommandOrder<std::uint64_t>;

}}}  // namespace handoff::HANDOFF_ABI::detail
