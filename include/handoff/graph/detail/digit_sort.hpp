// SPDX-License-Identifier: MIT
//
// The stable sort of numbers by their digits. Not for users.
//
// One pass over the highest digit in which numbers differ moves them all to the other array, by all
// threads. It leaves buckets, which fit a cache: each is sorted by one thread, which brings it back
// (src/graph/digit_sort.cpp). Where one bucket has more than a thread's share, passes over all
// digits follow each other instead, the lowest first, by all threads.
#pragma once

#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/scratch_array.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/graph/detail/whole_loop.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr unsigned digit_bits = 8;
inline constexpr std::size_t digit_values = std::size_t{1} << digit_bits;

// Which bits of the keys of a kind of items are flipped.
struct DigitOrder {
  std::uint64_t flip = 0;
};

// The key of an integer's bits.
template <class U>
constexpr U key_of_integer(U bits, DigitOrder order) noexcept {
  return static_cast<U>(bits ^ static_cast<U>(order.flip));
}

// The key of a floating point number's bits. Above all others are those that are not numbers, and
// the zeros are one key.
template <class U>
constexpr U key_of_floating(U bits, DigitOrder order) noexcept {
  constexpr U sign = U{1} << (8 * sizeof(U) - 1);
  constexpr U infinity =
      sizeof(U) == 4 ? U{0xff} << 23 : static_cast<U>(std::uint64_t{0x7ff} << 52);
  const U size = bits & ~sign;
  const U key = (bits & sign) != 0 ? sign - size : sign + size;
  return (size > infinity ? ~U{0} : key) ^ static_cast<U>(order.flip);
}

// An item that is sorted for another one.
struct KeyedIndex {
  std::uint64_t key;
  std::size_t index;
};

// What one thread does, for one kind of items. Arrays are given by their first byte, and all of
// this is noexcept.
struct DigitSort {
  std::size_t item_bytes;
  // Bits in which the keys of [first, last) differ from that of item 0.
  std::uint64_t (*differing)(const void* items, std::size_t first, std::size_t last,
                             DigitOrder order);
  // Adds how often each value of the digit at `shift` occurs in [first, last).
  void (*count)(const void* items, std::size_t first, std::size_t last, DigitOrder order,
                unsigned shift, std::size_t* counts);
  // Copies [first, last) to the places of their values, which then are those of the next ones.
  void (*scatter)(const void* items, void* to, std::size_t first, std::size_t last,
                  DigitOrder order, unsigned shift, std::size_t* places);
  // Sorts `count` items by these bits, and leaves them in `other` if `to_other`.
  void (*sort)(void* items, void* other, std::size_t count, DigitOrder order, std::uint64_t bits,
               bool to_other);
};
extern const DigitSort sort_of_8_bits;
extern const DigitSort sort_of_16_bits;
extern const DigitSort sort_of_32_bits;
extern const DigitSort sort_of_64_bits;
extern const DigitSort sort_of_floats;
extern const DigitSort sort_of_doubles;
extern const DigitSort sort_of_keyed_indices;

template <class T>
concept SortedByDigits =
    (std::integral<T> && sizeof(T) <= 8) || std::same_as<T, float> || std::same_as<T, double>;

template <SortedByDigits T>
const DigitSort& digit_sort_of() noexcept {
  if constexpr (std::same_as<T, float>) {
    return sort_of_floats;
  } else if constexpr (std::same_as<T, double>) {
    return sort_of_doubles;
  } else if constexpr (sizeof(T) == 1) {
    return sort_of_8_bits;
  } else if constexpr (sizeof(T) == 2) {
    return sort_of_16_bits;
  } else if constexpr (sizeof(T) == 4) {
    return sort_of_32_bits;
  } else {
    return sort_of_64_bits;
  }
}

template <SortedByDigits T>
constexpr DigitOrder key_order_of(bool descends) noexcept {
  const std::uint64_t all = descends ? ~std::uint64_t{0} : 0;
  return {std::is_signed_v<T> && std::integral<T> ? all ^ std::uint64_t{1} << (8 * sizeof(T) - 1)
                                                  : all};
}

