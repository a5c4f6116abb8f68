// SPDX-License-Identifier: MIT
#include "scenarios/matmul/blas.hpp"

#include <cblas.h>

#include <strings.h>

#include "harness/contender.hpp"

namespace handoff::lab::matmul {
namespace {

void gemm(const Operands<float>& o, std::size_t first, blasint m, blasint n, blasint k) {
  in_slices(o, first, first + static_cast<std::size_t>(m),
            [&](std::size_t from, std::size_t count, float* to) {
              cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n,
                          static_cast<blasint>(count), 1, o.a + first * o.k + from, k,
                          o.b + from * o.n, n, 0, to, n);
            });
}

void gemm(const Operands<double>& o, std::size_t first, blasint m, blasint n, blasint k) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, m, n, k, 1, o.a + first * o.k, k, o.b, n,
              0, o.c + first * o.n, n);
}

}  // namespace

void require_blas(std::size_t threads) {
  if (openblas_get_parallel() != OPENBLAS_THREAD) {
    throw Unavailable("the serial flavour of OpenBLAS was loaded, which has no locks");
  }
  const char* asked = std::getenv("OPENBLAS_CORETYPE");
  const char* runs = openblas_get_corename();
  if (asked != nullptr && strcasecmp(asked, runs) != 0) {
    throw Unavailable(std::string("OpenBLAS has no core type ") + asked + ", it runs as " + runs);
  }
  openblas_set_num_threads(static_cast<int>(threads));
  const auto taken = static_cast<std::size_t>(openblas_get_num_threads());
  if (taken != threads) {
    throw Unavailable("OpenBLAS takes no more than " + std::to_string(taken) + " threads");
  }
}

void sum_as_doubles(const Operands<float>& o, std::size_t first, std::size_t last) {
  for (std::size_t i = first; i < last; ++i) {
    for (std::size_t j = 0; j < o.n; ++j) {
      double sum = 0;
      for (std::size_t l = 0; l < o.k; ++l) {
        sum += static_cast<double>(o.a[i * o.k + l]) * static_cast<double>(o.b[l * o.n + j]);
      }
      o.c[i * o.n + j] = static_cast<float>(sum);
    }
  }
}

void multiply_rows(const AnyOperands& operands, std::size_t first, std::size_t last) {
  std::visit(
      [&](const auto& o) {
        gemm(o, first, static_cast<blasint>(last - first), static_cast<blasint>(o.n),
             static_cast<blasint>(o.k));
      },
      operands);
}

}  // namespace handoff::lab::matmul
