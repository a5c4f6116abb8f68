// SPDX-License-Identifier: MIT
//
// The conformance suite of the concept Bulk: each index once, the completion once and last, exact
// figures, storage that is the caller's again when it is told.
//
// A typed suite over families. A family is a struct that names the Bulk and makes one:
//
//   struct Teams {
//     using Bulk = ThreadTeam;
//     static std::unique_ptr<Bulk> make(std::size_t width);
//   };
#pragma once

#include "support/compiled_once.hpp"
#include "support/test.hpp"

namespace handoff::test {

// What became of one run. All zero is right.
struct BulkVerdict {
  std::size_t refused = 0;
  std::size_t skipped = 0;  // indices that ran never, and that nobody accounts for
  std::size_t repeated = 0;
  std::size_t unseen = 0;  // ran without seeing what was written before the run
  std::size_t unfinished = 0;  // blocks that ran while the completion was called, or later
  std::size_t untold = 0;  // no completion
  std::size_t retold = 0;  // completions too many
  std::size_t miscounted = 0;  // figures of the Tally that are not so
  friend bool operator==(const BulkVerdict&, const BulkVerdict&) = default;
  friend std::ostream& operator<<(std::ostream& out, const BulkVerdict& v) {
    return out << v.refused << " refused, " << v.skipped << " skipped, " << v.repeated
               << " repeated, " << v.unseen << " did not see what came before, " << v.unfinished
               << " blocks beside the completion, " << v.untold << " not told, " << v.retold
               << " told again, " << v.miscounted << " miscounted";
  }
};

struct BulkPlan {
  std::size_t count = 1000;
  RunOptions options = {};
  std::size_t throw_one_in = 0;  // blocks whose first index is a multiple throw; 0: none
  sync::StopSource* stop_at_first = nullptr;  // asked to stop by the first block
  std::chrono::milliseconds patience{60'000};  // until a started run is not told of
};

struct PlannedFailure : std::runtime_error {
  PlannedFailure() : std::runtime_error("planned") {}
};

// One run at a time, waited for or started; and what became of each index.
class BulkAudit final : private BulkWork {
 public:
  explicit BulkAudit(const BulkPlan& plan) : plan_(plan), indices_(plan.count) {
    for (Index& index : indices_) index.written = 1;
  }

  template <class B>
  BulkVerdict run(B& bulk) {
    Tally tally;
    bool thrown = false;
    try {
      tally = bulk.run(
          plan_.count, [this](IndexRange range) { block(range.first, range.last); }, plan_.options);
    } catch (const PlannedFailure&) {
      thrown = true;
    }
    if (thrown != (failed_ != 0)) ++verdict_.miscounted;
    return thrown ? verdict_without_tally() : verdict(tally);
  }

