// SPDX-License-Identifier: MIT
//
// The books of message workers: cells that are free, keys that nobody runs, a gate with nobody in
// it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "books/books.hpp"
#include "bus/key_order.hpp"
#include "bus/message_cells.hpp"
#include "bus/message_gate.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// All messages are at their end: each cell is free, once, and is where a cell can be.
template <>
struct Books<MessageCells> {
  static std::string fault(const MessageCells& cells) {
    std::vector<bool> found(cells.capacity_ + 1, false);
    std::size_t count = 0;
    std::uint32_t number = MessageCells::number(test::now(cells.free_));
    while (number != 0) {
      if (number > cells.capacity_) return "MessageCells: a cell that is none is free";
      if (found[number]) return "MessageCells: a cell is free twice";
      found[number] = true;
      ++count;
      const MessageNode& node = cells.cell(number);
      if (node.home != MessageNode::Home::cell) return "MessageCells: a free cell is not at home";
      if (node.number != number) return "MessageCells: a cell has the number of another one";
      number = test::now(node.next_free);
    }
    return count == cells.capacity_ ? "" : "MessageCells: a cell is not free";
  }
};

// All messages are at their end: no key has a runner.
template <>
struct Books<KeyOrder> {
  static std::string fault(const KeyOrder& order) {
    for (std::size_t i = 0; i < order.stripes_; ++i) {
      if (order.stripe_[i].first != nullptr) return "KeyOrder: a key still has a runner";
    }
    return {};
  }
};

// Nobody is inside, waits or pauses.
template <>
struct Books<MessageGate> {
  static std::string fault(const MessageGate& gate) {
    if (test::now(gate.outside_) != 0) return "MessageGate: somebody without a seat is inside";
    for (std::size_t i = 0; i < gate.seats_; ++i) {
      if (test::now(gate.seat(i).inside) != 0) return "MessageGate: a seat is inside";
      if (gate.seat(i).running != nullptr) return "MessageGate: a seat still runs a message";
    }
    const std::uint32_t word = test::now(gate.word_);
    if (word / MessageGate::kOneWaits != 0) return "MessageGate: somebody is counted as waiting";
    if (gate.pausing_ != 0) return "MessageGate: a pause is counted as under way";
    const bool paused = (word & MessageGate::kPaused) != 0;
    if (paused != (gate.held_ && !gate.for_good())) {
      return "MessageGate: shut, and nobody holds it; or held, and open";
    }
    return {};
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
