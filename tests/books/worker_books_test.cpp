// SPDX-License-Identifier: MIT
//
// The books of message workers report what is broken on purpose. As every Books is a friend,
// Books<Break> is the one that breaks.
#include "books/worker_books.hpp"
#include "books/expect_reported.hpp"
#include "support/test.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

struct Break;

template <>
struct Books<Break> {
  static auto& free(MessageCells& cells) { return cells.free_; }
  static MessageNode& cell(MessageCells& cells, std::uint32_t number) { return cells.cell(number); }

  static auto& outside(MessageGate& gate) { return gate.outside_; }
  static auto& word(MessageGate& gate) { return gate.word_; }
  static auto& pausing(MessageGate& gate) { return gate.pausing_; }
  static auto& held(MessageGate& gate) { return gate.held_; }
};

}}}  // namespace handoff::HANDOFF_ABI::detail

namespace {

using namespace handoff;
using namespace handoff::detail;
using test::expect_reported;
using test::fault_in;
using Break = detail::Books<detail::Break>;

MessageOps ops_of_ints() {
  MessageOps ops{};
  ops.bytes = sizeof(int);
  ops.alignment = alignof(int);
  return ops;
}

TEST(WorkerBooks, MessageCells) {
  MessageCells cells(3, ops_of_ints());
  MessageNode* const taken = cells.take();
  EXPECT_EQ(fault_in(cells), "MessageCells: a cell is not free");
  cells.give_back(*taken);
  expect_reported(cells, Break::free(cells), 0, "MessageCells: a cell is not free");
  expect_reported(cells, Break::free(cells), 4, "MessageCells: a cell that is none is free");
  expect_reported(cells, Break::cell(cells, 3).next_free, 1, "MessageCells: a cell is free twice");
  expect_reported(cells, Break::cell(cells, 2).home, MessageNode::Home::heap,
                  "MessageCells: a free cell is not at home");
  expect_reported(cells, Break::cell(cells, 2).number, 3,
                  "MessageCells: a cell has the number of another one");
}

TEST(WorkerBooks, KeyOrder) {
  KeyOrder order(4);
  MessageNode node;
  EXPECT_TRUE(order.enter(node));
  EXPECT_EQ(fault_in(order), "KeyOrder: a key still has a runner");
  EXPECT_EQ(order.next(node), nullptr);
  EXPECT_EQ(fault_in(order), "");
}

TEST(WorkerBooks, MessageGate) {
  MessageGate gate(2, false);
  expect_reported(gate, Break::outside(gate), 1, "MessageGate: somebody without a seat is inside");
  expect_reported(gate, gate.seat(1).inside, 1, "MessageGate: a seat is inside");
  int message = 0;
  const void* const running = &message;
  expect_reported(gate, gate.seat(1).running, running, "MessageGate: a seat still runs a message");
  expect_reported(gate, Break::word(gate), 4, "MessageGate: somebody is counted as waiting");
  expect_reported(gate, Break::pausing(gate), 1, "MessageGate: a pause is counted as under way");
  expect_reported(gate, Break::word(gate), 1,
                  "MessageGate: shut, and nobody holds it; or held, and open");
  EXPECT_EQ(gate.pause({}), Status::ok);
  EXPECT_EQ(fault_in(gate), "");
  expect_reported(gate, Break::held(gate), false,
                  "MessageGate: shut, and nobody holds it; or held, and open");
  gate.resume();
  EXPECT_EQ(fault_in(gate), "");
  MessageGate shut(1, true);
  EXPECT_EQ(fault_in(shut), "");
}

}  // namespace
