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

#if defined(WRONG_copy)  // expect: deleted
  handoff::ThreadTeam copy = moved;
#endif
#if defined(WRONG_body_for_single_indices)  // expect: parallel_for\(\) takes single indices
  moved.run(1, [](int*) {});
#endif
#if defined(WRONG_loop_body)  // expect: parallel_for: the body takes an index
  handoff::parallel_for(moved, 0, 1, [](int*) {});
#endif
#if defined(WRONG_loop_body_for_elements)  // expect: the body takes an element of the range
  std::vector<int> numbers(1);
  handoff::parallel_for(moved, numbers, [](int*) {});
#endif
#if defined(WRONG_reduction)  // expect: parallel_reduce: combine takes
  (void)handoff::parallel_reduce(
      moved, 0, 1, 0, [](int i) { return i; }, [](int*, int) { return 0; });
#endif
#if defined(WRONG_kernel_with_a_result)  // expect: a kernel is a function
  moved.run<scale_and_answer>(1, Rows{nullptr});
#endif
#if defined(WRONG_arguments_that_no_other_process_could_read)  // expect: copied byte by
                                                               // byte
  moved.run<print>(1, Named{});
#endif
#if defined(WRONG_kernel_with_a_capture)  // expect: a kernel is a function|no matching
  const int captured = 1;
  moved.run<[captured](handoff::IndexRange, const Rows&) {}>(1, Rows{nullptr});
#endif
}
