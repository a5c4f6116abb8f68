// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/prefetch.hpp>
#include <limits>
#include <new>
#include <span>
#include <utility>

#include "item_sort.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

constexpr std::size_t kFew = 48;                            // are sorted by insertion
constexpr std::size_t kAloneMost = std::size_t{16} * 1024;  // more are divided among threads
constexpr std::size_t kPartLeast = 2048;                    // items of a part
constexpr std::size_t kPartsMost = 64;
constexpr std::size_t kScratchMost = std::size_t{192} * 1024;  // bytes that buckets share

// No two are equal.
bool precedes(const CommandNode* a, const CommandNode* b) noexcept {
  // equivalent(bound): there the rounds differ
  if (a->round != b->round) return a->round < b->round;
  // equivalent(bound): there the numbers differ
  return a->number != b->number ? a->number < b->number : a->opened < b->opened;
}

}  // namespace

// --- Room. ---

CommandBuffer::~CommandBuffer() { free(); }

void CommandBuffer::free() noexcept {
  if (memory_ != nullptr) sync::deallocate(memory_, bytes_, sync::destructive_span);
  memory_ = nullptr;
  bytes_ = 0;
}

void CommandBuffer::grow(std::size_t count, std::size_t each) {
  // equivalent(bound) all: as much memory is refused later, too; what was enough is made anew
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / each) raise(std::bad_alloc());
  const std::size_t needed = std::max<std::size_t>(count * each, 1);
  if (needed <= bytes_) return;
  const std::size_t bytes = std::max(needed, bytes_ + bytes_ / 2);
  free();
  memory_ = sync::allocate(bytes, sync::destructive_span);
  bytes_ = bytes;
}

// --- Gathering. ---

// All of a run; put(entry, i) for each, with i from `at`. It has no branch that random keys would
// make a guess of, and what it counts stays in registers.
template <class Key>
template <class Put>
void CommandOrder<Key>::Seen::add(const CommandRun& run, std::size_t at, const Put& put) noexcept {
  using Added = CommandEntry<Key>;
  if (run.count == 0) return;
  const auto* entry = std::launder(reinterpret_cast<const Added*>(run.top)) - 1;
  if (count == 0) first = last = entry->key;
  constexpr std::ptrdiff_t kAhead = 8 * sync::cache_line / sizeof(Added);
  Seen now = *this;
  for (const std::size_t end = at + run.count; at != end; ++at, --entry) {
    sync::prefetch_to_read(entry - kAhead);
    const Key key = entry->key;
    now.any = static_cast<Key>(now.any | key);
    now.all = static_cast<Key>(now.all & key);
    if (now.falls < kMergedMost) [[unlikely]]
      fall_at[now.falls] = at;
    now.falls += key < now.last;
    now.last = key;  // equivalent(swap): the last key, and where the command is put
    put(*entry, at);
  }
  any = now.any;
  all = now.all;
  falls = now.falls;
  last = now.last;
  count += run.count;
}

// What begins at `at` follows.
template <class Key>
void CommandOrder<Key>::Seen::join(const Seen& after, std::size_t at) noexcept {
  if (after.count == 0) return;
  if (count == 0) {
    *this = after;
    return;
  }
  any = static_cast<Key>(any | after.any);
  all = static_cast<Key>(all & after.all);
  const auto note = [&](std::size_t where) {
    if (falls < kMergedMost) fall_at[falls] = where;
    ++falls;
  };
  if (after.first < last) note(at);
  // equivalent(bound): the fifth fall is not kept
  for (std::size_t i = 0; i < after.falls; ++i) note(i < kMergedMost ? after.fall_at[i] : 0);
  last = after.last;
  count += after.count;  // equivalent(delete): only whether there is any is asked
}

// Those that have something, in their order.
template <class Key>
const CommandNode** CommandOrder<Key>::collect_nodes(const CommandStore& store,
                                                     std::size_t& count) {
  auto* const nodes = node_room_.room_for<const CommandNode*>(store.nodes());
  count = 0;  // equivalent(delete): its caller begins with 0
  store.each_node([&](const CommandNode& node) {
    if (node.commands() == 0) return;
    nodes[count++] = &node;
  });
  if (!std::is_sorted(nodes, nodes + count, precedes)) std::sort(nodes, nodes + count, precedes);
  return nodes;
}

