// SPDX-License-Identifier: MIT
//
// What reductions are made of: parts that follow from the number of items, and the fold of one. Not
// for users.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/standard_operation.hpp>
#include <handoff/sync/internal/cell.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// [0, items) in `count` parts, none of which is empty.
struct ReductionParts {
  ReductionParts(std::size_t items, std::size_t parts) noexcept
      : count(parts), size(items / parts), larger(items % parts) {}

  IndexRange of(std::size_t part) const noexcept {
    const std::size_t begin = part * size + min(part, larger);
    return {begin, begin + size + (part < larger ? 1 : 0)};
  }

  std::size_t count;
  std::size_t size;
  std::size_t larger;  // as many parts have one more
};

// As many parts as a reduction has, on any number of threads and ranks.
inline std::size_t reduction_parts_of(std::size_t items) noexcept {
  constexpr std::size_t most_parts = 256;
  return min(items, most_parts);
}

// A source of indices from 0 on.
struct PlainIndices {
  static constexpr std::size_t at(std::size_t index) noexcept { return index; }
  template <class Body>
  static void loop(IndexRange part, Body& body) {
    for (const std::size_t index : part) body(index);
  }
};

// What a part of a reduction comes to, once it is there.
template <class T>
class PartOfReduction {
 public:
  PartOfReduction() noexcept = default;
  ~PartOfReduction() { end(); }
  PartOfReduction(const PartOfReduction&) = delete;
  PartOfReduction& operator=(const PartOfReduction&) = delete;

  template <class Given>
  void set(Given&& given) {
    end();
    value_.construct(std::forward<Given>(given));
    is_there_ = true;
  }
  T& get() noexcept { return value_.write(); }

 private:
  void end() noexcept {
    if (std::exchange(is_there_, false)) value_.destroy();
  }

  sync::raw_cell<T> value_;
  bool is_there_ = false;
};

// Items are combined in turns into this many numbers, so that no combination waits for the one
// before it, and vectors of them go through the CPU at once.
inline constexpr std::size_t reduction_lanes = 32;

// What numbers are combined as in another order than theirs: signed ones without a sign, so that no
// sum overflows that would not in theirs.
template <class T>
struct LaneOf {
  using type = T;
};
template <class T>
  requires(std::is_integral_v<T> && !std::is_same_v<T, bool>)
struct LaneOf<T> {
  using type = std::make_unsigned_t<T>;
};

// map(items of the source) combined from left to right, but numbers by a commutative operation in
// lanes. At least one item.
template <class T, class Source, class Map, class Combine>
T reduce_items(const Source& source, IndexRange items, Map& map, Combine& combine) {
  const auto mapped = [&](std::size_t item) -> decltype(auto) {
    return detail::invoke(map, source.at(item));
  };
  std::size_t next = items.first + 1;
  T value = mapped(items.first);
  if constexpr (std::is_arithmetic_v<T> && !std::is_void_v<CommutativeOn<Combine, T>>) {
    if (items.size() >= 4 * reduction_lanes) {
      using Lane = typename LaneOf<T>::type;
      CommutativeOn<Combine, T> merge;
      Lane lanes[reduction_lanes];
      const auto item = [&](std::size_t i) { return static_cast<Lane>(static_cast<T>(mapped(i))); };
      for (std::size_t i = 0; i < reduction_lanes; ++i) lanes[i] = item(next + i);
      next += reduction_lanes;
      for (; items.last - next >= reduction_lanes; next += reduction_lanes) {
        for (std::size_t i = 0; i < reduction_lanes; ++i) {
          lanes[i] = static_cast<Lane>(merge(lanes[i], item(next + i)));
        }
      }
      Lane all = static_cast<Lane>(value);
      for (const Lane lane : lanes) all = static_cast<Lane>(merge(all, lane));
      value = static_cast<T>(all);
    }
  }
  if constexpr (std::is_arithmetic_v<T>) {
    // Pairs of pairs: only one combination of four waits for those before it.
    const auto pair = [&](std::size_t i) {
      return static_cast<T>(detail::invoke(combine, static_cast<T>(mapped(i)), mapped(i + 1)));
    };
    for (; items.last - next >= 4; next += 4) {
      const T low = pair(next);
      const T four = static_cast<T>(detail::invoke(combine, low, pair(next + 2)));
      value = static_cast<T>(detail::invoke(combine, value, four));
    }
  }
  auto take = [&]<class Item>(Item&& item) {
    value = static_cast<T>(
        detail::invoke(combine, std::move(value), detail::invoke(map, std::forward<Item>(item))));
  };
  source.loop(IndexRange{next, items.last}, take);
  return value;
}

}}}  // namespace handoff::HANDOFF_ABI::detail
