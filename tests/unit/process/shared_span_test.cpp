// SPDX-License-Identifier: MIT
//
// Spans that name a memory: found in each process, and never out of bounds whatever their bits.
#include "support/test.hpp"
#include "unit/process/shared_memory_support.hpp"

namespace shared_span_test { namespace {

using namespace handoff;
using namespace handoff::test;

constexpr std::size_t kBytes = 8000;
constexpr std::size_t kCount = kBytes / sizeof(double);

static_assert(std::is_trivially_copyable_v<SharedSpan<double>>, "it may lie in shared memory");

SharedMemory made() { return published({.bytes = kBytes}); }

TEST(SharedSpan, NamesElements) {
  const SharedMemory memory = made();
  const SharedSpan<double> all(memory, 0, kCount);
  EXPECT_EQ(all.size(), kCount);
  EXPECT_EQ(all.key(), memory.key());
  const std::span<double> elements = all.get();
  ASSERT_EQ(elements.size(), kCount);
  EXPECT_EQ(static_cast<void*>(elements.data()), memory.bytes().data());
  for (std::size_t i = 0; i < kCount; ++i) elements[i] = static_cast<double>(i);
  const SharedSpan<const double> some(memory, 80, 3);
  EXPECT_EQ(some.get()[0], 10);
  EXPECT_EQ(some.in(memory)[2], 12);
  const SharedSpan<const double> as_constant = all;
  EXPECT_EQ(as_constant.get().back(), kCount - 1);
  EXPECT_TRUE(SharedSpan<int>().empty());
  EXPECT_TRUE(SharedSpan<int>().get().empty());
  EXPECT_TRUE(SharedSpan<int>(memory, kBytes, 0).get().empty());
}

TEST(SharedSpan, IsFoundWhereAnotherProcessHasIt) {
  const SharedMemory memory = made();
  const SharedSpan<int> numbers(memory, 100, 50);
  numbers.get()[7] = 1;
  const int code = in_child([&] {
    const SharedMemory own = SharedMemory::attach(memory.descriptor());
    if (own.bytes().data() == memory.bytes().data()) return 1;
    const std::span<int> mine = numbers.in(own);
    if (mine[7] != 1) return 2;
    mine[7] = 2;
    return numbers.get()[7] == 2 ? 0 : 3;
  });
  EXPECT_EQ(code, 0);
  EXPECT_EQ(numbers.get()[7], 2);
}

TEST(SharedSpan, IsGoneWithTheLastHandle) {
  SharedMemory memory = made();
  const SharedSpan<int> numbers(memory, 0, 5);
  SharedMemory moved = std::move(memory);
  EXPECT_EQ(numbers.get().size(), 5u);
  {
    const SharedMemory other = SharedMemory::attach(moved.descriptor());
    const SharedMemory stranger = made();
    moved = SharedMemory();
    EXPECT_EQ(static_cast<void*>(numbers.get().data()), other.bytes().data());
  }
  const auto gone = refused([&] { return numbers.get(); });
  EXPECT_EQ(gone.error, ENXIO);
  EXPECT_EQ(gone.step, "span");
}

TEST(SharedSpan, OfAnotherMemory) {
  const SharedMemory memory = made();
  const SharedMemory other = made();
  const SharedSpan<int> numbers(memory, 0, 5);
  EXPECT_EQ(refused([&] { return numbers.in(other); }).error, ENXIO);
  EXPECT_THROW((void)numbers.in(SharedMemory()), std::logic_error);
  EXPECT_EQ(refused([&] { return SharedSpan<int>(memory, kBytes, 1); }).error, ERANGE);
  EXPECT_EQ(refused([&] { return SharedSpan<int>(memory, kBytes + 4, 1); }).error, ERANGE);
  EXPECT_EQ(refused([&] { return SharedSpan<int>(memory, 0, kBytes / 4 + 1); }).error, ERANGE);
  EXPECT_EQ(refused([&] { return SharedSpan<int>(memory, 2, 1); }).error, ERANGE) << "unaligned";
}

TEST(SharedSpan, OfAViewIsForReading) {
  std::uint64_t key = 0;
  std::array<std::byte, sizeof(SharedSpan<int>)> bits{};
  SharedMemory memory = made();
  const SharedMemory view = SharedMemory::attach(memory.descriptor(), {.writable = false});
  const SharedSpan<int> numbers(memory, 0, 5);
  key = numbers.key();
  EXPECT_EQ(static_cast<void*>(numbers.get().data()), memory.bytes().data())
      << "the mapping that can be written to";
  EXPECT_EQ(refused([&] { return numbers.in(view); }).error, EACCES);
  EXPECT_EQ(SharedSpan<const int>(view, 0, 5).in(view).size(), 5u);
  std::memcpy(bits.data(), &numbers, sizeof numbers);
  const int descriptor = ::dup(view.descriptor());
  memory = SharedMemory();
  EXPECT_EQ(refused([&] { return numbers.get(); }).error, EACCES) << "only the view is left";
  EXPECT_EQ(SharedSpan<const int>(numbers).get().size(), 5u);
  EXPECT_EQ(view.key(), key);
  ::close(descriptor);
}

TEST(SharedSpan, WhateverItsBitsAre) {
  const SharedMemory memory = made();
  const auto bytes = memory.bytes();
  auto random = handoff::test::random();
  std::size_t inside = 0;
  const std::size_t tries = handoff::test::deep() ? 1'000'000 : handoff::test::rounds(20'000);
  for (std::size_t i = 0; i < tries; ++i) {
    const std::array<std::uint64_t, 3> bits{
        random() % 8 == 0 ? random() : memory.key(),
        random() % 4 == 0 ? random() : random() % (kBytes + 100),
        random() % 4 == 0 ? random() << random() % 64 : random() % kCount};
    SharedSpan<const std::uint64_t> span;
    static_assert(sizeof span == sizeof bits);
    std::memcpy(static_cast<void*>(&span), bits.data(), sizeof bits);
    (void)refused([&] {
      const std::span<const std::uint64_t> elements = span.get();
      if (elements.empty()) return 0;
      ++inside;
      const auto* const first = reinterpret_cast<const std::byte*>(elements.data());
      EXPECT_GE(first, bytes.data());
      const auto behind = static_cast<std::size_t>(bytes.data() + bytes.size() - first);
      EXPECT_LE(elements.size(), behind / sizeof(std::uint64_t));
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % alignof(std::uint64_t), 0u);
      return 1;
    });
  }
  EXPECT_GT(inside, 0u);
}

}}  // namespace shared_span_test
