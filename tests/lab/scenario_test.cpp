// SPDX-License-Identifier: MIT
// A scenario with several metrics, of which each has parameters of its own.
#include "harness/scenario.hpp"
#include "harness/bursts.hpp"
#include "harness/user_error.hpp"
#include "support/test.hpp"

namespace scenario_test { namespace {

using namespace handoff::lab;

struct Mail : Scenario {
  explicit Mail(std::vector<Parameter> parameters =
                    {{"width", "carriers", {"1", "2"}, {}, 1, 8},
                     {"pace", "letters a second", {"100"}, {}, 1, 1000, {"delay"}},
                     {"kill", "carriers that are robbed", {}, {}, 1, 9}})
      : Scenario({.name = "mail",
                  .summary = "letters",
                  .metrics = {{"speed", "letters/s", true, "letters delivered"},
                              {"delay", "us", false, "from hand to hand"}},
                  .parameters = std::move(parameters),
                  .problem = {}}) {}
};

std::vector<std::string> texts(const std::vector<Cell>& cells) {
  std::vector<std::string> texts;
  for (const Cell& cell : cells) texts.push_back(cell.metric() + ": " + cell.text());
  return texts;
}

std::string refusal(const Scenario::Values& values, const std::vector<std::string>& metrics) {
  try {
    static_cast<void>(Mail().cells(values, metrics));
  } catch (const UserError& error) {
    return error.what();
  }
  return "none";
}

TEST(Cells, AreOfEachMetricWithTheParametersThatAreItsOwn) {
  EXPECT_EQ(texts(Mail().cells({})),
            (std::vector<std::string>{"speed: width=1", "speed: width=2", "delay: width=1 pace=100",
                                      "delay: width=2 pace=100"}));
  EXPECT_EQ(texts(Mail().cells({{"pace", {"7", "8"}}, {"width", {"3"}}}, {"delay"})),
            (std::vector<std::string>{"delay: width=3 pace=7", "delay: width=3 pace=8"}));
  EXPECT_EQ(texts(Mail().cells({{"pace", {"7"}}, {"width", {"3"}}})),
            (std::vector<std::string>{"speed: width=3", "delay: width=3 pace=7"}));
}

TEST(Cells, HaveAParameterWithoutDefaultsOnlyWhereItIsSet) {
  EXPECT_EQ(texts(Mail().cells({{"kill", {"2", "3"}}, {"width", {"1"}}}, {"speed"})),
            (std::vector<std::string>{"speed: width=1 kill=2", "speed: width=1 kill=3"}));
}

TEST(Cells, RefuseWhatTheScenarioOrTheMetricDoesNotHave) {
  EXPECT_EQ(refusal({}, {"delai"}), "scenario 'mail' has no metric 'delai'; did you mean 'delay'?");
  EXPECT_EQ(refusal({{"pace", {"7"}}}, {"speed"}),
            "parameter 'pace' belongs to delay, not to speed");
  EXPECT_EQ(refusal({{"pace", {"0"}}}, {}),
            "parameter 'pace' takes whole numbers from 1 to 1000, not '0'");
  EXPECT_EQ(refusal({{"pacce", {"1"}}}, {}),
            "scenario 'mail' has no parameter 'pacce'; did you mean 'pace'?");
}

struct Parcels : Mail {
  Parcels()
      : Mail({Parameter::one_of("weight", "grams", {"20", "500"}, {"speed"}, {"20"}),
              Parameter::one_of("weight", "grams", {"20", "500"}, {"delay"}),
              Parameter::one_of("by", "means", {"air", "sea"}, {"speed"}, {"air"})}) {}
};

TEST(Cells, OfAParameterThatStandsTwiceHaveTheDefaultsOfTheirMetric) {
  EXPECT_EQ(texts(Parcels().cells({})),
            (std::vector<std::string>{"speed: weight=20 by=air", "delay: weight=20",
                                      "delay: weight=500"}));
  EXPECT_EQ(texts(Parcels().cells({{"weight", {"500"}}}, {"delay"})),
            (std::vector<std::string>{"delay: weight=500"}));
}

TEST(Parameter, IsANumberAlsoWhereItIsOneOfAFew) {
  EXPECT_TRUE(Mail().parameter("width").is_number());
  EXPECT_TRUE(Parcels().parameter("weight").is_number());
  EXPECT_FALSE(Parcels().parameter("by").is_number());
}

TEST(Cell, KnowsItsMetricAsAParameter) {
  const Cell cell = Mail().cells({}, {"speed"}).front();
  EXPECT_EQ(cell.at("metric"), "speed");
  EXPECT_EQ(cell.at("width"), "1");
  EXPECT_EQ(cell.find("pace"), nullptr);
  EXPECT_THROW(static_cast<void>(cell.at("pace")), std::invalid_argument);
  EXPECT_NE(cell, Mail().cells({}, {"delay"}).front());
}

TEST(Contender, AppliesByMetricAndByTheParametersThatTheMetricHas) {
  Contender contender{"mail", "own.pigeon", {}, {}, {{"metric", {"delay"}}}};
  EXPECT_TRUE(contender.applies(Mail().cells({}, {"delay"}).front()));
  EXPECT_FALSE(contender.applies(Mail().cells({}, {"speed"}).front()));
  contender.when = {{"pace", {"9"}}};
  EXPECT_FALSE(contender.applies(Mail().cells({}, {"delay"}).front()));
  EXPECT_TRUE(contender.applies(Mail().cells({}, {"speed"}).front()));
}

TEST(Contender, AppliesWhereWorkersAreKilledOnlyIfItSaysSo) {
  const Cell cell = Mail().cells({{"kill", {"2"}}}, {"speed"}).front();
  Contender contender{"mail", "own.pigeon", {}, {}, {}};
  EXPECT_FALSE(contender.applies(cell));
  contender.when = {{"kill", {"any"}}};
  EXPECT_TRUE(contender.applies(cell));
  EXPECT_TRUE(contender.applies(Mail().cells({}, {"speed"}).front()));
  contender.when["width"] = {"3"};
  EXPECT_FALSE(contender.applies(cell));
}

}}  // namespace scenario_test
