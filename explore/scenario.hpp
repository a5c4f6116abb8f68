// SPDX-License-Identifier: MIT
//
// Scenarios: small programs that the explorer runs through their interleavings.
//
//   const Scenario one_by_one("spsc_ring/one_by_one", [] {
//     SpscRing<int> ring(1);
//     explore::Thread producer([&] { ... });
//     ...
//     explore::check(sum == 3, "each item once");
//   });
//
// A scenario is named as in the protocol note of its part. It is small: two or three threads, two
// or three operations each, capacities of one or two; what it does not reach another one does. It
// checks what the part promises, says its final states apart (explore::outcome), and leaves
// nothing behind. `./check` explores each one completely for two deviations.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <explore/engine/explore.hpp>

namespace handoff::test {

// The bound in `./check`.
inline constexpr unsigned kDeviations = 2;

// How far a scenario is explored.
//   small    two deviations, three in a deep run; all of it again for each order that is weakened
//   large    two deviations take minutes already: no more in a deep run, one for each weakened
//            order; in `./check` two for every other, drawn by the commit, one for the rest, and
//            for all in which calls may fail
//   huge     two deviations take more than two minutes: only in a deep run, else one
//   single   what happens in which order, seen by one thread beside a pool: one deviation, and
//            random priorities besides in a deep run
//   program  hundreds of operations, mostly of one thread: one deviation, always
enum class Size { small, large, huge, single, program };

struct Scenario {
  // Registers itself. `deaths`: how many processes may be killed; `failures`: how many calls may
  // fail (explore::MayFail).
  Scenario(std::string scenario_name, std::function<void()> body, Size its_size = Size::small,
           unsigned deaths_bound = 0, unsigned failures_bound = 0);

  std::string name;
  std::function<void()> run;
  Size size;
  unsigned deaths;
  unsigned failures;
};

// Scenarios of other sizes, and small ones in which one call may fail:
// `const LargeScenario name("...", [] { ... });`
template <Size kSize, unsigned kFailures = 0>
struct SizedScenario : Scenario {
  SizedScenario(std::string scenario_name, std::function<void()> body)
      : Scenario(std::move(scenario_name), std::move(body), kSize, 0, kFailures) {}
};
using LargeScenario = SizedScenario<Size::large>;
using HugeScenario = SizedScenario<Size::huge>;
using SingleScenario = SizedScenario<Size::single>;
using FailingScenario = SizedScenario<Size::small, 1>;
// Ones in which as many processes may be killed.
template <unsigned kDeaths = 1, Size kSize = Size::small>
struct MortalScenario : Scenario {
  MortalScenario(std::string scenario_name, std::function<void()> body)
      : Scenario(std::move(scenario_name), std::move(body), kSize, kDeaths) {}
};

// How many deviations it gets, for what.
enum class Purpose { check, deep, weakened_order };
unsigned bound_for(const Scenario& scenario, Purpose purpose);

// Whether this one is in the third that a text draws; all are if there is no text.
bool is_in_third(const std::string& third, const std::string& name);

// All that are linked in, in the order of their names.
std::vector<const Scenario*> scenarios();

// Makes a scenario of each model of tests/model. Called by main(), when all of them are there.
void add_models();

// Explores one scenario as `options` say, with the scenario's own name, body and deaths.
explore::Result explore_scenario(const Scenario& scenario, explore::Options options);

struct MutantBounds {
  unsigned deviations;  // with which a mutant is tried
  unsigned in_search;  // while the scenarios that pass an order are looked for
};

// Weakens each order of the library, one at a time, and expects the scenarios to notice. `list`
// names the mutants that change nothing, each with its proof; `parts` are parts of the paths of the
// files to weaken, none for all. The number of mutants unaccounted for.
int explore_mutants(const std::string& list, const std::vector<std::string>& parts,
                    const MutantBounds& bounds);

}  // namespace handoff::test
