// SPDX-License-Identifier: MIT
//
// The conformance suite of parallel_for and parallel_reduce, on whatever runs them: each index
// once, failures, nesting, sums that do not move.
//
// A typed suite over families, as that of Bulk. A family has besides:
//
//   static std::size_t members(std::size_t width);  // that take part for sure, with the caller
//   static constexpr bool own_parts = true;  // a Bulk whose threads have a part each, the same in
//                                            // each run
//   static constexpr bool nests = true;  // false: that is misuse
#pragma once

#include "support/compiled_once.hpp"
#include "support/loop_forms.hpp"
#include "support/own_parts.hpp"
#include "support/test.hpp"

namespace handoff::test {

template <class Family>
class LoopSuite : public ChosenFamily<Family> {};
TYPED_TEST_SUITE_P(LoopSuite);

HANDOFF_TYPED_TEST_P(LoopSuite, EachIndexOnce) {
  for (const std::size_t width : {1U, 2U, 7U}) {
    const auto on = TypeParam::make(width);
    for (const std::size_t count : {0U, 1U, 2U, 3U, 100U, 10'000U}) {
      std::vector<unsigned char> times(count + 10);  // plain bytes: the loop keeps threads apart
      parallel_for(*on, 10, count + 10, [&](std::size_t i) { ++times[i]; });
      for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 1);
      parallel_for(*on, 10, count + 10, [&](IndexRange range) {
        for (const std::size_t i : range) ++times[i];
      });
      for (std::size_t i = 0; i < times.size(); ++i) ASSERT_EQ(times[i], i < 10 ? 0 : 2);
    }
    parallel_for(*on, 5, 4, [](std::size_t) { FAIL(); });
  }
}

HANDOFF_TYPED_TEST_P(LoopSuite, TakesEveryForm) {
  for (const std::size_t width : {1U, 3U}) {
    const auto on = TypeParam::make(width);
    expect_all_loop_forms(*on);
  }
}

// All of them must be inside at once, or this hangs.
HANDOFF_TYPED_TEST_P(LoopSuite, CallsOthers) {
  for (const std::size_t width : {2U, 8U}) {
    const auto on = TypeParam::make(width);
    const std::size_t members = TypeParam::members(width);
    for (int round = 0; round < 20; ++round) {
      std::atomic<std::size_t> inside{0};
      parallel_for(*on, 0, members, [&](std::size_t) {
        ++inside;
        while (inside < members) std::this_thread::yield();
      });
      EXPECT_EQ(inside, members);
    }
  }
}

HANDOFF_TYPED_TEST_P(LoopSuite, EachThreadBeginsInItsOwnPart) {
  if constexpr (TypeParam::own_parts) {
    const auto on = TypeParam::make(3);
    const std::size_t members = TypeParam::members(3);
    const auto here = std::this_thread::get_id();
    const auto loop = [&](std::size_t count, FirstBlocks& blocks) {
      parallel_for(*on, 0, count, [&](IndexRange block) { blocks(block); });
    };
    expect_own_parts(members, loop, here);
    const auto run = [&](std::size_t count, FirstBlocks& blocks) {
      (void)on->run(count, [&](IndexRange block) { blocks(block); });
    };
    expect_own_parts(members, run, here);
  }
}

HANDOFF_TYPED_TEST_P(LoopSuite, NestsOrSaysThatItDoesNot) {
  const auto on = TypeParam::make(3);
  std::vector<std::atomic<int>> times(20 * 30 * 5);
  const auto loops = [&] {
    parallel_for(*on, 0, 20, [&](std::size_t i) {
      parallel_for(*on, 0, 30, [&](std::size_t j) {
        parallel_for(*on, 0, 5, [&](std::size_t k) { ++times[(i * 30 + j) * 5 + k]; });
      });
    });
  };
  if constexpr (TypeParam::nests) {
    loops();
    for (const auto& count : times) ASSERT_EQ(count, 1);
  } else {
    EXPECT_THROW(loops(), std::logic_error);
  }
}

// What is left when a block has thrown is left out.
HANDOFF_TYPED_TEST_P(LoopSuite, TheFirstFailureIsRethrown) {
  for (const std::size_t width : {1U, 3U}) {
    const auto on = TypeParam::make(width);
    for (int round = 0; round < 50; ++round) {
      std::atomic<std::size_t> ran{0};
      EXPECT_THROW(parallel_for(*on, 0, 100'000,
                                [&](std::size_t i) {
                                  ++ran;
                                  if (i == 50) throw std::runtime_error("planned");
                                }),
                   std::runtime_error);
      EXPECT_LE(ran, 100'000U);
      ran = 0;
      const auto throws = [&](std::size_t) {
        ++ran;
        throw 1;
      };
      EXPECT_THROW(parallel_for(*on, 0, 100'000, throws), int);
      EXPECT_LE(ran, width + 1) << "one each";
    }
    EXPECT_EQ(parallel_for(*on, 0, 10, [](std::size_t) {}).done, 10U) << "usable afterwards";
  }
}

// An index takes longer than a member works between two looks: so members claim single ones, and
// each begins one at most after a stop, and one in each 100 us before a deadline.
HANDOFF_TYPED_TEST_P(LoopSuite, EndsSoonAfterAStopOrADeadline) {
  constexpr std::size_t count = 4000;
  constexpr std::size_t stop_at = 20;
  constexpr std::chrono::microseconds one{100};
  for (const std::size_t width : {1U, 2U}) {
    const auto on = TypeParam::make(width);
    const std::size_t members = width + 1;  // at most
    for (const bool runs : {false, true}) {
      std::atomic<std::size_t> calls{0};
      sync::StopSource source;
      const sync::StopToken token = source.token();
      const auto loop = [&](const Until& until) {
        calls = 0;
        const auto one_call = [&](std::size_t) {
          std::this_thread::sleep_for(one);
          if (++calls == stop_at && !until.has_deadline()) source.request_stop();
        };
        if constexpr (Bulk<std::remove_cvref_t<decltype(*on)>>) {
          const auto block = [&](IndexRange range) {
            for (const std::size_t i : range) one_call(i);
          };
          if (runs) return on->run(count, block, {.block = 1, .until = until});
        }
        return parallel_for(*on, 0, count, one_call, {.until = until});
      };
      const Tally stopped = loop(token);
      EXPECT_LE(calls, stop_at + members);
      EXPECT_EQ(stopped.done, calls);
      EXPECT_EQ(stopped.cancelled, count - calls);
      const Tally late = loop(20 * one);
      EXPECT_LE(calls, 22 * members);
      EXPECT_EQ(late.done, calls);
      EXPECT_EQ(late.expired, count - calls);
    }
  }
}

HANDOFF_TYPED_TEST_P(LoopSuite, ReducesInOrder) {
  const auto on = TypeParam::make(3);
  for (const std::size_t count : {0U, 1U, 2U, 255U, 256U, 257U, 1000U}) {
    std::string expected = "<";
    for (std::size_t i = 0; i < count; ++i) expected += std::to_string(i) + ",";
    const std::string joined = parallel_reduce(
        *on, 0, count, std::string("<"), [](std::size_t i) { return std::to_string(i) + ","; },
        [](std::string a, const std::string& b) { return std::move(a) + b; });
    ASSERT_EQ(joined, expected) << "associative is enough, and the initial value counts once";
  }
}

HANDOFF_TYPED_TEST_P(LoopSuite, ASumIsTheSameOnAnyWidth) {
  auto random = test::random();
  std::vector<double> values(10'000);
  for (double& value : values) {
    value = std::ldexp(static_cast<double>(random()), -static_cast<int>(random() % 90));
  }
  double first = 0;
  for (const std::size_t width : {1U, 2U, 3U, 5U}) {
    const auto on = TypeParam::make(width);
    for (int round = 0; round < 5; ++round) {
      const double sum = parallel_reduce(
          *on, 0, values.size(), 0.0, [&](std::size_t i) { return values[i]; }, std::plus<>());
      if (first == 0) first = sum;
      ASSERT_EQ(sum, first);
    }
  }
}

REGISTER_TYPED_TEST_SUITE_P(LoopSuite, EachIndexOnce, TakesEveryForm, CallsOthers,
                            EachThreadBeginsInItsOwnPart, NestsOrSaysThatItDoesNot,
                            TheFirstFailureIsRethrown, EndsSoonAfterAStopOrADeadline,
                            ReducesInOrder, ASumIsTheSameOnAnyWidth);

}  // namespace handoff::test
