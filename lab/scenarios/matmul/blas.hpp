// SPDX-License-Identifier: MIT
// OpenBLAS behind the kernel `tile`, on the caller's thread alone (one of its libraries,
// kernels.cpp), and behind peer.openblas, on threads of its own.
//
// Both are the flavour with threads, set to one for `tile`: Debian builds the serial flavour
// without locks, and two members that call it at once now and then get each other's buffer and with
// it a wrong product (docs/adr/0006).
#pragma once

#include "scenarios/matmul/kernels.hpp"

namespace handoff::lab::matmul {

// Throws Unavailable unless this process runs the flavour with threads, takes so many of them, and
// has the kernels that its environment asks for: the flavours have one soname, and an unknown core
// type runs silently as another.
void require_blas(std::size_t threads);

void sum_as_doubles(const Operands<float>& o, std::size_t first, std::size_t last);

// Rows of a product of floats: calls `product(from, count, to)` for slices of the k terms of each
// sum, and adds them up. A float sum that is added up in one go errs by some 0.4 sqrt(k) units in
// the last place: 1.3e-6 of its size for 3000. Libraries cut the sums of large products; small and
// narrow ones, whose sums they leave whole, are cut here. A few sums alone may all be small, where
// terms cancel each other, and are added up as doubles.
template <class Product>
void in_slices(const Operands<float>& o, std::size_t first, std::size_t last, Product&& product) {
  constexpr std::size_t longest = 512;
  constexpr std::size_t large = std::size_t{1} << 22;
  constexpr std::size_t few = 64;
  const std::size_t rows = last - first;
  if (rows * o.n <= few) return sum_as_doubles(o, first, last);
  const bool whole = rows * o.n * o.k > large && std::min(rows, o.n) > 4;
  float* const c = o.c + first * o.n;
  const std::size_t slice = whole ? o.k : std::min(longest, o.k);
  product(std::size_t{0}, slice, c);
  std::vector<float> part(slice < o.k ? rows * o.n : 0);
  for (std::size_t from = slice; from < o.k; from += slice) {
    product(from, std::min(slice, o.k - from), part.data());
    for (std::size_t i = 0; i < part.size(); ++i) c[i] += part[i];
  }
}

// Rows [first, last) of the product.
void multiply_rows(const AnyOperands& operands, std::size_t first, std::size_t last);

}  // namespace handoff::lab::matmul
