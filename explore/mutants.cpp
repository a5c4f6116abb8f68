// SPDX-License-Identifier: MIT
//
// Is the proof any good? Each order that the library uses is weakened, each fence left out, one at
// a time; the scenarios that pass that site must fail. A mutant that survives either changes
// nothing, or shows that a scenario is missing: the list says which, and why.
//
// The list has a line a mutant:
//   file | text of the source line | from -> to | equivalent: why it changes nothing
//   file | text of the source line | from -> to | open: what no scenario shows yet
//   file | text of the source line | passed by none | equivalent: why no scenario can pass it
// A line for a mutant that is killed, or that is not there, is as wrong as one that is missing.
// `parts`: only files whose path has one of these in it.
//
// A mutant may break real memory before a verdict ends it, a frame of another thread of the
// scenario for one. So each is tried in a process of its own, whose death is its kill.
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
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

// The repository, which the list lies in: compilers may have been given relative paths.
std::filesystem::path repository;

std::string source_line(const std::string& file, unsigned line) {
  std::ifstream in(repository / file);
  std::string text;
  for (unsigned i = 0; i < line && std::getline(in, text); ++i) {
  }
  if (!in) {
    std::cerr << "explore: cannot read line " << line << " of " << (repository / file) << "\n";
    std::exit(1);
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
  return mutation.file + " | " + source_line(mutation.file, mutation.line) + " | " +
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

unsigned bound_here(const Scenario& scenario, unsigned deviations) {
  return std::min(deviations, bound_for(scenario, Purpose::weakened_order));
}

struct Tried {
  std::string killer;  // empty: survived
  std::uint64_t executions = 0;
};

Tried try_out_here(const Mutation& mutation, const std::vector<const Scenario*>& passing,
                   unsigned deviations) {
  Tried tried;
  for (const Scenario* const scenario : passing) {
    const auto result = explore_scenario(
        *scenario, {.deviations = bound_here(*scenario, deviations), .mutation = &mutation});
    tried.executions += result.executions;
    if (result.fault == explore::Fault::none) continue;
    tried.killer = scenario->name + " (" + to_string(result.fault) + ")";
    break;
  }
  return tried;
}

// What the other end writes until it is closed.
std::string read_all(int from) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (ssize_t n = 0; (n = read(from, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(n));
  }
  return text;
}

[[noreturn]] void fail(const char* what) {
  std::cerr << "explore: cannot " << what << ": " << std::strerror(errno) << "\n";
  std::exit(1);
}

// In a process of its own, which answers with the executions and the killer.
Tried try_out(const Mutation& mutation, const std::vector<const Scenario*>& passing,
              unsigned deviations) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) fail("make a pipe");
  std::cout.flush();
  const pid_t child = fork();
  if (child < 0) fail("fork");
  if (child == 0) {
    const Tried tried = try_out_here(mutation, passing, deviations);
    const std::string answer = std::to_string(tried.executions) + " " + tried.killer;
    const bool whole = write(ends[1], answer.data(), answer.size()) == ssize_t(answer.size());
    _exit(whole ? 0 : 1);
  }
  close(ends[1]);
  std::istringstream answer(read_all(ends[0]));
  close(ends[0]);
  int status = 0;
  if (waitpid(child, &status, 0) != child) fail("wait for a mutant");
  Tried tried;
  if (WIFSIGNALED(status)) {
    tried.killer = std::string("its process: ") + strsignal(WTERMSIG(status));
  } else if (answer >> tried.executions) {
    std::getline(answer >> std::ws, tried.killer);
  } else {
    std::cerr << "explore: a mutant's process ended without an answer\n";
    std::exit(1);
  }
  return tried;
}

struct Passed {
  const Scenario* scenario;
  std::uint64_t steps;
  std::vector<Site> sites;
};

// The scenarios with the sites they pass, the shortest ones first: most mutants are killed by one
// of those.
std::vector<Passed> sites_of_scenarios(unsigned deviations) {
  std::vector<Passed> all;
  for (const Scenario* const scenario : scenarios()) {
    auto result = explore_scenario(
        *scenario, {.deviations = bound_here(*scenario, deviations), .list_sites = true});
    all.push_back({scenario, result.steps, std::move(result.sites)});
  }
  std::sort(all.begin(), all.end(), [](const Passed& a, const Passed& b) {
    return std::tie(a.steps, a.scenario->name) < std::tie(b.steps, b.scenario->name);
  });
  return all;
}