template <class Key>
typename CommandOrder<Key>::Seen CommandOrder<Key>::gather_nodes(const CommandNode* const* nodes,
                                                                 std::size_t count,
                                                                 std::size_t at) const {
  Seen seen;
  const auto all = [&](const auto& put) {
    for (std::size_t i = 0; i < count; ++i) {
      for (const CommandRun* run = &nodes[i]->first; run != nullptr; run = run->next) {
        seen.add(*run, at, put);
        at += run->count;
      }
    }
  };
  if (view().is_wide()) {
    all([windows = windows_, items = items_, entries = entries_](const CommandEntry<Key>& entry,
                                                                 std::size_t i) {
      ::new (&entries[i]) Entry{entry.key, entry.ref};  // equivalent(swap): two arrays
      ::new (&items[i]) CommandItem{windows.narrow(entry.key), static_cast<CommandRef>(i)};
    });
  } else {
    all([windows = windows_, items = items_](const CommandEntry<Key>& entry, std::size_t i) {
      ::new (&items[i]) CommandItem{windows.narrow(entry.key), entry.ref};
    });
  }
  return seen;
}

// Whole nodes, of about the same number of commands.
template <class Key>
class CommandOrder<Key>::Parts {
 public:
  Parts(const CommandNode* const* nodes, std::size_t count, std::size_t width) noexcept
      : nodes_(nodes) {
    for (std::size_t i = 0; i < count; ++i) total_ += nodes[i]->commands();
    // equivalent(bound): one part or several come to the same
    parts_ = total_ < kAloneMost ? 1 : std::min({width, kPartsMost, total_ / kPartLeast});
    std::size_t items = 0;
    std::size_t begun = 0;
    for (std::size_t i = 0; i < count; ++i) {
      // equivalent(bound): before a node fewer items than all have been passed
      while (begun < parts_ && items >= part_begin(begun, parts_, total_))
        part_[begun++] = {i, items};
      items += nodes[i]->commands();  // equivalent(delete): how much each part has
    }
    for (; begun <= parts_; ++begun) part_[begun] = {count, total_};
  }

  std::size_t total() const noexcept { return total_; }
  Seen gather(const CommandOrder& by, const PartsRun& run) {
    run(parts_, [&](std::size_t i) {
      const std::size_t first = part_[i].node;
      seen_[i] = by.gather_nodes(nodes_ + first, part_[i + 1].node - first, part_[i].item);
    });
    Seen seen;
    for (std::size_t i = 0; i < parts_; ++i) seen.join(seen_[i], part_[i].item);
    return seen;
  }

 private:
  struct First {
    std::size_t node = 0;
    std::size_t item = 0;
  };
  const CommandNode* const* nodes_;
  std::size_t total_ = 0;
  std::size_t parts_ = 0;
  std::array<First, kPartsMost + 1> part_;
  std::array<Seen, kPartsMost> seen_;
};

template <class Key>
void CommandOrder<Key>::take_room(bool wide, std::size_t count) {
  // equivalent(swap): two arrays; where one is refused nothing is read of either
  items_ = room_.template room_for<CommandItem>(count);
  entries_ = wide ? entry_room_.template room_for<Entry>(count) : nullptr;
}

// Whether keys are kept as they should be (KO-1). If not, they are gathered again, and then will
// be: a recording whose keys differ in the same bits as those of the one before is gathered once.
template <class Key>
bool CommandOrder<Key>::suits() noexcept {
  if constexpr (sizeof(Key) <= sizeof(std::uint32_t)) return true;
  const std::uint64_t differing = seen_.differing();
  bool suits = false;
  if (KeyWindows::fit(differing)) {
    // equivalent(delete): gathered twice
    // equivalent(negate): gathered twice, or kept as long keys, which any are
    suits = !view().is_wide() && windows_.cover(differing);
    if (!suits) windows_ = KeyWindows(differing);
  } else {
    const KeyWindows upper = KeyWindows::upper(differing);
    // equivalent(delete): gathered twice
    suits = view().is_wide() && windows_.shift() == upper.shift();
    windows_ = upper;
  }
  windows_.set_rest(seen_.all);
  return suits;
}

