// SPDX-License-Identifier: MIT
//
// Keys: each field comes back as it went in, keys compare as their fields do, and what does not fit
// is refused.
#include "support/test.hpp"

namespace sort_key_test { namespace {

using namespace handoff;

using Key = SortKey<std::uint64_t, KeyField<"layer", 4>, KeyField<"translucency", 2>,
                    KeyField<"depth", 24>, KeyField<"material", 16>, KeyField<"sequence", 18>>;
using Small = SortKey<std::uint16_t, KeyField<"page", 5>, KeyField<"record", 7>>;
using Whole = SortKey<std::uint64_t, KeyField<"all", 64>>;

static_assert(Key::of(1, 2, 3, 4, 5).get<"depth">() == 3, "keys are constants");
static_assert(Key().bits() == 0);
static_assert(sizeof(Key) == sizeof(std::uint64_t));

TEST(SortKey, FieldsComeBack) {
  auto dice = handoff::test::random();
  for (std::size_t i = 0; i < handoff::test::rounds(10'000); ++i) {
    const auto layer = dice() % 16;
    const auto translucency = dice() % 4;
    const auto depth = dice() % (1 << 24);
    const auto material = dice() % (1 << 16);
    const auto sequence = dice() % (1 << 18);
    const Key key = Key::of(layer, translucency, depth, material, sequence);
    ASSERT_EQ(key.get<"layer">(), layer);
    ASSERT_EQ(key.get<"translucency">(), translucency);
    ASSERT_EQ(key.get<"depth">(), depth);
    ASSERT_EQ(key.get<"material">(), material);
    ASSERT_EQ(key.get<"sequence">(), sequence);
    Key set;
    set.set<"sequence">(sequence).set<"layer">(layer).set<"depth">(depth);
    set.set<"material">(material).set<"translucency">(translucency);
    ASSERT_EQ(set.bits(), key.bits());
    ASSERT_EQ(Key::from(key.bits()).bits(), key.bits());
    ASSERT_EQ(set.set<"depth">(0).get<"material">(), material) << "set again";
  }
}

TEST(SortKey, ComparesAsItsFieldsDo) {
  auto dice = handoff::test::random(1);
  const auto any = [&] {
    return std::tuple(dice() % 3, dice() % 3, dice() % 3, dice() % 3, dice() % 3);
  };
  const auto key_of = [](const auto& fields) {
    return std::apply([](auto... values) { return Key::of(values...); }, fields);
  };
  for (std::size_t i = 0; i < handoff::test::rounds(10'000); ++i) {
    const auto a = any();
    const auto b = any();
    ASSERT_EQ(key_of(a) < key_of(b), a < b);
  }
}

TEST(SortKey, LeastAndMost) {
  EXPECT_EQ(Key::of(15, 3, 0xffffff, 0xffff, 0x3ffff).bits(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Whole::of(std::numeric_limits<std::uint64_t>::max()).get<"all">(),
            std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(Small::of(31, 127).bits(), 0xfffU);
  const std::uint16_t bits = Small::of(1, 2);
  EXPECT_EQ(bits, 0x82U);
}

TEST(SortKey, Masks) {
  EXPECT_EQ(Small::mask<"record">(), 0x7fU);
  EXPECT_EQ(Small::mask<"page">(), 0xf80U);
  EXPECT_EQ((Small::mask<"page", "record">()), 0xfffU);
  EXPECT_EQ(Whole::mask<"all">(), std::numeric_limits<std::uint64_t>::max());
}

template <class F>
std::string why_refused(const F& f) {
  const auto refused = test::caught<std::out_of_range>(f);
  return refused ? refused->what() : "";
}

TEST(SortKey, WhatDoesNotFitIsRefused) {
  EXPECT_EQ(why_refused([] { (void)Key::of(16, 0, 0, 0, 0); }),
            "SortKey: the field layer has 4 bits, too few for 16");
  EXPECT_TRUE(test::says(why_refused([] { (void)Key::of(0, 0, 1 << 24, 0, 0); }), "depth"));
  Key key = Key::of(1, 1, 1, 1, 1);
  EXPECT_NE(why_refused([&] { key.set<"material">(65'536); }).find("material"), std::string::npos);
  EXPECT_NE(why_refused([&] { key.set<"material">(-1); }), "") << "negative ones, too";
  EXPECT_EQ(key.bits(), Key::of(1, 1, 1, 1, 1).bits()) << "and nothing has changed";
}

TEST(SortKey, IsPrinted) {
  EXPECT_EQ(Small::of(3, 100).to_string(), "page 3, record 100");
  EXPECT_EQ(Key::of(1, 0, 7, 12, 3).to_string(),
            "layer 1, translucency 0, depth 7, material 12, sequence 3");
}

}}  // namespace sort_key_test
