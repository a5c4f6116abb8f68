// SPDX-License-Identifier: MIT
//
// What the tests of worker programs share: the program, and memory for its kernels.
#pragma once

#include "support/test.hpp"
#include "unit/process/worker_work.hpp"

namespace worker_support {

using namespace handoff;
using worker_work::Notes;
using worker_work::row;
using worker_work::Work;

inline constexpr std::size_t kRows = 500;

inline std::string worker_file() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return (folder / "handoff_worker_work").string();
}
inline std::vector<std::string> worker(const char* what) { return {worker_file(), what}; }

// Rows and notes in memory of their own.
class Table {
 public:
  explicit Table(bool only_this_process_writes = false)
      : rows_(SharedMemory::create({.bytes = kRows * sizeof(std::uint64_t),
                                    .only_creator_writes = only_this_process_writes})),
        notes_(SharedMemory::create({.bytes = sizeof(Notes)})) {}

  [[nodiscard]] SharedSpan<std::uint64_t> rows() const { return {rows_, 0, kRows}; }
  [[nodiscard]] Work work(std::uint64_t factor) const {
    return {.rows = rows(), .notes = {notes_, 0, 1}, .factor = factor};
  }
  [[nodiscard]] Notes& notes() const { return work(0).notes.get()[0]; }

  void expect_rows(std::uint64_t factor, std::size_t count) const {
    const auto rows = work(0).rows.get();
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(rows[i], row(factor, i)) << "row " << i;
  }

 private:
  SharedMemory rows_;
  SharedMemory notes_;
};

}  // namespace worker_support
