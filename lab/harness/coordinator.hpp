// SPDX-License-Identifier: MIT
// What all parts of the program `handoff` use of others, which is precompiled for them.
#pragma once

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <list>
#include <random>
#include <set>
#include <sstream>

#include "harness/standard.hpp"

namespace handoff::lab {

template <class Range, class Value>
bool contains(const Range& range, const Value& value) {
  return std::ranges::find(range, value) != std::ranges::end(range);
}

}  // namespace handoff::lab
