// SPDX-License-Identifier: MIT
#include "scenarios/matmul/kernels.hpp"

#include <algorithm>

#include "scenarios/matmul/tile.hpp"

namespace handoff::lab::matmul {
namespace {

template <typename T>
void naive_row(const T* a, const T* b, T* c, std::size_t n, std::size_t k) {
  for (std::size_t j = 0; j < n; ++j) {
    T sum = 0;
    for (std::size_t l = 0; l < k; ++l) sum += a[l] * b[l * n + j];
    c[j] = sum;
  }
}

// In the article the dimension is a constant of the build: only then does gcc exchange the loops.
template <std::size_t n, typename T>
void article_restrict_row(const T* __restrict a, const T* __restrict b, T* __restrict c) {
  for (std::size_t j = 0; j < n; ++j) {
    T sum = 0;
    for (std::size_t l = 0; l < n; ++l) sum += a[l] * b[l * n + j];
    c[j] = sum;
  }
}

template <typename T>
void naive_restrict_row(const T* __restrict a, const T* __restrict b, T* __restrict c,
                        std::size_t n, std::size_t k) {
  if (n == 512 && k == 512) return article_restrict_row<512>(a, b, c);
  for (std::size_t j = 0; j < n; ++j) {
    T sum = 0;
    for (std::size_t l = 0; l < k; ++l) sum += a[l] * b[l * n + j];
    c[j] = sum;
  }
}

template <typename T>
void ikj_row(const T* __restrict a, const T* __restrict b, T* __restrict c, std::size_t n,
             std::size_t k) {
  std::fill_n(c, n, T{0});
  for (std::size_t l = 0; l < k; ++l) {
    const T factor = a[l];
    for (std::size_t j = 0; j < n; ++j) c[j] += factor * b[l * n + j];
  }
}

// The same loop over rows around each row kernel. The row kernel is a constant, so it is inlined.
template <auto row, typename T>
void each_row(const Operands<T>& o, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) row(o.a + i * o.k, o.b, o.c + i * o.n, o.n, o.k);
}

template <auto float_row, auto double_row>
void rows(const AnyOperands& operands, std::size_t first, std::size_t last) {
  if (const auto* floats = std::get_if<Operands<float>>(&operands)) {
    each_row<float_row>(*floats, first, last);
  } else {
    each_row<double_row>(std::get<Operands<double>>(operands), first, last);
  }
}

}  // namespace

RowKernel row_kernel(Kernel kernel, const AnyOperands& operands) {
  switch (kernel) {
    case Kernel::naive: return {rows<naive_row<float>, naive_row<double>>, operands};
    case Kernel::naive_restrict:
      return {rows<naive_restrict_row<float>, naive_restrict_row<double>>, operands};
    case Kernel::ikj: return {rows<ikj_row<float>, ikj_row<double>>, operands};
    case Kernel::tile: break;
  }
  return {tile_rows(), operands};
}

}  // namespace handoff::lab::matmul