template <class Key>
void CommandOrder<Key>::gather(const CommandStore& store, const PartsRun& run) {
  count_ = 0;  // equivalent(delete): behind a gathering that throws all is gathered anew
  // equivalent(delete): the way is told behind a sort alone, which sets it
  way_ = CommandSort::none;
  std::size_t node_count = 0;
  const CommandNode* const* const nodes = collect_nodes(store, node_count);
  segments_ = segment_room_.room_for<std::byte*>(store.segments());
  for (std::size_t i = 0; i < store.segments(); ++i) segments_[i] = store.segment(i);

  Parts parts(nodes, node_count, run.width());
  take_room(view().is_wide(), parts.total());
  seen_ = parts.gather(*this, run);
  if (!suits()) {
    take_room(!KeyWindows::fit(seen_.differing()), parts.total());
    seen_ = parts.gather(*this, run);
  }
  count_ = parts.total();
}

// --- Windows. ---

namespace {

// The widest run of bits, between others, in which keys do not differ: where it begins and ends.
struct Gap {
  unsigned begin = 0;
  unsigned end = 0;
};
Gap widest_gap(std::uint64_t differing) noexcept {
  Gap widest;
  while (differing != 0) {  // equivalent(negate): more keys are kept as long ones
    const auto above = static_cast<unsigned>(std::countr_zero(differing));
    const unsigned end = above + static_cast<unsigned>(std::countr_one(differing >> above));
    if (end == 64) break;
    differing = differing >> end << end;
    if (differing == 0) break;
    const auto next = static_cast<unsigned>(std::countr_zero(differing));
    // equivalent(negate): more keys are kept as long ones
    // equivalent(bound): which of two gaps of the same width
    if (next - end > widest.end - widest.begin) widest = {end, next};
  }
  return widest;
}

}  // namespace

bool KeyWindows::fit(std::uint64_t differing) noexcept {
  if (differing == 0) return true;
  const Gap gap = widest_gap(differing);
  const auto lowest = static_cast<unsigned>(std::countr_zero(differing));
  const auto above = static_cast<unsigned>(std::bit_width(differing));
  // equivalent(bound): keys that differ in 32 bits are kept as long ones
  return above - lowest - (gap.end - gap.begin) <= 32;
}

KeyWindows::KeyWindows(std::uint64_t differing) noexcept {
  if (differing == 0) return;
  const Gap gap = widest_gap(differing);
  const auto mask = [](unsigned bits) { return (std::uint64_t{1} << bits) - 1; };
  const auto above = static_cast<unsigned>(std::bit_width(differing));
  low_shift_ = static_cast<unsigned>(std::countr_zero(differing));
  low_bits_ = (gap.end != 0 ? gap.begin : above) - low_shift_;
  low_mask_ = mask(low_bits_);
  if (gap.end == 0) return;
  high_shift_ = gap.end;  // equivalent(swap): two members
  high_mask_ = mask(above - gap.end);
}

KeyWindows KeyWindows::upper(std::uint64_t differing) noexcept {
  KeyWindows upper;
  upper.low_shift_ = static_cast<unsigned>(std::bit_width(differing)) - upper.low_bits_;
  return upper;
}

// --- Sorting. ---

template <class Key>
void CommandOrder<Key>::sort(CommandStore& store, const PartsRun& run) {
  if (seen_.falls == 0) {
    way_ = CommandSort::sorted;
  } else if (view().is_wide()) {
    sort_by(UpperKeys{.entries = entries_, .shift = windows_.shift()}, store, run);
  } else {
    sort_by(WholeKeys(), store, run);
  }
}

