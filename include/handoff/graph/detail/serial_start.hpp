// SPDX-License-Identifier: MIT
//
// When a parallel algorithm stays with its caller: small inputs, whose hand-over would cost more
// than the work. Not for users.
//
// What functions cost nobody knows beforehand: a hundred items may be 50 nanoseconds of work or a
// second. So the caller begins alone and looks at the clock, first after a small part of a member's
// share. It hands over the rest as soon as that is worth it. Where the first item alone would be a
// good part of a member's share nothing is timed: so few items are not cheap, or nobody would ask
// for threads. Functions of the standard library on numbers are known to be cheap: they are
// counted.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <type_traits>

#include <handoff/config.hpp>
#include <handoff/core/bulk.hpp>
#include <handoff/core/index_range.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/internal/standard_operation.hpp>
#include <handoff/core/parallel_for.hpp>
#include <handoff/core/run_options.hpp>
#include <handoff/core/tally.hpp>
#include <handoff/core/until.hpp>
#include <handoff/graph/algorithm_options.hpp>
#include <handoff/sync/clock.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// So many items that cost a nanosecond or less.
inline constexpr std::size_t few_cheap_items = 16384;
// Members whose shares are fewer items than this begin at once.
inline constexpr std::size_t few_items_a_member = 8;

// How many threads work on a loop at most, the caller too.
template <class E>
std::size_t members_of(const E& executor) {
  static_assert(RunsLoops<E>,
                "algorithms run on a ThreadTeam, a ThreadPool, or another Bulk or Executor");
  static_assert(LoopIsIncluded<E>,
                "algorithms: include the executor's header for loops, e.g. "
                "<handoff/pool/parallel_for.hpp>");
  if constexpr (Bulk<E> && !Executor<E>) {  // of a pool, which is both, the caller is no worker
    return max<std::size_t>(executor.width(), 1);
  } else if constexpr (RunsLoops<E>) {
    return executor.width() + 1;
  } else {
    return 1;
  }
}

// Throws NotRun once it is over.
inline void refuse_late(const Until& until) {
  if (until.stop_requested()) return refuse_part({.cancelled = 1});
  if (until.has_deadline() && sync::clock::now() >= until.deadline()) refuse_part({.expired = 1});
}

// A clock that costs a few nanoseconds, and is right to a factor of two: the processor's counter of
// cycles. Where CPUs do not agree on it, something is handed over that need not be, or not.
#if defined(__x86_64__) && !defined(HANDOFF_EXPLORE)
inline constexpr std::uint64_t ticks_a_microsecond = 2500;
inline std::uint64_t rough_ticks() noexcept { return __builtin_ia32_rdtsc(); }
#else
inline constexpr std::uint64_t ticks_a_microsecond = 1000;
inline std::uint64_t rough_ticks() noexcept {
  return static_cast<std::uint64_t>(sync::clock::now().time_since_epoch().count());
}
#endif

// Less work than this is not handed over.
inline constexpr std::uint64_t worth_a_hand_over = 8 * ticks_a_microsecond;

// How far the caller came alone, and how long that took.
struct SerialStart {
  // So many items take about as long as a hand-over is worth.
  std::size_t items_worth_it() const noexcept {
    return static_cast<std::size_t>(static_cast<double>(worth_a_hand_over) *
                                    static_cast<double>(done) /
                                    static_cast<double>(max<std::uint64_t>(took, 1)));
  }

  std::size_t done = 0;
  std::uint64_t took = 0;  // ticks
};

// Calls alone(IndexRange) for blocks from 0 on, until all is done, or the rest is worth a hand-over
// to these members, or a call returns false: then there is no rest. Throws NotRun.
template <class Alone>
SerialStart serial_start(std::size_t count, std::size_t members, const Until& until, Alone& alone) {
  SerialStart start;
  if (members < 2 || count < few_items_a_member * members) return start;
  const std::uint64_t began = rough_ticks();
  // A small part of a member's share, should it be all that is done in parallel.
  auto size = max<std::size_t>(min<std::size_t>(count / (32 * members), 64), 1);
  while (start.done < count) {
    refuse_late(until);
    if (!alone(IndexRange{start.done, start.done + size})) return {count, start.took};
    start.done += size;
    const std::size_t left = count - start.done;
    if (left == 0) break;
    start.took = rough_ticks() - began;
    const std::size_t worth_it = start.items_worth_it();
    // One cold item says nothing: a good part of a hand-over has to be spent already.
    if (start.took >= worth_a_hand_over / 8 && left >= worth_it) break;
    // At most half of all: the next ones may cost more.
    size = min(left, max<std::size_t>(min(worth_it, count / 2), 1));
  }
  return start;
}

// body(IndexRange) for blocks that cover [0, count), on the caller alone as long as it makes no
// difference. Throws NotRun if one of them is left out.
template <bool cheap, class E, class Body>
void run_blocks(E& executor, std::size_t count, Body& body, const AlgorithmOptions& options) {
  const std::size_t members = members_of(executor);
  if (count == 0) return;
  std::size_t done = 0;
  if constexpr (cheap) {
    if (count <= few_cheap_items) {
      refuse_late(options.until);
      return body(IndexRange{0, count});
    }
  } else {
    auto alone = [&body](IndexRange block) {
      body(block);
      return true;
    };
    done = detail::serial_start(count, members, options.until, alone).done;
    if (done == count) return;
  }
  auto rest = [&body, done](IndexRange block) {
    body(IndexRange{done + block.first, done + block.last});
  };
  detail::run_all_parts(executor, count - done, rest, {.until = options.until});
}

// The element that many after the first.
template <class I>
constexpr I after(I first, std::size_t elements) {
  return first + static_cast<std::iter_difference_t<I>>(elements);
}

// What an algorithm returns of a range: its iterator, std::ranges::dangling of a temporary one.
template <class R>
struct IteratorOf {
  using type = void;
  template <class O>
  using with = void;
};
template <LoopRange R>
  requires std::ranges::range<R>
struct IteratorOf<R> {
  using type = std::ranges::borrowed_iterator_t<R>;
  template <class O>
  using with = std::ranges::in_out_result<type, O>;
};

// The range forms take what is no iterator, and say what a range is.
template <class R>
concept NoIterator = !std::random_access_iterator<std::remove_cvref_t<R>>;

template <class R>
constexpr bool is_algorithm_range() {
  static_assert(LoopRange<R>,
                "algorithms: a range is a vector, an array, a span: one whose iterators jump; copy "
                "others into a vector");
  return LoopRange<R>;
}

template <class Iterator, class Sentinel>
concept AlgorithmSpan =
    std::random_access_iterator<Iterator> && std::sized_sentinel_for<Sentinel, Iterator>;

}}}  // namespace handoff::HANDOFF_ABI::detail
