// SPDX-License-Identifier: MIT
//
// The books of process/ report what is broken on purpose.
#include "books/process_books.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <gtest/gtest.h>

#include "books/expect_reported.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct BreakShared;

template <>
struct Books<BreakShared> {
  static SharedPositions& positions(SharedRing<int>& ring) { return *ring.positions_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::BreakShared>;

TEST(ProcessBooks, SharedRing) {
  alignas(4096) std::array<std::byte, 8192> memory{};
  ASSERT_LE(SharedRing<int>::bytes_for(2), memory.size());
  auto ring = SharedRing<int>::create(memory, 2);
  SharedRing<int>::Producer out(ring);
  SharedRing<int>::Consumer in(ring);
  ASSERT_EQ(out.try_push(1), Status::ok);
  detail::SharedPositions& positions = Break::positions(ring);
  expect_reported(ring, positions.tail, 3U, "SharedRing: more items than places");
  expect_reported(ring, positions.head, 5U, "SharedRing: more items than places");
  expect_reported(ring, positions.end, 2U, "SharedRing: it has an end and is not closed");
  ring.close();
  expect_reported(ring, positions.end, 9U, "SharedRing: its end is not among its items");
  int item = 0;
  ASSERT_EQ(in.try_pop(item), Status::ok);
  ASSERT_EQ(in.try_pop(item), Status::closed);
  EXPECT_EQ(fault_in(ring), "");
}

TEST(ProcessBooks, ClaimTable) {
  using detail::Claim;
  using detail::ClaimState;
  std::array<detail::ClaimWord, 3> words{detail::ClaimWord(0), detail::ClaimWord(0),
                                         detail::ClaimWord(0)};
  detail::ClaimTable table(words);
  table.open(7);
  EXPECT_EQ(fault_in(table), "ClaimTable: a block that nobody has claimed");
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(table.finish(table.claim(7, 1, 0), i == 0));
  const detail::ClaimTable::Pass last = table.claim(7, 2, 0);
  EXPECT_EQ(fault_in(table), "ClaimTable: a block that somebody is at");
  EXPECT_TRUE(table.finish(last, true));
  const auto word = [](const Claim& claim) { return claim.word(); };
  expect_reported(table, words[1], word({.state = ClaimState::done, .run = 7}),
                  "ClaimTable: done, and nobody had claimed it");
  expect_reported(table, words[1], word({.state = ClaimState::done, .attempts = 1, .run = 8}),
                  "ClaimTable: a word of another run, or of none");
  expect_reported(table, words[2], ~std::uint64_t{0},
                  "ClaimTable: a word of another run, or of none");
  expect_reported(table, words[2], word({.state = ClaimState::free, .attempts = 1, .run = 7}),
                  "ClaimTable: a block that nobody has claimed");
}

}  // namespace
