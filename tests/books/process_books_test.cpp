// SPDX-License-Identifier: MIT
//
// The books of process/ report what is broken on purpose.
#include "books/process_books.hpp"
#include "books/expect_reported.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct BreakShared;

template <>
struct Books<BreakShared> {
  static SharedPositions& positions(SharedRing<int>& ring) { return *ring.positions_; }
  static SharedTickets::Word& word(SharedTicketRing& ring, std::uint64_t position) {
    return ring.tickets_.word(position);
  }
  static SharedTicketRing::Slot& slot(SharedTicketRing& ring, std::size_t slot) {
    return ring.slots_[slot];
  }
  static std::uint64_t word_of(std::uint64_t lap, std::uint64_t state, std::uint64_t producer = 0,
                               std::uint64_t count = 1) {
    return lap << SharedTickets::kLapShift | (count - 1) << SharedTickets::kCountShift |
           producer << SharedTickets::kStateBits | state;
  }
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

TEST(ProcessBooks, SharedMpscRing) {
  constexpr std::uint64_t free = 0, claimed = 1, full = 2, sealed = 4;
  alignas(4096) std::array<std::byte, 8192> memory{};
  using Ring = SharedMpscRing<int>;
  ASSERT_LE(Ring::bytes_for(4, 2), memory.size());
  auto ring = Ring::create(memory, 4, 2);
  detail::SharedTicketRing& inside = detail::Books<Ring>::inside(ring);
  Ring::Producer out(ring, 0);
  Ring::Consumer in(ring);
  int* place = nullptr;
  ASSERT_EQ(out.try_claim(place), Status::ok);
  const auto word = [&](std::uint64_t position) -> auto& { return Break::word(inside, position); };
  expect_reported(ring, Break::slot(inside, 0), 0U, "SharedMpscRing: claimed by nobody");
  expect_reported(ring, word(0), Break::word_of(0, claimed, 2),
                  "SharedMpscRing: claimed by nobody");
  expect_reported(ring, word(0), Break::word_of(0, claimed, 0, 5),
                  "SharedMpscRing: a claim of more places than there are");
  ASSERT_EQ(out.publish(), Status::ok);
  auto& tail = inside.tickets().words().tail;
  expect_reported(ring, tail, 2U, "SharedMpscRing: its tail is elsewhere");
  expect_reported(ring, word(1), Break::word_of(5, full), "SharedMpscRing: a place of another lap");
  expect_reported(ring, word(2), Break::word_of(0, full),
                  "SharedMpscRing: something behind a free place");
  expect_reported(ring, word(2), Break::word_of(0, sealed),
                  "SharedMpscRing: something behind a free place");
  expect_reported(ring, word(1), Break::word_of(0, sealed),
                  "SharedMpscRing: sealed and not closed");
  ring.close();
  int item = 0;
  ASSERT_EQ(in.try_pop(item), Status::ok);
  ASSERT_EQ(in.try_pop(item), Status::closed);
  EXPECT_EQ(fault_in(ring), "");
  expect_reported(ring, word(1), Break::word_of(7, free), "SharedMpscRing: a place of another lap");
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
