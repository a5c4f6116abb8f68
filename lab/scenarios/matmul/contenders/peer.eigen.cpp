// SPDX-License-Identifier: MIT
// Eigen's product on OpenMP threads.
#include <omp.h>
#include <Eigen/Core>

#include "scenarios/matmul/contender.hpp"

namespace handoff::lab::matmul {
namespace {

template <typename T>
void multiply(const Operands<T>& o) {
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto at = [](std::size_t extent) { return static_cast<Eigen::Index>(extent); };
  const Eigen::Map<const Matrix, Eigen::Aligned64> a(o.a, at(o.m), at(o.k));
  const Eigen::Map<const Matrix, Eigen::Aligned64> b(o.b, at(o.k), at(o.n));
  Eigen::Map<Matrix, Eigen::Aligned64>(o.c, at(o.m), at(o.n)).noalias() = a * b;
}

}  // namespace

Operation contender(const Task& task) {
  // Its threads wait for each other's packed blocks without sleeping: beyond the CPUs they take
  // seconds for what one takes milliseconds for.
  if (task.width > static_cast<std::size_t>(omp_get_num_procs())) {
    throw Unavailable("Eigen's threads spin for each other, so it runs no more of them than CPUs");
  }
  Eigen::setNbThreads(static_cast<int>(task.width));
  return [&task] { std::visit([](const auto& o) { multiply(o); }, task.operands); };
}

}  // namespace handoff::lab::matmul
