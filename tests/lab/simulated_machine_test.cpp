// SPDX-License-Identifier: MIT
// The verdict on a simulated machine that is worse than most: every launch is in a fast or a slow
// state up to 2x apart, bursts are noisy, now and then one is hit by something, and the speed
// drifts. Equals must not be called different, a planted 5 % must be found. Verdicts that are too
// simple fail here, which shows that this test can fail.
#include "harness/verdict.hpp"
#include "support/test.hpp"

namespace simulated_machine_test { namespace {

using namespace handoff::lab;

enum class StateOf { process, machine };  // in whose power the slow state is

struct Machine {
  StateOf state = StateOf::process;
  double slow = 0;        // how likely a launch is in the slow state
  double apart = 0;       // ln(slow / fast)
  double foreign_cpus = 0;  // what another process burns
  double favour = 0;        // ln(by how much that slows down the second more than the first)
  double hit_first = 0;     // how likely it makes a burst of the first many times as long,
  double hit_second = 0;    // and of the second
};

// Times in logarithms, so that all influences add up.
class Simulation {
 public:
  Simulation(const Machine& machine, std::uint64_t seed) : machine_(machine), random_(seed) {}

  // Launches of two contenders side by side, their bursts taking turns. The second takes `planted`
  // times as long.
  std::pair<Launches, Launches> compare(std::size_t launches, double planted, int rounds) {
    std::pair<Launches, Launches> times{Launches(launches), Launches(launches)};
    for (std::size_t l = 0; l < launches; ++l) {
      const double machine = state(StateOf::machine);
      const double first = machine + state(StateOf::process) + normal(0.003);
      const double second =
          machine + state(StateOf::process) + normal(0.003) + machine_.favour + std::log(planted);
      for (int round = 0; round < rounds; ++round) {
        times.first[l].push_back(std::exp(first + burst(machine_.hit_first)));
        times.second[l].push_back(std::exp(second + burst(machine_.hit_second)));
      }
    }
    return times;
  }

 private:
  double state(StateOf whose) {
    return whose == machine_.state && happens(machine_.slow) ? machine_.apart : 0;
  }

  double burst(double hit_by_far) {
    drift_ += normal(0.003);
    const double hit = happens(0.05) ? uniform(0.05, 0.5) : 0;
    // On a CPU that another process wants too, one gets half of the time or more.
    const double shared = happens(machine_.foreign_cpus / 2) ? uniform(0, std::log(2)) : 0;
    const double far = hit_by_far > 0 && happens(hit_by_far) ? uniform(0, std::log(30)) : 0;
    return drift_ + normal(0.01) + hit + shared + far;
  }

  double normal(double deviation) { return std::normal_distribution(0.0, deviation)(random_); }
  double uniform(double low, double high) {
    return std::uniform_real_distribution(low, high)(random_);
  }
  bool happens(double probability) { return std::bernoulli_distribution(probability)(random_); }

  Machine machine_;
  std::mt19937_64 random_;
  double drift_ = 0;
};

using Judge = std::function<Change(const Launches& now, const Launches& before)>;

Change judge(const Launches& now, const Launches& before) {
  return judge_change(now, before, {}).change;
}

// How one measures: launches are added while it is too noisy to tell.
struct Looking {
  std::span<const std::size_t> looks;
  int rounds;  // of bursts in a launch
};
constexpr Looking kUsual{kLooks, 5};
// As `try` does: once, at the end.
constexpr std::array<std::size_t, 1> kOneLook{24};
constexpr Looking kOnce{kOneLook, 3};

Change compared(const Machine& machine, double planted, std::uint64_t seed, const Judge& judge,
                const Looking& looking = kUsual) {
  const auto [before, now] =
      Simulation(machine, seed).compare(looking.looks.back(), planted, looking.rounds);
  Change change = Change::too_noisy;
  for (const std::size_t launches : looking.looks) {
    const auto end = static_cast<std::ptrdiff_t>(launches);
    change = judge({now.begin(), now.begin() + end}, {before.begin(), before.begin() + end});
    if (change != Change::too_noisy) break;
  }
  return change;
}

constexpr int kEquals = 200;
constexpr int kPlanted = 100;

struct Tally {
  int equals = 0;  // comparisons of A against A
  int called_different = 0;  // of them
  int planted = 0;  // comparisons with 5 % planted
  int found = 0;  // of them
  int wrong = 0;  // of them called unchanged or improved
  int too_noisy = 0;  // of all

