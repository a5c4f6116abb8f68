// SPDX-License-Identifier: MIT
#include "scenarios/matmul/kernels.hpp"
#include "harness/contender.hpp"
#include "scenarios/matmul/blas.hpp"

#ifdef HANDOFF_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

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

#ifdef HANDOFF_ONEDNN
void by_onednn(const AnyOperands& operands, std::size_t first, std::size_t last) {
  const auto* o = std::get_if<Operands<float>>(&operands);
  if (o == nullptr) return multiply_rows(operands, first, last);
  omp_set_num_threads(1);  // of the thread that calls, so each of them says it
  const auto n = static_cast<dnnl_dim_t>(o->n);
  const auto k = static_cast<dnnl_dim_t>(o->k);
  in_slices(*o, first, last, [&](std::size_t from, std::size_t count, float* to) {
    const dnnl_status_t status = dnnl_sgemm(
        'N', 'N', static_cast<dnnl_dim_t>(last - first), n, static_cast<dnnl_dim_t>(count), 1,
        o->a + first * o->k + from, k, o->b + from * o->n, n, 0, to, n);
    if (status != dnnl_success) throw std::runtime_error("oneDNN refused a product");
  });
}
#endif

// The kernel `tile`: rows of the product by the library that the environment names:
// HANDOFF_TILE=openblas, which is the default, or onednn, for floats; doubles are OpenBLAS's
// always. On the caller's thread alone. Throws Unavailable where it cannot run here.
using Rows = void (*)(const AnyOperands& operands, std::size_t first, std::size_t last);

Rows tile_rows() {
  require_blas(1);
  const char* variable = std::getenv("HANDOFF_TILE");
  const std::string_view library = variable == nullptr ? "openblas" : variable;
  if (library == "openblas") return multiply_rows;
#ifdef HANDOFF_ONEDNN
  if (library == "onednn") return by_onednn;
#endif
  throw Unavailable("HANDOFF_TILE=" + std::string(library) + " names no library built in here");
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
