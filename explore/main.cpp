// SPDX-License-Identifier: MIT
//
// The explorer's program. Without arguments it explores every scenario completely, within its
// bound; HANDOFF_TEST_DEEP=1 takes one deviation more and random priorities besides.
//
//   explore [NAME-PART...]          scenarios whose name contains one of these
//     --except NAME-PART            not these
//     --deviations N                another bound
//     --search exhaustive|random|pct  --executions N  --seed N
//     --memory cpp|x86|sequential
//     --replay 'SCHEDULE'           the one execution that a failure printed
//     --list                        the names
//     --mutants FILE                weaken each order instead, see mutants.cpp; NAME-PART is then
//                                   part of the path of a file of the library
//     --third TEXT                  every third of the large scenarios, drawn by the text, the rest
//                                   of them with a deviation less. All if it is empty, and in a
//                                   deep run
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "explore/scenario.hpp"

namespace {

using namespace handoff;
using explore::Memory;
using explore::Search;

struct Arguments {
  std::vector<std::string> parts;
  std::vector<std::string> except;
  explore::Options options;
  bool bound_given = false;
  bool list = false;
  std::string mutants;
  std::string third;
};

// Stops with one line that says what was not understood.
[[noreturn]] void refuse(const std::string& what) {
  std::cerr << "explore: " << what << "; the head of explore/main.cpp tells what there is\n";
  std::exit(2);
}

template <class T>
T one_of(const std::map<std::string, T>& known, const std::string& name) {
  const auto found = known.find(name);
  if (found == known.end()) refuse("unknown value '" + name + "'");
  return found->second;
}

std::uint64_t number_of(const std::string& text) {
  char* end = nullptr;
  const std::uint64_t number = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || *end != '\0') refuse("'" + text + "' is no number");
  return number;
}

Arguments read_arguments(const std::vector<std::string>& words) {
  Arguments arguments;
  explore::Options& options = arguments.options;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    const auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) refuse(word + " wants a value");
      return words[++i];
    };
    if (word == "--list") {
      arguments.list = true;
    } else if (word == "--mutants") {
      arguments.mutants = value();
    } else if (word == "--third") {
      arguments.third = value();
    } else if (word == "--except") {
      arguments.except.push_back(value());
    } else if (word == "--deviations") {
      options.deviations = static_cast<unsigned>(number_of(value()));
      arguments.bound_given = true;
    } else if (word == "--executions") {
      options.executions = number_of(value());
    } else if (word == "--seed") {
      options.seed = number_of(value());
    } else if (word == "--search") {
      options.search = one_of<Search>(
          {{"exhaustive", Search::exhaustive}, {"random", Search::random}, {"pct", Search::pct}},
          value());
    } else if (word == "--memory") {
      options.memory = one_of<Memory>(
          {{"cpp", Memory::cpp}, {"x86", Memory::x86}, {"sequential", Memory::sequential}},
          value());
    } else if (word == "--replay") {
      options.search = Search::replay;
      options.schedule = value();
    } else if (word.starts_with("-")) {
      refuse("unknown option " + word);
    } else {
      arguments.parts.push_back(word);
    }
  }
  return arguments;
}

bool is_any(const test::Scenario& scenario, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(), [&](const std::string& part) {
    return scenario.name.find(part) != std::string::npos;
  });
}

bool is_chosen(const test::Scenario& scenario, const Arguments& arguments) {
  return (arguments.parts.empty() || is_any(scenario, arguments.parts)) &&
         !is_any(scenario, arguments.except);
}

// Whether a failure needs a weakly ordered machine or shows on x86 as well.
void print_failure(const test::Scenario& scenario, const explore::Options& options,
                   const explore::Result& result, const std::string& program) {
  if (options.search == Search::random || options.search == Search::pct) {
    std::cout << "seed " << options.seed << ": ";
  }
  std::cout << result.report() << "replay: " << program << " " << scenario.name << " --replay '"
            << result.schedule << "'\n";
  if (options.memory != Memory::cpp || options.search == Search::replay) return;
  explore::Options on_x86 = options;
  on_x86.memory = Memory::x86;
  const bool also = explore_scenario(scenario, on_x86).fault != explore::Fault::none;
  std::cout << (also ? "also on x86\n" : "only on weak memory\n");
}

// True if all is well.
bool explore_one(const test::Scenario& scenario, const explore::Options& options,
                 const std::string& program) {
  const explore::Result result = explore_scenario(scenario, options);
  std::cout << scenario.name << " (" << options.deviations << " deviations): " << std::flush;
  if (options.search == Search::replay ? result.fault != explore::Fault::none : !result.ok()) {
    print_failure(scenario, options, result, program);
    return false;
  }
  std::cout << result.report();
  if (options.search == Search::exhaustive && result.executions < 2) {
    std::cout << "  nothing to interleave: this proves nothing\n";
    return false;
  }
  return true;
}

bool is_deep() {
  const char* const deep = std::getenv("HANDOFF_TEST_DEEP");
  return deep != nullptr && std::string(deep) == "1";
}

// What the scenario gets where no bound was given.
unsigned bound_of(const test::Scenario& scenario, const std::string& third) {
  if (is_deep()) return bound_for(scenario, test::Purpose::deep);
  const unsigned bound = bound_for(scenario, test::Purpose::check);
  const bool is_left_out =
      scenario.size == test::Size::large && !test::is_in_third(third, scenario.name);
  return is_left_out ? std::min(bound, test::kDeviations - 1) : bound;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments = read_arguments({argv + 1, argv + argc});
  test::add_models();
  if (!arguments.mutants.empty()) {
    const unsigned deviations = arguments.options.deviations;
    const unsigned in_search = is_deep() ? deviations : std::min(deviations, 1U);
    const int unaccounted =
        test::explore_mutants(arguments.mutants, arguments.parts, {deviations, in_search});
    return unaccounted == 0 ? 0 : 1;
  }
  int chosen = 0;
  int failed = 0;
  for (const test::Scenario* const scenario : test::scenarios()) {
    if (!is_chosen(*scenario, arguments)) continue;
    ++chosen;
    explore::Options options = arguments.options;
    if (arguments.list) {
      std::cout << scenario->name << "\n";
      continue;
    }
    if (!arguments.bound_given) options.deviations = bound_of(*scenario, arguments.third);
    if (!explore_one(*scenario, options, argv[0])) ++failed;
    if (!is_deep() || options.search != Search::exhaustive ||
        scenario->size == test::Size::program) {
      continue;
    }
    options.search = Search::pct;
    options.executions = 200'000;
    if (!explore_one(*scenario, options, argv[0])) ++failed;
  }
  if (chosen == 0) refuse("no scenario of that name");
  std::cout << chosen << " scenarios, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
