// SPDX-License-Identifier: MIT
// The row kernels of the matrix product, compiled once for all contenders, so that schemes differ
// by their scheme alone.
#pragma once

#include "harness/standard.hpp"

namespace handoff::lab::matmul {

enum class Kernel {
  naive,           // the article's row loop: C's row element by element, B column by column
  naive_restrict,  // the same with the promise that C's row overlaps nothing; 512 is a constant
  ikj,             // C's row as a sum of B's rows
  tile,            // a library's serial product on a block of rows
};

// Throws std::invalid_argument for another name.
Kernel kernel_named(const std::string& name);

// C (m x n) = A (m x k) times B (k x n), all stored row by row.
template <typename T>
struct Operands {
  const T* a;
  const T* b;
  T* c;
  std::size_t m;
  std::size_t n;
  std::size_t k;
};

using AnyOperands = std::variant<Operands<float>, Operands<double>>;

// Computes the rows [first, last) of C. Made by `row_kernel`, which looks first whether the kernel
// can run here; it throws Unavailable where it cannot.
class RowKernel {
 public:
  void operator()(std::size_t first, std::size_t last) const { compute_(*operands_, first, last); }

 private:
  using Compute = void (*)(const AnyOperands&, std::size_t, std::size_t);
  RowKernel(Compute compute, const AnyOperands& operands)
      : compute_(compute), operands_(&operands) {}
  friend RowKernel row_kernel(Kernel kernel, const AnyOperands& operands);

  Compute compute_;
  const AnyOperands* operands_;
};

RowKernel row_kernel(Kernel kernel, const AnyOperands& operands);

}  // namespace handoff::lab::matmul
