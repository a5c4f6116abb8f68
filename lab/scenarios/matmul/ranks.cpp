// SPDX-License-Identifier: MIT
// The product of matrices in files, by a RankTeam: what mpirun starts for `handoff run matmul
// --ranks N`, as often. All ranks see the files. Each reads what its blocks of rows need, by way of
// the page cache, and writes its rows into their place in the result, so that none needs memory for
// a whole matrix.
#include <sys/prctl.h>
#include <handoff/mpi/rank_team.hpp>

#include "harness/rank_job.hpp"
#include "scenarios/matmul/blas.hpp"
#include "scenarios/matmul/exact.hpp"
#include "scenarios/matmul/npy.hpp"

namespace handoff::lab::matmul { namespace {

constexpr std::size_t kBufferBytes = std::size_t{16} << 20;  // a thread has three of them

[[noreturn]] void fail(const std::string& path) {
  throw std::system_error(errno, std::generic_category(), path);
}

// A matrix in a file, as numbers of type T.
template <typename T>
class Matrix {
 public:
  // From PATH OFFSET ROWS COLUMNS FORM, where the form has f or d, and s if swapped, and c if
  // by columns.
  explicit Matrix(char** words)
      : rows(std::strtoull(words[2], nullptr, 10)),
        columns(std::strtoull(words[3], nullptr, 10)),
        doubles_(std::strchr(words[4], 'd') != nullptr),
        swapped_(std::strchr(words[4], 's') != nullptr),
        by_columns_(std::strchr(words[4], 'c') != nullptr) {
    const int file = open(words[0], O_RDONLY | O_CLOEXEC);
    if (file < 0) fail(words[0]);
    const std::size_t offset = std::strtoull(words[1], nullptr, 10);
    const std::size_t bytes = offset + rows * columns * (doubles_ ? sizeof(double) : sizeof(float));
    struct stat status{};
    const bool is_whole =
        fstat(file, &status) == 0 && static_cast<std::size_t>(status.st_size) >= bytes;
    void* const place = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (!is_whole) throw std::runtime_error(std::string(words[0]) + ": another size here");
    if (place == MAP_FAILED) fail(words[0]);
    values_ = static_cast<const std::byte*>(place) + offset;
  }

  // Its rows follow each other in memory, as they are used.
  [[nodiscard]] bool is_plain() const {
    return doubles_ == std::is_same_v<T, double> && !swapped_ && !by_columns_ &&
           reinterpret_cast<std::uintptr_t>(values_) % sizeof(T) == 0;
  }
  [[nodiscard]] const T* plain() const { return reinterpret_cast<const T*>(values_); }

  [[nodiscard]] T at(std::size_t row, std::size_t column) const {
    const std::size_t i = by_columns_ ? column * rows + row : row * columns + column;
    return doubles_ ? static_cast<T>(value<double>(i)) : static_cast<T>(value<float>(i));
  }

  // A part of it, in memory of its own.
  void copy(IndexRange its_rows, IndexRange its_columns, std::vector<T>& to) const {
    to.clear();
    for (const std::size_t row : its_rows) {
      for (const std::size_t column : its_columns) to.push_back(at(row, column));
    }
  }

  const std::size_t rows;
  const std::size_t columns;

 private:
  template <typename Stored>
  [[nodiscard]] Stored value(std::size_t i) const {
    std::byte bytes[sizeof(Stored)];
    std::memcpy(bytes, values_ + i * sizeof bytes, sizeof bytes);
    if (swapped_) std::reverse(std::begin(bytes), std::end(bytes));
    Stored result;
    std::memcpy(&result, bytes, sizeof result);
    return result;
  }

  bool doubles_;
  bool swapped_;
  bool by_columns_;
  const std::byte* values_;
};

template <typename T>
class Product {
 public:
  Product(const Matrix<T>& a, const Matrix<T>& b, const char* path, std::size_t offset)
      : a_(a), b_(b), path_(path), offset_(offset), file_(open(path, O_WRONLY | O_CLOEXEC)) {
    if (file_ < 0) fail(path_);
  }

  void compute(IndexRange rows) const {
    const std::size_t most = std::max<std::size_t>(1, kBufferBytes / (b_.columns * sizeof(T)));
    for (std::size_t first = rows.first; first < rows.last; first += most) {
      compute_part({first, std::min(first + most, rows.last)});
    }
  }

  void sync() const {
    if (fdatasync(file_) != 0) fail(path_);
  }

