// SPDX-License-Identifier: MIT
//
// Worker processes: a team's loop, and a pool's calls.
#include <cstddef>
#include <cstdint>
#include <handoff/process/process_pool.hpp>
#include <handoff/process/process_team.hpp>
#include <handoff/process/shared_memory.hpp>
#include <vector>

#include "plant.hpp"

namespace {

struct Job {
  std::uint32_t* squares;
};
void square(handoff::IndexRange range, const Job& job) {
  for (const std::size_t i : range) job.squares[i] = std::uint32_t(i * i);
}
struct Number {
  std::uint64_t value;
};
Number twice(const Number& number) { return {2 * number.value}; }

}  // namespace

int main() {
  const auto memory = handoff::SharedMemory::create({.bytes = 4 * 1000});
  auto* const squares = reinterpret_cast<std::uint32_t*>(memory.bytes().data());
  handoff::ProcessTeam team{{.width = 2}};
  handoff::ProcessPool pool{{.width = 2}};
  (void)team.run<square>(1000, Job{squares});
  if (squares[999] != 998001) return 1;
  std::vector<handoff::Future<Number>> numbers;
  for (std::uint64_t i = 0; i < 100; ++i) numbers.push_back(pool.submit<twice>(Number{i}));
  auto last = pool.submit<twice>(Number{5}).then([](Number number) {
    inside();
    return number.value;
  });
  outside();
  std::uint64_t sum = last.get();
  for (auto& number : numbers) sum += number.get().value;
  return sum == 9910 && pool.close().balanced() ? 0 : 1;
}
