// SPDX-License-Identifier: MIT
//
// Ranges that are in order already, or consist of few stretches that are: found by all threads at
// the speed of memory, and given up after a few items where they are not. Not for users.
#pragma once

#include <cstddef>
#include <iterator>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

inline constexpr std::size_t most_stretches = 16;

// Of a range: ascending, or descending without equal neighbours.
struct Stretches {
  std::size_t count = 0;  // 0: too many
  std::size_t end[most_stretches];
  bool descends[most_stretches];
};

// A part of the pairs of neighbours, each named by its first item: at which pairs the direction
// changes.
struct Turns {
  static constexpr std::size_t most = 4;
  std::size_t count = 0;
  std::size_t at[most];
  bool begins_down = false;
};

// The first pair from `begin` on that is not like `down`, or `end`.
template <class I, class Less>
std::size_t next_turn(I first, std::size_t begin, std::size_t end, bool down, Less& less) {
  if constexpr (std::is_arithmetic_v<std::iter_value_t<I>>) {
    constexpr std::size_t block = 128;  // which compilers compare without a branch
    while (end - begin >= block) {
      unsigned turned = 0;
      const I from = detail::after(first, begin);
      for (std::size_t i = 0; i < block; ++i) {
        const bool is_down = less(*detail::after(from, i + 1), *detail::after(from, i));
        turned |= static_cast<unsigned>(is_down != down);
      }
      if (turned != 0) break;
      begin += block;
    }
  }
  while (begin < end &&
         less(*detail::after(first, begin + 1), *detail::after(first, begin)) == down)
    ++begin;
  return begin;
}

// False if there are too many turns.
template <class I, class Less>
bool find_turns(I first, IndexRange pairs, Turns& turns, Less& less) {
  bool down = less(*detail::after(first, pairs.first + 1), *detail::after(first, pairs.first));
  turns.begins_down = down;
  for (std::size_t i = pairs.first;;) {
    i = detail::next_turn(first, i, pairs.last, down, less);
    if (i == pairs.last) return true;
    if (turns.count == Turns::most) return false;
    turns.at[turns.count++] = i;
    down = !down;
  }
}

// Adds pairs in one direction, up to `end`. An item at which the direction changes belongs to the
// stretch before it. False if there are too many stretches.
class StretchMaker {
 public:
  bool add(bool down, std::size_t end) {
    if (down == down_ || end_ == 0) {
      down_ = down;
      end_ = end;
      return true;
    }
    if (!close()) return false;
    down_ = down;
    end_ = end;
    return true;
  }
  bool close() {
    const std::size_t last = end_ + 1;
    // One item that is below its neighbour begins what ascends behind it.
    if (down_ && last - begin_ == 1 && !is_last_) return true;
    if (stretches_.count == most_stretches) return false;
    stretches_.end[stretches_.count] = last;
    stretches_.descends[stretches_.count++] = down_;
    begin_ = last;
    return true;
  }
  bool finish() {
    is_last_ = true;
    return close();
  }
  const Stretches& result() const noexcept { return stretches_; }

 private:
  Stretches stretches_;
  bool down_ = false;
  bool is_last_ = false;
  std::size_t begin_ = 0;  // the first item that is in no stretch
  std::size_t end_ = 0;    // the last item of the pairs
};

// All items are compared with their neighbours, if there are few stretches.
template <class E, class I, class Less>
Stretches find_stretches(E& executor, I first, std::size_t count, Less& less, const Until& until) {
  constexpr std::size_t most_parts = 64;
  constexpr std::size_t look_at_first = 256;
  Turns turns[most_parts];
  bool are_many[most_parts] = {};
  const std::size_t pairs = count - 1;
  if (!detail::find_turns(first, {0, min(pairs, look_at_first)}, turns[0], less)) return {};
  turns[0] = {};
  const std::size_t parts = max<std::size_t>(min(members_of(executor) * 4, most_parts), 1);
  const auto begin = [&](std::size_t i) { return pairs / parts * i + min(pairs % parts, i); };
  auto look = [&](std::size_t i) {
    are_many[i] = !detail::find_turns(first, {begin(i), begin(i + 1)}, turns[i], less);
  };
  detail::run_all_parts(executor, parts, look, {.until = until});
  StretchMaker maker;
  for (std::size_t i = 0; i < parts; ++i) {
    if (are_many[i]) return {};
    bool down = turns[i].begins_down;
    for (std::size_t t = 0; t < turns[i].count; ++t, down = !down) {
      if (!maker.add(down, turns[i].at[t])) return {};
    }
    if (!maker.add(down, begin(i + 1))) return {};
  }
  return maker.finish() ? maker.result() : Stretches{};
}

}}}  // namespace handoff::HANDOFF_ABI::detail
