// SPDX-License-Identifier: MIT
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/detail/allocate.hpp>
#include <limits>
#include <new>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

constexpr std::size_t kFew = 48;               // are sorted by insertion
constexpr std::size_t kAloneMost = 4096;       // more are divided among threads
constexpr std::size_t kPartLeast = 2048;       // items of a part
constexpr std::size_t kPartsMost = 64;
constexpr unsigned kDigitBitsMost = 12;        // the counts of one digit fit the first cache
constexpr unsigned kDigitBitsLeast = 6;
constexpr std::size_t kDigitsMost = 64 / kDigitBitsLeast + 1;

// No two are equal.
bool precedes(const CommandNode* a, const CommandNode* b) noexcept {
  if (a->round != b->round) return a->round < b->round;
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
  if (count > std::numeric_limits<std::ptrdiff_t>::max() / each) raise(std::bad_alloc());
  const std::size_t needed = std::max<std::size_t>(count * each, 1);
  if (needed <= bytes_) return;
  const std::size_t bytes = std::max(needed, bytes_ + bytes_ / 2);
  free();
  memory_ = sync::allocate(bytes, sync::destructive_span);
  bytes_ = bytes;
}

// --- Gathering. ---

template <class Key>
void CommandOrder<Key>::Seen::add(Key key, std::size_t at) noexcept {
  any = static_cast<Key>(any | key);
  all = static_cast<Key>(all & key);
  if (count == 0) {
    first = key;
  } else if (key < last) {
    if (falls < kMergedMost) fall_at[falls] = at;
    ++falls;
  }
  last = key;
  ++count;
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
  for (std::size_t i = 0; i < after.falls; ++i) note(i < kMergedMost ? after.fall_at[i] : 0);
  last = after.last;
  count += after.count;
}

// Those that have something, in their order.
template <class Key>
const CommandNode** CommandOrder<Key>::collect_nodes(const CommandStore& store,
                                                     std::size_t& count) {
  const CommandNode** const nodes = node_room_.room_for<const CommandNode*>(store.nodes());
  count = 0;
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
  for (std::size_t i = 0; i < count; ++i) {
    for_each_entry<Key>(*nodes[i], [&](const Item& item) {
      seen.add(item.key, at);
      ::new (&items_[at++]) Item(item);
    });
  }
  return seen;
}

template <class Key>
void CommandOrder<Key>::gather(const CommandStore& store, const PartsRun& run) {
  count_ = 0;
  way_ = CommandSort::none;
  std::size_t node_count = 0;
  const CommandNode* const* const nodes = collect_nodes(store, node_count);
  segments_ = segment_room_.room_for<std::byte*>(store.segments());
  for (std::size_t i = 0; i < store.segments(); ++i) segments_[i] = store.segment(i);

  // Parts of whole nodes, of about the same number of commands.
  std::size_t total = 0;
  for (std::size_t i = 0; i < node_count; ++i) total += nodes[i]->commands();
  items_ = room_.template room_for<Item>(total);
  struct Part {
    std::size_t first_node = 0;
    std::size_t first_item = 0;
    Seen seen;
  };
  const std::size_t parts =
      total < kAloneMost ? 1 : std::min({run.width(), kPartsMost, total / kPartLeast});
  std::array<Part, kPartsMost + 1> part;
  std::size_t items = 0;
  std::size_t begun = 0;
  for (std::size_t i = 0; i < node_count; ++i) {
    while (begun < parts && items >= part_begin(begun, parts, total)) {
      part[begun++] = {.first_node = i, .first_item = items, .seen = {}};
    }
    items += nodes[i]->commands();
  }
  for (; begun <= parts; ++begun) {
    part[begun] = {.first_node = node_count, .first_item = total, .seen = {}};
  }
  run(parts, [&](std::size_t i) {
    const std::size_t first = part[i].first_node;
    part[i].seen = gather_nodes(nodes + first, part[i + 1].first_node - first, part[i].first_item);
  });
  seen_ = {};
  for (std::size_t i = 0; i < parts; ++i) seen_.join(part[i].seen, part[i].first_item);
  count_ = total;
}

// --- Sorting. ---

// The digits of a key, the least significant first: all bits in which keys differ, and few others.
template <class Key>
struct CommandOrder<Key>::Digits {
  struct Digit {
    unsigned shift = 0;
    unsigned bits = 0;
    std::size_t of(Key key) const noexcept {
      return static_cast<std::size_t>(key >> shift) & ((std::size_t{1} << bits) - 1);
    }
    std::size_t values() const noexcept { return std::size_t{1} << bits; }
  };

  Digits(Key differing, unsigned bits_most) noexcept {
    cut(differing, bits_most);
    // As narrow as they can be for their number.
    for (unsigned bits = bits_most; bits > 1; --bits) {
      const std::size_t before = count;
      cut(differing, bits - 1);
      if (count <= before) continue;
      cut(differing, bits);
      return;
    }
  }

  void cut(Key differing, unsigned bits_most) noexcept {
    count = 0;
    while (differing != 0 && count < kMost) {
      const auto low = static_cast<unsigned>(std::countr_zero(differing));
      const unsigned bits =
          std::min(bits_most, static_cast<unsigned>(std::bit_width(differing)) - low);
      digit[count++] = {low, bits};
      const auto below = static_cast<std::uint64_t>(low) + bits;
      differing = below >= std::numeric_limits<Key>::digits
                      ? Key{0}
                      : static_cast<Key>(differing >> below << below);
    }
    if (differing != 0) count = kMost + 1;  // too narrow
  }
  std::size_t values() const noexcept {
    std::size_t most = 0;
    for (std::size_t i = 0; i < count; ++i) most = std::max(most, digit[i].values());
    return most;
  }

