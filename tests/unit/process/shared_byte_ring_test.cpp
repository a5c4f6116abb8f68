// SPDX-License-Identifier: MIT
//
// SharedByteRing: records of all lengths, round the end, in place; lengths that cannot be. The rest
// is in shared_rings_test.cpp.
#include "forked.hpp"
#include "shared_item.hpp"
#include "support/test.hpp"

namespace shared_byte_ring_test { namespace {

using namespace handoff;
using test::RingInPages;
using Bytes = std::vector<std::byte>;

using MadeBytes = RingInPages<SharedByteRing>;

// Record i: its length and its bytes follow from i.
Bytes record_of(std::uint64_t i, std::size_t most) {
  Bytes record(static_cast<std::size_t>(i * 7919 % (most + 1)));
  for (std::size_t k = 0; k < record.size(); ++k) record[k] = static_cast<std::byte>(i + k);
  return record;
}
bool is_record(std::span<const std::byte> found, std::uint64_t i, std::size_t most) {
  const Bytes wanted = record_of(i, most);
  return std::equal(found.begin(), found.end(), wanted.begin(), wanted.end());
}

TEST(SharedByteRing, RecordsOfAllLengthsComeInOrder) {
  MadeBytes made(100);  // 128
  EXPECT_EQ(made.ring.capacity(), 128U);
  EXPECT_EQ(made.ring.most(), 56U);
  SharedByteRing::Producer out(made.ring);
  SharedByteRing::Consumer in(SharedByteRing::attach(made.pages.bytes()));
  std::span<const std::byte> found;
  EXPECT_EQ(in.try_peek(found), Status::empty);
  std::uint64_t pushed = 0;
  for (std::uint64_t popped = 0; popped < 2000;) {
    while (out.try_push(record_of(pushed, 56)) == Status::ok) ++pushed;
    for (std::uint64_t some = 1 + popped % 3; some != 0 && popped != pushed; --some, ++popped) {
      ASSERT_EQ(in.try_peek(found), Status::ok);
      ASSERT_TRUE(is_record(found, popped, 56));
      in.release();
      in.release();
    }
  }
  EXPECT_FALSE(in.damaged());
}

TEST(SharedByteRing, TheLongestRecordAlwaysFitsOnceTheRingIsEmpty) {
  for (std::size_t before = 0; before < 16; ++before) {
    MadeBytes made(128);
    SharedByteRing::Producer out(made.ring);
    SharedByteRing::Consumer in(made.ring);
    std::span<const std::byte> found;
    for (std::size_t i = 0; i < before; ++i) {
      ASSERT_EQ(out.try_push(Bytes(0)), Status::ok);
      ASSERT_EQ(in.try_peek(found), Status::ok);
      EXPECT_TRUE(found.empty());
      in.release();
    }
    ASSERT_EQ(out.try_push(record_of(56, 56)), Status::ok);
    ASSERT_EQ(in.try_peek(found), Status::ok);
    EXPECT_TRUE(is_record(found, 56, 56));
    in.release();
    EXPECT_TRUE(made.ring.empty());
  }
}

TEST(SharedByteRing, InPlaceAndShorterThanClaimed) {
  MadeBytes made(128);
  SharedByteRing::Producer out(made.ring);
  SharedByteRing::Consumer in(made.ring);
  std::span<std::byte> place;
  std::span<const std::byte> found;
  ASSERT_EQ(out.try_claim(50, place), Status::ok);
  ASSERT_EQ(place.size(), 50U);
  EXPECT_THROW((void)out.publish(51), std::logic_error);
  std::memcpy(place.data(), "abc", 3);
  EXPECT_EQ(out.publish(3), Status::ok);
  EXPECT_EQ(made.ring.size(), 16U);
  ASSERT_EQ(in.peek(found), Status::ok);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(std::memcmp(found.data(), "abc", 3), 0);
  in.release();
  ASSERT_EQ(out.try_push(Bytes(56)), Status::ok);
  EXPECT_EQ(out.try_claim(56, place), Status::full);
  EXPECT_TRUE(place.empty());
  EXPECT_EQ(out.try_claim(8, place), Status::ok) << "a shorter one has room";
}

TEST(SharedByteRing, WhatCannotBeIsRefused) {
  EXPECT_THROW((void)SharedByteRing::bytes_for(0), std::logic_error);
  EXPECT_THROW((void)SharedByteRing::bytes_for(~std::size_t{0}), std::length_error);
  MadeBytes made(1);
  EXPECT_EQ(made.ring.capacity(), 64U);
  EXPECT_EQ(SharedByteRing::bytes_for(1) % 128, 0U) << "another one may follow";
  SharedByteRing::Producer out(made.ring);
  std::span<std::byte> place;
  EXPECT_THROW((void)out.try_push(Bytes(25)), std::length_error);
  EXPECT_THROW((void)out.push(Bytes(25)), std::length_error);
  EXPECT_THROW((void)out.try_claim(~std::size_t{0}, place), std::length_error);
  EXPECT_THROW(SharedRing<std::byte>::attach(made.pages.bytes()), std::system_error);
  EXPECT_THROW(SharedByteRing::attach(made.pages.bytes().first(100)), std::system_error);
}

// --- What others may write there. ---

// Each length at each place, while the other end says that the ring is full: what is handed out
// lies within it, and all else is damage.
TEST(SharedByteRing, ALengthThatReachesBehindTheMemoryIsDamage) {
  MadeBytes made(256);
  const std::span<std::byte> bytes = made.pages.bytes();
  const Bytes whole(bytes.begin(), bytes.end());
  const std::byte* const end = bytes.data() + bytes.size();
  const std::byte* const begin = end - made.ring.capacity();
  std::size_t handed_out = 0;
  for (std::size_t before = 0; before < made.ring.capacity() / 8; ++before) {
    std::vector<std::uint64_t> lengths{~std::uint64_t{0}, ~std::uint64_t{0} - 7, 1ULL << 63,
                                       1ULL << 32, made.ring.capacity()};
    for (std::uint64_t length = 0; length < made.ring.capacity() + 16; ++length) {
      lengths.push_back(length);
    }
    for (const std::uint64_t length : lengths) {
      std::copy(whole.begin(), whole.end(), bytes.begin());
      SharedByteRing::Producer out(made.ring);
      SharedByteRing::Consumer in(made.ring);
      std::span<const std::byte> found;
      for (std::size_t i = 0; i < before; ++i) {
        ASSERT_EQ(out.try_push({}), Status::ok);
        ASSERT_EQ(in.try_peek(found), Status::ok);
        in.release();
      }
      // As many records as there is room for, and then the first one's length is another.
      while (out.try_push({}) == Status::ok) {
      }
      std::memcpy(bytes.data() + (begin - bytes.data()) + before * 8 % made.ring.capacity(),
                  &length, sizeof length);
      const Status said = in.try_peek(found);
      ASSERT_EQ(said == Status::closed, in.damaged());
      if (said != Status::ok) continue;
      ASSERT_TRUE(test::lies_in(found, {begin, end}))
          << "length " << length << " behind " << before << " units";
      ++handed_out;
    }
  }
  EXPECT_NE(handed_out, 0U);
}

// ... and what lies behind the last record that was published is nobody's yet.
TEST(SharedByteRing, ALengthThatReachesBehindTheTailIsDamage) {
  for (std::uint64_t length = 1; length < 256; ++length) {
    MadeBytes made(256);
    const std::span<std::byte> bytes = made.pages.bytes();
    SharedByteRing::Producer out(made.ring);
    SharedByteRing::Consumer in(made.ring);
    ASSERT_EQ(out.try_push({}), Status::ok);
    std::memcpy(bytes.data() + bytes.size() - made.ring.capacity(), &length, sizeof length);
    std::span<const std::byte> found;
    EXPECT_EQ(in.try_peek(found), Status::closed) << length;
    EXPECT_TRUE(in.damaged());
  }
}

TEST(SharedByteRing, APaddingThatReachesBehindTheTailIsDamage) {
  MadeBytes made(256);
  SharedByteRing::Producer out(made.ring);
  SharedByteRing::Consumer in(made.ring);
  std::span<const std::byte> found;
  for (std::size_t at = 0; at < 240; at += 8) {
    ASSERT_EQ(out.try_push({}), Status::ok);
    ASSERT_EQ(in.try_peek(found), Status::ok);
    in.release();
  }
  ASSERT_EQ(out.try_push({}), Status::ok);
  const std::span<std::byte> bytes = made.pages.bytes();
  constexpr std::uint64_t padding = ~std::uint64_t{0};
  std::memcpy(bytes.data() + bytes.size() - 16, &padding, sizeof padding);
  EXPECT_EQ(in.try_peek(found), Status::closed);
  EXPECT_TRUE(in.damaged());
}

}}  // namespace shared_byte_ring_test
