// SPDX-License-Identifier: MIT
// The histogram against sorted values: its stated error bound, merging, travelling, the ends.
#include "harness/histogram.hpp"
#include "support/test.hpp"

namespace {

using handoff::lab::Histogram;

// Values of every size: a random number of leading zeros.
std::vector<std::uint64_t> values_of_every_size(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint64_t> values(count);
  for (auto& value : values) value = random() >> (random() % 64);
  return values;
}

// What nearest rank means, by the book.
std::uint64_t exact_percentile(std::vector<std::uint64_t> values, double percent) {
  std::sort(values.begin(), values.end());
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets_of(const Histogram& histogram) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> buckets;
  histogram.each([&](std::uint64_t value, std::uint64_t n) { buckets.emplace_back(value, n); });
  return buckets;
}

// How far what comes out is from what went in, relative to it.
double error_of(std::uint64_t value) {
  Histogram histogram;
  histogram.record(value);
  const std::uint64_t out = buckets_of(histogram).front().first;
  const std::uint64_t difference = out > value ? out - value : value - out;
  return static_cast<double>(difference) / static_cast<double>(std::max<std::uint64_t>(value, 1));
}

TEST(Histogram, KeepsItsErrorBoundAtEveryEdge) {
  for (std::uint64_t value = 0; value < 256; ++value) EXPECT_EQ(error_of(value), 0) << value;
  for (int bit = 8; bit < 64; ++bit) {
    const std::uint64_t power = std::uint64_t{1} << bit;
    for (const std::uint64_t step : {std::uint64_t{0}, power >> 7, power >> 1, power - 1}) {
      for (const std::uint64_t value : {power + step - 1, power + step}) {
        EXPECT_LE(error_of(value), Histogram::kRelativeError) << value;
      }
    }
  }
  EXPECT_LE(error_of(UINT64_MAX), Histogram::kRelativeError);
}

TEST(Histogram, TheBoundIsTightAndNotJustLarge) {
  double worst = 0;
  for (std::uint64_t value = 1 << 20; value < (1 << 20) + (1 << 13); ++value) {
    worst = std::max(worst, error_of(value));
  }
  EXPECT_GT(worst, 0.99 * Histogram::kRelativeError);
}

TEST(Histogram, PercentilesAreWithinTheBoundOfTheSortedValues) {
  const auto values = values_of_every_size(20'000, handoff::test::seed());
  Histogram histogram;
  for (const auto value : values) histogram.record(value);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.least(), exact_percentile(values, 0));
  EXPECT_EQ(histogram.most(), exact_percentile(values, 100));
  for (const double percent : {0.0, 0.001, 1.0, 25.0, 50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 100.0}) {
    const auto exact = static_cast<double>(exact_percentile(values, percent));
    EXPECT_NEAR(static_cast<double>(histogram.percentile(percent)), exact,
                Histogram::kRelativeError * exact)
        << percent;
  }
}

TEST(Histogram, RanksAreNearestRanks) {
  Histogram histogram;
  for (std::uint64_t value = 1; value <= 100; ++value) histogram.record(value);
  EXPECT_EQ(histogram.percentile(50), 50U);
  EXPECT_EQ(histogram.percentile(50.01), 51U);
  EXPECT_EQ(histogram.percentile(99), 99U);
  EXPECT_EQ(histogram.percentile(99.5), 100U);
  EXPECT_EQ(histogram.percentile(0), 1U);
  EXPECT_EQ(histogram.percentile(-5), 1U);
  EXPECT_EQ(histogram.percentile(1e9), 100U);
  EXPECT_EQ(histogram.percentile(std::numeric_limits<double>::quiet_NaN()), 100U);
}

TEST(Histogram, OfNothingIsZero) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.least(), 0U);
  EXPECT_EQ(histogram.most(), 0U);
  EXPECT_EQ(histogram.percentile(50), 0U);
  EXPECT_TRUE(buckets_of(histogram).empty());
}

TEST(Histogram, OneValueIsEveryPercentile) {
  Histogram histogram;
  histogram.record(1'234'567, 3);
  histogram.record(99, 0);  // never happened
  EXPECT_EQ(histogram.count(), 3U);
  for (const double percent : {0.0, 50.0, 100.0}) {
    EXPECT_EQ(histogram.percentile(percent), 1'234'567U);
  }
}

TEST(Histogram, MergedIsAsIfOneHadRecordedAll) {
  const auto values = values_of_every_size(5'000, handoff::test::seed());
  Histogram all, even, odd;
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.record(values[i]);
    (i % 2 == 0 ? even : odd).record(values[i]);
  }
  even.merge(odd);
  even.merge(Histogram{});
  EXPECT_EQ(buckets_of(even), buckets_of(all));
  EXPECT_EQ(even.count(), all.count());
  EXPECT_EQ(even.least(), all.least());
  EXPECT_EQ(even.most(), all.most());
  for (const double percent : {1.0, 50.0, 99.9}) {
    EXPECT_EQ(even.percentile(percent), all.percentile(percent));
  }
}

TEST(Histogram, TravelsAsItsBuckets) {
  Histogram sent;
  for (const auto value : values_of_every_size(5'000, handoff::test::seed())) sent.record(value);
  Histogram received;
  sent.each([&](std::uint64_t value, std::uint64_t times) { received.record(value, times); });
  EXPECT_EQ(buckets_of(received), buckets_of(sent));
  EXPECT_EQ(received.count(), sent.count());
}

}  // namespace
