// SPDX-License-Identifier: MIT
//
// inclusive_scan and exclusive_scan of the standard, on the threads of any Bulk or any Executor.
//
//   handoff::inclusive_scan(pool, counts, ends.begin());                // running sums
//   handoff::exclusive_scan(team, counts, begins.begin(), std::size_t{0});
//
// For: running sums of many elements: positions, prefixes, cumulated weights. Not for: expensive
// operations on few threads: each element is combined twice, so two threads gain nothing but the
// memory of two, and pay with twice the work.
//
// - Order: the operation must be associative. It need not commute, but for std::plus and other
//   commutative operations of the standard library on numbers.
// - The result depends on nothing but the arguments: parts follow from the number of elements. So
//   running sums of floating point numbers are the same on any width, and the same in each run.
// - The output begins where the input does, or does not overlap it.
// - Small inputs, up to 128 KiB or 1,024 elements, are the caller's alone, whatever the operation
//   costs.
// - Memory: parts of 64 KiB are combined, then scanned by the same thread, as a rule, while they
//   are in its cache; so memory is read once.
// - Concurrency: as in graph/for_each.hpp. Blocks: until every element is done. Allocates: two
//   values a part that is under way, from options.scratch; an Executor's loops once each.
// - Exceptions: the first one is rethrown; the output holds any of its elements. options.until does
//   the same, by a NotRun.
// Source: two passes by blocks, G. Blelloch, "Prefix Sums and Their Applications", 1990.
#pragma once

#include <cstddef>
#include <iterator>
#include <memory>
#include <type_traits>
#include <utility>

#include <handoff/config.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/invoke.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/reduction.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/graph/detail/scan_items.hpp>
#include <handoff/graph/detail/scratch_parts.hpp>
#include <handoff/graph/detail/serial_start.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

namespace detail {

// Parts in rounds: each round scans the parts that the round before has combined, and combines the
// next ones, so that a part is still in a cache when it is scanned.
template <ScanKind kind, class I, class O, class T, class Op>
class Scan {
 public:
  Scan(I first, std::size_t count, O out, std::size_t size, std::size_t most, Op& op,
       const ScratchMemory& scratch)
      : first_(first),
        count_(count),
        out_(out),
        size_(size),
        parts_((count + size - 1) / size),
        most_(min(most, parts_)),
        op_(op),
        carries_(scratch, most_),
        sums_(scratch, most_) {}

  template <class E>
  void run(E& executor, T value, const AlgorithmOptions& options) {
    auto work = [this](std::size_t place) { work_at(place); };
    for (round_ = 0; round_ < parts_ + most_; round_ += most_) {
      detail::run_all_parts(executor, most_, work, {.until = options.until});
      for (std::size_t place = 0; place < most_ && round_ + place < parts_; ++place) {
        carries_[place].set(std::as_const(value));
        if (round_ + place + 1 == parts_) break;  // nothing comes behind the last one
        value =
            static_cast<T>(detail::invoke(op_, std::move(value), std::move(sums_[place].get())));
      }
    }
  }

 private:
  IndexRange items_of(std::size_t part) const noexcept {
    return {part * size_, min(part * size_ + size_, count_)};
  }

  void work_at(std::size_t place) {
    if (round_ != 0 && round_ + place - most_ < parts_) {
      const IndexRange items = items_of(round_ + place - most_);
      scan_items<kind>(after(first_, items.first), after(first_, items.last),
                       after(out_, items.first), std::move(carries_[place].get()), op_);
    }
    // What the last part comes to nobody asks.
    if (round_ + place + 1 < parts_) {
      const auto same = [](auto&& item) -> decltype(auto) {
        return std::forward<decltype(item)>(item);
      };
      sums_[place].set(reduce_items<T>(Elements<I>{first_}, items_of(round_ + place), same, op_));
    }
  }

