// SPDX-License-Identifier: MIT
//
// The header of shared memory: only the very one that was made is accepted.
#include "process/shared_header.hpp"
#include "support/test.hpp"

namespace shared_header_test { namespace {

using namespace handoff::detail;
using handoff::shared_layout;

constexpr std::uint64_t kBytes = 10'000;
constexpr std::uint64_t kTotal = 16'384;
constexpr std::uint64_t kLayout = 77;
constexpr SharedHeaderWanted kWanted{.layout = kLayout, .bytes = kBytes, .file_bytes = kTotal};

SharedHeaderCopy published(const SharedHeaderWords& words) {
  SharedHeader header(words);
  EXPECT_FALSE(header.is_published());
  header.publish();
  EXPECT_TRUE(header.is_published());
  SharedHeaderCopy copy;
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(&header), sizeof copy);
  return copy;
}
SharedHeaderCopy right() {
  return published(shared_header_words(kBytes, kTotal, kLayout, 5, false));
}
std::string why(const SharedHeaderCopy& header, const SharedHeaderWanted& wanted = kWanted) {
  const SharedFailure refusal = refusal_of(header, wanted);
  return refusal.error == 0 ? "" : refusal.why;
}

TEST(SharedHeader, AsItWasMade) {
  EXPECT_EQ(why(right()), "");
  EXPECT_EQ(why(right(), {.layout = kLayout, .bytes = 0, .file_bytes = kTotal}), "");
  EXPECT_EQ(why(published(shared_header_words(kBytes, kTotal, kLayout, 5, true))), "");
}

TEST(SharedHeader, RefusedWithTheReason) {
  SharedHeaderCopy copy = right();
  copy.ready = 0;
  EXPECT_EQ(refusal_of(copy, kWanted).error, EAGAIN);
  EXPECT_EQ(refusal_of({}, kWanted).error, EAGAIN) << "the creator ended before it wrote a word";
  copy.words.magic = 1;
  EXPECT_EQ(refusal_of(copy, kWanted).error, EPROTO) << "this will never be published";
  copy = right();
  copy.ready ^= 1;
  EXPECT_NE(why(copy).find("not that of shared memory"), std::string::npos);
  copy = right();
  copy.words.magic ^= 1;
  EXPECT_NE(why(copy).find("not that of shared memory"), std::string::npos);
  copy = right();
  ++copy.words.version;
  EXPECT_NE(why(copy).find("version"), std::string::npos);
  copy = right();
  copy.words.check ^= 1;
  EXPECT_NE(why(copy).find("damaged"), std::string::npos);
  EXPECT_NE(why(published(shared_header_words(kBytes, kTotal, kLayout, 0, false))).find("damaged"),
            std::string::npos);
  for (const std::uint64_t total : {kTotal - 1, kTotal + 4096, std::uint64_t{0}}) {
    const auto other = published(shared_header_words(kBytes, total, kLayout, 5, false));
    EXPECT_NE(why(other).find("size is not"), std::string::npos);
  }
  for (const std::uint64_t bytes : {std::uint64_t{0}, kTotal - 4095, kTotal, ~std::uint64_t{0}}) {
    const auto other = published(shared_header_words(bytes, kTotal, kLayout, 5, false));
    EXPECT_NE(why(other).find("more bytes"), std::string::npos) << bytes;
  }
  const auto tiny = published(shared_header_words(1, 100, kLayout, 5, false));
  EXPECT_NE(why(tiny, {.layout = kLayout, .file_bytes = 100}).find("more bytes"),
            std::string::npos);
  EXPECT_NE(why(right(), {.layout = 78, .file_bytes = kTotal}).find("layout"), std::string::npos);
  const SharedHeaderWanted more{.layout = kLayout, .bytes = kBytes + 1, .file_bytes = kTotal};
  EXPECT_NE(why(right(), more).find("fewer"), std::string::npos);
}

// Bits flipped, words replaced by others, by small and by large numbers.
TEST(SharedHeader, OfRandomBytes) {
  constexpr std::size_t words = sizeof(SharedHeaderCopy) / sizeof(std::uint64_t);
  auto random = handoff::test::random();
  const SharedHeaderCopy original = right();
  for (std::size_t i = 0; i < handoff::test::rounds(100'000); ++i) {
    std::array<std::uint64_t, words> image{};
    std::memcpy(image.data(), &original, sizeof original);
    for (std::uint64_t changes = random() % 3; changes-- > 0;) {
      std::uint64_t& word = image[random() % words];
      switch (random() % 5) {
        case 0: word ^= std::uint64_t{1} << random() % 64; break;
        case 1: word = random(); break;
        case 2: word = image[random() % words]; break;
        case 3: word = random() % 8; break;
        default: word = ~(random() % 8); break;
      }
    }
    if (i % 16 == 0) {
      for (std::uint64_t& word : image) word = random();
    }
    SharedHeaderCopy copy;
    std::memcpy(static_cast<void*>(&copy), image.data(), sizeof copy);
    const bool same = std::memcmp(image.data(), &original, sizeof original) == 0;
    ASSERT_EQ(why(copy).empty(), same);
  }
}

// Made by a process that knows how, with all numbers but one wrong: that one is found.
TEST(SharedHeader, OfANumberThatIsWrong) {
  auto random = handoff::test::random(1);
  for (std::size_t i = 0; i < handoff::test::rounds(100'000); ++i) {
    const auto choose = [&](std::uint64_t good) {
      const std::uint64_t dice = random() % 4;
      return dice < 2 ? good : dice == 2 ? good + random() % 64 - 32 : random();
    };
    const std::uint64_t bytes = choose(kBytes), total = choose(kTotal), layout = choose(kLayout);
    const auto made = published(shared_header_words(bytes, total, layout, 5, false));
    const bool fits = total == kTotal && layout == kLayout && bytes >= kBytes &&
                      bytes <= kTotal - kSharedHeaderBytes;
    ASSERT_EQ(why(made).empty(), fits) << bytes << ' ' << total << ' ' << layout;
  }
}

TEST(SharedHeader, SizesOfFiles) {
  EXPECT_EQ(shared_file_bytes(1, 4096), 8192u);
  EXPECT_EQ(shared_file_bytes(4096, 4096), 8192u);
  EXPECT_EQ(shared_file_bytes(4097, 4096), 12288u);
  EXPECT_EQ(shared_file_bytes(1, 2 << 20), std::uint64_t{2} << 20);
  EXPECT_EQ(shared_file_bytes(5 * (std::uint64_t{1} << 30), 4096),
            5 * (std::uint64_t{1} << 30) + 4096);
  constexpr std::uint64_t most = 0x7fff'ffff'ffff'ffff;
  for (const std::uint64_t page : {std::uint64_t{4096}, std::uint64_t{2} << 20}) {
    EXPECT_EQ(shared_file_bytes(~std::uint64_t{0}, page), 0u);
    EXPECT_EQ(shared_file_bytes(most, page), 0u);
    EXPECT_EQ(shared_file_bytes(most - page - kSharedHeaderBytes + 1, page), 0u);
    const std::uint64_t largest = shared_file_bytes(most - page - kSharedHeaderBytes, page);
    EXPECT_LE(largest, most);
    EXPECT_GE(largest, most - page);
    EXPECT_EQ(largest % page, 0u);
  }
}

TEST(SharedLayout, SaysWhatIsDifferent) {
  struct Two {
    std::uint32_t a, b;
  };
  const std::array layouts{shared_layout(),
                           shared_layout<std::uint64_t>(),
                           shared_layout<std::uint32_t>(),
                           shared_layout<Two>(),
                           shared_layout<Two, std::uint32_t>(),
                           shared_layout<std::uint32_t, Two>(),
                           shared_layout<Two>({1}),
                           shared_layout<Two>({2}),
                           shared_layout<Two>({1, 2}),
                           shared_layout<Two>({2, 1})};
  for (std::size_t i = 0; i < layouts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) EXPECT_NE(layouts[i], layouts[k]) << i << ' ' << k;
  }
  static_assert(shared_layout<Two>({1}) == shared_layout<Two>({1}));
}

}}  // namespace shared_header_test
