// SPDX-License-Identifier: MIT
//
// Is the proof any good? Each order that the library uses is weakened, each fence left out, one at
// a time; the scenarios that pass that site must fail. A mutant that survives either changes
// nothing, and the list says why, or shows that a scenario is missing.
//
// The list has a line a mutant:
//   file | text of the source line | from -> to | why it changes nothing
#include <algorithm>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "explore/scenario.hpp"

namespace handoff::test {
namespace {

using explore::Mutation;
using explore::Site;
using order = std::memory_order;

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string source_line(const std::string& file, unsigned line) {
  std::ifstream in(file);
  std::string text;
  for (unsigned i = 0; i < line && std::getline(in, text); ++i) {
  }
  return trimmed(text);
}

// The library's part of a path: what follows the last include/handoff or src.
std::string in_library(const std::string& file) {
  for (const char* const root : {"include/handoff/", "/src/"}) {
    const auto at = file.rfind(root);
    if (at != std::string::npos) return file.substr(file[at] == '/' ? at + 1 : at);
  }
  return "";
}

std::vector<Mutation> mutations_of(const Site& site) {
  std::vector<Mutation> all;
  const auto weaken = [&](order to) { all.push_back({site.file, site.line, site.used, to}); };
  switch (site.used) {
    case order::acquire:
    case order::release: weaken(order::relaxed); break;
    case order::acq_rel:
      weaken(order::acquire);
      weaken(order::release);
      break;
    case order::seq_cst: weaken(order::acq_rel); break;
    default: break;
  }
  if (site.is_fence) all.push_back({site.file, site.line, site.used, site.used, true});
  return all;
}

// One line of the list, without the reason.
std::string key_of(const Mutation& mutation) {
  const char* const to = mutation.drop_fence ? "nothing" : explore::to_string(mutation.to);
  return in_library(mutation.file) + " | " + source_line(mutation.file, mutation.line) + " | " +
         explore::to_string(mutation.from) + " -> " + to;
}

std::map<std::string, std::string> read_list(const std::string& path) {
  std::map<std::string, std::string> reasons;
  std::ifstream in(path);
  if (!in) std::cerr << "explore: cannot read the list of equivalent mutants " << path << "\n";
  for (std::string line; std::getline(in, line);) {
    const auto last = line.rfind(" | ");
    if (line.starts_with("#") || last == std::string::npos) continue;
    reasons[trimmed(line.substr(0, last))] = trimmed(line.substr(last + 3));
  }
  return reasons;
}

struct Tried {
  std::string killer;  // empty: survived
  std::uint64_t executions = 0;
};

Tried try_out(const Mutation& mutation, const std::vector<const Scenario*>& passing,
              unsigned deviations) {
  Tried tried;
  for (const Scenario* const scenario : passing) {
    const auto result = explore_scenario(*scenario, {.deviations = deviations,
                                                     .mutation = &mutation});
    tried.executions += result.executions;
    if (result.fault == explore::Fault::none) continue;
    tried.killer = scenario->name + " (" + to_string(result.fault) + ")";
    break;
  }
  return tried;
}

// Which scenarios pass which site of the library.
std::map<Site, std::vector<const Scenario*>> sites_of_scenarios(unsigned deviations) {
  std::map<Site, std::vector<const Scenario*>> sites;
  for (const Scenario* const scenario : scenarios()) {
    const auto result = explore_scenario(*scenario, {.deviations = deviations});
    for (const Site& site : result.sites) {
      if (!in_library(site.file).empty()) sites[site].push_back(scenario);
    }
  }
  return sites;
}

}  // namespace

int explore_mutants(const std::string& list, unsigned deviations) {
  auto reasons = read_list(list);
  int total = 0;
  int killed = 0;
  int equivalent = 0;
  int unaccounted = 0;
  for (const auto& [site, passing] : sites_of_scenarios(deviations)) {
    for (const Mutation& mutation : mutations_of(site)) {
      ++total;
      const Tried tried = try_out(mutation, passing, deviations);
      const std::string key = key_of(mutation);
      const bool listed = reasons.erase(key) > 0;
      const char* verdict = "killed";
      if (!tried.killer.empty()) {
        ++killed;
        if (listed) verdict = "KILLED, but listed as equivalent";
      } else {
        verdict = listed ? "equivalent, as listed" : "SURVIVED";
        ++equivalent;
      }
      unaccounted += listed != tried.killer.empty();
      std::cout << verdict << ": " << key << " [" << site.line << "]  " << tried.killer << " "
                << tried.executions << " executions\n";
    }
  }
  for (const auto& [key, reason] : reasons) {
    std::cout << "LISTED, but there is no such mutant: " << key << "\n";
    ++unaccounted;
  }
  std::cout << total << " mutants, " << killed << " killed, " << equivalent << " not, "
            << unaccounted << " unaccounted for\n";
  return unaccounted;
}

}  // namespace handoff::test
