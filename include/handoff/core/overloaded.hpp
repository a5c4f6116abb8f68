// SPDX-License-Identifier: MIT
//
// Several functions as one, chosen by the type of what it is called with: a visitor.
//
//   const auto print = handoff::overloaded{[](int number) { ... }, [](const char* text) { ... }};
//   print(7);
//
// For: draining a message bus, std::visit. Concurrency, throws: as the functions.
#pragma once

#include <handoff/config.hpp>

namespace handoff { inline namespace HANDOFF_ABI {

// Made as above; it copies or moves the functions.
template <class... Functions>
struct overloaded : Functions... {  // NOLINT(readability-identifier-naming): the usual name
  using Functions::operator()...;
};
template <class... Functions>
overloaded(Functions...) -> overloaded<Functions...>;

}}  // namespace handoff::HANDOFF_ABI
