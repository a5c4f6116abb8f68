// SPDX-License-Identifier: MIT
//
// What can be given work: the concept by which the rooms meet. A room that wants to run something
// elsewhere takes an Executor and need not know of pools.
#pragma once

#include <concepts>
#include <cstddef>

#include <handoff/config.hpp>
#include <handoff/core/status.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// execute(function): ok, and the function is called once, elsewhere or here; or a refusal, and the
// function is still the caller's.
// width(): how many functions may run at the same moment.
template <class E>
concept Executor = requires(E& executor, void (*function)()) {
  { executor.execute(function) } -> std::same_as<Status>;
  { executor.width() } -> std::convertible_to<std::size_t>;
};

}}  // namespace handoff::HANDOFF_ABI
