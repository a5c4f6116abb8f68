// SPDX-License-Identifier: MIT
#include "commands/self_test.hpp"

#include <nlohmann/json.hpp>

#include "harness/answer_problem.hpp"
#include "harness/build_tree.hpp"
#include "harness/bursts.hpp"
#include "harness/cpus.hpp"
#include "harness/machine.hpp"
#include "harness/user_error.hpp"
#include "scenarios/registry.hpp"
#include "self_test/chain.hpp"

namespace handoff::lab {
namespace {

using nlohmann::json;

// Canaries: in each scenario a contender of the lab once more, by the same code in other layouts.
// Both do the same, so a difference between them would be one between the places where code happens
// to lie, taken for a result.

struct Canary {
  Scenario* scenario;
  Contender contender;
  Contender twin;  // the same in other layouts
  Cell cell;

  [[nodiscard]] std::string name() const;  // events own.event: invoke listeners=8
  [[nodiscard]] bool higher_is_better() const;
  // Whether a single thread does the work.
  [[nodiscard]] bool is_alone() const;
  [[nodiscard]] std::vector<Measurement> pair(std::vector<Variable> variables) const;
};

Cell first_cell_of(const Scenario& scenario, const Contender& twin) {
  Scenario::Values values;
  std::vector<std::string> metrics;
  for (const auto& [name, allowed] : twin.when) {
    if (name == "metric") {
      metrics = allowed;
    } else {
      values.emplace_back(name, allowed);
    }
  }
  return scenario.cells(values, metrics).front();
}

std::string Canary::name() const {
  const std::string parameters = cell.text();
  return fmt::format("{} {}: {}{}{}", scenario->name(), contender.name, cell.metric(),
                     parameters.empty() ? "" : " ", parameters);
}

bool Canary::higher_is_better() const { return scenario->metric(cell.metric()).higher_is_better; }

bool Canary::is_alone() const { return cell.number("width", 1) == 1; }

std::vector<Measurement> Canary::pair(std::vector<Variable> variables) const {
  Measurement one{contender, cell, scenario->problem(cell), std::move(variables)};
  Measurement other = one;
  other.contender = twin;
  return {std::move(one), std::move(other)};
}

// For each of `twins` what it is the twin of, and the first cell that it is for. One without its
// contender is left out: it was not built. Throws UserError where a cell makes no sense.
std::vector<Canary> canaries_of(const Scenarios& scenarios,
                                const std::vector<Contender>& contenders,
                                const std::vector<Contender>& twins) {
  std::vector<Canary> canaries;
  for (const Contender& twin : twins) {
    const auto contender = std::ranges::find_if(contenders, [&](const Contender& candidate) {
      return candidate.scenario == twin.scenario && candidate.name == twin.name;
    });
    if (contender == contenders.end() || !contender->built() || !twin.built()) continue;
    Scenario& scenario = scenario_named(scenarios, twin.scenario);
    canaries.push_back({&scenario, *contender, twin, first_cell_of(scenario, twin)});
  }
  return canaries;
}

constexpr double kPlanted = 1.05;
constexpr int kMostRepeats = 2;  // of a comparison on a disturbed machine,
constexpr int kMostRepeatsOfACanary = 1;  // which takes some seconds

// A chain of so many links, from 1 to where it must end.
class ChainProblem final : public AnswerProblem<std::uint64_t> {
 public:
  explicit ChainProblem(std::uint64_t links) : end_(chain(1, links)) {}
  std::chrono::nanoseconds slowest_operation() const override { return std::chrono::seconds(1); }

 private:
  std::optional<std::string> fault_of(const std::uint64_t& end) const override {
    if (end == end_) return {};
    return "the chain ends elsewhere";
  }

