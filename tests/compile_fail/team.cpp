// SPDX-License-Identifier: MIT
//
// What may not be done with a team.

#include <string>
#include <utility>

#include <vector>

#include <handoff/core/parallel_for.hpp>
#include <handoff/team/thread_team.hpp>

struct Rows {
  float* values;
};
struct Named {
  std::string name;
};

void scale(handoff::IndexRange range, const Rows& rows) {
  for (auto i : range) rows.values[i] *= 2;
}
bool scale_and_answer(handoff::IndexRange, const Rows&) { return true; }
void print(handoff::IndexRange, const Named&) {}

int main() {
  handoff::ThreadTeam team;
  handoff::ThreadTeam moved = std::move(team);
  moved.run(1, [](handoff::IndexRange) {});
  moved.run<scale>(0, Rows{nullptr});

  // wrong: deleted
  // handoff::ThreadTeam copy = moved;
  // wrong: parallel_for\(\) takes single indices
  // moved.run(1, [](int*) {});
  // wrong: parallel_for: the body takes an index
  // handoff::parallel_for(moved, 0, 1, [](int*) {});
  // wrong: the body takes an element of the range
  // std::vector<int> numbers(1);
  // handoff::parallel_for(moved, numbers, [](int*) {});
  // wrong: parallel_reduce: combine takes
  // (void)handoff::parallel_reduce(
  //     moved, 0, 1, 0, [](int i) { return i; }, [](int*, int) { return 0; });
  // wrong: a kernel is a function
  // moved.run<scale_and_answer>(1, Rows{nullptr});
  // wrong: copied byte by byte
  // moved.run<print>(1, Named{});
  // wrong: a kernel is a function|no matching
  // const int captured = 1;
  // moved.run<[captured](handoff::IndexRange, const Rows&) {}>(1, Rows{nullptr});
}
