// SPDX-License-Identifier: MIT
//
// Merges by several threads: stretches that are in order, in pairs, until one is left. Not for
// users.
//
// A round moves all items from one array to another. It is cut into pieces beforehand, each of
// which is merged by one thread: a cut lies where the items before it are the smallest ones of both
// stretches. Cuts never go back, whatever the comparison says, so each item is in one piece. If a
// comparison throws, the pieces that nobody has begun are moved as they are: behind a round that
// failed all items lie where they do behind one that did not.
#pragma once

#include <cstddef>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/attempt.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/detail/merge_cut.hpp>
#include <handoff/graph/detail/merge_sort.hpp>
#include <handoff/graph/detail/serial_start.hpp>
#include <handoff/graph/detail/whole_loop.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Of a round: enough for 16 threads to end together.
inline constexpr std::size_t most_pieces = 128;
// What is moved by one thread at least.
inline constexpr std::size_t least_piece_bytes = 16384;

// A range that is being sorted, and as much room besides. Where all items lie: at home in the end,
// also by an exception.
template <class T>
struct SortedArray {
  T* const home;
  T* const room;  // raw
  const std::size_t count;
  bool is_home = true;

  ~SortedArray() {
    if (!is_home) detail::relocate_all(room, room + count, home);
  }
  T* here() const noexcept { return is_home ? home : room; }
  T* there() const noexcept { return is_home ? room : home; }
};

template <class T>
class MergeRound {
 public:
  MergeRound(T* from, T* to, std::size_t count, std::size_t pieces) noexcept
      : from_(from), to_(to), size_((count + pieces - 1) / pieces) {}

  // Adds the merge of [begin, middle) and [middle, end).
  template <class Less>
  void add(std::size_t begin, std::size_t middle, std::size_t end, Less& less) {
    auto second_is_less = [&less](T& b, T& a) { return less(b, a); };
    T* const first = from_ + begin;
    T* const second = from_ + middle;
    std::size_t taken_first = 0;
    std::size_t taken_second = 0;
    for (std::size_t place = 0; place < end - begin;) {
      const std::size_t done = place;
      place = min(end - begin, place + size_);
      const std::size_t cut = detail::merge_cut(first, middle - begin, taken_first, second,
                                                end - middle, taken_second, place, second_is_less);
      piece_[count_++] = {first + taken_first,  first + cut,        second + taken_second,
                          second + place - cut, to_ + begin + done, false};
      taken_first = cut;
      taken_second = place - cut;
    }
  }

  // Behind this all items are where the round leads to, also by an exception.
  template <class E, class Less>
  void run(E& executor, Less& less, const Until& until) {
    auto merge_piece = [&](std::size_t i) {
      Piece& piece = piece_[i];
      piece.is_begun = true;
      detail::merge_to(piece.first, piece.first_end, piece.second, piece.second_end, piece.out,
                       less);
    };
    detail::call_or([&] { detail::run_all_parts(executor, count_, merge_piece, {.until = until}); },
                    [&]() noexcept {
                      for (std::size_t i = 0; i < count_; ++i) {
                        const Piece& piece = piece_[i];
                        if (piece.is_begun) continue;
                        T* const out =
                            detail::relocate_all(piece.first, piece.first_end, piece.out);
                        detail::relocate_all(piece.second, piece.second_end, out);
                      }
                    });
  }

 private:
  struct Piece {
    T* first;
    T* first_end;
    T* second;
    T* second_end;
    T* out;
    bool is_begun;
  };

  T* const from_;
  T* const to_;
  const std::size_t size_;
  std::size_t count_ = 0;
  Piece piece_[2 * most_pieces];  // each merge may have a smaller one more
};

// How many pieces so many items are cut into.
template <class T, class E>
std::size_t pieces_of(const E& executor, std::size_t count) {
  const auto least = max<std::size_t>(least_piece_bytes / sizeof(T), 64);
  return max<std::size_t>(min(min(members_of(executor) * 8, most_pieces), count / least), 1);
}

// Moves all home.
template <class E, class T>
void bring_home(E& executor, SortedArray<T>& array) noexcept {
  if (array.is_home) return;
  detail::whole_loop_over(executor, array.count, [&array](IndexRange part) noexcept {
    detail::relocate_all(array.room + part.first, array.room + part.last, array.home + part.first);
  });
  array.is_home = true;
}

// Merges the stretches that end at end[0], end[1], ..., which are at most most_pieces. `end` is
// written to. All is home then.
template <class E, class T, class Less>
void merge_stretches(E& executor, SortedArray<T>& array, std::size_t* end, std::size_t stretches,
                     Less& less, const Until& until) {
  while (stretches > 1) {
    MergeRound<T> round(array.here(), array.there(), array.count,
                        pieces_of<T>(executor, array.count));
    std::size_t merged = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < stretches; i += 2) {
      const std::size_t last = end[min(i + 1, stretches - 1)];
      round.add(begin, end[i], last, less);
      begin = last;
      end[merged++] = last;
    }
    stretches = merged;
    detail::call_or([&] { round.run(executor, less, until); },
                    [&]() noexcept { array.is_home = !array.is_home; });
    array.is_home = !array.is_home;
  }
  detail::bring_home(executor, array);
}

// Sorts parts, each on one thread, and merges them. `room` is as large as the range, and raw.
template <class E, class T, class Less>
void merge_sort_by_all(E& executor, T* items, T* room, std::size_t count, Less& less,
                       const Until& until) {
  std::size_t parts = 1;
  bool to_room = false;  // so that the last round leads home
  while (parts < 4 * members_of(executor) && parts < most_pieces) {
    parts *= 2;
    to_room = !to_room;
  }
  std::size_t end[most_pieces];
  bool is_begun[most_pieces] = {};
  for (std::size_t i = 0; i < parts; ++i) {
    end[i] = count / parts * (i + 1) + min(count % parts, i + 1);
  }
  auto sort_part = [&](std::size_t i) {
    is_begun[i] = true;
    const std::size_t begin = i == 0 ? 0 : end[i - 1];
    detail::merge_sort(items + begin, room + begin, end[i] - begin, to_room, less);
  };
  SortedArray<T> array{items, room, count};
  detail::call_or([&] { detail::run_all_parts(executor, parts, sort_part, {.until = until}); },
                  [&]() noexcept {
                    for (std::size_t i = 0; to_room && i < parts; ++i) {
                      const std::size_t begin = i == 0 ? 0 : end[i - 1];
                      if (is_begun[i]) relocate_all(room + begin, room + end[i], items + begin);
                    }
                  });
  array.is_home = !to_room;
  detail::merge_stretches(executor, array, end, parts, less, until);
}

}}}  // namespace handoff::HANDOFF_ABI::detail