  static constexpr std::size_t kMost = kDigitsMost;
  std::array<Digit, kMost> digit{};
  std::size_t count = 0;
};

template <class Key>
void CommandOrder<Key>::sort(const PartsRun& run) {
  if (seen_.falls == 0) {
    way_ = CommandSort::sorted;
    return;
  }
  if (count_ <= kFew) return sort_few();
  other_ = other_room_.template room_for<Item>(count_);
  if (seen_.falls < kMergedMost) return merge_stretches();
  const auto log = static_cast<unsigned>(std::bit_width(count_));
  const Digits digits(static_cast<Key>(seen_.any & static_cast<Key>(~seen_.all)),
                      std::clamp(log - 2, kDigitBitsLeast, kDigitBitsMost));
  const std::size_t parts = std::min({run.width(), kPartsMost, count_ / kPartLeast});
  if (parts <= 1 || count_ < kAloneMost) return sort_here(digits);
  sort_split(digits, run, parts);
}

template <class Key>
void CommandOrder<Key>::sort_few() noexcept {
  for (std::size_t i = 1; i < count_; ++i) {
    const Item item = items_[i];
    std::size_t at = i;
    for (; at > 0 && item.key < items_[at - 1].key; --at) items_[at] = items_[at - 1];
    items_[at] = item;
  }
  way_ = CommandSort::few;
}

// Neighbours in pairs, until one is left.
template <class Key>
void CommandOrder<Key>::merge_stretches() {
  std::array<std::size_t, kMergedMost + 1> begin{};
  std::size_t stretches = seen_.falls + 1;
  for (std::size_t i = 1; i < stretches; ++i) begin[i] = seen_.fall_at[i - 1];
  begin[stretches] = count_;
  const auto by_key = [](const Item& a, const Item& b) { return a.key < b.key; };
  while (stretches > 1) {
    std::size_t merged = 0;
    for (std::size_t i = 0; i < stretches; i += 2) {
      const std::size_t first = begin[i];
      const std::size_t middle = begin[i + 1];
      const std::size_t last = i + 2 <= stretches ? begin[i + 2] : middle;
      std::merge(items_ + first, items_ + middle, items_ + middle, items_ + last, other_ + first,
                 by_key);
      begin[merged++] = first;
    }
    begin[merged] = count_;
    stretches = merged;
    std::swap(items_, other_);
  }
  way_ = CommandSort::merged;
}

// `counts` has room for the values of all digits. An even number of digits leaves the result in
// `from`, an odd one in `other`.
template <class Key>
void CommandOrder<Key>::sort_by_digits(const Digits& digits, Item* from, Item* other,
                                       std::size_t count, std::uint32_t* counts) {
  const std::size_t values = digits.values();
  std::fill_n(counts, digits.count * values, 0U);
  for (std::size_t i = 0; i < count; ++i) {
    const Key key = from[i].key;
    for (std::size_t d = 0; d < digits.count; ++d) {
      ++counts[d * values + digits.digit[d].of(key)];
    }
  }
  for (std::size_t d = 0; d < digits.count; ++d) {
    const auto digit = digits.digit[d];
    std::uint32_t* const places = counts + d * values;
    std::uint32_t next = 0;
    for (std::size_t v = 0; v < digit.values(); ++v) next += std::exchange(places[v], next);
    for (std::size_t i = 0; i < count; ++i) {
      const Item item = from[i];
      other[places[digit.of(item.key)]++] = item;
    }
    std::swap(from, other);
  }
}

template <class Key>
void CommandOrder<Key>::sort_here(const Digits& digits) {
  std::uint32_t* const counts = count_room_.room_for<std::uint32_t>(digits.count * digits.values());
  sort_by_digits(digits, items_, other_, count_, counts);
  if (digits.count % 2 != 0) std::swap(items_, other_);
  way_ = CommandSort::radix;
}

// Divides by the highest digit, so that each part has a range of its values and the same number of
// items, as near as can be; then each part is sorted by itself.
template <class Key>
void CommandOrder<Key>::sort_split(const Digits& digits, const PartsRun& run, std::size_t parts) {
  const auto digit = digits.digit[digits.count - 1];
  const std::size_t values = digit.values();
  const std::size_t all_values = digits.count * digits.values();
  // Of each part: how many it has of each value, then its share of what a part goes on to; at last
  // the counts of its sort. Shares and owners lie behind.
  const std::size_t each = aligned_up(std::max(all_values, values), sync::destructive_span / 4);
  std::uint32_t* const counts =
      count_room_.room_for<std::uint32_t>(parts * each + parts * parts + values);
  std::uint32_t* const shares = counts + parts * each;
  std::uint32_t* const owner = shares + parts * parts;  // the part of each value

  run(parts, [&](std::size_t part) {
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
    while (to + 1 < parts && passed >= part_begin(to + 1, parts, count_)) begin[++to] = passed;
    owner[v] = static_cast<std::uint32_t>(to);
    for (std::size_t part = 0; part < parts; ++part) {
      const std::uint32_t count = counts[part * each + v];
      shares[to * parts + part] += count;
      passed += count;
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
      const Item item = items_[i];
      other_[next[owner[digit.of(item.key)]]++] = item;
    }
  });
  std::swap(items_, other_);

  run(parts, [&](std::size_t part) {
    sort_by_digits(digits, items_ + begin[part], other_ + begin[part],
                   begin[part + 1] - begin[part], counts + part * each);
  });
  if (digits.count % 2 != 0) std::swap(items_, other_);
  way_ = CommandSort::split;
}

template class CommandOrder<std::uint16_t>;
template class CommandOrder<std::uint32_t>;
template class CommandOrder<std::uint64_t>;

}}}  // namespace handoff::HANDOFF_ABI::detail
