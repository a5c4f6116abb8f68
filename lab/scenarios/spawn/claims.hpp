// SPDX-License-Identifier: MIT
// Measures what it costs to claim rows, with next to no work at them. A contender's Way has
//
//   Way(std::size_t width)       starts its workers; the table is mapped already
//   void run(const Rows& rows)   has the workers do all rows, claimed kBlock at a time, and returns
//                                when all are done
//
// A row is done by Rows::do_block(), once in each run.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <span>

#include <sys/mman.h>

#include "harness/contender.hpp"
#include "scenarios/spawn/work.hpp"

namespace handoff::lab::spawn {

// The rows of a run, and which run it is: 1, 2, and so on. To be copied to other processes.
struct Rows {
  // What no row is after it was done once in each run.
  static constexpr std::uint64_t kWrong = ~std::uint64_t{0};

  std::uint64_t* table;  // in shared memory; a block of rows is a cache line
  std::size_t count;
  std::uint64_t run;

  // A row that a run left out or did twice is wrong from then on.
  void do_block(std::size_t first, std::size_t last) const {
    for (std::size_t i = first; i < last; ++i) table[i] = table[i] + 1 == run ? run : kWrong;
  }
};

class RowTable {
 public:
  explicit RowTable(std::size_t rows) : rows_(rows) {
    void* const place =
        mmap(nullptr, bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (place == MAP_FAILED) throw std::bad_alloc();
    table_ = static_cast<std::uint64_t*>(place);
  }
  ~RowTable() { munmap(table_, bytes()); }
  RowTable(const RowTable&) = delete;
  RowTable& operator=(const RowTable&) = delete;

  [[nodiscard]] std::size_t rows() const { return rows_; }
  Rows next_run() { return {table_, rows_, ++run_}; }
  [[nodiscard]] std::uint64_t right() const {
    return static_cast<std::uint64_t>(std::count(table_, table_ + rows_, run_));
  }

 private:
  [[nodiscard]] std::size_t bytes() const { return rows_ * sizeof(std::uint64_t); }

  const std::size_t rows_;
  std::uint64_t* table_;
  std::uint64_t run_ = 0;
};

template <class Way>
class Claims {
 public:
  Claims(std::size_t rows, std::size_t width) : table_(rows), way_(width) {}

  void run(Burst& burst) {
    way_.run(table_.next_run());  // the rows come back from the core that has looked at them
    burst.timed([this] {
      for (std::uint64_t i = 0; i < claim_runs; ++i) way_.run(table_.next_run());
    });
    right_ = table_.right();
    burst.items(static_cast<double>(claim_runs * table_.rows()));
  }
  std::uint64_t& right() { return right_; }

 private:
  RowTable table_;  // before the workers
  Way way_;
  std::uint64_t right_ = 0;
};

template <class Way>
Prepared measure_claims(const Parameters& parameters) {
  const auto all =
      std::make_shared<Claims<Way>>(parameters.number("rows"), parameters.number("width"));
  return {[all](Burst& burst) { all->run(burst); },
          std::as_writable_bytes(std::span(&all->right(), 1))};
}

}  // namespace handoff::lab::spawn
