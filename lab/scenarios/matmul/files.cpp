// SPDX-License-Identifier: MIT
#include "scenarios/matmul/files.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>
#include <unistd.h>
#include <handoff/sync/cpu_budget.hpp>

#include "harness/atomic_file.hpp"
#include "harness/user_error.hpp"
#include "scenarios/matmul/libraries.hpp"
#include "scenarios/matmul/npy.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab::matmul {
namespace {

namespace fs = std::filesystem;

struct Shape {
  std::size_t m;
  std::size_t n;
  std::size_t k;
  bool doubles;

  [[nodiscard]] std::size_t element() const { return doubles ? sizeof(double) : sizeof(float); }
  [[nodiscard]] std::size_t product_bytes() const { return m * n * element(); }
  [[nodiscard]] double flops() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

// One element of the product in long double, and the sum of its terms' sizes.
struct Element {
  long double value = 0;
  long double size = 0;
};

template <typename T>
class Product final : public Problem {
 public:
  Product(const Shape& shape, std::vector<T> a, std::vector<T> b)
      : shape_(shape),
        a_(std::move(a)),
        b_(std::move(b)),
        input_("matmul input", (a_.size() + b_.size()) * sizeof(T)) {
    auto* memory = input_.bytes().data();
    std::memcpy(memory, a_.data(), a_.size() * sizeof(T));
    std::memcpy(memory + a_.size() * sizeof(T), b_.data(), b_.size() * sizeof(T));
    input_.seal();
  }

  const MemoryFile& input() const override { return input_; }
  std::size_t answer_bytes() const override {
    return std::max(shape_.product_bytes(), sizeof(double));
  }
  double metric(const Reading& reading) const override {
    return shape_.flops() * reading.operations / reading.wall_ns;
  }
  std::chrono::nanoseconds slowest_operation() const override {
    return std::chrono::nanoseconds(std::llround(shape_.flops()));
  }

  // Looks at the corners and at random places.
  std::optional<std::string> fault(bool, std::span<const std::byte> answer) const override {
    constexpr std::size_t samples = 1000;
    const auto* c = reinterpret_cast<const T*>(answer.data());
    std::mt19937_64 random(shape_.m * shape_.n);
    std::uniform_int_distribution<std::size_t> any_row(0, shape_.m - 1);
    std::uniform_int_distribution<std::size_t> any_column(0, shape_.n - 1);
    for (std::size_t sample = 0; sample < samples; ++sample) {
      const bool corner = sample < 4;
      const std::size_t i = corner ? (sample / 2) * (shape_.m - 1) : any_row(random);
      const std::size_t j = corner ? (sample % 2) * (shape_.n - 1) : any_column(random);
      const T given = c[i * shape_.n + j];
      if (!acceptable(given, element(i, j))) {
        return fmt::format("wrong answer: element ({}, {}) is {}, not {}", i, j, given,
                           static_cast<double>(element(i, j).value));
      }
    }
    return {};
  }

 private:
  Element element(std::size_t i, std::size_t j) const {
    Element sum;
    for (std::size_t l = 0; l < shape_.k; ++l) {
      const long double term = static_cast<long double>(a_[i * shape_.k + l]) *
                               static_cast<long double>(b_[l * shape_.n + j]);
      sum.value += term;
      sum.size += std::abs(term);
    }
    return sum;
  }

  // Rounding in any order of summation stays within k epsilon times the sum of the terms' sizes.
  // Where a partial sum may leave the type's range, or the input is not finite, any order is right.
  bool acceptable(T given, const Element& right) const {
    using Limits = std::numeric_limits<T>;
    if (!(right.size < static_cast<long double>(Limits::max()))) return true;
    const auto k = static_cast<long double>(shape_.k);
    const long double allowed = k * (Limits::epsilon() * right.size + Limits::min());
    return std::abs(static_cast<long double>(given) - right.value) <= allowed;
  }

