// SPDX-License-Identifier: MIT
//
// The list of scenarios.
#include "explore/scenario.hpp"

#include <algorithm>
#include <utility>

#include "books/books.hpp"

namespace handoff::test {
namespace {

// A function's own variable, so that it is there before the first scenario registers itself.
std::vector<const Scenario*>& registered() {
  static std::vector<const Scenario*> all;
  return all;
}

}  // namespace

Scenario::Scenario(std::string scenario_name, std::function<void()> body, Size its_size,
                   unsigned deaths_bound, unsigned failures_bound)
    : name(std::move(scenario_name)),
      run(std::move(body)),
      size(its_size),
      deaths(deaths_bound),
      failures(failures_bound) {
  registered().push_back(this);
}

std::vector<const Scenario*> scenarios() {
  auto all = registered();
  std::sort(all.begin(), all.end(), [](auto* a, auto* b) { return a->name < b->name; });
  return all;
}

unsigned bound_for(const Scenario& scenario, Purpose purpose) {
  const bool deep = purpose == Purpose::deep;
  switch (scenario.size) {
    case Size::small: return deep ? kDeviations + 1 : kDeviations;
    case Size::large: {
      const bool less = purpose == Purpose::weakened_order || (!deep && scenario.failures != 0);
      return less ? kDeviations - 1 : kDeviations;
    }
    case Size::huge: return deep ? kDeviations : kDeviations - 1;
    case Size::single:
    case Size::program: break;
  }
  return 1;
}

bool is_in_third(const std::string& third, const std::string& name) {
  return third.empty() || std::hash<std::string>()(third + name) % 3 == 0;
}

void tell_of_fault(const std::string& fault) { explore::check(false, fault.c_str()); }

explore::Result explore_scenario(const Scenario& scenario, explore::Options options) {
  options.name = scenario.name;
  options.deaths = scenario.deaths;
  options.failures = scenario.failures;
  if (scenario.size == Size::program) options.steps_limit = 50'000;
  return explore::run(options, scenario.run);
}

}  // namespace handoff::test
