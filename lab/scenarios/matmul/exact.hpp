// SPDX-License-Identifier: MIT
// One element of a product in long double, and what may be called equal to it.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::matmul {

struct Element {
  long double value = 0;
  long double size = 0;  // the sum of its terms' sizes
};

// The sum of left(l) right(l) for l below k.
template <class Left, class Right>
Element exact_element(std::size_t k, const Left& left, const Right& right) {
  Element sum;
  for (std::size_t l = 0; l < k; ++l) {
    const long double term = static_cast<long double>(left(l)) * static_cast<long double>(right(l));
    sum.value += term;
    sum.size += std::abs(term);
  }
  return sum;
}

// Rounding in any order of summation stays within k epsilon times the sum of the terms' sizes.
// Where a partial sum may leave the type's range, or the input is not finite, any order is right.
template <typename T>
bool acceptable(T given, const Element& right, std::size_t terms) {
  using Limits = std::numeric_limits<T>;
  if (!(right.size < static_cast<long double>(Limits::max()))) return true;
  const auto k = static_cast<long double>(terms);
  const long double allowed = k * (Limits::epsilon() * right.size + Limits::min());
  return std::abs(static_cast<long double>(given) - right.value) <= allowed;
}

}  // namespace handoff::lab::matmul