// The key of a number.
template <SortedByDigits T>
constexpr std::uint64_t key_of(T number, DigitOrder order) noexcept {
  if constexpr (std::same_as<T, float>) {
    return detail::key_of_floating(std::bit_cast<std::uint32_t>(number), order);
  } else if constexpr (std::same_as<T, double>) {
    return detail::key_of_floating(std::bit_cast<std::uint64_t>(number), order);
  } else {
    const std::uint64_t key = static_cast<std::uint64_t>(number) ^ order.flip;
    return sizeof(T) == 8 ? key : key & ((std::uint64_t{1} << (8 * sizeof(T) % 64)) - 1);
  }
}

// So few are sorted by insertion, without other room.
inline constexpr std::size_t few_numbers_inserted = 32;
// So few one thread sorts faster alone.
inline constexpr std::size_t few_numbers = 16384;

// Sorts `count` items by all threads.
template <class E>
class DigitSortByAll {
 public:
  DigitSortByAll(E& executor, const DigitSort& sort, DigitOrder order, void* items, void* room,
                 std::size_t count, const AlgorithmOptions& options)
      : executor_(executor),
        sort_(sort),
        order_(order),
        items_(items),
        room_(room),
        count_(count),
        parts_(max<std::size_t>(
            min(min(members_of(executor) * 4, most_parts), count / least_part_items), 1)),
        until_(options.until),
        places_(options.scratch, parts_ * digit_values) {}

  void run() {
    const std::uint64_t bits = differing();
    if (bits == 0) return;
    const unsigned shift = highest_digit(bits);
    count(items_, shift);
    if (is_even()) {
      sort_buckets(shift, bits);
    } else {
      sort_by_all_digits(bits);
    }
  }

  // The same for items that are the keys of `others`, which are moved with them, to `away` and
  // back. join(keys, room, count) ends the order of a bucket, whose keys refer to items of `away`;
  // it is noexcept. False: buckets are not even, and nothing has been moved.
  template <class T, class Join>
  bool run_with(T* others, T* away, const Join& join) {
    const std::uint64_t bits = differing();
    const unsigned shift = highest_digit(bits);
    count(items_, shift);
    if (!is_even()) return false;
    auto* const keys = static_cast<KeyedIndex*>(items_);
    auto* const room = static_cast<KeyedIndex*>(room_);
    const auto scatter_part = [&](std::size_t part) noexcept {
      std::size_t* const next = places(part);
      for (std::size_t i = begin(part); i < begin(part + 1); ++i) {
        const std::uint64_t key = keys[i].key;
        const std::size_t place = next[(key >> shift) % digit_values]++;
        room[place] = {key, place};
        detail::relocate(others + i, away + place);
      }
    };
    detail::whole_loop<most_parts>(executor_, parts_, scatter_part);
    const auto sort_bucket = [&](std::size_t value) noexcept {
      const std::size_t first = first_[value];
      const std::size_t last = first_[value + 1];
      sort_.sort(room + first, keys + first, last - first, order_, below(bits, shift), true);
      join(keys + first, room + first, last - first);
      constexpr std::size_t ahead = 16;  // they lie in any order, and far away
      for (std::size_t i = first; i < last; ++i) {
        if (last - i > ahead) __builtin_prefetch(away + keys[i + ahead].index);
        detail::relocate(away + keys[i].index, others + i);
      }
    };
    detail::whole_loop<digit_values>(executor_, digit_values, sort_bucket);
    return true;
  }

 private:
  static constexpr std::size_t most_parts = 64;
  static constexpr std::size_t least_part_items = 4096;

  std::size_t begin(std::size_t part) const noexcept {
    return count_ / parts_ * part + min(count_ % parts_, part);
  }
  std::size_t* places(std::size_t part) const noexcept {
    return places_.data() + part * digit_values;
  }

  std::uint64_t differing() {
    std::uint64_t bits[most_parts];
    auto look = [&](std::size_t part) {
      bits[part] = sort_.differing(items_, begin(part), begin(part + 1), order_);
    };
    detail::run_all_parts(executor_, parts_, look, {.until = until_});
    for (std::size_t part = 1; part < parts_; ++part) bits[0] |= bits[part];
    return bits[0];
  }

