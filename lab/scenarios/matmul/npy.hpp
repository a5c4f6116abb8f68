// SPDX-License-Identifier: MIT
// Matrices in NumPy's file format, versions 1.0 to 3.0: float32 or float64, either byte order, by
// rows or by columns.
#pragma once

#include "harness/coordinator.hpp"

namespace handoff::lab::matmul {

// Row by row, in this machine's byte order.
struct NpyMatrix {
  std::size_t rows;
  std::size_t columns;
  std::variant<std::vector<float>, std::vector<double>> values;

  [[nodiscard]] bool doubles() const { return values.index() == 1; }
};

// How a file holds a matrix, for who reads only parts of it.
struct NpyLayout {
  std::size_t rows = 0;
  std::size_t columns = 0;
  bool doubles = false;
  bool swapped = false;  // the other byte order
  bool by_columns = false;
  std::size_t offset = 0;  // of the first value

  [[nodiscard]] std::size_t element() const { return doubles ? sizeof(double) : sizeof(float); }
};

// Both throw UserError: one line that names the file and what is wrong with it.
NpyMatrix read_npy(const std::filesystem::path& path);
NpyLayout read_npy_layout(const std::filesystem::path& path);

// What stands before the values of a matrix stored row by row in this machine's byte order.
std::string npy_header(std::size_t rows, std::size_t columns, bool doubles);

}  // namespace handoff::lab::matmul
