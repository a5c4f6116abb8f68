// SPDX-License-Identifier: MIT
//
// What may not be done with algorithms over ranges.

#include <list>
#include <string>
#include <vector>

#include <handoff/graph/algorithms.hpp>
#include <handoff/pool/thread_pool.hpp>
#include <handoff/team/thread_team.hpp>

handoff::ThreadTeam team;
std::vector<int> numbers(100);
std::vector<int> results(100);
std::list<int> links(100);
int f(int x);

void ranges() {
  // wrong: one whose iterators jump; copy others into a vector
  // handoff::for_each(team, links, f);
  // wrong: one whose iterators jump; copy others into a vector
  // handoff::for_each(team, links.begin(), links.end(), f);
  // wrong: one whose iterators jump; copy others into a vector
  // (void)handoff::reduce(team, links, 0);
  // wrong: one whose iterators jump; copy others into a vector
  // (void)handoff::find_if(team, links, f);
  // wrong: one whose iterators jump; copy others into a vector
  // handoff::inclusive_scan(team, links, results.begin());
  // wrong: one whose iterators jump; copy others into a vector
  // handoff::transform(team, links, results.begin(), f);
}

void executors() {
  // wrong: run on a ThreadTeam, a ThreadPool, or another Bulk or Executor
  // int nothing = 0;
  // handoff::for_each(nothing, numbers, [](int) {});
  // wrong: include the executor's header for loops
  // handoff::ThreadPool pool;
  // (void)handoff::reduce(pool, numbers, 0);
  // wrong: include the executor's header for loops
  // handoff::ThreadPool pool;
  // handoff::exclusive_scan(pool, numbers, results.begin(), 0);
}

void functions() {
  // wrong: for_each: the function takes what the projection makes of an element
  // handoff::for_each(team, numbers, [](const std::string&) {});
  // wrong: transform: the function takes what the projection makes of an element
  // handoff::transform(team, numbers, results.begin(), [](const std::string&) { return 1; });
  // wrong: count_if: the predicate takes what the projection makes
  // (void)handoff::count_if(team, numbers, [](const std::string&) { return true; });
  // wrong: find_if: the predicate takes what the projection makes
  // (void)handoff::find_if(team, numbers, [](int) {});
  // wrong: reduce: the operation takes two values of the initial value's type
  // (void)handoff::reduce(team, numbers, std::string());
  // wrong: scan: the operation takes two values
  // handoff::exclusive_scan(team, numbers, results.begin(), std::string());
}
