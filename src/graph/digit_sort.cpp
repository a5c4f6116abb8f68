// SPDX-License-Identifier: MIT
//
// What one thread does of a sort by digits. All ways are stable.
//
// A pass over a digit costs what it moves, and more where its values do not fit the first cache. So
// many items are split by their highest digit first, until a bucket fits the second cache. Then
// only as many of the highest bits are sorted by as are likely to tell all items apart, the lowest
// digit first. What that leaves is nearly in order, and insertion ends it. Where many keys agree in
// their highest bits, insertion gives up early, and all digits follow.
#include <handoff/graph/detail/digit_sort.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

namespace {

constexpr std::size_t cached_bytes = 1 << 20;  // half of them for the items, half for the room
constexpr unsigned narrow_bits = 8;  // of a digit
constexpr unsigned wide_bits = 11;

// Items as they lie in memory, whatever their type is called.
template <class U>
struct [[gnu::may_alias]] Bits {
  U bits;
};

template <class U>
struct Integer {
  using Item = Bits<U>;
  static U key(Item item, DigitOrder order) noexcept { return key_of_integer(item.bits, order); }
};

template <class U>
struct Floating {
  using Item = Bits<U>;
  static U key(Item item, DigitOrder order) noexcept { return key_of_floating(item.bits, order); }
};

struct Keyed {
  using Item = KeyedIndex;
  static std::uint64_t key(const Item& item, DigitOrder order) noexcept {
    return item.key ^ order.flip;
  }
};

template <class Kind>
class Sorter {
 public:
  using Item = typename Kind::Item;

  static std::uint64_t differing(const void* items, std::size_t first, std::size_t last,
                                 DigitOrder order) noexcept {
    const auto* const from = static_cast<const Item*>(items);
    const auto key = Kind::key(from[0], order);
    auto bits = key;
    bits = 0;
    for (std::size_t i = first; i < last; ++i) {
      bits = static_cast<decltype(bits)>(bits | (Kind::key(from[i], order) ^ key));
    }
    return bits;
  }

  static void count(const void* items, std::size_t first, std::size_t last, DigitOrder order,
                    unsigned shift,
                    std::size_t* counts) noexcept {  // NOLINT(readability-non-const-parameter)
    const auto* const from = static_cast<const Item*>(items);
    for (std::size_t i = first; i < last; ++i) ++counts[digit(from[i], order, shift, 255)];
  }

  static void scatter(const void* items, void* to, std::size_t first, std::size_t last,
                      DigitOrder order, unsigned shift,
                      std::size_t* places) noexcept {  // NOLINT(readability-non-const-parameter)
    const auto* const from = static_cast<const Item*>(items);
    auto* const out = static_cast<Item*>(to);
    for (std::size_t i = first; i < last; ++i) {
      const Item item = from[i];
      out[places[digit(item, order, shift, 255)]++] = item;
    }
  }

  static void sort(void* items, void* other, std::size_t count, DigitOrder order,
                   std::uint64_t bits, bool to_other) noexcept {
    Sorter(order).sort(static_cast<Item*>(items), static_cast<Item*>(other), count, bits, to_other);
  }

 private:
  // Some bits of a key.
  struct Digit {
    unsigned shift = 0;
    unsigned bits = 0;
  };
  using Counts = std::array<std::uint32_t, std::size_t{1} << wide_bits>;
  static constexpr std::size_t most_digits = 64 / narrow_bits;

  explicit Sorter(DigitOrder order) noexcept : order_(order) {}

  static std::size_t digit(const Item& item, DigitOrder order, unsigned shift,
                           std::size_t mask) noexcept {
    return static_cast<std::size_t>(Kind::key(item, order) >> shift) & mask;
  }
  bool less(const Item& a, const Item& b) const noexcept {
    return Kind::key(a, order_) < Kind::key(b, order_);
  }

  void sort(Item* items, Item* other, std::size_t count, std::uint64_t bits,
            bool to_other) noexcept {
    if (bits == 0) return deliver(items, other, count, to_other);
    if (count <= few_numbers_inserted) {
      insert(items, count, count * count);
      return deliver(items, other, count, to_other);
    }
    const auto width = static_cast<unsigned>(std::bit_width(bits));
    if (count > cached_bytes / 2 / sizeof(Item)) {
      return split(items, other, count, bits, width > digit_bits ? width - digit_bits : 0,
                   to_other);
    }
    Item* const sorted = sort_cached(items, other, count, bits);
    if (sorted != (to_other ? other : items)) {
      deliver(sorted, sorted == items ? other : items, count, true);
    }
  }

  // By the highest digit, and then each bucket by the others.
  void split(Item* items, Item* other, std::size_t count, std::uint64_t bits, unsigned shift,
             bool to_other) noexcept {
    std::array<std::size_t, digit_values> places{};
    Sorter::count(items, 0, count, order_, shift, places.data());
    std::size_t next = 0;
    for (std::size_t& place : places) next += std::exchange(place, next);
    scatter(items, other, 0, count, order_, shift, places.data());
    std::size_t first = 0;
    for (const std::size_t last : places) {
      sort(other + first, items + first, last - first, bits & ((std::uint64_t{1} << shift) - 1),
           !to_other);
      first = last;
    }
  }

