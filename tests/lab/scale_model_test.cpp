// SPDX-License-Identifier: MIT
// The model of scale in cases that can be solved by hand.
#include "report/scale_model.hpp"
#include "support/test.hpp"

namespace scale_model_test { namespace {

using namespace handoff::lab;

// Nothing costs anything but the rows: 1024 of 1000 ns.
ScaleSetup free_of_costs(std::uint64_t ranks) {
  ScaleSetup setup;
  setup.ranks = ranks;
  setup.rows = 1024;
  setup.row_ns = 1000;
  setup.row_bytes = 0;
  setup.latency_ns = 0;
  setup.claim_ns = 0;
  setup.node_claim_ns = 0;
  setup.message_ns = 0;
  setup.wake_ns = 0;
  return setup;
}

TEST(ScaleModel, OneRankTakesTheSumOfItsRowsAndClaims) {
  ScaleSetup setup = free_of_costs(1);
  EXPECT_DOUBLE_EQ(predict(setup).ns, 1024e3);
  EXPECT_DOUBLE_EQ(predict(setup).efficiency, 1);
  setup.node_claim_ns = 10;
  setup.wake_ns = 7;
  const ScalePrediction predicted = predict(setup);
  EXPECT_EQ(predicted.blocks, 11U) << "half of what is left: 512, 256, 128 and so on, 1, 1";
  EXPECT_DOUBLE_EQ(predicted.ns, 7 + 1024e3 + 12 * 10) << "the last claim finds none";
  EXPECT_EQ(predicted.claims, 0U) << "the node's part is all of it";
  EXPECT_EQ(predicted.messages, 0U);
}

TEST(ScaleModel, TwoRanksTakeHalfOfItAndTheirClaims) {
  ScaleSetup setup = free_of_costs(2);
  EXPECT_DOUBLE_EQ(predict(setup).ns, 512e3);
  setup.threads = 2;
  setup.ranks = 1;
  EXPECT_DOUBLE_EQ(predict(setup).ns, 512e3) << "or two threads";
  setup.node_claim_ns = 10;
  const ScalePrediction predicted = predict(setup);
  EXPECT_EQ(predicted.blocks, 20U) << "two each of 256, 128 and so on, 2, 1, 1";
  EXPECT_DOUBLE_EQ(predicted.ns, 10 + 512e3 + 11 * 10) << "one of them comes second";
}

TEST(ScaleModel, ACounterThatIsSaturatedTakesItsTimeForEachClaim) {
  ScaleSetup setup = free_of_costs(64);
  setup.row_ns = 0;
  setup.claim_ns = 500;
  const ScalePrediction predicted = predict_one_counter(setup);
  EXPECT_EQ(predicted.claims, predicted.blocks);
  EXPECT_DOUBLE_EQ(predicted.ns, 500.0 * static_cast<double>(predicted.claims + 64))
      << "each of the 64 threads hears once that no block is left";
  EXPECT_DOUBLE_EQ(predicted.counter_busy, 1);
}

TEST(ScaleModel, ARankThatIsSaturatedTakesItsTimeForEachMessage) {
  ScaleSetup setup = free_of_costs(64);
  setup.row_ns = 0;
  setup.row_bytes = 1;
  setup.bytes_per_ns = 1e300;
  setup.message_ns = 1000;
  const ScalePrediction predicted = predict(setup);
  EXPECT_GT(predicted.messages, 0U);
  EXPECT_EQ(predicted.messages % 2, 0U) << "a report and the results";
  EXPECT_DOUBLE_EQ(predicted.ns, 1000.0 * static_cast<double>(predicted.messages + 63 + 63))
      << "and a word at the end from each, and to each";
  setup.row_bytes = 0;
  EXPECT_EQ(predict(setup).messages, 0U);
}

TEST(ScaleModel, ResultsTakeTheTimeOfTheLink) {
  ScaleSetup setup = free_of_costs(2);
  setup.rows = 2;
  setup.row_bytes = 3000;
  setup.bytes_per_ns = 2;
  EXPECT_EQ(predict(setup).messages, 2U);
  EXPECT_DOUBLE_EQ(predict(setup).ns, 1000 + 3000 / 2);
}

TEST(ScaleModel, ANodeHearsOfItsRowsAfterTwoLatencies) {
  ScaleSetup setup = free_of_costs(2);
  setup.ranks_a_node = 1;
  setup.rows = 2;  // less than the least that a node takes: all of it is the first one's
  for (const double latency : {100.0, 5000.0}) {
    setup.latency_ns = latency;
    const ScalePrediction predicted = predict(setup);
    EXPECT_EQ(predicted.claims, 1U);
    EXPECT_EQ(predicted.blocks, 2U);
    EXPECT_DOUBLE_EQ(predicted.ns, std::max(2000.0, 3 * latency) + latency)
        << "it says that it has none, and rank 0 that all is done";
  }
}

TEST(ScaleModel, SkewMovesWorkAndMakesNone) {
  ScaleSetup setup = free_of_costs(1);
  setup.rows = 2;
  setup.skew = 1;
  EXPECT_DOUBLE_EQ(predict(setup).ns, 2000);
  setup.ranks = 2;
  EXPECT_DOUBLE_EQ(predict(setup).ns, 1500) << "500 and 1500";
}

TEST(ScaleModel, TheSameSeedIsTheSamePrediction) {
  ScaleSetup setup;
  setup.ranks = 300;
  setup.imbalance = 0.5;
  const double once = predict(setup).ns;
  EXPECT_EQ(predict(setup).ns, once);
  setup.seed = 2;
  EXPECT_NE(predict(setup).ns, once);
}

TEST(ScaleModel, ClaimsDependOnSizesAlone) {
  ScaleSetup setup;
  setup.ranks = 4096;
  setup.threads = 2;
  setup.rows = 3'000'001;
  const ScalePrediction one = predict(setup);
  setup.imbalance = 0.9;
  setup.skew = 1;
  setup.latency_ns = 1e6;
  const ScalePrediction other = predict(setup);
  EXPECT_EQ(one.claims, other.claims);
  EXPECT_EQ(one.blocks, other.blocks);
  EXPECT_NE(one.ns, other.ns);
}

TEST(ScaleModel, TheBlockToTakeIsAsGoodAsAnyOther) {
  ScaleSetup setup;
  setup.ranks = 256;
  setup.rows = 250'000;
  setup.imbalance = 0.2;
  const std::uint64_t taken = block_to_take(setup, predict);
  const auto ns_with = [&](std::uint64_t block) {
    setup.block = block;
    return predict(setup).ns;
  };
  EXPECT_GT(taken, 1U);
  for (std::uint64_t block = 1; block <= 4096; block *= 2) {
    EXPECT_LE(ns_with(taken), 1.002 * ns_with(block));
  }
  EXPECT_GT(ns_with(2 * taken), 1.002 * ns_with(taken)) << "and the largest of these";
}

}}  // namespace scale_model_test
