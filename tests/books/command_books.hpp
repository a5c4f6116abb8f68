// SPDX-License-Identifier: MIT
//
// The books of Frame and of command buckets.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <handoff/command/command_bucket.hpp>
#include <handoff/command/detail/command_order.hpp>
#include <handoff/command/detail/command_store.hpp>
#include <handoff/memory/frame.hpp>

#include "books/books.hpp"

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

// Nobody holds a frame; each slot has one of the last frames, in its place.
template <>
struct Books<Frame> {
  static std::string fault(const Frame& frame) {
    const std::uint64_t number = test::now(frame.number_);
    for (std::uint64_t i = 0; i < frame.in_flight_; ++i) {
      const std::uint64_t word = test::now(frame.slots_[i].word);
      const std::uint64_t its = Frame::number_of(word);
      if ((word & Frame::kHolds) != 0) return "Frame: a hold was forgotten";
      if (its == 0 && number < frame.in_flight_) continue;
      if (its > number || number - its >= frame.in_flight_ || its % frame.in_flight_ != i) {
        return "Frame: a slot has another frame than it should";
      }
    }
    if (frame.left_.was_waiting() != 0) return "Frame: somebody is counted as waiting";
    return {};
  }
};

// No recorder is open; each run lies in a segment of the bucket, and so does what it refers to;
// what was recorded is what is there. Not of a recording whose frame is over.
template <>
struct Books<CommandStore> {
  static std::string fault(const CommandStore& store) {
    if (store.used_) return "CommandStore: a use was forgotten";
    if (test::now(store.open_) != 0) return "CommandStore: a recorder was forgotten";
    std::string found;
    std::size_t nodes = 0;
    const auto look = [&](const CommandNode& node) {
      ++nodes;
      for (const CommandRun* run = &node.first; run != nullptr; run = run->next) {
        if (run->count != 0 && !is_in_segment(store, run->top - 1)) {
          found = "CommandStore: a run lies nowhere";
        }
      }
    };
    std::uint64_t commands = 0;
    store.each_node([&](const CommandNode& node) {
      look(node);
      commands += node.commands() + node.appended;
    });
    for (const CommandNode* node = store.states_; node != nullptr; node = node->next) look(*node);
    if (nodes != store.nodes_) return "CommandStore: another number of recorders";
    if (commands != test::now(store.recorded_)) return "CommandStore: another number of commands";
    return found;
  }

  static bool is_in_segment(const CommandStore& store, const std::byte* at) {
    for (std::size_t i = 0; i < store.segments_; ++i) {
      const std::byte* const begin = store.segment(i);
      if (at >= begin && at < begin + store.memory_) return true;
    }
    return false;
  }
};

// What its order refers to is in a segment, and the order is as long as the recording.
template <class Key, class... Backends>
struct Books<CommandBucket<Key, Backends...>> {
  static std::string fault(const CommandBucket<Key, Backends...>& bucket) {
    const CommandStore& store = bucket.store_;
    if (auto fault = Books<CommandStore>::fault(store); !fault.empty()) return fault;
    if (bucket.arranged_ != store.changes()) return {};
    std::size_t commands = 0;
    store.each_node([&](const CommandNode& node) { commands += node.commands(); });
    if (bucket.order_.size() + bucket.folded_ != commands) {
      return "CommandBucket: the order has another number of commands";
    }
    Key before = 0;
    for (std::size_t i = 0; i < bucket.order_.size(); ++i) {
      if (bucket.order_.ref(i) >> kRefOffsetBits >= store.segments()) {
        return "CommandBucket: a reference leads nowhere";
      }
      const Key key = bucket.order_.key(i);
      if (bucket.sorted_ && key < before) return "CommandBucket: it is not sorted";
      before = key;
    }
    return {};
  }
};

}}}  // namespace handoff::HANDOFF_ABI::detail
