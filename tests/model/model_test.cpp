// SPDX-License-Identifier: MIT
//
// Runs the models by random programs of rapidcheck, and first of all what they are made of.
#include <rapidcheck.h>

#include "model/model.hpp"
#include "support/failing.hpp"
#include "support/test.hpp"

namespace handoff::test {

// For rapidcheck, which writes down what it tries.
static void showValue(const Step& step, std::ostream& out) { out << step.what; }

FailingMemory::FailingMemory(const Step& step) {
  if (step.fails != 0) fail_after(Call::allocation, static_cast<int>(step.fails) - 1, ENOMEM);
}
FailingMemory::~FailingMemory() { stop(); }
void FailingMemory::stop() noexcept { (void)stop_failing(Call::allocation); }

namespace {

// The first of the program that runs.
std::string disagreement;

}  // namespace

void disagree(const std::string& what) {
  if (disagreement.empty()) disagreement = what;
  throw std::logic_error(what);
}

namespace {

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
  const auto step =
      rc::gen::map(rc::gen::tuple(by_weight(weights), number, number, by_weight({12, 1, 1, 1})),
                   [](const std::tuple<unsigned, unsigned, unsigned, unsigned>& drawn) {
                     const auto& [what, a, b, fails] = drawn;
                     return Step{what, a, b, fails};
                   });
  return rc::gen::container<Program>(step);
}

// What random programs showed.
struct Finding {
  std::string disagreement;  // empty: none
  Program program;           // the shortest that shows it
};

std::string text_of(const std::vector<Word>& words, const Finding& finding) {
  return finding.disagreement + "\nafter " + std::to_string(finding.program.size()) +
         " steps:" + text_of(words, finding.program) + "\nseed " + std::to_string(seed());
}

struct Silent : rc::detail::TestListener {
  void onTestCaseFinished(const rc::detail::CaseDescription& /*description*/) override {}
  void onShrinkTried(const rc::detail::CaseDescription& /*shrink*/, bool /*accepted*/) override {}
  void onTestFinished(const rc::detail::TestMetadata& /*metadata*/,
                      const rc::detail::TestResult& /*result*/) override {}
};

Finding search_model(const ModelOf& model, std::size_t programs) {
  Finding finding;
  const auto run = [&] {
    const Program program = *programs_of(model.words);
    try {
      std::size_t begun = 0;
      disagreement.clear();
      run_program(*model.make(), program, begun);
      if (!disagreement.empty()) throw std::logic_error(disagreement);  // the structure kept it
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
  return finding;
}

// ---- The registered ones ------------------------------------------------------------------------

template <class Registered>
class Named : public testing::TestWithParam<const Registered*> {};
template <class Registered>
std::string name_of(const testing::TestParamInfo<const Registered*>& info) {
  std::string name = info.param->name;
  std::replace(name.begin(), name.end(), '/', '_');
  return name;
}

using Models = Named<ModelTest>;
TEST_P(Models, Agrees) {
  const Finding finding = search_model(GetParam()->model, rounds(GetParam()->programs));
  EXPECT_EQ(finding.disagreement, "") << text_of(GetParam()->model.words, finding);
}
INSTANTIATE_TEST_SUITE_P(All, Models, testing::ValuesIn(model_tests()), name_of<ModelTest>);

using Canaries = Named<ModelCanary>;
TEST_P(Canaries, Disagrees) {
  const Finding finding = search_model(GetParam()->model, 1000);
  EXPECT_NE(finding.disagreement, "") << "the planted fault was not found";
  EXPECT_LE(finding.program.size(), GetParam()->steps_most)
      << text_of(GetParam()->model.words, finding);
}
INSTANTIATE_TEST_SUITE_P(All, Canaries, testing::ValuesIn(model_canaries()), name_of<ModelCanary>);

// ---- What they are made of ----------------------------------------------------------------------

// Wrong with its third step of the second word.
class ThirdIsWrong : public Model {
 public:
  void step(const Step& step) override {
    if (step.what == 1) agree(++count_ < 3, "less than three");
  }

 private:
  int count_ = 0;
};

TEST(Search, MakesAFaultAsSmallAsItCanBe) {
  const Finding finding = search_model(model<ThirdIsWrong>({{"right"}, {"wrong"}}), 100);
  EXPECT_EQ(finding.disagreement, "less than three");
  ASSERT_EQ(finding.program.size(), 3U);
  for (const Step& step : finding.program) {
    EXPECT_EQ(step.what, 1U);
    EXPECT_EQ(step.a + step.b + step.fails, 0U);
  }
}

// Finds its fault where it hears of nothing that it throws.
class Keeps : public Model {
 public:
  void step(const Step& step) override {
    try {
      agree(step.what == 0, "never the second word");
    } catch (const std::exception&) {
      ++kept_;
    }
  }

 private:
  int kept_ = 0;
};

TEST(Search, HearsOfADisagreementThatTheStructureKeeps) {
  const Finding finding = search_model(model<Keeps>({{"right"}, {"wrong"}}), 100);
  EXPECT_EQ(finding.disagreement, "never the second word");
  EXPECT_EQ(finding.program.size(), 1U);
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

TEST(Search, RunsProgramsOfManySteps) {
  std::size_t steps = 0;
  const ModelOf never_wrong{{{"one"}, {"other"}},
                            [&] { return std::make_unique<NeverWrong>(steps); }};
  EXPECT_EQ(search_model(never_wrong, 100).disagreement, "");
  EXPECT_GT(steps, 1000U);
}

TEST(Search, FailsTheAllocationThatWasChosen) {
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
}  // namespace handoff::test