  std::uint64_t end_;
};

Contender chain_of(const std::vector<Contender>& contenders) {
  for (const Contender& contender : contenders) {
    if (contender.scenario == "self_test") return contender;
  }
  throw UserError("the self-test's contender is missing; build or install the lab as a whole");
}

Measurement measurement_of(const Contender& contender, std::uint64_t links) {
  Cell cell("time");
  cell.set("links", std::to_string(links));
  return {contender, cell, std::make_shared<const ChainProblem>(links)};
}

// Numbers of launches at which a canary is judged. Its launches differ by where code and data lie
// as well, so more than of chains may be needed: on a guest's CPUs 32 left an interval of a tenth.
std::vector<std::size_t> looks_at_a_canary(std::size_t most) {
  std::vector<std::size_t> looks(kLooks.begin(), kLooks.end());
  while (looks.back() < most) looks.push_back(2 * looks.back());
  while (looks.back() > most) looks.pop_back();
  return looks;
}

// A comparison of chains takes a third of a second, so that three hundred end in a few minutes.
Plan plan_of(std::size_t launches, std::chrono::milliseconds burst, std::uint64_t seed) {
  Plan plan;
  plan.launches = static_cast<int>(launches);
  plan.most_launches = plan.launches;
  plan.least_rounds = 5;
  plan.most_rounds = 5;
  plan.burst = burst;
  plan.budget = std::chrono::seconds(5);
  plan.seed = seed;
  return plan;
}

// Keeps this process, and what it starts, on one CPU. The speeds of a guest's CPUs go their own
// ways: contenders of one thread that stay on different ones do not meet the same machine.
class OnOneCpu : Pinned {
 public:
  explicit OnOneCpu(std::uint64_t which) {
    if (sched_getaffinity(0, sizeof before_, &before_) != 0) return;
    const std::vector<int> cpus = allowed_cpus();
    pinned_ = !cpus.empty() && stay_on(cpus[which % cpus.size()]);
  }
  ~OnOneCpu() {
    if (pinned_) sched_setaffinity(0, sizeof before_, &before_);
  }

 private:
  cpu_set_t before_{};
  bool pinned_ = false;
};

class SelfTest {
 public:
  SelfTest(std::vector<Contender> contenders, std::size_t canary_launches, std::uint64_t seed)
      : contenders_(std::move(contenders)),
        chain_(chain_of(contenders_)),
        canaries_(canaries_of(scenarios_, contenders_, read_canaries())),
        canary_looks_(looks_at_a_canary(canary_launches)),
        random_(seed) {
    std::vector<Contender> all{chain_};
    for (const Canary& canary : canaries_) {
      all.push_back(canary.contender);
      all.push_back(canary.twin);
    }
    build_missing(all, interrupt_);
  }

  [[nodiscard]] const std::vector<Canary>& canaries() const { return canaries_; }

  // Measures what `turn` says, anew.
  SelfTestComparison compare(const SelfTestComparison& turn) {
    for (const Canary& canary : canaries_) {
      if (canary.name() == turn.canary) return compare(canary);
    }
    return compare_chains(turn.planted);
  }

 private:
  static constexpr std::chrono::milliseconds kCanaryBurst{10};

  SelfTestComparison compare_chains(bool planted) {
    constexpr std::uint64_t links = 400'000;  // about half a millisecond
    const auto more = static_cast<std::uint64_t>(std::llround(links * kPlanted));
    std::vector<Measurement> pair{measurement_of(chain_, links),
                                  measurement_of(chain_, planted ? more : links)};
    const Look before = look();  // at all CPUs, also the first one
    const OnOneCpu together(random_());
    SelfTestComparison result{.planted = planted};
    compare(pair, std::chrono::milliseconds(5), kLooks, before, {}, result);
    return result;
  }

  SelfTestComparison compare(const Canary& canary) {
    const Cell& cell = canary.cell;
    Bench bench(plan_of(1, kCanaryBurst, random_()), interrupt_);
    std::vector<Measurement> pair =
        canary.pair(canary.scenario->variables({cell}, contenders_, bench));
    const Look before = look();
    std::optional<OnOneCpu> together;
    if (canary.is_alone()) together.emplace(random_());
    SelfTestComparison result{.canary = canary.name()};
    compare(pair, kCanaryBurst, canary_looks_, before,
            {.higher_is_better = canary.higher_is_better()}, result);
    return result;
  }

