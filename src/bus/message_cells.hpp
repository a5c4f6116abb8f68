// SPDX-License-Identifier: MIT
//
// Room for messages: `capacity` cells, each a node and the message behind it, and which of them are
// free.
//
// The free ones are a stack: the cell that was used last is the next one to be used, while its
// memory is near. A thread that takes or gives one exchanges one word: the number of the uppermost
// cell, and how often the word was written, so that a cell which was taken and given back meanwhile
// is not mistaken for one that never left. (40 bits: an exchange would have to sleep through
// exactly 2^40 others, an hour and more.)
//
// Concurrency: anybody. Order: what came before give_back() happens before the take() of the cell.
// Blocks: never. Allocates: the constructor; allocate(). Throws: these two.
// Source: R. K. Treiber's stack (1986) with the counter of IBM's System/370 manual.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include <handoff/bus/detail/message_node.hpp>
#include <handoff/config.hpp>
#include <handoff/core/internal/books.hpp>
#include <handoff/core/internal/min_max.hpp>
#include <handoff/core/misuse.hpp>
#include <handoff/sync/cache_line.hpp>
#include <handoff/sync/internal/allocate.hpp>
#include <handoff/sync/internal/atomic.hpp>

namespace handoff { inline namespace HANDOFF_ABI { namespace detail {

class MessageCells {
 public:
  static constexpr std::size_t most = (std::size_t{1} << 24) - 1;

  // A capacity of 0 is misuse. Throws std::length_error for more than `most`, and std::bad_alloc.
  // `written`: how often the word counts as written before.
  MessageCells(std::size_t capacity, const MessageOps& ops, std::uint64_t written = 0)
      : capacity_(checked(capacity)),
        alignment_(detail::max(alignof(MessageNode), ops.alignment, sync::cache_line)),
        offset_(round_up(sizeof(MessageNode), ops.alignment)),
        stride_(round_up(offset_ + ops.bytes, alignment_)),
        memory_(static_cast<std::byte*>(sync::allocate(bytes_of_all(), alignment_))),
        free_(written << kNumberBits) {
    for (std::size_t i = capacity_; i > 0; --i) {
      MessageNode& node = make(memory_ + (i - 1) * stride_);
      node.number = static_cast<std::uint32_t>(i);
      give_back(node);
    }
  }
  // All are free.
  ~MessageCells() {
    // equivalent(bound delete negate): a node's destructor does nothing outside the explorer
    for (std::uint32_t i = 1; i <= capacity_; ++i) std::destroy_at(&cell(i));
    sync::deallocate(memory_, capacity_ * stride_, alignment_);
  }

  // A free cell; null: there is none.
  MessageNode* take() noexcept {
    // order: acquire pairs with the release in give_back(): the cell's link, and that its last
    // message is gone. All changes of the word are exchanges, so it pairs with each before.
    std::uint64_t word = free_.load(sync::order::acquire);
    while (number(word) != 0) {
      MessageNode& first = cell(number(word));
      // order: relaxed, ordered by the acquire; if it is of another time, the exchange fails.
      const std::uint32_t next = first.next_free.load(sync::order::relaxed);
      // order: acquire, as above.
      if (free_.compare_exchange_weak(word, follow(word, next), sync::order::acquire,
                                      sync::order::acquire)) {
        return &first;
      }
    }
    return nullptr;
  }

  // One that take() returned; its message is gone.
  void give_back(MessageNode& node) noexcept {
    std::uint64_t word = free_.load(sync::order::relaxed);  // order: relaxed, the exchange decides
    do {
      node.next_free.store(number(word), sync::order::relaxed);  // order: relaxed, released below
      // order: release pairs with the acquire in take(); relaxed on failure, tried again.
    } while (!free_.compare_exchange_weak(word, follow(word, node.number), sync::order::release,
                                          sync::order::relaxed));
  }

  // One beyond the capacity. Throws std::bad_alloc.
  MessageNode& allocate() const {
    MessageNode& node = make(static_cast<std::byte*>(sync::allocate(stride_, alignment_)));
    node.home = MessageNode::Home::heap;
    return node;
  }
  void deallocate(MessageNode& node) const noexcept {
    // equivalent(delete swap): a node's destructor does nothing outside the explorer
    std::destroy_at(&node);
    sync::deallocate(&node, stride_, alignment_);
  }

 private:
  template <class>
  friend struct Books;

  static constexpr unsigned kNumberBits = 24;
  static std::uint32_t number(std::uint64_t word) noexcept {
    return static_cast<std::uint32_t>(word & most);
  }
  // The word that comes after this one, with another number.
  static std::uint64_t follow(std::uint64_t word, std::uint32_t next) noexcept {
    return (((word >> kNumberBits) + 1) << kNumberBits) | next;
  }
  static std::size_t round_up(std::size_t bytes, std::size_t to) noexcept {
    return (bytes + to - 1) / to * to;
  }
  static std::size_t checked(std::size_t capacity) {
    if (capacity == 0) misuse("message workers were made with a capacity of 0: say 1 or more");
    if (capacity > most) {
      raise(std::length_error("message workers have room for between 1 and " +
                              std::to_string(most) + " messages, not " + std::to_string(capacity)));
    }
    return capacity;
  }
  std::size_t bytes_of_all() const {
    // equivalent(bound): as many bytes are not to be had: std::bad_alloc either way
    if (stride_ > PTRDIFF_MAX / capacity_) raise(std::bad_alloc());
    return capacity_ * stride_;
  }

  MessageNode& make(std::byte* memory) const noexcept {
    auto* const node = ::new (memory) MessageNode;
    node->message = memory + offset_;
    return *node;
  }
  // By its number, which begins with 1.
  MessageNode& cell(std::uint32_t which) const noexcept {
    void* const memory = memory_ + (which - 1) * stride_;
    return *std::launder(static_cast<MessageNode*>(memory));
  }

  const std::size_t capacity_;
  const std::size_t alignment_;
  const std::size_t offset_;  // of the message behind its node
  const std::size_t stride_;
  std::byte* const memory_;
  alignas(sync::destructive_span) sync::atomic<std::uint64_t> free_;
};

}}}  // namespace handoff::HANDOFF_ABI::detail
