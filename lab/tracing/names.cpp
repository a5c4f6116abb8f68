// SPDX-License-Identifier: MIT
#include "tracing/names.hpp"

namespace handoff::lab::tracing {
std::uint32_t Names::number(std::string_view category, std::string_view name) {
  auto of = std::ranges::find(categories_, category, &Category::name);
  if (of != categories_.end()) {
    const auto found = of->numbers.find(name);
    if (found != of->numbers.end()) return found->second;
  }
  if (names_.size() == most - 1)
    names_.push_back({"", "(names beyond 32,767)", SliceKind::work, false});
  if (names_.size() == most) return most - 1;
  if (of == categories_.end()) of = categories_.insert(of, {std::string(category), {}});
  const auto number = static_cast<std::uint32_t>(names_.size());
  of->numbers.emplace(name, number);
  const SliceKind kind = replay::kind_of(category, name);
  const bool spins = is_wait(kind) && category == "spin";
  names_.push_back({std::string(category), std::string(name), kind, spins});
  return number;
}

}  // namespace handoff::lab::tracing
