// SPDX-License-Identifier: MIT
// The right answer: the product in double precision, whatever the operands are.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::matmul {

// C (n x n) = A B, row by row.
std::vector<double> reference_product(std::span<const float> a, std::span<const float> b,
                                      std::size_t n);

// Norm of the difference over the norm of what is right (Frobenius); NaN where a NaN was answered.
double relative_error(std::span<const float> answer, std::span<const double> right);

}  // namespace handoff::lab::matmul
