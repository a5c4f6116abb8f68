// SPDX-License-Identifier: MIT
// A histogram of latencies, or of any whole numbers from 0 to 2^64-1: log-linear, as HdrHistogram
// (G. Tene, hdrhistogram.org). Every power of two is cut into 128 buckets of one width, so what
// comes out is right within 1/256 of itself, whatever its size, and exact below 256.
//
// Recording costs a few instructions and never allocates. One thread records; what several
// recorded is merged afterwards. It needs nothing but the language: contenders include it.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab {

class Histogram {
 public:
  static constexpr int kStepBits = 7;
  static constexpr std::size_t kSteps = std::size_t{1} << kStepBits;
  static constexpr std::size_t kBuckets = (64 - kStepBits + 1) * kSteps;
  // |value that comes out - value that went in| <= kRelativeError * value that went in
  static constexpr double kRelativeError = 1.0 / (2 * kSteps);

  void record(std::uint64_t value, std::uint64_t times = 1) {
    if (times == 0) return;
    counts_[bucket_of(value)] += times;
    count_ += times;
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
  }

  void merge(const Histogram& other) {
    for (std::size_t i = 0; i < kBuckets; ++i) counts_[i] += other.counts_[i];
    count_ += other.count_;
    least_ = std::min(least_, other.least_);
    most_ = std::max(most_, other.most_);
  }

  [[nodiscard]] std::uint64_t count() const { return count_; }

  // These two are exact; 0 while nothing is recorded.
  [[nodiscard]] std::uint64_t least() const { return count_ == 0 ? 0 : least_; }
  [[nodiscard]] std::uint64_t most() const { return most_; }

  // The value that `percent` of all values do not exceed (nearest rank): 50 is the median, 100 the
  // largest value, exactly. A percent outside 0 to 100 counts as the nearer end, NaN as 100. 0
  // while nothing is recorded.
  [[nodiscard]] std::uint64_t percentile(double percent) const {
    if (count_ == 0) return 0;
    const std::uint64_t rank = rank_of(percent);
    if (rank == count_) return most_;
    std::uint64_t seen = 0;
    for (std::size_t i = bucket_of(least_);; ++i) {  // ends: the counts sum up to count_ >= rank
      seen += counts_[i];
      if (seen >= rank) return std::clamp(middle_of(i), least_, most_);
    }
  }

  // visit(value, times) for each bucket that is not empty, upwards. Recorded into another histogram
  // they fall into the same buckets, so this is how one travels; of least and most only the bucket
  // arrives.
  template <typename Visit>
  void each(Visit visit) const {
    for (std::size_t i = 0; i < kBuckets; ++i) {
      if (counts_[i] != 0) visit(middle_of(i), counts_[i]);
    }
  }

 private:
  // The first 2^kStepBits values have a bucket each. Then octave after octave: the bits behind the
  // leading one, as many as there are steps, say which.
  static constexpr std::size_t bucket_of(std::uint64_t value) {
    if (value < kSteps) return static_cast<std::size_t>(value);
    const int octave = 63 - std::countl_zero(value) - kStepBits;
    const auto step = static_cast<std::size_t>(value >> octave) - kSteps;
    return (static_cast<std::size_t>(octave) + 1) * kSteps + step;
  }

  static constexpr std::uint64_t middle_of(std::size_t bucket) {
    if (bucket < kSteps) return bucket;
    const std::size_t octave = bucket / kSteps - 1;
    const std::uint64_t first = std::uint64_t{kSteps + bucket % kSteps} << octave;
    return first + ((std::uint64_t{1} << octave) - 1) / 2;
  }

  [[nodiscard]] std::uint64_t rank_of(double percent) const {
    if (!(percent < 100)) return count_;
    const double rank = std::ceil(percent / 100 * static_cast<double>(count_));
    if (!(rank > 1)) return 1;
    return std::min(static_cast<std::uint64_t>(rank), count_);
  }

  std::array<std::uint64_t, kBuckets> counts_{};
  std::uint64_t count_ = 0;
  std::uint64_t least_ = UINT64_MAX;
  std::uint64_t most_ = 0;
};

}  // namespace handoff::lab
