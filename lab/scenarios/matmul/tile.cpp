// SPDX-License-Identifier: MIT
#include "scenarios/matmul/tile.hpp"

#include <cstdlib>
#include <string_view>

#include "harness/contender.hpp"
#include "scenarios/matmul/blas.hpp"

#ifdef HANDOFF_ONEDNN
#include <dnnl.h>
#include <omp.h>
#endif

namespace handoff::lab::matmul {
namespace {

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

}  // namespace

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

}  // namespace handoff::lab::matmul
