// SPDX-License-Identifier: MIT
//
// The scan of a part, by one thread. Not for users.
//
// A running sum waits for the sum before it: a nanosecond for each element, or half of one. Numbers
// that lie side by side are summed up in vectors of 16 bytes, which every CPU has: within the
// vector in log2 steps, then with what came before it, which is one step a vector.
#pragma once

#include <cstddef>
#include <cstring>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/reduction.hpp>
#include <handoff/core/internal/standard_operation.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

enum class ScanKind : unsigned char { inclusive, exclusive };

// Running sums of T in vectors.
template <class T>
class VectorScan {
  static constexpr std::size_t lanes = 16 / sizeof(T);
  using Lane = typename LaneOf<T>::type;
  using Vector [[gnu::vector_size(16)]] = Lane;

 public:
  // As many elements as whole vectors of them; how many that was. `value` becomes the sum.
  template <ScanKind kind>
  static std::size_t scan(const T* from, T* to, std::size_t count, T& value) noexcept {
    Vector before = Vector{} + static_cast<Lane>(value);
    std::size_t done = 0;
    for (; count - done >= 2 * lanes; done += 2 * lanes) {
      // Only the last line waits for the turn before.
      const Vector low = sums_of<1>(read(from + done));
      const Vector high = sums_of<1>(read(from + done + lanes));
      const Vector low_all = last_of(low, std::make_index_sequence<lanes>());
      const Vector high_all = last_of(high, std::make_index_sequence<lanes>());
      write(to + done, before + behind<kind>(low));
      write(to + done + lanes, before + (low_all + behind<kind>(high)));
      before += low_all + high_all;
    }
    value = static_cast<T>(before[0]);
    return done;
  }

 private:
  static Vector read(const T* from) noexcept {
    Vector items;
    std::memcpy(&items, from, sizeof(items));
    return items;
  }
  static void write(T* to, Vector items) noexcept { std::memcpy(to, &items, sizeof(items)); }
  template <ScanKind kind>
  static Vector behind(Vector sums) noexcept {
    return kind == ScanKind::inclusive ? sums : moved<1>(sums);
  }
  template <std::size_t step>
  static Vector sums_of(Vector items) noexcept {
    if constexpr (step < lanes) {
      return sums_of<2 * step>(items + moved<step>(items));
    } else {
      return items;
    }
  }
  // Each one `step` places behind its own; zeros come before.
  template <std::size_t step>
  static Vector moved(Vector items) noexcept {
    return moved<step>(items, std::make_index_sequence<lanes>());
  }
  template <std::size_t step, std::size_t... place>
  static Vector moved(Vector items, std::index_sequence<place...>) noexcept {
    return __builtin_shufflevector(Vector{}, items, (place + lanes - step)...);
  }
  template <std::size_t... place>
  static Vector last_of(Vector items, std::index_sequence<place...>) noexcept {
    return __builtin_shufflevector(items, items, (place * 0 + lanes - 1)...);
  }
};

// Whether it does what a scan has to do.
template <class I, class O, class T, class Op>
inline constexpr bool is_vector_scan =
    std::contiguous_iterator<I> && std::contiguous_iterator<O> &&
    std::is_same_v<std::iter_value_t<I>, T> && std::is_same_v<std::iter_value_t<O>, T> &&
    std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8 &&
    std::is_same_v<CommutativeOn<Op, T>, std::plus<>>;

// Scans the elements of a range, from a value that comes before them.
// Inlined where other calls are, GCC keeps a floating point value where these do not touch it,
// which costs four times as much.
template <ScanKind kind, class I, class O, class T, class Op>
[[gnu::noinline]] void scan_items(I each, I end, O out, T value, Op& op) {
  if constexpr (is_vector_scan<I, O, T, Op>) {
    const auto count = static_cast<std::size_t>(end - each);
    const std::size_t done = VectorScan<T>::template scan<kind>(std::to_address(each),
                                                                std::to_address(out), count, value);
    each += static_cast<std::iter_difference_t<I>>(done);
    out += static_cast<std::iter_difference_t<O>>(done);
  }
  for (; each != end; ++each, ++out) {
    if constexpr (kind == ScanKind::inclusive) {
      value = static_cast<T>(detail::invoke(op, std::move(value), *each));
      *out = value;
    } else {
      // The output may be the input.
      T next = static_cast<T>(detail::invoke(op, std::as_const(value), *each));
      *out = std::move(value);
      value = std::move(next);
    }
  }
}

}}}  // namespace handoff::HANDOFF_ABI::detail
