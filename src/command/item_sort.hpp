// SPDX-License-Identifier: MIT
//
// The ways in which items are sorted. An item has 32 bits of a key and 32 that move with it, such
// as a reference. All ways are stable. Concurrency: each call has its items for itself.
//
// A pass over a digit costs what it moves, and more where its values do not fit the first cache: so
// items are small, digits few and narrow, and only as many of the highest bits are sorted by as are
// likely to tell all items apart. What that leaves is nearly in order, and insertion ends it. Where
// many keys agree in their highest bits, insertion gives up early, and all digits follow.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/config.hpp>
#include <span>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr unsigned kDigitBitsMost = 11;
inline constexpr std::size_t kDigitsMost = 32;

// Some bits of a key.
struct Digit {
  unsigned shift = 0;
  unsigned bits = 0;
  std::size_t of(std::uint32_t key) const noexcept {
    return std::size_t{key >> shift} & ((std::size_t{1} << bits) - 1);
  }
  std::size_t values() const noexcept { return std::size_t{1} << bits; }
};

// The digits of a key, of `bits_most` bits, the most significant first: all bits in which keys
// differ, and few others.
class Digits {
 public:
  Digits(std::uint32_t differing, unsigned bits_most) noexcept {
    while (differing != 0) {
      const auto above = static_cast<unsigned>(std::bit_width(differing));
      const auto lowest = static_cast<unsigned>(std::countr_zero(differing));
      const unsigned bits = std::min(bits_most, above - lowest);
      digit_[count_++] = {above - bits, bits};
      values_ = std::max(values_, digit_[count_ - 1].values());  // equivalent(swap): two variables
      differing &= (std::uint32_t{1} << (above - bits)) - 1;
    }
  }

  std::size_t count() const noexcept { return count_; }
  // The remainder tells compilers that warn of what they cannot rule out.
  const Digit& operator[](std::size_t i) const noexcept { return digit_[i % kDigitsMost]; }
  // How many values the widest digit has.
  std::size_t values() const noexcept { return values_; }

 private:
  std::array<Digit, kDigitsMost> digit_{};
  std::size_t count_ = 0;
  std::size_t values_ = 1;
};

// How wide the digits are, and how many of the first are sorted by before insertion.
struct DigitPlan {
  unsigned bits = kDigitBitsMost;
  std::size_t leading = 0;
};
inline DigitPlan plan_digits(std::uint32_t differing, std::size_t items) noexcept {
  const auto all = static_cast<unsigned>(std::popcount(differing));
  // With four times as many values as items, a pair has the same by chance here and there.
  const unsigned enough = static_cast<unsigned>(std::bit_width(items)) + 2;
  // equivalent(bound negate): how much is left to insertion
  const unsigned needed = all <= enough + 2 ? all : enough;  // two more are cheaper than insertion
  const unsigned digits = (needed + kDigitBitsMost - 1) / kDigitBitsMost;
  return {.bits = (needed + digits - 1) / digits, .leading = digits};
}

// Where the 32 bits are all that tells keys apart: how two items compare.
struct WholeKeys {
  static constexpr bool whole = true;
  bool less(const CommandItem& a, const CommandItem& b) const noexcept { return a.key < b.key; }
};

// Where they are the upper part of longer keys, and the item refers to one of these.
struct UpperKeys {
  static constexpr bool whole = false;
  const CommandEntry<std::uint64_t>* entries;
  unsigned shift;  // of the upper part; the lower one is what lies below, at most 32 bits

  bool less(const CommandItem& a, const CommandItem& b) const noexcept {
    // equivalent(bound): there the upper parts differ
    return a.key != b.key ? a.key < b.key : entries[a.ref].key < entries[b.ref].key;
  }
  std::uint32_t upper(CommandRef ref) const noexcept {
    return static_cast<std::uint32_t>(entries[ref].key >> shift);
  }
  std::uint32_t lower(CommandRef ref) const noexcept {
    return static_cast<std::uint32_t>(entries[ref].key & ((std::uint64_t{1} << shift) - 1));
  }
};

// False: more than `moves_most` moves would have been needed; then only a part has been done.
template <class Keys>
bool sort_by_insertion(CommandItem* items, std::size_t count, std::size_t moves_most,
                       const Keys& keys) noexcept {
  std::size_t moves = 0;
  for (std::size_t i = 1; i < count; ++i) {
    if (!keys.less(items[i], items[i - 1])) continue;
    const CommandItem item = items[i];
    std::size_t at = i;
    do {
      items[at] = items[at - 1];
      --at;
    } while (at > 0 && keys.less(item, items[at - 1]));
    items[at] = item;
    moves += i - at;  // equivalent(delete): insertion goes on where it would give up
    if (moves > moves_most) return false;  // equivalent(bound): when insertion gives up
  }
  return true;
}