  void count(const void* items, unsigned shift) {
    auto count_part = [&](std::size_t part) {
      std::size_t* const counts = places(part);
      for (std::size_t value = 0; value < digit_values; ++value) counts[value] = 0;
      sort_.count(items, begin(part), begin(part + 1), order_, shift, counts);
    };
    detail::run_all_parts(executor_, parts_, count_part, {.until = until_});
    std::size_t next = 0;
    for (std::size_t value = 0; value < digit_values; ++value) {
      first_[value] = next;
      for (std::size_t part = 0; part < parts_; ++part) {
        std::size_t& place = places(part)[value];
        const std::size_t so_many = place;
        place = next;
        next += so_many;
      }
    }
    first_[digit_values] = next;
  }
  // Whether no bucket has much more than a thread's share.
  bool is_even() const noexcept {
    std::size_t most = 0;
    for (std::size_t value = 0; value < digit_values; ++value) {
      most = max(most, first_[value + 1] - first_[value]);
    }
    return most <= count_ / 4 * 5 / members_of(executor_);
  }
  static unsigned highest_digit(std::uint64_t bits) noexcept {
    const auto width = static_cast<unsigned>(std::bit_width(bits));
    return width > digit_bits ? width - digit_bits : 0;
  }
  static std::uint64_t below(std::uint64_t bits, unsigned shift) noexcept {
    return bits & ((std::uint64_t{1} << shift) - 1);
  }

  void scatter(const void* items, void* to, unsigned shift) {
    auto scatter_part = [&](std::size_t part) {
      sort_.scatter(items, to, begin(part), begin(part + 1), order_, shift, places(part));
    };
    detail::run_all_parts(executor_, parts_, scatter_part, {.until = until_});
  }

  // Until all of them are copied the items are where they were.
  void sort_buckets(unsigned shift, std::uint64_t bits) {
    scatter(items_, room_, shift);
    const auto sort_bucket = [&](std::size_t value) noexcept {
      const std::size_t offset = first_[value] * sort_.item_bytes;
      sort_.sort(static_cast<std::byte*>(room_) + offset, static_cast<std::byte*>(items_) + offset,
                 first_[value + 1] - first_[value], order_, below(bits, shift), true);
    };
    detail::whole_loop<digit_values>(executor_, digit_values, sort_bucket);
  }

  void sort_by_all_digits(std::uint64_t bits) {
    struct Home {
      DigitSortByAll& sort;
      void* from;
      void* to;
      ~Home() {
        // An odd number of passes led away.
        if (from != sort.items_) sort.copy_home();
      }
    } home{*this, items_, room_};
    while (bits != 0) {
      const auto shift = static_cast<unsigned>(std::countr_zero(bits));
      count(home.from, shift);
      scatter(home.from, home.to, shift);
      void* const from = home.from;
      home.from = home.to;
      home.to = from;
      bits &= shift + digit_bits < 64 ? ~std::uint64_t{0} << (shift + digit_bits) : 0;
    }
  }
  void copy_home() noexcept {
    const auto copy = [&](std::size_t part) noexcept {
      const std::size_t offset = begin(part) * sort_.item_bytes;
      __builtin_memcpy(static_cast<std::byte*>(items_) + offset,
                       static_cast<const std::byte*>(room_) + offset,
                       begin(part + 1) * sort_.item_bytes - offset);
    };
    detail::whole_loop<most_parts>(executor_, parts_, copy);
  }

  E& executor_;
  const DigitSort& sort_;
  const DigitOrder order_;
  void* const items_;
  void* const room_;
  const std::size_t count_;
  const std::size_t parts_;
  const Until until_;
  const ScratchArray<std::size_t> places_;  // for each part, of each value
  std::size_t first_[digit_values + 1];  // of each value
};

// Sorts an array of items that lie in it; `room` is as large.
template <class E>
void sort_by_digits(E& executor, const DigitSort& sort, DigitOrder order, void* items, void* room,
                    std::size_t count, const AlgorithmOptions& options) {
  if (count <= few_numbers || members_of(executor) < 2) {
    const std::uint64_t bits = sort.differing(items, 0, count, order);
    return sort.sort(items, room, count, order, bits, false);
  }
  DigitSortByAll<E>(executor, sort, order, items, room, count, options).run();
}

}}}  // namespace handoff::HANDOFF_ABI::detail
