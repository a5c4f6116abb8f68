// SPDX-License-Identifier: MIT
//
// Is the proof any good? Each order that the library uses is weakened, each fence left out, one at
// a time; the scenarios that pass that site must fail. A mutant that survives either changes
// nothing, or shows that a scenario is missing: the list says which, and why.
//
// The list has a line a mutant:
//   file | text of the source line | from -> to | equivalent: why it changes nothing
//   file | text of the source line | from -> to | open: what no scenario shows yet
// A line for a mutant that is killed, or that is not there, is as wrong as one that is missing.
// `parts`: only files whose path has one of these in it.
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
  if (site.kind != Site::Kind::access) {
    all.push_back({site.file, site.line, site.used, site.used, true});
    if (site.kind == Site::Kind::heavy_fence) return all;
  }
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
  return all;
}

// One line of the list, without the reason.
std::string key_of(const Mutation& mutation) {
  const char* const to = mutation.drop_fence ? "nothing" : explore::to_string(mutation.to);
  return in_library(mutation.file) + " | " + source_line(mutation.file, mutation.line) + " | " +
         explore::to_string(mutation.from) + " -> " + to;
}

bool has_one_of(const std::string& text, const std::vector<std::string>& parts) {
  return parts.empty() || std::any_of(parts.begin(), parts.end(), [&text](const auto& part) {
           return text.find(part) != std::string::npos;
         });
}

std::multimap<std::string, std::string> read_list(const std::string& path,
                                                  const std::vector<std::string>& parts) {
  std::multimap<std::string, std::string> reasons;
  std::ifstream in(path);
  if (!in) std::cerr << "explore: cannot read the list of equivalent mutants " << path << "\n";
  for (std::string line; std::getline(in, line);) {
    const auto last = line.rfind(" | ");
    if (line.starts_with("#") || last == std::string::npos) continue;
    if (!has_one_of(line.substr(0, line.find(" | ")), parts)) continue;
    reasons.emplace(trimmed(line.substr(0, last)), trimmed(line.substr(last + 3)));
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
    const auto result = explore_scenario(
        *scenario,
        {.deviations = std::min(deviations, scenario->deviations), .mutation = &mutation});
    tried.executions += result.executions;
    if (result.fault == explore::Fault::none) continue;
    tried.killer = scenario->name + " (" + to_string(result.fault) + ")";
    break;
  }
  return tried;
}

// Which scenarios pass which site of the library.
std::map<Site, std::vector<const Scenario*>> sites_of_scenarios(
    const std::vector<std::string>& parts, unsigned deviations) {
  std::map<Site, std::vector<const Scenario*>> sites;
  for (const Scenario* const scenario : scenarios()) {
    const auto result = explore_scenario(
        *scenario, {.deviations = std::min(deviations, scenario->deviations), .list_sites = true});
    for (const Site& site : result.sites) {
      const std::string file = in_library(site.file);
      if (!file.empty() && has_one_of(file, parts)) sites[site].push_back(scenario);
    }
  }
  return sites;
}

}  // namespace

int explore_mutants(const std::string& list, const std::vector<std::string>& parts,
                    unsigned deviations) {
  auto reasons = read_list(list, parts);
  std::map<std::string, int> counts;  // by what became of them
  int unaccounted = 0;
  for (const auto& [site, passing] : sites_of_scenarios(parts, deviations)) {
    for (const Mutation& mutation : mutations_of(site)) {
      const Tried tried = try_out(mutation, passing, deviations);
      const std::string key = key_of(mutation);
      std::string verdict = "killed";
      if (tried.killer.empty()) {
        const auto reason = reasons.find(key);
        verdict = reason == reasons.end() ? "SURVIVED"
                                          : reason->second.substr(0, reason->second.find(':'));
        unaccounted += verdict != "equivalent" && verdict != "open";
        if (reason != reasons.end()) reasons.erase(reason);
      }
      ++counts[verdict];
      std::cout << verdict << ": " << key << " [" << site.line << "]  " << tried.killer << " "
                << tried.executions << " executions\n";
    }
  }
  for (const auto& [key, reason] : reasons) {
    std::cout << "LISTED, but killed or not there: " << key << "\n";
    ++unaccounted;
  }
  for (const auto& [verdict, count] : counts) std::cout << count << " " << verdict << ", ";
  std::cout << unaccounted << " unaccounted for\n";
  return unaccounted;
}

}  // namespace handoff::test