// Stretches that are in order, each beginning where `begin` says, the last one ending at the last
// of `begin`: neighbours are merged in pairs until one is left. Returns where that is.
template <class Keys>
CommandItem* merge_stretches(CommandItem* items, CommandItem* other, std::span<std::size_t> begin,
                             const Keys& keys) noexcept {
  const auto by_key = [&](const CommandItem& a, const CommandItem& b) { return keys.less(a, b); };
  const std::size_t count = begin.back();
  std::size_t stretches = begin.size() - 1;
  while (stretches > 1) {
    std::size_t merged = 0;
    for (std::size_t i = 0; i < stretches; i += 2) {
      const std::size_t first = begin[i];
      const std::size_t middle = begin[i + 1];
      const std::size_t last = i + 2 <= stretches ? begin[i + 2] : middle;
      // equivalent(swap): a merge, and where its result begins
      std::merge(items + first, items + middle, items + middle, items + last, other + first,
                 by_key);
      begin[merged++] = first;
    }
    begin[merged] = count;
    stretches = merged;
    std::swap(items, other);
  }
  return items;
}

// By the first `used` digits. `counts` has room for that many values. Returns where the result
// is: in `items` after an even number of digits, in `other` after an odd one.
inline CommandItem* sort_by_digits(CommandItem* items, CommandItem* other, std::size_t count,
                                   const Digits& digits, std::size_t used,
                                   std::uint32_t* counts) noexcept {
  const std::size_t values = digits.values();
  std::fill_n(counts, used * values, 0U);
  for (std::size_t d = 0; d + 1 < used; d += 2) {
    const Digit high = digits[d];
    const Digit low = digits[d + 1];
    std::uint32_t* const high_counts = counts + d * values;
    std::uint32_t* const low_counts = high_counts + values;
    for (std::size_t i = 0; i < count; ++i) {
      const std::uint32_t key = items[i].key;
      ++high_counts[high.of(key)];  // equivalent(swap): two counts
      ++low_counts[low.of(key)];
    }
  }
  if (used % 2 != 0) {
    const Digit last = digits[used - 1];
    std::uint32_t* const last_counts = counts + (used - 1) * values;
    for (std::size_t i = 0; i < count; ++i) ++last_counts[last.of(items[i].key)];
  }
  for (std::size_t d = used; d-- > 0;) {
    const Digit digit = digits[d];
    std::uint32_t* const places = counts + d * values;
    std::uint32_t next = 0;
    // equivalent(bound): a count behind, which is not read again
    for (std::size_t v = 0; v < digit.values(); ++v) next += std::exchange(places[v], next);
    for (std::size_t i = 0; i < count; ++i) {
      const CommandItem item = items[i];
      other[places[digit.of(item.key)]++] = item;
    }
    std::swap(items, other);
  }
  return items;
}

// How many counts sort_items() needs.
inline constexpr std::size_t kSortCounts = (32 / kDigitBitsMost + 1) << kDigitBitsMost;

// By all bits of `differing`. Returns where the result is.
inline CommandItem* sort_by_all_digits(CommandItem* items, CommandItem* other, std::size_t count,
                                       std::uint32_t differing, std::uint32_t* counts) noexcept {
  const Digits digits(differing, kDigitBitsMost);
  return sort_by_digits(items, other, count, digits, digits.count(), counts);
}

// By keys, whose upper parts differ in these bits. Returns where the result is.
template <class Keys>
CommandItem* sort_items(CommandItem* items, CommandItem* other, std::size_t count,
                        std::uint32_t differing, const Keys& keys, std::uint32_t* counts) noexcept {
  constexpr std::size_t moves = 4;  // about what a pass costs
  const DigitPlan plan = plan_digits(differing, count);
  const Digits digits(differing, plan.bits);
  CommandItem* sorted = sort_by_digits(items, other, count, digits, plan.leading, counts);
  if (Keys::whole && plan.leading == digits.count()) return sorted;
  if (sort_by_insertion(sorted, count, moves * count, keys)) return sorted;
  const auto rest = [&] { return sorted == items ? other : items; };
  if constexpr (!Keys::whole) {
    for (std::size_t i = 0; i < count; ++i) sorted[i].key = keys.lower(sorted[i].ref);
    sorted = sort_by_all_digits(sorted, rest(), count, ~std::uint32_t{0}, counts);
    for (std::size_t i = 0; i < count; ++i) sorted[i].key = keys.upper(sorted[i].ref);
  }
  return sort_by_all_digits(sorted, rest(), count, differing, counts);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
