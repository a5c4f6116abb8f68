// SPDX-License-Identifier: MIT
// In a unit of its own, because it is compiled for this machine: the coordinator would otherwise
// spend longer on the reference than the contenders on their answers.
#include "scenarios/matmul/reference.hpp"

#include <Eigen/Core>

namespace handoff::lab::matmul {
namespace {

template <typename T>
using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

}  // namespace

std::vector<double> reference_product(std::span<const float> a, std::span<const float> b,
                                      std::size_t n) {
  const auto extent = static_cast<Eigen::Index>(n);
  const auto as_double = [&](std::span<const float> values) -> Matrix<double> {
    return Eigen::Map<const Matrix<float>>(values.data(), extent, extent).cast<double>();
  };
  std::vector<double> product(n * n);
  Eigen::Map<Matrix<double>>(product.data(), extent, extent).noalias() =
      as_double(a) * as_double(b);
  return product;
}

double relative_error(std::span<const float> answer, std::span<const double> right) {
  const auto extent = static_cast<Eigen::Index>(right.size());
  const Eigen::Map<const Eigen::ArrayXf> given(answer.data(), extent);
  const Eigen::Map<const Eigen::ArrayXd> wanted(right.data(), extent);
  return std::sqrt((given.cast<double>() - wanted).square().sum() / wanted.square().sum());
}

}  // namespace handoff::lab::matmul