 private:
  // So many rows of B at a time as a buffer has room for; where they lie in memory as they are
  // used, all of them.
  void compute_part(IndexRange rows) const {
    const std::size_t n = b_.columns;
    const std::size_t room = std::max<std::size_t>(1, kBufferBytes / (n * sizeof(T)));
    const std::size_t step = b_.is_plain() ? b_.rows : std::min(room, b_.rows);
    std::vector<T> sum(rows.size() * n);
    std::vector<T> part(step < b_.rows ? sum.size() : 0);
    for (std::size_t first = 0; first < b_.rows; first += step) {
      const IndexRange terms{first, std::min(first + step, b_.rows)};
      T* const to = first == 0 ? sum.data() : part.data();
      multiply(rows, terms, to);
      for (std::size_t i = 0; to != sum.data() && i < sum.size(); ++i) sum[i] += part[i];
    }
    check(rows, sum);
    write(rows.first * n, sum);
  }

  void multiply(IndexRange rows, IndexRange terms, T* to) const {
    std::vector<T> left;
    std::vector<T> right;
    const bool whole = terms.size() == a_.columns && a_.is_plain();
    if (!whole) a_.copy(rows, terms, left);
    if (!b_.is_plain()) b_.copy(terms, {0, b_.columns}, right);
    const AnyOperands operands =
        Operands<T>{whole ? a_.plain() + rows.first * a_.columns : left.data(),
                    b_.is_plain() ? b_.plain() : right.data(),
                    to,
                    rows.size(),
                    b_.columns,
                    terms.size()};
    multiply_rows(operands, 0, rows.size());
  }

  void check(IndexRange rows, const std::vector<T>& values) const {
    constexpr int samples = 8;
    std::mt19937_64 random(rows.first);
    for (int sample = 0; sample < samples; ++sample) {
      const std::size_t at = random() % values.size();
      const std::size_t i = rows.first + at / b_.columns;
      const std::size_t j = at % b_.columns;
      const Element right = exact_element(
          b_.rows, [&](std::size_t l) { return a_.at(i, l); },
          [&](std::size_t l) { return b_.at(l, j); });
      if (acceptable(values[at], right, b_.rows)) continue;
      throw std::runtime_error("wrong answer: element (" + std::to_string(i) + ", " +
                               std::to_string(j) + ") is " + std::to_string(values[at]));
    }
  }

  void write(std::size_t at, const std::vector<T>& values) const {
    const auto* from = reinterpret_cast<const char*>(values.data());
    std::size_t left = values.size() * sizeof(T);
    auto place = static_cast<off_t>(offset_ + at * sizeof(T));
    while (left > 0) {
      const ssize_t written = pwrite(file_, from, left, place);
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) fail(path_);
      from += written;
      place += written;
      left -= static_cast<std::size_t>(written);
    }
  }

  const Matrix<T>& a_;
  const Matrix<T>& b_;
  const char* path_;
  std::size_t offset_;
  int file_;
};

// Rank 0's answer: how long it took, and with how many threads. It counts once all ranks have ended
// well.
template <typename T>
void multiply_files(RankTeam& team, char** words) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const Matrix<T> a(words);
  const Matrix<T> b(words + 5);
  const Product<T> product(a, b, words[10], std::strtoull(words[11], nullptr, 10));
  static_cast<void>(team.run(a.rows, [&](IndexRange rows) { product.compute(rows); }));
  product.sync();
  const std::chrono::duration<double, std::nano> took = Clock::now() - start;
  if (team.rank() != 0) return;
  std::printf("%s%.0f %zu\n", ranks_answer, took.count(), team.width());
}

}}  // namespace handoff::lab::matmul

// The words of A and of B, as Matrix has them, PATH OFFSET of the result, and its type.
int main(int argc, char** argv) {
  using namespace handoff::lab;
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // what started it has ended, so nobody waits for its answer
  if (argc != 14) return 2;
  try {
    matmul::require_blas(1);
    handoff::RankTeam team{{.patience = std::chrono::seconds(5)}};
    if (team.rank() == 0) std::printf("%s\n", ranks_begun);
    std::fflush(stdout);
    if (std::strcmp(argv[13], "d") == 0) {
      matmul::multiply_files<double>(team, argv + 1);
    } else {
      matmul::multiply_files<float>(team, argv + 1);
    }
    return 0;
  } catch (const std::exception& failure) {
    std::printf("%s%s\n", ranks_failure, failure.what());
    std::fflush(stdout);
    _exit(1);  // the other ranks may never come to the end of MPI
  }
}
