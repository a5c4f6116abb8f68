// SPDX-License-Identifier: MIT
#include "scenarios/matmul/files.hpp"

#include <handoff/sync/cpu_budget.hpp>

#include "harness/atomic_file.hpp"
#include "harness/build_tree.hpp"
#include "harness/temporary_folder.hpp"
#include "harness/user_error.hpp"
#include "scenarios/matmul/exact.hpp"
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
      if (!acceptable(given, element(i, j), shape_.k)) {
        return fmt::format("wrong answer: element ({}, {}) is {}, not {}", i, j, given,
                           static_cast<double>(element(i, j).value));
      }
    }
    return {};
  }

 private:
  Element element(std::size_t i, std::size_t j) const {
    return exact_element(
        shape_.k, [&](std::size_t l) { return a_[i * shape_.k + l]; },
        [&](std::size_t l) { return b_[l * shape_.n + j]; });
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

Shape shape_of(const FilesToMultiply& files, const NpyLayout& a, const NpyLayout& b) {
  if (a.columns != b.rows) {
    throw UserError(
        "{} is {} x {} and {} is {} x {}: the columns of the first must be "
        "the rows of the second",
        files.a.string(), a.rows, a.columns, files.b.string(), b.rows, b.columns);
  }
  for (const std::size_t extent : {a.rows, a.columns, b.columns}) {
    if (extent > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
      throw UserError("a dimension of {} is more than the library's products take: {}", extent,
                      std::numeric_limits<int>::max());
    }
  }
  return {a.rows, b.columns, a.columns, a.doubles || b.doubles};
}

// The contender has its own copy of everything, and so has the lab beside what they share.
void require_memory(const Shape& shape) {
  const auto m = static_cast<double>(shape.m);
  const auto n = static_cast<double>(shape.n);
  const auto k = static_cast<double>(shape.k);
  const double bytes = 3 * static_cast<double>(shape.element()) * (m * k + k * n + m * n);
  const double memory =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes > memory) {
    throw UserError("a product of {} x {} needs {:.1f} GiB of memory, {:.1f} are there", shape.m,
                    shape.n, bytes / 0x1p30, memory / 0x1p30);
  }
}

void require_separate(const FilesToMultiply& files) {
  for (const fs::path& input : {files.a, files.b}) {
    std::error_code missing;  // a result that does not exist yet is separate
    if (fs::equivalent(input, files.result, missing)) {
      throw UserError("{}: the result would replace an input", files.result.string());
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
    throw UserError("real matrices are multiplied by one contender, not by {}", possible.size());
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

// What mpirun starts: no contender of the scenario, as the lab's protocol has nothing to do with
// it.
Contender rank_program(const FilesToMultiply& files, const std::vector<Contender>& contenders,
                       Interrupt& interrupt) {
  if (!files.settings.empty() || !files.contenders.empty()) {
    throw UserError("with --ranks real matrices take no --set and no --contenders");
  }
  std::error_code missing;
  if (fs::exists(files.result, missing) && !fs::is_regular_file(files.result, missing)) {
    throw UserError("{}: ranks write into a regular file", files.result.string());
  }
  const auto found = std::find_if(contenders.begin(), contenders.end(),
                                  [](const Contender& c) { return c.scenario == "ranks"; });
  if (found == contenders.end() || !found->built()) {
    throw UserError("this lab was built without Open MPI: --ranks needs libopenmpi-dev");
  }
  build_missing({*found}, interrupt);
  return *found;
}

// The words by which a rank knows a matrix.
void describe(const fs::path& path, std::vector<std::string>& words) {
  const NpyLayout its = read_npy_layout(path);
  std::string form = its.doubles ? "d" : "f";
  if (its.swapped) form += 's';
  if (its.by_columns) form += 'c';
  words.insert(words.end(), {fs::absolute(path).string(), std::to_string(its.offset),
                             std::to_string(its.rows), std::to_string(its.columns), form});
}

// A file of the product's size, with its header, for ranks to write into.
void make_product_file(const fs::path& path, const std::string& header, const Shape& shape) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  int why = file < 0 ? errno : 0;
  if (why == 0 && write(file, header.data(), header.size()) < 0) why = errno;
  if (why == 0) {
    why = posix_fallocate(file, 0, static_cast<off_t>(header.size() + shape.product_bytes()));
  }
  if (file >= 0) close(file);
  if (why != 0) throw UserError("{}: {}", path.string(), std::strerror(why));
}

FilesOutcome multiply_by_ranks(const FilesToMultiply& files, const Shape& shape,
                               const Contender& program, Interrupt& interrupt) {
  const fs::path result = fs::weakly_canonical(fs::absolute(files.result));
  const TemporaryFolder beside(".handoff", result.parent_path());
  const fs::path unfinished = beside.path() / "product.npy";
  const std::string header = npy_header(shape.m, shape.n, shape.doubles);
  make_product_file(unfinished, header, shape);
  std::vector<std::string> words{fs::absolute(program.executables.front()).string()};
  describe(files.a, words);
  describe(files.b, words);
  words.insert(words.end(),
               {unfinished.string(), std::to_string(header.size()), shape.doubles ? "d" : "f"});
  const RankOutcome outcome = run_ranks(files.places, words, interrupt);
  if (!outcome.done) {
    return {false, fmt::format("{}: {} ranks: {}; nothing was written", shapes(shape),
                               files.places.ranks, outcome.line)};
  }
  if (fs::exists(result)) fs::permissions(unfinished, fs::status(result).permissions());
  fs::rename(unfinished, result);
  double ns = 0;
  std::size_t width = 0;
  std::istringstream(outcome.line) >> ns >> width;
  return {true, fmt::format("{}: {:.3f} ms, {:.1f} GFLOP/s by {} ranks, width {}, checked; {}",
                            shapes(shape), ns / 1e6, shape.flops() / ns, files.places.ranks, width,
                            files.result.string())};
}

}  // namespace

FilesOutcome multiply_files(const FilesToMultiply& files, const std::vector<Contender>& contenders,
                            const Plan& plan, Interrupt& interrupt) {
  const Shape shape = shape_of(files, read_npy_layout(files.a), read_npy_layout(files.b));
  require_separate(files);
  Scenario scenario(matmul_scenario());
  const Cell cell = cell_for(files, scenario, shape);
  const bool by_ranks = files.places.ranks > 0;
  const Contender contender = by_ranks ? rank_program(files, contenders, interrupt)
                                       : contender_for(files, contenders, cell);
  require_writable(files.result);
  if (shape.m == 0 || shape.n == 0 || shape.k == 0) {
    const std::vector<std::byte> zeros(shape.product_bytes());
    write_product(files, shape, zeros);
    return {true, fmt::format("{}: zeros, for a dimension is 0; {}", shapes(shape),
                              files.result.string())};
  }
  if (by_ranks) return multiply_by_ranks(files, shape, contender, interrupt);
  require_memory(shape);
  NpyMatrix a = read_npy(files.a);
  NpyMatrix b = read_npy(files.b);
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
