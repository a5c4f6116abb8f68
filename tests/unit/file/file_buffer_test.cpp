// SPDX-License-Identifier: MIT
//
// Memory for direct IO: aligned, zero, as many bytes as were asked for; one owner; given back, also
// where the system refuses a part of it.
#include "support/failing.hpp"
#include "support/test.hpp"

namespace file_buffer_test { namespace {

using handoff::FileBuffer;
using handoff::test::Call;

constexpr std::size_t kHuge = std::size_t{2} << 20;

std::uintptr_t place(const FileBuffer& buffer) {
  return reinterpret_cast<std::uintptr_t>(buffer.data());
}

// What the process has mapped.
std::size_t mapped_pages() {
  std::ifstream statm("/proc/self/statm");
  std::size_t pages = 0;
  statm >> pages;
  return pages;
}

TEST(FileBuffer, AsManyBytesAsAskedAtTheBeginningOfABlock) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{4095}, std::size_t{4096},
                                  std::size_t{4097}, kHuge - 1, kHuge, kHuge + 1, 3 * kHuge}) {
    SCOPED_TRACE(bytes);
    FileBuffer buffer(bytes);
    EXPECT_EQ(buffer.size(), bytes);
    EXPECT_EQ(buffer.span().size(), bytes);
    EXPECT_EQ(buffer.span().data(), buffer.data());
    const std::size_t page = bytes < kHuge ? 4096 : kHuge;
    EXPECT_EQ(buffer.capacity(), (bytes + page - 1) / page * page);
    EXPECT_EQ(place(buffer) % page, 0u);
    EXPECT_TRUE(std::all_of(buffer.data(), buffer.data() + buffer.capacity(),
                            [](std::byte b) { return b == std::byte{0}; }));
    std::fill_n(buffer.data(), buffer.capacity(), std::byte{0xA5});
    EXPECT_EQ(buffer.span().back(), std::byte{0xA5});
  }
}

TEST(FileBuffer, OfNoBytes) {
  for (const FileBuffer& buffer : {FileBuffer(), FileBuffer(0)}) {
    EXPECT_EQ(buffer.data(), nullptr);
    EXPECT_EQ(buffer.size(), 0u);
    EXPECT_EQ(buffer.capacity(), 0u);
    EXPECT_TRUE(buffer.span().empty());
  }
}

TEST(FileBuffer, HasOneOwnerAndIsGivenBack) {
  const std::size_t before = mapped_pages();
  constexpr std::size_t bytes = 64 * kHuge;
  {
    FileBuffer first(bytes);
    EXPECT_GE(mapped_pages(), before + bytes / 4096);
    first.data()[7] = std::byte{1};
    std::byte* const data = first.data();
    FileBuffer second(std::move(first));
    EXPECT_EQ(first.data(), nullptr);  // NOLINT(bugprone-use-after-move): it is empty, as promised
    EXPECT_EQ(first.size() + first.capacity(), 0u);
    EXPECT_EQ(second.data(), data);
    EXPECT_EQ(second.size(), bytes);
    EXPECT_EQ(second.data()[7], std::byte{1});

    FileBuffer third(5);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.size(), bytes);
    EXPECT_EQ(second.data(), nullptr);  // NOLINT(bugprone-use-after-move): as above
    FileBuffer& same = third;
    third = std::move(same);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.size(), bytes);
  }
  EXPECT_LT(mapped_pages(), before + bytes / 4096);
}

TEST(FileBuffer, WhatTheSystemRefusesIsThrown) {
  constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  for (const std::size_t bytes : {most, most - 4096, most - kHuge, most / 2}) {
    EXPECT_THROW(FileBuffer{bytes}, std::bad_alloc);
  }
  for (const std::size_t bytes : {std::size_t{100}, kHuge}) {
    const int places = handoff::test::until_whole(Call::map, ENOMEM, [&] {
      try {
        const FileBuffer buffer(bytes);
        buffer.data()[bytes - 1] = std::byte{1};
      } catch (const std::bad_alloc&) {
        EXPECT_TRUE(true);
      }
    });
    EXPECT_GE(places, 1);
  }
}

}}  // namespace file_buffer_test
