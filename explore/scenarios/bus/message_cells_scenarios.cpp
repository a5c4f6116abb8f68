// SPDX-License-Identifier: MIT
//
// The cells of messages, and the order of their keys. docs/design/message_workers.md.
#include <handoff/bus/detail/message_node.hpp>
#include <handoff/sync/internal/atomic.hpp>
#include <handoff/sync/internal/cell.hpp>

#include "books/worker_books.hpp"
#include "bus/key_order.hpp"
#include "bus/message_cells.hpp"
#include "explore/scenario.hpp"

namespace message_cells_scenarios { namespace {

using namespace handoff;
using namespace handoff::detail;
using test::Scenario;

MessageOps ops_of_ints() {
  MessageOps ops{};
  ops.bytes = sizeof(int);
  ops.alignment = alignof(int);
  return ops;
}

// ---- Cells --------------------------------------------------------------------------------------

// Nobody finds it empty while there are as many cells as threads, none gets what another has, and
// what was done in a cell before comes before.
void each_once(std::uint64_t written) {
  test::Audited<MessageCells> cells(2, ops_of_ints(), written);
  const auto use = [&] {
    for (int i = 0; i < 2; ++i) {
      MessageNode* const mine = cells.take();
      explore::check(mine != nullptr, "there is one for each");
      if (mine == nullptr) return;
      mine->key += 1;  // plain: two in one cell are a race
      cells.give_back(*mine);
    }
  };
  explore::Thread other(use);
  use();
  other.join();
  MessageNode* const first = cells.take();
  MessageNode* const second = cells.take();
  explore::check(first != nullptr && second != nullptr && first != second, "both are back");
  explore::check(first->key + second->key == 4, "as often as they were used");
  explore::check(cells.take() == nullptr, "and no more");
  cells.give_back(*first);
  cells.give_back(*second);
}
const Scenario each_cell_once("message_cells/each_cell_once", [] { each_once(0); });
// The constructor writes the word twice.
const Scenario wraps("message_cells/wrap_40", [] { each_once((std::uint64_t{1} << 40) - 4); });

// One takes two and gives them back in the other order, while another one is about to take: the
// word's counter tells it that the cell it saw has been away.
const Scenario a_cell_comes_back("message_cells/a_cell_comes_back", [] {
  test::Audited<MessageCells> cells(3, ops_of_ints());
  explore::Thread other([&] {
    MessageNode* const first = cells.take();
    MessageNode* const second = cells.take();
    explore::check(first != nullptr && first != second, "each is one");
    cells.give_back(*first);
    if (second != nullptr) second->key += 1;  // this one is kept for a while
    if (second != nullptr) cells.give_back(*second);
  });
  MessageNode* const mine = cells.take();
  explore::check(mine != nullptr, "one is left");
  if (mine != nullptr) mine->key += 1;
  MessageNode* const another = cells.take();
  explore::check(another != mine, "each is one");
  if (another != nullptr) {
    another->key += 1;
    cells.give_back(*another);
  }
  if (mine != nullptr) cells.give_back(*mine);
  other.join();
});

// ---- Keys ---------------------------------------------------------------------------------------

// What is run of a key, plain: two runners at once are a race.
struct Ran {
  sync::cell<int> number;
  sync::cell<int> last;  // of the first producer
};

void run(KeyOrder& order, MessageNode* first, Ran& ran) {
  while (first != nullptr) {
    MessageNode* const behind = first->next;
    ++ran.number.write();
    const auto mark = static_cast<int>(first->type);
    if (mark != 0) {
      explore::check(mark == ran.last.read() + 1, "in the order of their producer");
      ran.last.write() = mark;
    }
    first = behind != nullptr ? behind : order.next(*first);
  }
}

const Scenario one_key("key_order/one_key", [] {
  test::Audited<KeyOrder> order(4);
  MessageNode nodes[4];
  Ran ran;
  nodes[0].type = 1;
  nodes[1].type = 2;
  nodes[2].type = 3;
  explore::Thread other([&] {
    if (order.enter(nodes[3])) run(order, &nodes[3], ran);
  });
  for (int i = 0; i < 3; ++i) {
    if (order.enter(nodes[i])) run(order, &nodes[i], ran);
  }
  other.join();
  explore::check(ran.number.read() == 4 && ran.last.read() == 3, "all ran");
});

// Of two keys on one stripe neither waits for the other.
const Scenario two_keys("key_order/two_keys", [] {
  test::Audited<KeyOrder> order(4);
  MessageNode nodes[4];
  Ran ran[2];
  for (std::uint64_t i = 0; i < 4; ++i) nodes[i].key = i % 2;
  explore::check(order.enter(nodes[0]), "nobody has it");
  explore::Thread other([&] {
    explore::check(order.enter(nodes[1]), "the other key is not held up");
    run(order, &nodes[1], ran[1]);
  });
  explore::check(!order.enter(nodes[2]), "the first one is run");
  run(order, &nodes[0], ran[0]);
  other.join();
  if (order.enter(nodes[3])) run(order, &nodes[3], ran[1]);
  explore::check(ran[0].number.read() == 2 && ran[1].number.read() == 2, "all ran");
});

// More wait than a runner gets at once.
const Scenario in_batches("key_order/in_batches", [] {
  test::Audited<KeyOrder> order(8);
  MessageNode nodes[6];
  Ran ran;
  for (std::uint32_t i = 0; i < 6; ++i) nodes[i].type = i + 1;
  explore::check(order.enter(nodes[0]), "nobody has it");
  for (int i = 1; i < 5; ++i) explore::check(!order.enter(nodes[i]), "it waits");
  explore::Thread other([&] {
    if (order.enter(nodes[5])) run(order, &nodes[5], ran);
  });
  run(order, &nodes[0], ran);
  other.join();
  explore::check(ran.last.read() == 6, "all ran");
  // Nodes come again, and nothing of before hangs on them: the second one had the third behind it.
  nodes[0].type = nodes[1].type = 0;
  explore::check(order.enter(nodes[0]), "nobody has it");
  explore::check(!order.enter(nodes[1]), "it waits");
  run(order, &nodes[0], ran);
  explore::check(ran.number.read() == 8, "those two ran");
});

}}  // namespace message_cells_scenarios
