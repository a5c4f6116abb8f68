// SPDX-License-Identifier: MIT
//
// Random programs by rapidcheck, the only file that includes it.
#include "model/model.hpp"

#include <algorithm>
#include <exception>
#include <numeric>
#include <ostream>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "support/support.hpp"

namespace handoff::test {

// For rapidcheck, which writes down what it tries.
static void showValue(const Step& step, std::ostream& out) { out << step.what; }

namespace {

using Program = std::vector<Step>;

// One of so many numbers, each as often as its weight says; shrinks towards the first.
rc::Gen<unsigned> by_weight(std::vector<unsigned> weights) {
  const unsigned sum = std::accumulate(weights.begin(), weights.end(), 0U);
  return rc::gen::map(rc::gen::inRange(0U, sum), [weights = std::move(weights)](unsigned drawn) {
    unsigned which = 0;
    while (drawn >= weights[which]) drawn -= weights[which++];
    return which;
  });
}

rc::Gen<Program> programs_of(const std::vector<Word>& words) {
  std::vector<unsigned> weights;
  for (const Word& word : words) weights.push_back(word.weight);
  const auto number = rc::gen::inRange(0U, Step::kNumbers);
  const auto step = rc::gen::map(
      rc::gen::tuple(by_weight(weights), number, number, by_weight({12, 1, 1, 1})),
      [](const std::tuple<unsigned, unsigned, unsigned, unsigned>& drawn) {
        const auto& [what, a, b, fails] = drawn;
        return Step{what, a, b, fails};
      });
  return rc::gen::container<Program>(step);
}

std::string text_of(const std::vector<Word>& words, const Finding& finding) {
  std::ostringstream text;
  text << finding.disagreement << "\nafter " << finding.program.size() << " steps:\n";
  for (const Step& step : finding.program) {
    text << "  " << words[step.what].name << "(" << step.a << ", " << step.b << ")";
    if (step.fails != 0) text << ", its allocation " << step.fails << " fails";
    text << "\n";
  }
  text << "seed " << seed();
  return text.str();
}

struct Silent : rc::detail::TestListener {
  void onTestCaseFinished(const rc::detail::CaseDescription& /*description*/) override {}
  void onShrinkTried(const rc::detail::CaseDescription& /*shrink*/, bool /*accepted*/) override {}
  void onTestFinished(const rc::detail::TestMetadata& /*metadata*/,
                      const rc::detail::TestResult& /*result*/) override {}
};

}  // namespace

Finding search_model(const std::vector<Word>& words, const MakeModel& make, std::size_t programs) {
  Finding finding;
  const auto run = [&] {
    const Program program = *programs_of(words);
    try {
      const std::unique_ptr<Model> model = make();
      for (const Step& step : program) model->step(step);
      model->end();
    } catch (const std::exception& wrong) {
      // Each that fails while they are made shorter is shorter than the one before.
      finding.disagreement = wrong.what();
      finding.program = program;
      throw;
    }
  };
  rc::detail::TestParams parameters;
  parameters.seed = random(programs)();
  parameters.maxSuccess = static_cast<int>(programs);
  Silent silent;
  const rc::detail::TestResult result =
      rc::detail::checkProperty(rc::detail::toProperty(run), {}, parameters, silent, {});
  if (!result.is<rc::detail::SuccessResult>() && finding.disagreement.empty()) {
    finding.disagreement = "rapidcheck could not make programs";
  }
  if (!finding.disagreement.empty()) finding.text = text_of(words, finding);
  return finding;
}

void check_model(const std::vector<Word>& words, const MakeModel& make, std::size_t programs) {
  const Finding finding = search_model(words, make, rounds(programs));
  EXPECT_EQ(finding.disagreement, "") << finding.text;
}

void expect_found(const std::vector<Word>& words, const MakeModel& make, std::size_t steps_most) {
  const Finding finding = search_model(words, make, 1000);
  EXPECT_NE(finding.disagreement, "") << "the planted fault was not found";
  EXPECT_LE(finding.program.size(), steps_most) << finding.text;
}

}  // namespace handoff::test