  template <class B>
  BulkVerdict start(B& bulk) {
    typename B::BulkStorage storage;
    if (bulk.start(plan_.count, *this, storage, plan_.options) != Status::ok) {
      return {.refused = 1};
    }
    const auto late = std::chrono::steady_clock::now() + plan_.patience;
    while (told_ == 0 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
    if (told_ == 0) {
      ++verdict_.untold;
      return verdict_without_tally();
    }
    if (tally_.first_failure == nullptr && failed_ != 0) ++verdict_.miscounted;
    return verdict(tally_);
  }

  std::uint64_t done() const { return done_; }
  std::uint64_t failed() const { return failed_; }

  // A wrong Bulk may tell again, or run a block, after start() has returned.
  std::size_t retold() const { return told_ - 1; }
  std::size_t unfinished() const { return unfinished_; }

 private:
  struct Index {
    std::uint64_t written = 0;  // plain: the run has to order it
    std::atomic<unsigned> times{0};
  };

  void block(std::size_t first, std::size_t last) override {
    ++inside_;
    struct Leave {
      std::atomic<std::size_t>& inside;
      ~Leave() { --inside; }
    } const leave{inside_};
    if (told_ != 0) ++unfinished_;
    if (plan_.stop_at_first != nullptr) plan_.stop_at_first->request_stop();
    for (std::size_t i = first; i < last; ++i) {
      if (indices_[i].written != 1) ++unseen_;
      ++indices_[i].times;
    }
    if (plan_.throw_one_in != 0 && first % plan_.throw_one_in == 0) {
      failed_ += last - first;
      throw PlannedFailure();
    }
    done_ += last - first;
  }

  void ended(const Tally& tally) noexcept override {
    unfinished_ += inside_;
    if (told_ == 0) tally_ = tally;  // told again, start() is reading the first
    ++told_;
  }

  BulkVerdict verdict_without_tally() {
    for (const Index& index : indices_) {
      verdict_.skipped += index.times == 0;
      verdict_.repeated += index.times > 1;
    }
    if (plan_.options.until.stop_requested() || plan_.options.until.has_deadline()) {
      verdict_.skipped = 0;  // verdict() knows
    }
    verdict_.unseen = unseen_;
    verdict_.unfinished = unfinished_;
    verdict_.retold = told_ > 1 ? told_ - 1 : 0;
    return verdict_;
  }

  BulkVerdict verdict(const Tally& tally) {
    BulkVerdict verdict = verdict_without_tally();
    const std::uint64_t left_out = tally.cancelled + tally.expired;
    verdict.miscounted += !tally.balanced() || tally.accepted != plan_.count;
    verdict.miscounted += tally.done != done_;
    verdict.miscounted += tally.failed != failed_;
    verdict.miscounted += tally.pending != 0;
    verdict.miscounted += left_out + done_ + failed_ != plan_.count;
    return verdict;
  }

  const BulkPlan plan_;
  std::vector<Index> indices_;
  BulkVerdict verdict_;
  Tally tally_;
  std::atomic<std::size_t> inside_{0};
  std::atomic<std::size_t> told_{0};
  std::atomic<std::size_t> unfinished_{0};
  std::atomic<std::size_t> unseen_{0};
  std::atomic<std::uint64_t> done_{0};
  std::atomic<std::uint64_t> failed_{0};
};

template <class Family>
class BulkSuite : public ChosenFamily<Family> {
  static_assert(Bulk<typename Family::Bulk>);
};
TYPED_TEST_SUITE_P(BulkSuite);

HANDOFF_TYPED_TEST_P(BulkSuite, EachIndexOnceAndToldOnce) {
  for (const std::size_t width : {1U, 2U, 5U}) {
    const auto bulk = TypeParam::make(width);
    EXPECT_GE(bulk->width(), 1U);
    for (std::size_t round = 0; round < rounds(50); ++round) {
      for (const std::size_t count : {0U, 1U, 2U, 7U, 1000U}) {
        const BulkPlan plan{.count = count, .options = {.block = round % 20}};
        ASSERT_EQ(BulkAudit(plan).run(*bulk), BulkVerdict{}) << count << " at width " << width;
        ASSERT_EQ(BulkAudit(plan).start(*bulk), BulkVerdict{}) << count << " at width " << width;
      }
    }
  }
}

HANDOFF_TYPED_TEST_P(BulkSuite, FailuresAreCountedAndTheFirstIsTold) {
  for (const std::size_t width : {1U, 3U}) {
    const auto bulk = TypeParam::make(width);
    for (const std::size_t throw_one_in : {1U, 2U, 7U, 200U}) {
      const BulkPlan plan{.count = 200, .options = {.block = 3}, .throw_one_in = throw_one_in};
      BulkAudit waited(plan);
      EXPECT_EQ(waited.run(*bulk), BulkVerdict{}) << "width " << width;
      EXPECT_GT(waited.failed(), 0U) << "index 0 begins a block";
      EXPECT_EQ(waited.done() + waited.failed(), 200U) << "the others run";
      BulkAudit started(plan);
      EXPECT_EQ(started.start(*bulk), BulkVerdict{}) << "width " << width;
      EXPECT_GT(started.failed(), 0U);
      EXPECT_EQ(started.done() + started.failed(), 200U) << "the others run";
    }
    EXPECT_EQ(BulkAudit(BulkPlan{}).run(*bulk), BulkVerdict{}) << "usable afterwards";
  }
}

HANDOFF_TYPED_TEST_P(BulkSuite, AStopCancelsWhatHasNotBegun) {
  for (const std::size_t width : {1U, 3U}) {
    const auto bulk = TypeParam::make(width);
    for (const bool waits : {true, false}) {
      sync::StopSource source;
      const sync::StopToken token = source.token();
      const BulkPlan plan{
          .count = 100'000, .options = {.block = 1, .until = token}, .stop_at_first = &source};
      BulkAudit amid(plan);
      EXPECT_EQ(waits ? amid.run(*bulk) : amid.start(*bulk), BulkVerdict{});
      EXPECT_GT(amid.done(), 0U);
      EXPECT_LT(amid.done(), 100'000U);
      BulkAudit after(plan);
      EXPECT_EQ(waits ? after.run(*bulk) : after.start(*bulk), BulkVerdict{});
      EXPECT_EQ(after.done(), 0U);
    }
  }
}

HANDOFF_TYPED_TEST_P(BulkSuite, ADeadlineExpiresWhatHasNotBegun) {
  const auto bulk = TypeParam::make(2);
  const BulkPlan passed{.options = {.until = sync::Deadline{}}};
  BulkAudit waited(passed);
  EXPECT_EQ(waited.run(*bulk), BulkVerdict{});
  EXPECT_EQ(waited.done(), 0U);
  BulkAudit started(passed);
  EXPECT_EQ(started.start(*bulk), BulkVerdict{});
  EXPECT_EQ(started.done(), 0U);
  const BulkPlan in_time{.options = {.until = std::chrono::hours(1)}};
  BulkAudit all(in_time);
  EXPECT_EQ(all.start(*bulk), BulkVerdict{});
  EXPECT_EQ(all.done(), in_time.count);
  const sync::Deadline soon = sync::deadline_after(std::chrono::milliseconds(5));
  const auto until_then = [&](IndexRange) {
    while (sync::clock::now() < soon) std::this_thread::yield();
  };
  const Tally some = bulk->run(100'000, until_then, {.block = 1, .until = soon});
  EXPECT_TRUE(some.balanced());
  EXPECT_GT(some.expired, 0U);
  EXPECT_EQ(some.done + some.expired, 100'000U);
}

// Runs of any shape by several threads at once, started ones and others; some throw, some stop. No
// failure in n runs bounds the rate of wrong ones below 3/n (95 %).
HANDOFF_TYPED_TEST_P(BulkSuite, ManyUseItAtOnce) {
  for (const std::size_t width : {1U, 3U, 12U}) {
    const auto bulk = TypeParam::make(width);
    std::vector<std::jthread> users;
    for (std::size_t user = 0; user < 4; ++user) {
      users.emplace_back([&, draw = test::random(user)]() mutable {
        for (std::size_t round = 0; round < rounds(250); ++round) {
          sync::StopSource source;
          const sync::StopToken token = source.token();
          BulkPlan plan{.count = draw() % (draw() % 10 == 0 ? 5000 : 100),
                        .options = {.block = draw() % 20}};
          if (draw() % 4 == 0) plan.throw_one_in = 1 + draw() % 50;
          if (draw() % 4 == 0) plan.options.until = token;
          if (draw() % 4 == 0) plan.stop_at_first = &source;
          BulkAudit audit(plan);
          ASSERT_EQ(draw() % 2 == 0 ? audit.run(*bulk) : audit.start(*bulk), BulkVerdict{})
              << "width " << width << ", count " << plan.count;
        }
      });
    }
  }
}

// The completion frees the run, with the storage in it.
HANDOFF_TYPED_TEST_P(BulkSuite, TheStorageIsTheCallersAgainWhenItIsTold) {
  using B = typename TypeParam::Bulk;
  struct Run final : BulkWork {
    explicit Run(std::atomic<std::size_t>& ended) : ended_(ended) {}
    void block(std::size_t first, std::size_t last) override { sum_ += last - first; }
    void ended(const Tally& tally) noexcept override {
      std::atomic<std::size_t>& told = ended_;
      const bool right = tally.done == 5 && sum_ == 5;
      delete this;
      told += right ? 1 : 1'000'000;
    }
    std::atomic<std::size_t>& ended_;
    std::atomic<std::size_t> sum_{0};
    typename B::BulkStorage storage_;
  };
  std::atomic<std::size_t> told{0};
  const std::size_t runs = rounds(1000);
  {
    const auto bulk = TypeParam::make(3);
    for (std::size_t i = 0; i < runs; ++i) {
      auto* const run = new Run(told);
      ASSERT_EQ(bulk->start(5, *run, run->storage_, RunOptions{}), Status::ok);
    }
    while (told < runs) std::this_thread::yield();
  }
  EXPECT_EQ(told, runs);
}

// The completion starts the same run again, without end of stack.
HANDOFF_TYPED_TEST_P(BulkSuite, ARunIsStartedAgainWhenItIsTold) {
  using B = typename TypeParam::Bulk;
  struct Chain final : BulkWork {
    Chain(B& bulk, std::size_t runs) : bulk_(bulk), left_(runs) {}
    void block(std::size_t first, std::size_t last) override { sum_ += last - first; }
    void ended(const Tally&) noexcept override {
      if (--left_ == 0 || bulk_.start(4, *this, storage_, RunOptions{}) != Status::ok) {
        over_ = true;
      }
    }
    B& bulk_;
    std::size_t left_;
    std::atomic<std::size_t> sum_{0};
    std::atomic<bool> over_{false};
    typename B::BulkStorage storage_;
  };
  for (const std::size_t width : {1U, 2U, 4U}) {
    const auto bulk = TypeParam::make(width);
    const std::size_t runs = rounds(20'000);
    Chain chain(*bulk, runs);
    ASSERT_EQ(bulk->start(4, chain, chain.storage_, RunOptions{}), Status::ok);
    while (!chain.over_) std::this_thread::yield();
    EXPECT_EQ(chain.sum_, 4 * runs);
  }
}

HANDOFF_TYPED_TEST_P(BulkSuite, OperationsAreMadeOfTwoFunctions) {
  const auto bulk = TypeParam::make(2);
  std::atomic<std::size_t> sum{0};
  std::atomic<std::uint64_t> done{0};
  BulkOperation operation(
      *bulk, 100, [&](std::size_t first, std::size_t last) { sum += last - first; },
      [&](const Tally& tally) noexcept { done = tally.done; });
  ASSERT_EQ(operation.start(), Status::ok);
  while (done == 0) std::this_thread::yield();
  EXPECT_EQ(done, 100U);
  EXPECT_EQ(sum, 100U);
}

// Started runs are accepted before the end and told of before it is over.
HANDOFF_TYPED_TEST_P(BulkSuite, ItsEndComesAfterItsRuns) {
  for (std::size_t i = 0; i < rounds(100); ++i) {
    std::atomic<std::uint64_t> done{0};
    auto bulk = TypeParam::make(1 + i % 3);
    const auto nothing = [](std::size_t, std::size_t) {};
    const auto tell = [&](const Tally& tally) noexcept { done += tally.done; };
    BulkOperation first(*bulk, 9, nothing, tell);
    BulkOperation second(*bulk, 9, nothing, tell);
    BulkOperation third(*bulk, 9, nothing, tell);
    ASSERT_EQ(first.start(), Status::ok);
    ASSERT_EQ(second.start(), Status::ok);
    ASSERT_EQ(third.start(), Status::ok);
    bulk.reset();
    ASSERT_EQ(done, 27U) << "round " << i;
  }
}

inline std::atomic<std::size_t> counted_by_a_function{0};
inline void count_by_a_function(IndexRange range) { counted_by_a_function += range.size(); }

HANDOFF_TYPED_TEST_P(BulkSuite, APlainFunctionIsABody) {
  const auto bulk = TypeParam::make(2);
  counted_by_a_function = 0;
  EXPECT_EQ(bulk->run(100, count_by_a_function).done, 100U);
  EXPECT_EQ(bulk->run(11, &count_by_a_function).done, 11U);
  EXPECT_EQ(counted_by_a_function, 111U);
}

REGISTER_TYPED_TEST_SUITE_P(BulkSuite, EachIndexOnceAndToldOnce,
                            FailuresAreCountedAndTheFirstIsTold, AStopCancelsWhatHasNotBegun,
                            ADeadlineExpiresWhatHasNotBegun, ManyUseItAtOnce,
                            TheStorageIsTheCallersAgainWhenItIsTold, ARunIsStartedAgainWhenItIsTold,
                            OperationsAreMadeOfTwoFunctions, ItsEndComesAfterItsRuns,
                            APlainFunctionIsABody);

}  // namespace handoff::test