  // Launches are added while it is too noisy to tell, and the machine is not to blame.
  void compare(std::vector<Measurement>& pair, std::chrono::milliseconds burst,
               std::span<const std::size_t> looks, const Look& before, Judging judging,
               SelfTestComparison& result) {
    for (const std::size_t launches : looks) {
      Bench(plan_of(launches - result.launches, burst, random_()), interrupt_).measure(pair);
      for (const Measurement& one : pair) {
        if (one.status != RowStatus::ok) throw UserError("the self-test broke: " + one.reason);
      }
      result.launches = launches;
      result.disturbed = disturbance(before, look(), {}, {}).reason;
      judging.disturbed = !result.disturbed.empty();
      result.judged = judge_change(metric_of(pair[1]), metric_of(pair[0]), judging, random_());
      if (judging.disturbed || result.judged.change != Change::too_noisy) break;
    }
  }

  Scenarios scenarios_ = all_scenarios();
  std::vector<Contender> contenders_;
  Contender chain_;
  std::vector<Canary> canaries_;
  std::vector<std::size_t> canary_looks_;
  std::mt19937_64 random_;
  Interrupt interrupt_;
};

bool is_different(Change change) { return change == Change::improved || change == Change::worse; }

// The value that `percent` of all do not exceed; 0 of none.
double percentile(std::vector<double> values, double percent) {
  if (values.empty()) return 0;
  std::ranges::sort(values);
  const double rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  return values[static_cast<std::size_t>(std::max(rank, 1.0)) - 1];
}

int exit_code_of(const SelfTestSummary& summary) {
  const bool different = summary.called_different * 100 > 2 * summary.equals;
  if (different || summary.wrong > summary.called_different) return exit_code::falls_short;
  if (summary.canaries_different > 0) return exit_code::falls_short;
  const bool found = summary.found * 100 >= 95 * summary.planted;
  const bool equal = summary.canaries_equal == summary.canaries;
  return found && equal ? exit_code::ok : exit_code::too_noisy;
}

void count_canary(const SelfTestComparison& comparison, SelfTestSummary& summary) {
  const JudgedChange& judged = comparison.judged;
  ++summary.canaries;
  summary.canaries_equal += judged.change == Change::unchanged ? 1 : 0;
  summary.canaries_different += is_different(judged.change) ? 1 : 0;
  if (judged.change == Change::unchanged) return;
  const std::string why = comparison.disturbed.empty() ? "" : ", " + comparison.disturbed;
  summary.canaries_not_equal.push_back(
      fmt::format("{}: {}, {:.3f} ({:.3f} .. {:.3f}){}", comparison.canary,
                  is_different(judged.change) ? "different" : "too noisy to tell", judged.ratio,
                  judged.bounds.low, judged.bounds.high, why));
}

json to_json(const SelfTestComparison& comparison) {
  const JudgedChange& judged = comparison.judged;
  json data{{"launches", comparison.launches},   {"repeats", comparison.repeats},
            {"disturbed", comparison.disturbed}, {"ratio", judged.ratio},
            {"low", judged.bounds.low},          {"high", judged.bounds.high},
            {"verdict", name_of(judged.change)}};
  if (comparison.canary.empty()) {
    data.emplace("planted", comparison.planted ? kPlanted : 1.0);
  } else {
    data.emplace("canary", comparison.canary);
  }
  return data;
}

}  // namespace

std::vector<SelfTestComparison> self_test(const DoctorOptions& options, std::uint64_t seed) {
  SelfTest test(read_contenders({}), options.canary_launches, seed);
  std::deque<SelfTestComparison> left(static_cast<std::size_t>(options.equals));
  left.resize(left.size() + static_cast<std::size_t>(options.planted), {.planted = true});
  for (const Canary& canary : test.canaries()) left.push_back({.canary = canary.name()});
  std::ranges::shuffle(left, std::mt19937_64(seed));
  Progress progress(static_cast<int>(left.size()));
  std::vector<SelfTestComparison> done;
  // What the machine spoiled has another turn after all others: a neighbour goes away again.
  for (; !left.empty(); left.pop_front()) {
    const SelfTestComparison& turn = left.front();
    const std::string chains = turn.planted ? "5 % planted" : "A against A";
    progress.show(turn.canary.empty() ? chains : turn.canary);
    SelfTestComparison result = test.compare(turn);
    result.repeats = turn.repeats;
    const int most_repeats = turn.canary.empty() ? kMostRepeats : kMostRepeatsOfACanary;
    if (!result.disturbed.empty() && turn.repeats < most_repeats) {
      ++result.repeats;
      left.push_back(std::move(result));
      continue;
    }
    done.push_back(std::move(result));
    progress.step();
  }
  return done;
}

SelfTestSummary summary_of(const std::vector<SelfTestComparison>& comparisons) {
  SelfTestSummary summary;
  std::vector<double> apart;
  std::vector<double> needed;
  for (const SelfTestComparison& comparison : comparisons) {
    if (!comparison.canary.empty()) {
      count_canary(comparison, summary);
      continue;
    }
    const JudgedChange& judged = comparison.judged;
    const bool noisy = judged.change == Change::too_noisy;
    summary.too_noisy += noisy ? 1 : 0;
    summary.disturbed += comparison.disturbed.empty() ? 0 : 1;
    if (comparison.planted) {
      ++summary.planted;
      summary.found += judged.change == Change::worse ? 1 : 0;
      summary.wrong += !noisy && judged.change != Change::worse ? 1 : 0;
      continue;
    }
    ++summary.equals;
    summary.called_different += is_different(judged.change) ? 1 : 0;
    if (!comparison.disturbed.empty()) continue;
    apart.push_back(std::exp(std::abs(std::log(judged.ratio))) - 1);
    // An interval this wide must lie beyond the margin as a whole.
    needed.push_back(judged.ratio / judged.bounds.low * (1 + judged.margin) - 1);
  }
  summary.wrong += summary.called_different;
  summary.floor = percentile(apart, 99);
  summary.visible = percentile(needed, 95);
  summary.exit_code = exit_code_of(summary);
  return summary;
}

std::string SelfTestSummary::text() const {
  std::string text = fmt::format(
      "A against A    {} of {} called different (at most 2 % may be)\n"
      "5 % planted    {} of {} found (at least 95 % must be)\n"
      "wrong          {}\n"
      "too noisy      {}, {} of them because other programs ran\n",
      called_different, equals, found, planted, wrong, too_noisy, disturbed);
  if (equals > disturbed) {
    text += fmt::format(
        "floor          equal programs differ by up to {:.2f} %\n"
        "visible        differences of {:.1f} % and more\n",
        100 * floor, 100 * visible);
  }
  text += fmt::format("canaries       {} of {} equal: code at other addresses (all must be)\n",
                      canaries_equal, canaries);
  for (const std::string& line : canaries_not_equal) text += fmt::format("{:15}{}\n", "", line);
  switch (exit_code) {
    case exit_code::ok: return text + "Verdicts on this machine can be believed.\n";
    case exit_code::too_noisy:
      return text + "Too noisy to tell: stop other programs and try again.\n";
    default: return text + "Verdicts on this machine cannot be believed.\n";
  }
}

json to_json(const SelfTestSummary& summary, const std::vector<SelfTestComparison>& comparisons) {
  json chains = json::array();
  json canaries = json::array();
  for (const SelfTestComparison& comparison : comparisons) {
    (comparison.canary.empty() ? chains : canaries).push_back(to_json(comparison));
  }
  return {{"equals", summary.equals},       {"called_different", summary.called_different},
          {"planted", summary.planted},     {"found", summary.found},
          {"wrong", summary.wrong},         {"too_noisy", summary.too_noisy},
          {"disturbed", summary.disturbed}, {"floor", summary.floor},
          {"visible", summary.visible},     {"believable", summary.exit_code == exit_code::ok},
          {"comparisons", chains},          {"canaries", canaries}};
}

}  // namespace handoff::lab