// The sites of the library, and the scenarios that pass them.
std::map<Site, std::vector<const Scenario*>> scenarios_of_sites(
    const std::vector<Passed>& all, const std::vector<std::string>& parts) {
  std::map<Site, std::vector<const Scenario*>> sites;
  for (const Passed& passed : all) {
    for (const Site& site : passed.sites) {
      // One site, however the path was given to the compiler of each unit that has it.
      const std::string file = in_library(site.file);
      if (file.empty() || !has_one_of(file, parts)) continue;
      std::vector<const Scenario*>& passing = sites[{file, site.line, site.used, site.kind}];
      if (passing.empty() || passing.back() != passed.scenario) passing.push_back(passed.scenario);
    }
  }
  return sites;
}

bool starts_a_statement_after(const std::string& line) {
  return line.empty() || line.starts_with("//") || std::strchr(";{}:", line.back()) != nullptr;
}

std::string without_comment(const std::string& line) {
  return trimmed(line.substr(0, line.find("//")));
}

bool orders(const std::string& code) {
  for (const char* const word :
       {"order::acquire", "order::release", "order::acq_rel", "order::seq_cst", "fence_heavy()"}) {
    if (code.find(word) != std::string::npos) return true;
  }
  return false;
}

// The lines of a file that order something in a statement with none of the sites.
std::vector<std::string> not_passed(const std::filesystem::path& path,
                                    const std::set<unsigned>& passed) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  std::string before;
  std::string text;
  unsigned begin = 1;
  for (unsigned number = 1; std::getline(in, text); ++number) {
    const std::string code = without_comment(text);
    if (starts_a_statement_after(before)) begin = number;
    before = trimmed(text).starts_with("//") ? "//" : code;
    const auto site = passed.lower_bound(begin);
    // A site further down in the same statement is the same call.
    if (orders(code) && (site == passed.end() || *site > number + 1)) lines.push_back(code);
  }
  return lines;
}

// Keys of the lines of the library that order something and that no scenario comes to.
std::vector<std::string> lines_passed_by_none(
    const std::map<Site, std::vector<const Scenario*>>& sites,
    const std::vector<std::string>& parts) {
  namespace fs = std::filesystem;
  std::map<std::string, std::set<unsigned>> passed;
  for (const auto& [site, scenarios] : sites) passed[site.file].insert(site.line);
  std::vector<std::string> keys;
  for (const char* const folder : {"include/handoff", "src"}) {
    for (const auto& entry : fs::recursive_directory_iterator(repository / folder)) {
      const std::string file = fs::relative(entry.path(), repository).string();
      if (!entry.is_regular_file() || !has_one_of(file, parts)) continue;
      // What the explorer's model stands for.
      if (has_one_of(file, {"fence.hpp", "_fence.cpp"})) continue;
      for (const std::string& line : not_passed(entry.path(), passed[file])) {
        keys.push_back(file + " | " + line + " | passed by none");
      }
    }
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

}  // namespace

int explore_mutants(const std::string& list, const std::vector<std::string>& parts,
                    const MutantBounds& bounds) {
  repository = std::filesystem::absolute(list).parent_path() / "..";
  auto reasons = read_list(list, parts);
  std::map<std::string, int> counts;  // by what became of them
  int unaccounted = 0;
  // A survivor's reason is used up. Without one it is unaccounted for.
  const auto account_for = [&](const std::string& key, const char* otherwise) {
    const auto reason = reasons.find(key);
    if (reason == reasons.end()) return ++unaccounted, std::string(otherwise);
    const std::string verdict = reason->second.substr(0, reason->second.find(':'));
    unaccounted += verdict != "equivalent" && verdict != "open";
    reasons.erase(reason);
    return verdict;
  };
  const std::vector<Passed> all = sites_of_scenarios(bounds.in_search);
  std::vector<const Scenario*> everything;
  for (const Passed& passed : all) everything.push_back(passed.scenario);
  const auto sites = scenarios_of_sites(all, parts);
  for (const auto& [site, passing] : sites) {
    for (const Mutation& mutation : mutations_of(site)) {
      const std::string key = key_of(mutation);
      Tried tried = try_out(mutation, passing, bounds.deviations);
      // Others may pass the site as well, where the search was not as deep.
      const bool others = bounds.in_search < bounds.deviations && !reasons.contains(key);
      if (tried.killer.empty() && others) tried = try_out(mutation, everything, bounds.deviations);
      const std::string verdict =
          tried.killer.empty() ? account_for(key, "SURVIVED") : std::string("killed");
      ++counts[verdict];
      std::cout << verdict << ": " << key << " [" << site.line << "]  " << tried.killer << " "
                << tried.executions << " executions\n";
    }
  }
  for (const std::string& key : lines_passed_by_none(sites, parts)) {
    const std::string verdict = account_for(key, "NOT PASSED");
    ++counts[verdict];
    std::cout << verdict << ": " << key << "\n";
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
