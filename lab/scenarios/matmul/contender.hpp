// SPDX-License-Identifier: MIT
// What a contender of `matmul` writes: one function that makes the operation for a task.
#pragma once

#include "harness/contender.hpp"
#include "scenarios/matmul/kernels.hpp"

namespace handoff::lab::matmul {

struct Task {
  std::size_t m;  // rows of A and of C
  std::size_t n;  // columns of B and of C
  std::size_t k;  // columns of A, rows of B
  std::size_t width;
  Kernel kernel;
  AnyOperands operands;
  std::byte* output;  // C; a limit writes there, as a double, how many multiply-adds it did
  std::size_t kills;  // so many workers are killed a second (`--kill`); only for those who say so
  Burst* burst = nullptr;  // of the call that is on: for figures beside the metric

  [[nodiscard]] RowKernel rows() const { return row_kernel(kernel, operands); }
  // With `tile` each member takes one block of this many rows.
  [[nodiscard]] std::size_t tile_rows() const { return (m + width - 1) / width; }
  // How many rows are claimed at once where a scheme does not choose itself.
  [[nodiscard]] std::size_t claim_rows() const { return kernel == Kernel::tile ? tile_rows() : 1; }
};

using Operation = std::function<void()>;

// Each contender's own: computes all of C each time it is called. The task outlives it.
Operation contender(const Task& task);

// Memory for a matrix, from a multiple of 4096 on. It is the process's own; contenders whose
// workers are processes have a function of this name that gives memory which they share.
std::shared_ptr<std::byte> matrix_memory(std::size_t bytes);

}  // namespace handoff::lab::matmul