  // Returns where the result is.
  Item* sort_cached(Item* items, Item* other, std::size_t count, std::uint64_t bits) noexcept {
    constexpr std::size_t moves = 4;  // about what a pass costs
    const auto all = static_cast<unsigned>(std::popcount(bits));
    // With four times as many values as items, a pair has the same by chance here and there.
    const unsigned enough = static_cast<unsigned>(std::bit_width(count)) + 2;
    const unsigned needed =
        all <= enough + 2 ? all : enough;  // two more are cheaper than insertion
    const unsigned widest = count < 4096 ? narrow_bits : wide_bits - 1;
    const unsigned digits = (needed + widest - 1) / widest;
    std::array<Digit, most_digits> digit;
    const bool is_all = cut(bits, (needed + digits - 1) / digits, digit.data(), digits) == 0;
    Item* sorted = pass(items, other, count, digit.data(), digits);
    if (is_all || insert(sorted, count, moves * count)) return sorted;
    Item* const room = sorted == items ? other : items;
    unsigned used = 0;
    std::array<Digit, most_digits> every;
    for (std::uint64_t left = bits; left != 0; ++used)
      left = cut(left, narrow_bits, &every[used], 1);
    return pass(sorted, room, count, every.data(), used);
  }

  // The highest digits of `bits`, without bits in which no keys differ at their ends. Returns the
  // bits below.
  static std::uint64_t cut(std::uint64_t bits, unsigned widest, Digit* digit,
                           unsigned digits) noexcept {
    for (unsigned i = 0; i < digits; ++i) {
      if (bits == 0) {
        digit[i] = {};
        continue;
      }
      const auto above = static_cast<unsigned>(std::bit_width(bits));
      const auto lowest = static_cast<unsigned>(std::countr_zero(bits));
      const unsigned width = std::min(widest, above - lowest);
      digit[i] = {above - width, width};
      bits &= (std::uint64_t{1} << (above - width)) - 1;
    }
    return bits;
  }

  // By these digits, the last one first. Returns where the result is.
  Item* pass(Item* items, Item* other, std::size_t count, const Digit* digit,
             unsigned digits) noexcept {
    for (unsigned d = 0; d < digits; ++d) {
      std::fill_n(counts_[d].begin(), std::size_t{1} << digit[d].bits, 0U);
    }
    for (unsigned d = 0; d + 1 < digits; d += 2) count_two(items, count, digit + d, &counts_[d]);
    if (digits % 2 != 0) {
      const Digit last = digit[digits - 1];
      Counts& counts = counts_[digits - 1];
      const std::size_t mask = (std::size_t{1} << last.bits) - 1;
      for (std::size_t i = 0; i < count; ++i) {
        ++counts[Sorter::digit(items[i], order_, last.shift, mask)];
      }
    }
    for (unsigned d = digits; d-- > 0;) {
      if (digit[d].bits == 0) continue;
      Counts& places = counts_[d];
      const std::size_t mask = (std::size_t{1} << digit[d].bits) - 1;
      std::uint32_t next = 0;
      for (std::size_t v = 0; v <= mask; ++v) next += std::exchange(places[v], next);
      for (std::size_t i = 0; i < count; ++i) {
        const Item item = items[i];
        other[places[Sorter::digit(item, order_, digit[d].shift, mask)]++] = item;
      }
      std::swap(items, other);
    }
    return items;
  }
  void count_two(const Item* items, std::size_t count, const Digit* digit,
                 Counts* counts) const noexcept {
    const std::size_t mask = (std::size_t{1} << digit[0].bits) - 1;
    const std::size_t next_mask = (std::size_t{1} << digit[1].bits) - 1;
    for (std::size_t i = 0; i < count; ++i) {
      const auto key = Kind::key(items[i], order_);
      ++counts[0][static_cast<std::size_t>(key >> digit[0].shift) & mask];
      ++counts[1][static_cast<std::size_t>(key >> digit[1].shift) & next_mask];
    }
  }

  // False: more than `moves_most` moves would have been needed; then only a part has been done.
  bool insert(Item* items, std::size_t count, std::size_t moves_most) const noexcept {
    std::size_t moves = 0;
    for (std::size_t i = 1; i < count; ++i) {
      if (!less(items[i], items[i - 1])) continue;
      const Item item = items[i];
      std::size_t at = i;
      do {
        items[at] = items[at - 1];
        --at;
      } while (at > 0 && less(item, items[at - 1]));
      items[at] = item;
      moves += i - at;
      if (moves > moves_most) return false;
    }
    return true;
  }

  static void deliver(const Item* items, Item* other, std::size_t count, bool to_other) noexcept {
    if (to_other && count != 0) std::memcpy(other, items, count * sizeof(Item));
  }

  const DigitOrder order_;
  std::array<Counts, most_digits> counts_;
};

template <class Kind>
constexpr DigitSort table() noexcept {
  return {sizeof(typename Kind::Item), &Sorter<Kind>::differing, &Sorter<Kind>::count,
          &Sorter<Kind>::scatter, &Sorter<Kind>::sort};
}

}  // namespace

const DigitSort sort_of_8_bits = table<Integer<std::uint8_t>>();
const DigitSort sort_of_16_bits = table<Integer<std::uint16_t>>();
const DigitSort sort_of_32_bits = table<Integer<std::uint32_t>>();
const DigitSort sort_of_64_bits = table<Integer<std::uint64_t>>();
const DigitSort sort_of_floats = table<Floating<std::uint32_t>>();
const DigitSort sort_of_doubles = table<Floating<std::uint64_t>>();
const DigitSort sort_of_keyed_indices = table<Keyed>();

}}}  // namespace handoff::HANDOFF_ABI::detail
