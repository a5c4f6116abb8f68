// SPDX-License-Identifier: MIT
//
// The models' own canary: what they are made of finds a fault, and makes it small.
#include "model/model.hpp"

#include <gtest/gtest.h>

namespace {

using namespace handoff::test;

// Wrong with its third step of the second word.
class ThirdIsWrong : public Model {
 public:
  void step(const Step& step) override {
    if (step.what == 1) agree(++count_ < 3, "less than three");
  }

 private:
  int count_ = 0;
};

TEST(Model, MakesAFaultAsSmallAsItCanBe) {
  const Finding finding =
      search_model({{"right"}, {"wrong"}}, [] { return std::make_unique<ThirdIsWrong>(); }, 100);
  EXPECT_EQ(finding.disagreement, "less than three");
  ASSERT_EQ(finding.program.size(), 3U);
  for (const Step& step : finding.program) {
    EXPECT_EQ(step.what, 1U);
    EXPECT_EQ(step.a + step.b + step.fails, 0U);
  }
}

class NeverWrong : public Model {
 public:
  explicit NeverWrong(std::size_t& steps) : steps_(steps) {}
  void step(const Step& step) override {
    ++steps_;
    agree(step.what < 2 && step.a < Step::kNumbers && step.fails < Step::kFailures, "in range");
  }

 private:
  std::size_t& steps_;
};

TEST(Model, RunsProgramsOfManySteps) {
  std::size_t steps = 0;
  const Finding finding =
      search_model({{"one"}, {"other"}}, [&] { return std::make_unique<NeverWrong>(steps); }, 100);
  EXPECT_EQ(finding.disagreement, "");
  EXPECT_GT(steps, 1000U);
}

TEST(Model, FailsTheAllocationThatWasChosen) {
  const auto allocate_twice = [] {  // by calls that no compiler may leave out
    ::operator delete(::operator new(1));
    ::operator delete(::operator new(1));
  };
  EXPECT_TRUE(has_memory_for({.fails = 0}, allocate_twice));
  EXPECT_FALSE(has_memory_for({.fails = 1}, allocate_twice));
  EXPECT_FALSE(has_memory_for({.fails = 2}, allocate_twice));
  EXPECT_TRUE(has_memory_for({.fails = 3}, allocate_twice));
}

}  // namespace
