// SPDX-License-Identifier: MIT
//
// Pointers by distance: right after their memory moved, null in fresh memory, and never followed
// out of the bytes that are named.
#include "support/test.hpp"

namespace offset_ptr_test { namespace {

using handoff::offset_ptr;

struct Node {
  int value = 0;
  offset_ptr<Node> next;
};

TEST(OffsetPtr, IsAPointer) {
  int number = 7;
  const int other = 8;
  offset_ptr<int> pointer;
  EXPECT_FALSE(pointer);
  EXPECT_EQ(pointer.get(), nullptr);
  EXPECT_TRUE(pointer == nullptr);
  pointer = &number;
  EXPECT_TRUE(pointer);
  EXPECT_EQ(*pointer, 7);
  EXPECT_TRUE(pointer == &number);
  const offset_ptr<int> copy = pointer;
  EXPECT_TRUE(copy == pointer);
  const offset_ptr<const int> reader = copy;
  EXPECT_EQ(reader.get(), &number);
  pointer = nullptr;
  EXPECT_FALSE(pointer);
  pointer = copy;
  EXPECT_EQ(pointer.get(), &number);
  offset_ptr<int>& same = pointer;
  pointer = same;
  EXPECT_EQ(pointer.get(), &number);
  EXPECT_FALSE(offset_ptr<const int>(&other) == reader);
}

TEST(OffsetPtr, PointsAtItself) {
  Node alone;
  alone.next = &alone;
  EXPECT_EQ(alone.next->next.get(), &alone);
  offset_ptr<void> self;
  self = &self;  // a distance of nothing is no null
  EXPECT_TRUE(self);
  EXPECT_EQ(self.get(), &self);
}

TEST(OffsetPtr, FreshMemoryHoldsNullPointers) {
  alignas(offset_ptr<int>) std::array<std::byte, sizeof(offset_ptr<int>)> fresh{};
  offset_ptr<int> pointer(new int);
  delete pointer.get();
  std::memcpy(static_cast<void*>(&pointer), fresh.data(), fresh.size());
  EXPECT_EQ(pointer.get(), nullptr);
}

// What a second mapping is to the first one: the same bytes in another place.
TEST(OffsetPtr, IsRightWhereItsMemoryMoved) {
  constexpr std::size_t count = 5;
  std::array<Node, count> first;
  for (std::size_t i = 0; i < count; ++i) {
    first[i].value = static_cast<int>(i);
    if (i > 0) first[i].next = &first[i - 1];
  }
  std::array<Node, count> second;
  std::memcpy(static_cast<void*>(&second), &first, sizeof first);
  int expected = count - 1;
  for (const Node* node = &second.back(); node != nullptr; node = node->next.get()) {
    EXPECT_EQ(node->value, expected--);
    EXPECT_GE(node, second.data());
    EXPECT_LT(node, second.data() + count);
  }
  EXPECT_EQ(expected, -1);
}

TEST(OffsetPtr, StaysWithinTheBytesThatAreNamed) {
  struct Memory {
    offset_ptr<std::uint64_t> pointer;
    std::array<std::uint64_t, 8> words{};
  } memory;
  const auto bytes = std::as_bytes(std::span(&memory, 1));
  EXPECT_EQ(memory.pointer.in(bytes), nullptr);
  for (std::uint64_t& word : memory.words) {
    memory.pointer = &word;
    EXPECT_EQ(memory.pointer.in(bytes), &word);
  }
  EXPECT_EQ(memory.pointer.in(bytes, 2), nullptr) << "the last word has none after it";
  EXPECT_EQ(memory.pointer.in(bytes, ~std::size_t{0}), nullptr);
  EXPECT_EQ(memory.pointer.in(bytes.first(bytes.size() - 1)), nullptr);
  memory.pointer = memory.words.data() + memory.words.size();
  EXPECT_EQ(memory.pointer.in(bytes), nullptr);
  EXPECT_NE(memory.pointer.in(bytes, 0), nullptr) << "none of it";
  memory.pointer = memory.words.data();
  EXPECT_EQ(memory.pointer.in(bytes, 8), memory.words.data());
  EXPECT_EQ(memory.pointer.in(std::as_bytes(std::span(memory.words)).subspan(8)), nullptr);
}

TEST(OffsetPtr, WhateverItsBytesAre) {
  std::array<std::uint64_t, 16> words{};
  const auto bytes = std::as_bytes(std::span(words));
  auto random = handoff::test::random();
  std::size_t inside = 0;
  for (std::size_t i = 0; i < handoff::test::rounds(100'000); ++i) {
    words[3] = i % 2 == 0 ? random() : random() % 200 - 100;
    offset_ptr<std::uint64_t>* const pointer =
        std::launder(reinterpret_cast<offset_ptr<std::uint64_t>*>(&words[3]));
    const std::uint64_t* const target = pointer->in(bytes);
    if (target == nullptr) continue;
    ++inside;
    ASSERT_GE(target, words.data());
    ASSERT_LE(target, words.data() + words.size() - 1);
    ASSERT_EQ(reinterpret_cast<std::uintptr_t>(target) % alignof(std::uint64_t), 0u);
  }
  EXPECT_GT(inside, 0u);
}

}}  // namespace offset_ptr_test