  [[nodiscard]] bool believable() const {
    return called_different * 100 <= 2 * equals && found * 100 >= 95 * planted &&
           wrong * 100 <= planted;
  }
  // Whether it cannot be believable any more, whatever those say that are still to come.
  [[nodiscard]] bool is_lost() const {
    return called_different * 100 > 2 * kEquals || (planted - found) * 100 > 5 * kPlanted ||
           wrong * 100 > kPlanted;
  }
};

std::ostream& operator<<(std::ostream& out, const Tally& tally) {
  return out << tally.called_different << " of " << tally.equals << " equals called different, "
             << tally.found << " of " << tally.planted << " planted found, " << tally.wrong
             << " wrong, " << tally.too_noisy << " too noisy";
}

// How long a tally goes on.
enum class Until { all, lost };

// Machines of all kinds: how far apart the states are and how often a launch is slow is drawn anew
// for each comparison.
Tally tally(StateOf state, const Judge& judge, std::uint64_t seed, double foreign_cpus = 0,
            const Looking& looking = kUsual, double hit_by_far = 0, Until until = Until::all) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> slow(0.1, 0.9);
  std::uniform_real_distribution<double> apart(0, std::log(2));
  Tally tally;
  for (int i = 0; i < kEquals + kPlanted; ++i) {
    if (until == Until::lost && tally.is_lost()) break;
    const bool equal = i < kEquals;
    Machine machine{state, slow(random), apart(random), foreign_cpus};
    (i % 4 < 2 ? machine.hit_first : machine.hit_second) = hit_by_far;
    const Change change = compared(machine, equal ? 1 : 1.05, random(), judge, looking);
    const bool different = change == Change::worse || change == Change::improved;
    tally.too_noisy += change == Change::too_noisy ? 1 : 0;
    if (equal) {
      ++tally.equals;
      tally.called_different += different ? 1 : 0;
    } else {
      ++tally.planted;
      tally.found += change == Change::worse ? 1 : 0;
      tally.wrong += change == Change::unchanged || change == Change::improved ? 1 : 0;
    }
  }
  return tally;
}

// What is too simple is told by that: the first comparisons that it gets wrong are enough.
bool is_believable(StateOf state, const Judge& judge, const Looking& looking = kUsual,
                   double hit_by_far = 0) {
  return tally(state, judge, 1, 0, looking, hit_by_far, Until::lost).believable();
}

// The same seeds on every machine; others in a deep run.
std::vector<std::uint64_t> seeds() {
  std::vector<std::uint64_t> seeds{1};
  if (!handoff::test::deep()) return seeds;
  auto random = handoff::test::random();
  for (int i = 0; i < 7; ++i) seeds.push_back(random());
  return seeds;
}

TEST(SimulatedMachine, ProcessesInTwoStatesAreJudgedRightly) {
  for (const std::uint64_t seed : seeds()) {
    const Tally result = tally(StateOf::process, judge, seed);
    EXPECT_TRUE(result.believable()) << result << ", seed " << seed;
  }
}

TEST(SimulatedMachine, AMachineInTwoStatesIsJudgedRightly) {
  for (const std::uint64_t seed : seeds()) {
    const Tally result = tally(StateOf::machine, judge, seed);
    EXPECT_TRUE(result.believable()) << result << ", seed " << seed;
  }
}

TEST(SimulatedMachine, BesideAForeignProcessItIsTooNoisy) {
  const auto told = [](const Launches& now, const Launches& before) {
    return judge_change(now, before, {.disturbed = true}).change;
  };
  for (const StateOf state : {StateOf::process, StateOf::machine}) {
    const Tally result = tally(state, told, 1, 1.0);
    EXPECT_EQ(result.too_noisy, 300) << result;
  }
}

TEST(SimulatedMachine, AForeignProcessThatNobodySawMakesNoWrongVerdict) {
  const Tally result = tally(StateOf::process, judge, 1, 1.0);
  EXPECT_LE(result.called_different, 4) << result;
  EXPECT_LE(result.wrong, 1) << result;
}

// Beside a neighbour that slows down one side by up to a fifth more than the other.

Change judge_beside_a_neighbour(const Launches& now, const Launches& before) {
  return judge_change(now, before, {.disturbed = true, .disturbed_margin = kDisturbedMargin})
      .change;
}

// The same margin, but each launch votes by the median of its pairs of bursts.
Change judge_by_pairs(const Launches& now, const Launches& before) {
  const Change change = judge_change(now, before, {.floor = kDisturbedMargin}).change;
  return change == Change::unchanged ? Change::too_noisy : change;
}

struct Beside {
  int called_different = 0;  // of 200 equals
  int planted = 0;  // that take twice as long, of 100
  int found = 0;  // of them
  int wrong = 0;  // of them
};

std::ostream& operator<<(std::ostream& out, const Beside& beside) {
  return out << beside.called_different << " of 200 equals called different, " << beside.found
             << " of 100 found, " << beside.wrong << " wrong";
}

// `hit_by_far`: how likely each burst of one side, now of this, now of that, is. Ends early where
// `enough` says so.
Beside beside_a_neighbour(const Judge& judge, double hit_by_far = 0,
                          bool (*enough)(const Beside&) = nullptr) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> favour(-std::log(1.2), std::log(1.2));
  std::uniform_real_distribution<double> slow(0.1, 0.9);
  std::uniform_real_distribution<double> apart(0, std::log(2));
  Beside beside;
  for (int i = 0; i < 300; ++i) {
    if (enough != nullptr && enough(beside)) break;
    const bool equal = i >= 100;
    const StateOf state = i % 2 == 0 ? StateOf::process : StateOf::machine;
    Machine machine{state, slow(random), apart(random), 1, favour(random)};
    (i % 4 < 2 ? machine.hit_first : machine.hit_second) = hit_by_far;
    const Change change = compared(machine, equal ? 1 : 2, random(), judge, kOnce);
    const bool different = change == Change::worse || change == Change::improved;
    if (equal) {
      beside.called_different += different ? 1 : 0;
    } else {
      ++beside.planted;
      beside.found += change == Change::worse ? 1 : 0;
      beside.wrong += change == Change::improved || change == Change::unchanged ? 1 : 0;
    }
  }
  return beside;
}

