// SPDX-License-Identifier: MIT
// The machine probe: multiply-adds on `width` threads at once. How many of them a second gives is
// how fast the machine is right now, and whether its CPUs are there for us.
#include "harness/contender.hpp"
#include "harness/multiply_adds.hpp"

namespace handoff::lab {

Prepared prepare(const Parameters& parameters, std::span<const std::byte>) {
  constexpr std::size_t steps = std::size_t{1} << 21;  // milliseconds: far above a thread's start
  const auto counts = std::make_shared<std::vector<double>>(parameters.number("width"));
  const auto operation = [counts](Burst& burst) {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < counts->size(); ++i) {
      others.emplace_back([&count = (*counts)[i]] { count = MultiplyAdds::count(steps); });
    }
    counts->front() = MultiplyAdds::count(steps);
    others.clear();  // joins them
    burst.items(static_cast<double>(counts->size() * steps * MultiplyAdds::in_a_step));
  };
  return {operation, std::as_writable_bytes(std::span(*counts))};
}

}  // namespace handoff::lab