  const I first_;
  const std::size_t count_;
  const O out_;
  const std::size_t size_;
  const std::size_t parts_;
  const std::size_t most_;  // parts of a round
  Op& op_;
  const ScratchParts<T> carries_;
  const ScratchParts<T> sums_;
  std::size_t round_ = 0;  // its first part to combine
};

template <ScanKind kind, class E, class I, class O, class T, class Op>
void scan(E& executor, I first, std::size_t count, O out, T value, Op& op,
          const AlgorithmOptions& options) {
  constexpr std::size_t part_bytes = 65536;
  constexpr auto size = max<std::size_t>(512, part_bytes / sizeof(T));
  constexpr std::size_t parts_a_member = 4;
  const std::size_t members = members_of(executor);
  if (count == 0) return;
  // Of integers the result is the same in one part.
  if (count <= 2 * size || (std::is_integral_v<T> && members == 1)) {
    refuse_late(options.until);
    scan_items<kind>(first, after(first, count), out, std::move(value), op);
  } else {
    Scan<kind, I, O, T, Op>(first, count, out, size, members * parts_a_member, op, options.scratch)
        .run(executor, std::move(value), options);
  }
}

template <class T, class I, class Op>
constexpr bool is_scan() {
  constexpr bool is_operation = std::is_invocable_r_v<T, Op&, T, std::iter_reference_t<I>> &&
                                std::is_invocable_r_v<T, Op&, T, T> &&
                                std::is_convertible_v<std::iter_reference_t<I>, T>;
  static_assert(is_operation,
                "scan: the operation takes two values, to which the elements convert, and gives "
                "one");
  return is_operation;
}

}  // namespace detail

// Assigns to each element from `out` on the combination of the elements from first to the one that
// stands at its place, that one too. Returns the ends of both.
template <class E, class I, class S, std::random_access_iterator O, class Op = std::plus<>>
  requires detail::AlgorithmSpan<I, S>
std::ranges::in_out_result<I, O> inclusive_scan(E& executor, I first, S last, O out, Op&& op = {},
                                                const AlgorithmOptions& options = {}) {
  using T = std::iter_value_t<I>;
  const std::size_t count = detail::distance_of(first, last);
  if constexpr (detail::is_scan<T, I, Op>()) {
    if (count != 0) {
      detail::refuse_late(options.until);
      T value = *first;
      *out = value;
      detail::scan<detail::ScanKind::inclusive>(executor, detail::after(first, 1), count - 1,
                                                detail::after(out, 1), std::move(value), op,
                                                options);
    }
  }
  return {detail::after(first, count), detail::after(out, count)};
}

// The same for each element of a range.
template <class E, detail::NoIterator R, std::random_access_iterator O, class Op = std::plus<>>
detail::IteratorOf<R>::template with<O> inclusive_scan(E& executor, R&& range, O out, Op&& op = {},
                                                       const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::inclusive_scan(executor, std::begin(range), std::end(range), out, op, options);
  }
}

// The same, without the element that stands at its place, and with init before all.
template <class E, class I, class S, std::random_access_iterator O, class T, class Op = std::plus<>>
  requires detail::AlgorithmSpan<I, S>
std::ranges::in_out_result<I, O> exclusive_scan(E& executor, I first, S last, O out, T init,
                                                Op&& op = {},
                                                const AlgorithmOptions& options = {}) {
  const std::size_t count = detail::distance_of(first, last);
  if constexpr (detail::is_scan<T, I, Op>()) {
    detail::scan<detail::ScanKind::exclusive>(executor, first, count, out, std::move(init), op,
                                              options);
  }
  return {detail::after(first, count), detail::after(out, count)};
}

// The same for each element of a range.
template <class E, detail::NoIterator R, std::random_access_iterator O, class T,
          class Op = std::plus<>>
detail::IteratorOf<R>::template with<O> exclusive_scan(E& executor, R&& range, O out, T init,
                                                       Op&& op = {},
                                                       const AlgorithmOptions& options = {}) {
  if constexpr (detail::is_algorithm_range<R>()) {
    return handoff::exclusive_scan(executor, std::begin(range), std::end(range), out,
                                   std::move(init), op, options);
  }
}

}}  // namespace handoff::HANDOFF_ABI