  Shape shape_;
  std::vector<T> a_;
  std::vector<T> b_;
  MemoryFile input_;
};

template <typename T>
std::vector<T> as(NpyMatrix& matrix) {
  return std::visit(
      [](auto& values) -> std::vector<T> {
        if constexpr (std::is_same_v<std::decay_t<decltype(values)>, std::vector<T>>) {
          return std::move(values);
        } else {
          return {values.begin(), values.end()};
        }
      },
      matrix.values);
}

std::shared_ptr<const Problem> problem_of(const Shape& shape, NpyMatrix& a, NpyMatrix& b) {
  if (shape.doubles) return std::make_shared<Product<double>>(shape, as<double>(a), as<double>(b));
  return std::make_shared<Product<float>>(shape, as<float>(a), as<float>(b));
}

void require_possible(const FilesToMultiply& files, const NpyMatrix& a, const NpyMatrix& b) {
  if (a.columns != b.rows) {
    throw UserError(
        fmt::format("{} is {} x {} and {} is {} x {}: the columns of the first must be "
                    "the rows of the second",
                    files.a.string(), a.rows, a.columns, files.b.string(), b.rows, b.columns));
  }
  for (const std::size_t extent : {a.rows, a.columns, b.columns}) {
    if (extent > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw UserError(fmt::format("a dimension of {} is more than the library's products take: {}",
                                  extent, std::numeric_limits<int>::max()));
    }
  }
  // The contender has its own copy of everything, and so has the lab beside what they share.
  const auto element = static_cast<double>(a.doubles() || b.doubles() ? sizeof(double) : 4);
  const auto elements = [](std::size_t rows, std::size_t columns) {
    return static_cast<double>(rows) * static_cast<double>(columns);
  };
  const double bytes =
      element * (3 * elements(a.rows, a.columns) + 3 * elements(b.rows, b.columns) +
                 3 * elements(a.rows, b.columns));
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > memory) {
    throw UserError(fmt::format("a product of {} x {} needs {:.1f} GiB of memory, {:.1f} are there",
                                a.rows, b.columns, bytes / 0x1p30, memory / 0x1p30));
  }
}

void require_separate(const FilesToMultiply& files) {
  for (const fs::path& input : {files.a, files.b}) {
    std::error_code missing;  // a result that does not exist yet is separate
    if (fs::equivalent(input, files.result, missing)) {
      throw UserError(fmt::format("{}: the result would replace an input", files.result.string()));
    }
  }
}

Contender contender_for(const FilesToMultiply& files, const std::vector<Contender>& contenders,
                        const Cell& cell) {
  std::vector<Contender> possible;
  for (const Contender& contender : contenders) {
    const bool computes = contender.scenario == "matmul" && contender.kind() != "limit";
    if (computes && contender.applies(cell)) possible.push_back(contender);
  }
  const auto wanted =
      files.contenders.empty() ? std::vector<std::string>{"own.thread_team"} : files.contenders;
  possible = chosen(possible, wanted);
  if (possible.size() > 1) {
    throw UserError(
        fmt::format("real matrices are multiplied by one contender, not by {}", possible.size()));
  }
  return possible.front();
}

// What the contender is sent.
Cell cell_for(const FilesToMultiply& files, const Scenario& scenario, const Shape& shape) {
  Cell cell(scenario.metrics().front().name);
  cell.set("m", std::to_string(shape.m));
  cell.set("n", std::to_string(shape.n));
  cell.set("k", std::to_string(shape.k));
  cell.set("dtype", shape.doubles ? "float64" : "float32");
  cell.set("kernel", "tile");
  const unsigned most = static_cast<unsigned>(scenario.parameter("width").high);
  cell.set("width", std::to_string(std::min(sync::cpu_budget().width(), most)));
  for (const auto& [name, values] : files.settings) {
    if (name != "width" || values.size() != 1) {
      throw UserError("with real matrices only width=W can be set; their shapes are the files'");
    }
    scenario.parameter(name).require_allowed(values.front());
    cell.set(name, values.front());
  }
  return cell;
}

void write_product(const FilesToMultiply& files, const Shape& shape,
                   std::span<const std::byte> values) {
  const std::string header = npy_header(shape.m, shape.n, shape.doubles);
  write_atomically(files.result, {std::as_bytes(std::span(header)), values});
}

std::string shapes(const Shape& shape) {
  return fmt::format("{} x {} times {} x {}, {}", shape.m, shape.k, shape.k, shape.n,
                     shape.doubles ? "float64" : "float32");
}

}  // namespace

FilesOutcome multiply_files(const FilesToMultiply& files, const std::vector<Contender>& contenders,
                            const Plan& plan, Interrupt& interrupt) {
  NpyMatrix a = read_npy(files.a);
  NpyMatrix b = read_npy(files.b);
  require_possible(files, a, b);
  require_separate(files);
  const Shape shape{a.rows, b.columns, a.columns, a.doubles() || b.doubles()};
  Scenario scenario(matmul_scenario());
  const Cell cell = cell_for(files, scenario, shape);
  const Contender contender = contender_for(files, contenders, cell);
  require_writable(files.result);
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) {
    const std::vector<std::byte> zeros(shape.product_bytes());
    write_product(files, shape, zeros);
    return {true, fmt::format("{}: zeros, for a dimension is 0; {}", shapes(shape),
                              files.result.string())};
  }
  Bench bench(plan, interrupt);
  Measurement measurement{contender, cell, problem_of(shape, a, b)};
  measurement.variables = library_variables(scenario, contenders, bench);
  std::vector<std::byte> product(shape.product_bytes());
  bench.measure_once(measurement, product);
  if (measurement.status != RowStatus::ok) {
    return {false, fmt::format("{}: {}: {}; nothing was written", shapes(shape), contender.name,
                               measurement.reason)};
  }
  write_product(files, shape, product);
  const Reading& reading = measurement.launches.front().front();
  return {true, fmt::format("{}: {:.3f} ms, {:.1f} GFLOP/s by {}, width {}, checked; {}",
                            shapes(shape), reading.wall_ns / reading.operations / 1e6,
                            measurement.problem->metric(reading), contender.name, cell.at("width"),
                            files.result.string())};
}

}  // namespace handoff::lab::matmul
