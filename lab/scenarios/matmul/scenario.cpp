// SPDX-License-Identifier: MIT
// `matmul`: the rows of a matrix product, handed out by each way.
#include "harness/protocol.hpp"
#include "scenarios/matmul/libraries.hpp"
#include "scenarios/matmul/reference.hpp"
#include "scenarios/registry.hpp"

namespace handoff::lab::matmul { namespace {

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

constexpr auto article = "C++17 parallel matrix multiplication (2026)";

Cell cell_of(const char* n, const char* width) {
  return Cell("gflops", {{"n", n}, {"kernel", "naive"}, {"width", width}});
}

// The whole table, on 64 threads there, at one width here. Its figure of ZeroMQ is no measurement,
// and here ZeroMQ takes less than twice as long as bare threads. How "more than 3000" came of the
// figure at 128 x 128 is not said: 16 times the single thread, as there, would be 3500.
Article table(const char* width) {
  const std::string few = "64 threads gain at most as many times as there are CPUs";
  return {
      fmt::format("{}: 512 x 512 float, 64 threads there, {} here", article, width),
      cell_of("512", width),
      {{"single thread", 218, "", "seed.single"},
       {"std::thread and one atomic", 8.6, "", "seed.threads", few},
       {"newosp WorkerPool", 17.4, "", "seed.worker_pool", few},
       {"newosp, processes and shared memory", 17.4,
        "with starting the processes, which is said to take 1 to 2 ms", "seed.processes", few},
       {"newosp AsyncBus", 220, "\"about\": one thread computes all", "seed.async_bus"},
       {"ZeroMQ inproc", 3000,
        "\"more than\": inferred from 128 x 128, we do not know how; 16 times 218 ms would fit",
        "seed.zeromq", "perhaps what took so long at 128 x 128 does not grow with the matrices"}}};
}

// The only one of ZeroMQ that was measured: 42.18 ms for 128 messages are 0.33 ms a message, which
// no message takes here. What was timed is not said, so what else it was is a guess.
Article smaller() {
  return {fmt::format("{}: 128 x 128 float, 64 threads", article),
          cell_of("128", "64"),
          {{"single thread", 2.62, "", "seed.single"},
           {"ZeroMQ inproc", 42.18, "0.33 ms for each of 128 messages; what was timed is not said",
            "seed.zeromq",
            "perhaps starting and ending 64 threads and 65 sockets was timed there; here that is "
            "done once, see the row's start"}}};
}

std::vector<Article> articles() { return {table("64"), table("2"), smaller()}; }

}}  // namespace handoff::lab::matmul

handoff::lab::ScenarioTable handoff::lab::matmul_scenario() {
  using namespace matmul;
  return {.name = "matmul",
          .summary = "float matrices, C = A B: the rows of C are handed out to `width` members",
          .metrics = {{"gflops", "GFLOP/s", true,
                       "additions and multiplications, 2 n^3 for a product"}},
          .parameters =
              {{"n", "rows and columns of each matrix", {"512", "1024"}, {}, 1, 4096},
               Parameter::one_of("kernel",
                                 "how a row is computed (naive: the article's loop; tile: a "
                                 "library on a block of rows)",
                                 {"naive", "naive_restrict", "ikj", "tile"}, {}, {"ikj", "tile"}),
               {"width", "members, the caller included (not in a process team)", {"2"}, {}, 1, 256},
               Parameter::number(
                   "kill", "workers killed at random a second (--kill); the answer must be right",
                   {}, 1, 1000)},
          // Matrices are of the last problem; cells of one size follow.
          .problem =
              [matrices = std::shared_ptr<const Matrices>()](const Cell& cell) mutable {
                const std::size_t n = cell.number("n");
                if (matrices == nullptr || matrices->n() != n) {
                  matrices.reset();  // the old ones first: two of 4096 do not fit everywhere
                  matrices = std::make_shared<const Matrices>(n);
                }
                return std::make_shared<SquareProduct>(matrices, is_naive(cell),
                                                       cell.find("kill") != nullptr);
              },
          .articles = articles(),
          // The article's own program on a machine with two CPUs that we know: 15.1 ms on one
          // thread and 6.4 ms on two.
          .calibrations = {{"seed.threads", "seed.single", cell_of("512", "2"), 15.1 / 6.4}},
          .variables =
              [](Scenario& scenario, const std::vector<Cell>& cells,
                 const std::vector<Contender>& contenders, Bench& bench) {
                const bool needed = std::any_of(cells.begin(), cells.end(), [](const Cell& cell) {
                  return cell.at("kernel") == "tile";
                });
                return needed ? library_variables(scenario, contenders, bench)
                              : std::vector<Variable>{};
              }};
}