TEST(SimulatedNeighbour, WhoFavoursOneSideMakesNoWrongVerdict) {
  const Beside beside = beside_a_neighbour(judge_beside_a_neighbour);
  EXPECT_EQ(beside.called_different, 0) << beside;
  EXPECT_EQ(beside.wrong, 0) << beside;
  EXPECT_GE(beside.found, 80) << beside;
}

TEST(SimulatedNeighbour, NorDoesOneThatHitsBurstsOfOneSideByFar) {
  const Beside beside = beside_a_neighbour(judge_beside_a_neighbour, 0.3);
  EXPECT_EQ(beside.called_different, 0) << beside;
  EXPECT_EQ(beside.wrong, 0) << beside;
  EXPECT_GE(beside.found, 75) << beside;
}

TEST(SimulatedMachineCanary, TheUsualMarginIsTooNarrowBesideANeighbour) {
  const auto too_many = [](const Beside& beside) { return beside.called_different > 4; };
  const Beside beside = beside_a_neighbour(judge, 0, too_many);
  EXPECT_TRUE(too_many(beside)) << beside;
}

TEST(SimulatedMachineCanary, PairsOfBurstsTellTooLittleWhereOneSideIsHitByFar) {
  const auto too_little = [](const Beside& beside) {
    return beside.called_different > 0 || beside.wrong > 0 || beside.planted - beside.found > 25;
  };
  const Beside beside = beside_a_neighbour(judge_by_pairs, 0.3, too_little);
  EXPECT_TRUE(too_little(beside)) << beside;
}

// What is too simple for such a machine.

Change by_median(const Launches& now, const Launches& before) {
  const double ratio = typical(now) / typical(before);
  return ratio > 1.02 ? Change::worse : ratio < 1 / 1.02 ? Change::improved : Change::unchanged;
}

Change by_plain_bootstrap(const Launches& now, const Launches& before) {
  const Interval bounds = interval(resample(ratio(now, before), 1, 500));
  if (bounds.low > 1.02) return Change::worse;
  if (bounds.high < 1 / 1.02) return Change::improved;
  return bounds.low >= 1 / 1.02 && bounds.high <= 1.02 ? Change::unchanged : Change::too_noisy;
}

TEST(SimulatedMachineCanary, VerdictsThatAreTooSimpleFail) {
  const auto never_sure = [](const Launches&, const Launches&) { return Change::too_noisy; };
  const auto always_sure = [](const Launches&, const Launches&) { return Change::unchanged; };
  EXPECT_FALSE(is_believable(StateOf::process, by_median));
  EXPECT_FALSE(is_believable(StateOf::process, by_plain_bootstrap));
  EXPECT_FALSE(is_believable(StateOf::machine, never_sure));
  EXPECT_FALSE(is_believable(StateOf::machine, always_sure));
}

}}  // namespace simulated_machine_test