template <class Key>
template <class Keys>
void CommandOrder<Key>::sort_by(const Keys& keys, CommandStore& store, const PartsRun& run) {
  if (count_ <= kFew) {  // equivalent(bound): a few more are sorted by digits as well
    // equivalent(swap): what is told and what is done
    (void)sort_by_insertion(items_, count_, count_ * count_, keys);
    way_ = CommandSort::few;
    return;
  }
  const std::size_t parts = std::min({run.width(), kPartsMost, count_ / kPartLeast});
  const bool merges = seen_.falls < kMergedMost;
  // equivalent(bound): a division into one part
  const bool splits = !merges && parts > 1 && count_ >= kAloneMost;
  constexpr std::size_t count_bytes = kSortCounts * sizeof(std::uint32_t);
  const std::size_t bytes = count_bytes + count_ * sizeof(CommandItem);
  // Several threads may call anything while they wait for each other.
  // equivalent(bound negate): whose memory it is sorted in
  std::byte* const room = !splits && bytes <= kScratchMost
                              ? store.scratch(bytes)
                              : other_room_.template room_for<std::byte>(bytes);
  auto* const other = reinterpret_cast<CommandItem*>(room + count_bytes);
  const std::uint32_t differing = windows_.narrow(seen_.differing());
  if (splits) {
    // equivalent(swap): what is told and what is done
    sort_split(other, differing, keys, run, parts);
    way_ = CommandSort::split;
    return;
  }
  CommandItem* sorted = nullptr;
  if (merges) {
    std::array<std::size_t, kMergedMost + 1> begin{};
    // equivalent(swap): other places of an array
    std::copy_n(seen_.fall_at, seen_.falls, begin.begin() + 1);
    begin[seen_.falls + 1] = count_;
    // equivalent(swap): what is told and what is done
    sorted = merge_stretches(items_, other, std::span(begin).first(seen_.falls + 2), keys);
    way_ = CommandSort::merged;
  } else {
    sorted =  // equivalent(swap): what is told and what is done
        sort_items(items_, other, count_, differing, keys, reinterpret_cast<std::uint32_t*>(room));
    way_ = CommandSort::radix;
  }
  if (sorted != items_) std::memcpy(items_, sorted, count_ * sizeof(CommandItem));
}

// Divides by the highest digit, so that each part has a range of its values and the same number of
// items, as near as can be; then each part is sorted by itself.
template <class Key>
template <class Keys>
void CommandOrder<Key>::sort_split(CommandItem* other, std::uint32_t differing, const Keys& keys,
                                   const PartsRun& run, std::size_t parts) {
  const Digit digit = Digits(differing, kDigitBitsMost)[0];
  const std::size_t values = digit.values();
  // For each part: how many it has of each value, then its share of what a part goes on to; at last
  // the counts of its sort. Shares and owners lie behind.
  constexpr std::size_t each = kSortCounts;
  auto* const counts = count_room_.room_for<std::uint32_t>(parts * each + parts * parts + values);
  std::uint32_t* const shares = counts + parts * each;
  std::uint32_t* const owner = shares + parts * parts;  // the part of each value

  run(parts, [&](std::size_t part) {  // equivalent(swap): two arrays
    std::uint32_t* const mine = counts + part * each;
    std::fill_n(mine, values, 0U);
    const std::size_t end = part_begin(part + 1, parts, count_);
    for (std::size_t i = part_begin(part, parts, count_); i < end; ++i) {
      ++mine[digit.of(items_[i].key)];
    }
  });

  std::fill_n(shares, parts * parts, 0U);
  std::array<std::size_t, kPartsMost + 1> begin{};  // of what each part sorts
  std::size_t passed = 0;
  std::size_t to = 0;
  for (std::size_t v = 0; v < values; ++v) {
    // equivalent(negate): how much each part has
    // equivalent(bound): the part behind the last one gets values that no key has
    while (to + 1 < parts && passed >= part_begin(to + 1, parts, count_)) begin[++to] = passed;
    owner[v] = static_cast<std::uint32_t>(to);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::uint32_t count = counts[part * each + v];
      shares[to * parts + part] += count;
      passed += count;  // equivalent(delete): how much each part has
    }
  }
  while (to < parts) begin[++to] = count_;
  for (std::size_t i = 0, next = 0; i < parts * parts; ++i) {
    next += std::exchange(shares[i], static_cast<std::uint32_t>(next));
  }

  run(parts, [&](std::size_t part) {
    std::array<std::uint32_t, kPartsMost> next{};
    for (std::size_t i = 0; i < parts; ++i) next[i] = shares[i * parts + part];
    const std::size_t end = part_begin(part + 1, parts, count_);
    for (std::size_t i = part_begin(part, parts, count_); i < end; ++i) {
      const CommandItem item = items_[i];
      other[next[owner[digit.of(item.key)]]++] = item;
    }
  });
  run(parts, [&](std::size_t part) {
    const std::size_t first = begin[part];
    const std::size_t count = begin[part + 1] - first;
    CommandItem* const sorted =
        sort_items(other + first, items_ + first, count, differing, keys, counts + part * each);
    if (sorted != items_ + first) {
      std::memcpy(items_ + first, sorted, count * sizeof(CommandItem));
    }
  });
}

template class CommandOrder<std::uint16_t>;
template class CommandOrder<std::uint32_t>;
template class CommandOrder<std::uint64_t>;

}}}  // namespace handoff::HANDOFF_ABI::detail
