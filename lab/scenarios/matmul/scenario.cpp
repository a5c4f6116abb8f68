// SPDX-License-Identifier: MIT
#include "scenarios/matmul/scenario.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <fmt/format.h>

#include "harness/protocol.hpp"
#include "scenarios/matmul/articles.hpp"
#include "scenarios/matmul/libraries.hpp"
#include "scenarios/matmul/reference.hpp"

namespace handoff::lab::matmul {
namespace {

// The operands and their product, for all cells of one size.
class Matrices {
 public:
  explicit Matrices(std::size_t n) : n_(n), input_("matmul input", 2 * n * n * sizeof(float)) {
    const std::span values(reinterpret_cast<float*>(input_.bytes().data()), 2 * n * n);
    std::mt19937 random(static_cast<std::mt19937::result_type>(n));
    for (float& value : values) {  // in [-1, 1), the same on every machine
      value = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31F;
    }
    product_ = reference_product(values.first(n * n), values.last(n * n), n);
    input_.seal();
  }

  [[nodiscard]] std::size_t n() const { return n_; }
  [[nodiscard]] const MemoryFile& input() const { return input_; }
  [[nodiscard]] std::span<const double> product() const { return product_; }

 private:
  std::size_t n_;
  MemoryFile input_;
  std::vector<double> product_;
};

class SquareProduct final : public Problem {
 public:
  SquareProduct(std::shared_ptr<const Matrices> matrices, bool slow_kernel, bool with_kills)
      : matrices_(std::move(matrices)), slow_kernel_(slow_kernel), with_kills_(with_kills) {}

  const MemoryFile& input() const override { return matrices_->input(); }

  std::size_t answer_bytes() const override {
    return std::max(matrices_->product().size() * sizeof(float), sizeof(double));
  }

  std::optional<std::string> fault(bool of_a_limit,
                                   std::span<const std::byte> answer) const override {
    const bool untouched = std::all_of(answer.begin(), answer.end(), [](std::byte b) {
      return b == static_cast<std::byte>(protocol::poison);
    });
    if (untouched) return "did nothing: the answer was left untouched";
    return of_a_limit ? fault_of_count(answer) : fault_of_product(answer);
  }

  double metric(const Reading& reading) const override {
    return flops() * reading.items / reading.wall_ns;
  }

  std::chrono::nanoseconds slowest_operation() const override {
    constexpr double products_with_kills = 9;  // killed_products.hpp
    const double flops_per_ns = slow_kernel_ ? 0.1 : 1;
    const double products = with_kills_ ? products_with_kills : 1;
    return std::chrono::nanoseconds(std::llround(products * flops() / flops_per_ns));
  }

 private:
  double flops() const { return 2 * std::pow(static_cast<double>(matrices_->n()), 3); }

  std::optional<std::string> fault_of_product(std::span<const std::byte> answer) const {
    const std::span values(reinterpret_cast<const float*>(answer.data()),
                           matrices_->product().size());
    const double error = relative_error(values, matrices_->product());
    // Rounding errors of sums of k random terms grow with its root; one wrong element is far above.
    const double bound =
        std::numeric_limits<float>::epsilon() * std::sqrt(static_cast<double>(matrices_->n()));
    if (error <= bound) return {};
    return fmt::format("its relative error is {:.2g}, more than {:.2g}", error, bound);
  }

  std::optional<std::string> fault_of_count(std::span<const std::byte> answer) const {
    double count = 0;
    std::memcpy(&count, answer.data(), sizeof count);
    if (count >= flops() / 2) return {};
    return fmt::format("counted {} multiply-adds of {}", count, flops() / 2);
  }

  std::shared_ptr<const Matrices> matrices_;
  bool slow_kernel_;
  bool with_kills_;
};

bool is_naive(const Cell& cell) { return cell.at("kernel").starts_with("naive"); }

class Matmul final : public Scenario {
 public:
  std::string name() const override { return "matmul"; }
  std::string summary() const override {
    return "float matrices, C = A B: the rows of C are handed out to `width` members";
  }

  const std::vector<Metric>& metrics() const override {
    static const std::vector<Metric> metrics{
        {"gflops", "GFLOP/s", true, "additions and multiplications, 2 n^3 for a product"}};
    return metrics;
  }

  const std::vector<Parameter>& parameters() const override {
    static const std::vector<Parameter> parameters{
        {"n", "rows and columns of each matrix", {"512", "1024"}, {}, 1, 4096},
        {"kernel",
         "how a row is computed (naive: the article's loop; tile: a library on a block of rows)",
         {"ikj", "tile"},
         {"naive", "naive_restrict", "ikj", "tile"}},
        {"width", "members, the caller included (not in a process team)", {"2"}, {}, 1, 256},
        {"kill",
         "workers killed at random a second (--kill); the answer must be right",
         {},
         {},
         1,
         1000}};
    return parameters;
  }

  std::vector<Article> articles() const override { return articles_of_matrices(); }

  // The article's own program on a machine with two CPUs that we know: 15.1 ms on one thread and
  // 6.4 ms on two.
  std::vector<Calibration> calibrations() const override {
    Cell cell("gflops");
    cell.set("n", "512");
    cell.set("kernel", "naive");
    cell.set("width", "2");
    return {{"seed.threads", "seed.single", cell, 15.1 / 6.4}};
  }

  std::shared_ptr<const Problem> problem(const Cell& cell) override {
    const std::size_t n = cell.number("n");
    if (matrices_ == nullptr || matrices_->n() != n) {
      matrices_.reset();  // the old ones first: two of 4096 do not fit everywhere
      matrices_ = std::make_shared<const Matrices>(n);
    }
    return std::make_shared<SquareProduct>(matrices_, is_naive(cell), cell.find("kill") != nullptr);
  }

  std::vector<Variable> variables(const std::vector<Cell>& cells,
                                  const std::vector<Contender>& contenders, Bench& bench) override {
    const bool needed = std::any_of(cells.begin(), cells.end(),
                                    [](const Cell& cell) { return cell.at("kernel") == "tile"; });
    return needed ? library_variables(*this, contenders, bench) : std::vector<Variable>{};
  }

 private:
  std::shared_ptr<const Matrices> matrices_;  // of the last problem; cells of one size follow
};

}  // namespace

std::unique_ptr<Scenario> make_scenario() { return std::make_unique<Matmul>(); }

}  // namespace handoff::lab::matmul
