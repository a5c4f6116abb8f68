// SPDX-License-Identifier: MIT
//
// The worker program of 16_worker_program.cpp: it has the code, the other one has the pictures. It
// can be built anew, with other compilers and libraries, while that one runs.
#include <cstddef>
#include <cstdio>

#include <handoff/core/index_range.hpp>
#include <handoff/process/worker_program.hpp>

#include "blur.hpp"

namespace {

// Writes its own rows, and nothing else: so it may be called again for rows that another worker,
// which was killed, has done in part.
void blur_rows(handoff::IndexRange rows, const Blur& blur) {
  const auto from = blur.from.get();
  const auto to = blur.to.get();
  const std::size_t columns = blur.columns;
  for (const std::size_t row : rows) {
    for (std::size_t i = 0; i < columns; ++i) {
      const float left = from[row * columns + (i == 0 ? 0 : i - 1)];
      const float right = from[row * columns + (i + 1 == columns ? i : i + 1)];
      to[row * columns + i] = (left + from[row * columns + i] + right) / 3;
    }
  }
}

}  // namespace

int main() {
  const int end = handoff::worker_main({{"blur", blur_rows}});
  if (end == 2) std::fputs("This is a worker: start example_16_worker_program.\n", stderr);
  return end;
}
